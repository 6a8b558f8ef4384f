// SPDX-License-Identifier: Apache-2.0
// `understudy fuzz`: properties that are tried with random inputs until one fails.

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "fuzz/amd_programs/campaign.h"
#include "src/base/status.h"
#include "tools/cli/command.h"
#include "tools/cli/flags.h"
#include "tools/cli/table.h"

ABSL_FLAG(uint64_t, seed, 1, "the first seed");
ABSL_FLAG(uint64_t, runs, 0, "executions to make; 0: no bound");
ABSL_FLAG(double, time, 0, "seconds; 0: no bound");
ABSL_FLAG(int, jobs, 1, "threads");
ABSL_FLAG(std::string, targets, "", "targets, with commas; empty: all");
ABSL_FLAG(std::string, levels, "0,1,3", "optimisation levels, with commas");
ABSL_FLAG(std::string, waves, "32,64", "wave sizes, with commas");
ABSL_FLAG(std::string, keep, ".", "the folder for what fails");

namespace understudy::cli {
namespace {

using nlohmann::json;
using programs::Finding;

absl::StatusOr<std::vector<int>> Numbers(const char* flag, const std::string& list) {
  std::vector<int> numbers;
  for (const auto& word : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    int n = 0;
    if (!absl::SimpleAtoi(word, &n)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, "=", list, ": expected numbers with commas between"));
    }
    numbers.push_back(n);
  }
  return numbers;
}

const char* KindName(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::kDifference:
      return "difference";
    case Finding::Kind::kFault:
      return "fault";
    case Finding::Kind::kNotCompiled:
      return "not compiled";
  }
  return "";
}

// Kernels that a compiler makes of random C, against the host.
absl::StatusOr<int> FuzzPrograms() {
  programs::CampaignOptions options;
  options.seed = absl::GetFlag(FLAGS_seed);
  options.runs = absl::GetFlag(FLAGS_runs);
  options.seconds = absl::GetFlag(FLAGS_time);
  options.jobs = absl::GetFlag(FLAGS_jobs);
  options.folder = absl::GetFlag(FLAGS_keep);
  if (options.jobs < 1 || options.jobs > 256) {
    return absl::InvalidArgumentError(absl::StrCat("--jobs=", options.jobs, ", expected 1 to 256"));
  }
  US_ASSIGN_OR_RETURN(options.levels, Numbers("levels", absl::GetFlag(FLAGS_levels)));
  US_ASSIGN_OR_RETURN(options.waves, Numbers("waves", absl::GetFlag(FLAGS_waves)));
  for (const auto& word : absl::StrSplit(absl::GetFlag(FLAGS_targets), ',', absl::SkipEmpty())) {
    options.targets.emplace_back(word);
  }
  if (options.targets.empty()) options.targets = programs::CampaignTargets();

  Progress progress("programs", static_cast<int>(options.runs));
  US_ASSIGN_OR_RETURN(const programs::CampaignTally tally,
                      programs::RunCampaign(options, [&](const programs::CampaignTally& t) {
                        progress.Update(static_cast<int>(t.runs),
                                        absl::StrCat(Thousands(t.runs), " runs, ",
                                                     Short(static_cast<double>(t.runs) / t.seconds),
                                                     " a second, ", t.findings.size(), " findings"));
                      }));
  progress.Finish();

  const size_t wrong = tally.findings.size() - tally.not_compiled + tally.repeated;
  if (absl::GetFlag(FLAGS_json)) {
    json findings = json::array();
    for (const Finding& f : tally.findings) {
      findings.push_back({{"kind", KindName(f.kind)},
                          {"seed", f.seed},
                          {"target", f.target.target},
                          {"level", f.target.level},
                          {"wave", f.target.wave_size},
                          {"what", f.what},
                          {"file", f.file}});
    }
    std::printf("%s\n", json{{"property", "programs"},
                             {"seed", options.seed},
                             {"kernels", tally.kernels},
                             {"runs", tally.runs},
                             {"wave_instructions", tally.wave_instructions},
                             {"seconds", tally.seconds},
                             {"repeated", tally.repeated},
                             {"findings", findings}}
                            .dump(2)
                            .c_str());
    return wrong == 0 ? 0 : 1;
  }
  for (const Finding& f : tally.findings) {
    std::printf(
        "%s: seed %llu, %s, -O%d, wave%d\n  %s\n  kept in %s; again with: understudy fuzz programs "
        "--seed=%llu --runs=1 "
        "--targets=%s --levels=%d --waves=%d\n%s\n",
        KindName(f.kind), static_cast<unsigned long long>(f.seed), f.target.target.c_str(), f.target.level,
        f.target.wave_size, f.what.c_str(), f.file.c_str(), static_cast<unsigned long long>(f.seed),
        f.target.target.c_str(), f.target.level, f.target.wave_size, f.program.c_str());
  }
  std::printf(
      "programs: %s kernels from seed %llu, %s runs on %s, %s a second: %zu differences and faults, %llu not "
      "compiled\n",
      Thousands(tally.kernels).c_str(), static_cast<unsigned long long>(options.seed),
      Thousands(tally.runs).c_str(), absl::StrJoin(options.targets, " ").c_str(),
      Short(static_cast<double>(tally.runs) / tally.seconds).c_str(), wrong,
      static_cast<unsigned long long>(tally.not_compiled));
  return wrong == 0 ? 0 : 1;
}

// One row a property.
const struct {
  const char* name;
  absl::StatusOr<int> (*run)();
} kProperties[] = {{"programs", FuzzPrograms}};

}  // namespace

absl::StatusOr<int> RunFuzz(const std::vector<std::string>& arguments) {
  std::vector<std::string> names = arguments;
  if (names.empty()) {
    for (const auto& p : kProperties) names.push_back(p.name);
  }
  int code = 0;
  for (const std::string& name : names) {
    const auto* property = std::find_if(std::begin(kProperties), std::end(kProperties),
                                        [&](const auto& p) { return name == p.name; });
    if (property == std::end(kProperties)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "no property '", name, "'; there are: ",
          absl::StrJoin(kProperties, ", ", [](std::string* out, const auto& p) { out->append(p.name); })));
    }
    US_ASSIGN_OR_RETURN(const int one, property->run());
    code = std::max(code, one);
  }
  return code;
}

}  // namespace understudy::cli
