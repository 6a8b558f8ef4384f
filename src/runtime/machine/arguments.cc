// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/machine/arguments.h"

#include "absl/strings/str_cat.h"
#include "src/uop/graph.h"

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

ChoiceList MachineChoices(const UOpRef& kernel, const Target& target) {
  ChoiceList choices = HeuristicChoices(kernel, target);
  if (!choices.empty() || !uop::NodesOf(kernel, Op::kReduce).empty()) return choices;
  const Choice* best = nullptr;
  const ChoiceList legal = ListChoices(kernel, target, choices);
  for (const Choice& c : legal) {
    if (c.kind != ChoiceKind::kVectorize || c.amount * 4 > target.max_vector_bytes) continue;
    if (best == nullptr || c.axis > best->axis || (c.axis == best->axis && c.amount > best->amount))
      best = &c;
  }
  if (best != nullptr) choices.push_back(*best);
  return choices;
}

}  // namespace understudy
