// SPDX-License-Identifier: Apache-2.0
// Functions' calls with declared outputs: which storage holds what, in whatever order it is asked for, fused
// and precompiled.
#include "src/tensor/function.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"
#include "src/uop/spec.h"
#include "tests/src/schedule/storage_devices.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using In = absl::Span<const Tensor>;
using Out = std::vector<Tensor>;

class StorageCalls : public StorageTest {
 protected:
  // The CALL that a result is of.
  static const UOp& CallOf(const Tensor& t) {
    const UOp* u = t.uop().get();
    while (u->op() == Op::kReshape) u = u->src(0).get();
    EXPECT_EQ(u->op(), Op::kAfter) << OpName(u->op());
    return *u->src(1);
  }
};
UNDERSTUDY_ALL_DEVICES(StorageCalls);

Out PlusAndTwice(In in) { return {in[0] + 1, in[0] * 2}; }

TEST_P(StorageCalls, ResultsKeepTheirDeclaredPositions) {
  for (const bool precompile : {false, true}) {
    const Function f(PlusAndTwice, {"f", precompile});
    const Tensor x = F32({1, 2}, {2});
    const Out y = f({x});
    ASSERT_EQ(y.size(), 2u);
    EXPECT_EQ(CallOf(y[0]).arg_as<CallArg>().outputs, (std::vector<int64_t>{1, 2}));
    const UOpRef a(CallOf(y[0]).src(2)), b(CallOf(y[1]).src(3));
    ASSERT_TRUE(Realize({y[0], y[1]}).ok());
    EXPECT_EQ(y[0].uop(), uop::Reshape(a, {2}));
    EXPECT_EQ(y[1].uop(), uop::Reshape(b, {2}));
    EXPECT_THAT(Get(y[0]), ElementsAre(2, 3));
    EXPECT_THAT(Get(y[1]), ElementsAre(2, 4));
  }
}

TEST_P(StorageCalls, AnotherCallHasOtherStorageAndTheSamePrograms) {
  for (const bool precompile : {false, true}) {
    const Function f(PlusAndTwice, {"f", precompile});
    const Tensor x = F32({1, 2}, {2});
    const Out y = f({x});
    ASSERT_TRUE(Realize({y[0], y[1]}).ok());
    const EngineStats before = engine->stats();
    const Out z = f({x});
    ASSERT_TRUE(Realize({z[0], z[1]}).ok());
    EXPECT_EQ(engine->stats().kernels_compiled, before.kernels_compiled);
    EXPECT_EQ(engine->stats().schedules_made, before.schedules_made);
    for (const Tensor& s : z) {
      for (const Tensor& t : y) EXPECT_NE(Address(s), Address(t));
    }
    EXPECT_THAT(Get(z[1]), ElementsAre(2, 4));
  }
}

TEST_P(StorageCalls, ResultsOneByOneInAnyOrderAreComputedOnce) {
  for (const bool precompile : {false, true}) {
    for (const int first : {0, 1}) {
      const Function f(PlusAndTwice, {"f", precompile});
      Tensor x = F32({1, 2}, {2});
      const Out y = f({x});
      ASSERT_TRUE(Realize({y[first]}).ok());
      x.Assign(Full({2}, 0));
      ASSERT_TRUE(Realize({x}).ok());
      const int64_t kernels = engine->stats().kernels_launched;
      EXPECT_THAT(Get(y[1 - first]), first == 1 ? ElementsAre(2, 3) : ElementsAre(2, 4));
      EXPECT_THAT(Get(y[first]), first == 0 ? ElementsAre(2, 3) : ElementsAre(2, 4));
      EXPECT_EQ(engine->stats().kernels_launched, kernels);
    }
  }
}

