// SPDX-License-Identifier: Apache-2.0
// The observer that runs the checks of one launch.

#include <memory>
#include <vector>

#include "emu/ptx/check/access_log.h"
#include "emu/ptx/check/defined.h"
#include "emu/ptx/check/observer.h"
#include "emu/ptx/check/races.h"
#include "emu/ptx/check/report_sink.h"
#include "emu/ptx/check/sync.h"
#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/core/wrappers.h"

namespace understudy::emu::ptx {
namespace {

class Strict : public Observer {
 public:
  explicit Strict(Launch& launch)
      : checks_(launch.options.checks),
        sink_(launch),
        sync_(&sink_),
        races_(launch, &sink_),
        defined_(launch, &sink_) {
    log_.keep_old = true;
  }

  void StartWarp(WarpState& warp) override {
    warp.log = &log_;
    sync_.StartWarp(warp);
    if (On(checks_.races)) races_.StartWarp(warp);
    if (On(checks_.uninit)) defined_.StartWarp(warp);
  }

  void EndCluster(Cluster& cluster) override {
    for (uint32_t c = 0; c < cluster.num_ctas; ++c) {
      Cta& cta = *cluster.ctas[c];
      if (On(checks_.barriers)) sync_.EndCta(cta);
      for (uint32_t w = 0; w < cta.num_warps; ++w) cta.warps[w]->log = nullptr;
    }
    if (On(checks_.races)) races_.EndCluster(cluster);
    if (On(checks_.uninit)) defined_.EndCluster(cluster);
  }

  void NewFrame(WarpState& warp, FrameState& frame, uint32_t mask) override {
    if (On(checks_.uninit)) defined_.NewFrame(warp, frame, mask);
  }

  ExecResult Guard(WarpState& warp, const Inst& inst, uint32_t lanes) override {
    return On(checks_.uninit) ? defined_.Guard(warp, inst, lanes) : ExecResult::kNext;
  }

  ExecResult Execute(WarpState& warp, const Inst& inst) override {
    if (inst.exec == WarpSyncExec) {
      if (On(checks_.barriers) && sync_.Before(warp, inst) == ExecResult::kFault) return ExecResult::kFault;
      return CheckedWarpSyncExec(warp, inst);
    }
    return Run(warp, inst, inst.exec);
  }

  ExecResult ExecuteTogether(WarpState& warp, const Inst& inst, bool gathered) override {
    if (On(checks_.barriers) &&
        sync_.Together(warp, inst, warp.frame->function->code[warp.pc]) == ExecResult::kFault)
      return ExecResult::kFault;
    return Run(warp, inst, inst.wrapped, gathered);
  }

  void PassBarrier(Cta& cta, uint32_t id) override {
    if (On(checks_.races)) races_.PassBarrier(cta, id);
  }
  void PassClusterBarrier(Cluster& cluster) override {
    if (On(checks_.races)) races_.PassClusterBarrier(cluster);
  }

  const std::vector<CheckReport>& reports() const override { return sink_.reports(); }
  const LaunchFault& fault() const override { return sink_.fault(); }

 private:
  static bool On(CheckLevel level) { return level != CheckLevel::kOff; }

  ExecResult Run(WarpState& warp, const Inst& inst, ExecFn fn, bool gathered = false) {
    log_.entries.clear();
    const uint32_t mask = warp.mask;
    if (On(checks_.barriers) && inst.exec != WarpSyncExec && sync_.Before(warp, inst) == ExecResult::kFault)
      return ExecResult::kFault;
    if (On(checks_.uninit)) {
      if (gathered)
        defined_.Gathered(warp, mask);
      else if (defined_.Before(warp, inst) == ExecResult::kFault)
        return ExecResult::kFault;
    }
    if (On(checks_.races)) races_.Before(warp, inst);
    const ExecResult result = fn(warp, inst);
    if (result == ExecResult::kFault) return result;
    if (On(checks_.uninit) && !gathered &&
        defined_.After(warp, inst, log_, mask, result) == ExecResult::kFault)
      return ExecResult::kFault;
    if (On(checks_.barriers) && sync_.After(warp, inst, log_) == ExecResult::kFault)
      return ExecResult::kFault;
    if (On(checks_.races) && races_.After(warp, inst, log_, mask, result) == ExecResult::kFault)
      return ExecResult::kFault;
    return result;
  }

  const Checks checks_;
  ReportSink sink_;
  SyncChecker sync_;
  RaceChecker races_;
  DefinedChecker defined_;
  AccessLog log_;
};

}  // namespace

std::unique_ptr<Observer> MakeObserver(Launch& launch) { return std::make_unique<Strict>(launch); }

}  // namespace understudy::emu::ptx
