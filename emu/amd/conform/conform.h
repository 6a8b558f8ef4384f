// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs recorded instruction vectors on the emulator and says, vector by vector, whether the results agree.
// Used by the conformance tests and by the `understudy conform` command. It prints nothing and decides
// nothing about a disagreement but what exceptions.inc records.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/amd/check/options.h"

namespace understudy::emu::amd::conform {

// One line of a vector file (tests/data/conformance/README.md describes the format).
struct Vector {
  int line = 0;  // in the file, from 1: ids are not unique
  std::string id, gfx;
  int lanes = 1;
  std::vector<uint8_t> program;
  std::vector<uint8_t> body;  // the part of the program under test; empty for kind "mem"
  // The output buffer: its size, and the words expected from its start.
  uint32_t out_bytes = 0;
  std::vector<uint32_t> expected;
  bool is_state = false;  // expected is v0-v15 (each `lanes` words), s0-s15, VCC_LO, SCC, EXEC
};

absl::StatusOr<std::vector<Vector>> LoadVectors(const std::string& path);

struct Difference {
  std::string place;  // "v3 lane 7", "s2", "vcc", "word 12"
  uint32_t expected = 0, got = 0;
};

struct Outcome {
  enum class Verdict : uint8_t {
    kPass,
    kWithinBound,  // differs by at most 1 ulp, in a transcendental
    kException,    // differs or faults, and exceptions.inc says why ours is right
    kDifferent,
    kRefused,  // `reason` names what is not modelled
    kFaulted,  // the wave faulted: `reason`
  };
  Verdict verdict = Verdict::kPass;
  std::string reason;
  std::vector<Difference> differences;
  std::vector<std::string> disassembly;  // of the body, or of the whole program
  std::vector<CheckReport> reports;      // of the strict checks
};
const char* VerdictName(Outcome::Verdict verdict);

// Disassembly is produced only where the verdict is not kPass. `checks` is the strict mode to run in.
Outcome Run(const Vector& vector, const CheckOptions& checks = {});

}  // namespace understudy::emu::amd::conform
