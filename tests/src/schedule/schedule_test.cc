// SPDX-License-Identifier: Apache-2.0
// What the scheduler fuses and what it stores, how storage and assignment behave, and that equal structures
// share one schedule. Values come from REF; the expected ones are written down here.
#include "src/schedule/schedule.h"

#include <cmath>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "tests/src/schedule/mini_engine.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Contents that lie in storage from the start.
Tensor Rand(Shape shape, uint64_t seed) {
  std::mt19937_64 rng(seed);
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  std::vector<float> v(n);
  for (float& x : v) x = std::normal_distribution<float>()(rng);
  return Tensor::FromData(v, std::move(shape));
}

// Kernels that realising the tensors takes.
int Kernels(const std::vector<Tensor>& tensors, MiniEngine* engine = nullptr) {
  MiniEngine own;
  MiniEngine& e = engine != nullptr ? *engine : own;
  const int before = e.kernels;
  const absl::Status s = e.Realize(tensors);
  EXPECT_TRUE(s.ok()) << s;
  return e.kernels - before;
}

std::vector<double> Get(MiniEngine& e, const Tensor& t) {
  auto v = e.Values(t);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : std::vector<double>();
}

TEST(Fusion, ElementwiseChainIsOneKernelOverOneMergedRange) {
  MiniEngine e;
  const Tensor x = Rand({4, 8, 16}, 1), y = Rand({4, 8, 16}, 2);
  EXPECT_EQ(Kernels({((x + y) * 2.0).Exp().Relu()}, &e), 1);
  EXPECT_EQ(e.last_schedule.items[0].kernel->arg_as<KernelArg>().name, "e_512");
}

TEST(Fusion, MatmulWithBiasAndActivationIsOneKernel) {
  MiniEngine e;
  const Tensor x = Rand({16, 32}, 1), w = Rand({32, 8}, 2), b = Rand({8}, 3);
  EXPECT_EQ(Kernels({(x.Matmul(w) + b).Relu()}, &e), 1);
  EXPECT_EQ(e.last_schedule.items[0].kernel->arg_as<KernelArg>().name, "r_16_8_32");
}

// Maximum and sum in one kernel; the quotients.
TEST(Fusion, SoftmaxTakesTwoKernels) {
  EXPECT_EQ(Kernels({Rand({64, 64}, 1).Softmax()}), 2);
  EXPECT_EQ(Kernels({Rand({1024, 1024}, 1).Softmax().Index({Slice{0, 2}})}), 2);
  MiniEngine apart;
  apart.options.merge_outputs = false;
  EXPECT_EQ(Kernels({Rand({64, 64}, 1).Softmax()}, &apart), 3);
}

// Mean and variance in one kernel; the elements.
TEST(Fusion, LayerNormTakesTwoKernels) {
  const Tensor w = Rand({64}, 2), b = Rand({64}, 3);
  EXPECT_EQ(Kernels({Rand({32, 64}, 1).LayerNorm(1, &w, &b)}), 2);
}

TEST(Fusion, ConvolutionIsOneKernelWithoutDivisions) {
  MiniEngine e;
  const Tensor x = Rand({1, 3, 9, 9}, 1), w = Rand({4, 3, 3, 3}, 2), b = Rand({4}, 3);
  EXPECT_EQ(Kernels({x.Conv2d(w, &b, {{2, 1}, {1, 1}, {1, 2}, 1}).Relu()}, &e), 1);
  const UOpRef& kernel = e.last_schedule.items[0].kernel;
  EXPECT_TRUE(uop::NodesOf(kernel, Op::kFloorDiv).empty()) << uop::Print(kernel);
  EXPECT_TRUE(uop::NodesOf(kernel, Op::kFloorMod).empty()) << uop::Print(kernel);
}

TEST(Fusion, ReductionThatTwoKernelsReadIsStoredOnce) {
  const Tensor s = Rand({8, 8}, 1).Sum({1});
  EXPECT_EQ(Kernels({s + 1, s * s.Sum()}), 3);  // s and the first output; its sum; the second output
}

TEST(Fusion, CheapElementwiseIsRecomputedAndHeavyIsStored) {
  const Tensor x = Rand({64, 64}, 1), w = Rand({64, 1024}, 2);
  EXPECT_EQ(Kernels({x.Cast(dtypes::kFloat64).Matmul(w.Cast(dtypes::kFloat64))}), 1);
  EXPECT_EQ(Kernels({x.Gelu().Matmul(w)}), 2);
}

