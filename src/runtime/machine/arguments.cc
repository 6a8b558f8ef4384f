// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/machine/arguments.h"

#include "absl/strings/str_cat.h"

namespace understudy {

absl::Status CheckArguments(const machine::MachineKernel& k, size_t buffers, absl::Span<const int64_t> vars) {
  const size_t needed = k.params.empty() ? 0 : static_cast<size_t>(k.params.back().position) + 1;
  if (buffers < needed)
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", k.name, ": ", buffers, " buffers, expected ", needed));
  if (vars.size() != k.vars.size())
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", k.name, ": ", vars.size(), " variables, expected ", k.vars.size()));
  for (size_t i = 0; i < vars.size(); ++i) {
    const VarArg& v = k.vars[i];
    if (vars[i] < v.min || vars[i] > v.max)
      return absl::OutOfRangeError(absl::StrCat("kernel ", k.name, ": variable ", v.name, " = ", vars[i],
                                                ", expected [", v.min, ", ", v.max, "]"));
  }
  return absl::OkStatus();
}

}  // namespace understudy
