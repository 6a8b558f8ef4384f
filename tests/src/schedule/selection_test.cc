// SPDX-License-Identifier: Apache-2.0
// Sums that pick one element by its position: they become indexed loads, with the same values as the sum.
#include "src/schedule/selection.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "tests/src/schedule/mini_engine.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;

Tensor Positions(int64_t n, DType t = dtypes::kInt64) { return Tensor::Arange(0, n, 1, {t}); }

Tensor Data(int64_t n, Shape shape) {
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i) v[i] = static_cast<float>(i) + 0.5f;
  return Tensor::FromData(v, std::move(shape));
}

struct Outcome {
  std::vector<double> values;
  int kernels = 0, reduces = 0;
};
Outcome Evaluate(const Tensor& t) {
  MiniEngine e;
  Outcome o;
  const auto v = e.Values(t);
  EXPECT_TRUE(v.ok()) << v.status();
  if (v.ok()) o.values = *v;
  o.kernels = e.kernels;
  for (const ScheduleItem& item : e.last_schedule.items) {
    if (item.kernel != nullptr) o.reduces += static_cast<int>(uop::NodesOf(item.kernel, Op::kReduce).size());
  }
  return o;
}

// rows[index[i]] as the sum over r of (index[i] == r ? rows[r] : 0).
Tensor Rows(const Tensor& x, const Tensor& index) {
  const int64_t n = x.shape()[0], d = x.shape()[1], m = index.shape()[0];
  const Tensor hit = index.Reshape({m, 1, 1}).Eq(Positions(n).Reshape({1, n, 1}));
  return Where(hit.Expand({m, n, d}), x.Unsqueeze(0), 0.0).Sum({1});
}

TEST(Selection, BecomesOneLoad) {
  const Tensor x = Data(12, {4, 3}), i = Tensor::FromData<int32_t>({2, 0, 3, 2}, {4});
  const Outcome o = Evaluate(Rows(x, i) * 2.0);
  EXPECT_THAT(o.values, ElementsAre(13, 15, 17, 1, 3, 5, 19, 21, 23, 13, 15, 17));
  EXPECT_EQ(o.kernels, 1);
  EXPECT_EQ(o.reduces, 0);
}

TEST(Selection, OutsideIsZeroWhateverTheIndex) {
  const Tensor x = Data(3, {3, 1});
  const Tensor i = Tensor::FromData<int64_t>(
      {-1, 3, 2, INT64_MIN, INT64_MAX, int64_t{1} << 62, int64_t{1} << 32, -4}, {8});
  EXPECT_THAT(Evaluate(Rows(x, i)).values, ElementsAre(0, 0, 2.5, 0, 0, 0, 0, 0));
  const Tensor u = Tensor::FromData<uint64_t>({UINT64_MAX, 1, uint64_t{1} << 63}, {3});
  EXPECT_THAT(Evaluate(Rows(x, u.Cast(dtypes::kInt64))).values, ElementsAre(0, 1.5, 0));
  const Tensor hit = u.Reshape({3, 1}).Eq(Positions(3, dtypes::kUInt64).Reshape({1, 3}));
  const Outcome o = Evaluate(Where(hit, x.Reshape({1, 3}), 0.0).Sum({1}));
  EXPECT_THAT(o.values, ElementsAre(0, 1.5, 0));
  EXPECT_EQ(o.reduces, 0);
}

TEST(Selection, KeepsTheElementsBits) {
  const Tensor x = Tensor::FromData<float>({-0.0f, INFINITY, NAN, 1}, {4, 1});
  const Outcome o = Evaluate(Rows(x, Tensor::FromData<int8_t>({1, 0, 2}, {3})));
  EXPECT_EQ(o.values[0], INFINITY);
  EXPECT_TRUE(o.values[1] == 0 && std::signbit(o.values[1]));
  EXPECT_TRUE(std::isnan(o.values[2]));
}

