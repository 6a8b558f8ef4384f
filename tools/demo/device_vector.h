// SPDX-License-Identifier: Apache-2.0
#pragma once
// A std::vector's twin in GPU memory, for the demo's hand-made launches.

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/status.h"
#include "src/runtime/amd/gpu.h"

namespace understudy::demo {

// Frees the memory when it goes. Must not outlive the GPU.
template <class T>
class DeviceVector {
 public:
  static absl::StatusOr<DeviceVector> From(amd::AmdGpu& gpu, const std::vector<T>& values) {
    US_ASSIGN_OR_RETURN(const amd::GpuBuffer buffer, gpu.Allocate(values.size() * sizeof(T)));
    DeviceVector v(gpu, buffer);
    US_RETURN_IF_ERROR(gpu.CopyIn(buffer.va, values.data(), values.size() * sizeof(T)));
    return v;
  }
  DeviceVector(DeviceVector&& o) noexcept : gpu_(std::exchange(o.gpu_, nullptr)), buffer_(o.buffer_) {}
  DeviceVector& operator=(DeviceVector&&) = delete;
  ~DeviceVector() {
    if (gpu_) gpu_->Free(buffer_).IgnoreError();
  }

  uint64_t va() const { return buffer_.va; }
  // Fills `out`, whose size must not exceed the buffer's.
  absl::Status Read(std::vector<T>* out) const {
    return gpu_->CopyOut(out->data(), buffer_.va, out->size() * sizeof(T));
  }

 private:
  DeviceVector(amd::AmdGpu& gpu, const amd::GpuBuffer& buffer) : gpu_(&gpu), buffer_(buffer) {}
  amd::AmdGpu* gpu_;
  amd::GpuBuffer buffer_;
};

}  // namespace understudy::demo
