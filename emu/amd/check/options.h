// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the strict mode of the emulator looks for, how loudly, and what it found. Whoever starts a dispatch
// fills in CheckOptions (Dispatch::Options::checks) and reads the reports; nothing here looks at a wave.

#include <cstdint>
#include <string>

namespace understudy::emu::amd {

enum class CheckMode : uint8_t {
  kOff,   // costs nothing
  kWarn,  // reported, and the wave goes on
  kFail,  // reported, and the dispatch faults at the instruction
};

enum class CheckKind : uint8_t {
  kWaits,    // results of memory operations used, or overwritten, before a wait counter covered them
  kHazards,  // distances between instructions that the ISA manual leaves to the programmer
  kUninit,   // never-written registers or LDS that reach an address, a branch, EXEC or memory
  kRaces,    // conflicting accesses of two waves without a barrier between them
};
inline constexpr int kCheckKinds = 4;
// "waits", "hazards", "uninit", "races".
const char* CheckKindName(CheckKind kind);

struct CheckOptions {
  CheckMode waits = CheckMode::kOff;
  CheckMode hazards = CheckMode::kOff;
  CheckMode uninit = CheckMode::kOff;
  CheckMode races = CheckMode::kOff;
  // `races` looks at global memory too, between waves of a workgroup and, with races_between_groups, between
  // workgroups (plain accesses only: atomics of any scope order nothing here and race with nothing but plain
  // ones).
  bool races_in_global = true;
  bool races_between_groups = false;
  uint32_t max_reports = 64;  // the first ones are kept; one a pair of instructions

  CheckMode mode(CheckKind kind) const {
    const CheckMode modes[kCheckKinds] = {waits, hazards, uninit, races};
    return modes[static_cast<int>(kind)];
  }
  bool any() const {
    return waits != CheckMode::kOff || hazards != CheckMode::kOff || uninit != CheckMode::kOff ||
           races != CheckMode::kOff;
  }
  // "waits:fail,races:warn"; "all:fail" sets every check. False with the offending part in *error.
  bool Parse(const std::string& text, std::string* error);
};

// One finding: the instruction that is wrong, and the earlier one that it is wrong about (other_pc 0: none).
struct CheckReport {
  CheckKind check = CheckKind::kWaits;
  uint64_t pc = 0, other_pc = 0;
  std::string text, other_text;  // disassembly
  uint32_t workgroup[3] = {0, 0, 0};
  int wave = 0, other_wave = 0;  // in their workgroup
  int lane = -1;                 // the first lane concerned, -1: not one lane
  std::string what;              // "v7", "s[4:5]", "LDS byte 0x40", "address 0x1000"
  std::string message;           // one sentence with all of the above
};

}  // namespace understudy::emu::amd