TEST(Fusion, ShiftedSumsDoNotBlowUp) {
  MiniEngine e;
  Tensor x = Rand({200}, 1);
  for (int i = 0; i < 60; ++i) {
    const int64_t n = x.numel();
    x = x.Shrink({{1, n}}) * 0.5 + x.Shrink({{0, n - 1}}) * 0.5;
  }
  EXPECT_LE(Kernels({x}, &e), 30);
  for (const ScheduleItem& item : e.last_schedule.items) EXPECT_LT(uop::CountNodes(item.kernel), 3000);
}

TEST(Fusion, KernelsReadAtMostTheLimitOfBuffers) {
  MiniEngine e;
  Tensor sum = Tensor::Zeros({5});
  double expected = 0;
  for (int i = 0; i < 100; ++i) {
    sum = sum + Tensor::FromData<float>({1.0f * i, 2, 3, 4, 5}, {5});
    expected += i;
  }
  EXPECT_EQ(Get(e, sum)[0], expected);
  for (const ScheduleItem& item : e.last_schedule.items) EXPECT_LE(item.slots.size(), 30u);
  EXPECT_LE(e.last_schedule.items.size(), 6u);
}

TEST(Fusion, TrainingStepOfATwoLayerNetwork) {
  MiniEngine e;
  const Tensor x = Rand({32, 64}, 1);
  std::vector<int64_t> labels(32);
  for (int i = 0; i < 32; ++i) labels[i] = i % 10;
  const Tensor target = Tensor::FromData<int64_t>(labels, {32});
  Tensor w1 = Rand({64, 128}, 2) * 0.1, b1 = Rand({128}, 3), w2 = Rand({128, 10}, 4) * 0.1,
         b2 = Rand({10}, 5);
  ASSERT_TRUE(e.Realize({w1, b1, w2, b2}).ok());
  double previous = INFINITY;
  for (int step = 0; step < 3; ++step) {
    const Tensor loss = ((x.Matmul(w1) + b1).Relu().Matmul(w2) + b2).CrossEntropy(target);
    const std::vector<Tensor> g = Gradients(loss, {w1, b1, w2, b2});
    std::vector<Tensor> params = {w1, b1, w2, b2};
    for (int i = 0; i < 4; ++i) params[i].Assign(params[i] - g[i] * 0.1);
    const int kernels = Kernels({w1, b1, w2, b2, loss}, &e);
    EXPECT_LE(kernels, 14) << ScheduleText(e.last_schedule);
    const double now = Get(e, loss)[0];
    EXPECT_LT(now, previous);
    previous = now;
  }
}

TEST(Fusion, BackwardOfAConvolutionalNetworkStaysSmall) {
  const Tensor x = Rand({4, 1, 8, 8}, 1), k = Rand({3, 1, 3, 3}, 2), w = Rand({3 * 6 * 6, 5}, 3);
  const Tensor loss = x.Conv2d(k).Relu().Reshape({4, -1}).Matmul(w).CrossEntropy(
      Tensor::FromData<int32_t>({0, 1, 2, 3}, {4}));
  EXPECT_LE(Kernels(Gradients(loss, {k, w})), 12);
}

// --- Storage ---

TEST(Storage, CloneReadsBeforeTheWrite) {
  MiniEngine e;
  Tensor x = Tensor::FromData<float>({1, 2}, {2});
  const Tensor y = x.Clone();
  x.Assign(Tensor::Zeros({2}));
  ASSERT_TRUE(e.Realize({y, x}).ok());
  EXPECT_THAT(Get(e, y), ElementsAre(1, 2));
  EXPECT_THAT(Get(e, x), ElementsAre(0, 0));
  Tensor x2 = Tensor::FromData<float>({1, 2}, {2});
  const Tensor y2 = x2.Clone();
  x2.Assign(Tensor::Zeros({2}));
  ASSERT_TRUE(e.Realize({x2, y2}).ok());
  EXPECT_THAT(Get(e, y2), ElementsAre(1, 2));
  EXPECT_THAT(Get(e, x2), ElementsAre(0, 0));
}

