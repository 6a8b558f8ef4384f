// SPDX-License-Identifier: Apache-2.0
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {

namespace {

// With the same operations in the other element types. Random numbers have all types that they are drawn in.
std::vector<Family>* WithTyped(std::vector<Family> own) {
  auto* const all = new std::vector<Family>(std::move(own));
  const size_t n = all->size();
  for (size_t i = 0; i < n; ++i) {
    const Family f = (*all)[i];
    const std::string name = f.file.substr(f.file.rfind('/') + 1);
    if (name != "random.json") all->push_back({f.title, "tests/data/typed/" + name + ".zst", f.calls});
  }
  return all;
}

}  // namespace

const std::vector<Family>& Families() {
  static const std::vector<Family>* const families = WithTyped({
      {"Elementwise", "tests/data/ops/elementwise.json", &ElementwiseCalls()},
      {"Elementwise", "tests/data/ops/dtypes.json", &CoreCalls()},
      {"Elementwise", "tests/data/ops/core.json", &CoreCalls()},
      {"Special functions", "tests/data/ops/special.json", &SpecialCalls()},
      {"Movement", "tests/data/ops/movement.json", &MovementCalls()},
      {"Movement", "tests/data/ops/views.json", &ViewCalls()},
      {"Indexing", "tests/data/ops/indexing.json", &IndexingCalls()},
      {"Reductions", "tests/data/tensor_families/reduce.json", &FamilyCalls()},
      {"Scans", "tests/data/tensor_families/scan.json", &FamilyCalls()},
      {"Gather and scatter", "tests/data/tensor_families/gather.json", &FamilyCalls()},
      {"Sorting", "tests/data/tensor_families/sort.json", &FamilyCalls()},
      {"Sorting", "tests/data/ops/sort_more.json", &FamilyCalls()},
      {"Creation", "tests/data/tensor_families/create.json", &FamilyCalls()},
      {"Creation", "tests/data/ops/create_more.json", &FamilyCalls()},
      {"Random", "tests/data/ops/random.json", &RandomCalls()},
      {"Linear algebra", "tests/data/nn/linalg.json", &LinalgCalls()},
      {"Factorisations", "tests/data/nn/decomposition.json", &DecompositionCalls()},
      {"Convolution", "tests/data/nn/conv.json", &ConvCalls()},
      {"Pooling", "tests/data/nn/pool.json", &PoolCalls()},
      {"Normalisation", "tests/data/nn/norm.json", &NormCalls()},
      {"Attention", "tests/data/nn/attention.json", &AttentionCalls()},
      {"Losses", "tests/data/nn/loss.json", &LossCalls()},
      {"Embedding", "tests/data/nn/embedding.json", &EmbeddingCalls()},
      {"Resampling", "tests/data/nn/interpolate.json", &InterpolateCalls()},
  });
  return *families;
}

}  // namespace understudy::vectors
