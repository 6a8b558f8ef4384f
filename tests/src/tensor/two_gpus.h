// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two emulated GPUs of one mock machine, AMD:0 and AMD:1, each with a queue and an address space of its own,
// for tests of tensors that are spread over them. Closed with the object, which outlives their engine.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mockgpu/amd/mock_kernel.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/device.h"

namespace understudy {

class TwoGpuMachine {
 public:
  TwoGpuMachine() {
    mockgpu::MockKernel::Options options;
    options.profiles = {mockgpu::amd::ProfileOf("gfx1100"), mockgpu::amd::ProfileOf("gfx1100")};
    options.log_events = false;
    auto machine = mockgpu::MockKernel::Create(std::move(options));
    EXPECT_TRUE(machine.ok()) << machine.status();
    if (!machine.ok()) return;
    machine_ = *std::move(machine);
    for (int i = 0; i < 2; ++i) {
      auto gpu = AmdDevice::Open(*machine_, i, {}, absl::StrCat("AMD:", i));
      EXPECT_TRUE(gpu.ok()) << gpu.status();
      if (!gpu.ok()) return;
      gpus.push_back(*gpu);
      devices.Register(gpus.back());
    }
  }
  ~TwoGpuMachine() {
    for (auto& gpu : gpus) EXPECT_TRUE(gpu->gpu().Close().ok());
  }
  TwoGpuMachine(const TwoGpuMachine&) = delete;
  TwoGpuMachine& operator=(const TwoGpuMachine&) = delete;

  const std::vector<std::string> names = {"AMD:0", "AMD:1"};

 private:
  std::unique_ptr<mockgpu::MockKernel> machine_;

 public:
  std::vector<std::shared_ptr<AmdDevice>> gpus;
  DeviceRegistry devices;
};

}  // namespace understudy
