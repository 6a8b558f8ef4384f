// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs recorded PTX vectors on a backend and says, vector by vector, whether the results agree. Used by the
// conformance tests, the hardware tests, the recorder and `understudy conform`. It prints nothing.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/ptx/conform/backend.h"
#include "emu/ptx/conform/vectors.h"

namespace understudy::emu::ptx::conform {

// All results of a vector, flat: a form's by tuple, a matrix instruction's by [register * lanes + lane],
// sample by sample where they are seeded, the places of a fragment as they are listed, a kernel's buffers as
// 32-bit words, a 1 of a module that loads. Errors are the backend's.
absl::StatusOr<std::vector<uint64_t>> Evaluate(const Vector& vector, Backend& backend);

// Of Evaluate's results, a sample.
std::vector<uint64_t> Hashes(const Seeded& seeded, const std::vector<uint64_t>& results);

struct Difference {
  std::string place;             // "tuple 7 (lane 7)", "register 2 lane 5", "parameter 3 word 12"
  std::vector<uint64_t> inputs;  // of a form, by operand
  uint64_t expected = 0, got = 0;
  int digits = 8;        // hex digits of a result
  bool has_ulp = false;  // floats, both of them numbers
  uint64_t ulp = 0;
};
std::string DifferenceText(const Difference& difference);

struct Outcome {
  enum class Verdict : uint8_t {
    kPass,
    kDifferent,
    kDeviation,    // differs from the recording, and `reason` (of deviations.inc) says why the emulator does
    kRefused,      // `reason`: the emulator names what it does not do
    kNotAccepted,  // `reason`: the parser or the driver does not take the text
    kFaulted,      // `reason`: the kernel faulted
    kUnrecorded,   // the vector has no results to compare with
    kError,        // `reason`: the backend failed otherwise
  };
  Verdict verdict = Verdict::kPass;
  std::string reason;
  uint64_t values = 0, different = 0;  // compared; of those unequal (of digests: blocks)
  uint64_t farthest_ulp = 0;           // of the differences that have one
  std::vector<Difference> first;       // the first kMaxDifferences
};
inline constexpr size_t kMaxDifferences = 8;
inline constexpr int kVerdicts = 8;
const char* VerdictName(Outcome::Verdict verdict);

struct Deviation {
  const char* instruction;
  const char* reason;
};
const std::vector<Deviation>& Deviations();

// `expected` and `got` as Evaluate gives them.
Outcome Compare(const Vector& vector, const std::vector<uint64_t>& expected,
                const std::vector<uint64_t>& got);
// What a failed Evaluate means.
Outcome OutcomeOf(const absl::Status& status);
// Evaluates and compares with what is recorded. On the emulator a difference may be a known deviation.
Outcome RunVector(const Vector& vector, Backend& backend);

}  // namespace understudy::emu::ptx::conform
