// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random kernels, compiled for every target and for the host, run on the emulator and compared: without end,
// until a bound. A difference is reduced to a small kernel and kept. Used by `understudy fuzz programs`.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/amd_programs/compile.h"

namespace understudy::programs {

struct CampaignOptions {
  uint64_t seed = 1;   // of the first kernel; the next ones follow
  uint64_t runs = 0;   // kernel x target x level runs to make at least; 0: no bound
  double seconds = 0;  // 0: no bound
  int jobs = 1;        // threads
  int unit = 24;       // kernels a compilation
  std::vector<std::string> targets;
  std::vector<int> levels = {0, 1, 3};
  std::vector<int> waves = {32, 64};  // for RDNA; CDNA has 64
  std::string folder = ".";           // where kernels that differ are kept
  int most_findings = 10;             // then it ends
};

struct Finding {
  enum class Kind : uint8_t { kDifference, kFault, kNotCompiled };
  Kind kind = Kind::kDifference;
  uint64_t seed = 0;
  CompileTarget target;
  std::string what;     // the first difference, the fault, or the compiler's words
  std::string program;  // reduced
  std::string file;     // where it is kept
};

struct CampaignTally {
  uint64_t runs = 0, kernels = 0, wave_instructions = 0, not_compiled = 0,
           repeated = 0;  // more of what is among the findings: of the same kernel, or the same fault
  double seconds = 0;
  std::vector<Finding> findings;
};

// `progress` is called from one thread at a time, now and then. Errors: no compiler, no such target, no
// folder.
absl::StatusOr<CampaignTally> RunCampaign(const CampaignOptions& options,
                                          const std::function<void(const CampaignTally&)>& progress);

// The targets that the emulator runs.
std::vector<std::string> CampaignTargets();

}  // namespace understudy::programs
