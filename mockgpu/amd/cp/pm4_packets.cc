// SPDX-License-Identifier: Apache-2.0
// What each PM4 packet does: one function a packet, fields in the order of its dwords.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "mockgpu/amd/cp/pm4_queue.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::amd {
namespace {

uint64_t Address(uint32_t low, uint32_t high) { return uint64_t{low} | uint64_t{high} << 32; }

// VGT_EVENT_TYPE, of these the same on all generations.
constexpr uint32_t kCacheFlushTs = 0x04, kCsPartialFlush = 0x07, kCacheFlushAndInvTs = 0x14,
                   kCacheFlushAndInv = 0x16, kBottomOfPipeTs = 0x28, kCsDone = 0x2f;

constexpr uint32_t kShStart = 0x2c00, kShEnd = 0x3000, kUconfigStart = 0xc000, kUconfigEnd = 0x10000;

constexpr uint32_t kComputeShaderEn = 1u << 0;

}  // namespace

Outcome Pm4Queue::NOP(const Packet&) { return Outcome::kDone; }

Outcome Pm4Queue::WriteRegister(const Packet& packet, int dword, uint32_t address, uint32_t value) {
  const Reg reg = registers_.At(address);
  if (reg == Reg::kCount) return Unsupported(packet, dword, "register", address, "it cannot be written");
  const RegisterInfo& info = InfoOf(reg);
  if (info.kind == RegisterKind::kDone)
    return Unsupported(packet, dword, info.name, address, "it cannot be written");
  if (info.kind == RegisterKind::kZero && value != 0)
    return Unsupported(packet, dword, info.name, value, "only 0 is");
  registers_.Set(reg, value);
  return Outcome::kDone;
}

Outcome Pm4Queue::ReadRegister(const Packet& packet, int dword, uint32_t address, uint32_t* value) {
  const Reg reg = registers_.At(address);
  if (reg == Reg::kCount) return Unsupported(packet, dword, "register", address, "it cannot be read");
  *value = registers_.Get(reg);
  return Outcome::kDone;
}

Outcome Pm4Queue::SetRegisters(const Packet& packet, uint32_t base, uint32_t end) {
  Outcome outcome;
  // Bits 31:28 select an indexed write, 27:23 a VMID shift: of the graphics engine.
  if (!ReservedZero(packet, 1, 0xffff0000, &outcome)) return outcome;
  const uint32_t first = base + packet.dw[1];
  const uint32_t count = packet.count - 2;
  if (first + count > end) {
    return Malformed(packet, 1, "register offset", packet.dw[1],
                     absl::StrFormat("at most 0x%x", end - base - count));
  }
  for (uint32_t i = 0; i < count; ++i) {
    outcome = WriteRegister(packet, static_cast<int>(2 + i), first + i, packet.dw[2 + i]);
    if (outcome != Outcome::kDone) return outcome;
  }
  return Outcome::kDone;
}

Outcome Pm4Queue::SET_SH_REG(const Packet& packet) { return SetRegisters(packet, kShStart, kShEnd); }
Outcome Pm4Queue::SET_UCONFIG_REG(const Packet& packet) {
  return SetRegisters(packet, kUconfigStart, kUconfigEnd);
}

