// SPDX-License-Identifier: Apache-2.0
#pragma once
// One resident workgroup: its waves, their registers and its LDS, and the state that a compute wave starts
// with. Owned by the dispatch loop, which reuses it for the next workgroup; it schedules nothing.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "emu/amd/core/dispatch.h"
#include "emu/amd/core/hw_state.h"
#include "emu/amd/core/wave_state.h"

namespace understudy::emu::amd {

// What DispatchRegs mean, decoded once.
struct LaunchPlan {
  DispatchRegs regs;
  Dispatch::Options options;
  Isa isa = Isa::kRdna3;
  int wave_size = 64;
  uint32_t num_vgprs = 0, num_agprs = 0, num_sgprs = 0;
  uint32_t vgpr_granule = 8;  // of COMPUTE_PGM_RSRC1.VGPRS
  uint32_t lds_bytes = 0;
  uint32_t group_dim[3] = {1, 1, 1};    // work-items of a full workgroup
  uint32_t partial_dim[3] = {1, 1, 1};  // of the last workgroup in each dimension
  uint32_t first_group[3] = {0, 0, 0};
  uint32_t end_group[3] = {1, 1, 1};
  uint32_t waves_per_group = 1;  // of a full workgroup
  uint32_t scratch_wave_bytes = 0;
  uint32_t max_resident = 1;

  // Empty when the registers describe a dispatch that can run, else what is wrong with them.
  std::string Decode(Isa generation, const DispatchRegs& registers, const Dispatch::Options& opts);

 private:
  std::string DecodeRegisters();
  std::string DecodeGrid();
  std::string DecodeScratch();
};

struct Wave {
  enum class Status : uint8_t { kReady, kBarrier, kWaiting, kDone };
  WaveState state;
  WaveHw hw;
  Status status = Status::kReady;
  uint32_t* vgpr_storage = nullptr;  // 256 registers (CDNA: 512) of the widest wave, 64-byte aligned
  std::unique_ptr<uint32_t[]> vgpr_allocation;
};

class Workgroup {
 public:
  // `slot` numbers the resident workgroup: it decides which part of scratch memory its waves use.
  Workgroup(const LaunchPlan& plan, AddressSpace* memory, uint32_t slot);

  // Sets every wave to the state in which the hardware starts it.
  void Start(const uint32_t id[3]);

  uint32_t slot() const { return slot_; }
  std::vector<Wave>& waves() { return waves_; }
  GroupHw& hw() { return hw_; }
  // What its waves have moved since the last call.
  Traffic TakeTraffic() { return std::exchange(translator_.traffic, {}); }
  uint32_t active_waves = 0;             // of this launch; waves beyond are unused
  uint32_t running = 0;                  // not yet ended
  uint32_t at_barrier = 0, waiting = 0;  // of them: at s_barrier; at a wait for a split barrier
  uint64_t seen_events = 0;              // of hw() when the waiting waves last looked
  uint64_t clock = 0;                    // instructions executed since the start
  uint64_t ordinal = 0;                  // in the order in which the dispatch starts its workgroups
  uint64_t grace_used = 0;               // instructions executed since another workgroup's fault
  uint32_t current = 0;                  // wave whose turn it is
  uint64_t quantum_left = 0;             // instructions left of that turn
  uint64_t slice_left = 0;               // instructions left before another workgroup gets a turn

 private:
  void StartWave(Wave& wave, uint32_t index, const uint32_t id[3], const uint32_t dims[3], uint32_t threads);

  const LaunchPlan& plan_;
  Translator translator_;
  const uint32_t slot_;
  std::vector<Wave> waves_;
  std::vector<uint32_t> lds_;  // whole words; WaveState::lds_bytes is the bound
  PendingFault fault_;
  GroupHw hw_;
};

}  // namespace understudy::emu::amd
