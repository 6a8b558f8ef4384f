// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of a wave's state that only scalar control instructions and the dispatch loop touch: hardware
// registers behind s_getreg and s_setreg, the trap handler's registers, and the barriers of the workgroup. It
// schedules nothing: a completed barrier is counted here, and the dispatch loop wakes who waited.

#include <cstdint>

#include "emu/amd/core/wave_state.h"

namespace understudy::emu::amd {

// A split barrier (RDNA4 ISA, "Barriers"): complete when as many signals as members came.
struct SplitBarrier {
  uint32_t members = 0, signals = 0;
  uint64_t completions = 0;
};

// RDNA4: barrier -1 is the workgroup's, -2 the trap handlers', 1 to 16 have names.
constexpr int kNamedBarriers = 16;
constexpr int kWorkgroupBarrier = 0, kTrapBarrier = kNamedBarriers + 1, kBarrierCount = kNamedBarriers + 2;

// Shared by the waves of a workgroup.
struct GroupHw {
  SplitBarrier barrier[kBarrierCount];  // [0] workgroup, [1..16] named, [17] trap
  uint64_t events = 0;                  // completions so far: after one, waiting waves look again

  void CompleteIfFull(SplitBarrier& b) {
    if (b.members == 0 || b.signals < b.members) return;
    b.signals = 0;
    ++b.completions;
    ++events;
  }
};

struct WaveHw {
  GroupHw* group = nullptr;
  // The completions of each kind of barrier that this wave has waited for.
  uint64_t seen_workgroup = 0, seen_trap = 0, seen_named = 0;
  int named_barrier = 0;  // joined; 0: none

  uint64_t tba = 0, tma = 0;  // trap handler and its memory; tba 0: no handler is installed
  bool priv = false;          // in the trap handler
  bool halt = false;          // s_sethalt: the wave stops once it is not in the trap handler
  uint32_t doorbell = 0;      // what MSG_GET_DOORBELL answers
  // RDNA4 keeps these apart; on others TRAPSTS is WaveState::trapsts.
  uint32_t excp_flag_priv = 0, excp_flag_user = 0, trap_ctrl = 0, sched_mode = 0;
  bool scratch = false;  // COMPUTE_PGM_RSRC2.SCRATCH_EN

  uint32_t lds_granule = 512, vgpr_granule = 8;  // allocation blocks: bytes, registers
  // RDNA4, COMPUTE_PGM_RSRC2.DYNAMIC_VGPR: registers of a block (0: not dynamic), at launch and at most.
  uint32_t dynamic_vgpr_block = 0, first_vgprs = 0, max_vgprs = 256;
  uint32_t fill = 0;  // what new registers hold
};

}  // namespace understudy::emu::amd
