// SPDX-License-Identifier: Apache-2.0
#pragma once
// A PM4 compute queue: fetches type-3 packets, keeps the register file, starts dispatches and orders what
// comes after them. Fields are checked and a packet that is not modelled stops the queue by name. Sources:
// Linux amdgpu nvd.h, soc15d.h and kfd_pm4_headers; what a packet of the micro engine compute (MEC) accepts.

#include <cstdint>
#include <deque>
#include <memory>

#include "mockgpu/amd/cp/dispatch_actor.h"
#include "mockgpu/amd/cp/pm4_layout.h"
#include "mockgpu/amd/cp/register_file.h"
#include "mockgpu/amd/queue/ring_queue.h"

namespace understudy::mockgpu::amd {

// "DISPATCH_DIRECT", or nullptr for an opcode that nobody knows.
const char* Pm4PacketName(uint32_t opcode);

class Pm4Queue : public RingQueue {
 public:
  Pm4Queue(QueueHost* host, const QueueConfig& config);
  ~Pm4Queue() override;

  bool Idle() const override;

 protected:
  uint32_t PacketDwords(Packet* packet) override;
  Outcome Execute(const Packet& packet, uint64_t* cost_ns) override;
  bool Blocked() override;
  bool Busy() override;
  void OnStop() override;
  uint64_t DoorbellUnit() const override { return 1; }
  // The reported read pointer is a 32-bit dword index that wraps with the ring.
  uint64_t ReportedReadPointer(uint64_t position_dwords) const override {
    return position_dwords & (config_.ring_bytes / 4 - 1);
  }

 private:
  // The bottom of the pipe, in submission order: dispatches that run, and events that wait for all before
  // them.
  struct EndOfPipe {
    uint64_t va = 0;
    uint32_t data_sel = 0, int_sel = 0, context = 0;
    uint64_t data = 0;
    uint64_t packet_va = 0;
  };
  struct PipeItem {
    std::unique_ptr<DispatchActor> dispatch;  // or
    EndOfPipe event;
    FaultReport origin;  // names the dispatch packet, for a report
  };

#define PM4_PACKET(name, opcode, low, high) Outcome name(const Packet& packet);
#define PM4_REFUSED(name, opcode, generations)
#include "mockgpu/amd/cp/pm4_packets.inc"

  Outcome SetRegisters(const Packet& packet, uint32_t base, uint32_t end);
  // Checks that the register exists and takes the value; writes it.
  Outcome WriteRegister(const Packet& packet, int dword, uint32_t address, uint32_t value);
  Outcome ReadRegister(const Packet& packet, int dword, uint32_t address, uint32_t* value);

  void DispatchRetired(DispatchActor* actor);
  void DrainPipe();
  void FireEndOfPipe(const EndOfPipe& event);
  bool DispatchesInFlight() const { return running_ > 0; }

  struct Wait {
    bool active = false;
    bool for_dispatches = false;  // or for memory:
    uint64_t va = 0;
    uint32_t function = 0, reference = 0, mask = 0;
  };
  bool WaitSatisfied(const Wait& wait);

  const Gc gc_;
  const Pm4Layout& layout_;
  RegisterFile registers_;
  std::deque<PipeItem> pipe_;
  int running_ = 0;
  bool faulting_ = false;
  Wait wait_;
};

}  // namespace understudy::mockgpu::amd