Outcome Pm4Queue::DISPATCH_DIRECT(const Packet& packet) {
  const uint32_t initiator = packet.dw[4];
  if ((initiator & kComputeShaderEn) == 0) {
    return Malformed(packet, 4, "COMPUTE_DISPATCH_INITIATOR", initiator, "COMPUTE_SHADER_EN (bit 0) set");
  }
  const uint32_t unknown =
      initiator & ~(kComputeShaderEn | layout_.initiator_hints | layout_.initiator_state);
  if (unknown != 0) {
    return Unsupported(
        packet, 4, "COMPUTE_DISPATCH_INITIATOR bits", unknown,
        absl::StrCat("PARTIAL_TG_EN, FORCE_START_AT_000", (layout_.initiator_state & emu::amd::kCsW32En) != 0
                                                              ? ", USE_THREAD_DIMENSIONS and CS_W32_EN are"
                                                              : " and USE_THREAD_DIMENSIONS are"));
  }
  for (int i = 0; i < 3; ++i) {
    if ((registers_.Get(Reg::COMPUTE_NUM_THREAD_X + i) & 0xffff) == 0) {
      return Malformed(packet, 0,
                       absl::StrCat("COMPUTE_NUM_THREAD_", std::string(1, static_cast<char>('X' + i))),
                       registers_.Get(Reg::COMPUTE_NUM_THREAD_X + i), "at least 1 thread in bits 15:0");
    }
  }
  // A grid with a zero dimension has no work-groups; the hardware moves on.
  if (packet.dw[1] == 0 || packet.dw[2] == 0 || packet.dw[3] == 0) return Outcome::kDone;

  PipeItem item;
  item.dispatch = std::make_unique<DispatchActor>(host_, registers_.ForDispatch(packet.dw + 1, initiator),
                                                  config_.queue_id);
  item.dispatch->on_retire = [this](DispatchActor* actor) { DispatchRetired(actor); };
  item.origin = NewReport(FaultClass::kBadDispatch, packet);
  ++running_;
  pipe_.push_back(std::move(item));
  return Outcome::kDone;
}

Outcome Pm4Queue::EVENT_WRITE(const Packet& packet) {
  const uint32_t type = static_cast<uint32_t>(Bits(packet.dw[1], 5, 0));
  const uint32_t index = static_cast<uint32_t>(Bits(packet.dw[1], 11, 8));
  Outcome outcome;
  if (!ReservedZero(packet, 1, ~0xf3fu, &outcome)) return outcome;
  if (packet.count != 2)
    return Unsupported(packet, 0, "count", packet.count - 2, "events without an address are");
  switch (type) {
    case kCsPartialFlush:
      if (index != 4) return Malformed(packet, 1, "EVENT_INDEX", index, "4 for CS_PARTIAL_FLUSH");
      if (DispatchesInFlight()) {
        wait_ = Wait{};
        wait_.active = wait_.for_dispatches = true;
        return Outcome::kBlocked;
      }
      return Outcome::kDone;
    case kCacheFlushAndInv:
      if (index != 0) return Malformed(packet, 1, "EVENT_INDEX", index, "0 for CACHE_FLUSH_AND_INV_EVENT");
      return Outcome::kDone;
    default:
      return Unsupported(packet, 1, "EVENT_TYPE", type,
                         "CS_PARTIAL_FLUSH (7) and CACHE_FLUSH_AND_INV_EVENT (0x16) are");
  }
}

Outcome Pm4Queue::ACQUIRE_MEM(const Packet& packet) {
  // Memory is coherent here, so the caches that the packet names have nothing to lose. The size and base
  // words carry fewer bits than clients fill in (all ones for "everything"), and the hardware ignores the
  // rest.
  Outcome outcome;
  if (!ReservedZero(packet, 6, 0xffff0000, &outcome)) return outcome;  // poll interval 15:0
  if (!ReservedZero(packet, layout_.acquire_mem_caches, layout_.acquire_mem_reserved, &outcome))
    return outcome;
  return Outcome::kDone;
}

