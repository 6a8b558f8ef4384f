// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which units of work run, and which of them run as one kernel with several outputs: units over
// the same ranges that read the same memory, or of which one reads what the other stores element by element
// (the moments of an optimiser and the parameter, mean and variance, several projections of one input). Only
// MakeSchedule uses this; it never changes what a value is.

#include <cstdint>
#include <vector>

#include "src/schedule/kernel.h"
#include "src/schedule/planner.h"
#include "src/schedule/schedule.h"

namespace understudy {

// Accumulators of one kernel, at most.
inline constexpr size_t kMaxReductions = 8;

// Why a unit joined a kernel.
enum class MergeReason : uint8_t {
  kFirst,         // it did not: the kernel's first
  kReadsOutput,   // it reads what the kernel stores, at the same elements
  kSharesInput,   // both read the same large input
  kSharesLaunch,  // both are so small that a launch costs more than they do
  kReadsRow,      // row_fusion.h: it goes over a row again while a cache holds it
  kSharesRow,     // row_fusion.h: others reduce the same rows
};

const char* MergeReasonText(MergeReason reason);  // "" for the first

// One item of the schedule.
struct Batch {
  struct Member {
    int unit = 0;
    MergeReason reason = MergeReason::kFirst;
    bool stored = true;   // false: a temporary that nothing outside of this kernel reads
    bool of_row = false;  // computed once a row, over the first ranges of the kernel only (row_fusion.h)
  };
  std::vector<Member> members;
  int64_t row_bytes = 0;  // that a row reads, where there are such members
};

// What a unit reads, as expressions name slots.
std::vector<int> ReadsOf(const Unit& unit);

// An order of all units that respects reads and writes. Those that are part of a cycle come back in `stuck`.
// `elements` is the size of every slot, by number.
std::vector<Batch> Arrange(const std::vector<Unit>& units, int num_params,
                           const std::vector<int64_t>& elements, const ScheduleOptions& options,
                           std::vector<int>* stuck);

// The kernels of a batch of kernel units, in order: one, but for a scatter (scatter.h), which is two.
std::vector<KernelDraft> DraftsOf(const Batch& batch, const std::vector<Unit>& units, int num_params);

}  // namespace understudy
