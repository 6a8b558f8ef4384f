// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two devices of one kind and an engine over them, for tests of storage: every test runs on pairs of REF and
// CPU, and on the emulated AMD GPU and the CUDA device beside a REF.

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mockgpu/amd/mock_kernel.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/tensor.h"
#include "tests/src/runtime/cuda/open_cuda.h"

namespace understudy {

class StorageTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string kind = GetParam();
    if (kind == "AMD") {
      mockgpu::MockKernel::Options options;
      options.log_events = false;
      auto machine = mockgpu::MockKernel::Create(std::move(options));
      ASSERT_TRUE(machine.ok()) << machine.status();
      machine_ = *std::move(machine);
      auto amd = AmdDevice::Open(*machine_);
      ASSERT_TRUE(amd.ok()) << amd.status();
      amd_ = *std::move(amd);
      devices_.Register(amd_);
      d0 = "AMD", d1 = "REF:1";
    } else if (kind == "CUDA") {
      auto cuda = test::OpenCuda();
      ASSERT_TRUE(cuda.ok()) << cuda.status();
      devices_.Register(*std::move(cuda));
      d0 = "CUDA", d1 = "REF:1";
    } else {
      d0 = kind + ":0", d1 = kind + ":1";
    }
    if (kind == "CPU") {
      devices_.Register(std::make_shared<CpuDevice>(d0));
      devices_.Register(std::make_shared<CpuDevice>(d1));
    } else {
      if (kind == "REF") devices_.Register(std::make_shared<RefDevice>(d0));
      devices_.Register(std::make_shared<RefDevice>(d1));
    }
    engine = std::make_unique<Engine>(devices_);
  }
  void TearDown() override {
    engine.reset();
    devices_ = DeviceRegistry();
    if (amd_ == nullptr) return;
    EXPECT_TRUE(amd_->gpu().Close().ok());
  }

  Tensor F32(std::vector<float> data, Shape shape, const std::string& device = "") {
    return Tensor::FromData<float>(data, std::move(shape), device.empty() ? d0 : device);
  }
  Tensor Full(Shape shape, float value, const std::string& device = "") {
    return Tensor::Full(std::move(shape), value, {dtypes::kFloat32, device.empty() ? d0 : device});
  }
  std::vector<float> Get(Tensor t) {
    auto data = engine->Data<float>(t);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.ok() ? *std::move(data) : std::vector<float>();
  }
  absl::Status Realize(std::vector<Tensor> tensors) {
    std::vector<Tensor*> list;
    for (Tensor& t : tensors) list.push_back(&t);
    return engine->Realize(list);
  }
  // Where a realised tensor's storage lies; 0 when it has none.
  static uint64_t Address(const Tensor& t) {
    const UOp* u = t.uop().get();
    while (u->op() == Op::kReshape) u = u->src(0).get();
    if (u->op() != Op::kBuffer) return 0;
    auto* buffer = dynamic_cast<Buffer*>(u->arg_as<BufferArg>().slot->impl.get());
    if (buffer == nullptr) return 0;
    const auto range = buffer->Get();
    return range.ok() ? range->address : 0;
  }

  std::string d0, d1;
  std::unique_ptr<Engine> engine;

 private:
  std::unique_ptr<mockgpu::MockKernel> machine_;
  std::shared_ptr<AmdDevice> amd_;
  DeviceRegistry devices_;
};

#define UNDERSTUDY_STORAGE_DEVICES(suite)                                                \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::Values("REF", "CPU", "AMD", "CUDA"), \
                           [](const auto& info) { return std::string(info.param); })

}  // namespace understudy
