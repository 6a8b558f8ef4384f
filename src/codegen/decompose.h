// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stage "decompose": ops and types that a target lacks, or whose corner cases it leaves undefined, become ops
// whose meaning every target shares. Used by LowerKernel; the table can be listed and each row tested alone.

#include <string>
#include <vector>

#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

// One row: an op of some operand types on some targets, and what it becomes.
struct Decomposition {
  const char* name;
  const char* meaning;  // as algebra, for people
  bool (*applies)(const UOp& node, const Target& target);
  UOpRef (*replace)(const UOp& node, const Target& target);
};
const std::vector<Decomposition>& Decompositions();

// Rows applied bottom-up until none applies. Floats narrower than f32 are carried as f32 values that the
// narrow type can hold: an op computes in f32 (MULACC in f64, to odd) and rounds once; memory holds the
// narrow bits.
UOpRef Decompose(const UOpRef& kernel, const Target& target);

}  // namespace understudy
