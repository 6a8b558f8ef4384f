// SPDX-License-Identifier: Apache-2.0
#pragma once
// A dispatch while its waves run: an actor of its own, so that the machine can interleave it with other
// queues and with the command processor that started it. It reports its end to its queue and owns nothing
// beyond it.

#include <cstdint>
#include <functional>

#include "emu/amd/core/dispatch.h"
#include "mockgpu/amd/queue/queue_host.h"

namespace understudy::mockgpu::amd {

class DispatchActor : public Actor {
 public:
  DispatchActor(QueueHost* host, const emu::amd::DispatchRegs& regs, uint32_t queue_id);
  ~DispatchActor() override;

  bool Ready() override { return !retired_; }
  uint64_t Step() override;

  // Done or faulted, and the virtual time of its last instructions has passed.
  bool retired() const { return retired_; }
  bool faulted() const { return retired_ && dispatch_.state() == emu::amd::Dispatch::State::kFault; }
  const emu::amd::WaveFault& fault() const { return dispatch_.fault(); }
  const emu::amd::DispatchRegs& regs() const { return regs_; }
  // Called once, within the step that retires it.
  std::function<void(DispatchActor*)> on_retire;

 private:
  QueueHost* host_;
  emu::amd::DispatchRegs regs_;
  uint32_t queue_id_, actor_id_;
  emu::amd::Dispatch dispatch_;
  bool finished_ = false, retired_ = false;
};

}  // namespace understudy::mockgpu::amd