TEST_P(StorageCalls, MakingACallBindsNoStorage) {
  const Function f(PlusAndTwice);
  const Tensor x = F32({1, 2}, {2});
  const Out y = f({x});
  const auto call = MakeCall({{y[0].uop(), d0}, {y[1].uop(), d0}, {(x * 3).uop(), d0}});
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->outputs.size(), 3u);
  for (size_t i = 0; i < call->results.size(); ++i) {
    const UOp* u = call->results[i].get();
    while (u->op() == Op::kReshape) u = u->src(0).get();
    const auto at = std::find(call->buffers.begin(), call->buffers.end(), UOpRef(u));
    ASSERT_NE(at, call->buffers.end());
    EXPECT_EQ(u->arg_as<BufferArg>().slot->impl, nullptr);
    EXPECT_EQ(std::count(call->outputs.begin(), call->outputs.end(), at - call->buffers.begin()), 1);
  }
  EXPECT_EQ(y[0].uop()->op() == Op::kReshape ? y[0].uop()->src(0)->op() : y[0].uop()->op(), Op::kAfter);
}

TEST_P(StorageCalls, WrappersOfOneValueShareOneBuffer) {
  const Tensor x = F32({1, 2}, {2}) + 1;
  Tensor y = x.Contiguous(), z = x.ContiguousBackward();
  const int64_t kernels = engine->stats().kernels_launched;
  ASSERT_TRUE(Realize({x, y, z}).ok());
  EXPECT_EQ(engine->stats().kernels_launched, kernels + 1);
  EXPECT_EQ(Address(x), Address(y));
  EXPECT_EQ(Address(x), Address(z));
}

TEST_P(StorageCalls, ABodyOfEffectsRunsAndItsTargetsKeepTheirBuffers) {
  for (const bool precompile : {false, true}) {
    for (const Shape& shape : {Shape{6}, Shape{2, 3}}) {
      const Function f(
          [](In in) -> Out {
            Tensor a = in[0], b = in[1];
            a.Assign(in[2] + 1);
            b.Assign(in[2] * 2);
            return {};
          },
          {"f", precompile});
      Tensor a = F32({0, 0, 0, 0, 0, 0}, shape), b = F32({0, 0, 0, 0, 0, 0}, shape);
      const Tensor x = F32({0, 1, 2, 3, 4, 5}, shape);
      ASSERT_TRUE(Realize({a + b}).ok());  // uploads them
      const uint64_t at_a = Address(a), at_b = Address(b);
      EXPECT_TRUE(f({a, b, x}).empty());
      ASSERT_TRUE(Realize({a}).ok());  // the other effect comes with it
      const int64_t kernels = engine->stats().kernels_launched;
      ASSERT_TRUE(Realize({b}).ok());
      EXPECT_EQ(engine->stats().kernels_launched, kernels);
      EXPECT_THAT(Get(a), ElementsAre(1, 2, 3, 4, 5, 6));
      EXPECT_THAT(Get(b), ElementsAre(0, 2, 4, 6, 8, 10));
      EXPECT_EQ(Address(a), at_a);
      EXPECT_EQ(Address(b), at_b);
    }
  }
}

TEST_P(StorageCalls, ABlockIntoTheMiddleByABodyOfEffects) {
  for (const bool precompile : {false, true}) {
    const Function f(
        [](In in) -> Out {
          Tensor to = in[0];
          to.AssignIndex({Slice{1, 3}, Slice{1, 3}}, in[1]);
          return {};
        },
        {"f", precompile});
    Tensor x = F32(std::vector<float>(16, 1), {4, 4});
    f({x, F32({5, 6, 7, 8}, {2, 2})});
    EXPECT_THAT(Get(x), ElementsAre(1, 1, 1, 1, 1, 5, 6, 1, 1, 7, 8, 1, 1, 1, 1, 1));
  }
}

