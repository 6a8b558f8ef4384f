// SPDX-License-Identifier: Apache-2.0
// Interning, lifetime, checks and shapes of nodes.
#include "src/uop/uop.h"

#include <gtest/gtest.h>

#include <thread>

#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::uop {
namespace {

using namespace expr;

TEST(UOp, EqualNodesAreOneNode) {
  const UOpRef i = Range(16, 0, AxisKind::kGlobal);
  EXPECT_EQ(i * 4 + 1, i * 4 + 1);
  EXPECT_EQ((i * 4 + 1).get(), (i * 4 + 1).get());
  EXPECT_FALSE(i + 1 == i + 2);
  EXPECT_FALSE(Range(16, 1, AxisKind::kGlobal) == i);
  EXPECT_FALSE(Range(16, 0, AxisKind::kReduce) == i);
  EXPECT_FALSE(Const(dtypes::kInt32, 1) == Const(dtypes::kInt64, 1));
}

TEST(UOp, FloatConstantsAreToldApartByBits) {
  EXPECT_FALSE(Const(dtypes::kFloat32, 0.0) == Const(dtypes::kFloat32, -0.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Const(dtypes::kFloat32, nan), Const(dtypes::kFloat32, -nan));  // one NaN
  EXPECT_EQ(Const(dtypes::kFloat32, 0.1), Const(dtypes::kFloat32, static_cast<double>(0.1f)));
}

TEST(UOp, ConstantsWrapToTheirType) {
  EXPECT_EQ(Const(dtypes::kUInt8, 257)->const_int(), 1);
  EXPECT_EQ(Const(dtypes::kInt8, 128)->const_int(), -128);
  EXPECT_EQ(Const(dtypes::kBool, 7)->const_int(), 1);
}

TEST(UOp, EveryNodeIsFreed) {
  const int64_t before = LiveUOps();
  {
    UOpRef x = Range(8, 77);
    for (int i = 0; i < 1000; ++i) x = x * 3 + i;
    EXPECT_GE(LiveUOps() - before, 2000);
    const UOpRef buffer = NewBuffer(dtypes::kFloat32, 10, "CPU");
    std::weak_ptr<StorageSlot> slot = buffer->arg_as<BufferArg>().slot;
    EXPECT_FALSE(slot.expired());
  }
  EXPECT_EQ(LiveUOps(), before);
}

TEST(UOp, StorageLivesAsLongAsTheLastNodeThatNamesIt) {
  std::weak_ptr<StorageSlot> slot;
  {
    UOpRef view;
    {
      const UOpRef buffer = NewBuffer(dtypes::kFloat32, 6, "CPU");
      slot = buffer->arg_as<BufferArg>().slot;
      view = Reshape(buffer, {2, 3});
    }
    EXPECT_FALSE(slot.expired());
  }
  EXPECT_TRUE(slot.expired());
}

TEST(UOp, AMillionDeepChainIsWalkedAndFreedWithoutRecursion) {
  const int64_t before = LiveUOps();
  {
    UOpRef x = Var("n", 0, 10);
    const UOpRef one = IndexConst(1);
    for (int i = 0; i < 1000000; ++i) x = Add(x, one);
    EXPECT_EQ(CountNodes(x), 1000002);
    UOpRef y = Var("n", 0, 10);
    for (int i = 0; i < 100000; ++i) y = Neg(y);
    EXPECT_EQ(CountNodes(Substitute(y, {{Var("n", 0, 10), IndexConst(3)}})), 100001);
  }
  EXPECT_EQ(LiveUOps(), before);
}

TEST(UOp, ThreadsThatBuildTheSameGraphGetTheSameNodesAndLeakNothing) {
  const int64_t before = LiveUOps();
  {
    std::vector<UOpRef> results(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&results, t] {
        for (int round = 0; round < 200; ++round) {
          UOpRef x = Range(64, round % 3);
          for (int i = 0; i < 100; ++i) x = (x * (i % 5 + 1) + i) % 1009;
          results[t] = x;  // frees the previous graph while others build it
        }
      });
    }
    for (std::thread& t : threads) t.join();
    for (int t = 1; t < 4; ++t) EXPECT_EQ(results[0], results[t]);
  }
  EXPECT_EQ(LiveUOps(), before);
}

