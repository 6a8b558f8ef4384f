// SPDX-License-Identifier: Apache-2.0
// Spread tensors: every operation on 2, 3 and 4 devices gives what it gives on one.
#include "src/tensor/shard.h"

#include <functional>

#include "src/tensor/activation.h"
#include "src/tensor/conv.h"
#include "src/tensor/create_ops.h"
#include "src/tensor/elementwise_ops.h"
#include "src/tensor/embedding.h"
#include "src/tensor/function.h"
#include "src/tensor/gather.h"
#include "src/tensor/indexing.h"
#include "src/tensor/linalg.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/norm.h"
#include "src/tensor/pool.h"
#include "src/tensor/random.h"
#include "src/tensor/reduce_ops.h"
#include "src/tensor/scan.h"
#include "src/tensor/sort.h"
#include "tests/src/tensor/shard_devices.h"

namespace understudy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Bounds = std::vector<std::pair<int64_t, int64_t>>;

// --- Making, asking and reading ---

TEST(Shard, PartsAreConsecutiveAndAsEvenAsPossible) {
  ShardDevices d;
  const Tensor x = d.Whole({7, 3});
  const Tensor s = Shard(x, d.names, 0);
  EXPECT_TRUE(IsSpread(s));
  EXPECT_EQ(DevicesOf(s), d.names);
  EXPECT_EQ(s.device(), "REF:0,REF:1,REF:2,REF:3");
  EXPECT_EQ(ShardAxis(s), 0);
  EXPECT_EQ(ShardBounds(s), (Bounds{{0, 2}, {2, 4}, {4, 6}, {6, 7}}));
  ExpectSame(d, s, x);
  for (int64_t i = 0; i < 4; ++i) {
    const auto [begin, end] = ShardBounds(s)[i];
    const Tensor part = ShardOf(s, i);
    EXPECT_EQ(part.device(), d.names[i]);
    ExpectSame(d, part, x.Shrink({{begin, end}, {0, 3}}));
  }
  const Tensor columns = Shard(x, d.First(2), -1);
  EXPECT_EQ(ShardBounds(columns), (Bounds{{0, 2}, {2, 3}}));
  ExpectSame(d, columns, x);
}

TEST(Shard, FewerElementsThanDevicesLeaveEmptyParts) {
  ShardDevices d;
  const Tensor x = d.Whole({2, 3}), s = Shard(x, d.names, 0);
  EXPECT_EQ(ShardBounds(s), (Bounds{{0, 1}, {1, 2}, {0, 0}, {0, 0}}));
  ExpectSame(d, s, x);
  ExpectSame(d, s * 2 + 1, x * 2 + 1);
  ExpectSame(d, s.Max({0}), x.Max({0}));
  ExpectSame(d, s.Prod({0}), x.Prod({0}));
  ExpectSame(d, s.Transpose().Matmul(s), x.Transpose().Matmul(x));
  Tensor t = Shard(x, d.names, 0);
  t.Assign(s * 3);
  ExpectSame(d, t, x * 3);
}

TEST(Shard, ReplicatedTensorsAndGathers) {
  ShardDevices d;
  const Tensor x = d.Whole({5, 2});
  const Tensor r = Replicate(x, d.First(3));
  EXPECT_TRUE(IsSpread(r));
  EXPECT_EQ(ShardAxis(r), std::nullopt);
  for (int64_t i = 0; i < 3; ++i) ExpectSame(d, ShardOf(r, i), x);
  const Tensor s = Shard(x, d.First(3), 0), back = Unshard(s, "REF:3");
  EXPECT_EQ(back.device(), "REF:3");
  EXPECT_FALSE(IsSpread(back));
  ExpectSame(d, back, x);
  // From one group to another, and along another axis.
  ExpectSame(d, Shard(s, {"REF:3", "REF:1"}, 1), x);
  ExpectSame(d, Replicate(s, {"REF:3", "REF:1"}), x);
  ExpectSame(d, ShardLike(x, s), x);
  EXPECT_EQ(ShardBounds(ShardLike(x, s)), ShardBounds(s));
  EXPECT_EQ(Unshard(s).device(), "REF:0");
}

