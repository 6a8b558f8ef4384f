// SPDX-License-Identifier: Apache-2.0
// One source, two targets: the emulated gfx1100, or with USE_HW=1 the first AMD GPU of this machine through
// /dev/kfd. Each test prints the target and the oracle that its result rests on.

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "mockgpu/amd/mock_kernel.h"
#include "src/base/ulp.h"
#include "src/base/use_hardware.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/os/host_syscalls.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/tensor.h"

namespace understudy {
namespace {

class AmdStack : public ::testing::Test {
 protected:
  void SetUp() override {
    if (UseHardware()) {
      sys_ = std::make_unique<os::HostSyscalls>();
    } else {
      auto kernel = mockgpu::MockKernel::Create({});
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      sys_ = *std::move(kernel);
    }
    auto amd = AmdDevice::Open(*sys_);
    ASSERT_TRUE(amd.ok()) << amd.status();
    amd_ = *amd;
    DeviceRegistry devices;
    devices.Register(std::make_shared<RefDevice>());
    devices.Register(amd_);
    engine_ = std::make_unique<Engine>(std::move(devices));
  }

  void Oracle(const char* oracle) const {
    std::printf("target: %s %s; oracle: %s\n", UseHardware() ? "hardware" : "emulated",
                amd_->gpu().isa().c_str(), oracle);
  }

  std::unique_ptr<os::Syscalls> sys_;
  std::shared_ptr<AmdDevice> amd_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(AmdStack, CopiesOfAwkwardSizesComeBack) {
  Oracle("the bytes that were sent");
  for (size_t size : {size_t{1}, size_t{3}, size_t{4095}, size_t{4097}, (size_t{9} << 20) + 5}) {
    std::vector<uint8_t> sent(size), received(size);
    for (size_t i = 0; i < size; ++i) sent[i] = static_cast<uint8_t>(i * 131 + (i >> 8));
    const auto memory = amd_->Allocate(size);
    ASSERT_TRUE(memory.ok()) << memory.status();
    ASSERT_TRUE(amd_->CopyIn(*memory, sent.data(), size).ok());
    ASSERT_TRUE(amd_->CopyOut(received.data(), *memory, size).ok());
    EXPECT_TRUE(sent == received) << size << " bytes";
    EXPECT_TRUE(amd_->Free(*memory).ok());
  }
}

TEST_F(AmdStack, IntegerArithmeticIsExact) {
  Oracle("arithmetic of this test on the host");
  std::vector<int32_t> a(1000), b(1000);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int32_t>(i * 2654435761u);
    b[i] = static_cast<int32_t>(i % 17) - 8;
  }
  Tensor x = Tensor::FromData(a, {1000}, "AMD"), y = Tensor::FromData(b, {1000}, "AMD");
  Tensor z = x * y + x.TruncDiv(y);
  const auto got = engine_->Data<int32_t>(z);
  ASSERT_TRUE(got.ok()) << got.status();
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t quotient = b[i] == 0 ? 0 : int64_t{a[i]} / b[i];
    const auto want = static_cast<int32_t>(static_cast<uint32_t>(a[i]) * static_cast<uint32_t>(b[i]) +
                                           static_cast<uint32_t>(quotient));
    ASSERT_EQ((*got)[i], want) << a[i] << " and " << b[i];
  }
}

TEST_F(AmdStack, MatmulEqualsTheReferenceBitForBit) {
  Oracle("REF (direct evaluation of the kernel graph)");
  std::vector<std::vector<float>> results;
  for (const char* device : {"REF", "AMD"}) {
    const TensorOptions on{dtypes::kFloat32, device};
    Tensor c = Tensor::Normal({33, 47}, 1, 0, 1, on).Matmul(Tensor::Normal({47, 29}, 2, 0, 1, on));
    auto data = engine_->Data<float>(c);
    ASSERT_TRUE(data.ok()) << data.status();
    results.push_back(*std::move(data));
  }
  for (size_t i = 0; i < results[0].size(); ++i)
    ASSERT_EQ(UlpDistance(results[0][i], results[1][i]), 0u) << i;
}

}  // namespace
}  // namespace understudy
