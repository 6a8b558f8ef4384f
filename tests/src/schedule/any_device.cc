// SPDX-License-Identifier: Apache-2.0
#include "tests/src/schedule/any_device.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mockgpu/amd/mock_kernel.h"
#include "src/base/status.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/clang/clang_device.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/machine/a64_device.h"
#include "src/runtime/machine/x86_device.h"
#include "src/runtime/opencl/opencl_device.h"
#include "src/runtime/ref/ref_device.h"
#include "tests/src/runtime/cuda/open_cuda.h"

namespace understudy::test {

absl::StatusOr<AnyDevice> OpenAnyDevice(const std::string& kind, EngineOptions options) {
  AnyDevice out;
  DeviceRegistry devices;
  const auto add = [&](std::shared_ptr<Device> device) {
    out.name = device->name();
    devices.Register(std::move(device));
  };
  if (kind == "REF") {
    add(std::make_shared<RefDevice>());
  } else if (kind == "CPU") {
    add(std::make_shared<CpuDevice>());
  } else if (kind == "X86") {
    US_ASSIGN_OR_RETURN(std::shared_ptr<X86Device> x86, X86Device::Open());
    add(std::move(x86));
  } else if (kind == "A64") {
    US_ASSIGN_OR_RETURN(std::shared_ptr<A64Device> a64, A64Device::Open());
    add(std::move(a64));
  } else if (kind == "C") {
    US_ASSIGN_OR_RETURN(std::shared_ptr<ClangDevice> c, ClangDevice::Open());
    add(std::move(c));
  } else if (kind == "OPENCL") {
    // PoCL writes what it compiles.
    if (const char* folder = std::getenv("TEST_TMPDIR")) setenv("POCL_CACHE_DIR", folder, 0);
    US_ASSIGN_OR_RETURN(std::shared_ptr<OpenClDevice> opencl, OpenClDevice::Open());
    add(std::move(opencl));
  } else if (kind == "CUDA") {
    US_ASSIGN_OR_RETURN(auto cuda, OpenCuda());
    add(std::move(cuda));
  } else if (kind == "AMD" || kind.rfind("gfx", 0) == 0) {
    mockgpu::MockKernel::Options machine_options;
    US_ASSIGN_OR_RETURN(machine_options.profiles, mockgpu::amd::ParseProfiles(kind == "AMD" ? "" : kind));
    machine_options.log_events = false;
    US_ASSIGN_OR_RETURN(auto machine, mockgpu::MockKernel::Create(std::move(machine_options)));
    US_ASSIGN_OR_RETURN(std::shared_ptr<AmdDevice> amd, AmdDevice::Open(*machine));
    add(amd);
    out.close = [held = std::shared_ptr<mockgpu::MockKernel>(std::move(machine)), amd] {
      return amd->gpu().Close();
    };
  } else {
    return absl::InvalidArgumentError(absl::StrCat("device kind ", kind));
  }
  out.engine = std::make_unique<Engine>(std::move(devices), std::move(options));
  return out;
}

}  // namespace understudy::test