TEST(UOp, SourcesAreOlderThanTheirUsersAndOrderIsStable) {
  const UOpRef i = Range(8, 1), j = Range(8, 2);
  const UOpRef e = (i + j) * (i + 1);
  for (const UOp* n : Toposort(e)) {
    for (const UOpRef& s : n->src()) EXPECT_LT(s->id(), n->id());
  }
  EXPECT_TRUE(Reaches(e, j));
  EXPECT_FALSE(Reaches(e, IndexConst(123)));
  EXPECT_NE(StructuralLess(i, j), StructuralLess(j, i));
}

TEST(UOp, ShapesFollowTheOps) {
  const UOpRef b = NewBuffer(dtypes::kFloat32, 24, "CPU");
  EXPECT_EQ(b->shape(), Shape({24}));
  const UOpRef x = Reshape(b, {2, 3, 4});
  EXPECT_EQ(Permute(x, {2, 0, 1})->shape(), Shape({4, 2, 3}));
  EXPECT_EQ(Pad(x, {0, 1, 2, 0, 0, 0})->shape(), Shape({3, 5, 4}));
  EXPECT_EQ(Shrink(x, {0, 1, 1, 3, 2, 2})->shape(), Shape({1, 2, 0}));
  EXPECT_EQ(ReduceAxis(x, Op::kAdd, {0, 2})->shape(), Shape({1, 3, 1}));
  EXPECT_EQ(Expand(Reshape(b, {1, 24}), {5, 24})->shape(), Shape({5, 24}));
  EXPECT_EQ(CmpLt(x, x)->shape(), Shape({2, 3, 4}));
  EXPECT_EQ(CmpLt(x, x)->dtype(), dtypes::kBool);
}

struct BadNode {
  Op op;
  DType dtype;
  std::vector<UOpRef> src;
  Arg arg;
  const char* message;
};