TEST(Selection, ShiftedAndReversedPositions) {
  const Tensor x = Data(5, {5}), i = Tensor::FromData<int32_t>({3, 7, 2, 0}, {4});
  // i == r + 3
  const Outcome shifted = Evaluate(
      Where(i.Unsqueeze(1).Eq(Tensor::Arange(3, 8, 1, {dtypes::kInt64}).Unsqueeze(0)), x, 0.0).Sum({1}));
  EXPECT_THAT(shifted.values, ElementsAre(0.5, 4.5, 0, 0));
  // Through a flip the position is n - 1 - r.
  const Outcome reversed =
      Evaluate(Where(i.Unsqueeze(1).Eq(Positions(5).Flip({0}).Unsqueeze(0)), x, 0.0).Sum({1}));
  EXPECT_THAT(reversed.values, ElementsAre(1.5, 0, 2.5, 4.5));
  EXPECT_EQ(reversed.reduces, 0);
}

TEST(Selection, TwoAxesAtOnce) {
  const Tensor x = Data(12, {3, 4}), i = Tensor::FromData<int32_t>({2, 0, 1}, {3}),
               j = Tensor::FromData<int32_t>({3, 1, 9}, {3});
  const Tensor hit = i.Reshape({3, 1, 1})
                         .Eq(Positions(3).Reshape({1, 3, 1}))
                         .BitAnd(j.Reshape({3, 1, 1}).Eq(Positions(4).Reshape({1, 1, 4})));
  const Outcome o = Evaluate(Where(hit, x.Unsqueeze(0), 0.0).Sum({1, 2}));
  EXPECT_THAT(o.values, ElementsAre(11.5, 1.5, 0));
  EXPECT_EQ(o.reduces, 0);
}

TEST(Selection, OneOfTwoAxesLeavesASum) {
  const Tensor x = Data(12, {3, 4}), i = Tensor::FromData<int32_t>({2, 0}, {2});
  const Tensor hit = i.Reshape({2, 1, 1}).Eq(Positions(3).Reshape({1, 3, 1}));
  const Outcome o = Evaluate(Where(hit.Expand({2, 3, 4}), x.Unsqueeze(0), 0.0).Sum({1, 2}));
  EXPECT_THAT(o.values, ElementsAre(40, 8));
  EXPECT_EQ(o.reduces, 1);
}

TEST(Selection, PositionsThatWrapAreNoSelection) {
  // As i8 the positions 1 and 257 are equal: two elements are picked.
  const Tensor x = Data(300, {300}), i = Tensor::FromData<int8_t>({1}, {1});
  const Outcome o =
      Evaluate(Where(i.Unsqueeze(1).Eq(Positions(300).Cast(dtypes::kInt8).Unsqueeze(0)), x, 0.0).Sum({1}));
  EXPECT_THAT(o.values, ElementsAre(1.5 + 257.5));
  EXPECT_EQ(o.reduces, 1);
}

TEST(Selection, IndexThatVariesWithTheSumIsNoSelection) {
  // How many elements are their own position.
  const Tensor i = Tensor::FromData<int64_t>({0, 5, 2, 3}, {4});
  EXPECT_THAT(Evaluate(Where(i.Eq(Positions(4)), Data(4, {4}), 0.0).Sum()).values,
              ElementsAre(0.5 + 2.5 + 3.5));
}

TEST(Selection, IndicesThatAreReadByIndex) {
  const Tensor x = Data(6, {6, 1}), i = Tensor::FromData<int32_t>({4, 1, 9}, {3, 1}),
               j = Tensor::FromData<int32_t>({2, 1, 0, 3}, {4});
  const Tensor inner =
      Where(j.Reshape({4, 1}).Eq(Positions(3).Reshape({1, 3})), i.Reshape({1, 3}), 0).Sum({1});
  const Outcome o = Evaluate(Rows(x, inner));
  EXPECT_THAT(o.values, ElementsAre(0, 1.5, 4.5, 0.5));
  EXPECT_EQ(o.reduces, 0);
}