TEST_P(StorageCalls, AnEffectOnAViewReachesItsTensor) {
  for (const bool precompile : {false, true}) {
    const Function f(
        [](In in) -> Out {
          Tensor to = in[0];
          to.Assign(to * 10);
          return {to + 1};
        },
        {"f", precompile});
    Tensor x = F32({1, 2, 3}, {3});
    const Out y = f({x.Shrink({{1, 3}})});
    EXPECT_THAT(Get(x), ElementsAre(1, 20, 30));
    EXPECT_THAT(Get(y[0]), ElementsAre(21, 31));
  }
}

TEST_P(StorageCalls, AResultThatIsAnInputHasItsPosition) {
  for (const bool precompile : {false, true}) {
    const Function f([](In in) -> Out { return {in[0], in[0] + in[1]}; }, {"f", precompile});
    const Tensor x = F32({1, 2}, {2}), w = F32({5, 5}, {2});
    ASSERT_TRUE(Realize({x, w}).ok());
    const Out y = f({x, w});
    EXPECT_EQ(CallOf(y[0]).arg_as<CallArg>().outputs[0], 0);
    ASSERT_TRUE(Realize({y[0], y[1]}).ok());
    EXPECT_EQ(Address(y[0]), Address(x));
    EXPECT_THAT(Get(y[1]), ElementsAre(6, 7));
    EXPECT_THAT(Get(x), ElementsAre(1, 2));
  }
}

TEST_P(StorageCalls, DeclaredBuffersOfABody) {
  for (const bool precompile : {false, true}) {
    const TensorOptions f32{dtypes::kFloat32, d0};
    const Function f(
        [&](In in) -> Out {
          Tensor nothing = Tensor::Empty({4}, f32), seven = Tensor::Empty({}, f32),
                 more = Tensor::Empty({2}, f32);
          seven.Assign(Tensor::Full({}, 7, f32));
          more.Assign(in[0] + 1);
          return {nothing, seven, more, Tensor::Full({3}, 5, f32)};
        },
        {"f", precompile});
    const Out y = f({F32({1, 2}, {2})});
    for (const Tensor& t : y) ASSERT_TRUE(t.ok()) << t.status();
    ASSERT_TRUE(Realize({y[0], y[1], y[2], y[3]}).ok());
    EXPECT_NE(Address(y[0]), 0u);  // storage, although nothing was written
    EXPECT_EQ(y[1].shape(), Shape{});
    EXPECT_THAT(Get(y[1]), ElementsAre(7));
    EXPECT_THAT(Get(y[2]), ElementsAre(2, 3));
    EXPECT_NE(Address(y[3]), 0u);  // a call's result has storage even when it is constant
    EXPECT_THAT(Get(y[3]), ElementsAre(5, 5, 5));
  }
  Tensor constant = Full({3}, 5);
  ASSERT_TRUE(Realize({constant}).ok());
  EXPECT_EQ(Address(constant), 0u);
}

TEST_P(StorageCalls, CapturedTensorsAreArgumentsAsTheyAreAtEachCall) {
  for (const bool precompile : {false, true}) {
    Tensor w = F32({1, 2, 3, 4}, {2, 2});
    const Function f([&](In in) -> Out { return {in[0].Matmul(w.Transpose())}; }, {"f", precompile});
    const Tensor x = F32({1, 1}, {1, 2});
    EXPECT_THAT(Get(f({x})[0]), ElementsAre(3, 7));
    const int64_t compiled = engine->stats().kernels_compiled;
    w.Assign(w * 2);
    ASSERT_TRUE(Realize({w}).ok());
    const int64_t after = engine->stats().kernels_compiled;
    EXPECT_THAT(Get(f({x})[0]), ElementsAre(6, 14));
    EXPECT_EQ(engine->stats().kernels_compiled, after) << compiled;
  }
}

