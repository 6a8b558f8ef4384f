// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/pool.h"
#include "tests/src/tensor/calls/calls.h"
#include "tests/src/tensor/nn_args.h"

namespace understudy::vectors {
namespace {

using nlohmann::json;

MaxPoolOptions MaxOptions(const json& a) {
  return {MaybeSizes(a, "stride"), Sizes(a, "padding", 0), Sizes(a, "dilation", 1),
          a.value("ceil_mode", false)};
}

template <Tensor (*F)(const Tensor&, const PerAxis&, const MaxPoolOptions&)>
Out Max(In x, const json& a) {
  return {F(x[0], Sizes(a, "kernel_size", 1), MaxOptions(a))};
}
template <PoolWithIndices (*F)(const Tensor&, const PerAxis&, const MaxPoolOptions&)>
Out MaxIndices(In x, const json& a) {
  const PoolWithIndices r = F(x[0], Sizes(a, "kernel_size", 1), MaxOptions(a));
  return {r.values, r.indices};
}
template <Tensor (*F)(const Tensor&, const PerAxis&, const AvgPoolOptions&)>
Out Avg(In x, const json& a) {
  AvgPoolOptions o{MaybeSizes(a, "stride"), Sizes(a, "padding", 0), a.value("ceil_mode", false),
                   a.value("count_include_pad", true), std::nullopt};
  if (a.contains("divisor_override")) o.divisor_override = a["divisor_override"].get<int64_t>();
  return {F(x[0], Sizes(a, "kernel_size", 1), o)};
}
template <Tensor (*F)(const Tensor&, const PerAxis&)>
Out Adaptive(In x, const json& a) {
  return {F(x[0], Sizes(a, "size", 1))};
}
template <PoolWithIndices (*F)(const Tensor&, const PerAxis&)>
Out AdaptiveIndices(In x, const json& a) {
  const PoolWithIndices r = F(x[0], Sizes(a, "size", 1));
  return {r.values, r.indices};
}
template <Tensor (*F)(const Tensor&, double, const PerAxis&, const LpPoolOptions&)>
Out Lp(In x, const json& a) {
  return {
      F(x[0], a["p"], Sizes(a, "kernel_size", 1), {MaybeSizes(a, "stride"), a.value("ceil_mode", false)})};
}
template <Tensor (*F)(const Tensor&, const Tensor&, const PerAxis&, const MaxUnpoolOptions&)>
Out Unpool(In x, const json& a) {
  return {F(x[0], x[1], Sizes(a, "kernel_size", 1),
            {MaybeSizes(a, "stride"), Sizes(a, "padding", 0), MaybeSizes(a, "output_size")})};
}

}  // namespace

const Calls& PoolCalls() {
  static const Calls* const calls = new Calls{
#define UNDERSTUDY_POOL_CALLS(n)                                                     \
  {"max_pool" #n "d", Max<MaxPool##n##d>},                                           \
      {"max_pool" #n "d_indices", MaxIndices<MaxPool##n##dWithIndices>},             \
      {"avg_pool" #n "d", Avg<AvgPool##n##d>}, {"lp_pool" #n "d", Lp<LpPool##n##d>}, \
      {"max_unpool" #n "d", Unpool<MaxUnpool##n##d>},                                \
      {"adaptive_avg_pool" #n "d", Adaptive<AdaptiveAvgPool##n##d>},                 \
      {"adaptive_max_pool" #n "d", Adaptive<AdaptiveMaxPool##n##d>},                 \
      {"adaptive_max_pool" #n "d_indices", AdaptiveIndices<AdaptiveMaxPool##n##dWithIndices>}
      UNDERSTUDY_POOL_CALLS(1),
      UNDERSTUDY_POOL_CALLS(2),
      UNDERSTUDY_POOL_CALLS(3),
#undef UNDERSTUDY_POOL_CALLS
  };
  return *calls;
}

}  // namespace understudy::vectors
