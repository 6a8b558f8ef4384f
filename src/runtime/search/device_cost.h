// SPDX-License-Identifier: Apache-2.0
#pragma once
// Costs of candidates that are compiled and run on a device: the time they take, or, deterministically, what
// an emulated device counts (LaunchInfo). Used by searches. A candidate that does not compile, faults or is
// refused by the device has an error for a cost; the device is recovered and goes on.

#include <memory>
#include <string>
#include <vector>

#include "src/codegen/search.h"
#include "src/codegen/work.h"
#include "src/runtime/device.h"
#include "src/runtime/search/compile_pool.h"
#include "src/runtime/search/kernel_buffers.h"

namespace understudy {

struct DeviceCostOptions {
  enum class Kind {
    kMeasured,  // nanoseconds by the device's own clock (LaunchInfo::device_ns)
    kCounted,   // CostOfWork of LaunchInfo's counts: no clock, the same in every run and on every machine
  };
  Kind kind = Kind::kMeasured;
  CostWeights weights;  // kCounted
  // kMeasured: the median of so many launches after one that warms up. Caches are warm: a kernel whose
  // buffers fit them is timed there.
  int repeats = 5;
  // ... of one only, where that one took this many times the best so far.
  double far_worse = 3;
  // Bytes of other memory that are copied on the device before each timed launch, for times with cold caches.
  size_t flush_bytes = 0;

  std::string Text() const;
};

class DeviceCost : public CostModel {
 public:
  // All must outlive the model. With `pool`, candidates of a device that loads compiled kernels are compiled
  // there; without, or for other devices, Device::Compile runs in this process.
  DeviceCost(Device& device, KernelBuffers& buffers, CompilePool* pool, const DeviceCostOptions& options)
      : device_(device), buffers_(buffers), pool_(pool), options_(options) {}

  std::string name() const override;
  std::vector<absl::StatusOr<double>> Costs(const UOpRef& kernel, const Target& target,
                                            absl::Span<const ChoiceList> candidates, double best) override;

 private:
  absl::StatusOr<double> Run(Program& program, double best);
  absl::StatusOr<LaunchInfo> Launch(Program& program);
  absl::Status Flush();

  Device& device_;
  KernelBuffers& buffers_;
  CompilePool* const pool_;
  const DeviceCostOptions options_;
};

}  // namespace understudy
