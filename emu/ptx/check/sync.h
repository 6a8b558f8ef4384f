// SPDX-License-Identifier: Apache-2.0
#pragma once
// Misuse of barriers and warp-synchronous instructions that the hardware leaves undefined and the emulator
// runs all the same. (What it cannot run - counts that are no multiple of 32, mbarriers that are not
// initialised, too many arrivals - is a fault without any check.) It keeps nothing of the values that threads
// exchange.
//
// Sources: PTX ISA 8.8, "bar", "barrier.cluster", "mbarrier", "shfl.sync"; CUDA C++ Programming Guide,
// "Synchronization Functions".

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "emu/ptx/check/access_log.h"
#include "emu/ptx/check/report_sink.h"
#include "emu/ptx/core/cta.h"

namespace understudy::emu::ptx {

class SyncChecker {
 public:
  explicit SyncChecker(ReportSink* sink) : sink_(sink) {}

  void StartWarp(WarpState& warp);
  void EndCta(Cta& cta);
  // Before the lanes in Warp::mask execute it.
  ExecResult Before(WarpState& warp, const Inst& inst);
  // Before the lanes of a member mask that have not exited (Warp::mask) execute it, as `place` of the
  // program.
  ExecResult Together(WarpState& warp, const Inst& inst, const Inst& place);
  ExecResult After(WarpState& warp, const Inst& inst, const AccessLog& log);

 private:
  ExecResult CtaBarrier(WarpState& warp, const Inst& inst);
  ExecResult ClusterBarrier(WarpState& warp, const Inst& inst);
  ExecResult MemberMask(WarpState& warp, const Inst& inst);
  ExecResult MbarrierInit(WarpState& warp, const Inst& inst);
  ExecResult Add(CheckSeverity severity, WarpState& warp, const Inst& inst, int lane, const std::string& what,
                 const std::string& problem, const ThreadAt* other = nullptr) {
    return sink_->Add(CheckKind::kBarriers, severity, warp, inst, lane, what, problem, other);
  }

  struct CtaState {
    std::map<uint64_t, ThreadAt> mbarriers;  // by offset in shared memory: who initialised it
  };
  ReportSink* const sink_;
  std::unordered_map<const Cta*, CtaState> ctas_;
  std::unordered_map<const WarpState*, uint32_t> cluster_open_;  // lanes that have arrived and not waited
};

}  // namespace understudy::emu::ptx