TEST(Shard, HostDataGoesToItsDeviceAtOnce) {
  ShardDevices d;
  const Tensor x = Tensor::FromData<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}, "REF:0");
  ASSERT_TRUE(d.Realize({Shard(x, d.names, 0) + 1}).ok());
  EXPECT_EQ(d.engine->stats().bytes_in, 32);
  EXPECT_EQ(d.engine->stats().copies, 0);
  EXPECT_EQ(d.engine->stats().kernels_launched, 4);
}

TEST(Shard, WrongRequestsSayWhatIsExpected) {
  ShardDevices d;
  const Tensor x = d.Whole({4, 2});
  const auto message = [](const Tensor& t) { return std::string(t.status().message()); };
  EXPECT_THAT(message(Shard(x, {}, 0)), HasSubstr("no devices"));
  EXPECT_THAT(message(Shard(x, {"REF:0", "REF:0"}, 0)), HasSubstr("REF:0 appears twice"));
  EXPECT_THAT(message(Shard(x, {"REF:0,REF:1"}, 0)), HasSubstr("the name of one device"));
  EXPECT_THAT(message(Shard(x, d.names, 2)), HasSubstr("axis 2 is outside a tensor of rank 2"));
  EXPECT_THAT(message(ShardOf(Shard(x, d.names, 0), 4)), HasSubstr("part 4 of a tensor on 4 devices"));
  EXPECT_THAT(message(ShardLike(d.Whole({2}), Shard(x, d.names, 0))), HasSubstr("expected [4,2]"));
  // Operands meet on one device or one group.
  EXPECT_THAT(message(Shard(x, d.First(2), 0) + x), HasSubstr("operands on devices REF:0,REF:1 and REF:0"));
  EXPECT_THAT(message(Shard(x, d.First(2), 0) + Shard(x, d.First(3), 0)), HasSubstr("REF:0,REF:1,REF:2"));
  Tensor nowhere = Shard(x, {"REF:0", "GPU:7"}, 0);
  EXPECT_THAT(std::string(d.engine->Realize(nowhere).message()), HasSubstr("GPU:7"));
}

TEST(Shard, DevicesOfDifferentKindsWorkTogether) {
  DeviceRegistry devices;
  devices.Register(std::make_shared<CpuDevice>("CPU:0"));
  devices.Register(std::make_shared<RefDevice>("REF:0"));
  Engine engine(devices);
  std::vector<float> v(24);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
  const Tensor x = Shard(Tensor::FromData(v, {6, 4}, "REF:0"), {"CPU:0", "REF:0"}, 0);
  Tensor y = x.Transpose().Matmul(x).Sum();
  const auto got = engine.Data<float>(y);
  ASSERT_TRUE(got.ok()) << got.status();
  double want = 0;
  for (int k = 0; k < 6; ++k) {
    double row = 0;
    for (int i = 0; i < 4; ++i) row += k * 4 + i;
    want += row * row;
  }
  EXPECT_EQ((*got)[0], static_cast<float>(want));
}

// --- Operations ---

struct UnaryCase {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
  double tolerance = 0;
};

