// SPDX-License-Identifier: Apache-2.0
// SMEM: loads into scalar registers, cache operations, prefetches, clocks (RDNA3 and RDNA4 ISA, "Scalar
// memory operations").

#include "emu/amd/semantics/scalar_memory.h"

#include <cstring>

#include "emu/amd/core/access_log.h"
#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/mem_forms.h"

namespace understudy::emu::amd {
namespace {

void Put(const Inst& inst, WaveState& wave, const uint32_t* words, int count) {
  if (inst.dst[0].reg == kNull) return;
  std::memcpy(&wave.sgpr[inst.dst[0].reg], words, 4 * static_cast<size_t>(count));
  wave.sgpr[kNull] = 0;
}

template <int kWords>
ExecResult Load(const Inst& inst, WaveState& wave) {
  const uint64_t address = ScalarAddress(inst, wave);
  uint32_t words[kWords];
  if (const uint8_t* host = wave.mem->Translate(address, sizeof(words), Access::kRead)) {
    std::memcpy(words, host, sizeof(words));
  } else if (!wave.mem->Read(address, words, sizeof(words))) {
    return RaiseMemoryFault(wave, address, sizeof(words), Access::kRead, -1);
  }
  wave.mem->traffic.Add(address, sizeof(words));
  if (wave.access_log != nullptr) [[unlikely]] {
    wave.access_log->Add(MemorySpace::kGlobal, Access::kRead, -1, address, sizeof(words));
  }
  Put(inst, wave, words, kWords);
  return ExecResult::kNext;
}

// Bytes and words, extended to a dword.
template <class T>
uint32_t Extend(T value) {
  return static_cast<uint32_t>(static_cast<int32_t>(value));
}

template <class T>
ExecResult LoadNarrow(const Inst& inst, WaveState& wave) {
  const uint64_t address = ScalarAddress(inst, wave, sizeof(T));
  T value;
  LogGlobalAccess(wave, Access::kRead, -1, address, sizeof(T));
  if (!wave.mem->Read(address, &value, sizeof(T))) {
    return RaiseMemoryFault(wave, address, sizeof(T), Access::kRead, -1);
  }
  wave.mem->traffic.Add(address, sizeof(T));
  const uint32_t word = Extend(value);
  Put(inst, wave, &word, 1);
  return ExecResult::kNext;
}

ExecResult NullDescriptor(WaveState& wave) {
  return RaiseFault(wave, FaultKind::kIllegalInstruction, -1, "a buffer descriptor in NULL");
}

// Words past the end of the buffer read as zero.
template <int kWords>
ExecResult BufferLoad(const Inst& inst, WaveState& wave) {
  if (inst.src[0].reg == kNull) return NullDescriptor(wave);
  const ScalarBuffer buffer(&wave.sgpr[inst.src[0].reg]);
  const uint64_t offset = ScalarMemoryOffset(inst, wave);
  uint32_t words[kWords] = {};
  wave.mem->traffic.Add((buffer.base & ~uint64_t{3}) + offset, sizeof(words));
  for (int i = 0; i < kWords; ++i) {
    const uint64_t at = offset + 4 * static_cast<uint64_t>(i);
    if (!buffer.Contains(at, 4)) continue;
    const uint64_t address = (buffer.base & ~uint64_t{3}) + at;
    if (!wave.mem->Read(address, &words[i], 4)) return RaiseMemoryFault(wave, address, 4, Access::kRead, -1);
    if (wave.access_log != nullptr) [[unlikely]] {
      wave.access_log->Add(MemorySpace::kGlobal, Access::kRead, -1, address, 4);
    }
  }
  Put(inst, wave, words, kWords);
  return ExecResult::kNext;
}

template <class T>
ExecResult BufferLoadNarrow(const Inst& inst, WaveState& wave) {
  if (inst.src[0].reg == kNull) return NullDescriptor(wave);
  const ScalarBuffer buffer(&wave.sgpr[inst.src[0].reg]);
  const uint64_t offset = ScalarMemoryOffset(inst, wave, sizeof(T));
  T value = 0;
  if (buffer.Contains(offset, sizeof(T))) {
    const uint64_t address = (buffer.base & ~uint64_t{sizeof(T) - 1}) + offset;
    LogGlobalAccess(wave, Access::kRead, -1, address, sizeof(T));
    if (!wave.mem->Read(address, &value, sizeof(T))) {
      return RaiseMemoryFault(wave, address, sizeof(T), Access::kRead, -1);
    }
    wave.mem->traffic.Add(address, sizeof(T));
  }
  const uint32_t word = Extend(value);
  Put(inst, wave, &word, 1);
  return ExecResult::kNext;
}

// Both clocks count wave instructions.
ExecResult Time(const Inst& inst, WaveState& wave) {
  const uint32_t words[2] = {static_cast<uint32_t>(wave.clock), static_cast<uint32_t>(wave.clock >> 32)};
  Put(inst, wave, words, 2);
  return ExecResult::kNext;
}

// Memory is coherent here: there is no cache to write back, invalidate or fill ahead of time, and no
// translation to warm up. Prefetches and probes never fault.
ExecResult Nothing(const Inst&, WaveState&) { return ExecResult::kNext; }

}  // namespace

ExecFn FindScalarMemoryExec(const Inst& inst) {
  switch (inst.op) {
#define SCALAR_LOAD(rdna, cdna, words) \
  case Opcode::S_LOAD_##rdna:          \
  case Opcode::S_LOAD_##cdna:          \
    return &Load<words>;               \
  case Opcode::S_BUFFER_LOAD_##rdna:   \
  case Opcode::S_BUFFER_LOAD_##cdna:   \
    return &BufferLoad<words>;
    SCALAR_LOAD(B32, DWORD, 1)
    SCALAR_LOAD(B64, DWORDX2, 2)
    SCALAR_LOAD(B128, DWORDX4, 4)
    SCALAR_LOAD(B256, DWORDX8, 8)
    SCALAR_LOAD(B512, DWORDX16, 16)
#undef SCALAR_LOAD
#define NARROW_LOAD(suffix, type)      \
  case Opcode::S_LOAD_##suffix:        \
    return &LoadNarrow<type>;          \
  case Opcode::S_BUFFER_LOAD_##suffix: \
    return &BufferLoadNarrow<type>;
    NARROW_LOAD(I8, int8_t)
    NARROW_LOAD(U8, uint8_t)
    NARROW_LOAD(I16, int16_t)
    NARROW_LOAD(U16, uint16_t)
#undef NARROW_LOAD
    case Opcode::S_LOAD_B96:
      return &Load<3>;
    case Opcode::S_BUFFER_LOAD_B96:
      return &BufferLoad<3>;
    case Opcode::S_MEMTIME:
    case Opcode::S_MEMREALTIME:
      return &Time;
    case Opcode::S_GL1_INV:
    case Opcode::S_DCACHE_INV:
    case Opcode::S_DCACHE_INV_VOL:
    case Opcode::S_DCACHE_WB:
    case Opcode::S_DCACHE_WB_VOL:
    case Opcode::S_DCACHE_DISCARD:
    case Opcode::S_DCACHE_DISCARD_X2:
    case Opcode::S_ATC_PROBE:
    case Opcode::S_ATC_PROBE_BUFFER:
    case Opcode::S_PREFETCH_INST:
    case Opcode::S_PREFETCH_INST_PC_REL:
    case Opcode::S_PREFETCH_DATA:
    case Opcode::S_PREFETCH_DATA_PC_REL:
    case Opcode::S_BUFFER_PREFETCH_DATA:
      return &Nothing;
    default:
      return FindScalarWriteExec(inst);
  }
}

}  // namespace understudy::emu::amd
