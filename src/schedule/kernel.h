// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last step of scheduling one kernel: from an expression over provisional slots and ranges to a kernel
// graph in canonical form (adjacent ranges merged, ranges and parameters numbered by structure, named by
// shape), so that equal kernels are the same node wherever they came from.

#include <vector>

#include "src/uop/uop.h"

namespace understudy {

struct KernelDraft {
  struct Output {
    UOpRef value;  // over LOAD(INDEX(PARAM slot, ...)), with slots as positions
    UOpRef index;  // flat index into the output
    int slot = 0;
    UOpRef valid;  // bool: where it is stored; null: everywhere
  };
  std::vector<Output> outputs;
  std::vector<UOpRef> ranges;  // of the outputs, outermost first
};

struct FinishedKernel {
  UOpRef sink;
  std::vector<int> slots;  // position -> slot; the outputs come first, in their order
};

FinishedKernel FinishKernel(const KernelDraft& draft);

}  // namespace understudy
