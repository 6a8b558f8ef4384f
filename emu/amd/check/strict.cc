// SPDX-License-Identifier: Apache-2.0
// The observer that runs the checks of one dispatch, each over the waves that it concerns.

#include <memory>
#include <string>
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
      shadow->wave = wave;
    }
    if (options_.races != CheckMode::kOff) races_.StartGroup(waves);
  }

  void EndGroup(const std::vector<WaveState*>& waves) override {
    for (WaveState* wave : waves) {
      wave->access_log = nullptr;
      waves_[wave->wave_slot]->wave = nullptr;
    }
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
    const WaveState* wave = nullptr;  // while its workgroup runs
    WaitTracker waits;
    HazardTracker hazards;
    DefinedTracker defined;
    std::vector<uint8_t> lds;  // of the workgroup, in its first wave's shadow: undefined bits of each byte
  };

  // Reads of LDS that a load from memory, of any wave of the workgroup, has yet to fill.
  ExecResult CheckPendingLds(WaveState& wave) {
    if (current_->effects.unit != Unit::kLds && current_->effects.unit != Unit::kFlat)
      return ExecResult::kNext;
    std::vector<const Shadow*> filling;
    for (const std::unique_ptr<Shadow>& shadow : waves_) {
      if (shadow != nullptr && shadow->wave != nullptr && shadow->wave->lds == wave.lds &&
          shadow->waits.HasPendingLds()) {
        filling.push_back(shadow.get());
      }
    }
    if (filling.empty()) return ExecResult::kNext;
    for (const AccessLog::Entry& entry : log_.entries) {
      if (entry.space != MemorySpace::kLds || entry.access == Access::kWrite) continue;
      for (const Shadow* shadow : filling) {
        const Facts* pending = shadow->waits.PendingLds(static_cast<uint32_t>(entry.address));
        if (pending == nullptr) continue;
        const std::string place = absl::StrFormat("LDS byte 0x%x", entry.address);
        if (sink_.Add(
                CheckKind::kWaits, wave, *current_, pending, shadow->wave->wave_in_group, entry.lane, place,
                absl::StrFormat("reads %s, which '%s' at pc 0x%x has yet to write: no wait for %s covers it",
                                place, pending->Text(), pending->pc,
                                WaitCounterName(pending->wait.events[0].counter))) == ExecResult::kFault) {
          return ExecResult::kFault;
        }
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