TEST(Selection, PaddedAndViewed) {
  // The index is read only where the result is wanted: REF refuses reads past a buffer's end.
  const Tensor x = Data(12, {4, 3}), i = Tensor::FromData<int32_t>({2, 0}, {2});
  const Outcome o = Evaluate(Rows(x, i).Reshape({6}).Pad({{1, 2}}).Flip({0}) + 1.0);
  EXPECT_THAT(o.values, ElementsAre(1, 1, 3.5, 2.5, 1.5, 9.5, 8.5, 7.5, 1));
  // x seen through a reshape that splits the selected axis.
  const Tensor flat = Data(12, {12}).Flip({0}).Reshape({3, 4}).Permute({1, 0}).Reshape({12, 1});
  const Outcome v = Evaluate(Rows(flat, Tensor::FromData<int32_t>({0, 5, 11}, {3})));
  EXPECT_THAT(v.values, ElementsAre(11.5, 11.5 - 9, 0.5));
  EXPECT_EQ(v.reduces, 0);
}

TEST(Selection, ConstantAndComputedIndices) {
  const Tensor x = Data(6, {6, 1});
  // By positions: a view, not even an indexed load.
  const Outcome o = Evaluate(Rows(x, Tensor::Arange(4, -2, -2, {dtypes::kInt64})));
  EXPECT_THAT(o.values, ElementsAre(4.5, 2.5, 0.5));
  EXPECT_EQ(o.reduces, 0);
  // By a reduction.
  const Tensor i = Tensor::FromData<int64_t>({1, 3, 2, 2}, {2, 2}).Sum({1});
  EXPECT_THAT(Evaluate(Rows(x, i)).values, ElementsAre(4.5, 4.5));
}

TEST(Selection, OfASum) {
  const Tensor x = Data(12, {4, 3}).Sum({1}, true), i = Tensor::FromData<int32_t>({3, 0}, {2});
  EXPECT_THAT(Evaluate(Rows(x, i)).values, ElementsAre(31.5, 4.5));
}

TEST(Selection, BooleansAreMaxima) {
  const Tensor x = Tensor::FromData<bool>({true, false, true}, {3});
  const Tensor i = Tensor::FromData<int32_t>({2, 1, 5}, {3});
  const Tensor hit = i.Unsqueeze(1).Eq(Positions(3).Unsqueeze(0));
  const Outcome o = Evaluate(Where(hit, x.Unsqueeze(0), false).Max({1}));
  EXPECT_THAT(o.values, ElementsAre(1, 0, 0));
  EXPECT_EQ(o.reduces, 0);
}

TEST(Iota, NeedsNoStorageAndNoKernelOfItsOwn) {
  MiniEngine e;
  const Tensor x = Data(12, {3, 4});
  const Tensor y = x + Positions(12).Reshape({4, 3}).Permute({1, 0});
  const auto v = e.Values(y);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(e.kernels, 1);
  EXPECT_EQ(e.last_schedule.items[0].slots.size(), 2u);  // the result and x
  EXPECT_EQ((*v)[4 + 2], 6.5 + 7);
}

TEST(Iota, StoredWhereItIsUsedWhenThatIsOnOneDevice) {
  // An expensive value of positions alone is stored once; on two devices it is computed on each.
  MiniEngine e;
  Tensor p = Positions(64).Cast(dtypes::kFloat32);
  for (int i = 0; i < 12; ++i) p = (p * 0.01).Sin();
  const Tensor a = Data(64 * 64, {64, 64}), b = a.To("OTHER");
  const Tensor on_a = (a * p).Sum({1}), on_b = (b * p).Sum({1});
  const auto v = e.Values(on_a), w = e.Values(on_b);
  ASSERT_TRUE(v.ok() && w.ok()) << v.status() << w.status();
  EXPECT_EQ(*v, *w);
  ASSERT_TRUE(e.Realize({(a * p).Sum({0}), (b * p).Sum({0})}).ok());
}

}  // namespace
}  // namespace understudy
