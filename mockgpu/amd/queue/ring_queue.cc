// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/queue/ring_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace understudy::mockgpu::amd {
namespace {

// Virtual cost of fetching and decoding one packet. The real figure varies; only order matters here.
constexpr uint64_t kPacketNs = 100;
// Enough of a packet to know its length.
constexpr uint64_t kPrefixDwords = 4;

}  // namespace

bool Compare(uint32_t function, uint32_t value, uint32_t reference) {
  switch (function) {
    case 0:
      return true;
    case 1:
      return value < reference;
    case 2:
      return value <= reference;
    case 3:
      return value == reference;
    case 4:
      return value != reference;
    case 5:
      return value >= reference;
    default:
      return value > reference;
  }
}

RingQueue::RingQueue(QueueHost* host, const QueueConfig& config, const char* engine)
    : host_(host), config_(config), engine_(engine) {
  if (config_.doorbell != nullptr) doorbell_seen_ = __atomic_load_n(config_.doorbell, __ATOMIC_ACQUIRE);
}

bool RingQueue::HasWork() const {
  if (!config_.active) return false;
  if (__atomic_load_n(config_.doorbell, __ATOMIC_ACQUIRE) != doorbell_seen_) return true;
  return !frames_.empty() || (read_ != write_ && starved_at_ != write_);
}

bool RingQueue::Ready() {
  if (stopped_ || !config_.active) return false;
  if (Busy()) return false;
  if (blocked_) return !Blocked();
  return HasWork();
}

void RingQueue::Update(uint64_t ring_va, uint32_t ring_bytes, bool active) {
  config_.ring_va = ring_va;
  config_.ring_bytes = ring_bytes;
  config_.active = active;
}

bool RingQueue::TakeDoorbell() {
  const uint64_t value = __atomic_load_n(config_.doorbell, __ATOMIC_ACQUIRE);
  if (value == doorbell_seen_) return true;
  doorbell_seen_ = value;
  Machine& machine = host_->machine();
  const uint64_t unit = DoorbellUnit();
  if (machine.Inject(FaultPoint::kDoorbell, config_.queue_id) != 0) {
    machine.Log(EventKind::kDoorbellLost, config_.queue_id, write_, value / unit);
    return true;
  }
  machine.Log(EventKind::kDoorbell, config_.queue_id, write_, value / unit);
  Packet none;
  none.name = "doorbell";
  if (value % unit != 0) {
    Malformed(none, -1, "doorbell value", value, absl::StrCat("a multiple of ", unit));
    return false;
  }
  const uint64_t wanted = value / unit;
  if (wanted < read_ || wanted - read_ > ring_dwords()) {
    FaultReport report = NewReport(FaultClass::kRing, none);
    report.field = "write pointer";
    report.field_value = value;
    report.message = absl::StrFormat(
        "%s queue %d: the doorbell says write pointer %d (dword %d), but the read pointer is dword %d and "
        "the ring holds %d "
        "dwords",
        engine_, config_.queue_id, value, wanted, read_, ring_dwords());
    Fault(std::move(report));
    return false;
  }
  write_ = wanted;
  return true;
}

uint64_t RingQueue::AddressOf(uint64_t position) const {
  if (frames_.empty()) return config_.ring_va + (position & (ring_dwords() - 1)) * 4;
  return frames_.back().va + position * 4;
}

bool RingQueue::ReadDwords(uint64_t position, uint32_t count, uint32_t* out) {
  while (count > 0) {
    uint32_t run = count;
    if (frames_.empty()) {
      const uint64_t index = position & (ring_dwords() - 1);
      if (run > ring_dwords() - index) run = static_cast<uint32_t>(ring_dwords() - index);
    }
    const uint64_t va = AddressOf(position);
    if (!host_->memory().Read(va, out, uint64_t{run} * 4)) {
      Packet fetch;
      fetch.name = frames_.empty() ? "fetch from the ring" : "fetch from an indirect buffer";
      fetch.va = va;
      MemoryFault(fetch, va, uint64_t{run} * 4, emu::Access::kRead);
      return false;
    }
    position += run;
    out += run;
    count -= run;
  }
  return true;
}

