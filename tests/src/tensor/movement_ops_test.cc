// SPDX-License-Identifier: Apache-2.0
// Movement functions and einops patterns against PyTorch's and einops' results and gradients; what is
// refused.
#include "src/tensor/movement_ops.h"

#include <cmath>
#include <numeric>

#include "gmock/gmock.h"
#include "src/tensor/rearrange.h"
#include "tests/src/tensor/vectors.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;
using Ints = std::vector<int64_t>;

template <Tensor (*F)(const Tensor&)>
Out One(In x, const json&) {
  return {F(x[0])};
}
template <Tensor (*F)(const std::vector<Tensor>&)>
Out All(In x, const json&) {
  return {F(x)};
}
template <PadMode M>
Out Padded(In x, const json& a) {
  return {Pad(x[0], a["pads"].get<Ints>(), M)};
}
AxisSizes Sizes(const json& a) {
  AxisSizes out;
  for (const auto& [name, n] : a["sizes"].items()) out.push_back({name, n.get<int64_t>()});
  return out;
}
template <EinopsReduction R>
Out Reduced(In x, const json& a) {
  return {EinopsReduce(x[0], a["pattern"], R, Sizes(a))};
}

const vectors::Calls& MovementCalls() {
  static const vectors::Calls* const calls = new vectors::Calls{
      {"unflatten",
       [](In x, const json& a) -> Out { return {Unflatten(x[0], a["axis"], a["sizes"].get<Ints>())}; }},
      {"movedim",
       [](In x, const json& a) -> Out {
         return {Movedim(x[0], a["from"].get<Ints>(), a["to"].get<Ints>())};
       }},
      {"atleast_1d", One<Atleast1d>},
      {"atleast_2d", One<Atleast2d>},
      {"atleast_3d", One<Atleast3d>},
      {"broadcast_tensors", [](In x, const json&) -> Out { return BroadcastTensors(x); }},
      {"narrow",
       [](In x, const json& a) -> Out { return {Narrow(x[0], a["axis"], a["start"], a["length"])}; }},
      {"select", [](In x, const json& a) -> Out { return {Select(x[0], a["axis"], a["index"])}; }},
      {"split", [](In x, const json& a) -> Out { return Split(x[0], a["size"].get<int64_t>(), a["axis"]); }},
      {"split_sizes",
       [](In x, const json& a) -> Out { return Split(x[0], a["sizes"].get<Ints>(), a["axis"]); }},
      {"chunk", [](In x, const json& a) -> Out { return Chunk(x[0], a["n"], a["axis"]); }},
      {"tensor_split",
       [](In x, const json& a) -> Out { return TensorSplit(x[0], a["n"].get<int64_t>(), a["axis"]); }},
      {"tensor_split_at",
       [](In x, const json& a) -> Out { return TensorSplit(x[0], a["at"].get<Ints>(), a["axis"]); }},
      {"unbind", [](In x, const json& a) -> Out { return Unbind(x[0], a["axis"]); }},
      {"unfold", [](In x, const json& a) -> Out { return {Unfold(x[0], a["axis"], a["size"], a["step"])}; }},
      {"unfold_twice", [](In x, const json&) -> Out { return {Unfold(Unfold(x[0], 0, 2, 1), 1, 3, 2)}; }},
      {"roll",
       [](In x, const json& a) -> Out {
         return {Roll(x[0], a["shifts"].get<Ints>(), a["axes"].get<Ints>())};
       }},
      {"rot90", [](In x, const json& a) -> Out { return {Rot90(x[0], a["k"], a["from"], a["to"])}; }},
      {"fliplr", One<Fliplr>},
      {"flipud", One<Flipud>},
      {"repeat", [](In x, const json& a) -> Out { return {Repeat(x[0], a["repeats"].get<Ints>())}; }},
      {"tile", [](In x, const json& a) -> Out { return {Tile(x[0], a["repeats"].get<Ints>())}; }},
      {"repeat_interleave",
       [](In x, const json& a) -> Out {
         return {RepeatInterleave(x[0], a["repeats"].get<int64_t>(), a["axis"].get<int64_t>())};
       }},
      {"repeat_interleave_flat",
       [](In x, const json& a) -> Out { return {RepeatInterleave(x[0], a["repeats"].get<int64_t>())}; }},
      {"repeat_interleave_list",
       [](In x, const json& a) -> Out {
         return {RepeatInterleave(x[0], a["repeats"].get<Ints>(), a["axis"].get<int64_t>())};
       }},
      {"pad_reflect", Padded<PadMode::kReflect>},
      {"pad_replicate", Padded<PadMode::kReplicate>},
      {"pad_circular", Padded<PadMode::kCircular>},
      {"pad_constant",
       [](In x, const json& a) -> Out {
         return {Pad(x[0], a["pads"].get<Ints>(), PadMode::kConstant, a["value"].get<double>())};
       }},
      {"diag", [](In x, const json& a) -> Out { return {Diag(x[0], a["k"])}; }},
      {"diagonal", [](In x, const json& a) -> Out { return {Diagonal(x[0], a["k"], a["a"], a["b"])}; }},
      {"diag_embed", [](In x, const json& a) -> Out { return {DiagEmbed(x[0], a["k"], a["a"], a["b"])}; }},
      {"tril", [](In x, const json& a) -> Out { return {Tril(x[0], a["k"])}; }},
      {"triu", [](In x, const json& a) -> Out { return {Triu(x[0], a["k"])}; }},
      {"block_diag", All<BlockDiag>},
      {"hstack", All<Hstack>},
      {"vstack", All<Vstack>},
      {"dstack", All<Dstack>},
      {"column_stack", All<ColumnStack>},
      {"cartesian_prod", All<CartesianProd>},
      {"meshgrid", [](In x, const json& a) -> Out { return Meshgrid(x, a["indexing"]); }},
      {"rearrange", [](In x, const json& a) -> Out { return {Rearrange(x[0], a["pattern"], Sizes(a))}; }},
      {"einops_repeat",
       [](In x, const json& a) -> Out { return {EinopsRepeat(x[0], a["pattern"], Sizes(a))}; }},
      {"einops_reduce_sum", Reduced<EinopsReduction::kSum>},
      {"einops_reduce_mean", Reduced<EinopsReduction::kMean>},
      {"einops_reduce_max", Reduced<EinopsReduction::kMax>},
      {"einops_reduce_min", Reduced<EinopsReduction::kMin>},
      {"einops_reduce_prod", Reduced<EinopsReduction::kProd>},
  };
  return *calls;
}

