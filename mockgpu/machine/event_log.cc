// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/machine/event_log.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace understudy::mockgpu {
namespace {

struct KindText {
  const char *text, *a, *b, *c;
};
constexpr KindText kKinds[] = {
#define MACHINE_EVENT(name, text, a, b, c) {text, a, b, c},
#include "mockgpu/machine/event_kinds.inc"
};

void AppendField(std::string& out, const char* name, uint64_t value) {
  if (name[0] == '-') return;
  absl::StrAppend(&out, " ", name, "=", absl::StrFormat("0x%x", value));
}

}  // namespace

const char* EventKindName(EventKind kind) { return kKinds[static_cast<size_t>(kind)].text; }

std::string EventText(const Event& event, const std::string& actor_name) {
  const KindText& kind = kKinds[static_cast<size_t>(event.kind)];
  std::string out = absl::StrCat(event.time_ns, " ns  ", actor_name, ": ", kind.text);
  AppendField(out, kind.a, event.a);
  AppendField(out, kind.b, event.b);
  AppendField(out, kind.c, event.c);
  return out;
}

}  // namespace understudy::mockgpu
