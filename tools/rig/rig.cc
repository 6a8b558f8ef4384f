// SPDX-License-Identifier: Apache-2.0
#include "tools/rig/rig.h"

#include <cstdlib>
#include <utility>

#include "src/base/status.h"
#include "src/base/use_hardware.h"
#include "src/render/render.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/null/null_device.h"
#include "src/runtime/ref/ref_device.h"
#include "tools/rig/cuda_devices.h"

namespace understudy {

std::vector<std::string> ComparedDevices() {
  std::vector<std::string> names = {"CPU", "AMD", "CUDA"};
  if (UseHardware()) names.push_back("CUDA:HW");
  return names;
}

absl::StatusOr<std::unique_ptr<Rig>> Rig::Create(const EngineOptions& options, const Wrap& wrap,
                                                 const std::string& gpu) {
  std::unique_ptr<Rig> rig(new Rig);
  mockgpu::MockKernel::Options machine;
  machine.log_events = false;
  const char* const environment = std::getenv("UNDERSTUDY_AMD_GPU");
  US_ASSIGN_OR_RETURN(machine.profiles, mockgpu::amd::ParseProfiles(!gpu.empty()             ? gpu
                                                                    : environment != nullptr ? environment
                                                                                             : ""));
  US_ASSIGN_OR_RETURN(rig->kernel_, mockgpu::MockKernel::Create(std::move(machine)));
  US_ASSIGN_OR_RETURN(rig->amd_, AmdDevice::Open(*rig->kernel_));
  rig->amd_->set_counter([kernel = rig->kernel_.get()] {
    const mockgpu::MockStats s = kernel->Stats();
    return AmdDevice::Executed{s.wave_instructions, s.memory_bytes, s.memory_lines};
  });
  DeviceRegistry devices;
  devices.Register(std::make_shared<RefDevice>());
  devices.Register(std::make_shared<CpuDevice>());
  devices.Register(std::make_shared<NullDevice>(Gfx1100Target()));
  devices.Register(wrap ? wrap(rig->amd_) : rig->amd_);
  US_ASSIGN_OR_RETURN(const auto cuda, OpenCudaDevices());
  for (const auto& device : cuda) devices.Register(device);
  rig->engine_ = std::make_unique<Engine>(std::move(devices), options);
  return rig;
}

RigCounters Rig::counters() {
  const mockgpu::MockStats machine = kernel_->Stats();
  return {engine_->stats().kernels_launched, machine.pm4_packet_count + machine.sdma_packet_count,
          machine.wave_instructions};
}

}  // namespace understudy
