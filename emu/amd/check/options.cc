// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/check/options.h"

namespace understudy::emu::amd {
namespace {

constexpr const char* kKindNames[kCheckKinds] = {"waits", "hazards", "uninit", "races"};

}  // namespace

const char* CheckKindName(CheckKind kind) { return kKindNames[static_cast<int>(kind)]; }

bool CheckOptions::Parse(const std::string& text, std::string* error) {
  CheckMode* const modes[kCheckKinds] = {&waits, &hazards, &uninit, &races};
  for (size_t at = 0; at <= text.size();) {
    size_t comma = text.find(',', at);
    if (comma == std::string::npos) comma = text.size();
    const std::string part = text.substr(at, comma - at);
    at = comma + 1;
    const size_t colon = part.find(':');
    const std::string name = part.substr(0, colon),
                      value = colon == std::string::npos ? "" : part.substr(colon + 1);
    CheckMode mode;
    if (value == "off") {
      mode = CheckMode::kOff;
    } else if (value == "warn") {
      mode = CheckMode::kWarn;
    } else if (value == "fail") {
      mode = CheckMode::kFail;
    } else {
      *error = "check '" + part + "': expected NAME:off, NAME:warn or NAME:fail";
      return false;
    }
    bool known = false;
    for (int i = 0; i < kCheckKinds; ++i) {
      if (name != "all" && name != kKindNames[i]) continue;
      *modes[i] = mode;
      known = true;
    }
    if (!known) {
      *error = "check '" + name + "' is unknown, expected waits, hazards, uninit, races or all";
      return false;
    }
  }
  return true;
}

}  // namespace understudy::emu::amd