// Of a tensor of shape {6, 4, 2}.
std::vector<UnaryCase> UnaryCases() {
  using T = const Tensor&;
  return {
      {"neg", [](T x) { return -x; }},
      {"exp", [](T x) { return x.Exp(); }},
      {"gelu", [](T x) { return x.Gelu(); }},
      {"relu", [](T x) { return x.Relu(); }},
      {"sigmoid", [](T x) { return x.Sigmoid(); }},
      {"clamp", [](T x) { return x.Clamp(-1, 2); }},
      {"cast", [](T x) { return x.Cast(dtypes::kInt8); }},
      {"bitcast", [](T x) { return x.Bitcast(dtypes::kInt32); }},
      {"where", [](T x) { return Where(x.Gt(0), x, 7); }},
      {"pow", [](T x) { return (x.Square() + 1).Pow(1.5); }, 1e-6},
      {"reshape", [](T x) { return x.Reshape({2, 3, 4, 2}); }},
      {"flatten", [](T x) { return x.Flatten(); }},
      {"reshape across", [](T x) { return x.Reshape({3, 16}); }},
      {"permute", [](T x) { return x.Permute({2, 0, 1}); }},
      {"transpose", [](T x) { return x.Transpose(0, 2) * 2; }},
      {"expand", [](T x) { return x.Unsqueeze(1).Expand({6, 3, 4, 2}); }},
      {"flip", [](T x) { return x.Flip({0}); }},
      {"flip all", [](T x) { return x.Flip({0, 1, 2}) + x; }},
      {"shrink", [](T x) { return x.Shrink({{1, 5}, {1, 3}, {0, 1}}); }},
      {"first half", [](T x) { return x.Shrink({{0, 3}, {0, 4}, {0, 2}}) * 2; }},
      {"pad", [](T x) { return x.Pad({{1, 2}, {0, 3}, {2, 0}}, 5) + 1; }},
      {"cut", [](T x) { return x.Pad({{-1, 2}, {2, -1}, {0, 0}}); }},
      {"strided", [](T x) { return x.Index({Slice{std::nullopt, std::nullopt, -2}, Slice{1, 4, 2}}); }},
      {"one row", [](T x) { return x.Index({int64_t{4}}); }},
      {"differences",
       [](T x) { return x.Shrink({{1, 6}, {0, 4}, {0, 2}}) - x.Shrink({{0, 5}, {0, 4}, {0, 2}}); }},
      {"cat", [](T x) { return Cat({x, x * 2, x + 1}, 0); }},
      {"cat 1", [](T x) { return Cat({x, x * 2}, 1); }},
      {"stack", [](T x) { return Stack({x, -x}, 1); }},
      {"roll", [](T x) { return Roll(x, {2}, {0}); }},
      {"repeat", [](T x) { return Repeat(x, {2, 1, 2}); }},
      {"sum", [](T x) { return x.Sum(); }},
      {"sum 0", [](T x) { return x.Sum({0}); }},
      {"sum 1", [](T x) { return x.Sum({1}, true); }},
      {"sum 0 2", [](T x) { return x.Sum({0, 2}); }},
      {"prod", [](T x) { return (x.Mod(3) + 1).Prod({0}); }},
      {"max", [](T x) { return x.Max({0}, true); }},
      {"min", [](T x) { return x.Min({1, 2}); }},
      {"min all", [](T x) { return x.Min(); }},
      {"any", [](T x) { return Any(x.Gt(3), {0}); }},
      {"all", [](T x) { return All(x.Gt(-4), {1}); }},
      {"mean", [](T x) { return x.Mean({0}); }},
      {"var", [](T x) { return x.Var({0, 1}); }, 1e-6},
      {"argmax 0", [](T x) { return x.Argmax(0); }},
      {"argmax 2", [](T x) { return x.Argmax(2); }},
      {"softmax 0", [](T x) { return x.Softmax(0); }, 1e-6},
      {"log softmax", [](T x) { return x.LogSoftmax(1); }, 1e-6},
      {"layer norm", [](T x) { return x.LayerNorm(1); }, 1e-6},
      {"layer norm of all", [](T x) { return x.LayerNorm(3); }, 1e-6},
      {"cumsum", [](T x) { return Cumsum(x, 0); }},
      {"sort", [](T x) { return Sort(x, 0).values; }},
      {"matmul self", [](T x) { return x.Matmul(x.Transpose()); }},
      {"outer", [](T x) { return x.Flatten().Reshape({48, 1}).Matmul(x.Flatten().Reshape({1, 48})); }},
      {"tril", [](T x) { return Tril(x.Reshape({6, 8})); }},
      {"contiguous", [](T x) { return x.Permute({1, 0, 2}).Contiguous() + 1; }},
      {"detach", [](T x) { return x.Detach().ContiguousBackward() * 2; }},
      {"clone", [](T x) { return x.Clone() * 3; }},
      {"positions",
       [](T x) { return x + Tensor::Arange(0, 48, 1, {dtypes::kFloat32, x.device()}).Reshape({6, 4, 2}); }},
      {"constants", [](T x) { return x * Tensor::Full({4, 1}, 3, {dtypes::kFloat32, x.device()}); }},
  };
}

