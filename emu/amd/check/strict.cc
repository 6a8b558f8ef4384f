// SPDX-License-Identifier: Apache-2.0
// The observer that runs the checks of one dispatch, each over the waves that it concerns.

#include <memory>
#include <vector>

#include "absl/strings/str_format.h"
#include "emu/amd/check/facts.h"
#include "emu/amd/check/hazards.h"
#include "emu/amd/check/observer.h"
#include "emu/amd/check/report_sink.h"
#include "emu/amd/check/waits.h"
#include "emu/amd/core/access_log.h"

namespace understudy::emu::amd::check {
namespace {

class Strict : public Observer {
 public:
  Strict(Isa isa, int wave_size, const CheckOptions& options, uint32_t fill)
      : options_(options), program_(wave_size), sink_(options) {
    static_cast<void>(isa);
    static_cast<void>(fill);
  }

  void CodeChanged() override { program_.CodeChanged(); }

  void StartGroup(const std::vector<WaveState*>& waves) override {
    for (WaveState* wave : waves) {
      if (waves_.size() <= wave->wave_slot) waves_.resize(wave->wave_slot + 1);
      std::unique_ptr<Shadow>& shadow = waves_[wave->wave_slot];
      if (shadow == nullptr) shadow = std::make_unique<Shadow>(&sink_);
      shadow->waits.Start();
      shadow->hazards.Start();
      wave->access_log = &log_;
    }
  }

  void EndGroup(const std::vector<WaveState*>& waves) override {
    for (WaveState* wave : waves) wave->access_log = nullptr;
  }

  void Barrier(const std::vector<WaveState*>& waves) override { static_cast<void>(waves); }

  ExecResult Before(const Inst& inst, ExecFn fn, WaveState& wave) override {
    current_ = &program_.At(inst, fn, wave);
    Shadow& shadow = *waves_[wave.wave_slot];
    exec_ = wave.exec();
    log_.entries.clear();
    if (options_.waits != CheckMode::kOff && shadow.waits.Before(*current_, wave) == ExecResult::kFault) {
      return ExecResult::kFault;
    }
    if (options_.hazards != CheckMode::kOff && shadow.hazards.Before(*current_, wave) == ExecResult::kFault) {
      return ExecResult::kFault;
    }
    return ExecResult::kNext;
  }

  ExecResult After(const Inst&, uint64_t pc, ExecResult result, WaveState& wave) override {
    static_cast<void>(pc);
    static_cast<void>(result);
    Shadow& shadow = *waves_[wave.wave_slot];
    if (options_.waits != CheckMode::kOff) {
      if (CheckPendingLds(wave) == ExecResult::kFault) return ExecResult::kFault;
      shadow.waits.After(*current_, exec_, log_, wave);
    }
    return ExecResult::kNext;
  }

  const std::vector<CheckReport>& reports() const override { return sink_.reports(); }

 private:
  struct Shadow {
    explicit Shadow(ReportSink* sink) : waits(sink), hazards(sink) {}
    WaitTracker waits;
    HazardTracker hazards;
  };

  // Reads of LDS that a load from memory has yet to fill.
  ExecResult CheckPendingLds(WaveState& wave) {
    for (const AccessLog::Entry& entry : log_.entries) {
      if (entry.space != MemorySpace::kLds || entry.access == Access::kWrite) continue;
      const Facts* pending = waves_[wave.wave_slot]->waits.PendingLds(static_cast<uint32_t>(entry.address));
      if (pending == nullptr) continue;
      if (sink_.Add(CheckKind::kWaits, wave, *current_, pending, wave.wave_in_group, entry.lane,
                    absl::StrFormat("LDS byte 0x%x", entry.address),
                    absl::StrFormat(
                        "reads LDS byte 0x%x, which '%s' at pc 0x%x has yet to write: no wait covers it",
                        entry.address, pending->Text(), pending->pc)) == ExecResult::kFault) {
        return ExecResult::kFault;
      }
    }
    return ExecResult::kNext;
  }

  const CheckOptions options_;
  Program program_;
  ReportSink sink_;
  AccessLog log_;
  std::vector<std::unique_ptr<Shadow>> waves_;  // by WaveState::wave_slot
  // Of the instruction between Before and After.
  const Facts* current_ = nullptr;
  uint64_t exec_ = 0;
};

}  // namespace

std::unique_ptr<Observer> MakeStrictObserver(Isa isa, int wave_size, const CheckOptions& options,
                                             uint32_t fill) {
  return std::make_unique<Strict>(isa, wave_size, options, fill);
}

}  // namespace understudy::emu::amd::check