TEST(Storage, OutputsInEitherOrderThenTheSourceChanges) {
  for (const bool swapped : {false, true}) {
    MiniEngine e;
    Tensor x = Tensor::FromData<float>({1, 2}, {2});
    const Tensor a = (x + 1).Sum(), b = a * 2;
    ASSERT_TRUE((swapped ? e.Realize({b, a}) : e.Realize({a, b})).ok());
    x.Assign(Tensor::Zeros({2}));
    ASSERT_TRUE(e.Realize({x}).ok());
    EXPECT_THAT(Get(e, a), ElementsAre(5));
    EXPECT_THAT(Get(e, b), ElementsAre(10));
    EXPECT_THAT(Get(e, x), ElementsAre(0, 0));
  }
}

TEST(Storage, FlippedCopyOutlivesTheSource) {
  for (int way = 0; way < 3; ++way) {
    MiniEngine e;
    Tensor x = Tensor::FromData<float>({1, 2}, {2});
    const Tensor f = x.Flip({0});
    const Tensor y = (way == 0 ? f : way == 1 ? f.Detach() : f.ContiguousBackward()).Contiguous();
    ASSERT_TRUE(e.Realize({y}).ok());
    x.Assign(Tensor::Zeros({2}));
    ASSERT_TRUE(e.Realize({x}).ok());
    EXPECT_THAT(Get(e, y), ElementsAre(2, 1));
  }
}

TEST(Storage, AssignmentThatReadsItsTargetElsewhereGoesThroughATemporary) {
  MiniEngine e;
  Tensor x = Tensor::FromData<float>({1, 2, 3}, {3});
  x.Assign(x.Flip({0}) + x);
  ASSERT_TRUE(e.Realize({x}).ok());
  EXPECT_THAT(Get(e, x), ElementsAre(4, 4, 4));
  x.Assign(x * Tensor::FromData<float>({1, 2, 3}, {3}));
  EXPECT_EQ(Kernels({x}, &e), 1);
  EXPECT_THAT(Get(e, x), ElementsAre(4, 8, 12));
  Tensor m = Tensor::FromData<float>({1, 2, 3, 4}, {2, 2});
  m.Assign(m.Matmul(m));
  EXPECT_THAT(Get(e, m), ElementsAre(7, 10, 15, 22));
}

TEST(Storage, TwoTensorsSwapTheirContents) {
  MiniEngine e;
  Tensor x = Tensor::FromData<float>({1, 2}, {2}), y = Tensor::FromData<float>({3, 4}, {2});
  const Tensor old_x(x.uop(), x.device());
  x.Assign(y);
  y.Assign(old_x);
  ASSERT_TRUE(e.Realize({x, y}).ok());
  EXPECT_THAT(Get(e, x), ElementsAre(3, 4));
  EXPECT_THAT(Get(e, y), ElementsAre(1, 2));
}

TEST(Storage, ValueThatReadsOldAndNewContents) {
  MiniEngine e;
  Tensor x = Tensor::FromData<float>({1, 2}, {2});
  const Tensor old(x.uop(), x.device());
  x.Assign(x * 10);
  const Tensor both = old.Sum() + x.Sum();
  ASSERT_TRUE(e.Realize({x, both}).ok());
  EXPECT_THAT(Get(e, both), ElementsAre(33));
  EXPECT_THAT(Get(e, x), ElementsAre(10, 20));
}

TEST(Storage, OldContentsAskedForTogetherWithTheWriteAreKept) {
  MiniEngine e;
  Tensor x = Tensor::FromData<float>({1, 2}, {2});
  const Tensor old(x.uop(), x.device());
  x.Assign(x * 10);
  ASSERT_TRUE(e.Realize({x, old}).ok());
  EXPECT_THAT(Get(e, old), ElementsAre(1, 2));
  EXPECT_THAT(Get(e, x), ElementsAre(10, 20));
}

TEST(Storage, ReadingOverwrittenContentsIsRefused) {
  MiniEngine e;
  Tensor x = Tensor::FromData<float>({1, 2}, {2});
  const Tensor late = x + 1;
  x.Assign(Tensor::Zeros({2}));
  ASSERT_TRUE(e.Realize({x}).ok());
  const absl::Status s = e.Realize({late});
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("as it was before an assignment that has already been done"));
}