Outcome Pm4Queue::RELEASE_MEM(const Packet& packet) {
  const uint32_t type = static_cast<uint32_t>(Bits(packet.dw[1], 5, 0));
  const uint32_t index = static_cast<uint32_t>(Bits(packet.dw[1], 11, 8));
  Outcome outcome;
  if (!ReservedZero(packet, 1, layout_.release_mem_reserved, &outcome)) return outcome;
  if (index == 5) {
    if (type != kCacheFlushTs && type != kCacheFlushAndInvTs && type != kBottomOfPipeTs) {
      return Unsupported(packet, 1, "EVENT_TYPE", type, "timestamp events 0x04, 0x14 and 0x28 are");
    }
  } else if (index == 6) {
    if (type != kCsDone) return Malformed(packet, 1, "EVENT_TYPE", type, "CS_DONE (0x2f) with EVENT_INDEX 6");
  } else {
    return Malformed(packet, 1, "EVENT_INDEX", index, "5 (end of pipe) or 6 (shader done)");
  }
  if (!ReservedZero(packet, 2, 0x18fcffff, &outcome)) return outcome;
  EndOfPipe event;
  const uint32_t dst_sel = static_cast<uint32_t>(Bits(packet.dw[2], 17, 16));
  event.int_sel = static_cast<uint32_t>(Bits(packet.dw[2], 26, 24));
  event.data_sel = static_cast<uint32_t>(Bits(packet.dw[2], 31, 29));
  if (dst_sel > 1) return Unsupported(packet, 2, "DST_SEL", dst_sel, "memory (0) and L2 (1) are");
  if (event.int_sel > 3) return Unsupported(packet, 2, "INT_SEL", event.int_sel, "0 to 3 are");
  if (event.data_sel > 3) return Unsupported(packet, 2, "DATA_SEL", event.data_sel, "0 to 3 are");
  event.va = Address(packet.dw[3], packet.dw[4]);
  event.data = Address(packet.dw[5], packet.dw[6]);
  event.context = packet.dw[7];
  event.packet_va = packet.va;
  const uint64_t alignment = event.data_sel == 0 ? 1 : event.data_sel == 1 ? 4 : 8;
  if (event.va % alignment != 0)
    return Malformed(packet, 3, "ADDRESS_LO", packet.dw[3], absl::StrCat("a multiple of ", alignment));
  if (config_.eop_va == 0) {
    // The event passes through the end-of-pipe buffer that the queue was created with.
    return MemoryFault(packet, 0, 8, emu::Access::kWrite);
  }
  if (pipe_.empty()) {
    FireEndOfPipe(event);
    return stopped() ? Outcome::kFault : Outcome::kDone;
  }
  PipeItem item;
  item.event = event;
  pipe_.push_back(std::move(item));
  return Outcome::kDone;
}

Outcome Pm4Queue::WRITE_DATA(const Packet& packet) {
  Outcome outcome;
  // 11:8 destination, 16 one address, 20 confirm, 26:25 cache policy, 31:30 engine.
  if (!ReservedZero(packet, 1, 0x39eef0ff, &outcome)) return outcome;
  const uint32_t dst = static_cast<uint32_t>(Bits(packet.dw[1], 11, 8));
  const bool one_address = Bits(packet.dw[1], 16, 16) != 0;
  const uint64_t address = Address(packet.dw[2], packet.dw[3]);
  const uint32_t count = packet.count - 4;
  switch (dst) {
    case 0:
      if (packet.dw[3] != 0) return Malformed(packet, 3, "register address high", packet.dw[3], "0");
      for (uint32_t i = 0; i < count; ++i) {
        outcome = WriteRegister(packet, static_cast<int>(4 + i), packet.dw[2] + (one_address ? 0 : i),
                                packet.dw[4 + i]);
        if (outcome != Outcome::kDone) return outcome;
      }
      return Outcome::kDone;
    case 1:
    case 2:
    case 5:
      if (address % 4 != 0) return Malformed(packet, 2, "DST_MEM_ADDR_LO", packet.dw[2], "a multiple of 4");
      for (uint32_t i = 0; i < count; ++i) {
        if (!Store32(packet, address + (one_address ? 0 : uint64_t{i} * 4), packet.dw[4 + i]))
          return Outcome::kFault;
      }
      return Outcome::kDone;
    default:
      return Unsupported(packet, 1, "DST_SEL", dst, "registers (0) and memory (1, 2, 5) are");
  }
}