Outcome RingQueue::Fetch(Packet* packet) {
  const uint64_t position = Position();
  const uint64_t available = frames_.empty() ? write_ - read_ : frames_.back().dwords - frames_.back().next;
  const uint32_t prefix = static_cast<uint32_t>(std::min<uint64_t>(available, kPrefixDwords));
  buffer_.resize(prefix);
  if (!ReadDwords(position, prefix, buffer_.data())) return Outcome::kFault;
  packet->va = AddressOf(position);
  packet->dw = buffer_.data();
  packet->count = prefix;
  const uint32_t total = PacketDwords(packet);
  if (total == 0) return Outcome::kFault;
  if (total > available) {
    if (frames_.empty() && total <= ring_dwords()) {
      // The processor waits for the rest of the packet.
      starved_at_ = write_;
      return Outcome::kBlocked;
    }
    return Malformed(*packet, 0, "packet length", total,
                     absl::StrCat("at most the ", available, " dwords left in ",
                                  frames_.empty() ? "the ring" : "the indirect buffer"));
  }
  buffer_.resize(total);
  if (total > prefix && !ReadDwords(position + prefix, total - prefix, buffer_.data() + prefix))
    return Outcome::kFault;
  packet->dw = buffer_.data();
  packet->count = total;
  return Outcome::kDone;
}

void RingQueue::Consume(uint32_t dwords) {
  if (frames_.empty()) {
    read_ += dwords + pending_skip_;
  } else {
    frames_.back().next += dwords + pending_skip_;
  }
  pending_skip_ = 0;
  if (pending_enter_) {
    if (pending_chain_ && !frames_.empty()) frames_.pop_back();
    frames_.push_back(pending_frame_);
    pending_enter_ = false;
  }
  // Return from buffers that are used up.
  while (!frames_.empty() && frames_.back().next >= frames_.back().dwords) frames_.pop_back();
  if (frames_.empty()) ReportReadPointer();
}

void RingQueue::ReportReadPointer() {
  const uint64_t value = ReportedReadPointer(read_);
  uint8_t* host = host_->memory().Translate(config_.read_pointer_va, 8, emu::Access::kWrite);
  if (host == nullptr || config_.read_pointer_va % 8 != 0) {
    Packet report;
    report.name = "read pointer report";
    report.va = config_.read_pointer_va;
    MemoryFault(report, config_.read_pointer_va, 8, emu::Access::kWrite);
    return;
  }
  __atomic_store_n(reinterpret_cast<uint64_t*>(host), value, __ATOMIC_RELEASE);
}

uint64_t RingQueue::Step() {
  uint64_t cost = kPacketNs;
  if (!TakeDoorbell()) return cost;
  blocked_ = false;
  if (!HasWork()) return cost;
  Packet packet;
  Outcome outcome = Fetch(&packet);
  if (outcome != Outcome::kDone) return cost;
  outcome = Execute(packet, &cost);
  if (stopped_) return cost;
  if (outcome == Outcome::kBlocked) {
    blocked_ = true;
    return cost;
  }
  Consume(packet.count);
  return cost;
}

void RingQueue::EnterIndirect(uint64_t va, uint32_t dwords, bool chain) {
  pending_frame_ = {va, dwords, 0};
  pending_enter_ = true;
  pending_chain_ = chain;
}

bool RingQueue::SkipDwords(const Packet& packet, uint32_t dwords) {
  if (frames_.empty() || dwords > frames_.back().dwords - frames_.back().next - packet.count) return false;
  pending_skip_ = dwords;
  return true;
}

FaultReport RingQueue::NewReport(FaultClass fault, const Packet& packet) const {
  FaultReport report;
  report.fault = fault;
  report.gpu_id = config_.gpu_id;
  report.queue_id = config_.queue_id;
  report.engine = engine_;
  report.time_ns = host_->machine().now();
  report.packet = packet.name;
  report.packet_va = packet.va;
  report.packet_index = frames_.empty() && ring_dwords() != 0 ? read_ & (ring_dwords() - 1) : Position();
  report.in_indirect_buffer = !frames_.empty();
  return report;
}

Outcome RingQueue::Fault(FaultReport report) {
  if (stopped_) return Outcome::kFault;
  stopped_ = true;
  Machine& machine = host_->machine();
  ++host_->counters().faults;
  machine.Log(EventKind::kFault, config_.queue_id, report.has_access ? report.access.address : report.pc,
              static_cast<uint64_t>(report.fault));
  machine.Log(EventKind::kQueueStop, config_.queue_id);
  OnStop();
  machine.HostVisible();
  host_->QueueFaulted(std::move(report));
  return Outcome::kFault;
}

