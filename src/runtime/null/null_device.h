// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "NULL": lowers and renders every kernel for a target and runs none. For compile-time benchmarks
// and for checking that a graph compiles where its device is absent. Its memory has addresses but no
// contents.

#include <string>

#include "src/runtime/device.h"
#include "src/schedule/target.h"

namespace understudy {

// What would have been done since the device was made or its statistics reset.
struct NullStats {
  int64_t kernels = 0, flops = 0;
  // Of the kernels' buffers: what they access, but no buffer more than once over.
  int64_t bytes_read = 0, bytes_written = 0;
  int64_t copies = 0, bytes_copied = 0;
  std::string Text() const;  // "3 kernels, 12 flops, 8 bytes read, ..."
};

class NullDevice : public Device {
 public:
  explicit NullDevice(Target target);
  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  absl::StatusOr<Allocation> Allocate(size_t bytes) override;
  absl::Status Free(const Allocation& allocation) override;
  absl::Status CopyIn(const Allocation& dst, const void* src, size_t bytes) override;
  // FailedPrecondition always: there is nothing to read.
  absl::Status CopyOut(void* dst, const Allocation& src, size_t bytes) override;
  absl::Status CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) override;
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }
  const NullStats& stats() const { return stats_; }
  void ResetStats() { stats_ = {}; }

 private:
  absl::Status CountCopy(size_t bytes);

  std::string name_ = "NULL";
  Target target_;
  NullStats stats_;
  uint64_t next_ = uint64_t{1} << 40;  // never a host address that anybody would follow
};

}  // namespace understudy
