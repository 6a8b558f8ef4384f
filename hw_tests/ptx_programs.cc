// SPDX-License-Identifier: Apache-2.0
// Random PTX programs on the emulator and, with USE_HW=1, on the first GPU of this machine through libcuda;
// else on the emulator with four host threads. Every word that a program leaves is compared. Links without
// LLVM, so that it can be carried.
//
//   ptx_programs [--seeds=0:900] [--jobs=1] [--seconds=0] [--digest=FILE] [--findings=FOLDER] [--tries=150]
//   (--seeds=3,17: these two; --checked without a GPU: the other side is the emulator with every check set to
//   fail) ptx_programs --text=SEED | --texts=FOLDER     programs, for an assembler ptx_programs --again=FILE
//   [--level=0..4] [--thread=CTA:THREAD]    a kept finding on both sides, the other one compiled with this
//   level of optimisation: its words of a thread (of those that differ)
//   ptx_programs --faults=FOLDER    digests of the folder's programs: emulator, other side, other side at
//   level 0
//
// Ends with 0 if all programs agree. --digest writes what the other side gave, a line a program: tests
// compare with it where there is no GPU. --findings keeps the smallest program of each difference.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "fuzz/ptx_programs/campaign.h"
#include "fuzz/ptx_programs/generate.h"
#include "fuzz/ptx_programs/run.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/base/use_hardware.h"

namespace understudy::ptx_programs {
namespace {

using emu::ptx::conform::Backend;

bool checked = false;

absl::StatusOr<std::unique_ptr<Backend>> OtherSide(int level) {
  if (UseHardware()) return emu::ptx::conform::OpenDriver("", level);
  emu::ptx::LaunchOptions options;
  if (checked) {
    std::string error;
    US_CHECK(options.checks.Parse("all:fail", &error)) << error;
  } else {
    // With a level, an order of its own instead of several host threads.
    options.threads = level < 0 ? 4 : 1;
    options.seed = level < 0 ? 0 : 1;
  }
  return emu::ptx::conform::MakeEmulator(options);
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 2;
}

// Runs a file that --findings wrote, or one in its form.
int Again(const std::string& file, const std::string& thread, int level) {
  const absl::StatusOr<std::string> text = ReadFile(file);
  if (!text.ok()) return Fail(text.status());
  const absl::StatusOr<Program> read = ReadFinding(*text);
  if (!read.ok()) return Fail(read.status());
  const Program& program = *read;
  const auto other = OtherSide(level);
  if (!other.ok()) return Fail(other.status());
  const absl::StatusOr<ProgramData> got = RunProgram(program, *emu::ptx::conform::MakeEmulator()),
                                    want = RunProgram(program, **other);
  std::printf("%s: %s\n", file.c_str(), Disagreement(program, got, want).c_str());
  if (!got.ok() || !want.ok()) return 1;
  unsigned cta = 0, lane = 0;
  const bool one = std::sscanf(thread.c_str(), "%u:%u", &cta, &lane) == 2;
  int shown = 0;
  for (size_t k = 0; k < got->out.size() && shown < 2000; k += kOutWords) {
    const bool differs = !std::equal(&got->out[k], &got->out[k] + kOutWords, &want->out[k]);
    if (one ? k / kOutWords != cta * program.threads() + lane : !differs) continue;
    ++shown;
    std::printf("CTA %zu, thread %zu", k / kOutWords / program.threads(), k / kOutWords % program.threads());
    for (size_t w = 0; w < kOutWords; ++w)
      std::printf("%s%2zu: %08x %08x%s", w % 4 == 0 ? "\n" : "   ", w, got->out[k + w], want->out[k + w],
                  got->out[k + w] == want->out[k + w] ? " " : "*");
    std::printf("\n");
  }
  return 0;
}

// "mad_hi_repeated 01234567 89abcdef 01234567": what each kept program of the folder leaves on the emulator,
// and on the other side with its compiler's own level of optimisation and with level 0.
int Faults(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".ptx") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  const auto emulator = emu::ptx::conform::MakeEmulator();
  const auto other = OtherSide(-1), plain = OtherSide(kLeastLevel);
  if (!other.ok() || !plain.ok()) return Fail(other.ok() ? plain.status() : other.status());
  for (const std::string& name : names) {
    const absl::StatusOr<std::string> text = ReadFile(folder + "/" + name + ".ptx");
    if (!text.ok()) return Fail(text.status());
    const absl::StatusOr<Program> program = ReadFinding(*text);
    if (!program.ok()) return Fail(program.status());
    std::printf("%s", name.c_str());
    for (Backend* backend : {emulator.get(), other->get(), plain->get()}) {
      const auto data = RunProgram(*program, *backend);
      if (!data.ok()) std::fprintf(stderr, "%s: %s\n", name.c_str(), data.status().ToString().c_str());
      std::printf(" %08x", data.ok() ? static_cast<uint32_t>(Digest(*data)) : 0);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

int Main(int argc, char** argv) {
  CampaignOptions options;
  options.reduction_tries = 150;
  std::string digest_file, texts, again, thread, faults;
  int level = -1;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals),
                      value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "--seeds" && value.find(':') != std::string::npos) {
      options.first = std::strtoull(value.c_str(), nullptr, 10);
      options.end =
          std::max<uint64_t>(options.first, std::strtoull(value.c_str() + value.find(':') + 1, nullptr, 10));
    } else if (name == "--seeds") {
      for (size_t at = 0; at < value.size();
           at = value.find(',', at) == std::string::npos ? value.size() : value.find(',', at) + 1)
        options.seeds.push_back(std::strtoull(value.c_str() + at, nullptr, 10));
    } else if (name == "--level") {
      level = std::atoi(value.c_str());
    } else if (name == "--checked") {
      checked = true;
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
    } else if (name == "--again") {
      again = value;
    } else if (name == "--faults") {
      faults = value;
    } else if (name == "--thread") {
      thread = value;
    } else if (name == "--text") {
      std::printf("%s", FindingText(Generate(std::strtoull(value.c_str(), nullptr, 10)), "").c_str());
      return 0;
    } else {
      std::fprintf(stderr, "unknown argument '%s'\n", argv[k]);
      return 2;
    }
  }
  if (!again.empty()) return Again(again, thread, level);
  if (!faults.empty()) return Faults(faults);
  if (!texts.empty()) {
    for (uint64_t seed = options.first; seed < options.end; ++seed) {
      const absl::Status status =
          WriteFile(texts + "/" + std::to_string(seed) + ".ptx", FindingText(Generate(seed), ""));
      if (!status.ok()) return Fail(status);
    }
    return 0;
  }

  const std::vector<SeedResult> results = RunCampaign(options, OtherSide);
  std::map<std::string, std::map<SeedResult::State, int>> counts;
  bool all_agree = true;
  for (size_t k = 0; k < results.size(); ++k) {
    const uint64_t seed = results[k].seed;
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
    const absl::Status status = WriteFile(digest_file, DigestLines(results));
    if (!status.ok()) return Fail(status);
  }
  return all_agree ? 0 : 1;
}

}  // namespace
}  // namespace understudy::ptx_programs

int main(int argc, char** argv) { return understudy::ptx_programs::Main(argc, argv); }
