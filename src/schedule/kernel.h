// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last step of scheduling one kernel: from an expression over provisional slots and ranges to a kernel
// graph in canonical form (adjacent ranges merged, ranges and parameters numbered by structure, named by
// shape), so that equal kernels are the same node wherever they came from.

#include <vector>

#include "src/uop/uop.h"

namespace understudy {

struct KernelDraft {
  UOpRef value;                // over LOAD(INDEX(PARAM slot, ...)), with slots as positions
  UOpRef store_index;          // flat index into the output
  std::vector<UOpRef> ranges;  // of the output, outermost first
  int output_slot = 0;
};

struct FinishedKernel {
  UOpRef sink;
  std::vector<int> slots;  // position -> slot; the output is position 0
};

FinishedKernel FinishKernel(const KernelDraft& draft);

}  // namespace understudy
