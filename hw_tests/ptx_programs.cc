// SPDX-License-Identifier: Apache-2.0
// Random PTX programs on the emulator and, with USE_HW=1, on the first GPU of this machine through libcuda;
// else on the emulator with four host threads. Every word that a program leaves is compared. Links without
// LLVM, so that it can be carried.
//
//   ptx_programs [--seeds=0:900] [--jobs=1] [--seconds=0] [--digest=FILE] [--findings=FOLDER] [--tries=150]
//   ptx_programs --text=SEED | --texts=FOLDER     programs, for an assembler
//
// Ends with 0 if all programs agree. --digest writes what the other side gave, a line a program: tests
// compare with it where there is no GPU. --findings keeps the smallest program of each difference.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "fuzz/ptx_programs/campaign.h"
#include "fuzz/ptx_programs/generate.h"
#include "src/base/file.h"

namespace understudy::ptx_programs {
namespace {

using emu::ptx::conform::Backend;

absl::StatusOr<std::unique_ptr<Backend>> OtherSide() {
  if (emu::ptx::conform::UseHardware()) return emu::ptx::conform::OpenDriver();
  emu::ptx::LaunchOptions options;
  options.threads = 4;
  return emu::ptx::conform::MakeEmulator(options);
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 2;
}

int Main(int argc, char** argv) {
  CampaignOptions options;
  options.reduction_tries = 150;
  std::string digest_file, texts;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals),
                      value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "--seeds" && value.find(':') != std::string::npos) {
      options.first = std::strtoull(value.c_str(), nullptr, 10);
      options.end =
          std::max<uint64_t>(options.first, std::strtoull(value.c_str() + value.find(':') + 1, nullptr, 10));
    } else if (name == "--jobs") {
      options.jobs = std::max(1, std::atoi(value.c_str()));
    } else if (name == "--seconds") {
      options.seconds = std::atof(value.c_str());
    } else if (name == "--tries") {
      options.reduction_tries = std::atoi(value.c_str());
    } else if (name == "--digest") {
      digest_file = value;
    } else if (name == "--findings") {
      options.folder = value;
    } else if (name == "--texts") {
      texts = value;
    } else if (name == "--text") {
      std::printf("%s", Text(Generate(std::strtoull(value.c_str(), nullptr, 10))).c_str());
      return 0;
    } else {
      std::fprintf(stderr, "unknown argument '%s'\n", argv[k]);
      return 2;
    }
  }
  if (!texts.empty()) {
    for (uint64_t seed = options.first; seed < options.end; ++seed) {
      const absl::Status status =
          WriteFile(texts + "/" + std::to_string(seed) + ".ptx", Text(Generate(seed)));
      if (!status.ok()) return Fail(status);
    }
    return 0;
  }

  const std::vector<SeedResult> results = RunCampaign(options, OtherSide);
  std::map<std::string, std::map<SeedResult::State, int>> counts;
  bool all_agree = true;
  for (size_t k = 0; k < results.size(); ++k) {
    const uint64_t seed = options.first + k;
    const char* const name = ProgramClassName(static_cast<ProgramClass>(seed % kProgramClasses));
    ++counts[name][results[k].state], ++counts["all"][results[k].state];
    if (results[k].state == SeedResult::kAgrees) continue;
    all_agree = false;
    if (results[k].state != SeedResult::kNotRun)
      std::printf("seed %llu (%s): %s\n", static_cast<unsigned long long>(seed), name, results[k].what);
  }
  for (auto& [name, states] : counts)
    std::printf("%-10s %6d agree, %d differ, %d hang or die, %d not run\n", name.c_str(),
                states[SeedResult::kAgrees], states[SeedResult::kDiffers], states[SeedResult::kHung],
                states[SeedResult::kNotRun]);
  if (!digest_file.empty()) {
    const absl::Status status = WriteFile(digest_file, DigestLines(options.first, results));
    if (!status.ok()) return Fail(status);
  }
  return all_agree ? 0 : 1;
}

}  // namespace
}  // namespace understudy::ptx_programs

int main(int argc, char** argv) { return understudy::ptx_programs::Main(argc, argv); }