class Ops : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Devices, Ops, testing::Values(2, 3, 4));

TEST_P(Ops, OfOneTensorShardedAlongEveryAxis) {
  ShardDevices d;
  const Tensor x = d.Whole({6, 4, 2});
  for (const UnaryCase& c : UnaryCases()) {
    SCOPED_TRACE(c.name);
    const Tensor want = c.f(x);
    for (int axis = -1; axis < 3; ++axis) {
      SCOPED_TRACE(absl::StrCat("axis ", axis));
      const Tensor s = axis < 0 ? Replicate(x, d.First(GetParam())) : Shard(x, d.First(GetParam()), axis);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(d, c.f(s), want, c.tolerance));
    }
  }
}

// Of {6, 4} and a partner.
TEST_P(Ops, OfTwoTensorsWhateverTheirSharding) {
  ShardDevices d;
  const std::vector<std::string> devices = d.First(GetParam());
  struct Case {
    const char* name;
    Shape other;
    std::function<Tensor(const Tensor&, const Tensor&)> f;
  };
  using T = const Tensor&;
  const std::vector<Case> cases = {
      {"add", {6, 4}, [](T a, T b) { return a + b; }},
      {"compare", {6, 4}, [](T a, T b) { return a.Lt(b); }},
      {"maximum of a row", {4}, [](T a, T b) { return a.Maximum(b); }},
      {"times a column", {6, 1}, [](T a, T b) { return a * b; }},
      {"where", {6, 4}, [](T a, T b) { return Where(a.Eq(b), a * 2, b); }},
      {"matmul", {4, 6}, [](T a, T b) { return a.Matmul(b); }},
      {"matmul of columns", {6, 5}, [](T a, T b) { return a.Transpose().Matmul(b); }},
      {"batched", {3, 4, 5}, [](T a, T b) { return a.Matmul(b); }},
      {"einsum", {6, 4}, [](T a, T b) { return Einsum("ij,ik->jk", {a, b}); }},
      {"cat", {3, 4}, [](T a, T b) { return Cat({a, b}, 0); }},
      {"gather", {6, 4}, [](T a, T b) { return Gather(a, 1, (b + 4).Mod(4).Cast(dtypes::kInt64)); }},
  };
  const auto spread = [&](const Tensor& t, int axis) {
    return axis < 0 ? Replicate(t, devices) : Shard(t, devices, axis);
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Tensor a = d.Whole({6, 4}, 2), b = d.Whole(c.other, 3);
    const Tensor want = c.f(a, b);
    for (int i = -1; i < 2; ++i) {
      for (int j = -1; j < b.ndim(); ++j) {
        SCOPED_TRACE(absl::StrCat("axes ", i, " and ", j));
        ASSERT_NO_FATAL_FAILURE(ExpectSame(d, c.f(spread(a, i), spread(b, j)), want));
      }
    }
  }
}

TEST(Shard, OperationsOnCpuDevices) {
  ShardDevices d("CPU", 3);
  const Tensor x = d.Whole({6, 4, 2});
  for (const UnaryCase& c : UnaryCases()) {
    static constexpr const char* kSome[] = {"gelu", "reshape",   "flip all",    "pad",      "cat",
                                            "sum",  "softmax 0", "matmul self", "positions"};
    if (std::none_of(std::begin(kSome), std::end(kSome),
                     [&](const char* n) { return n == std::string(c.name); }))
      continue;
    SCOPED_TRACE(c.name);
    ASSERT_NO_FATAL_FAILURE(ExpectSame(d, c.f(Shard(x, d.names, 0)), c.f(x), std::max(c.tolerance, 1e-6)));
  }
}

