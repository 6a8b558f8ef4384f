// SPDX-License-Identifier: Apache-2.0
#pragma once
// Variables in calls and kernels. A tensor graph names a variable together with its value for one run, as
// BIND(VAR, CONST); a call keeps the VAR only, so that schedule and kernels are the same for all values, and
// the values travel beside it. Used by the stages "call" and "schedule"; nothing here knows a device.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/uop/uop.h"

namespace understudy {

// Name -> value.
using VariableValues = std::map<std::string, int64_t>;

// The graph with VAR in place of BIND(VAR, value); the values are added to `values`. InvalidArgument for a
// name that is bound to two values or has two ranges; FailedPrecondition for a VAR without a value (which
// names it).
absl::StatusOr<UOpRef> Unbind(const UOpRef& root, VariableValues* values);

// The first error of variable sizes among the nodes of the graph.
absl::Status CheckSizes(const UOpRef& root);

// A range over an axis of a tensor-level value: it ends at the axis's length, which is an expression of VARs
// where that is variable (at most the room of the axis). Null for a single element.
UOpRef AxisRange(const UOp& value, size_t axis, int64_t id, AxisKind kind);

// The variables that a graph reads, by name.
std::vector<std::string> VariableNames(const UOpRef& root);

// The values of `names` in their order. FailedPrecondition names one that is missing.
absl::StatusOr<std::vector<int64_t>> ValuesOf(const std::vector<std::string>& names,
                                              const VariableValues& values);

}  // namespace understudy
