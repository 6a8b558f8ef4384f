// SPDX-License-Identifier: Apache-2.0
// Transfers, in-place assignment and its order, views and gradients of written views: scenarios with the only
// right answer, on pairs of devices.
#include "tests/src/schedule/storage_devices.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StorageEffects : public StorageTest {};
UNDERSTUDY_STORAGE_DEVICES(StorageEffects);

// --- Transfers own their destination ---

TEST_P(StorageEffects, AWriteToAPendingTransferLeavesItsSource) {
  for (const bool detached : {false, true}) {
    Tensor t = Full({2, 2}, 0).Contiguous();
    ASSERT_TRUE(Realize({t}).ok());
    Tensor c = t.To(d1);
    if (detached) c = c.Detach();
    c.AssignIndex({Slice{}, Slice{1, 2}}, Full({2, 1}, 1, d1));
    EXPECT_THAT(Get(c), ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(Get(t), ElementsAre(0, 0, 0, 0));
  }
}

TEST_P(StorageEffects, ATransferComputedForAnotherTensorIsKept) {
  Tensor a = F32({1, 2}, {2}), b = a.To(d1);
  Tensor c = Tensor::Empty({2}, {dtypes::kFloat32, d1});
  c.Assign(b);
  ASSERT_TRUE(Realize({c}).ok());
  a.Assign(Full({2}, 0));
  ASSERT_TRUE(Realize({a}).ok());
  EXPECT_THAT(Get(b), ElementsAre(1, 2));
  b.Assign(Full({2}, 3, d1));
  EXPECT_THAT(Get(b), ElementsAre(3, 3));
  EXPECT_THAT(Get(c), ElementsAre(1, 2));
  EXPECT_THAT(Get(a), ElementsAre(0, 0));
}

TEST_P(StorageEffects, TensorsOfHostDataHaveStorageOfTheirOwn) {
  const std::vector<float> data = {1, 2};
  Tensor a = F32(data, {2}), b = F32(data, {2});
  a.Assign(Full({2}, 9));
  ASSERT_TRUE(Realize({a, b}).ok());
  EXPECT_THAT(Get(b), ElementsAre(1, 2));
  EXPECT_NE(Address(a), Address(b));
}

TEST_P(StorageEffects, TwoTransfersOfOneTensorAreApart) {
  Tensor a = F32({1, 2}, {2}), b = a.To(d1), c = a.To(d1);
  b.AssignIndex({int64_t{0}}, Full({}, 7, d1));
  ASSERT_TRUE(Realize({b, c}).ok());
  EXPECT_THAT(Get(b), ElementsAre(7, 2));
  EXPECT_THAT(Get(c), ElementsAre(1, 2));
}

// --- Assignment and order ---

TEST_P(StorageEffects, ACloneReadsBeforeTheWrite) {
  for (const bool swapped : {false, true}) {
    Tensor x = F32({1, 2}, {2}), y = x.Clone();
    x.Assign(Full({2}, 0));
    ASSERT_TRUE((swapped ? Realize({x, y}) : Realize({y, x})).ok());
    EXPECT_THAT(Get(y), ElementsAre(1, 2));
    EXPECT_THAT(Get(x), ElementsAre(0, 0));
    EXPECT_NE(Address(x), Address(y));
  }
}

TEST_P(StorageEffects, OutputsInEitherOrderThenTheSourceChanges) {
  for (const bool swapped : {false, true}) {
    Tensor x = F32({1, 2}, {2});
    Tensor a = (x + 1).Sum(), b = a * 2;
    ASSERT_TRUE((swapped ? Realize({b, a}) : Realize({a, b})).ok());
    x.Assign(Full({2}, 0));
    ASSERT_TRUE(Realize({x}).ok());
    EXPECT_THAT(Get(a), ElementsAre(5));
    EXPECT_THAT(Get(b), ElementsAre(10));
  }
}

TEST_P(StorageEffects, AContiguousFlipOutlivesItsSource) {
  for (int way = 0; way < 3; ++way) {
    Tensor x = F32({1, 2}, {2});
    const Tensor f = x.Flip({0});
    Tensor y = (way == 0 ? f : way == 1 ? f.Detach() : f.ContiguousBackward()).Contiguous();
    ASSERT_TRUE(Realize({y}).ok());
    x.Assign(Full({2}, 0));
    ASSERT_TRUE(Realize({x}).ok());
    EXPECT_THAT(Get(y), ElementsAre(2, 1));
  }
}

TEST_P(StorageEffects, TwoUnorderedStoresToOneBufferAreRefusedByName) {
  const Tensor x = F32({1, 2, 3}, {3});
  Tensor a(x.uop(), d0), b(x.uop(), d0);
  a.AssignIndex({Slice{0, 2}}, Full({2}, 0));
  b.AssignIndex({Slice{1, 3}}, F32({8, 9}, {2}).Exp2());
  const absl::Status s = Realize({a, b});
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("two unordered assignments to buffer #"));
  EXPECT_THAT(std::string(s.message()), HasSubstr("(node " + std::to_string(a.uop()->id())));
  EXPECT_THAT(std::string(s.message()), HasSubstr("(node " + std::to_string(b.uop()->id())));
}