TEST(Shard, RandomNumbersAndPositionsHaveTheBitsOfOneDevice) {
  ShardDevices d;
  const std::string group = Replicate(d.Whole({1}), d.First(3)).device();
  const Tensor one = Tensor::Uniform({6, 5}, 42, -1, 1, {dtypes::kFloat32, "REF:0"});
  ExpectSame(d, Tensor::Uniform({6, 5}, 42, -1, 1, {dtypes::kFloat32, group}), one);
  const Tensor x = d.Whole({6, 5});
  for (const int axis : {0, 1}) {
    const Tensor s = Shard(x, d.First(3), axis);
    ExpectSame(d, s + Tensor::Uniform({6, 5}, 42, -1, 1, {dtypes::kFloat32, group}), x + one);
    Generator g1(7), g2(7);
    const Tensor dropped = Dropout(s, 0.5, true, g1);
    EXPECT_EQ(ShardAxis(dropped), axis);
    ExpectSame(d, dropped, Dropout(x, 0.5, true, g2));
  }
}

// --- Where results lie, and what moves ---

TEST(Shard, MatmulShardings) {
  ShardDevices d;
  const std::vector<std::string> devices = d.First(2);
  const Tensor a = d.Whole({4, 6}, 1), b = d.Whole({6, 8}, 2), want = a.Matmul(b);
  struct Case {
    int a, b;
    std::optional<int64_t> result;
    int64_t bytes;  // between devices
  };
  const Case cases[] = {
      {0, -1, 0, 0},                        // rows
      {-1, 1, 1, 0},                        // columns
      {1, 0, std::nullopt, 2 * 4 * 8 * 4},  // both along the contracted axis: one all-reduce of the result
      {-1, 0, std::nullopt, 2 * 4 * 8 * 4},
      {0, 1, 1, 4 * 6 * 4},  // the smaller operand is gathered
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.a, " ", c.b));
    const auto spread = [&](const Tensor& t, int axis) {
      return axis < 0 ? Replicate(t, devices) : Shard(t, devices, axis);
    };
    Tensor x = spread(a, c.a), y = spread(b, c.b);
    ASSERT_TRUE(d.Realize({x, y}).ok());
    d.engine->ResetStats();
    const Tensor z = x.Matmul(y);
    EXPECT_EQ(ShardAxis(z), c.result);
    ASSERT_TRUE(d.Realize({z}).ok());
    EXPECT_EQ(d.engine->stats().bytes_copied, c.bytes);
    ExpectSame(d, z, want);
  }
}

TEST(Shard, PartsOfResultsNeedNoCopies) {
  ShardDevices d;
  Tensor x = Shard(d.Whole({8, 3}), d.names, 0);
  ASSERT_TRUE(d.Realize({x}).ok());
  d.engine->ResetStats();
  ASSERT_TRUE(d.Realize({ShardOf(x, 2), ShardOf(x, 3) * 2, x.Reshape({4, 2, 3}), (x + 1).Flip({0}),
                         x.Shrink({{2, 4}, {0, 3}}) - 1})
                  .ok());
  EXPECT_EQ(d.engine->stats().copies, 0);
}

// --- Storage ---

TEST(Shard, AssignmentAndViews) {
  ShardDevices d;
  const Tensor x = d.Whole({6, 4}), y = d.Whole({6, 4}, 2);
  for (const int axis : {-1, 0, 1}) {
    SCOPED_TRACE(axis);
    const auto spread = [&](const Tensor& t) {
      return axis < 0 ? Replicate(t, d.First(3)) : Shard(t, d.First(3), axis);
    };
    Tensor one = x.Clone(), s = spread(x);
    Tensor view = s.Reshape({24}), flipped = s.Flip({0}), part = ShardOf(s, 1), before = s * 1,
           copy = s.Clone();
    ASSERT_TRUE(d.Realize({before, copy}).ok());
    one.Assign(one + y);
    s.Assign(s + spread(y));
    ExpectSame(d, view, one.Reshape({24}));
    ExpectSame(d, flipped, one.Flip({0}));
    ExpectSame(d, before, x);
    ExpectSame(d, copy, x);
    EXPECT_EQ(ShardAxis(s), axis < 0 ? std::nullopt : std::optional<int64_t>(axis));
    // A part of it, across the parts of several devices; from a value on all of them.
    one.AssignIndex({Slice{1, 5}, Slice{1, 3}}, y.Shrink({{0, 4}, {0, 2}}));
    s.AssignIndex({Slice{1, 5}, Slice{1, 3}}, spread(y).Shrink({{0, 4}, {0, 2}}));
    ExpectSame(d, s, one);
    // Through the view of one device.
    const Shape local = part.shape();
    part.Assign(Tensor::Full(local, 9, {dtypes::kFloat32, "REF:1"}));
    if (axis < 0) {
      one.Assign(Tensor::Full({6, 4}, 9, {dtypes::kFloat32, "REF:0"}));
    } else {
      const auto [begin, end] = ShardBounds(s)[1];
      std::vector<IndexItem> where{Slice{0, 6}, Slice{0, 4}};
      where[axis] = Slice{begin, end};
      one.AssignIndex(where, Tensor::Full({}, 9, {dtypes::kFloat32, "REF:0"}));
    }
    ExpectSame(d, s, one);
    ExpectSame(d, view, one.Reshape({24}));
    // A view that is written through.
    Tensor one_view = one.Permute({1, 0});
    one_view.Assign(y.Permute({1, 0}));
    Tensor permuted = s.Permute({1, 0});
    permuted.Assign(spread(y).Permute({1, 0}));
    ExpectSame(d, s, one);
  }
}

