// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses of scalar memory instructions, for the loads (scalar_memory.cc) and CDNA's stores and atomics
// (scalar_memory_writes.cc).

#include <cstdint>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {

// The instruction's offset and its offset register, bytes. Of each, the bits below `align` are ignored (RDNA4
// ISA 8.1.1; the others' manuals say it of all components of the address).
inline uint64_t ScalarMemoryOffset(const Inst& inst, const WaveState& wave, uint64_t align = 4) {
  uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(inst.offset)) & ~(align - 1);
  if (inst.src[1].kind != Operand::Kind::kNone)
    offset += ReadScalar32(inst.src[1], wave) & ~static_cast<uint32_t>(align - 1);
  return offset;
}

// The address of values of `align` bytes, or of dwords.
inline uint64_t ScalarAddress(const Inst& inst, const WaveState& wave, uint64_t align = 4) {
  return (ReadScalar64(inst.src[0], wave) & ~(align - 1)) + ScalarMemoryOffset(inst, wave, align);
}

// A buffer descriptor as scalar memory sees it (RDNA4 ISA 9.4.1.4): in range are offsets below `size`.
struct ScalarBuffer {
  uint64_t base = 0, size = 0;

  explicit ScalarBuffer(const uint32_t* words) {
    const uint64_t stride = Bits(words[1], 29, 16);
    base = words[0] | uint64_t{words[1] & 0xffffu} << 32;
    size = uint64_t{words[2]} * (stride == 0 ? 1 : stride);
  }
  bool Contains(uint64_t offset, uint64_t bytes) const { return offset < size && bytes <= size - offset; }
};

// CDNA's scalar stores, atomics and the loads and stores of private memory; nullptr for others.
ExecFn FindScalarWriteExec(const Inst& inst);

}  // namespace understudy::emu::amd
