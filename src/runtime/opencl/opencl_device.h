// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "OPENCL": kernels as OpenCL C text on whatever libOpenCL.so.1 offers (tests: PoCL). Programs and
// tests open it; it is never registered by itself. Compile and memory are thread safe; launches run in order
// on one queue.
//
// OpenCL has no addresses: an Allocation's are numbers of our own, and a range inside an allocation reaches a
// kernel as a sub-buffer, or through a copy where its offset is not aligned as the device asks.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/runtime/device.h"
#include "src/schedule/target.h"

namespace understudy {

class OpenClDevice : public Device {
 public:
  // The `index`-th device of all platforms in order. NotFound: no library, no platform or no such device.
  // FailedPrecondition names the rounding that the device's f32 lacks (denormals, infinities, fused
  // multiply-add, correctly rounded division and square root): its answers would not be REF's.
  static absl::StatusOr<std::shared_ptr<OpenClDevice>> Open(int index = 0);
  ~OpenClDevice() override;

  const std::string& name() const override { return name_; }
  // The limits are the device's: workgroup, local memory, f64 or none.
  const Target& target() const override { return target_; }
  const std::string& description() const { return description_; }  // the device's own name

  absl::StatusOr<Allocation> Allocate(size_t bytes) override;
  absl::Status Free(const Allocation& allocation) override;
  absl::Status CopyIn(const Allocation& dst, const void* src, size_t bytes) override;
  absl::Status CopyOut(void* dst, const Allocation& src, size_t bytes) override;
  absl::Status CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) override;

  // Unimplemented as RenderC, and for f64 where the device has none; Internal carries the build log.
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  // The same for OpenCL C text that defines `name` with one buffer of bytes, for one work-item.
  absl::StatusOr<std::unique_ptr<Program>> CompileText(const std::string& name, const std::string& text);
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;
  absl::Status Synchronize() override;

 private:
  struct State;  // OpenCL's handles
  OpenClDevice();
  absl::Status Query();
  absl::StatusOr<std::unique_ptr<Program>> Build(struct RenderedText rendered);

  std::unique_ptr<State> state_;
  std::string name_ = "OPENCL", description_;
  Target target_;
};

}  // namespace understudy
