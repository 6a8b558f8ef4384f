// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the checks of the PTX emulator look for and how loudly: compute-sanitizer's jobs, each on its own.
// Whoever starts a launch fills in Checks (LaunchOptions::checks); nothing here looks at a warp.

#include <cstdint>
#include <string>

namespace understudy::emu::ptx {

enum class CheckLevel : uint8_t {
  kOff,   // costs nothing
  kWarn,  // reported, and the launch goes on
  kFail,  // reported, and the launch faults at the instruction
};

enum class CheckKind : uint8_t {
  kUninit,    // never-written values that reach an address, a branch or global memory
  kRaces,     // conflicting accesses of two threads that nothing orders
  kBarriers,  // misuse of barriers, divergent synchronisation
};
inline constexpr int kCheckKinds = 3;
// "uninit", "races", "barriers".
const char* CheckKindName(CheckKind kind);

// Accesses outside every allocation always fault, whatever is chosen here.
struct Checks {
  CheckLevel uninit = CheckLevel::kOff;
  CheckLevel races = CheckLevel::kOff;
  CheckLevel barriers = CheckLevel::kOff;
  // `uninit` looks at fresh device memory too, where the caller keeps LaunchOptions::global_memory.
  bool uninit_global = false;
  uint32_t max_reports = 64;  // the first ones are kept; one a pair of instructions

  CheckLevel level(CheckKind kind) const {
    const CheckLevel levels[kCheckKinds] = {uninit, races, barriers};
    return levels[static_cast<int>(kind)];
  }
  bool any() const {
    return uninit != CheckLevel::kOff || races != CheckLevel::kOff || barriers != CheckLevel::kOff;
  }
  // "races:warn,uninit:fail"; "all" sets every check, "global" adds fresh device memory to `uninit`. Without
  // a level: fail. compute-sanitizer's names of its tools (initcheck, racecheck, synccheck) mean the same,
  // and '=' may stand for ':'. False with the offending part in *error, and nothing changed.
  bool Parse(const std::string& text, std::string* error);
};

}  // namespace understudy::emu::ptx
