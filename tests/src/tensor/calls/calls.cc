// SPDX-License-Identifier: Apache-2.0
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {

const std::vector<Family>& Families() {
  static const std::vector<Family>* const families = new std::vector<Family>{
      {"Elementwise", "tests/data/ops/elementwise.json", &ElementwiseCalls()},
      {"Elementwise", "tests/data/ops/dtypes.json", &CoreCalls()},
      {"Special functions", "tests/data/ops/special.json", &SpecialCalls()},
      {"Movement", "tests/data/ops/movement.json", &MovementCalls()},
      {"Indexing", "tests/data/ops/indexing.json", &IndexingCalls()},
      {"Reductions", "tests/data/tensor_families/reduce.json", &FamilyCalls()},
      {"Scans", "tests/data/tensor_families/scan.json", &FamilyCalls()},
      {"Gather and scatter", "tests/data/tensor_families/gather.json", &FamilyCalls()},
      {"Sorting", "tests/data/tensor_families/sort.json", &FamilyCalls()},
      {"Creation", "tests/data/tensor_families/create.json", &FamilyCalls()},
      {"Linear algebra", "tests/data/nn/linalg.json", &LinalgCalls()},
      {"Factorisations", "tests/data/nn/decomposition.json", &DecompositionCalls()},
      {"Convolution", "tests/data/nn/conv.json", &ConvCalls()},
      {"Pooling", "tests/data/nn/pool.json", &PoolCalls()},
      {"Normalisation", "tests/data/nn/norm.json", &NormCalls()},
      {"Attention", "tests/data/nn/attention.json", &AttentionCalls()},
      {"Losses", "tests/data/nn/loss.json", &LossCalls()},
      {"Embedding", "tests/data/nn/embedding.json", &EmbeddingCalls()},
      {"Resampling", "tests/data/nn/interpolate.json", &InterpolateCalls()},
  };
  return *families;
}

}  // namespace understudy::vectors