TEST(Storage, LazyUsersOfAnAssignmentSeeTheNewContentsWheneverTheyRun) {
  MiniEngine e;
  Tensor x = Tensor::FromData<float>({1, 2}, {2});
  x.Assign(x + 1);
  const Tensor y = x * 10;
  EXPECT_THAT(Get(e, y), ElementsAre(20, 30));  // x itself is not written yet
  EXPECT_THAT(Get(e, x), ElementsAre(2, 3));
  Tensor z = Tensor::FromData<float>({1, 2}, {2});
  z.Assign(z + 1);
  const Tensor w = z * 10;
  ASSERT_TRUE(e.Realize({z}).ok());
  EXPECT_THAT(Get(e, w), ElementsAre(20, 30));
  EXPECT_THAT(Get(e, z), ElementsAre(2, 3));
}

TEST(Storage, UnorderedAssignmentsToOneBufferAreRefused) {
  MiniEngine e;
  const Tensor x = Tensor::FromData<float>({1, 2}, {2});
  Tensor a(x.uop(), x.device()), b(x.uop(), x.device());
  a.Assign(Tensor::Zeros({2}));
  b.Assign(Tensor::Ones({2}));
  const absl::Status s = e.Realize({a, b});
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("two unordered assignments to buffer #"));
}

