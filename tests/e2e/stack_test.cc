// SPDX-License-Identifier: Apache-2.0
// From a tensor to a wave and back: the same programs on REF, CPU, AMD and CUDA (driver, queues, mock
// machine, emulator). REF is held to loops written out here, the other devices to REF: bit for bit where no
// order of addition is free.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "mockgpu/amd/mock_kernel.h"
#include "src/base/status.h"
#include "src/base/ulp.h"
#include "src/render/render.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/null/null_device.h"
#include "src/runtime/ref/ref_device.h"
#include "tools/rig/cuda_devices.h"
#include "tools/rig/rig.h"

namespace understudy {
namespace {

class StackTest : public testing::Test {
 protected:
  void SetUp() override {
    mockgpu::MockKernel::Options options;
    options.log_events = false;
    auto machine = mockgpu::MockKernel::Create(std::move(options));
    ASSERT_TRUE(machine.ok()) << machine.status();
    machine_ = *std::move(machine);
    auto amd = AmdDevice::Open(*machine_);
    ASSERT_TRUE(amd.ok()) << amd.status();
    amd_ = *std::move(amd);
    devices_.Register(std::make_shared<RefDevice>());
    devices_.Register(std::make_shared<CpuDevice>());
    devices_.Register(std::make_shared<NullDevice>(Gfx1100Target()));
    devices_.Register(amd_);
    const auto cuda = OpenCudaDevices();
    ASSERT_TRUE(cuda.ok()) << cuda.status();
    for (const auto& device : *cuda) devices_.Register(device);
    engine_ = std::make_unique<Engine>(devices_);
  }
  void TearDown() override {
    engine_.reset();
    devices_ = DeviceRegistry();
    if (amd_ != nullptr) {
      const absl::Status closed = amd_->gpu().Close();
      EXPECT_TRUE(closed.ok()) << closed;
    }
  }

  std::vector<float> Get(Tensor t) {
    auto data = engine_->Data<float>(t);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.ok() ? *std::move(data) : std::vector<float>();
  }

  // `program` on every device; REF within `ref_ulps` of `expected`, the others within `ulps` of REF.
  void OnEveryDevice(const std::function<Tensor(const std::string&)>& program,
                     const std::vector<double>& expected, uint64_t ref_ulps, uint64_t ulps) {
    const std::vector<float> ref = Get(program("REF"));
    ASSERT_EQ(ref.size(), expected.size());
    for (size_t i = 0; i < ref.size(); ++i) {
      ASSERT_LE(UlpDistance(ref[i], static_cast<float>(expected[i])), ref_ulps)
          << "REF element " << i << ": " << ref[i] << ", expected " << expected[i];
    }
    for (const std::string& device : ComparedDevices()) {
      const std::vector<float> got = Get(program(device));
      ASSERT_EQ(got.size(), ref.size()) << device;
      for (size_t i = 0; i < ref.size(); ++i) {
        ASSERT_LE(UlpDistance(got[i], ref[i]), ulps)
            << device << " element " << i << ": " << got[i] << ", REF " << ref[i];
      }
    }
  }

  // 0.37-spaced numbers of both signs.
  static std::vector<float> Ramp(int n, float scale = 0.37f, float offset = -3.0f) {
    std::vector<float> v(n);
    for (int i = 0; i < n; ++i) v[i] = scale * static_cast<float>(i % 23) + offset;
    return v;
  }