Outcome Pm4Queue::COPY_DATA(const Packet& packet) {
  Outcome outcome;
  // 3:0 source, 11:8 destination, 14:13 cache policy, 16 count, 20 confirm, 26:25 cache policy, 29 status.
  if (!ReservedZero(packet, 1, 0xd9ee90f0, &outcome)) return outcome;
  const uint32_t src = static_cast<uint32_t>(Bits(packet.dw[1], 3, 0));
  const uint32_t dst = static_cast<uint32_t>(Bits(packet.dw[1], 11, 8));
  const bool wide = Bits(packet.dw[1], 16, 16) != 0;
  const uint64_t from = Address(packet.dw[2], packet.dw[3]), to = Address(packet.dw[4], packet.dw[5]);
  const uint64_t alignment = wide ? 8 : 4;
  uint64_t value = 0;
  switch (src) {
    case 0: {
      uint32_t low = 0, high = 0;
      outcome = ReadRegister(packet, 2, packet.dw[2], &low);
      if (outcome == Outcome::kDone && wide) outcome = ReadRegister(packet, 2, packet.dw[2] + 1, &high);
      if (outcome != Outcome::kDone) return outcome;
      value = Address(low, high);
      break;
    }
    case 1:
    case 2: {
      if (from % alignment != 0)
        return Malformed(packet, 2, "SRC_ADDR_LO", packet.dw[2], absl::StrCat("a multiple of ", alignment));
      uint32_t low = 0;
      if (wide ? !Load64(packet, from, &value) : !Load32(packet, from, &low)) return Outcome::kFault;
      if (!wide) value = low;
      break;
    }
    case 5:
      value = from;
      break;
    case 9:
      value = host_->GpuClock();
      break;
    default:
      return Unsupported(packet, 1, "SRC_SEL", src,
                         "registers (0), memory (1, 2), immediate (5) and the GPU clock (9) are");
  }
  switch (dst) {
    case 0:
      outcome = WriteRegister(packet, 4, packet.dw[4], static_cast<uint32_t>(value));
      if (outcome == Outcome::kDone && wide)
        outcome = WriteRegister(packet, 4, packet.dw[4] + 1, static_cast<uint32_t>(value >> 32));
      return outcome;
    case 2:
    case 5:
      if (to % alignment != 0)
        return Malformed(packet, 4, "DST_ADDR_LO", packet.dw[4], absl::StrCat("a multiple of ", alignment));
      if (wide ? !Store64(packet, to, value) : !Store32(packet, to, static_cast<uint32_t>(value)))
        return Outcome::kFault;
      return Outcome::kDone;
    default:
      return Unsupported(packet, 1, "DST_SEL", dst, "registers (0) and memory (2, 5) are");
  }
}

Outcome Pm4Queue::WAIT_REG_MEM(const Packet& packet) {
  Outcome outcome;
  // 2:0 function, 5:4 space, 7:6 operation, 9:8 engine, 26:25 cache policy.
  if (!ReservedZero(packet, 1, 0xf9fffc08, &outcome)) return outcome;
  const uint32_t function = static_cast<uint32_t>(Bits(packet.dw[1], 2, 0));
  const uint32_t space = static_cast<uint32_t>(Bits(packet.dw[1], 5, 4));
  const uint32_t operation = static_cast<uint32_t>(Bits(packet.dw[1], 7, 6));
  if (function > 6) return Malformed(packet, 1, "FUNCTION", function, "0 to 6");
  if (space == 1) {
    if (operation != 0 && operation != 3)
      return Unsupported(packet, 1, "OPERATION", operation, "0 and 3 are, for memory");
    wait_ = Wait{};
    wait_.va = Address(packet.dw[2], packet.dw[3]);
    wait_.function = function;
    wait_.reference = packet.dw[4];
    wait_.mask = packet.dw[5];
    if (wait_.va % 4 != 0) return Malformed(packet, 2, "MEM_POLL_ADDR_LO", packet.dw[2], "a multiple of 4");
    uint32_t ignored;
    if (!Load32(packet, wait_.va, &ignored)) return Outcome::kFault;
    if (WaitSatisfied(wait_)) return Outcome::kDone;
    wait_.active = true;
    return Outcome::kBlocked;
  }
  if (space != 0) return Malformed(packet, 1, "MEM_SPACE", space, "0 or 1");
  // Of registers only the HDP flush can be waited for: write the request, and its completion reads all ones.
  if (operation != 1 || registers_.At(packet.dw[2]) != Reg::GPU_HDP_FLUSH_REQ ||
      registers_.At(packet.dw[3]) != Reg::GPU_HDP_FLUSH_DONE) {
    return Unsupported(packet, 2, "REG_POLL_ADDR", packet.dw[2],
                       "write-wait-write of the HDP flush registers is");
  }
  if (function != 3 && function != 5)
    return Unsupported(packet, 1, "FUNCTION", function, "3 and 5 are, for registers");
  outcome = WriteRegister(packet, 2, packet.dw[2], packet.dw[4]);
  if (outcome != Outcome::kDone) return outcome;
  uint32_t done = 0;
  outcome = ReadRegister(packet, 3, packet.dw[3], &done);
  if (outcome != Outcome::kDone) return outcome;
  if ((done & packet.dw[5]) < packet.dw[4]) {
    return Malformed(packet, 4, "REFERENCE", packet.dw[4], "bits that the mask keeps");
  }
  return Outcome::kDone;
}

