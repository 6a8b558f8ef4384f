// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/cp/dispatch_actor.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace understudy::mockgpu::amd {
namespace {

// Wave instructions a step: long enough that scheduling costs nothing, short enough that another queue or a
// host thread gets its turn within a millisecond.
constexpr uint64_t kSlice = 1 << 16;

}  // namespace

DispatchActor::DispatchActor(QueueHost* host, const emu::amd::DispatchRegs& regs, uint32_t queue_id)
    : host_(host),
      regs_(regs),
      queue_id_(queue_id),
      dispatch_(host->isa(), regs, &host->memory(), host->DispatchOptions()) {
  ++host_->counters().dispatches;
  host_->machine().Log(EventKind::kDispatchBegin, queue_id_, regs_.pgm_addr,
                       uint64_t{regs_.dim[0]} * regs_.dim[1] * regs_.dim[2]);
  actor_id_ = host_->machine().AddActor(this, absl::StrCat("dispatch of queue ", queue_id));
}

DispatchActor::~DispatchActor() { host_->machine().RemoveActor(actor_id_); }

uint64_t DispatchActor::Step() {
  using State = emu::amd::Dispatch::State;
  if (finished_) {
    // The time of the last slice has passed: waves are gone now, as an end-of-pipe event sees it.
    retired_ = true;
    const auto& stats = dispatch_.stats();
    Counters& counters = host_->counters();
    counters.wave_instructions += stats.wave_instructions;
    counters.waves += stats.waves;
    counters.wave_memory += stats.memory;
    counters.workgroups += stats.workgroups;
    host_->machine().Log(EventKind::kDispatchEnd, queue_id_, regs_.pgm_addr, stats.wave_instructions);
    // The queue may destroy this object in here.
    const auto callback = std::move(on_retire);
    if (callback) callback(this);
    return 0;
  }
  const uint64_t before = dispatch_.stats().wave_instructions;
  finished_ = dispatch_.Step(kSlice) != State::kRunning;
  const uint64_t executed = dispatch_.stats().wave_instructions - before;
  return executed * 1000 / host_->WaveInstructionsPerMicrosecond() + 1;
}

}  // namespace understudy::mockgpu::amd
