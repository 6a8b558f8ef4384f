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

absl::StatusOr<OpenedDevice> OpenDevice(const std::string& kind) {
  if (kind == "REF") return OpenedDevice{std::make_shared<RefDevice>()};
  if (kind == "CPU") return OpenedDevice{std::make_shared<CpuDevice>()};
  if (kind == "X86") {
    US_ASSIGN_OR_RETURN(std::shared_ptr<X86Device> x86, X86Device::Open());
    return OpenedDevice{std::move(x86)};
  }
  if (kind == "A64") {
    US_ASSIGN_OR_RETURN(std::shared_ptr<A64Device> a64, A64Device::Open());
    return OpenedDevice{std::move(a64)};
  }
  if (kind == "C") {
    US_ASSIGN_OR_RETURN(std::shared_ptr<ClangDevice> c, ClangDevice::Open());
    return OpenedDevice{std::move(c)};
  }
  if (kind == "OPENCL") {
    // PoCL writes what it compiles.
    if (const char* folder = std::getenv("TEST_TMPDIR")) setenv("POCL_CACHE_DIR", folder, 0);
    US_ASSIGN_OR_RETURN(std::shared_ptr<OpenClDevice> opencl, OpenClDevice::Open());
    return OpenedDevice{std::move(opencl)};
  }
  if (kind == "CUDA") {
    US_ASSIGN_OR_RETURN(std::shared_ptr<CudaDevice> cuda, OpenCuda());
    return OpenedDevice{std::move(cuda)};
  }
  if (kind == "AMD" || kind.rfind("gfx", 0) == 0) {
    mockgpu::MockKernel::Options options;
    US_ASSIGN_OR_RETURN(options.profiles, mockgpu::amd::ParseProfiles(kind == "AMD" ? "" : kind));
    options.log_events = false;
    US_ASSIGN_OR_RETURN(auto machine, mockgpu::MockKernel::Create(std::move(options)));
    US_ASSIGN_OR_RETURN(std::shared_ptr<AmdDevice> amd, AmdDevice::Open(*machine));
    return OpenedDevice{amd, [held = std::shared_ptr<mockgpu::MockKernel>(std::move(machine)), amd] {
                          return amd->gpu().Close();
                        }};
  }
  return absl::InvalidArgumentError(absl::StrCat("device kind ", kind));
}

absl::StatusOr<AnyDevice> OpenAnyDevice(const std::string& kind, EngineOptions options) {
  US_ASSIGN_OR_RETURN(OpenedDevice opened, OpenDevice(kind));
  AnyDevice out;
  out.name = opened.device->name();
  out.close = std::move(opened.close);
  DeviceRegistry devices;
  devices.Register(std::move(opened.device));
  out.engine = std::make_unique<Engine>(std::move(devices), std::move(options));
  return out;
}

}  // namespace understudy::test
