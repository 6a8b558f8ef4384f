// SPDX-License-Identifier: Apache-2.0
// Two emulated GPUs of one machine share a matrix product and a training step: through the kernel driver's
// interface, two queues and two address spaces, and equal to one of them alone.
#include "mockgpu/amd/mock_kernel.h"
#include "src/runtime/amd/amd_device.h"
#include "tests/src/tensor/shard_devices.h"

namespace understudy {
namespace {

class TwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    mockgpu::MockKernel::Options options;
    options.profiles = {mockgpu::amd::Gfx1100(), mockgpu::amd::Gfx1100()};
    options.log_events = false;
    auto machine = mockgpu::MockKernel::Create(std::move(options));
    ASSERT_TRUE(machine.ok()) << machine.status();
    machine_ = *std::move(machine);
    DeviceRegistry devices;
    for (int i = 0; i < 2; ++i) {
      auto gpu = AmdDevice::Open(*machine_, i, {}, absl::StrCat("AMD:", i));
      ASSERT_TRUE(gpu.ok()) << gpu.status();
      gpus_.push_back(*gpu);
      devices.Register(gpus_.back());
    }
    d = std::make_unique<ShardDevices>(std::move(devices), std::vector<std::string>{"AMD:0", "AMD:1"});
  }
  void TearDown() override {
    d.reset();
    for (auto& gpu : gpus_) EXPECT_TRUE(gpu->gpu().Close().ok());
  }

  std::unique_ptr<ShardDevices> d;

 private:
  std::unique_ptr<mockgpu::MockKernel> machine_;
  std::vector<std::shared_ptr<AmdDevice>> gpus_;
};

TEST_F(TwoGpus, ShareAMatmul) {
  const Tensor a = d->Whole({6, 8}, 1), b = d->Whole({8, 5}, 2), want = a.Matmul(b);
  ExpectSame(*d, Shard(a, d->names, 0).Matmul(Replicate(b, d->names)), want);
  ExpectSame(*d, Shard(a, d->names, 1).Matmul(Shard(b, d->names, 0)), want);
  ExpectSame(*d, Replicate(a, d->names).Matmul(Shard(b, d->names, 1)), want);
  const auto& links = d->engine->stats().bytes_between;
  EXPECT_GT(links.at({"AMD:0", "AMD:1"}), 0);
  EXPECT_GT(links.at({"AMD:1", "AMD:0"}), 0);
}

// Whole numbers and powers of two: exact in any order.
TEST_F(TwoGpus, TakeATrainingStepOfOne) {
  const Tensor x = d->Whole({4, 6}, 1), y = d->Whole({4, 2}, 2), w = d->Whole({6, 2}, 3);
  const auto step = [&](const Tensor& xs, const Tensor& ys, Tensor ws) {
    const Tensor loss = (xs.Matmul(ws).Relu() - ys).Square().Sum();
    ws.Assign(ws - Gradients(loss, {ws})[0] / 64);
    EXPECT_TRUE(d->Realize({ws, loss}).ok());
    return std::pair(ws, loss);
  };
  const auto [want, want_loss] = step(x, y, w.Clone());
  const auto [got, loss] = step(Shard(x, d->names, 0), Shard(y, d->names, 0), Replicate(w, d->names));
  ExpectSame(*d, got, want);
  ExpectSame(*d, loss, want_loss);
  ExpectSame(*d, ShardOf(got, 1), want);
}

}  // namespace
}  // namespace understudy
