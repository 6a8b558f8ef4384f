// SPDX-License-Identifier: Apache-2.0
#pragma once
// Many random programs on the emulator and on another backend at once, in processes of their own, since a
// driver compiles on one thread a context and a faulting or hanging kernel takes its context along. Used by
// hw_tests; needs fork().

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/ptx/conform/backend.h"
#include "fuzz/ptx_programs/program.h"

namespace understudy::ptx_programs {

struct CampaignOptions {
  uint64_t first = 0, end = 900;  // seeds
  std::vector<uint64_t> seeds;    // set: these instead
  int jobs = 1;
  double program_seconds = 20;  // after which a program counts as hung
  double seconds = 0;           // after which no more programs are begun; 0: no bound
  int reduction_tries = 0;      // of each difference, by statements and again by lines
  int most_reductions = 6;      // in each process
  std::string folder;           // of reduced programs; none: no reductions
};

struct SeedResult {
  enum State : uint32_t { kNotRun, kAgrees, kDiffers, kHung };
  State state = kNotRun;
  uint64_t seed = 0;
  uint32_t text = 0,
           digest = 0;  // low halves of the text's digest and of the digest of the other backend's results
  char what[200] = {};  // the first difference
};

// The backend that the emulator is compared with, whose compiler optimises by the given level (negative: by
// its own choice). Called in each process.
using OtherBackend = std::function<absl::StatusOr<std::unique_ptr<emu::ptx::conform::Backend>>(int level)>;
constexpr int kLeastLevel = 0, kMostLevel = 4;

// Results in the order of the seeds. Each program runs with the other side's own level and with the least
// one: what differs with only one of them is the compiler's doing, and is said so. Reductions keep to that.
std::vector<SeedResult> RunCampaign(const CampaignOptions& options, const OtherBackend& other);

// A program with its launch and what is said of it as comments before its text.
std::string FindingText(const Program& program, const std::string& what);

// A line for each seed: "0 straight 1b2c3d4e 5f607182": the seed, its class, the digests of its text and of
// what it left. Only of seeds whose results a backend has given.
std::string DigestLines(const std::vector<SeedResult>& results);

}  // namespace understudy::ptx_programs
