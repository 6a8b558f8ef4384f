// SPDX-License-Identifier: Apache-2.0
#include "fuzz/ptx_programs/campaign.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "absl/strings/str_format.h"
#include "fuzz/ptx_programs/generate.h"
#include "fuzz/ptx_programs/run.h"
#include "src/base/file.h"
#include "src/base/status.h"

namespace understudy::ptx_programs {
namespace {

using emu::ptx::conform::Backend;
using Clock = std::chrono::steady_clock;

// What the processes share.
struct Worker {
  std::atomic<int64_t> at{-1};         // which result it makes now
  std::atomic<int64_t> started_ms{0};  // of the campaign's time
};
struct Shared {
  std::atomic<uint64_t> next{0};
};

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const OtherBackend& other)
      : options_(options),
        other_(other),
        count_(options.seeds.empty() ? options.end - options.first : options.seeds.size()),
        start_(Clock::now()) {
    shared_ = Map<Shared>(1);
    workers_ = Map<Worker>(static_cast<size_t>(options.jobs));
    results_ = Map<SeedResult>(count_);
    for (size_t k = 0; k < count_; ++k)
      results_[k].seed = options.seeds.empty() ? options.first + k : options.seeds[k];
  }

  std::vector<SeedResult> Run() {
    std::vector<pid_t> children(static_cast<size_t>(options_.jobs));
    std::vector<bool> running(children.size(), true);
    for (size_t k = 0; k < children.size(); ++k) children[k] = Fork(k);
    while (std::count(running.begin(), running.end(), true) > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (size_t k = 0; k < children.size(); ++k) {
        if (!running[k]) continue;
        Worker& worker = workers_[k];
        int status = 0;
        const bool ended = waitpid(children[k], &status, WNOHANG) == children[k];
        if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
          running[k] = false;
          continue;
        }
        const int64_t at = worker.at;
        const bool hangs =
            !ended && at >= 0 && Milliseconds() - worker.started_ms > 1000 * options_.program_seconds;
        if (!ended && !hangs) continue;
        if (hangs) kill(children[k], SIGKILL), waitpid(children[k], &status, 0);
        if (at < 0) {  // it ended before its first program: so would the next one
          running[k] = false;
          continue;
        }
        // One that has its result went on to reduce, or gave up its context.
        SeedResult& result = results_[static_cast<size_t>(at)];
        if (result.state == SeedResult::kNotRun) {
          result.state = SeedResult::kHung;
          std::snprintf(result.what, sizeof(result.what), "%s", hangs ? "hangs" : "its process died");
        }
        children[k] = Fork(k);
      }
    }
    return {results_, results_ + count_};
  }

 private:
  template <class T>
  static T* Map(size_t count) {
    void* const memory = mmap(nullptr, std::max<size_t>(count, 1) * sizeof(T), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    US_CHECK(memory != MAP_FAILED) << "no memory for " << count << " results";
    T* const first = static_cast<T*>(memory);
    for (size_t k = 0; k < count; ++k) new (first + k) T();
    return first;
  }
  int64_t Milliseconds() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_).count();
  }

  pid_t Fork(size_t k) {
    workers_[k].at = -1;
    std::fflush(nullptr);
    const pid_t child = fork();
    US_CHECK(child >= 0) << "fork fails";
    if (child == 0) _exit(Work(workers_[k]) ? 0 : 1);
    return child;
  }

  bool Work(Worker& worker) {
    const auto other = other_(-1), plain = other_(kLeastLevel);
    for (const auto* backend : {&other, &plain}) {
      if (backend->ok()) continue;
      std::fprintf(stderr, "%s\n", backend->status().ToString().c_str());
      return false;
    }
    emu::ptx::LaunchOptions launch_options;
    launch_options.instruction_budget = 1 << 24;
    const std::unique_ptr<Backend> emulator = emu::ptx::conform::MakeEmulator(launch_options);
    int reductions = 0;
    for (;;) {
      if (options_.seconds > 0 && Milliseconds() > 1000 * options_.seconds) return true;
      const uint64_t at = shared_->next++;
      if (at >= count_) return true;
      worker.started_ms = Milliseconds();
      worker.at = static_cast<int64_t>(at);
      const Program program = Generate(results_[at].seed);
      const absl::StatusOr<ProgramData> want = RunProgram(program, **other);
      const absl::StatusOr<ProgramData> got = RunProgram(program, *emulator);
      const absl::StatusOr<ProgramData> unoptimised = RunProgram(program, **plain);
      std::string what = Disagreement(program, got, want);
      const std::string plain_what = Disagreement(program, got, unoptimised);
      if (!what.empty())
        what += plain_what.empty() ? "; not without optimisation" : "; without optimisation too";
      else if (!plain_what.empty())
        what = plain_what + "; without optimisation only";
      SeedResult& result = results_[at];
      result.text = static_cast<uint32_t>(Digest(Text(program)));
      if (want.ok()) result.digest = static_cast<uint32_t>(Digest(*want));
      std::snprintf(result.what, sizeof(result.what), "%s", what.c_str());
      result.state = what.empty() ? SeedResult::kAgrees : SeedResult::kDiffers;
      // A kernel that faults takes more of the driver along than a new context brings back.
      if (absl::IsAborted(want.status()) || absl::IsAborted(unoptimised.status())) return false;
      if (what.empty() || options_.folder.empty() || reductions++ >= options_.most_reductions) continue;
      Keep(program, **other, **plain, worker);
    }
  }

  void Keep(const Program& program, Backend& other, Backend& plain, Worker& worker) {
    // Checked, as a program without some of its lines may read what nothing has set, or write what others
    // read.
    emu::ptx::LaunchOptions launch_options;
    launch_options.instruction_budget = 1 << 22;
    launch_options.checks.uninit = launch_options.checks.races = launch_options.checks.barriers =
        emu::ptx::CheckLevel::kFail;
    const std::unique_ptr<Backend> emulator = emu::ptx::conform::MakeEmulator(launch_options);
    // Which of the two differ.
    const auto verdict = [&](const Program& candidate) {
      worker.started_ms = Milliseconds();
      const absl::StatusOr<ProgramData> got = RunProgram(candidate, *emulator);
      if (!got.ok()) return std::make_pair(false, false);
      const absl::StatusOr<ProgramData> want = RunProgram(candidate, other);
      if (!want.ok()) return std::make_pair(false, false);
      return std::make_pair(!FirstDifference(candidate, *got, *want).empty(),
                            !Disagreement(candidate, got, RunProgram(candidate, plain)).empty());
    };
    const std::pair<bool, bool> wanted = verdict(program);
    if (!wanted.first && !wanted.second) return;
    const auto holds = [&](const Program& candidate) { return verdict(candidate) == wanted; };
    Program reduced = ReduceProgram(program, options_.reduction_tries, holds);
    reduced = ReduceProgram(OneNodePerLine(reduced), options_.reduction_tries, holds);
    const absl::StatusOr<ProgramData> got = RunProgram(reduced, *emulator);
    std::string what = Disagreement(reduced, got, RunProgram(reduced, other));
    for (int level = kLeastLevel; level <= kMostLevel; ++level) {
      const auto backend = other_(level);
      if (!backend.ok()) continue;
      const std::string difference = Disagreement(reduced, got, RunProgram(reduced, **backend));
      absl::StrAppend(&what, "\n// level ", level, ": ", difference.empty() ? "agrees" : difference);
    }
    const std::string text = FindingText(reduced, what);
    const absl::Status status = WriteFile(absl::StrFormat("%s/%d.ptx", options_.folder, program.seed), text);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  }

  const CampaignOptions options_;
  const OtherBackend& other_;
  const uint64_t count_;
  const Clock::time_point start_;
  Shared* shared_;
  Worker* workers_;
  SeedResult* results_;
};

}  // namespace

std::vector<SeedResult> RunCampaign(const CampaignOptions& options, const OtherBackend& other) {
  return Campaign(options, other).Run();
}

std::string FindingText(const Program& program, const std::string& what) {
  return absl::StrFormat("// seed %d (%s), grid %d, block %d %d %d, shared %d\n// %s\n%s", program.seed,
                         ProgramClassName(program.kind), program.grid, program.block[0], program.block[1],
                         program.block[2], program.dynamic_shared, what, Text(program));
}

std::string DigestLines(const std::vector<SeedResult>& results) {
  std::string text;
  for (const SeedResult& result : results) {
    if (result.digest == 0) continue;
    absl::StrAppendFormat(&text, "%d %s %08x %08x\n", result.seed,
                          ProgramClassName(static_cast<ProgramClass>(result.seed % kProgramClasses)),
                          result.text, result.digest);
  }
  return text;
}

}  // namespace understudy::ptx_programs
