// SPDX-License-Identifier: Apache-2.0
// MUBUF: untyped buffer loads, stores and atomics through a descriptor, with its range check (RDNA3 ISA,
// "Vector memory buffer instructions"). Swizzled descriptors, ADD_TID_ENABLE and TFE are refused.

#include <algorithm>

#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/mem_access.h"
#include "emu/amd/semantics/mem_atomic_apply.h"
#include "emu/amd/semantics/mem_forms.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

// Buffer resource (RDNA3 ISA, "Buffer resource descriptor").
struct Descriptor {
  uint64_t base;
  uint32_t stride, swizzle, records, oob_select, type;
  bool add_tid;

  explicit Descriptor(const uint32_t* words)
      : base(words[0] | uint64_t{words[1] & 0xffffu} << 32),
        stride(static_cast<uint32_t>(Bits(words[1], 29, 16))),
        swizzle(static_cast<uint32_t>(Bits(words[1], 31, 30))),
        records(words[2]),
        oob_select(static_cast<uint32_t>(Bits(words[3], 29, 28))),
        type(static_cast<uint32_t>(Bits(words[3], 31, 30))),
        add_tid(Bits(words[3], 23, 23) != 0) {}
};

// What OOB_SELECT checks.
enum OutOfBounds : uint32_t { kStructured = 0, kIndexOnly = 1, kEmptyOnly = 2, kRaw = 3 };

// Bytes of an access of `size` bytes that are in range: all or none, but a raw buffer is checked dword by
// dword.
uint32_t BytesInRange(const Descriptor& d, uint64_t index, uint64_t offset, uint32_t size) {
  switch (d.oob_select) {
    case kStructured:
      return index < d.records && offset + size <= d.stride ? size : 0;
    case kIndexOnly:
      return index < d.records ? size : 0;
    case kEmptyOnly:
      return d.records != 0 ? size : 0;
    default: {
      const uint64_t at = index * d.stride + offset;
      if (at >= d.records) return 0;
      const uint64_t room = d.records - at;
      if (room >= size) return size;
      return static_cast<uint32_t>(room / 4 * 4);
    }
  }
}

// Lanes wholly in range go through the fast path; the others' missing bytes read as zero and are not written.
template <int kBytes, Access kAccess, class Fn>
ExecResult AccessBuffer(const Inst& inst, WaveState& wave, Fn&& fn) {
  if (inst.tfe) return RaiseFault(wave, FaultKind::kUnsupported, -1, "a buffer access with TFE is refused");
  if (inst.src[1].reg == kNull)
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "a buffer descriptor in NULL");
  const Descriptor d(&wave.sgpr[inst.src[1].reg]);
  if (d.type != 0) return RaiseFault(wave, FaultKind::kUnsupported, -1, "the descriptor is not a buffer's");
  if (d.swizzle != 0) return RaiseFault(wave, FaultKind::kUnsupported, -1, "a swizzled buffer is refused");
  if (d.add_tid)
    return RaiseFault(wave, FaultKind::kUnsupported, -1, "a buffer with ADD_TID_ENABLE is refused");
  const uint32_t scalar_offset = ReadScalar32(inst.src[2], wave);
  const uint32_t* vaddr = inst.src[0].kind == Operand::Kind::kNone ? nullptr : Row(wave, inst.src[0]);
  const uint32_t* vindex = inst.idxen ? vaddr : nullptr;
  const uint32_t* voffset = inst.offen ? (inst.idxen ? vaddr + wave.wave_size : vaddr) : nullptr;

  uint64_t address[kMaxLanes];
  uint32_t in_range[kMaxLanes];
  uint64_t whole = 0;
  const uint64_t exec = wave.exec();
  ForEachLane(exec, [&](int lane) {
    const uint64_t index = vindex == nullptr ? 0 : vindex[lane];
    const uint64_t offset =
        uint64_t{static_cast<uint32_t>(inst.offset)} + (voffset == nullptr ? 0 : voffset[lane]);
    address[lane] = d.base + scalar_offset + index * d.stride + offset;
    in_range[lane] = BytesInRange(d, index, offset, kBytes);
    whole |= uint64_t{in_range[lane] == kBytes} << lane;
  });
  for (uint64_t mask = exec & ~whole; mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    uint8_t bounce[kBytes] = {};
    const uint32_t n = in_range[lane];
    if (n != 0 && kAccess == Access::kRead && !wave.mem->Read(address[lane], bounce, n)) {
      return RaiseMemoryFault(wave, address[lane], n, kAccess, lane);
    }
    fn(lane, bounce);
    if (n != 0 && kAccess == Access::kWrite && !wave.mem->Write(address[lane], bounce, n)) {
      return RaiseMemoryFault(wave, address[lane], n, kAccess, lane);
    }
  }
  if constexpr (kAccess == Access::kAtomic) {
    for (uint64_t mask = whole; mask != 0; mask &= mask - 1) {
      const int lane = __builtin_ctzll(mask);
      if (address[lane] % kBytes != 0) return RaiseMisaligned(wave, address[lane], kBytes, kAccess, lane);
    }
  }
  return AccessGlobal<kBytes, kAccess>(wave, whole, address, fn);
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
  uint32_t* out = inst.dst[0].is_vgpr() ? Row(wave, inst.dst[0]) : nullptr;
  AtomicMath math = MemoryAtomicMath();
  return AccessBuffer<sizeof(T), Access::kAtomic>(inst, wave, [&](int lane, uint8_t* bytes) {
    const T old =
        ApplyAtomic<Op, T>(math, bytes, GetValue<T>(data + lane, stride), GetValue<T>(data2 + lane, stride));
    if (out != nullptr) PutValue<T>(out + lane, stride, old);
  });
}

// Memory is coherent here: there is no cache to invalidate.
ExecResult Nothing(const Inst&, WaveState&) { return ExecResult::kNext; }

}  // namespace

ExecFn FindBufferExec(const Inst& inst) {
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
      return &Nothing;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