TEST_P(StorageEffects, StoresOfOtherShapesAndTypesAreRefused) {
  Tensor a = F32({1, 2}, {2});
  EXPECT_FALSE(Tensor(a.uop(), d0).Assign(Full({3}, 0)).ok());
  EXPECT_FALSE(Tensor(a.uop(), d0).Assign(Tensor::Full({2}, 0, {dtypes::kInt32, d0})).ok());
  EXPECT_FALSE(Tensor(a.uop(), d0).Assign(F32({1, 2}, {2}, d1)).ok());
}

// --- Views ---

TEST_P(StorageEffects, AssigningToAViewWritesTheTensorAndAllItsViews) {
  Tensor x = F32({0, 1, 2, 3, 4, 5}, {2, 3});
  ASSERT_TRUE(Realize({x + 1}).ok());  // uploads it
  const uint64_t before = Address(x);
  Tensor row = x.Index({int64_t{1}}), corner = x.Permute({1, 0}).Shrink({{1, 3}, {0, 1}});
  const Tensor doubled = x * 2;  // a value: of the old contents
  row.Assign(Full({3}, 9));
  corner.Assign(F32({-1, -2}, {2, 1}));
  ASSERT_TRUE(Realize({x, doubled}).ok());
  EXPECT_THAT(Get(x), ElementsAre(0, -1, -2, 9, 9, 9));
  EXPECT_THAT(Get(x.Flip({0, 1}).Reshape({6}).Shrink({{0, 4}})), ElementsAre(9, 9, 9, -2));
  EXPECT_THAT(Get(row), ElementsAre(9, 9, 9));
  EXPECT_THAT(Get(corner), ElementsAre(-1, -2));
  EXPECT_THAT(Get(doubled), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_EQ(Address(x), before);
}

TEST_P(StorageEffects, AViewsWriteIsDoneWhenTheViewAloneIsRealised) {
  Tensor x = F32({1, 2, 3}, {3});
  Tensor v = x.Shrink({{1, 3}});
  v.Assign(Full({2}, 0));
  EXPECT_THAT(Get(v), ElementsAre(0, 0));
  const int64_t kernels = engine->stats().kernels_launched;
  EXPECT_THAT(Get(x), ElementsAre(1, 0, 0));
  EXPECT_EQ(engine->stats().kernels_launched, kernels) << "written already";
}

TEST_P(StorageEffects, ExpandedAndPaddedTensorsAreValuesOfTheirOwn) {
  Tensor x = F32({1}, {1}), wide = x.Expand({3}), padded = x.Pad({{1, 1}});
  wide.AssignIndex({int64_t{1}}, Full({}, 5));
  padded.Assign(Full({3}, 7));
  EXPECT_THAT(Get(wide), ElementsAre(1, 5, 1));
  EXPECT_THAT(Get(padded), ElementsAre(7, 7, 7));
  EXPECT_THAT(Get(x), ElementsAre(1));
  Tensor y = x.Clone();
  y.AssignView(y.Expand({3}), Full({3}, 0));
  EXPECT_THAT(std::string(y.status().message()), HasSubstr("expected views of this tensor without Expand"));
}

TEST_P(StorageEffects, EqualValuesShareStorageUntilOneIsAssigned) {
  const Tensor x = F32({1, 2}, {2});
  Tensor a = x + 1, b = x + 1;
  ASSERT_TRUE(Realize({a, b}).ok());
  EXPECT_EQ(Address(a), Address(b));
  a.Assign(Full({2}, 0));
  ASSERT_TRUE(Realize({a}).ok());
  EXPECT_THAT(Get(a), ElementsAre(0, 0));
  EXPECT_THAT(Get(b), ElementsAre(2, 3));
}

TEST_P(StorageEffects, ContiguousOfARangeIsAView) {
  Tensor x = F32({1, 2, 3, 4}, {4});
  Tensor y = x.Shrink({{0, 2}}).Contiguous() * 2 + x.Shrink({{2, 4}}).Contiguous();
  ASSERT_TRUE(Realize({x}).ok());
  const int64_t kernels = engine->stats().kernels_launched;
  EXPECT_THAT(Get(y), ElementsAre(5, 8));
  EXPECT_EQ(engine->stats().kernels_launched, kernels + 1);
  // It shows what is written to the tensor; a copy of reordered elements does not.
  const Tensor range = x.Shrink({{1, 3}}).Contiguous();
  Tensor turned = x.Flip({0}).Contiguous();
  ASSERT_TRUE(Realize({turned}).ok());
  x.Assign(Full({4}, 0));
  EXPECT_THAT(Get(range), ElementsAre(0, 0));
  EXPECT_THAT(Get(turned), ElementsAre(4, 3, 2, 1));
}

// --- Gradients through writes ---

TEST_P(StorageEffects, GradientsOfWrittenViews) {
  {
    const Tensor x = F32({2, 3}, {2});
    Tensor y = x.Clone();
    y.AssignIndex({Slice{std::nullopt, 1}}, Full({1}, 0));
    EXPECT_THAT(Get(Gradients(y.Sum(), {x})[0]), ElementsAre(0, 1));
  }
  for (const bool through_view : {false, true}) {
    const auto write = [&](Tensor& y, Tensor view, const Tensor& v) {
      through_view ? view.Assign(v) : y.AssignView(view, v);
    };
    const Tensor x = F32({1, 2, 3, 4, 5, 6}, {2, 3});
    {
      Tensor y = x.Clone();
      const Tensor v = F32({7, 8, 9, 10}, {2, 2});
      write(y, y.Reshape({3, 2}).Index({Slice{1}}), v);
      const auto g = Gradients(y.Sum(), {x, v});
      EXPECT_THAT(Get(g[0]), ElementsAre(1, 1, 0, 0, 0, 0));
      EXPECT_THAT(Get(g[1]), ElementsAre(1, 1, 1, 1));
      EXPECT_THAT(Get(y), ElementsAre(1, 2, 7, 8, 9, 10));
    }
    {
      Tensor y = x.Clone();
      const Tensor v = F32({7, 8, 9, 10}, {2, 2});
      write(y, y.Permute({1, 0}).Index({Slice{1}}), v);
      const auto g = Gradients(y.Sum(), {x, v});
      EXPECT_THAT(Get(g[0]), ElementsAre(1, 0, 0, 1, 0, 0));
      EXPECT_THAT(Get(g[1]), ElementsAre(1, 1, 1, 1));
      EXPECT_THAT(Get(y), ElementsAre(1, 7, 9, 4, 8, 10));
    }
    {
      Tensor y = x.Clone();
      const Tensor v = F32({7, 8, 9}, {1, 3});
      write(y, y.Flip({0, 1}).Index({Slice{std::nullopt, 1}}), v);
      const auto g = Gradients(y.Sum(), {x, v});
      EXPECT_THAT(Get(g[0]), ElementsAre(1, 1, 1, 0, 0, 0));
      EXPECT_THAT(Get(g[1]), ElementsAre(1, 1, 1));
      EXPECT_THAT(Get(y), ElementsAre(1, 2, 3, 9, 8, 7));
    }
    {
      Tensor y = x.Clone();
      y.Assign(Full({2, 3}, 0));
      const Tensor z = (x * x).Sum();
      EXPECT_THAT(Get(Gradients(z, {x})[0]), ElementsAre(2, 4, 6, 8, 10, 12));
    }
  }
}

}  // namespace
}  // namespace understudy
