// SPDX-License-Identifier: Apache-2.0
// Two emulated GPUs of one machine share a matrix product and a training step: through the kernel driver's
// interface, two queues and two address spaces, and equal to one of them alone.
#include "tests/src/tensor/shard_devices.h"
#include "tests/src/tensor/two_gpus.h"

namespace understudy {
namespace {

class TwoGpus : public testing::Test {
 private:
  TwoGpuMachine machine_;

 protected:
  std::unique_ptr<ShardDevices> d = std::make_unique<ShardDevices>(machine_.devices, machine_.names);
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
