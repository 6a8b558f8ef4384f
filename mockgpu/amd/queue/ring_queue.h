// SPDX-License-Identifier: Apache-2.0
#pragma once
// A user-mode queue: a ring of dwords in GPU memory, a doorbell, a read pointer that is reported back, and
// indirect buffers. The packet processors for PM4 and SDMA derive from it and execute one packet a step.
// Positions count dwords from the queue's creation and never wrap; only ring addresses do.

#include <cstdint>
#include <string>
#include <vector>

#include "mockgpu/amd/queue/queue_host.h"

namespace understudy::mockgpu::amd {

struct QueueConfig {
  uint32_t gpu_id = 0, queue_id = 0;
  uint64_t ring_va = 0;
  uint32_t ring_bytes = 0;  // a power of two
  uint64_t read_pointer_va = 0, write_pointer_va = 0;
  uint64_t eop_va = 0;  // 0: no end-of-pipe buffer
  uint64_t eop_bytes = 0;
  // Host memory of the doorbell, 8 bytes; outlives the queue.
  const uint64_t* doorbell = nullptr;
  bool active = true;  // a queue of percentage, size or address 0 is never scheduled
};

// One packet, copied out of the ring or an indirect buffer.
struct Packet {
  const char* name = "?";
  const uint32_t* dw = nullptr;  // dw[0] is the header
  uint32_t count = 0;            // dwords with the header
  uint64_t va = 0;               // of the header
};

enum class Outcome : uint8_t {
  kDone,     // the packet is consumed
  kBlocked,  // it stays where it is until Blocked() says otherwise
  kJump,     // consumed, and an indirect buffer was entered
  kFault,    // the queue has stopped
};

// The comparison that both kinds of wait packets encode: 0 always, 1 <, 2 <=, 3 ==, 4 !=, 5 >=, 6 >.
bool Compare(uint32_t function, uint32_t value, uint32_t reference);

class RingQueue : public Actor {
 public:
  RingQueue(QueueHost* host, const QueueConfig& config, const char* engine);

  bool Ready() override;
  uint64_t Step() override;

  // UPDATE_QUEUE: a new ring takes effect with the next packet.
  void Update(uint64_t ring_va, uint32_t ring_bytes, bool active);
  bool stopped() const { return stopped_; }
  // Nothing submitted is left to do (a stopped queue is idle).
  virtual bool Idle() const { return stopped_ || !HasWork(); }
  const QueueConfig& config() const { return config_; }

 protected:
  // --- for the processor ---
  // Names the packet, of which only the first packet->count (1 to 4) dwords are known, and returns its total
  // dwords, or 0 after a refusal. A packet whose length lies in a dword not known yet asks for that many.
  virtual uint32_t PacketDwords(Packet* packet) = 0;
  // Executes the packet; adds to *cost_ns beyond the default.
  virtual Outcome Execute(const Packet& packet, uint64_t* cost_ns) = 0;
  // Whether a packet that answered kBlocked should be tried again.
  virtual bool Blocked() { return false; }
  // Whether the processor waits for something other than packets.
  virtual bool Busy() { return false; }
  // The doorbell and read pointer count bytes (SDMA) or dwords (PM4).
  virtual uint64_t DoorbellUnit() const = 0;
  virtual uint64_t ReportedReadPointer(uint64_t position_dwords) const = 0;
  // The queue has just stopped; what it had running must go.
  virtual void OnStop() {}

  bool in_indirect_buffer() const { return !frames_.empty(); }
  size_t indirect_depth() const { return frames_.size(); }
  // Enters an indirect buffer after the current packet, or replaces the current one (`chain`).
  void EnterIndirect(uint64_t va, uint32_t dwords, bool chain);
  // Skips dwords after the current packet in the indirect buffer that holds it. False past its end.
  bool SkipDwords(const Packet& packet, uint32_t dwords);
  // Position in the current buffer just after the packet being executed, in dwords.
  uint64_t PositionAfter(const Packet& packet) const { return Position() + packet.count; }

  // Each returns kFault, for use as `return Refuse(...)`.
  Outcome Malformed(const Packet& packet, int dword, const std::string& field, uint64_t value,
                    const std::string& expected);
  Outcome Unsupported(const Packet& packet, int dword, const std::string& field, uint64_t value,
                      const std::string& supported);
  Outcome MemoryFault(const Packet& packet, uint64_t va, uint64_t size, emu::Access access);
  Outcome Fault(FaultReport report);
  FaultReport NewReport(FaultClass fault, const Packet& packet) const;

  // Bits of dword `dword` that have no meaning must be zero. True when they are.
  bool ReservedZero(const Packet& packet, int dword, uint32_t mask, Outcome* outcome);

  // Naturally aligned loads and stores that other threads may poll. False on a fault (already reported).
  bool Load32(const Packet& packet, uint64_t va, uint32_t* value);
  bool Load64(const Packet& packet, uint64_t va, uint64_t* value);
  bool Store32(const Packet& packet, uint64_t va, uint32_t value);
  bool Store64(const Packet& packet, uint64_t va, uint64_t value);

  QueueHost* host_;
  QueueConfig config_;

 private:
  struct Frame {
    uint64_t va = 0;
    uint32_t dwords = 0, next = 0;
  };
  // Something is there to fetch: a rung doorbell, or packets that it announced.
  bool HasWork() const;
  uint64_t Position() const { return frames_.empty() ? read_ : frames_.back().next; }
  uint64_t AddressOf(uint64_t position) const;
  uint64_t ring_dwords() const { return config_.ring_bytes / 4; }
  bool TakeDoorbell();
  // Fills buffer_ with the packet at the head. kBlocked when the ring does not hold it all yet.
  Outcome Fetch(Packet* packet);
  bool ReadDwords(uint64_t position, uint32_t count, uint32_t* out);
  void Consume(uint32_t dwords);
  void ReportReadPointer();

  const char* engine_;
  bool stopped_ = false, blocked_ = false;
  uint64_t doorbell_seen_ = 0;
  uint64_t read_ = 0, write_ = 0;
  uint64_t starved_at_ = ~uint64_t{0};  // write pointer at which the head packet was found incomplete
  std::vector<Frame> frames_;
  std::vector<uint32_t> buffer_;
  // Set by EnterIndirect and SkipDwords, applied when the packet is consumed.
  Frame pending_frame_;
  bool pending_enter_ = false, pending_chain_ = false;
  uint32_t pending_skip_ = 0;
};

}  // namespace understudy::mockgpu::amd
