// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows that stay in a cache: where reductions along rows and a kernel over all elements of the same rows read
// the same memory (softmax, norms, variances, their derivatives), one kernel does both row by row, so that
// memory is read once. Only for devices whose kernels run through their elements in order, which are named
// with the room of their cache (ScheduleOptions::row_bytes); only MakeSchedule uses it, after Arrange.

#include <cstdint>
#include <vector>

#include "src/schedule/merge.h"
#include "src/schedule/planner.h"
#include "src/schedule/schedule.h"

namespace understudy {

// Puts batches of reductions, whose results nothing else reads, into the batch that reads them. `batches` are
// in the order in which they run, and stay in an order that respects reads and writes.
void FuseRows(const std::vector<Unit>& units, int num_params, const std::vector<int64_t>& elements,
              const ScheduleOptions& options, std::vector<Batch>* batches);

}  // namespace understudy
