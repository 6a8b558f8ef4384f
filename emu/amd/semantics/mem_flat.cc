// SPDX-License-Identifier: Apache-2.0
// FLAT, GLOBAL and SCRATCH instructions (RDNA3 ISA, "Flat memory instructions").

#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/mem_atomic_apply.h"
#include "emu/amd/semantics/mem_forms.h"
#include "emu/amd/semantics/mem_moves.h"
#include "emu/amd/semantics/mem_space.h"

namespace understudy::emu::amd {
namespace {

template <Space kSpace, LoadForm kForm>
ExecResult Load(const Inst& inst, WaveState& wave) {
  uint32_t* out = Row(wave, inst.dst[0]);
  const int stride = wave.wave_size;
  return AccessSpace<kSpace, FormBytes(kForm), Access::kRead>(
      inst, wave, [=](int lane, const uint8_t* bytes) { PutLane<kForm>(out + lane, stride, bytes); });
}

template <Space kSpace, StoreForm kForm>
ExecResult Store(const Inst& inst, WaveState& wave) {
  const uint32_t* data = Row(wave, inst.src[1]);
  const int stride = wave.wave_size;
  return AccessSpace<kSpace, FormBytes(kForm), Access::kWrite>(
      inst, wave, [=](int lane, uint8_t* bytes) { GetLane<kForm>(data + lane, stride, bytes); });
}

template <Space kSpace, class Op, class T>
ExecResult Atomic(const Inst& inst, WaveState& wave) {
  constexpr int kWords = sizeof(T) / 4;
  const int stride = wave.wave_size;
  const uint32_t* data = Row(wave, inst.src[1]);
  const uint32_t* data2 = Op::kDataWords == 2 ? data + kWords * stride : data;
  uint32_t* out = InLanes(inst.dst[0]) ? Row(wave, inst.dst[0]) : nullptr;
  AtomicMath math = MemoryAtomicMath<Op>(wave);
  return AccessSpace<kSpace, sizeof(T), Access::kAtomic>(inst, wave, [&](int lane, uint8_t* bytes) {
    const T old = ApplyAtomicShared<Op, T>(math, bytes, GetValue<T>(data + lane, stride),
                                           GetValue<T>(data2 + lane, stride));
    if (out != nullptr) PutValue<T>(out + lane, stride, old);
  });
}

}  // namespace

ExecFn FindFlatExec(const Inst& inst) {
  if (const ExecFn moves = FindFlatMoveExec(inst)) return moves;
  if (inst.lds) return nullptr;
  // The tables list a few opcodes without operands: reserved in this encoding.
  if (!InLanes(inst.dst[0]) && !InLanes(inst.src[1])) return nullptr;
  switch (inst.op) {
#define MEM_LOAD(suffix, form)                    \
  case Opcode::FLAT_##suffix:                     \
    return &Load<Space::kFlat, LoadForm::form>;   \
  case Opcode::GLOBAL_##suffix:                   \
    return &Load<Space::kGlobal, LoadForm::form>; \
  case Opcode::SCRATCH_##suffix:                  \
    return &Load<Space::kScratch, LoadForm::form>;
#define MEM_STORE(suffix, form)                     \
  case Opcode::FLAT_##suffix:                       \
    return &Store<Space::kFlat, StoreForm::form>;   \
  case Opcode::GLOBAL_##suffix:                     \
    return &Store<Space::kGlobal, StoreForm::form>; \
  case Opcode::SCRATCH_##suffix:                    \
    return &Store<Space::kScratch, StoreForm::form>;
#define MEM_ATOMIC(suffix, operation, type)                \
  case Opcode::FLAT_##suffix:                              \
    return &Atomic<Space::kFlat, atomic::operation, type>; \
  case Opcode::GLOBAL_##suffix:                            \
    return &Atomic<Space::kGlobal, atomic::operation, type>;
#include "emu/amd/semantics/mem_ops.inc"
    case Opcode::GLOBAL_LOAD_ADDTID_B32:
      return &Load<Space::kGlobal, LoadForm::kB32>;
    case Opcode::GLOBAL_STORE_ADDTID_B32:
      return &Store<Space::kGlobal, StoreForm::kB32>;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
