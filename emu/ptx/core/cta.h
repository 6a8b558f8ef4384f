// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of running threads above a warp's registers: groups of lanes and where they meet again, CTAs with
// shared memory and barriers, clusters. The scheduler and the control executors change it; memory executors
// reach other CTAs of the cluster and keep their asynchronous state here.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"

namespace understudy::emu::ptx {

struct Cluster;
struct FrameState;

// Where lanes that parted meet again: a pc of a call. Lanes in `expected` come there, or leave the scope by
// exit or return; those in `arrived` wait. Meeting is a preference, never a promise to the program: lanes
// that hold others up are released early (divergence.h).
struct Scope {
  FrameState* frame = nullptr;  // null: of the kernel's own frame, which nobody returns from
  uint32_t pc = ~0u;
  uint32_t expected = 0, arrived = 0;
  Scope* parent = nullptr;
  FrameState* callee = nullptr;  // the scope is the return from this frame
};

struct FrameState : Frame {
  Scope scope;  // of its return: lanes that are still in the call are expected
  uint32_t row_bytes = 0, param_capacity = 0;
  // Top of each lane's stack in local memory; alloca moves it.
  std::array<uint32_t, kWarpSize> stack_top;
  FrameState* next_free = nullptr;
  void* check = nullptr;  // of the checks, where they are on
};

// Lanes that execute together.
struct Group {
  enum class Wait : uint8_t {
    kNone,     // runnable
    kRetry,    // the instruction at pc asks to be tried again
    kSync,     // at a warp-synchronous instruction for lanes of sync_mask
    kBarrier,  // at CTA barrier `barrier`
    kCluster,  // at barrier.cluster.wait
  };
  uint32_t mask = 0;
  uint32_t pc = 0;
  FrameState* frame = nullptr;
  Scope* scope = nullptr;
  Wait wait = Wait::kNone;
  uint8_t barrier = 0;
  uint32_t sync_mask = 0;
};

struct WarpState : Warp {
  // The group that executes now, copied out of `groups` while it runs.
  uint32_t group_mask = 0;
  int current = 0;
  bool reload = false;  // kControl: group, frame or scope have changed, not only the pc
  bool split = false;   // the executor has taken care of lanes whose guard is false

  int num_groups = 0;
  std::array<Group, kWarpSize> groups;
  uint32_t parked = 0;      // lanes that wait in scopes
  uint32_t patience = 0;    // warp instructions that the others may run while lanes are parked
  uint32_t impatience = 0;  // ... that they have run
  uint32_t idle_rounds = 0;
  // Instructions of its turn, and of the turn's group that runs now: kept for readers of clocks.
  uint64_t executed = 0;
  uint32_t executed_of_group = 0;
  // The phase of the cluster barrier that each lane's last arrive ends.
  std::array<uint64_t, kWarpSize> cluster_phase{};
  uint32_t cluster_arrived = 0;       // lanes that have arrived in the current phase
  std::shared_ptr<void> async_owner;  // whatever Warp::async points to; dropped when the warp ends

  // Lanes that exist and have not exited.
  uint32_t live() const { return lanes & ~exited; }

  std::vector<std::unique_ptr<FrameState>> frames;
  std::vector<std::unique_ptr<uint8_t[]>> frame_memory;
  std::vector<FrameState*> free_frames;  // by function index
  std::deque<Scope> scopes;
  Scope* free_scopes = nullptr;
  std::vector<uint64_t> special_storage;
  void* check = nullptr;          // of the checks, where they are on
  std::vector<uint64_t> scratch;  // operands of warp-synchronous instructions gathered from several frames
};

// One of the 16 barriers of a CTA. A warp whose live lanes have all arrived counts as 32 threads, as on the
// hardware; of others each lane counts.
struct Barrier {
  uint32_t expected = 0;               // threads; 0: every live warp of the CTA
  uint32_t arrived = 0;                // threads of complete warps
  std::array<uint32_t, 32> partial{};  // lanes of incomplete warps
  uint32_t popc = 0;                   // .red
  bool all = true, any = false;
  bool active = false;
  const Inst* first = nullptr;  // whoever came first, for messages
};

// State of copies that run beside the warps, made by the memory executors.
struct AsyncState {
  virtual ~AsyncState() = default;
  // Called when no warp of the CTA's cluster can run: lets pending work go on. True if something happened.
  virtual bool Advance() = 0;
  // Called when all CTAs of the cluster have ended, before their shared memory goes: copies that nobody has
  // waited for still happen.
  virtual void Finish() {}
};

struct Cta {
  Launch* launch = nullptr;
  Cluster* cluster = nullptr;
  uint32_t id[3] = {};
  uint64_t ordinal = 0;  // linear index in the grid
  uint32_t rank = 0;     // in the cluster
  uint32_t rank_id[3] = {};
  uint8_t* shared = nullptr;
  uint32_t shared_bytes = 0;
  std::array<Barrier, 16> barriers;
  std::vector<std::unique_ptr<WarpState>> warps;  // those in use first
  uint32_t num_warps = 0;
  uint32_t num_threads = 0;
  std::unique_ptr<AsyncState> async;  // reset when a CTA starts
  std::vector<uint64_t> shared_storage;
  std::unique_ptr<uint8_t, void (*)(void*)> local_storage{nullptr, nullptr};
  uint64_t local_storage_bytes = 0;
  void* check = nullptr;  // of the checks, where they are on
};

// CTAs that run together: one without clusters.
struct Cluster {
  std::vector<std::unique_ptr<Cta>> ctas;
  uint32_t num_ctas = 0;
  uint64_t ordinal = 0;
  uint32_t id[3] = {};
  uint64_t barrier_phase = 0;
  Fault fault;
  WarpState* faulted = nullptr;
  // Counted while it runs.
  uint64_t executed = 0;
  Translator memory;
};

}  // namespace understudy::emu::ptx
