// SPDX-License-Identifier: Apache-2.0
// SMEM of CDNA that writes memory, and its scalar access to private memory (CDNA3 ISA, "Scalar memory
// operations").

#include <cstring>

#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/mem_atomic_apply.h"
#include "emu/amd/semantics/mem_forms.h"
#include "emu/amd/semantics/scalar_memory.h"

namespace understudy::emu::amd {
namespace {

// The data register: a source of stores and atomics.
int DataRegister(const Inst& inst) { return inst.src[2].is_sgpr() ? inst.src[2].reg : inst.dst[0].reg; }

ExecResult WriteWords(const Inst& inst, WaveState& wave, uint64_t address, int words) {
  const uint32_t* data = &wave.sgpr[DataRegister(inst)];
  const uint64_t size = 4 * static_cast<uint64_t>(words);
  LogGlobalAccess(wave, Access::kWrite, -1, address, size);
  if (!wave.mem->Write(address, data, size)) return RaiseMemoryFault(wave, address, size, Access::kWrite, -1);
  return ExecResult::kNext;
}

template <int kWords>
ExecResult Store(const Inst& inst, WaveState& wave) {
  return WriteWords(inst, wave, ScalarAddress(inst, wave), kWords);
}

// Words past the end of the buffer are not written.
template <int kWords>
ExecResult BufferStore(const Inst& inst, WaveState& wave) {
  const ScalarBuffer buffer(&wave.sgpr[inst.src[0].reg]);
  const uint64_t offset = ScalarMemoryOffset(inst, wave);
  int words = 0;
  while (words < kWords && buffer.Contains(offset + 4 * static_cast<uint64_t>(words), 4)) ++words;
  return words == 0 ? ExecResult::kNext
                    : WriteWords(inst, wave, (buffer.base & ~uint64_t{3}) + offset, words);
}

// base + offset + register * 64 (CDNA4 ISA 8.2.1.1): a register's offset is that of one of 64 lanes.
uint64_t ScratchAddress(const Inst& inst, const WaveState& wave) {
  uint64_t address = (ReadScalar64(inst.src[0], wave) & ~uint64_t{3}) +
                     (static_cast<uint64_t>(static_cast<int64_t>(inst.offset)) & ~uint64_t{3});
  if (inst.src[1].kind != Operand::Kind::kNone)
    address += uint64_t{ReadScalar32(inst.src[1], wave) & ~3u} * 64;
  return address;
}

template <int kWords>
ExecResult ScratchStore(const Inst& inst, WaveState& wave) {
  return WriteWords(inst, wave, ScratchAddress(inst, wave), kWords);
}

template <int kWords>
ExecResult ScratchLoad(const Inst& inst, WaveState& wave) {
  const uint64_t address = ScratchAddress(inst, wave);
  uint32_t words[kWords];
  LogGlobalAccess(wave, Access::kRead, -1, address, sizeof(words));
  if (!wave.mem->Read(address, words, sizeof(words))) {
    return RaiseMemoryFault(wave, address, sizeof(words), Access::kRead, -1);
  }
  std::memcpy(&wave.sgpr[inst.dst[0].reg], words, sizeof(words));
  return ExecResult::kNext;
}

template <class T>
T ScalarValue(const uint32_t* words) {
  T value;
  std::memcpy(&value, words, sizeof(T));
  return value;
}

// An atomic of the whole wave, once, whatever EXEC says. With GLC the old value replaces the data.
template <class Op, class T, bool kBuffer>
ExecResult Atomic(const Inst& inst, WaveState& wave) {
  const int reg = DataRegister(inst);
  const T data = ScalarValue<T>(&wave.sgpr[reg]);
  const T data2 = Op::kDataWords == 2 ? ScalarValue<T>(&wave.sgpr[reg + sizeof(T) / 4]) : data;
  uint64_t address = 0;
  bool in_range = true;
  if (kBuffer) {
    const ScalarBuffer buffer(&wave.sgpr[inst.src[0].reg]);
    const uint64_t offset = ScalarMemoryOffset(inst, wave);
    in_range = buffer.Contains(offset, sizeof(T));
    address = (buffer.base & ~uint64_t{3}) + offset;
  } else {
    address = ScalarAddress(inst, wave);
  }
  T old = 0;
  if (in_range) {
    if (address % sizeof(T) != 0) return RaiseMisaligned(wave, address, sizeof(T), Access::kAtomic, -1);
    uint8_t* host = wave.mem->Translate(address, sizeof(T), Access::kAtomic);
    if (host == nullptr) return RaiseMemoryFault(wave, address, sizeof(T), Access::kAtomic, -1);
    LogGlobalAccess(wave, Access::kAtomic, -1, address, sizeof(T));
    AtomicMath math = MemoryAtomicMath<Op>(wave);
    old = ApplyAtomicShared<Op, T>(math, host, data, data2);
  }
  if (inst.glc) std::memcpy(&wave.sgpr[reg], &old, sizeof(T));
  return ExecResult::kNext;
}

}  // namespace

ExecFn FindScalarWriteExec(const Inst& inst) {
  switch (inst.op) {
#define SCALAR_STORE(suffix, words)      \
  case Opcode::S_STORE_##suffix:         \
    return &Store<words>;                \
  case Opcode::S_BUFFER_STORE_##suffix:  \
    return &BufferStore<words>;          \
  case Opcode::S_SCRATCH_STORE_##suffix: \
    return &ScratchStore<words>;         \
  case Opcode::S_SCRATCH_LOAD_##suffix:  \
    return &ScratchLoad<words>;
    SCALAR_STORE(DWORD, 1)
    SCALAR_STORE(DWORDX2, 2)
    SCALAR_STORE(DWORDX4, 4)
#undef SCALAR_STORE
#define SCALAR_ATOMIC(suffix, operation)                \
  case Opcode::S_ATOMIC_##suffix:                       \
    return &Atomic<atomic::operation, uint32_t, false>; \
  case Opcode::S_ATOMIC_##suffix##_X2:                  \
    return &Atomic<atomic::operation, uint64_t, false>; \
  case Opcode::S_BUFFER_ATOMIC_##suffix:                \
    return &Atomic<atomic::operation, uint32_t, true>;  \
  case Opcode::S_BUFFER_ATOMIC_##suffix##_X2:           \
    return &Atomic<atomic::operation, uint64_t, true>;
    SCALAR_ATOMIC(SWAP, Swap)
    SCALAR_ATOMIC(CMPSWAP, CompareSwap)
    SCALAR_ATOMIC(ADD, Add)
    SCALAR_ATOMIC(SUB, Sub)
    SCALAR_ATOMIC(SMIN, SMin)
    SCALAR_ATOMIC(UMIN, UMin)
    SCALAR_ATOMIC(SMAX, SMax)
    SCALAR_ATOMIC(UMAX, UMax)
    SCALAR_ATOMIC(AND, And)
    SCALAR_ATOMIC(OR, Or)
    SCALAR_ATOMIC(XOR, Xor)
    SCALAR_ATOMIC(INC, Inc)
    SCALAR_ATOMIC(DEC, Dec)
#undef SCALAR_ATOMIC
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
