// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the scheduler decided about every value of a call, with reasons and the numbers they rest on: stored
// in memory, or computed where it is used; and which kernels were put together. Filled by MakeSchedule for
// `understudy trace --fusion` and tests; nothing decides anything from it.

#include <cstdint>
#include <string>
#include <vector>

#include "src/uop/uop.h"

namespace understudy {

// One line a reason: name, whether the value is stored, and the text that people read.
#define UNDERSTUDY_FUSION_REASONS(X)                                                         \
  X(Output, true, "an output of the call")                                                   \
  X(Transfer, true, "a transfer between devices")                                            \
  X(Asked, true, "CONTIGUOUS asks for it")                                                   \
  X(Aside, true, "its storage is still read elsewhere: computed aside, then copied")         \
  X(Whole, true, "a transfer or another name needs it whole")                                \
  X(BufferLimit, true, "without it a kernel would name too many buffers")                    \
  X(ReduceAgain, true, "a reduction that would be computed more often than it has elements") \
  X(ReduceInside, true, "a reduction that another reduction would repeat")                   \
  X(ReducePadded, true, "a reduction under a condition")                                     \
  X(HoldsReduce, true, "computing it again would repeat a reduction")                        \
  X(Scatter, true, "its terms go to places that they name: added there in order")            \
  X(Places, true, "wanted at too many places of the kernels")                                \
  X(Dear, true, "computing it again costs more than storing it")                             \
  X(Once, false, "wanted once an element")                                                   \
  X(Hidden, false, "computing it again disappears beside the work of its users")             \
  X(Cheap, false, "computing it again costs less than storing it")                           \
  X(Constant, false, "the same everywhere")                                                  \
  X(Unused, false, "nothing wants it")

enum class FusionReason : uint8_t {
#define REASON(name, stored, text) k##name,
  UNDERSTUDY_FUSION_REASONS(REASON)
#undef REASON
};
bool IsStored(FusionReason reason);
const char* FusionReasonName(FusionReason reason);  // "Dear"
const char* FusionReasonText(FusionReason reason);

struct FusionDecision {
  UOpRef value;
  FusionReason reason = FusionReason::kOnce;
  int places = 0;          // of kernels that want it
  double evaluations = 0;  // how often they would compute it if it were not stored
  // In simple operations: what it costs to compute what is not stored again, beyond once an element; and what
  // storing costs (ScheduleOptions).
  double again = 0, store = 0;
  int item = -1;       // of the schedule: computes what is stored
  bool memory = true;  // false: stored in a kernel's own outputs only, and needs none
};

struct FusionReport {
  std::vector<FusionDecision>
      decisions;  // sources before users; views, parameters and constants are left out
  struct Merge {
    int item = 0;
    std::string kernel;
    std::vector<UOpRef> values;        // one a member
    std::vector<std::string> reasons;  // why it joined; empty for the first
  };
  std::vector<Merge> merges;
};

// "value 12 f32[64,128] ADD: fused: wanted once an element".
std::string FusionText(const FusionReport& report);

}  // namespace understudy
