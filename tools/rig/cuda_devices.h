// SPDX-License-Identifier: Apache-2.0
#pragma once
// The CUDA devices that tools and end-to-end tests compare: the one over the project's own libcuda.so.1, and
// with USE_HW=1 also the machine's card. No library depends on it.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/runtime/cuda/cuda_device.h"

namespace understudy {

// "CUDA" is on the mock library. "CUDA:HW" is on the machine's own; only with USE_HW=1, and then a
// missing library or card is NotFound.
absl::StatusOr<std::vector<std::shared_ptr<CudaDevice>>> OpenCudaDevices();

// How tables call a device: "CUDA (mock)", "CUDA (NVIDIA H200)"; every other name as it is.
std::string DeviceTitle(const std::string& name);

}  // namespace understudy
