// SPDX-License-Identifier: Apache-2.0
// Transfers from global and private memory into LDS (CDNA3 ISA, "Memory buffer load to LDS"), RDNA4's block
// and transposing loads, and its cache operations.

#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/mem_moves.h"
#include "emu/amd/semantics/mem_space.h"

namespace understudy::emu::amd {
namespace {

// What each lane loads is written to LDS at M0 + offset + lane * 4; three and four dwords a lane lie 16 bytes
// apart. Narrow values are extended to a dword.
template <Space kSpace, LoadForm kForm>
ExecResult LoadToLds(const Inst& inst, WaveState& wave) {
  constexpr int kWords = (FormBytes(kForm) + 3) / 4;
  const uint32_t base = LdsTransferBase(inst, wave);
  uint32_t loaded[kMaxLanes][kWords];
  const ExecResult result = AccessSpace<kSpace, FormBytes(kForm), Access::kRead>(
      inst, wave, [&](int lane, const uint8_t* bytes) { PutLane<kForm>(loaded[lane], 1, bytes); });
  if (result != ExecResult::kNext) return result;
  ForEachLane(wave.exec(), [&](int lane) {
    const uint32_t at = base + static_cast<uint32_t>(lane) * (kWords > 2 ? 16 : 4 * kWords);
    AccessLds<4 * kWords, Access::kWrite>(
        wave, lane, at, [&](int l, uint8_t* bytes) { std::memcpy(bytes, loaded[l], 4 * kWords); });
  });
  return ExecResult::kNext;
}

// Dword i of up to 32 is register vdst + i and memory at address + 4 * i, where M0 has bit i.
template <Space kSpace, bool kStore>
ExecResult Block(const Inst& inst, WaveState& wave) {
  const uint32_t wanted = wave.sgpr[kM0];
  Inst part = inst;
  const int first = (kStore ? inst.src[1] : inst.dst[0]).reg;
  for (uint32_t rest = wanted; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (first + i >= static_cast<int>(wave.num_vgprs)) {
      return RaiseFault(wave, FaultKind::kIllegalInstruction, -1,
                        absl::StrFormat("block transfer: M0 = 0x%x names v%d, the wave has %d registers",
                                        wanted, first + i, wave.num_vgprs));
    }
    part.offset = inst.offset + 4 * i;
    uint32_t* row = wave.Vgpr(first + i);
    const ExecResult result = AccessSpace<kSpace, 4, kStore ? Access::kWrite : Access::kRead>(
        part, wave, [&](int lane, uint8_t* bytes) {
          if (kStore) {
            std::memcpy(bytes, row + lane, 4);
          } else {
            std::memcpy(row + lane, bytes, 4);
          }
        });
    if (result != ExecResult::kNext) return result;
  }
  return ExecResult::kNext;
}

// Eight lanes exchange their eight 16-bit elements: element j of lane i comes from element i of lane j, which
// is how a gfx1201 was measured to permute them.
ExecResult LoadTransposed16(const Inst& inst, WaveState& wave) {
  if (wave.wave_size != 32) {
    return RaiseFault(wave, FaultKind::kUnsupported, -1,
                      "a transposing load in wave64: its permutation is not published");
  }
  if (wave.exec() != wave.lane_mask) {
    return RaiseFault(
        wave, FaultKind::kUnsupported, -1,
        absl::StrFormat("a transposing load with EXEC = 0x%x, expected all lanes", wave.exec()));
  }
  uint16_t loaded[kMaxLanes][8];
  const ExecResult result = AccessSpace<Space::kGlobal, 16, Access::kRead>(
      inst, wave, [&](int lane, const uint8_t* bytes) { std::memcpy(loaded[lane], bytes, 16); });
  if (result != ExecResult::kNext) return result;
  uint32_t* out = Row(wave, inst.dst[0]);
  for (int lane = 0; lane < wave.wave_size; ++lane) {
    for (int word = 0; word < 4; ++word) {
      uint32_t value = 0;
      for (int half = 0; half < 2; ++half) {
        const TransposeSource from = TransposedFrom(lane, 2 * word + half, 8, 8);
        value |= uint32_t{loaded[from.lane][from.element]} << (16 * half);
      }
      out[word * wave.wave_size + lane] = value;
    }
  }
  return ExecResult::kNext;
}

// Memory is coherent here: there is no cache to write back or invalidate.
ExecResult Nothing(const Inst&, WaveState&) { return ExecResult::kNext; }

// gfx90a has no opcodes of their own for these: a bit sends what a plain load reads to LDS.
ExecFn FindLdsBitLoad(const Inst& inst) {
  switch (inst.op) {
#define LDS_BIT_LOAD(suffix, form)                     \
  case Opcode::FLAT_LOAD_##suffix:                     \
    return &LoadToLds<Space::kFlat, LoadForm::form>;   \
  case Opcode::GLOBAL_LOAD_##suffix:                   \
    return &LoadToLds<Space::kGlobal, LoadForm::form>; \
  case Opcode::SCRATCH_LOAD_##suffix:                  \
    return &LoadToLds<Space::kScratch, LoadForm::form>;
    LDS_BIT_LOAD(UBYTE, kU8)
    LDS_BIT_LOAD(SBYTE, kI8)
    LDS_BIT_LOAD(USHORT, kU16)
    LDS_BIT_LOAD(SSHORT, kI16)
    LDS_BIT_LOAD(DWORD, kB32)
#undef LDS_BIT_LOAD
    default:
      return nullptr;
  }
}

}  // namespace

uint32_t LdsTransferBase(const Inst& inst, const WaveState& wave) {
  // gfx950 has 160 KiB of LDS, the others 64.
  const uint32_t mask = wave.isa == Isa::kCdna4 ? 0x3ffffu : 0xffffu;
  return (wave.sgpr[kM0] & mask) + static_cast<uint32_t>(inst.offset);
}

ExecFn FindFlatMoveExec(const Inst& inst) {
  if (inst.lds) return FindLdsBitLoad(inst);
  switch (inst.op) {
#define LDS_LOAD(suffix, form)                         \
  case Opcode::GLOBAL_LOAD_LDS_##suffix:               \
    return &LoadToLds<Space::kGlobal, LoadForm::form>; \
  case Opcode::SCRATCH_LOAD_LDS_##suffix:              \
    return &LoadToLds<Space::kScratch, LoadForm::form>;
    LDS_LOAD(UBYTE, kU8)
    LDS_LOAD(SBYTE, kI8)
    LDS_LOAD(USHORT, kU16)
    LDS_LOAD(SSHORT, kI16)
    LDS_LOAD(DWORD, kB32)
    LDS_LOAD(U8, kU8)
    LDS_LOAD(I8, kI8)
    LDS_LOAD(U16, kU16)
    LDS_LOAD(I16, kI16)
    LDS_LOAD(B32, kB32)
#undef LDS_LOAD
    case Opcode::GLOBAL_LOAD_LDS_DWORDX3:
      return &LoadToLds<Space::kGlobal, LoadForm::kB96>;
    case Opcode::GLOBAL_LOAD_LDS_DWORDX4:
      return &LoadToLds<Space::kGlobal, LoadForm::kB128>;
    case Opcode::GLOBAL_LOAD_LDS_ADDTID_B32:
      return inst.src[2].kind == Operand::Kind::kNone ? nullptr : &LoadToLds<Space::kGlobal, LoadForm::kB32>;
    case Opcode::GLOBAL_LOAD_BLOCK:
      return &Block<Space::kGlobal, false>;
    case Opcode::GLOBAL_STORE_BLOCK:
      return &Block<Space::kGlobal, true>;
    case Opcode::SCRATCH_LOAD_BLOCK:
      return &Block<Space::kScratch, false>;
    case Opcode::SCRATCH_STORE_BLOCK:
      return &Block<Space::kScratch, true>;
    case Opcode::GLOBAL_LOAD_TR_B128:
      return &LoadTransposed16;
    case Opcode::GLOBAL_INV:
    case Opcode::GLOBAL_WB:
    case Opcode::GLOBAL_WBINV:
      return &Nothing;
    default:
      return nullptr;
  }
}

}  // namespace understudy::emu::amd
