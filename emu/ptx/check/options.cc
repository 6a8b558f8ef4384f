// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/check/options.h"

namespace understudy::emu::ptx {
namespace {

constexpr const char* kKindNames[kCheckKinds] = {"uninit", "races", "barriers"};
constexpr const char* kToolNames[kCheckKinds] = {"initcheck", "racecheck", "synccheck"};

}  // namespace

const char* CheckKindName(CheckKind kind) { return kKindNames[static_cast<int>(kind)]; }

bool Checks::Parse(const std::string& text, std::string* error) {
  Checks next = *this;
  CheckLevel* const levels[kCheckKinds] = {&next.uninit, &next.races, &next.barriers};
  for (size_t at = 0; at < text.size();) {
    size_t comma = text.find(',', at);
    if (comma == std::string::npos) comma = text.size();
    const std::string part = text.substr(at, comma - at);
    at = comma + 1;
    if (part.empty()) continue;
    const size_t colon = part.find_first_of(":=");
    const std::string name = part.substr(0, colon);
    const std::string value = colon == std::string::npos ? "fail" : part.substr(colon + 1);
    CheckLevel level;
    if (value == "off") {
      level = CheckLevel::kOff;
    } else if (value == "warn") {
      level = CheckLevel::kWarn;
    } else if (value == "fail") {
      level = CheckLevel::kFail;
    } else {
      *error = "check '" + part + "': expected NAME, NAME:off, NAME:warn or NAME:fail";
      return false;
    }
    bool known = false;
    for (int i = 0; i < kCheckKinds; ++i) {
      if (name != "all" && name != kKindNames[i] && name != kToolNames[i]) continue;
      *levels[i] = level;
      known = true;
    }
    if (name == "uninitialized") {
      next.uninit = level;
      known = true;
    }
    if (name == "global") {
      next.uninit_global = level != CheckLevel::kOff;
      if (next.uninit_global) next.uninit = level;
      known = true;
    }
    if (!known) {
      *error = "check '" + name + "' is unknown, expected uninit, global, races, barriers or all";
      return false;
    }
  }
  *this = next;
  return true;
}

}  // namespace understudy::emu::ptx
