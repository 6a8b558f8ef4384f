// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/sdma/sdma_queue.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::amd {
namespace {

struct PacketInfo {
  const char* name = nullptr;
  bool supported = false;
  uint32_t dwords = 0;
};

// By generation and opcode.
using PacketTable = std::array<PacketInfo, 256>;
constexpr std::array<PacketTable, 3> kPackets = [] {
  std::array<PacketTable, 3> tables{};
  for (uint32_t g = 0; g < tables.size(); ++g) {
    [[maybe_unused]] PacketTable& packets = tables[g];
#define SDMA_PACKET(name, opcode, dwords, generations) \
  if (((generations) >> g & 1) != 0) packets[opcode] = {#name, true, dwords};
#define SDMA_REFUSED(name, opcode, generations) \
  if (((generations) >> g & 1) != 0) packets[opcode] = {#name, false, 0};
#include "mockgpu/amd/sdma/sdma_packets.inc"
  }
  return tables;
}();

constexpr uint32_t kNop = 0, kCopy = 1, kWrite = 2;
constexpr uint32_t kCopyCpv = 1u << 19;
constexpr uint64_t kSliceBytes = 1 << 20;

uint64_t Address(uint32_t low, uint32_t high) { return uint64_t{low} | uint64_t{high} << 32; }
uint32_t SubOp(const Packet& packet) { return static_cast<uint32_t>(Bits(packet.dw[0], 15, 8)); }

}  // namespace

const char* SdmaPacketName(uint32_t opcode) {
  for (const PacketTable& packets : kPackets) {
    if (opcode < packets.size() && packets[opcode].supported) return packets[opcode].name;
  }
  return nullptr;
}

SdmaQueue::SdmaQueue(QueueHost* host, const QueueConfig& config)
    : RingQueue(host, config, "sdma"), generation_(host->sdma()), layout_(SdmaLayoutOf(generation_)) {}

uint32_t SdmaQueue::PacketDwords(Packet* packet) {
  const uint32_t header = packet->dw[0];
  const uint32_t opcode = header & 0xff;
  const PacketInfo& info = kPackets[static_cast<size_t>(generation_)][opcode];
  if (info.name == nullptr) {
    packet->name = "unknown";
    Malformed(*packet, 0, "opcode", opcode, absl::StrCat("an opcode of ", layout_.header));
    return 0;
  }
  packet->name = info.name;
  if (!info.supported) {
    Unsupported(*packet, 0, "opcode", opcode, absl::StrCat(info.name, " is refused (docs/limits.md)"));
    return 0;
  }
  if (opcode == kNop) return 1 + static_cast<uint32_t>(Bits(header, 29, 16));
  if (opcode == kCopy) return layout_.copy_has_cpv && (header & kCopyCpv) != 0 ? 8 : 7;
  if (opcode == kWrite) return packet->count < 4 ? 4 : 5 + static_cast<uint32_t>(Bits(packet->dw[3], 19, 0));
  return info.dwords;
}

Outcome SdmaQueue::Execute(const Packet& packet, uint64_t* cost_ns) {
  wait_.active = false;
  const uint32_t opcode = packet.dw[0] & 0xff;
  Outcome outcome = Outcome::kFault;
  switch (opcode) {
#define SDMA_PACKET(name, value, dwords, generations) \
  case value:                                         \
    outcome = name(packet, cost_ns);                  \
    break;
#define SDMA_REFUSED(name, value, generations)
#include "mockgpu/amd/sdma/sdma_packets.inc"
  }
  if (outcome == Outcome::kDone || outcome == Outcome::kJump) {
    ++host_->counters().sdma_packets[opcode];
    host_->machine().Log(EventKind::kPacket, config_.queue_id, opcode, packet.va);
  }
  return outcome;
}

Outcome SdmaQueue::Transferred(uint64_t total, uint64_t slice, uint64_t* cost_ns) {
  transferred_ += slice;
  host_->counters().sdma_bytes += slice;
  *cost_ns += slice * 1000 / host_->CopyBytesPerMicrosecond();
  // Blocked() is false, so the packet runs again and takes up at transferred_.
  if (transferred_ < total) return Outcome::kBlocked;
  transferred_ = 0;
  return Outcome::kDone;
}

Outcome SdmaQueue::NOP(const Packet& packet, uint64_t*) {
  Outcome outcome;
  if (!ReservedZero(packet, 0, 0xc000ff00, &outcome)) return outcome;
  return Outcome::kDone;
}

Outcome SdmaQueue::COPY(const Packet& packet, uint64_t* cost_ns) {
  if (SubOp(packet) != 0) return Unsupported(packet, 0, "SUB_OP", SubOp(packet), "COPY_LINEAR (0) is");
  const uint32_t variants = packet.dw[0] & 0xffff0000 & ~(packet.count == 8 ? kCopyCpv : 0);
  if (variants != 0)
    return Unsupported(packet, 0, "header flags", variants,
                       "a plain copy (no encryption, broadcast or backwards) is");
  Outcome outcome;
  if (!ReservedZero(packet, 1, layout_.copy_count, &outcome)) return outcome;
  if ((packet.dw[2] & 0x03030000) != 0) return Unsupported(packet, 2, "SW", packet.dw[2], "no byte swap is");
  if (!ReservedZero(packet, 2, layout_.copy_parameter, &outcome)) return outcome;
  if (packet.count == 8 && packet.dw[7] != 0)
    return Unsupported(packet, 7, "DCC", packet.dw[7], "0 (no compression) is");
  const uint64_t total = uint64_t{packet.dw[1]} + 1;
  const uint64_t from = Address(packet.dw[3], packet.dw[4]), to = Address(packet.dw[5], packet.dw[6]);
  if (transferred_ == 0) host_->machine().Log(EventKind::kCopy, from, to, total);
  const uint64_t slice = std::min(kSliceBytes, total - transferred_);
  const uint64_t src = from + transferred_, dst = to + transferred_;
  emu::AddressSpace& memory = host_->memory();
  const uint8_t* src_host = memory.Translate(src, slice, emu::Access::kRead);
  uint8_t* dst_host = memory.Translate(dst, slice, emu::Access::kWrite);
  if (src_host != nullptr && dst_host != nullptr) {
    std::memmove(dst_host, src_host, slice);
  } else {
    // Across adjacent buffers, or a fault.
    scratch_.resize(slice);
    if (!memory.Read(src, scratch_.data(), slice)) return MemoryFault(packet, src, slice, emu::Access::kRead);
    if (!memory.Write(dst, scratch_.data(), slice))
      return MemoryFault(packet, dst, slice, emu::Access::kWrite);
  }
  return Transferred(total, slice, cost_ns);
}

Outcome SdmaQueue::CONST_FILL(const Packet& packet, uint64_t* cost_ns) {
  Outcome outcome;
  if (SubOp(packet) != 0) return Unsupported(packet, 0, "SUB_OP", SubOp(packet), "a plain fill (0) is");
  if (!ReservedZero(packet, 0, layout_.fill_header, &outcome)) return outcome;
  if (!ReservedZero(packet, 4, layout_.fill_count, &outcome)) return outcome;
  const uint32_t data = packet.dw[3];
  const uint64_t to = Address(packet.dw[1], packet.dw[2]), total = uint64_t{packet.dw[4]} + 1;
  const uint32_t fill_size = static_cast<uint32_t>(Bits(packet.dw[0], 31, 30));
  const bool one_byte = data == (data & 0xff) * 0x01010101u;
  // Size 2 stores whole dwords. What smaller sizes take of the data word is only sure where all its bytes
  // agree.
  if (fill_size == 2) {
    if (total % 4 != 0) return Malformed(packet, 4, "COUNT", packet.dw[4], "a multiple of 4, less 1");
    if (to % 4 != 0) return Malformed(packet, 1, "DST_ADDR_LO", packet.dw[1], "a multiple of 4");
  } else if (fill_size == 3 || !one_byte) {
    return Unsupported(packet, 0, "FILLSIZE", fill_size,
                       "2 (dwords) is, and others when all bytes of the data are equal");
  }
  const uint64_t slice = std::min(kSliceBytes, total - transferred_);
  const uint64_t dst = to + transferred_;
  scratch_.resize((slice + 3) / 4 * 4);
  for (uint64_t i = 0; i < scratch_.size(); i += 4) StoreLE(scratch_.data() + i, data);
  if (!host_->memory().Write(dst, scratch_.data(), slice))
    return MemoryFault(packet, dst, slice, emu::Access::kWrite);
  return Transferred(total, slice, cost_ns);
}

Outcome SdmaQueue::WRITE(const Packet& packet, uint64_t*) {
  if (SubOp(packet) != 0) return Unsupported(packet, 0, "SUB_OP", SubOp(packet), "WRITE_LINEAR (0) is");
  Outcome outcome;
  if (!ReservedZero(packet, 0, layout_.write_header, &outcome)) return outcome;
  if ((packet.dw[3] & 0x03000000) != 0) return Unsupported(packet, 3, "SW", packet.dw[3], "no byte swap is");
  if (!ReservedZero(packet, 3, layout_.write_count, &outcome)) return outcome;
  const uint64_t to = Address(packet.dw[1], packet.dw[2]);
  if (to % 4 != 0) return Malformed(packet, 1, "DST_ADDR_LO", packet.dw[1], "a multiple of 4");
  const uint64_t bytes = uint64_t{packet.count - 4} * 4;
  if (!host_->memory().Write(to, packet.dw + 4, bytes))
    return MemoryFault(packet, to, bytes, emu::Access::kWrite);
  host_->counters().sdma_bytes += bytes;
  host_->machine().HostVisible();
  return Outcome::kDone;
}

Outcome SdmaQueue::FENCE(const Packet& packet, uint64_t*) {
  if (SubOp(packet) != 0) return Unsupported(packet, 0, "SUB_OP", SubOp(packet), "a plain fence (0) is");
  Outcome outcome;
  if (!ReservedZero(packet, 0, layout_.fence_header, &outcome)) return outcome;
  const uint64_t to = Address(packet.dw[1], packet.dw[2]);
  if (to % 4 != 0) return Malformed(packet, 1, "ADDR_LO", packet.dw[1], "a multiple of 4");
  return Store32(packet, to, packet.dw[3]) ? Outcome::kDone : Outcome::kFault;
}

Outcome SdmaQueue::TRAP(const Packet& packet, uint64_t*) {
  Outcome outcome;
  if (!ReservedZero(packet, 0, 0xffffff00, &outcome)) return outcome;
  if (!ReservedZero(packet, 1, 0xf0000000, &outcome)) return outcome;
  host_->Interrupt(config_.queue_id, packet.dw[1], 28);
  return Outcome::kDone;
}

bool SdmaQueue::PollSatisfied() {
  const uint8_t* p = host_->memory().Translate(wait_.va, 4, emu::Access::kRead);
  // Unmapped meanwhile: let the packet run again, and fault.
  if (p == nullptr) return true;
  const uint32_t value = __atomic_load_n(reinterpret_cast<const uint32_t*>(p), __ATOMIC_ACQUIRE) & wait_.mask;
  return Compare(wait_.function, value, wait_.reference);
}

Outcome SdmaQueue::POLL_REGMEM(const Packet& packet, uint64_t*) {
  if (SubOp(packet) != 0) return Unsupported(packet, 0, "SUB_OP", SubOp(packet), "WAIT_REG_MEM (0) is");
  Outcome outcome;
  if (!ReservedZero(packet, 0, layout_.poll_header, &outcome)) return outcome;
  if (Bits(packet.dw[0], 31, 31) == 0) return Unsupported(packet, 0, "MEM_POLL", 0, "memory (1) is");
  if (Bits(packet.dw[0], 26, 26) != 0) return Unsupported(packet, 0, "HDP_FLUSH", 1, "0 is");
  const uint32_t function = static_cast<uint32_t>(Bits(packet.dw[0], 30, 28));
  if (function > 6) return Malformed(packet, 0, "FUNC", function, "0 to 6");
  if (!ReservedZero(packet, 5, 0xf0000000, &outcome)) return outcome;
  const uint32_t retries = static_cast<uint32_t>(Bits(packet.dw[5], 27, 16));
  if (retries != 0xfff) return Unsupported(packet, 5, "RETRY_COUNT", retries, "0xfff (for ever) is");
  wait_ = Wait{};
  wait_.va = Address(packet.dw[1], packet.dw[2]);
  wait_.function = function;
  wait_.reference = packet.dw[3];
  wait_.mask = packet.dw[4];
  if (wait_.va % 4 != 0) return Malformed(packet, 1, "ADDR_LO", packet.dw[1], "a multiple of 4");
  uint32_t ignored;
  if (!Load32(packet, wait_.va, &ignored)) return Outcome::kFault;
  if (PollSatisfied()) return Outcome::kDone;
  wait_.active = true;
  return Outcome::kBlocked;
}

Outcome SdmaQueue::TIMESTAMP(const Packet& packet, uint64_t*) {
  if (SubOp(packet) != 1 && SubOp(packet) != 2) {
    return Unsupported(packet, 0, "SUB_OP", SubOp(packet), "GET (1) and GET_GLOBAL (2) are");
  }
  Outcome outcome;
  if (!ReservedZero(packet, 0, layout_.timestamp_header, &outcome)) return outcome;
  const uint64_t to = Address(packet.dw[1], packet.dw[2]);
  if (to % 8 != 0) return Malformed(packet, 1, "WRITE_ADDR_LO", packet.dw[1], "a multiple of 8");
  return Store64(packet, to, host_->GpuClock()) ? Outcome::kDone : Outcome::kFault;
}

Outcome SdmaQueue::GCR_REQ(const Packet& packet, uint64_t*) {
  // Cache maintenance: memory is coherent here.
  if (SubOp(packet) != 0) return Unsupported(packet, 0, "SUB_OP", SubOp(packet), "a user request (0) is");
  return Outcome::kDone;
}

Outcome SdmaQueue::INDIRECT(const Packet& packet, uint64_t*) {
  Outcome outcome;
  if (!ReservedZero(packet, 0, layout_.indirect_header, &outcome)) return outcome;
  const uint32_t vmid = static_cast<uint32_t>(Bits(packet.dw[0], 19, 16));
  if (vmid != 0) return Unsupported(packet, 0, "VMID", vmid, "0 is: the kernel driver chooses");
  if (Bits(packet.dw[0], 31, 31) != 0)
    return Unsupported(packet, 0, "PRIV", 1, "user queues have no privileged buffers");
  if (in_indirect_buffer()) return Malformed(packet, 0, "nesting", indirect_depth() + 1, "one level");
  if (PositionAfter(packet) % 8 != 0) {
    return Malformed(packet, 0, "end of the packet", PositionAfter(packet),
                     "a multiple of 8 dwords in the ring");
  }
  const uint64_t va = Address(packet.dw[1], packet.dw[2]);
  if (va % 32 != 0) return Malformed(packet, 1, "IB_BASE_LO", packet.dw[1], "a multiple of 32");
  if (!ReservedZero(packet, 3, 0xfff00000, &outcome)) return outcome;
  const uint32_t dwords = packet.dw[3];
  if (dwords == 0) return Malformed(packet, 3, "IB_SIZE", 0, "at least 1 dword");
  if (host_->memory().Translate(va, uint64_t{dwords} * 4, emu::Access::kRead) == nullptr) {
    return MemoryFault(packet, va, uint64_t{dwords} * 4, emu::Access::kRead);
  }
  EnterIndirect(va, dwords, false);
  return Outcome::kJump;
}

}  // namespace understudy::mockgpu::amd
