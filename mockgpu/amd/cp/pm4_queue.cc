// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/cp/pm4_queue.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::amd {
namespace {

struct PacketInfo {
  const char* name = nullptr;
  bool supported = false;
  uint32_t fewest = 0, most = 0;
  uint32_t generations = 0;
};

constexpr auto kPackets = [] {
  std::array<PacketInfo, 256> packets{};
#define PM4_PACKET(name, opcode, low, high) packets[opcode] = {#name, true, low, high, kAll};
#define PM4_REFUSED(name, opcode, generations) packets[opcode] = {#name, false, 0, 0, generations};
#include "mockgpu/amd/cp/pm4_packets.inc"
  return packets;
}();

constexpr uint32_t kNop = 0x10, kAcquireMem = 0x58;
constexpr uint32_t kNopWithoutBody = 0x3fff;

// Dispatches of one queue whose waves may run at the same time; the processor waits before it starts another.
constexpr int kDispatchesAtOnce = 8;

FaultClass ClassOf(emu::amd::FaultKind kind) {
  switch (kind) {
    case emu::amd::FaultKind::kMemory:
      return FaultClass::kMemory;
    case emu::amd::FaultKind::kIllegalInstruction:
      return FaultClass::kIllegalInstruction;
    case emu::amd::FaultKind::kUnsupported:
      return FaultClass::kUnsupportedInstruction;
    case emu::amd::FaultKind::kTrap:
      return FaultClass::kTrap;
    case emu::amd::FaultKind::kHang:
      return FaultClass::kHang;
    case emu::amd::FaultKind::kNone:
    case emu::amd::FaultKind::kCheckWaits:  // the strict checks, which the mock machine leaves off
    case emu::amd::FaultKind::kCheckHazards:
    case emu::amd::FaultKind::kCheckUninit:
    case emu::amd::FaultKind::kCheckRaces:
    case emu::amd::FaultKind::kBadDispatch:
      return FaultClass::kBadDispatch;
  }
  return FaultClass::kBadDispatch;
}

}  // namespace

const char* Pm4PacketName(uint32_t opcode) {
  return opcode < kPackets.size() ? kPackets[opcode].name : nullptr;
}

Pm4Queue::Pm4Queue(QueueHost* host, const QueueConfig& config)
    : RingQueue(host, config, "compute"), gc_(host->gc()), layout_(Pm4LayoutOf(gc_)), registers_(gc_) {}

Pm4Queue::~Pm4Queue() = default;

uint32_t Pm4Queue::PacketDwords(Packet* packet) {
  const uint32_t header = packet->dw[0];
  const uint32_t type = static_cast<uint32_t>(Bits(header, 31, 30));
  if (type != 3) {
    static constexpr const char* kTypes[] = {"type-0 packet", "type-1 packet", "type-2 packet"};
    packet->name = kTypes[type];
    Unsupported(*packet, 0, "packet type", type, "only type-3 packets are");
    return 0;
  }
  const uint32_t opcode = static_cast<uint32_t>(Bits(header, 15, 8));
  PacketInfo info = kPackets[opcode];
  if ((info.generations & Bit(gc_)) == 0) {
    packet->name = "unknown";
    Malformed(*packet, 0, "opcode", opcode, absl::StrCat("an opcode of ", layout_.header));
    return 0;
  }
  packet->name = info.name;
  if (!info.supported) {
    Unsupported(*packet, 0, "opcode", opcode, absl::StrCat(info.name, " is refused (docs/limits.md)"));
    return 0;
  }
  if (Bits(header, 0, 0) != 0) {
    Unsupported(*packet, 0, "predicate", 1, "packets cannot be predicated");
    return 0;
  }
  Outcome ignored;
  if (!ReservedZero(*packet, 0, 0xfc, &ignored)) return 0;
  const uint32_t count = static_cast<uint32_t>(Bits(header, 29, 16));
  if (opcode == kNop && count == kNopWithoutBody) return 1;
  if (opcode == kAcquireMem) info.fewest = info.most = layout_.acquire_mem_dwords;
  const uint32_t body = count + 1;
  if (body < info.fewest || body > info.most) {
    Malformed(*packet, 0, "count", count,
              info.fewest == info.most ? absl::StrCat(info.fewest - 1)
                                       : absl::StrCat(info.fewest - 1, " to ", info.most - 1));
    return 0;
  }
  return body + 1;
}

