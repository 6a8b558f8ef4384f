// SPDX-License-Identifier: Apache-2.0
#pragma once
// A queue of an SDMA copy engine: linear copies, fills, writes, fences, polls, timestamps, traps and
// indirect buffers. Long copies advance in slices, so that other queues run beside them. Fields are checked
// and a packet that is not modelled stops the queue by name.

#include <cstdint>
#include <vector>

#include "mockgpu/amd/queue/ring_queue.h"
#include "mockgpu/amd/sdma/sdma_layout.h"

namespace understudy::mockgpu::amd {

// "CONST_FILL", or nullptr for an opcode that nobody knows.
const char* SdmaPacketName(uint32_t opcode);

class SdmaQueue : public RingQueue {
 public:
  SdmaQueue(QueueHost* host, const QueueConfig& config);

  bool Idle() const override { return stopped() || (!wait_.active && RingQueue::Idle()); }

 protected:
  uint32_t PacketDwords(Packet* packet) override;
  Outcome Execute(const Packet& packet, uint64_t* cost_ns) override;
  bool Blocked() override { return wait_.active && !PollSatisfied(); }
  void OnStop() override { wait_.active = false; }
  // Doorbell and read pointer count bytes and do not wrap.
  uint64_t DoorbellUnit() const override { return 4; }
  uint64_t ReportedReadPointer(uint64_t position_dwords) const override { return position_dwords * 4; }

 private:
#define SDMA_PACKET(name, opcode, dwords, generations) Outcome name(const Packet& packet, uint64_t* cost_ns);
#define SDMA_REFUSED(name, opcode, generations)
#include "mockgpu/amd/sdma/sdma_packets.inc"

  // Moves the transfer of the current packet on by at most one slice.
  Outcome Transferred(uint64_t total, uint64_t slice, uint64_t* cost_ns);
  bool PollSatisfied();

  const Sdma generation_;
  const SdmaLayout& layout_;

  struct Wait {
    bool active = false;
    uint64_t va = 0;
    uint32_t function = 0, reference = 0, mask = 0;
  };
  Wait wait_;
  std::vector<uint8_t> scratch_;
  uint64_t transferred_ = 0;  // bytes of the current packet done in earlier slices
};

}  // namespace understudy::mockgpu::amd
