// SPDX-License-Identifier: Apache-2.0
// Untyped buffer loads, stores and atomics through a descriptor, transfers between buffers and LDS, and cache
// operations (RDNA3 ISA, "Vector memory buffer instructions"; CDNA3 ISA, "Memory buffer load to LDS").
// Formatted ones are in mem_buffer_format.cc.

#include <cstring>

#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/mem_access.h"
#include "emu/amd/semantics/mem_atomic_apply.h"
#include "emu/amd/semantics/mem_buffer_format.h"
#include "emu/amd/semantics/mem_buffer_rsrc.h"
#include "emu/amd/semantics/mem_forms.h"
#include "emu/amd/semantics/mem_moves.h"

namespace understudy::emu::amd {
namespace {

// Lanes wholly in range go through the fast path; the others' missing bytes read as zero and are not written.
// An atomic out of range does nothing and returns zero.
template <int kBytes, Access kAccess, class Fn>
ExecResult AccessBuffer(const Inst& inst, WaveState& wave, Fn&& fn) {
  BufferDescriptor buffer;
  BufferLanes lanes;
  ExecResult result = ReadBufferDescriptor(inst, wave, &buffer);
  if (result != ExecResult::kNext) return result;
  result = lanes.Find(inst, wave, buffer, kBytes, kAccess != Access::kAtomic);
  if (result != ExecResult::kNext) return result;
  for (uint64_t mask = lanes.partial; mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    alignas(16) uint8_t bounce[kBytes] = {};
    const uint32_t n = lanes.in_range[lane];
    if (n != 0) LogGlobalAccess(wave, kAccess, lane, lanes.address[lane], n);
    if (n != 0 && kAccess == Access::kRead && !wave.mem->Read(lanes.address[lane], bounce, n)) {
      return RaiseMemoryFault(wave, lanes.address[lane], n, kAccess, lane);
    }
    fn(lane, bounce);
    if (n != 0 && kAccess == Access::kWrite && !wave.mem->Write(lanes.address[lane], bounce, n)) {
      return RaiseMemoryFault(wave, lanes.address[lane], n, kAccess, lane);
    }
  }
  for (uint64_t mask = lanes.split; mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    alignas(16) uint8_t bounce[kBytes] = {};
    const uint32_t n = lanes.split_at[lane];
    const struct {
      uint64_t address;
      uint8_t* bytes;
      uint32_t size;
    } kParts[] = {{lanes.address[lane], bounce, n}, {lanes.next_element[lane], bounce + n, kBytes - n}};
    for (const auto& part : kParts) {
      LogGlobalAccess(wave, kAccess, lane, part.address, part.size);
      if (kAccess == Access::kRead && !wave.mem->Read(part.address, part.bytes, part.size)) {
        return RaiseMemoryFault(wave, part.address, part.size, kAccess, lane);
      }
    }
    fn(lane, bounce);
    for (const auto& part : kParts) {
      if (kAccess == Access::kWrite && !wave.mem->Write(part.address, part.bytes, part.size)) {
        return RaiseMemoryFault(wave, part.address, part.size, kAccess, lane);
      }
    }
  }
  if constexpr (kAccess == Access::kAtomic) {
    for (uint64_t mask = lanes.whole; mask != 0; mask &= mask - 1) {
      const int lane = __builtin_ctzll(mask);
      if (lanes.address[lane] % kBytes != 0) {
        return RaiseMisaligned(wave, lanes.address[lane], kBytes, kAccess, lane);
      }
    }
  }
  return AccessGlobal<kBytes, kAccess>(wave, lanes.whole, lanes.address, fn);
}

template <LoadForm kForm>
ExecResult Load(const Inst& inst, WaveState& wave) {
  uint32_t* out = Row(wave, inst.dst[0]);
  const int stride = wave.wave_size;
  return AccessBuffer<FormBytes(kForm), Access::kRead>(
      inst, wave, [=](int lane, const uint8_t* bytes) { PutLane<kForm>(out + lane, stride, bytes); });
}

template <StoreForm kForm>
ExecResult Store(const Inst& inst, WaveState& wave) {
  const uint32_t* data = Row(wave, inst.src[3]);
  const int stride = wave.wave_size;
  return AccessBuffer<FormBytes(kForm), Access::kWrite>(
      inst, wave, [=](int lane, uint8_t* bytes) { GetLane<kForm>(data + lane, stride, bytes); });
}

template <class Op, class T>
ExecResult Atomic(const Inst& inst, WaveState& wave) {
  constexpr int kWords = sizeof(T) / 4;
  const int stride = wave.wave_size;
  const uint32_t* data = Row(wave, inst.src[3]);
  const uint32_t* data2 = Op::kDataWords == 2 ? data + kWords * stride : data;
  uint32_t* out = InLanes(inst.dst[0]) ? Row(wave, inst.dst[0]) : nullptr;
  AtomicMath math = MemoryAtomicMath<Op>(wave);
  return AccessBuffer<sizeof(T), Access::kAtomic>(inst, wave, [&](int lane, uint8_t* bytes) {
    const T old = ApplyAtomicShared<Op, T>(math, bytes, GetValue<T>(data + lane, stride),
                                           GetValue<T>(data2 + lane, stride));
    if (out != nullptr) PutValue<T>(out + lane, stride, old);
  });
}

// CDNA's loads with the LDS bit: what a lane loads goes to M0 + offset + lane * 4 of LDS, three and four
// dwords 16 bytes apart; narrow values are extended to a dword.
template <LoadForm kForm>
ExecResult LoadToLds(const Inst& inst, WaveState& wave) {
  constexpr int kWords = (FormBytes(kForm) + 3) / 4;
  const uint32_t base = LdsTransferBase(inst, wave);
  uint32_t loaded[kMaxLanes][kWords];
  const ExecResult result = AccessBuffer<FormBytes(kForm), Access::kRead>(
      inst, wave, [&](int lane, const uint8_t* bytes) { PutLane<kForm>(loaded[lane], 1, bytes); });
  if (result != ExecResult::kNext) return result;
  ForEachLane(wave.exec(), [&](int lane) {
    const uint32_t at = base + static_cast<uint32_t>(lane) * (kWords > 2 ? 16 : 4 * kWords);
    AccessLds<4 * kWords, Access::kWrite>(
        wave, lane, at, [&](int l, uint8_t* bytes) { std::memcpy(bytes, loaded[l], 4 * kWords); });
  });
  return ExecResult::kNext;
}

// The other way, a dword a lane.
ExecResult StoreFromLds(const Inst& inst, WaveState& wave) {
  const uint32_t base = LdsTransferBase(inst, wave);
  return AccessBuffer<4, Access::kWrite>(inst, wave, [&](int lane, uint8_t* bytes) {
    AccessLds<4, Access::kRead>(wave, lane, base + 4 * static_cast<uint32_t>(lane),
                                [&](int, const uint8_t* from) { std::memcpy(bytes, from, 4); });
  });
}

ExecFn FindLdsLoad(const Inst& inst) {
  switch (inst.op) {
#define LDS_LOAD(cdna, rdna, form)     \
  case Opcode::BUFFER_LOAD_##cdna:     \
  case Opcode::BUFFER_LOAD_LDS_##rdna: \
    return &LoadToLds<LoadForm::form>;
    LDS_LOAD(UBYTE, U8, kU8)
    LDS_LOAD(SBYTE, I8, kI8)
    LDS_LOAD(USHORT, U16, kU16)
    LDS_LOAD(SSHORT, I16, kI16)
    LDS_LOAD(DWORD, B32, kB32)
#undef LDS_LOAD
    case Opcode::BUFFER_LOAD_DWORDX3:
      return &LoadToLds<LoadForm::kB96>;
    case Opcode::BUFFER_LOAD_DWORDX4:
      return &LoadToLds<LoadForm::kB128>;
    default:
      return nullptr;
  }
}

// Memory is coherent here: there is no cache to write back or invalidate.
ExecResult Nothing(const Inst&, WaveState&) { return ExecResult::kNext; }

}  // namespace

ExecFn FindBufferExec(const Inst& inst) {
  if (inst.lds && inst.op != Opcode::BUFFER_STORE_LDS_DWORD) {
    const ExecFn load = FindLdsLoad(inst);
    return load != nullptr || inst.op != Opcode::BUFFER_LOAD_FORMAT_X ? load : FindBufferFormatExec(inst);
  }
  switch (inst.op) {
#define MEM_LOAD(suffix, form)  \
  case Opcode::BUFFER_##suffix: \
    return &Load<LoadForm::form>;
#define MEM_STORE(suffix, form) \
  case Opcode::BUFFER_##suffix: \
    return &Store<StoreForm::form>;
#define MEM_ATOMIC(suffix, operation, type) \
  case Opcode::BUFFER_##suffix:             \
    return &Atomic<atomic::operation, type>;
#include "emu/amd/semantics/mem_ops.inc"
    case Opcode::BUFFER_GL0_INV:
    case Opcode::BUFFER_GL1_INV:
    case Opcode::BUFFER_WBL2:
    case Opcode::BUFFER_INV:
    case Opcode::BUFFER_INVL2:
    case Opcode::BUFFER_WBINVL1:
    case Opcode::BUFFER_WBINVL1_VOL:
      return &Nothing;
    case Opcode::BUFFER_STORE_LDS_DWORD:
      return &StoreFromLds;
    case Opcode::BUFFER_LOAD_LDS_U8:
    case Opcode::BUFFER_LOAD_LDS_I8:
    case Opcode::BUFFER_LOAD_LDS_U16:
    case Opcode::BUFFER_LOAD_LDS_I16:
    case Opcode::BUFFER_LOAD_LDS_B32:
      return FindLdsLoad(inst);
    default:
      return FindBufferFormatExec(inst);
  }
}

}  // namespace understudy::emu::amd