Outcome Pm4Queue::INDIRECT_BUFFER(const Packet& packet) {
  Outcome outcome;
  const uint64_t va = Address(packet.dw[1], packet.dw[2]);
  const uint32_t control = packet.dw[3];
  // 19:0 size, 20 chain, 23 valid, 29:28 cache policy. A VMID is the kernel driver's to choose.
  if (!ReservedZero(packet, 3, 0x4f400000, &outcome)) return outcome;
  if (Bits(control, 31, 31) != 0)
    return Unsupported(packet, 3, "PRIV", 1, "user queues have no privileged buffers");
  if (Bits(control, 21, 21) != 0) return Unsupported(packet, 3, "OFFLOAD_POLLING", 1, "0 is");
  if (Bits(control, 23, 23) == 0) return Malformed(packet, 3, "VALID", 0, "1");
  const uint32_t dwords = static_cast<uint32_t>(Bits(control, 19, 0));
  const bool chain = Bits(control, 20, 20) != 0;
  if (va % 4 != 0) return Malformed(packet, 1, "IB_BASE_LO", packet.dw[1], "a multiple of 4");
  if (dwords == 0) return Malformed(packet, 3, "IB_SIZE", 0, "at least 1 dword");
  if (chain && !in_indirect_buffer()) return Malformed(packet, 3, "CHAIN", 1, "0 in the ring");
  if (!chain && indirect_depth() >= 2)
    return Malformed(packet, 0, "nesting", indirect_depth() + 1, "at most 2 levels");
  if (host_->memory().Translate(va, uint64_t{dwords} * 4, emu::Access::kRead) == nullptr) {
    return MemoryFault(packet, va, uint64_t{dwords} * 4, emu::Access::kRead);
  }
  EnterIndirect(va, dwords, chain);
  return Outcome::kJump;
}

Outcome Pm4Queue::PRED_EXEC(const Packet& packet) {
  Outcome outcome;
  if (!ReservedZero(packet, 1, 0x00ffc000, &outcome)) return outcome;
  if (!in_indirect_buffer()) return Malformed(packet, 0, "place", 0, "an indirect buffer");
  // There is one XCC, the lowest bit of the device select.
  const uint32_t skip = static_cast<uint32_t>(Bits(packet.dw[1], 13, 0));
  if (Bits(packet.dw[1], 24, 24) != 0) return Outcome::kDone;
  if (!SkipDwords(packet, skip))
    return Malformed(packet, 1, "EXEC_COUNT", skip, "dwords inside the indirect buffer");
  return Outcome::kDone;
}

}  // namespace understudy::mockgpu::amd