namespace {

std::string Where(const FaultReport& report) {
  return absl::StrFormat("%s queue %d: packet %s at 0x%x (dword %d of the %s)", report.engine,
                         report.queue_id, report.packet, report.packet_va, report.packet_index,
                         report.in_indirect_buffer ? "indirect buffer" : "ring");
}

}  // namespace

Outcome RingQueue::Malformed(const Packet& packet, int dword, const std::string& field, uint64_t value,
                             const std::string& expected) {
  FaultReport report = NewReport(FaultClass::kBadPacket, packet);
  report.dword = dword;
  report.field = field;
  report.field_value = value;
  report.message =
      absl::StrFormat("%s: dword %d, %s is 0x%x; expected %s", Where(report), dword, field, value, expected);
  return Fault(std::move(report));
}

Outcome RingQueue::Unsupported(const Packet& packet, int dword, const std::string& field, uint64_t value,
                               const std::string& supported) {
  FaultReport report = NewReport(FaultClass::kUnsupportedPacket, packet);
  report.dword = dword;
  report.field = field;
  report.field_value = value;
  report.message = absl::StrFormat("%s: dword %d, %s 0x%x is not modelled; %s", Where(report), dword, field,
                                   value, supported);
  return Fault(std::move(report));
}

Outcome RingQueue::MemoryFault(const Packet& packet, uint64_t va, uint64_t size, emu::Access access) {
  FaultReport report = NewReport(FaultClass::kMemory, packet);
  report.has_access = true;
  report.access = host_->memory().Explain(va, size, access);
  if (report.access.kind == emu::MemoryFaultKind::kNone) {
    // Mapped and permitted, so what the engine rejects is the alignment.
    report.access.kind = emu::MemoryFaultKind::kMisaligned;
    report.access.address = va;
    report.access.size = size;
    report.access.access = access;
  }
  report.message = absl::StrCat(Where(report), ": ", report.access.Message());
  return Fault(std::move(report));
}

bool RingQueue::ReservedZero(const Packet& packet, int dword, uint32_t mask, Outcome* outcome) {
  const uint32_t bits = packet.dw[dword] & mask;
  if (bits == 0) return true;
  *outcome = Malformed(packet, dword, "reserved bits", bits, "0");
  return false;
}

bool RingQueue::Load32(const Packet& packet, uint64_t va, uint32_t* value) {
  const uint8_t* p = va % 4 == 0 ? host_->memory().Translate(va, 4, emu::Access::kRead) : nullptr;
  if (p == nullptr) {
    MemoryFault(packet, va, 4, emu::Access::kRead);
    return false;
  }
  *value = __atomic_load_n(reinterpret_cast<const uint32_t*>(p), __ATOMIC_ACQUIRE);
  return true;
}

bool RingQueue::Load64(const Packet& packet, uint64_t va, uint64_t* value) {
  const uint8_t* p = va % 8 == 0 ? host_->memory().Translate(va, 8, emu::Access::kRead) : nullptr;
  if (p == nullptr) {
    MemoryFault(packet, va, 8, emu::Access::kRead);
    return false;
  }
  *value = __atomic_load_n(reinterpret_cast<const uint64_t*>(p), __ATOMIC_ACQUIRE);
  return true;
}

bool RingQueue::Store32(const Packet& packet, uint64_t va, uint32_t value) {
  uint8_t* p = va % 4 == 0 ? host_->memory().Translate(va, 4, emu::Access::kWrite) : nullptr;
  if (p == nullptr) {
    MemoryFault(packet, va, 4, emu::Access::kWrite);
    return false;
  }
  __atomic_store_n(reinterpret_cast<uint32_t*>(p), value, __ATOMIC_RELEASE);
  host_->machine().HostVisible();
  return true;
}

bool RingQueue::Store64(const Packet& packet, uint64_t va, uint64_t value) {
  uint8_t* p = va % 8 == 0 ? host_->memory().Translate(va, 8, emu::Access::kWrite) : nullptr;
  if (p == nullptr) {
    MemoryFault(packet, va, 8, emu::Access::kWrite);
    return false;
  }
  __atomic_store_n(reinterpret_cast<uint64_t*>(p), value, __ATOMIC_RELEASE);
  host_->machine().HostVisible();
  return true;
}

}  // namespace understudy::mockgpu::amd
