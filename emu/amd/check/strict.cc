// SPDX-License-Identifier: Apache-2.0
// The observer that runs the checks of one dispatch, each over the waves that it concerns.

#include <memory>
#include <vector>

#include "absl/strings/str_format.h"
#include "emu/amd/check/defined.h"
#include "emu/amd/check/facts.h"
#include "emu/amd/check/hazards.h"
#include "emu/amd/check/observer.h"
#include "emu/amd/check/races.h"
#include "emu/amd/check/report_sink.h"
#include "emu/amd/check/waits.h"
#include "emu/amd/core/access_log.h"

namespace understudy::emu::amd::check {
namespace {

class Strict : public Observer {
 public:
  Strict(int wave_size, const CheckOptions& options)
      : options_(options), program_(wave_size), sink_(options), races_(&sink_, options) {}

  void CodeChanged() override { program_.CodeChanged(); }

  void StartGroup(const std::vector<WaveState*>& waves) override {
    for (WaveState* wave : waves) {
      if (waves_.size() <= wave->wave_slot) waves_.resize(wave->wave_slot + 1);
      std::unique_ptr<Shadow>& shadow = waves_[wave->wave_slot];
      if (shadow == nullptr) shadow = std::make_unique<Shadow>(&sink_);
      shadow->waits.Start();
      shadow->hazards.Start();
      if (options_.uninit != CheckMode::kOff) {
        std::vector<uint8_t>& lds = waves_[waves[0]->wave_slot]->lds;
        if (wave == waves[0]) lds.assign(wave->lds_bytes, 0xff);
        shadow->defined.Start(*wave, &lds);
      }
      wave->access_log = &log_;
    }
    if (options_.races != CheckMode::kOff) races_.StartGroup(waves);
  }

  void EndGroup(const std::vector<WaveState*>& waves) override {
    for (WaveState* wave : waves) wave->access_log = nullptr;
    if (options_.races != CheckMode::kOff) races_.EndGroup(waves);
  }

  void Barrier(const std::vector<WaveState*>& waves) override {
    if (options_.races != CheckMode::kOff) races_.Barrier(waves);
  }

  ExecResult Before(const Inst& inst, ExecFn fn, WaveState& wave) override {
    current_ = &program_.At(inst, fn, wave);
    Shadow& shadow = *waves_[wave.wave_slot];
    exec_ = wave.exec();
    log_.entries.clear();
    if (options_.waits != CheckMode::kOff && shadow.waits.Before(*current_, wave) == ExecResult::kFault) {
      return ExecResult::kFault;
    }
    if (options_.uninit != CheckMode::kOff && shadow.defined.Before(*current_, wave) == ExecResult::kFault) {
      return ExecResult::kFault;
    }
    if (options_.hazards != CheckMode::kOff && shadow.hazards.Before(*current_, wave) == ExecResult::kFault) {
      return ExecResult::kFault;
    }
    return ExecResult::kNext;
  }

  ExecResult After(const Inst&, uint64_t, ExecResult result, WaveState& wave) override {
    Shadow& shadow = *waves_[wave.wave_slot];
    if (options_.uninit != CheckMode::kOff &&
        shadow.defined.After(*current_, exec_, log_, wave) == ExecResult::kFault) {
      return ExecResult::kFault;
    }
    if (options_.waits != CheckMode::kOff) {
      if (CheckPendingLds(wave) == ExecResult::kFault) return ExecResult::kFault;
      shadow.waits.After(*current_, exec_, log_, wave);
    }
    if (options_.races != CheckMode::kOff) return races_.After(*current_, log_, result, wave);
    return ExecResult::kNext;
  }

  const std::vector<CheckReport>& reports() const override { return sink_.reports(); }

 private:
  struct Shadow {
    explicit Shadow(ReportSink* sink) : waits(sink), hazards(sink), defined(sink) {}
    WaitTracker waits;
    HazardTracker hazards;
    DefinedTracker defined;
    std::vector<uint8_t> lds;  // of the workgroup, in its first wave's shadow: undefined bits of each byte
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
  RaceTracker races_;
  AccessLog log_;
  std::vector<std::unique_ptr<Shadow>> waves_;  // by WaveState::wave_slot
  // Of the instruction between Before and After.
  const Facts* current_ = nullptr;
  uint64_t exec_ = 0;
};

}  // namespace

std::unique_ptr<Observer> MakeStrictObserver(int wave_size, const CheckOptions& options) {
  return std::make_unique<Strict>(wave_size, options);
}

uint32_t UndefinedFill() { return kUndefinedFill; }

}  // namespace understudy::emu::amd::check