UNDERSTUDY_VECTOR_TESTS(Movement, "tests/data/ops/movement.json", MovementCalls);

Tensor Counted(Shape s) {
  int64_t n = 1;
  for (const int64_t d : s) n *= d;
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 1.0f);
  return Tensor::FromData<float>(v, std::move(s));
}
std::string Error(const Tensor& t) { return std::string(t.status().message()); }

TEST(MovementErrors, NameOperationValuesAndExpectation) {
  const Tensor x = Counted({2, 3});
  EXPECT_THAT(Error(Unflatten(x, 1, {2, -1})),
              HasSubstr("axis 1 of size 3 into [2,-1], expected a product of 3"));
  EXPECT_THAT(Error(Movedim(x, {0, 0}, {0, 1})), HasSubstr("an axis appears twice"));
  EXPECT_THAT(Error(Movedim(x, {0}, {0, 1})), HasSubstr("1 axes to 2 places"));
  EXPECT_THAT(Error(Narrow(x, 1, 2, 2)), HasSubstr("start 2 and length 2 at axis 1 of size 3"));
  EXPECT_THAT(Error(Select(x, 0, 2)), HasSubstr("index 2 is outside axis 0 of size 2"));
  EXPECT_THAT(Error(Split(x, 0)[0]), HasSubstr("size 0 for axis 0 of size 2, expected above 0"));
  EXPECT_THAT(Error(Split(x, Ints{1, 2}, 1)[0]) + Error(Split(x, Ints{1, 1}, 1)[0]),
              HasSubstr("sizes [1,1] sum to 2, expected 3"));
  EXPECT_THAT(Error(Chunk(x, 0)[0]), HasSubstr("0 chunks"));
  EXPECT_THAT(Error(Unfold(x, 1, 4, 1)), HasSubstr("windows of 4 every 1 at axis 1 of size 3"));
  EXPECT_THAT(Error(Roll(x, {1, 2}, {0})), HasSubstr("2 shifts for 1 axes"));
  EXPECT_THAT(Error(Rot90(x, 1, 1, -1)), HasSubstr("expected two different ones"));
  EXPECT_THAT(Error(Fliplr(Counted({3}))), HasSubstr("rank 1, expected at least 2"));
  EXPECT_THAT(Error(Repeat(x, {2})), HasSubstr("1 repeats for rank 2"));
  EXPECT_THAT(Error(RepeatInterleave(x, Ints{1}, 0)), HasSubstr("1 repeats for axis 0 of size 2"));
  EXPECT_THAT(Error(Pad(x, {3, 0}, PadMode::kReflect)),
              HasSubstr("{3,0} at axis 1 of size 3, expected at most 2"));
  EXPECT_THAT(Error(Pad(x, {1})), HasSubstr("1 pads for rank 2"));
  EXPECT_THAT(Error(Diag(Counted({1, 1, 1}))), HasSubstr("rank 3, expected a vector or a matrix"));
  EXPECT_THAT(Error(Tril(Counted({3}))), HasSubstr("rank 1, expected at least 2"));
  EXPECT_THAT(Error(Meshgrid({x})[0]), HasSubstr("rank 2, expected scalars or vectors"));
  EXPECT_THAT(Error(Meshgrid({Counted({2})}, "yx")[0]), HasSubstr("'yx', expected 'ij' or 'xy'"));
  EXPECT_THAT(Error(Hstack({})), HasSubstr("no tensors"));
  EXPECT_THAT(Error(Tril(Select(x, 0, 9))), HasSubstr("Select: index 9"));
}

