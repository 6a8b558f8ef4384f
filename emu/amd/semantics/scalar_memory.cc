// SPDX-License-Identifier: Apache-2.0
// SMEM: loads into scalar registers, cache invalidations, clocks (RDNA3 ISA, "SMEM instructions").

#include <cstring>

#include "emu/amd/core/access_log.h"
#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/scalar_operands.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

uint64_t Offset(const Inst& inst, const WaveState& wave) {
  uint64_t offset = static_cast<int64_t>(inst.offset);
  if (inst.src[1].kind != Operand::Kind::kNone) offset += ReadScalar32(inst.src[1], wave);
  return offset;
}

void Put(const Inst& inst, WaveState& wave, const uint32_t* words, int count) {
  if (inst.dst[0].reg == kNull) return;
  std::memcpy(&wave.sgpr[inst.dst[0].reg], words, 4 * static_cast<size_t>(count));
  wave.sgpr[kNull] = 0;
}

template <int kWords>
ExecResult Load(const Inst& inst, WaveState& wave) {
  // The address is that of a dword: its low bits are ignored.
  const uint64_t address = (ReadScalar64(inst.src[0], wave) + Offset(inst, wave)) & ~uint64_t{3};
  uint32_t words[kWords];
  if (const uint8_t* host = wave.mem->Translate(address, sizeof(words), Access::kRead)) {
    std::memcpy(words, host, sizeof(words));
  } else if (!wave.mem->Read(address, words, sizeof(words))) {
    return RaiseMemoryFault(wave, address, sizeof(words), Access::kRead, -1);
  }
  if (wave.access_log != nullptr) [[unlikely]] {
    wave.access_log->Add(MemorySpace::kGlobal, Access::kRead, -1, address, sizeof(words));
  }
  Put(inst, wave, words, kWords);
  return ExecResult::kNext;
}

// Words past the end of the buffer read as zero.
template <int kWords>
ExecResult BufferLoad(const Inst& inst, WaveState& wave) {
  const int reg = inst.src[0].reg;
  if (reg == kNull)
    return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "a buffer descriptor in NULL");
  const uint64_t descriptor = wave.sgpr[reg] | uint64_t{wave.sgpr[reg + 1]} << 32;
  const uint64_t base = Bits(descriptor, 47, 0), stride = Bits(descriptor, 61, 48);
  const uint64_t records = wave.sgpr[reg + 2];
  const uint64_t size = stride == 0 ? records : stride * records;
  const uint64_t offset = Offset(inst, wave) & ~uint64_t{3};
  uint32_t words[kWords] = {};
  for (int i = 0; i < kWords; ++i) {
    const uint64_t at = offset + 4 * static_cast<uint64_t>(i);
    if (at >= size || size - at < 4) continue;
    const uint64_t address = (base & ~uint64_t{3}) + at;
    if (!wave.mem->Read(address, &words[i], 4)) return RaiseMemoryFault(wave, address, 4, Access::kRead, -1);
    if (wave.access_log != nullptr) [[unlikely]] {
      wave.access_log->Add(MemorySpace::kGlobal, Access::kRead, -1, address, 4);
    }
  }
  Put(inst, wave, words, kWords);
  return ExecResult::kNext;
}

// Memory is coherent here: there is no cache to invalidate.
ExecResult Nothing(const Inst&, WaveState&) { return ExecResult::kNext; }

}  // namespace

ExecFn FindScalarMemoryExec(const Inst& inst) {
  switch (inst.op) {
    case Opcode::S_LOAD_B32:
      return &Load<1>;
    case Opcode::S_LOAD_B64:
      return &Load<2>;
    case Opcode::S_LOAD_B128:
      return &Load<4>;
    case Opcode::S_LOAD_B256:
      return &Load<8>;
    case Opcode::S_LOAD_B512:
      return &Load<16>;
    case Opcode::S_BUFFER_LOAD_B32:
      return &BufferLoad<1>;
    case Opcode::S_BUFFER_LOAD_B64:
      return &BufferLoad<2>;
    case Opcode::S_BUFFER_LOAD_B128:
      return &BufferLoad<4>;
    case Opcode::S_BUFFER_LOAD_B256:
      return &BufferLoad<8>;
    case Opcode::S_BUFFER_LOAD_B512:
      return &BufferLoad<16>;
    case Opcode::S_GL1_INV:
    case Opcode::S_DCACHE_INV:
      return &Nothing;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