TEST(Shard, OldContentsAndTransfersBehaveAsOnOneDevice) {
  ShardDevices d;
  Tensor s = Shard(d.Whole({4, 2}), d.First(2), 0);
  ASSERT_TRUE(d.Realize({s}).ok());
  // A transfer owns its destination: what it copies is what was there when it was made.
  Tensor away = Unshard(s, "REF:2"), twice = s * 2, clone = s.Clone();
  ASSERT_TRUE(d.Realize({away, clone}).ok());
  s.Assign(s * 0);
  ASSERT_TRUE(d.Realize({s}).ok());
  ExpectSame(d, away, d.Whole({4, 2}));
  ExpectSame(d, clone, d.Whole({4, 2}));
  EXPECT_EQ(d.engine->Realize(twice).code(), absl::StatusCode::kFailedPrecondition);
  // A value that was realised is found again by graphs over it.
  const Tensor t = Shard(d.Whole({4, 2}), d.First(2), 0);
  Tensor sum = t.Sum(), later = sum + 1;
  ASSERT_TRUE(d.Realize({sum}).ok());
  d.engine->ResetStats();
  ASSERT_TRUE(d.Realize({later}).ok());
  EXPECT_EQ(d.engine->stats().copies, 0);
  EXPECT_EQ(d.engine->stats().kernels_launched, 2);
}

TEST(Shard, WhatWasMovedOnceIsNotMovedAgain) {
  ShardDevices d;
  for (const bool sharded : {false, true}) {
    const Tensor x = d.Whole({4, 6}) / 4;
    const Tensor s = sharded ? Shard(x, d.First(2), 0) : Replicate(x, d.First(2));
    ASSERT_TRUE(d.Realize({s * 2}).ok());
    EXPECT_GT(d.engine->stats().copies, 0);
    d.engine->ResetStats();
    ASSERT_TRUE(d.Realize({s * 3, s.Sum({1})}).ok());
    EXPECT_EQ(d.engine->stats().copies, 0);
    ExpectSame(d, s, x);
  }
}

// A transfer keeps what it moved, also when its source was made from values that are known already.
TEST(Shard, TransfersOfKnownValuesAreRemembered) {
  ShardDevices d;
  const Tensor x = d.Whole({4}), doubled = x * 2;
  ASSERT_TRUE(d.Realize({doubled}).ok());
  Tensor source = doubled.Clone();
  ASSERT_TRUE(d.Realize({source}).ok());
  const Tensor away = (source + 1).To("REF:1");
  ASSERT_TRUE(d.Realize({away * 3}).ok());
  source.Assign(source * 0);
  ASSERT_TRUE(d.Realize({source}).ok());
  d.engine->ResetStats();
  ExpectSame(d, away, x * 2 + 1);
  const Tensor lazy = (doubled + 1).To("REF:2");
  ASSERT_TRUE(d.Realize({lazy * 3}).ok());
  d.engine->ResetStats();
  ASSERT_TRUE(d.Realize({lazy * 5}).ok());
  EXPECT_EQ(d.engine->stats().copies, 0);
}