TEST(UOp, MalformedNodesAreRefusedWithWhatIsWrong) {
  const UOpRef f = Const(dtypes::kFloat32, 1.0), i = Const(dtypes::kInt32, 1), n = IndexConst(4);
  const UOpRef b = NewBuffer(dtypes::kFloat32, 24, "CPU");
  const UOpRef p = Param(dtypes::kFloat32, 0);
  using V = std::vector<int64_t>;
  const BadNode bad[] = {
      {Op::kAdd, dtypes::kFloat32, {f}, {}, "ADD: has 1 sources, expected 2"},
      {Op::kAdd, dtypes::kFloat32, {f, i}, {}, "ADD: source has dtype i32, expected f32"},
      {Op::kAdd, dtypes::kInt32, {f, f}, {}, "ADD: the result has dtype i32, expected f32"},
      {Op::kAdd, dtypes::kFloat32, {f, b}, {}, "there is no implicit broadcast"},
      {Op::kAdd, dtypes::kFloat32, {f, nullptr}, {}, "ADD: source 1 is null"},
      {Op::kCmpLt, dtypes::kFloat32, {f, f}, {}, "CMPLT: the result has dtype f32, expected bool"},
      {Op::kXor, dtypes::kFloat32, {f, f}, {}, "XOR: not defined on f32"},
      {Op::kFDiv, dtypes::kInt32, {i, i}, {}, "FDIV: not defined on i32"},
      {Op::kWhere, dtypes::kInt32, {i, i, i}, {}, "WHERE: condition has dtype i32"},
      {Op::kBitcast, dtypes::kFloat64, {i}, {}, "changes the number of bits"},
      {Op::kConst, dtypes::kInt8, {}, int64_t{200}, "CONST: 200 is not a value of i8"},
      {Op::kConst, dtypes::kFloat32, {}, 0.1, "is not a value of f32"},
      {Op::kConst, dtypes::kFloat32, {}, int64_t{1}, "must be a double"},
      {Op::kReshape, dtypes::kFloat32, {b}, V{5, 5}, "from {24} to {5,5} changes the number of elements"},
      {Op::kReshape, dtypes::kFloat32, {b}, V{-1}, "negative dimension"},
      {Op::kReshape, dtypes::kFloat32, {b}, V{1LL << 40, 1LL << 40}, "more than 2^63-1 elements"},
      {Op::kPermute, dtypes::kFloat32, {b}, V{1}, "is no permutation"},
      {Op::kShrink, dtypes::kFloat32, {b}, V{3, 25}, "is not inside dimension 0"},
      {Op::kPad, dtypes::kFloat32, {b}, V{0, INT64_MAX}, "too large"},
      {Op::kWithGradient, dtypes::kFloat32, {f}, std::string("exp"), "has 1 sources, expected at least 2"},
      {Op::kIota, dtypes::kFloat32, {}, int64_t{3}, "IOTA: the result has dtype f32"},
      {Op::kIota, dtypes::kInt64, {}, int64_t{-1}, "negative size -1"},
      {Op::kIota, dtypes::kInt8, {}, int64_t{129}, "128 is not a value of i8"},
      {Op::kReduceAxis, dtypes::kFloat32, {b}, ReduceArg{Op::kSub, {0}}, "reduces with SUB"},
      {Op::kReduceAxis, dtypes::kFloat32, {b}, ReduceArg{Op::kAdd, {1}}, "axis 1 outside rank 1"},
      {Op::kIndex, dtypes::kFloat32, {f, n}, {}, "expected a pointer"},
      {Op::kLoad, dtypes::kInt32, {IndexOf(p, n)}, {}, "gives i32 from f32*global"},
      {Op::kStore, dtypes::kVoid, {IndexOf(p, n), i}, {}, "value of dtype i32"},
      {Op::kSpecial, dtypes::kIndex, {n}, std::string("g7"), "expected g0..g2 or l0..l2"},
      {Op::kVar, dtypes::kIndex, {}, VarArg{"n", 3, 2}, "empty range"},
      {Op::kMulti, dtypes::kFloat32, {b}, MultiArg{{"A", "B"}, 0, {0}}, "1 sources for 2 devices"},
      {Op::kMulti, dtypes::kFloat32, {b, b}, MultiArg{{"A", "A"}, 0, {0, 24}}, "device A appears twice"},
      {Op::kMulti, dtypes::kFloat32, {b}, MultiArg{{"A,B"}, 0, {0}}, "expected a name without commas"},
      {Op::kMulti, dtypes::kFloat32, {b, b}, MultiArg{{"A", "B"}, 1, {0, 24}}, "axis 1 outside rank 1"},
      {Op::kMulti, dtypes::kFloat32, {b, b}, MultiArg{{"A", "B"}, -1, {0, 24}}, "2 begins"},
      {Op::kMulti, dtypes::kFloat32, {b, b}, MultiArg{{"A", "B"}, 0, {0, 25}}, "begins at 25, expected 24"},
      {Op::kMulti, dtypes::kFloat32, {b, f}, MultiArg{{"A", "B"}, 0, {0, 24}}, "shapes {24} and {}"},
      {Op::kMulti, dtypes::kFloat32, {b}, int64_t{3}, "must be a MultiArg"},
      {Op::kEndIf, dtypes::kVoid, {f}, {}, "expected IF"},
      {Op::kGep, dtypes::kFloat32, {f}, int64_t{1}, "lane 1 of f32"},
  };
  for (const BadNode& c : bad) {
    const absl::StatusOr<UOpRef> r = UOp::MakeChecked(c.op, c.dtype, c.src, c.arg);
    ASSERT_FALSE(r.ok()) << c.message;
    EXPECT_EQ(r.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(r.status().message()).find(c.message), std::string::npos) << r.status();
  }
}

TEST(UOpDeathTest, MakeAbortsOnAMalformedNode) {
  EXPECT_DEATH(UOp::Make(Op::kAdd, dtypes::kInt32, {}), "ADD: has 0 sources, expected 2");
}

}  // namespace
}  // namespace understudy::uop
