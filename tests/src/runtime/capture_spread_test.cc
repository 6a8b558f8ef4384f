// SPDX-License-Identifier: Apache-2.0
// Captured functions of tensors that are spread over several devices: inputs, results and captured tensors.
// Replays give the values of the same function run eagerly, bit for bit, without building or scheduling
// anything; what is bound anew, held or refused is as on one device.
#include "src/runtime/capture.h"
#include "src/tensor/activation.h"
#include "tests/src/tensor/shard_devices.h"
#include "tests/src/tensor/two_gpus.h"

namespace understudy {
namespace {

using ::testing::HasSubstr;
using Results = absl::StatusOr<std::vector<Tensor>>;

// Three devices, or two GPUs of one mock machine.
class CaptureSpread : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<TwoGpuMachine> machine =
      GetParam() == std::string("AMD") ? std::make_unique<TwoGpuMachine>() : nullptr;
  Tensor Batch(int seed) { return Shard(d.Whole({6, 4}, seed), d.names, 0); }
  ShardDevices d =
      machine == nullptr ? ShardDevices(GetParam(), 3) : ShardDevices(machine->devices, machine->names);
};

// Data in parallel; the parameter whole on every device, its momentum in parts.
struct Model {
  Tensor w, m;
  absl::StatusOr<std::vector<Tensor>> Step(const Tensor& x, const Tensor& y) {
    const Tensor error = x.Matmul(w) - y;
    const Tensor loss = (error * error).Sum();
    const Tensor g = Gradients(loss, {w})[0];
    m.Assign(m * 0.5 + g);
    w.Assign(w - Replicate(m, DevicesOf(w)) * 0.125);
    return std::vector<Tensor>{loss, error};
  }
};

TEST_P(CaptureSpread, TrainingStepsEqualEagerOnes) {
  const auto model = [&] {
    Model out{Replicate(d.Whole({4, 5}, 7), d.names), Shard(d.Whole({4, 5}, 8), d.names, 0)};
    EXPECT_TRUE(d.Realize({out.w, out.m}).ok());
    return out;
  };
  Model eager = model(), captured = model();
  CapturedFunction step(*d.engine, [&](absl::Span<const Tensor> in) { return captured.Step(in[0], in[1]); });
  std::vector<Tensor> held;
  std::vector<std::vector<double>> held_values;
  for (int i = 0; i < 7; ++i) {
    const Tensor x = Batch(i), y = Shard(d.Whole({6, 5}, 20 + i), d.names, 0);
    const auto want = eager.Step(x, y);
    ASSERT_TRUE(want.ok());
    ASSERT_TRUE(d.Realize({(*want)[0], (*want)[1], eager.w, eager.m}).ok());
    const int64_t made = d.engine->stats().schedules_made, replays = d.engine->stats().replays;
    const Results got = step({x, y});
    ASSERT_TRUE(got.ok()) << got.status();
    if (i >= 2) {
      EXPECT_EQ(d.engine->stats().schedules_made, made);
      EXPECT_EQ(d.engine->stats().replays, replays + 1);
    }
    EXPECT_TRUE(IsSpread((*got)[1]));
    EXPECT_EQ(ShardAxis((*got)[1]), std::optional<int64_t>(0));
    EXPECT_EQ(d.Values((*got)[0]), d.Values((*want)[0])) << "call " << i;
    EXPECT_EQ(d.Values((*got)[1]), d.Values((*want)[1])) << "call " << i;
    EXPECT_EQ(d.Values(captured.w), d.Values(eager.w)) << "call " << i;
    EXPECT_EQ(d.Values(captured.m), d.Values(eager.m)) << "call " << i;
    held.push_back((*got)[1]);
    held_values.push_back(d.Values((*want)[1]));
  }
  EXPECT_TRUE(step.captured());
  // What somebody holds is never overwritten.
  for (size_t i = 0; i < held.size(); ++i) EXPECT_EQ(d.Values(held[i]), held_values[i]) << i;
}

TEST_P(CaptureSpread, AssignmentsInBetweenAreSeen) {
  Tensor w = Shard(d.Whole({6, 4}, 1), d.names, 0);
  ASSERT_TRUE(d.Realize({w}).ok());
  CapturedFunction f(
      *d.engine, [&](absl::Span<const Tensor> in) -> Results { return std::vector<Tensor>{in[0] * w + 1}; });
  for (int i = 0; i < 5; ++i) {
    const Results got = f({Batch(i)});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(d.Values((*got)[0]), d.Values(d.Whole({6, 4}, i) * d.Whole({6, 4}, 1 + i) + 1)) << i;
    w.Assign(Shard(d.Whole({6, 4}, 2 + i), d.names, 0));
  }
}

TEST_P(CaptureSpread, InputsAreAssignedTo) {
  CapturedFunction f(*d.engine, [&](absl::Span<const Tensor> in) -> Results {
    Tensor x = in[0];
    x.Assign(x * 2 + 1);
    return std::vector<Tensor>{x};
  });
  for (int i = 0; i < 5; ++i) {
    Tensor x = Batch(i);
    ASSERT_TRUE(d.Realize({x}).ok());
    const Results got = f({x});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(d.Values(x), d.Values(d.Whole({6, 4}, i) * 2 + 1)) << i;
    EXPECT_EQ(d.Values((*got)[0]), d.Values(x)) << i;
    // Again, on what it holds now.
    ASSERT_TRUE(f({x}).ok());
    EXPECT_EQ(d.Values(x), d.Values((d.Whole({6, 4}, i) * 2 + 1) * 2 + 1)) << i;
  }
}

TEST_P(CaptureSpread, OtherPartsAreRefused) {
  CapturedFunction f(*d.engine,
                     [&](absl::Span<const Tensor> in) -> Results { return std::vector<Tensor>{in[0] * 3}; });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(f({Batch(i)}).ok());
  const auto error = [&](const Tensor& x) { return std::string(f({x}).status().message()); };
  EXPECT_THAT(error(Shard(d.Whole({6, 4}), d.names, 1)),
              HasSubstr("in other parts than it was recorded with"));
  EXPECT_THAT(error(Replicate(d.Whole({6, 4}), d.names)), HasSubstr("in other parts"));
  EXPECT_THAT(error(d.Whole({6, 4})), HasSubstr("in other parts"));
  EXPECT_THAT(error(Shard(d.Whole({9, 4}), d.names, 0)), HasSubstr("in other parts"));
  EXPECT_THAT(error(Batch(1).Transpose()), HasSubstr("input 0"));
  EXPECT_TRUE(f({Batch(9)}).ok());
}

INSTANTIATE_TEST_SUITE_P(Devices, CaptureSpread, testing::Values("REF", "CPU", "AMD"),
                         [](const auto& info) { return std::string(info.param); });

// Each GPU's part of a function is encoded in a command buffer of its own, once.
TEST(CaptureSpreadAmd, EveryGpuIsGivenItsGraphOnce) {
  TwoGpuMachine machine;
  ShardDevices d(machine.devices, machine.names);
  CapturedFunction f(*d.engine, [](absl::Span<const Tensor> in) -> Results {
    return std::vector<Tensor>{(in[0] * 2 + 1).Flip({1}).Contiguous() * in[0]};
  });
  const auto batch = [&](int seed) { return Shard(d.Whole({6, 4}, seed), d.names, 0); };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(f({batch(i)}).ok());
  Tensor x = batch(5);
  ASSERT_TRUE(d.Realize({x}).ok());
  ASSERT_TRUE(d.engine->Synchronize().ok());
  std::vector<amd::GpuStats> before;
  for (const auto& gpu : machine.gpus) before.push_back(gpu->gpu().stats());
  for (int i = 0; i < 4; ++i) {
    const Results got = f({x});
    ASSERT_TRUE(got.ok()) << got.status();
  }
  ASSERT_TRUE(d.engine->Synchronize().ok());
  for (size_t i = 0; i < before.size(); ++i) {
    const amd::GpuStats after = machine.gpus[i]->gpu().stats();
    EXPECT_EQ(after.submissions - before[i].submissions, 4) << i;
    EXPECT_EQ(after.launches - before[i].launches, 4) << i;  // one kernel a call
    EXPECT_EQ(after.graphs, before[i].graphs) << i;
  }
}

}  // namespace
}  // namespace understudy
