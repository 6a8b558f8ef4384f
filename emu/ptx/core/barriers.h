// SPDX-License-Identifier: Apache-2.0
#pragma once
// CTA barriers (bar, barrier.cta) and the cluster barrier. Since sm_70 every thread that has not exited must
// come to a barrier without a count; barriers with a count count threads, 32 for each warp whose live lanes
// have all come.

#include <cstdint>

#include "emu/ptx/core/cta.h"

namespace understudy::emu::ptx {

enum class BarrierOp : uint8_t { kSync, kArrive, kPopc, kAnd, kOr };

// Lanes `mask` of the current group come to barrier `id`; `threads` 0: all of the CTA. For reductions
// `predicate` has their inputs. Returns kControl or kFault.
ExecResult ComeToBarrier(WarpState& warp, const Inst& inst, BarrierOp op, uint32_t mask, uint32_t id,
                         uint32_t threads, uint32_t predicate);
ExecResult ArriveAtCluster(WarpState& warp, const Inst& inst);
ExecResult WaitForCluster(WarpState& warp);
// Barriers and warp-synchronous instructions that waited for lanes which have now exited.
void LanesHaveExited(WarpState& warp);

}  // namespace understudy::emu::ptx
