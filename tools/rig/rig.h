// SPDX-License-Identifier: Apache-2.0
#pragma once
// One mock machine with an AMD GPU (a gfx1100 unless another is asked for), the user-mode driver on it, and
// an engine over the devices REF, CPU, NULL, AMD and CUDA (on the mock driver library; with USE_HW=1 CUDA:HW
// too, the machine's card). The place where compiler and mock meet: tools, end-to-end tests and benchmarks
// build it; no library depends on it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mockgpu/amd/mock_kernel.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/engine.h"

namespace understudy {

// Totals since the rig was made; subtract two to see what a piece of work took.
struct RigCounters {
  int64_t kernels = 0;
  uint64_t packets = 0;  // PM4 and SDMA
  uint64_t wave_instructions = 0;

  friend RigCounters operator-(const RigCounters& a, const RigCounters& b) {
    return {a.kernels - b.kernels, a.packets - b.packets, a.wave_instructions - b.wave_instructions};
  }
};

// The rig's devices that are compared with REF, in the order of tables: CPU, AMD, CUDA, and CUDA:HW with
// USE_HW=1.
std::vector<std::string> ComparedDevices();

class Rig {
 public:
  // The engine sees what `wrap` makes of the AMD device, where one is given (a device that watches it, say).
  // A caller that keeps the device must drop it before the rig, which holds the machine beneath.
  using Wrap = std::function<std::shared_ptr<Device>(std::shared_ptr<AmdDevice>)>;
  // `gpu` names a profile of the mock machine; empty: what UNDERSTUDY_AMD_GPU says, else gfx1100.
  static absl::StatusOr<std::unique_ptr<Rig>> Create(const EngineOptions& options = {},
                                                     const Wrap& wrap = nullptr, const std::string& gpu = "");

  Engine& engine() { return *engine_; }
  mockgpu::MockKernel& kernel() { return *kernel_; }
  AmdDevice& amd() { return *amd_; }
  amd::AmdGpu& gpu() { return amd_->gpu(); }
  RigCounters counters();

 private:
  Rig() = default;
  // In order of dependence: destroyed from the last to the first.
  std::unique_ptr<mockgpu::MockKernel> kernel_;
  std::shared_ptr<AmdDevice> amd_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace understudy