TEST(Shard, FunctionsOfSpreadTensorsArePartOfTheCallersGraph) {
  ShardDevices d;
  const Function f(
      [](absl::Span<const Tensor> in) -> std::vector<Tensor> { return {in[0] * 2 + 1, in[0].Sum()}; });
  const Tensor x = d.Whole({6, 2}), s = Shard(x, d.First(3), 0);
  const std::vector<Tensor> got = f({s}), want = f({x});
  ExpectSame(d, got[0], want[0]);
  ExpectSame(d, got[1], want[1]);
  // A call of one device over what was gathered runs once, whichever of its results is asked for.
  const std::vector<Tensor> gathered = f({Unshard(s)});
  ExpectSame(d, gathered[0], want[0]);
  ExpectSame(d, gathered[1], want[1]);
}

// --- Gradients ---

// Parts of a gradient are padded and added, which may lose the sign of a zero; nothing else.
constexpr double kZeros = 1e-300;

TEST(Shard, GradientsOfShardingAndGathering) {
  ShardDevices d;
  const Tensor x = d.Whole({6, 4}), w = d.Whole({6, 4}, 2);
  const Tensor want = Gradients((x * x * w).Sum(), {x})[0];
  for (const int axis : {-1, 0, 1}) {
    SCOPED_TRACE(axis);
    const auto spread = [&](const Tensor& t) {
      return axis < 0 ? Replicate(t, d.First(3)) : Shard(t, d.First(3), axis);
    };
    // To the tensor that was sharded, and to the sharded one.
    const Tensor s = spread(x);
    const Tensor loss = (s * s * spread(w)).Sum();
    const std::vector<Tensor> g = Gradients(loss, {x, s});
    EXPECT_EQ(g[0].device(), "REF:0");
    EXPECT_EQ(ShardAxis(g[1]), ShardAxis(s));
    ExpectSame(d, g[0], want, kZeros);
    ExpectSame(d, g[1], want, kZeros);
    // Through a gather, and through the view of a device.
    const Tensor y = Unshard(s, "REF:3");
    const Tensor gathered = Gradients((y * y * w.To("REF:3")).Sum(), {s})[0];
    EXPECT_EQ(ShardAxis(gathered), ShardAxis(s));
    ExpectSame(d, gathered, want, kZeros);
    const Tensor part = ShardOf(s, 1);
    const Tensor of_part = Gradients((part * part).Sum(), {s})[0];
    Tensor mask = Tensor::Full({6, 4}, axis < 0 ? 1 : 0, {dtypes::kFloat32, "REF:0"}).Clone();
    if (axis >= 0) {
      std::vector<IndexItem> where{Slice{0, 6}, Slice{0, 4}};
      where[axis] = Slice{ShardBounds(s)[1].first, ShardBounds(s)[1].second};
      mask.AssignIndex(where, Tensor::Full({}, 1, {dtypes::kFloat32, "REF:0"}));
    }
    ExpectSame(d, of_part, x * 2 * mask, kZeros);
  }
}

TEST(Shard, GradientsThroughOperations) {
  ShardDevices d;
  const Tensor x = d.Whole({6, 4});
  for (const UnaryCase& c : UnaryCases()) {
    static constexpr const char* kNone[] = {"cast", "bitcast", "argmax 0", "argmax 2",
                                            "any",  "all",     "detach"};
    if (std::any_of(std::begin(kNone), std::end(kNone),
                    [&](const char* n) { return n == std::string(c.name); }))
      continue;
    SCOPED_TRACE(c.name);
    const Tensor in = x.Reshape({6, 4, 1}).Expand({6, 4, 2}) / 4;
    const auto loss = [&](const Tensor& t) {
      const Tensor y = c.f(t);
      return (y * y).Sum();
    };
    const Tensor p = in.Clone();
    const Tensor want = Gradients(loss(p), {p})[0];
    for (const int axis : {0, 1}) {
      const Tensor s = Shard(in, d.First(3), axis);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(d, Gradients(loss(s), {s})[0], want, 2e-5));
    }
  }
}

}  // namespace
}  // namespace understudy
