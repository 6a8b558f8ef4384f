// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/campaign.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "emu/amd/isa/opcode.h"
#include "fuzz/amd_programs/emulate.h"
#include "fuzz/amd_programs/generate.h"
#include "fuzz/amd_programs/reduce.h"
#include "src/base/file.h"
#include "src/base/status.h"

namespace understudy::programs {
namespace {

constexpr uint32_t kDataSeed = 7, kGroup[3] = {kProgramGroup, 1, 1};
constexpr int kReductions = 200;

absl::Span<const uint8_t> Bytes(const std::string& s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

std::vector<CompileTarget> Builds(const CampaignOptions& options) {
  std::vector<CompileTarget> builds;
  for (const std::string& target : options.targets) {
    emu::amd::Isa isa = emu::amd::Isa::kRdna3;
    emu::amd::IsaOfTarget(target.c_str(), &isa);
    const std::vector<int> waves = emu::amd::IsCdna(isa) ? std::vector<int>{64} : options.waves;
    for (const int level : options.levels) {
      for (const int wave : waves) builds.push_back({target, level, wave});
    }
  }
  return builds;
}

struct Outcome {
  bool agrees = true;
  Finding::Kind kind = Finding::Kind::kDifference;
  std::string what;
};

// A fault's message without its numbers and the kernel's name.
std::string Letters(const std::string& message, const std::string& name) {
  std::string letters;
  const size_t at = message.find(name);
  for (const char c : at == std::string::npos ? message : message.substr(at + name.size())) {
    if (c >= 'A') letters += c;
  }
  return letters;
}

// One kernel, host against emulator.
Outcome Compare(EmulatedObject& object, const std::string& name, const ProgramData& want,
                uint64_t* instructions) {
  ProgramData got = MakeProgramData(kDataSeed);
  emu::amd::Dispatch::Stats stats;
  const absl::Status status = object.RunProgram(name, kGroup, &got, &stats);
  *instructions += stats.wave_instructions;
  if (!status.ok()) return {false, Finding::Kind::kFault, std::string(status.message())};
  const std::string difference = FirstDifference(got, want);
  return {difference.empty(), Finding::Kind::kDifference, difference};
}

// A thread of the campaign: its compiler, and what it shares with the others.
class Worker {
 public:
  struct Shared {
    Shared(const CampaignOptions& o, std::vector<CompileTarget> b,
           const std::function<void(const CampaignTally&)>& p)
        : options(o), builds(std::move(b)), progress(p) {}
    const CampaignOptions& options;
    const std::vector<CompileTarget> builds;
    const std::function<void(const CampaignTally&)>& progress;
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    std::atomic<uint64_t> next_unit = 0;
    std::atomic<bool> stop = false;
    std::mutex mutex;  // of all below
    CampaignTally tally;
    std::set<std::string> seen;
    absl::Status error;

    double Elapsed() const {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  };

  explicit Worker(Shared* shared) : shared_(*shared) {}

  void Work() {
    absl::StatusOr<std::unique_ptr<Compiler>> compiler = Compiler::Create();
    if (!compiler.ok()) return Fail(compiler.status());
    compiler_ = std::move(*compiler);
    while (!shared_.stop) {
      const uint64_t unit = shared_.next_unit++;
      const uint64_t size = static_cast<uint64_t>(shared_.options.unit);
      if (absl::Status status = Unit(shared_.options.seed + unit * size); !status.ok()) return Fail(status);
    }
  }

 private:
  void Fail(const absl::Status& status) {
    const std::lock_guard lock(shared_.mutex);
    if (shared_.error.ok()) shared_.error = status;
    shared_.stop = true;
  }

  // The kernels with the seeds from `first` on, for every build.
  absl::Status Unit(uint64_t first) {
    int size = shared_.options.unit;
    if (shared_.options.runs != 0) {  // no more kernels than are asked for
      const uint64_t builds = shared_.builds.size();
      const uint64_t wanted = (shared_.options.runs + builds - 1) / builds,
                     before = first - shared_.options.seed;
      if (before >= wanted) {
        shared_.stop = true;
        return absl::OkStatus();
      }
      size = static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(size), wanted - before));
    }
    std::vector<Program> programs;
    std::string text = "\n";
    for (int k = 0; k < size; ++k) {
      programs.push_back(Generate(first + static_cast<uint64_t>(k)));
      text += Text(programs.back());
    }
    // The host's results, for each wave size.
    US_ASSIGN_OR_RETURN(const auto host, compiler_->ForHost(text, size));
    std::map<int, std::vector<ProgramData>> want;
    for (const CompileTarget& build : shared_.builds) {
      std::vector<ProgramData>& list = want[build.wave_size];
      for (size_t k = list.size(); k < programs.size(); ++k) {
        const HostKernelFn kernel = host->Find(programs[k].name);
        US_CHECK(kernel != nullptr) << programs[k].name;
        list.push_back(MakeProgramData(kDataSeed));
        US_RETURN_IF_ERROR(RunOnHost(kernel, build.wave_size, &list.back()));
      }
    }
    for (const CompileTarget& build : shared_.builds) {
      if (shared_.stop) return absl::OkStatus();
      const absl::StatusOr<std::string> file = compiler_->ForDevice(text, size, build);
      if (file.ok()) {
        US_RETURN_IF_ERROR(Compile(*file, programs, want[build.wave_size], build));
      } else {  // find which of them it is
        for (size_t k = 0; k < programs.size() && !shared_.stop; ++k) {
          const absl::StatusOr<std::string> one = compiler_->ForDevice("\n" + Text(programs[k]), 1, build);
          if (one.ok()) {
            US_RETURN_IF_ERROR(Compile(*one, {programs[k]}, {want[build.wave_size][k]}, build));
          } else {
            Report(programs[k], build,
                   {false, Finding::Kind::kNotCompiled, std::string(one.status().message())});
          }
        }
      }
    }
    const std::lock_guard lock(shared_.mutex);
    shared_.tally.kernels += programs.size();
    return absl::OkStatus();
  }

  absl::Status Compile(const std::string& file, const std::vector<Program>& programs,
                       const std::vector<ProgramData>& want, const CompileTarget& build) {
    US_ASSIGN_OR_RETURN(const auto object, EmulatedObject::Load(Bytes(file)));
    uint64_t instructions = 0;
    for (size_t k = 0; k < programs.size(); ++k) {
      const Outcome outcome = Compare(*object, programs[k].name, want[k], &instructions);
      if (!outcome.agrees) Report(programs[k], build, outcome);
    }
    const std::lock_guard lock(shared_.mutex);
    CampaignTally& tally = shared_.tally;
    tally.runs += programs.size(), tally.wave_instructions += instructions, tally.seconds = shared_.Elapsed();
    if (shared_.progress) shared_.progress(tally);
    if (shared_.options.seconds != 0 && tally.seconds > shared_.options.seconds) shared_.stop = true;
    return absl::OkStatus();
  }

  // What becomes of one program alone.
  Outcome Alone(const Program& program, const CompileTarget& build) {
    const std::string text = "\n" + Text(program);
    const auto device = compiler_->ForDevice(text, 1, build);
    if (!device.ok()) return {false, Finding::Kind::kNotCompiled, std::string(device.status().message())};
    const auto host = compiler_->ForHost(text, 1);
    const auto object = EmulatedObject::Load(Bytes(*device));
    const HostKernelFn kernel = host.ok() ? (*host)->Find(program.name) : nullptr;
    ProgramData want = MakeProgramData(kDataSeed);
    if (!object.ok() || kernel == nullptr || !RunOnHost(kernel, build.wave_size, &want).ok()) return {};
    uint64_t instructions = 0;
    return Compare(**object, program.name, want, &instructions);
  }

  void Report(const Program& program, const CompileTarget& build, const Outcome& outcome) {
    {  // one difference of a kernel, and one fault of a kind, are enough
      const std::string key = outcome.kind == Finding::Kind::kFault ? Letters(outcome.what, program.name)
                                                                    : absl::StrCat("seed ", program.seed);
      const std::lock_guard lock(shared_.mutex);
      if (!shared_.seen.insert(key).second) {
        if (outcome.kind != Finding::Kind::kNotCompiled) ++shared_.tally.repeated;
        return;
      }
    }
    Finding finding{outcome.kind, program.seed, build, outcome.what, "", ""};
    const Program reduced = Reduce(program, kReductions, [&](const Program& candidate) {
      const Outcome o = Alone(candidate, build);
      return !o.agrees && o.kind == outcome.kind;
    });
    const Outcome last = Alone(reduced, build);
    if (!last.agrees) finding.what = last.what;
    finding.program = Text(reduced);
    finding.file = absl::StrCat(shared_.options.folder, "/program_", program.seed, "_", build.target, "_O",
                                build.level, "_w", build.wave_size, ".c");
    const absl::Status kept = WriteFile(
        finding.file,
        absl::StrCat("// ", build.target, ", -O", build.level, ", wave", build.wave_size, ", seed ",
                     program.seed, "\n#include \"fuzz/amd_programs/support.h\"\n", finding.program));
    if (!kept.ok()) return Fail(kept);
    const std::lock_guard lock(shared_.mutex);
    if (finding.kind == Finding::Kind::kNotCompiled) ++shared_.tally.not_compiled;
    shared_.tally.findings.push_back(std::move(finding));
    if (static_cast<int>(shared_.tally.findings.size()) >= shared_.options.most_findings) shared_.stop = true;
  }

  Shared& shared_;
  std::unique_ptr<Compiler> compiler_;
};

}  // namespace

std::vector<std::string> CampaignTargets() {
  return {"gfx1100", "gfx1150", "gfx1200", "gfx1201", "gfx90a", "gfx942", "gfx950"};
}

absl::StatusOr<CampaignTally> RunCampaign(const CampaignOptions& options,
                                          const std::function<void(const CampaignTally&)>& progress) {
  for (const std::string& target : options.targets) {
    emu::amd::Isa isa;
    if (!emu::amd::IsaOfTarget(target.c_str(), &isa)) {
      return absl::InvalidArgumentError(absl::StrCat("target '", target, "' is none that the emulator runs"));
    }
  }
  for (const int level : options.levels) {
    if (level < 0 || level > 3)
      return absl::InvalidArgumentError(absl::StrCat("level ", level, ", expected 0 to 3"));
  }
  for (const int wave : options.waves) {
    if (wave != 32 && wave != 64)
      return absl::InvalidArgumentError(absl::StrCat("wave size ", wave, ", expected 32 or 64"));
  }
  if (!std::filesystem::is_directory(options.folder)) {
    return absl::NotFoundError(absl::StrCat("no folder '", options.folder, "'"));
  }
  Worker::Shared shared(options, Builds(options), progress);
  if (shared.builds.empty())
    return absl::InvalidArgumentError("nothing to compile for: no target, level or wave size");
  std::vector<std::thread> threads;
  for (int k = 0; k < options.jobs; ++k) threads.emplace_back([&shared] { Worker(&shared).Work(); });
  for (std::thread& t : threads) t.join();
  if (!shared.error.ok()) return shared.error;
  shared.tally.seconds = shared.Elapsed();
  return shared.tally;
}

}  // namespace understudy::programs