  std::unique_ptr<mockgpu::MockKernel> machine_;
  std::shared_ptr<AmdDevice> amd_;
  DeviceRegistry devices_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(StackTest, ElementwiseWithBroadcasting) {
  const auto a = Ramp(13 * 7), b = Ramp(7, 1.5f, 2.0f);
  std::vector<double> expected;
  for (int i = 0; i < 13 * 7; ++i)
    expected.push_back(std::max((a[i] + b[i % 7]) * 2.0f - a[i] / b[i % 7], 0.0f));
  OnEveryDevice(
      [&](const std::string& device) {
        const Tensor x = Tensor::FromData(a, {13, 7}, device), y = Tensor::FromData(b, {7}, device);
        return ((x + y) * 2.0f - x / y).Relu();
      },
      expected, 0, 0);
}

TEST_F(StackTest, Matmul) {
  const int m = 17, k = 33, n = 9;
  const auto a = Ramp(m * k), b = Ramp(k * n, 0.11f, -1.0f);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      expected[i * n + j] = sum;
    }
  }
  // The heuristic may add in another order: a few ulp of the largest partial sum.
  const auto program = [&](const std::string& device) {
    return Tensor::FromData(a, {m, k}, device).Matmul(Tensor::FromData(b, {k, n}, device));
  };
  const std::vector<float> ref = Get(program("REF"));
  for (int i = 0; i < m * n; ++i) ASSERT_EQ(ref[i], static_cast<float>(expected[i])) << i;
  for (const std::string& device : ComparedDevices()) {
    const std::vector<float> got = Get(program(device));
    for (int i = 0; i < m * n; ++i) ASSERT_NEAR(got[i], ref[i], 1e-4) << device << " " << i;
  }
}

TEST_F(StackTest, Softmax) {
  const int rows = 5, cols = 37;
  const auto a = Ramp(rows * cols);
  std::vector<double> expected(rows * cols);
  for (int r = 0; r < rows; ++r) {
    double sum = 0, top = -1e30;
    for (int c = 0; c < cols; ++c) top = std::max<double>(top, a[r * cols + c]);
    for (int c = 0; c < cols; ++c) sum += std::exp(a[r * cols + c] - top);
    for (int c = 0; c < cols; ++c) expected[r * cols + c] = std::exp(a[r * cols + c] - top) / sum;
  }
  OnEveryDevice(
      [&](const std::string& device) { return Tensor::FromData(a, {rows, cols}, device).Softmax(); },
      expected, 16, 16);
}

TEST_F(StackTest, GradientsTrainALine) {
  // y = 3x + 1 by gradient descent: assignments in place, a graph that repeats.
  std::vector<std::string> all = ComparedDevices();
  all.push_back("REF");
  for (const std::string& device : all) {
    std::vector<float> xs(32), ys(32);
    for (int i = 0; i < 32; ++i) xs[i] = static_cast<float>(i) / 16 - 1, ys[i] = 3 * xs[i] + 1;
    const Tensor x = Tensor::FromData(xs, {32, 1}, device), y = Tensor::FromData(ys, {32, 1}, device);
    Tensor w = Tensor::FromData<float>({0.0f}, {1, 1}, device),
           b = Tensor::FromData<float>({0.0f}, {1}, device);
    w.set_requires_grad();
    b.set_requires_grad();
    int64_t compiled_after_two = 0;
    for (int step = 0; step < 60; ++step) {
      const Tensor loss = (x.Matmul(w) + b - y).Square().Mean();
      const std::vector<Tensor> g = Gradients(loss, {w, b});
      w.Assign((w - g[0] * 0.3f).Detach());
      b.Assign((b - g[1] * 0.3f).Detach());
      Tensor* const both[] = {&w, &b};
      const absl::Status s = engine_->Realize(both);
      ASSERT_TRUE(s.ok()) << device << " step " << step << ": " << s;
      if (step == 1) compiled_after_two = engine_->stats().kernels_compiled;
    }
    EXPECT_EQ(engine_->stats().kernels_compiled, compiled_after_two)
        << device << ": a repeated step compiles nothing";
    EXPECT_NEAR(Get(w)[0], 3, 1e-3) << device;
    EXPECT_NEAR(Get(b)[0], 1, 1e-3) << device;
  }
}

TEST_F(StackTest, EqualGraphsOverOtherDataAreCompiledOnce) {
  const auto step = [&](float seed) {
    const Tensor x = Tensor::FromData(Ramp(64, seed), {64}, "AMD");
    return Get((x * 2.0f + 1.0f).Sum());
  };
  step(0.1f);
  const EngineStats before = engine_->stats();
  step(0.2f);
  const EngineStats after = engine_->stats();
  EXPECT_EQ(after.schedules_made, before.schedules_made);
  EXPECT_EQ(after.schedule_cache_hits, before.schedule_cache_hits + 1);
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_GT(after.kernels_launched, before.kernels_launched);
  EXPECT_GT(after.program_cache_hits, before.program_cache_hits);
  EXPECT_EQ(after.bytes_in - before.bytes_in, 256);
  EXPECT_EQ(after.bytes_out - before.bytes_out, 4);
}

TEST_F(StackTest, ValuesMoveBetweenDevices) {
  const auto data = Ramp(100);
  const Tensor on_ref = Tensor::FromData(data, {100}, "REF");
  const Tensor there_and_back = ((on_ref + 1.0f).To("AMD") * 2.0f).To("CPU") - 3.0f;
  const std::vector<float> got = Get(there_and_back);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(got[i], (data[i] + 1.0f) * 2.0f - 3.0f) << i;
  EXPECT_EQ(engine_->stats().copies, 2);
  EXPECT_EQ(engine_->stats().bytes_copied, 800);
}

TEST_F(StackTest, ConstantsViewsAndEmptyTensorsHaveData) {
  std::vector<std::string> all = ComparedDevices();
  all.push_back("REF");
  for (const std::string& device : all) {
    EXPECT_EQ(Get(Tensor::Full({3}, 2.5, {dtypes::kFloat32, device})), (std::vector<float>{2.5f, 2.5f, 2.5f}))
        << device;
    const Tensor x = Tensor::FromData<float>({1, 2, 3, 4, 5, 6}, {2, 3}, device);
    EXPECT_EQ(Get(x.Transpose()), (std::vector<float>{1, 4, 2, 5, 3, 6})) << device;
    EXPECT_EQ(Get(x.Flip({1})), (std::vector<float>{3, 2, 1, 6, 5, 4})) << device;
    EXPECT_EQ(Get(Tensor::Zeros({0, 4}, {dtypes::kFloat32, device}) + 1.0f), std::vector<float>()) << device;
    EXPECT_EQ(Get(Tensor::FromData<float>({}, {0}, device)), std::vector<float>()) << device;
  }
}

TEST_F(StackTest, AfterRealizeATensorNamesItsStorage) {
  Tensor x = Tensor::FromData(Ramp(10), {10}, "AMD") + 1.0f;
  Tensor alias = x;
  ASSERT_TRUE(engine_->Realize(x).ok());
  UOpRef u = alias.uop();
  while (u->op() == Op::kReshape) u = UOpRef(u->src(0));
  EXPECT_EQ(u->op(), Op::kBuffer);
  const int64_t launched = engine_->stats().kernels_launched;
  Get(x);
  Get(alias);
  EXPECT_EQ(engine_->stats().kernels_launched, launched) << "reading realised values runs nothing";
}

TEST_F(StackTest, StorageGoesWithItsLastTensor) {
  const int64_t before = amd_->gpu().live_buffers();
  {
    Tensor x = Tensor::FromData(Ramp(1000), {1000}, "AMD") * 3.0f;
    ASSERT_TRUE(engine_->Realize(x).ok());
    EXPECT_GT(amd_->gpu().live_buffers(), before);
  }
  engine_->ClearCaches();  // code objects
  ASSERT_TRUE(amd_->gpu().TrimCache().ok());
  EXPECT_EQ(amd_->gpu().live_buffers(), before);
}

TEST_F(StackTest, MistakesAreNamed) {
  Tensor ints = Tensor::FromData<int32_t>({1, 2}, {2}, "AMD");
  EXPECT_EQ(engine_->Data<float>(ints).status().message(),
            "Engine::Data: the tensor is i32, the caller wants f32");
  Tensor lost = Tensor::FromData<float>({1, 2}, {2}, "TPU") + 1.0f;
  EXPECT_NE(std::string(engine_->Data<float>(lost).status().message())
                .find("no device 'TPU'; there are: AMD, CPU, CUDA"),
            std::string::npos)
      << engine_->Data<float>(lost).status();
  Tensor bad = Tensor::FromData<float>({1, 2}, {2}, "AMD") + Tensor::FromData<float>({1, 2, 3}, {3}, "AMD");
  EXPECT_FALSE(engine_->Realize(bad).ok());
  Tensor null = Tensor::FromData<float>({1, 2}, {2}, "NULL") + 1.0f;
  EXPECT_TRUE(engine_->Realize(null).ok()) << "NULL compiles";
  EXPECT_NE(std::string(engine_->Data<float>(null).status().message()).find("compiles kernels and runs none"),
            std::string::npos);
}

TEST_F(StackTest, AFaultOfOneKernelEndsInAnErrorAndTheEngineGoesOn) {
  Tensor x = Tensor::FromData(Ramp(64), {64}, "AMD") + 1.0f;
  ASSERT_TRUE(engine_->Realize(x).ok());
  // The queue stops while the engine has work behind it: a copy to an address that nobody allocated.
  const uint32_t word = 1;
  ASSERT_TRUE(amd_->gpu().CopyIn(0xdead0000, &word, 4).ok());
  Tensor y = x * 2.0f;
  const auto failed = engine_->Data<float>(y);
  ASSERT_EQ(failed.status().code(), absl::StatusCode::kAborted) << failed.status();
  EXPECT_NE(std::string(failed.status().message()).find("memory fault at 0xdead0"), std::string::npos)
      << failed.status();
  ASSERT_TRUE(amd_->Recover().ok());
  Tensor z = x * 2.0f + 0.0f;
  const auto a = Ramp(64);
  const std::vector<float> got = Get(z);
  ASSERT_EQ(got.size(), 64u);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(got[i], (a[i] + 1.0f) * 2.0f) << i;
}

TEST_F(StackTest, ProfilesEveryLaunch) {
  EngineOptions options;
  options.choices = ChoiceList{};
  options.profile = true;
  Engine engine(devices_, options);
  Tensor x = Tensor::FromData(Ramp(256), {256}, "AMD").Sum();
  ASSERT_TRUE(engine.Data<float>(x).ok());
  ASSERT_EQ(static_cast<int64_t>(engine.launches().size()), engine.stats().kernels_launched);
  for (const LaunchRecord& r : engine.launches()) {
    EXPECT_EQ(r.device, "AMD");
    EXPECT_GE(r.info.grid[0], 1);
    EXPECT_GT(r.info.device_ns, 0u) << r.kernel;
  }
}

}  // namespace
}  // namespace understudy
