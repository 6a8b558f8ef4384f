// SPDX-License-Identifier: Apache-2.0
#pragma once
// An engine over REF, CPU and an AMD device on the mock machine, for tests that run the same tensors on each.
// Every code object that the AMD device compiles is read by LLVM MC too.

#include <memory>
#include <string>
#include <utility>

#include "mockgpu/amd/mock_kernel.h"
#include "src/base/status.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "tests/e2e/mc_checked_device.h"

namespace understudy {

class BenchOfDevices {
 public:
  BenchOfDevices() {
    mockgpu::MockKernel::Options options;
    options.log_events = false;
    auto kernel = mockgpu::MockKernel::Create(std::move(options));
    US_CHECK_OK(kernel);
    kernel_ = *std::move(kernel);
    DeviceRegistry devices;
    devices.Register(std::make_shared<RefDevice>());
    devices.Register(std::make_shared<CpuDevice>());
    auto amd = AmdDevice::Open(*kernel_);
    US_CHECK_OK(amd);
    mc_checked_ = std::make_shared<McCheckedDevice>(*std::move(amd));
    devices.Register(mc_checked_);
    engine_ = std::make_unique<Engine>(std::move(devices));
  }
  Engine& engine() { return *engine_; }
  mockgpu::MockKernel& machine() { return *kernel_; }
  // Code objects of the AMD device that LLVM MC has read, and where it disagreed with our decoder.
  const McCheckedDevice& mc_checked() const { return *mc_checked_; }

 private:
  std::unique_ptr<mockgpu::MockKernel> kernel_;  // outlives the devices
  std::shared_ptr<McCheckedDevice> mc_checked_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace understudy