TEST(EinopsErrors, TeachThePattern) {
  const Tensor x = Counted({2, 6});
  const auto error = [&](const std::string& p, const AxisSizes& s = {}) { return Error(Rearrange(x, p, s)); };
  EXPECT_THAT(error("a b"), HasSubstr("pattern 'a b': expected one '->'"));
  EXPECT_THAT(error("a b -> a"), HasSubstr("axis 'b' is on the left alone, expected it on both sides"));
  EXPECT_THAT(error("a b -> a b c"), HasSubstr("axis 'c' is on the right alone"));
  EXPECT_THAT(error("a a -> a a"), HasSubstr("axis 'a' appears twice on one side"));
  EXPECT_THAT(error("a (b c) -> a b c"), HasSubstr("sizes of 'b' and 'c' are both unknown"));
  EXPECT_THAT(error("a (b c) -> a b c", {{"b", 4}}),
              HasSubstr("axis 1 of size 6 for (b c), expected a multiple of 4"));
  EXPECT_THAT(error("a (b c) -> a b c", {{"b", 2}, {"c", 2}}), HasSubstr("expected 4"));
  EXPECT_THAT(error("a -> a"), HasSubstr("1 axes on the left for a tensor of rank 2, shape [2,6]"));
  EXPECT_THAT(error("a b c ... -> a b c ..."),
              HasSubstr("3 axes and '...' on the left for a tensor of rank 2"));
  EXPECT_THAT(error("a (b -> a b"), HasSubstr("'(' without ')'"));
  EXPECT_THAT(error("a b) -> a b"), HasSubstr("')' without '('"));
  EXPECT_THAT(error("a ((b) c) -> a b c"), HasSubstr("'(' inside parentheses"));
  EXPECT_THAT(error("a b -> a+b"), HasSubstr("'+', expected an axis"));
  EXPECT_THAT(error("a b -> b a", {{"q", 2}}), HasSubstr("size given for 'q', which is no axis"));
  EXPECT_THAT(error("a b -> b a ..."), HasSubstr("'...' on the right alone"));
  EXPECT_THAT(error("a 6 -> a 6"), HasSubstr("axis '6', expected names or 1"));
  EXPECT_THAT(Error(EinopsRepeat(x, "a b -> a b c")), HasSubstr("the repeated axis 'c' needs a size"));
  EXPECT_THAT(Error(EinopsReduce(x, "a (b 4) -> a b", EinopsReduction::kSum)),
              HasSubstr("expected a multiple of 4"));
}

// Values move exactly: NaN, infinities and the signs of zeros.
TEST(Movement, MovesBitsAsTheyAre) {
  const Tensor x = Tensor::FromData<float>({-0.0f, NAN, INFINITY, 3}, {4});
  const auto check = [](const Tensor& t, const std::vector<double>& want) {
    const std::vector<double> got = vectors::Values(t);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(got[i])
                                      : got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i]))
          << i << ": " << got[i];
    }
  };
  check(Roll(x, {1}, {0}), {3, -0.0, NAN, INFINITY});
  check(Unfold(x, 0, 2, 2), {-0.0, NAN, INFINITY, 3});
  check(Pad(x, {1, 1}, PadMode::kReflect), {NAN, -0.0, NAN, INFINITY, 3, INFINITY});
  check(Pad(x, {1, 1}, PadMode::kReplicate), {-0.0, -0.0, NAN, INFINITY, 3, 3});
  check(Diagonal(Diag(x)), {-0.0, NAN, INFINITY, 3});
  check(RepeatInterleave(x, 2), {-0.0, -0.0, NAN, NAN, INFINITY, INFINITY, 3, 3});
}

}  // namespace
}  // namespace understudy
