// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/random.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

TensorOptions Options(const json& a) {
  const auto t = ParseDType(a["dtype"].get<std::string>());
  return {t.ok() ? *t : dtypes::kVoid, a.value("device", "CPU")};
}
Shape ShapeOf(const json& a) { return a["shape"].get<Shape>(); }
// A draw reads its generator when it is realised, so that generators live to the end.
Generator& Drawn(const json& a) {
  static std::deque<Generator>* const all = new std::deque<Generator>;
  return all->emplace_back(a["seed"].get<uint64_t>(), a["drawn"].get<uint64_t>());
}
KaimingOptions Kaiming(const json& a) {
  KaimingOptions o;
  o.a = a["a"];
  return o;
}

}  // namespace

const Calls& RandomCalls() {
  static const Calls* const calls = new Calls{
      {"threefry2x32",
       [](In x, const json&) -> Out {
         const auto [a, b] = Threefry2x32(x[0], x[1], x[2], x[3]);
         return {a, b};
       }},
      {"threefry2x32_words",
       [](In x, const json&) -> Out {
         const auto words =
             Threefry2x32(std::array<Tensor, 2>{x[0], x[1]}, std::array<Tensor, 2>{x[2], x[3]});
         return {words[0], words[1]};
       }},
      // As two words: a vector has no numbers of 64 bits.
      {"threefry",
       [](In x, const json&) -> Out {
         const Tensor bits = Threefry(x[0], x[1]);
         return {bits.Cast(dtypes::kUInt32), bits.Shr(32).Cast(dtypes::kUInt32)};
       }},
      {"uniform",
       [](In, const json& a) -> Out {
         return {Tensor::Uniform(ShapeOf(a), a["seed"], a["low"], a["high"], Options(a))};
       }},
      {"normal",
       [](In, const json& a) -> Out {
         return {Tensor::Normal(ShapeOf(a), a["seed"], a["mean"], a["std"], Options(a))};
       }},
      {"rand", [](In, const json& a) -> Out { return {Rand(ShapeOf(a), Drawn(a), Options(a))}; }},
      {"randn", [](In, const json& a) -> Out { return {Randn(ShapeOf(a), Drawn(a), Options(a))}; }},
      {"rand_like", [](In x, const json& a) -> Out { return {RandLike(x[0], Drawn(a))}; }},
      {"randn_like", [](In x, const json& a) -> Out { return {RandnLike(x[0], Drawn(a))}; }},
      {"randint",
       [](In, const json& a) -> Out {
         return {Randint(a["low"], a["high"], ShapeOf(a), Drawn(a), Options(a))};
       }},
      {"randperm", [](In, const json& a) -> Out { return {Randperm(a["n"], Drawn(a), Options(a))}; }},
      {"exponential",
       [](In, const json& a) -> Out { return {Exponential(ShapeOf(a), Drawn(a), a["rate"], Options(a))}; }},
      {"trunc_normal",
       [](In, const json& a) -> Out {
         return {TruncNormal(ShapeOf(a), Drawn(a), a["mean"], a["std"], a["a"], a["b"], Options(a))};
       }},
      {"bernoulli", [](In x, const json& a) -> Out { return {Bernoulli(x[0], Drawn(a))}; }},
      {"dropout", [](In x, const json& a) -> Out { return {Dropout(x[0], a["p"], true, Drawn(a))}; }},
      {"multinomial",
       [](In x, const json& a) -> Out {
         return {Multinomial(x[0], a["samples"], a["replace"].get<bool>(), Drawn(a))};
       }},
      {"xavier_uniform",
       [](In, const json& a) -> Out { return {XavierUniform(ShapeOf(a), Drawn(a), a["gain"], Options(a))}; }},
      {"xavier_normal",
       [](In, const json& a) -> Out { return {XavierNormal(ShapeOf(a), Drawn(a), a["gain"], Options(a))}; }},
      {"kaiming_uniform",
       [](In, const json& a) -> Out {
         return {KaimingUniform(ShapeOf(a), Drawn(a), Kaiming(a), Options(a))};
       }},
      {"kaiming_normal",
       [](In, const json& a) -> Out {
         return {KaimingNormal(ShapeOf(a), Drawn(a), Kaiming(a), Options(a))};
       }},
  };
  return *calls;
}

}  // namespace understudy::vectors
