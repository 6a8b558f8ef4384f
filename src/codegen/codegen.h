// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a kernel graph (one SINK over STOREs whose indices are written out) to a linear list of simple ops for
// one target. Used by the devices that compile and by `understudy trace`. Knows a device only as a Target;
// never renders and never runs anything.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/codegen/choices.h"
#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

struct KernelParam {
  int64_t position = 0;
  DType dtype;  // of an element, as the caller's buffer holds it
  bool read = false, written = false;
  bool streamed = false;  // written past the caches, where the renderer can
};

// `ops` executes from first to last: a RANGE opens a loop that the END naming it closes (the last range of an
// END first); the value of a node is that of its latest execution, so a node may occur once in each of
// several loops. Values are bool, integers, f32 and f64 (f16 only in LOAD, STORE and CAST, where the target
// has it); EXP2, LOG2, SIN, FLOORDIV, FLOORMOD and REDUCE are gone, divisors are never zero, shift amounts
// are below the width, and indices are i32 or i64.
struct LinearKernel {
  std::string name;
  std::vector<UOpRef> ops;
  std::array<int64_t, 3> global = {1, 1, 1};  // workgroups
  std::array<int64_t, 3> local = {1, 1, 1};   // work-items of a workgroup
  int64_t local_bytes = 0;
  std::vector<KernelParam> params;  // by position
  std::vector<VarArg> vars;         // by name
  ChoiceList choices;               // those applied
};

// Called after every stage with its name and graph (for "linearize": a SINK over the list).
using StageObserver = std::function<void(const std::string& stage, const UOpRef& graph)>;

// `choices`: nullptr lets the heuristic choose; an empty list applies none. Errors: InvalidArgument names a
// malformed kernel or an illegal choice; Unimplemented what the target cannot express.
absl::StatusOr<LinearKernel> LowerKernel(const UOpRef& kernel, const Target& target,
                                         const ChoiceList* choices = nullptr,
                                         const StageObserver& observer = nullptr);

}  // namespace understudy
