// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packs buffers with known lifetimes into one arena so that no two that live at the same time overlap. A pure
// function of sizes and lifetimes; the scheduler calls it once a device.

#include <cstdint>
#include <vector>

namespace understudy {

// Lives from step `first` to step `last`, both inclusive.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // aligned; one a lifetime
  int64_t bytes = 0;             // the arena
};

MemoryPlan PlanMemory(const std::vector<Lifetime>& lifetimes, int64_t alignment = 256);

// The largest sum of sizes alive at one step: no plan needs less.
int64_t PeakBytes(const std::vector<Lifetime>& lifetimes, int64_t alignment = 256);

}  // namespace understudy