TEST(Storage, PendingTransferOwnsItsDestination) {
  for (const bool detached : {false, true}) {
    MiniEngine e;
    const Tensor t = Tensor::FromData<float>({0, 0, 0, 0}, {2, 2}, "D0");
    Tensor c = t.To("D1");
    if (detached) c = c.Detach();
    c.AssignIndex({Slice{}, Slice{1, 2}}, Tensor::Ones({2, 1}, {dtypes::kFloat32, "D1"}));
    EXPECT_THAT(Get(e, c), ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(Get(e, t), ElementsAre(0, 0, 0, 0));
    EXPECT_EQ(e.copies, 1);
  }
}

TEST(Storage, CopiesBetweenDevicesStayApart) {
  MiniEngine e;
  Tensor a = Tensor::FromData<float>({1, 2}, {2}, "D0");
  Tensor b = a.To("D1");
  Tensor c = Tensor::Empty({2}, {dtypes::kFloat32, "D1"});
  c.Assign(b);
  ASSERT_TRUE(e.Realize({b, c}).ok());
  a.Assign(Tensor::Zeros({2}, {dtypes::kFloat32, "D0"}));
  ASSERT_TRUE(e.Realize({a}).ok());
  EXPECT_THAT(Get(e, b), ElementsAre(1, 2));
  b.Assign(Tensor::Full({2}, 3, {dtypes::kFloat32, "D1"}));
  ASSERT_TRUE(e.Realize({b}).ok());
  EXPECT_THAT(Get(e, b), ElementsAre(3, 3));
  EXPECT_THAT(Get(e, c), ElementsAre(1, 2));
}

TEST(Storage, BlockIntoTheMiddleOfABuffer) {
  MiniEngine e;
  Tensor x = Tensor::FromData<float>(std::vector<float>(16, 1), {4, 4});
  x.AssignIndex({Slice{1, 3}, Slice{1, 3}}, Tensor::FromData<float>({5, 6, 7, 8}, {2, 2}));
  EXPECT_THAT(Get(e, x), ElementsAre(1, 1, 1, 1, 1, 5, 6, 1, 1, 7, 8, 1, 1, 1, 1, 1));
}

TEST(Storage, WrappersOfOneValueShareOneBuffer) {
  MiniEngine e;
  const Tensor t = Tensor::FromData<float>({1, 2}, {2});
  const Tensor x = t + 1, y = x.Contiguous(), z = x.ContiguousBackward(), w = x.Reshape({2, 1}).Detach();
  EXPECT_EQ(Kernels({x, y, z, w}, &e), 1);
  EXPECT_EQ(e.last_call.outputs.size(), 1u);
  EXPECT_THAT(Get(e, z), ElementsAre(2, 3));
}

TEST(Storage, ValueThatIsReadAgainIsNotRecomputed) {
  MiniEngine e;
  const Tensor x = Tensor::FromData<float>({1, 2}, {2});
  const Tensor y = (x * 3).Exp2();
  const Tensor z = y + 1;  // built before y is realised
  EXPECT_EQ(Kernels({y}, &e), 1);
  EXPECT_EQ(Kernels({y}, &e), 0);
  EXPECT_EQ(Kernels({z}, &e), 1);
  EXPECT_TRUE(uop::NodesOf(e.last_schedule.items[0].kernel, Op::kExp2).empty());
}

TEST(Storage, ConstantsNeedNone) {
  MiniEngine e;
  const Tensor c = Tensor::Full({3, 4}, 7.5).Permute({1, 0});
  EXPECT_EQ(Kernels({c}, &e), 0);
  EXPECT_TRUE(e.last_call.buffers.empty());
  EXPECT_THAT(Get(e, c.Shrink({{0, 1}, {0, 2}})), ElementsAre(7.5, 7.5));
  EXPECT_EQ(Kernels({c.Contiguous()}, &e), 1);  // storage when it is asked for
}

TEST(Storage, DeclaredBufferThatNothingWritesGetsStorage) {
  MiniEngine e;
  const Tensor x = Tensor::Empty({4});
  EXPECT_EQ(Kernels({x}, &e), 0);
  EXPECT_EQ(e.last_call.outputs, std::vector<int>{0});
  Tensor s = Tensor::Empty({}, {dtypes::kInt32});
  s.Assign(Tensor::Full({}, 7, {dtypes::kInt32}));
  EXPECT_THAT(Get(e, s), ElementsAre(7));
  EXPECT_EQ(s.shape(), Shape{});
}

TEST(Storage, ReadingADeclaredBufferIsRefused) {
  MiniEngine e;
  const absl::Status s = e.Realize({Tensor::Empty({4}) + 1});
  EXPECT_THAT(std::string(s.message()), HasSubstr("which has no contents"));
}

TEST(Storage, ContiguousOfAContiguousRangeIsAView) {
  MiniEngine e;
  const Tensor x = Tensor::FromData<float>({1, 2, 3, 4}, {4});
  const Tensor y = x.Shrink({{0, 2}}).Contiguous() * 2 + x.Shrink({{2, 4}}).Contiguous();
  EXPECT_EQ(Kernels({y}, &e), 1);
  EXPECT_THAT(Get(e, y), ElementsAre(5, 8));
}

TEST(Cache, EqualStructuresShareScheduleAndKernels) {
  MiniEngine e;
  const auto graph = [](uint64_t seed) {
    const Tensor x = Rand({8, 16}, seed), w = Rand({16, 4}, seed + 1);
    return (x.Matmul(w).Softmax() * x.Sum({1}, true)).Contiguous();
  };
  ASSERT_TRUE(e.Realize({graph(1)}).ok());
  const UOpRef sink = e.last_call.sink;
  const int compiles = e.compiles;
  ASSERT_TRUE(e.Realize({graph(7)}).ok());
  EXPECT_EQ(e.last_call.sink, sink);
  EXPECT_EQ(e.compiles, compiles);
}

TEST(Cache, EqualKernelsInOneScheduleAreOneProgram) {
  MiniEngine e;
  Tensor x = Rand({32, 32}, 1);
  const Tensor w = Rand({32, 32}, 2);
  for (int i = 0; i < 6; ++i) x = x.Matmul(w).Relu();
  EXPECT_EQ(Kernels({x}, &e), 6);
  EXPECT_EQ(e.compiles, 1);
}

TEST(Memory, TemporariesOfAChainReuseTwoPlaces) {
  MiniEngine e;
  Tensor x = Rand({32, 32}, 1);
  const Tensor w = Rand({32, 32}, 2);
  for (int i = 0; i < 10; ++i) x = x.Matmul(w).Relu();
  ASSERT_TRUE(e.Realize({x}).ok());
  EXPECT_EQ(e.last_schedule.temporaries.size(), 9u);
  EXPECT_EQ(e.last_schedule.arena_bytes.at("CPU"), 2 * 32 * 32 * 4);
}

TEST(Memory, DeviceMixingIsRefused) {
  const Tensor a = Tensor::FromData<float>({1}, {1}, "D0"), b = Tensor::FromData<float>({1}, {1}, "D1");
  EXPECT_THAT(std::string((a + b).status().message()), HasSubstr("Add: operands on devices D0 and D1"));
  EXPECT_TRUE((a.To("D1") + b).ok());
}

TEST(Size0, NeitherKernelsNorStorage) {
  MiniEngine e;
  const Tensor x = Rand({0, 3}, 1);
  EXPECT_EQ(Kernels({x + 1, x.Sum({1})}, &e), 0);
  EXPECT_THAT(Get(e, x.Sum({0})), ElementsAre(0, 0, 0));
  EXPECT_THAT(Get(e, x.Prod({0}) + 1), ElementsAre(2, 2, 2));
  EXPECT_THAT(Get(e, x.Pad({{1, 0}, {0, 0}}) + 1), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace understudy
