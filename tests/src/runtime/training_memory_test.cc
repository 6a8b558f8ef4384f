// SPDX-License-Identifier: Apache-2.0
// A training loop holds memory constant: nodes, device memory, cached schedules and programs, and the
// process's own memory are after a thousand steps what they were after a hundred.
#include <cstdio>
#include <random>

#include "gtest/gtest.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/tensor/loss.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/optim/optimizer.h"
#include "src/uop/rewrite.h"

namespace understudy {
namespace {

struct Net : nn::Module {
  nn::Linear in, out;
  nn::LayerNorm norm;
  explicit Net(Generator& g) : in(12, 24, g), out(24, 4, g), norm({24}) {}
  Tensor Forward(const Tensor& x) { return out.Forward(norm.Forward(in.Forward(x)).Relu()); }
  void Visit(const nn::Visitor& v) override {
    v.Child("in", in);
    v.Child("norm", norm);
    v.Child("out", out);
  }
};

struct Use {
  int64_t nodes, bytes, allocations, schedules, kernels, rewrites, resident;
};

int64_t ResidentBytes() {
  FILE* f = std::fopen("/proc/self/statm", "r");
  if (f == nullptr) return -1;
  long total = 0, pages = -1;
  const int fields = std::fscanf(f, "%ld %ld", &total, &pages);
  std::fclose(f);
  return fields == 2 ? pages * 4096 : -1;
}

TEST(TrainingMemory, AThousandStepsHoldWhatAHundredDid) {
  auto device = std::make_shared<CpuDevice>("CPU");
  DeviceRegistry devices;
  devices.Register(device);
  Engine engine(devices);
  Generator generator(1);
  Net net(generator);
  auto optimizer = optim::AdamW(nn::Parameters(net), {.lr = 1e-2});
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();

  std::mt19937 rng(7);
  const auto use = [&] {
    const MemoryUse m = device->memory_use();
    int64_t allocations = 0;
    for (const auto& [size, count] : m.allocations) allocations += count;
    return Use{LiveUOps(),
               static_cast<int64_t>(m.in_use),
               allocations,
               engine.stats().schedules_made,
               engine.stats().kernels_compiled,
               uop::TotalRewrites().nodes,
               ResidentBytes()};
  };
  Use hundred{}, thousand{};
  float first_loss = 0, last_loss = 0;
  for (int step = 1; step <= 1000; ++step) {
    std::vector<float> images(16 * 12);
    std::vector<int32_t> classes(16);
    for (int i = 0; i < 16; ++i) {
      classes[i] = static_cast<int32_t>(rng() % 4);
      for (int k = 0; k < 12; ++k)
        images[i * 12 + k] = std::normal_distribution<float>(k % 4 == classes[i] ? 1.0f : 0.0f, 0.5f)(rng);
    }
    const Tensor x = Tensor::FromData(images, {16, 12}), y = Tensor::FromData(classes, {16});
    Tensor loss = CrossEntropy(net.Forward(x), y);
    ASSERT_TRUE((*optimizer)->Step(Gradients(loss, (*optimizer)->params())).ok());
    const absl::Status s = engine.Realize((*optimizer)->Pending({&loss}));
    ASSERT_TRUE(s.ok()) << s;
    const auto value = engine.Data<float>(loss);
    ASSERT_TRUE(value.ok()) << value.status();
    if (step == 1) first_loss = (*value)[0];
    last_loss = (*value)[0];
    if (step == 100) hundred = use();
    if (step == 1000) thousand = use();
  }
  EXPECT_LT(last_loss, first_loss / 4);
  EXPECT_EQ(thousand.nodes, hundred.nodes);
  EXPECT_EQ(thousand.bytes, hundred.bytes);
  EXPECT_EQ(thousand.allocations, hundred.allocations);
  EXPECT_EQ(thousand.schedules, hundred.schedules);
  EXPECT_EQ(thousand.kernels, hundred.kernels);
  // Steps after the first find their schedule: nothing is rewritten any more.
  EXPECT_EQ(thousand.rewrites, hundred.rewrites);
  // The allocator may keep a little more.
  if (hundred.resident > 0) {
    EXPECT_LT(thousand.resident, hundred.resident + (4 << 20));
  }
  RecordProperty("nodes", std::to_string(thousand.nodes));
  RecordProperty("kernels_a_step", std::to_string(engine.stats().kernels_launched / 1000));
  std::printf("%lld nodes, %lld bytes in %lld allocations, %lld kernels compiled, %lld nodes rewritten\n",
              static_cast<long long>(thousand.nodes), static_cast<long long>(thousand.bytes),
              static_cast<long long>(thousand.allocations), static_cast<long long>(thousand.kernels),
              static_cast<long long>(thousand.rewrites));
}

}  // namespace
}  // namespace understudy