Outcome Pm4Queue::Execute(const Packet& packet, uint64_t* cost_ns) {
  (void)cost_ns;
  wait_.active = false;
  const uint32_t opcode = static_cast<uint32_t>(Bits(packet.dw[0], 15, 8));
  Outcome outcome = Outcome::kFault;
  switch (opcode) {
#define PM4_PACKET(name, value, low, high) \
  case value:                              \
    outcome = name(packet);                \
    break;
#define PM4_REFUSED(name, value, generations)
#include "mockgpu/amd/cp/pm4_packets.inc"
  }
  if (outcome == Outcome::kDone || outcome == Outcome::kJump) {
    ++host_->counters().pm4_packets[opcode];
    host_->machine().Log(EventKind::kPacket, config_.queue_id, opcode, packet.va);
  }
  return outcome;
}

bool Pm4Queue::Busy() {
  // In order means one thing after the other; the random policy lets packets overtake running waves, as the
  // hardware does.
  return running_ >= (host_->machine().policy() == Policy::kInOrder ? 1 : kDispatchesAtOnce);
}

bool Pm4Queue::Idle() const { return stopped() || (pipe_.empty() && !wait_.active && RingQueue::Idle()); }

bool Pm4Queue::Blocked() { return wait_.active && !WaitSatisfied(wait_); }

bool Pm4Queue::WaitSatisfied(const Wait& wait) {
  if (wait.for_dispatches) return !DispatchesInFlight();
  const uint8_t* p = host_->memory().Translate(wait.va, 4, emu::Access::kRead);
  // Unmapped meanwhile: let the packet run again, and fault.
  if (p == nullptr) return true;
  const uint32_t value = __atomic_load_n(reinterpret_cast<const uint32_t*>(p), __ATOMIC_ACQUIRE) & wait.mask;
  return Compare(wait.function, value, wait.reference);
}

void Pm4Queue::DispatchRetired(DispatchActor* actor) {
  --running_;
  if (actor->faulted() && !stopped()) {
    const emu::amd::WaveFault& wave = actor->fault();
    FaultReport report;
    for (const PipeItem& item : pipe_) {
      if (item.dispatch.get() == actor) report = item.origin;
    }
    report.fault = ClassOf(wave.kind);
    report.time_ns = host_->machine().now();
    report.kernel_va = actor->regs().pgm_addr;
    report.has_wave = wave.kind != emu::amd::FaultKind::kBadDispatch;
    report.pc = wave.pc;
    report.instruction = wave.text;
    for (int i = 0; i < 3; ++i) report.workgroup[i] = wave.workgroup[i];
    report.wave = wave.wave;
    report.lane = wave.lane;
    report.exec = wave.exec;
    report.has_access = wave.kind == emu::amd::FaultKind::kMemory;
    report.access = wave.memory;
    report.message = absl::StrFormat("compute queue %d: kernel at 0x%x: %s", config_.queue_id,
                                     report.kernel_va, wave.message);
    faulting_ = true;
    Fault(std::move(report));
    faulting_ = false;
  }
  DrainPipe();
}

void Pm4Queue::DrainPipe() {
  if (stopped()) return;
  while (!pipe_.empty()) {
    PipeItem& head = pipe_.front();
    if (head.dispatch != nullptr) {
      if (!head.dispatch->retired()) return;
    } else {
      FireEndOfPipe(head.event);
      if (stopped()) return;
    }
    pipe_.pop_front();
  }
}

void Pm4Queue::FireEndOfPipe(const EndOfPipe& event) {
  Packet packet;
  packet.name = "RELEASE_MEM";
  packet.va = event.packet_va;
  bool ok = true;
  switch (event.data_sel) {
    case 1:
      ok = Store32(packet, event.va, static_cast<uint32_t>(event.data));
      break;
    case 2:
      ok = Store64(packet, event.va, event.data);
      break;
    case 3:
      ok = Store64(packet, event.va, host_->GpuClock());
      break;
    default:
      break;
  }
  // 1 interrupt only, 2 interrupt after the write is confirmed.
  if (ok && (event.int_sel == 1 || event.int_sel == 2)) host_->Interrupt(config_.queue_id, event.context, 32);
}

void Pm4Queue::OnStop() {
  wait_.active = false;
  // Waves of a stopped queue are killed. A dispatch that is reporting its own fault is still on the stack; it
  // goes with the queue.
  if (!faulting_) {
    pipe_.clear();
    running_ = 0;
    return;
  }
  std::deque<PipeItem> keep;
  for (PipeItem& item : pipe_) {
    if (item.dispatch != nullptr && item.dispatch->retired()) keep.push_back(std::move(item));
  }
  pipe_ = std::move(keep);
  running_ = 0;
}

}  // namespace understudy::mockgpu::amd
