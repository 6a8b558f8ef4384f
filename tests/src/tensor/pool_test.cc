// SPDX-License-Identifier: Apache-2.0
// Pools against PyTorch's results, indices and gradients.
#include "src/tensor/pool.h"

#include "gmock/gmock.h"
#include "tests/src/tensor/nn_args.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vectors::In;
using vectors::MaybeSizes;
using vectors::Out;
using vectors::Sizes;

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

const vectors::Calls& PoolCalls() {
  static const vectors::Calls* const calls = new vectors::Calls{
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

UNDERSTUDY_VECTOR_TESTS(PoolVectors, "tests/data/nn/pool.json", PoolCalls);

TEST(PoolErrors, NameOperationValueAndExpectation) {
  const auto zeros = [](Shape s) { return Tensor::Zeros(std::move(s)); };
  const auto refused = [](const Tensor& t, const char* text) {
    EXPECT_FALSE(t.ok());
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(text));
  };
  const Tensor x = zeros({1, 2, 5, 5});
  refused(MaxPool2d(zeros({5, 5}), 2), "MaxPool2d: input [5,5], expected rank 3 or 4");
  refused(MaxPool2d(zeros({1, 2, 0, 5}), 2), "expected spatial axes with elements");
  refused(MaxPool2d(x, 6), "padded size 5 of spatial axis 0 is smaller than the kernel's reach 6");
  refused(MaxPool2d(x, 0), "kernel [0], expected 1 to 2^31");
  MaxPoolOptions o;
  o.padding = 2;
  refused(MaxPool2d(x, 3, o), "padding 2 for a kernel that reaches over 3, expected at most half of it");
  AvgPoolOptions a;
  a.divisor_override = 0;
  refused(AvgPool2d(x, 2, a), "divisor_override 0");
  refused(AvgPool2d(Tensor::Zeros({1, 4, 4}, {dtypes::kInt32}), 2), "dtype i32, expected floats");
  refused(AdaptiveAvgPool2d(x, 0), "output_size 0");
  refused(LpPool2d(x, 0, 2), "norm_type 0, expected a positive number");
  refused(MaxUnpool2d(x, Tensor::Zeros({1, 2, 5, 4}, {dtypes::kInt64}), 2),
          "expected integers of the input's shape [1,2,5,5]");
  refused(MaxPool2dWithIndices(zeros({-1}), 2).indices, "negative size");
}

TEST(PoolGradient, EqualLargestElementsShareIt) {
  const Tensor x = Tensor::FromData<double>({1, 1, 0, 2}, {1, 1, 4});
  EXPECT_THAT(vectors::Values(Gradients(MaxPool1d(x, 2).Sum(), {x})[0]), ElementsAre(0.5, 0.5, 0, 1));
}

}  // namespace
}  // namespace understudy
