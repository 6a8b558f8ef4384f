// SPDX-License-Identifier: Apache-2.0
#pragma once
// The CUDA device of tests: over the mock driver library, or with USE_HW=1 over the machine's own.

#include <string>

#include "src/base/use_hardware.h"
#include "src/runtime/cuda/cuda_device.h"

namespace understudy::test {

inline absl::StatusOr<std::shared_ptr<CudaDevice>> OpenCuda(int index = 0, const std::string& name = "CUDA") {
  CudaOptions options;
  // Relative to the runfiles, where tests run.
  if (!UseHardware()) options.library = "mockgpu/nv/cuda/libcuda.so.1";
  options.name = name;
  return CudaDevice::Open(index, options);
}

}  // namespace understudy::test