TEST_P(StorageCalls, BodiesThatCall) {
  for (const bool precompile : {false, true}) {
    const Function inner([](In in) -> Out { return {in[0] * in[1]}; }, {"inner", precompile});
    const Function outer(
        [&](In in) -> Out {
          const Function local([&](In i) -> Out { return {i[0] + in[1]}; }, {"local", precompile});
          return {inner({in[1], in[0]})[0] - 1, local({in[0]})[0]};
        },
        {"outer", precompile});
    const Out y = outer({F32({1, 2}, {2}), F32({3, 5}, {2})});
    EXPECT_THAT(Get(y[0]), ElementsAre(2, 9));
    EXPECT_THAT(Get(y[1]), ElementsAre(4, 7));
  }
}

TEST_P(StorageCalls, GradientsGoThroughCallsAndUseWhatTheyLeft) {
  for (const bool precompile : {false, true}) {
    const Function f([](In in) -> Out { return {(in[0] * in[1]).Exp2(), in[0] + in[1]}; }, {"f", precompile});
    const Tensor x = F32({1, 2}, {2}), w = F32({1, 0.5}, {2});
    const Out y = f({x, w});
    const Tensor loss = (y[0] * y[1]).Sum();
    const auto g = Gradients(loss, {x, w});
    // d/dx 2^(xw) (x + w) = 2^(xw) (1 + w ln2 (x + w))
    const float ln2 = 0.6931471805599453f;
    const std::vector<float> dx = Get(g[0]), dw = Get(g[1]);
    EXPECT_NEAR(dx[0], 2 * (1 + 1 * ln2 * 2), 1e-5);
    EXPECT_NEAR(dx[1], 2 * (1 + 0.5 * ln2 * 2.5), 1e-5);
    EXPECT_NEAR(dw[0], 2 * (1 + 1 * ln2 * 2), 1e-5);
    EXPECT_NEAR(dw[1], 2 * (1 + 2 * ln2 * 2.5), 1e-5);
  }
}

TEST_P(StorageCalls, EqualStructuresWithOtherBuffersAreOneScheduleAndOneCompile) {
  const auto run = [&](float k) {
    Tensor y = (F32({k, 2 * k}, {2}) * 3 + 1).Sum();
    ASSERT_TRUE(engine->Realize(y).ok());
  };
  run(1);
  const EngineStats before = engine->stats();
  run(2);
  EXPECT_EQ(engine->stats().schedules_made, before.schedules_made);
  EXPECT_EQ(engine->stats().kernels_compiled, before.kernels_compiled);
}

TEST_P(StorageCalls, MisuseIsRefusedByName) {
  const Function f([](In in) -> Out {
    Tensor a = in[0];
    a.Assign(in[1] + 1);
    return {};
  });
  const Tensor x = F32({1, 2}, {2});
  const Out y = f({x, x});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_THAT(std::string(y[0].status().message()), HasSubstr("writes to input 0, which is input 1 too"));
  const Function bad([](In in) -> Out { return {in[0] + in[1]}; });
  EXPECT_FALSE(bad({F32({1, 2}, {2}), F32({1, 2, 3}, {3})})[0].ok());
}

TEST_P(StorageCalls, DeclarationsPrintAndParseBack) {
  const Tensor x = F32({1, 2}, {2});
  const Out y = Function(PlusAndTwice, {"two results", true})({x});
  for (const UOpRef& node : {y[1].uop(), uop::TensorParam(dtypes::kFloat32, 3, {2, 5}),
                             uop::TensorParam(dtypes::kInt8, 1, {}), uop::Param(dtypes::kFloat32, 2),
                             uop::DefineReg(dtypes::kFloat32, 0, 4), uop::Bind(uop::Var("n", 1, 8), 3)}) {
    const auto parsed = uop::Parse(uop::Print(node));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, node) << uop::Print(node);
  }
  EXPECT_TRUE(uop::CheckSpecAlways(y[1].uop(), uop::Stage::kTensor).ok())
      << uop::CheckSpecAlways(y[1].uop(), uop::Stage::kTensor);
}

}  // namespace
}  // namespace understudy
