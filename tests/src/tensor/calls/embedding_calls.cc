// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "src/tensor/embedding.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

std::optional<int64_t> Padding(const json& a) {
  if (!a.contains("padding_idx") || a["padding_idx"].is_null()) return std::nullopt;
  return a["padding_idx"].get<int64_t>();
}

EmbeddingBagOptions Options(const json& a) {
  EmbeddingBagOptions o;
  using Mode = EmbeddingBagOptions::Mode;
  o.mode = a["mode"] == "sum" ? Mode::kSum : a["mode"] == "mean" ? Mode::kMean : Mode::kMax;
  o.padding_idx = Padding(a);
  return o;
}

}  // namespace

const Calls& EmbeddingCalls() {
  static const Calls* const calls = new Calls{
      {"embedding", [](In x, const json& a) -> Out { return {Embedding(x[1], x[0], Padding(a))}; }},
      {"embedding_bag", [](In x, const json& a) -> Out { return {EmbeddingBag(x[1], x[0], Options(a))}; }},
      {"embedding_bag_offsets",
       [](In x, const json& a) -> Out { return {EmbeddingBag(x[1], x[0], x[2], Options(a))}; }},
      {"embedding_bag_weighted",
       [](In x, const json&) -> Out {
         EmbeddingBagOptions o;
         o.mode = EmbeddingBagOptions::Mode::kSum;
         o.per_sample_weights = &x[2];
         return {EmbeddingBag(x[1], x[0], o)};
       }},
      {"one_hot", [](In x, const json& a) -> Out { return {OneHot(x[0], a["classes"])}; }},
  };
  return *calls;
}

}  // namespace understudy::vectors
