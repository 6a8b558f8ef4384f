// SPDX-License-Identifier: Apache-2.0
#pragma once
// Optimisation choices: how the ranges of a kernel are split over lanes, work-items and unrolled code. Used
// by LowerKernel, by the heuristic and by searches and tests that list them. A choice never changes what a
// kernel computes; only kGroup and kTensorCore change the order in which a reduction adds up (and a tensor
// core rounds as its manual says).

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

enum class ChoiceKind : uint8_t {
#define CHOICE(name, text) k##name,
#include "src/codegen/choices.inc"
};

// `axis` numbers the kernel's own ranges, and stays the same however often the range is split: output ranges
// in the order of the STORE's ranges, reduce ranges in the order of KernelRanges::reduces (kUnroll, kGroup,
// kPadReduce). `amount` must divide what is left of a range that is split; choices.inc says what it is for
// the others. kTensorCore splits three ranges and comes before every choice but pads, swaps and kNoLocals.
struct Choice {
  ChoiceKind kind = ChoiceKind::kUpcast;
  int axis = 0;
  int64_t amount = 1;
  bool operator==(const Choice&) const = default;
  // "upcast(0,4)"
  std::string Text() const;
};
struct ChoiceList : std::vector<Choice> {
  using std::vector<Choice>::vector;
};

// "upcast(0,4) unroll(1,8)" and back; InvalidArgument names the word that does not parse.
std::string ChoicesText(const ChoiceList& choices);
absl::StatusOr<ChoiceList> ParseChoices(const std::string& text);

// The ranges of a kernel graph.
struct KernelRanges {
  std::vector<UOpRef> outputs;  // of the STOREs, in their order
  std::vector<UOpRef> reduces;  // in order of first appearance in a post-order walk
};
// InvalidArgument when `kernel` is no kernel graph; Unimplemented when its STOREs have different ranges.
absl::StatusOr<KernelRanges> RangesOf(const UOpRef& kernel);

// Whether `choice` may come after `before` on this kernel and target; InvalidArgument (with the choice's text
// and the reason) when it may not.
absl::Status CheckChoice(const UOpRef& kernel, const Target& target, const ChoiceList& before,
                         const Choice& choice);

// Every legal choice that may come after `before`: each kind of choices.inc with each axis and the amounts 2,
// 3, 4, 8, 16, 32, the target's threads and the full ranges up to 64. In the order of kind, axis, amount.
ChoiceList ListChoices(const UOpRef& kernel, const Target& target, const ChoiceList& before);

// Changes with the kinds of choices, the amounts that ListChoices tries, and their limits.
uint64_t ChoiceSetVersion();

// A cheap guess that suits the target: vectors along the contiguous axis and register tiles where operands
// are shared; workgroups and shared reductions where the target has threads.
ChoiceList HeuristicChoices(const UOpRef& kernel, const Target& target);

}  // namespace understudy
