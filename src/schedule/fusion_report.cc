// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/fusion_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace understudy {
namespace {

struct ReasonInfo {
  const char* name;
  bool stored;
  const char* text;
};
constexpr ReasonInfo kReasons[] = {
#define REASON(name, stored, text) {#name, stored, text},
    UNDERSTUDY_FUSION_REASONS(REASON)
#undef REASON
};

std::string ValueText(const UOp& u) {
  return absl::StrCat(u.dtype().Name(), "[", absl::StrJoin(u.shape(), ","), "] ", OpName(u.op()));
}

}  // namespace

bool IsStored(FusionReason reason) { return kReasons[static_cast<int>(reason)].stored; }
const char* FusionReasonName(FusionReason reason) { return kReasons[static_cast<int>(reason)].name; }
const char* FusionReasonText(FusionReason reason) { return kReasons[static_cast<int>(reason)].text; }

std::string FusionText(const FusionReport& report) {
  std::string out;
  for (size_t i = 0; i < report.decisions.size(); ++i) {
    const FusionDecision& d = report.decisions[i];
    const bool stored = IsStored(d.reason);
    absl::StrAppend(&out, "value ", i, " ", ValueText(*d.value), ": ",
                    !stored     ? std::string("fused")
                    : !d.memory ? absl::StrCat("in kernel ", d.item)
                                : absl::StrCat("stored by item ", d.item),
                    ": ", FusionReasonText(d.reason));
    if (d.reason == FusionReason::kDear || d.reason == FusionReason::kCheap ||
        d.reason == FusionReason::kHidden)
      absl::StrAppend(&out,
                      absl::StrFormat(" (%d places, again %.4g, store %.4g)", d.places, d.again, d.store));
    out += "\n";
  }
  for (const FusionReport::Merge& m : report.merges) {
    absl::StrAppend(&out, "item ", m.item, " ", m.kernel, ": ", m.values.size(), " values\n");
    for (size_t i = 0; i < m.values.size(); ++i) {
      absl::StrAppend(&out, "  ", ValueText(*m.values[i]), m.reasons[i].empty() ? "" : ": ", m.reasons[i],
                      "\n");
    }
  }
  return out;
}

}  // namespace understudy
