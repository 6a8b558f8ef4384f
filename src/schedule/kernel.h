// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last step of scheduling one kernel: from an expression over provisional slots and ranges to a kernel
// graph in canonical form (adjacent ranges merged, ranges and parameters numbered by structure, named by
// shape), so that equal kernels are the same node wherever they came from.

#include <vector>

#include "absl/container/flat_hash_map.h"
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

// Drafts that differ by the numbers of their slots and ranges only are finished once.
class KernelFinisher {
 public:
  FinishedKernel operator()(const KernelDraft& draft);

 private:
  absl::flat_hash_map<UOpRef, FinishedKernel>
      done_;  // over slots and ranges in the order of their numbers here
};

}  // namespace understudy
