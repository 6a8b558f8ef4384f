// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an engine's launch records say, for people: time by kernel, and a trace that chrome://tracing and
// Perfetto read. Pure functions over the records; measures nothing itself.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "src/runtime/device.h"

namespace understudy {

struct LaunchRecord {
  std::string kernel, device;
  LaunchInfo info;
};

struct KernelProfile {
  std::string kernel, device;
  int64_t launches = 0;
  uint64_t total_ns = 0, min_ns = 0, max_ns = 0;
};

// One entry a kernel and device, longest total first (ties by name).
std::vector<KernelProfile> SummarizeLaunches(absl::Span<const LaunchRecord> records);

// A table of the summary: total, share, launches, mean, kernel, device.
std::string ProfileText(absl::Span<const LaunchRecord> records);

// Trace Event Format (JSON): one complete event a launch, one track a device, times on the device's own
// clock.
std::string ChromeTrace(absl::Span<const LaunchRecord> records);

}  // namespace understudy
