// SPDX-License-Identifier: Apache-2.0
#pragma once
// A wave with both halves of CDNA's register file, operands by name, and the places where AMD's documents put
// the elements of matrix instructions. The places are written from AMD's matrix instruction calculator
// (CDNA2, CDNA3, RDNA3, RDNA4) and, for gfx950, from published kernels; they share nothing with the
// emulator's own tables.

#include <cstdint>
#include <string>
#include <vector>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/semantics/matrix_exec.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::emu::amd::testing {

inline Operand Reg(Operand::Kind kind, int reg) {
  Operand o;
  o.kind = kind;
  o.reg = static_cast<uint16_t>(reg);
  o.dwords = 1;
  return o;
}
inline Operand V(int reg) { return Reg(Operand::Kind::kVgpr, reg); }
inline Operand A(int reg) { return Reg(Operand::Kind::kAgpr, reg); }
inline Operand Constant(uint64_t bits) {
  Operand o;
  o.kind = Operand::Kind::kInlineInt;
  o.imm = bits;
  return o;
}

class MatrixMachine {
 public:
  explicit MatrixMachine(Isa isa, int wave_size) : storage_(512 * 64 + 16) {
    wave = WaveState();
    wave.isa = isa;
    wave.wave_size = wave_size;
    wave.lane_mask = wave_size == 64 ? ~uint64_t{0} : 0xffffffffu;
    wave.num_vgprs = 256;
    wave.num_agprs = 256;
    const uintptr_t raw = reinterpret_cast<uintptr_t>(storage_.data());
    wave.vgpr = reinterpret_cast<uint32_t*>((raw + 63) & ~uintptr_t{63});
    wave.mode = 0xf0;
    wave.fault = &fault;
    wave.set_exec(1);  // matrix instructions ignore EXEC
  }
  MatrixMachine(const MatrixMachine&) = delete;

  uint32_t& At(const Operand& o, int reg, int lane) {
    const int first = o.reg + (o.kind == Operand::Kind::kAgpr ? 256 : 0);
    return wave.Vgpr(first + reg)[lane];
  }
  std::vector<uint32_t> Snapshot() const {
    return std::vector<uint32_t>(wave.vgpr, wave.vgpr + 512 * wave.wave_size);
  }
  // Empty on success, else the refusal or the fault.
  std::string Execute(const Inst& inst) {
    const ExecFn fn = FindMatrixExec(inst);
    if (fn == nullptr) return MatrixRefusal(inst);
    RecordExecuted(inst.isa, inst.op);
    return fn(inst, wave) == ExecResult::kNext ? "" : fault.message;
  }

  WaveState wave;
  PendingFault fault;

 private:
  std::vector<uint32_t> storage_;
};

// What an opcode's name says.
struct MatrixName {
  int m = 0, n = 0, k = 0, blocks = 1;
  std::string a, b, d;  // "F16", "IU8", "FP8", "F8F6F4"...
  bool sparse = false, wmma = false;
};
MatrixName ParseMatrixName(Opcode op, Isa isa);

// An element in registers: bits [bit, bit + width) of register `reg`, reaching into the next where they end
// past 32.
struct Place {
  int reg, bit, lane;
};
int BitsOfType(const std::string& type, int format = 0);
// Element `k` of row or column `i` of A ('a') or B ('b'). `k` counts elements of B; of sparse A, k is the
// first of the four that a pair of stored elements belongs to, and `stored` is 0 or 1.
Place PlaceOfInput(const MatrixName& name, Isa isa, int wave_size, char matrix, int bits, int i, int k,
                   int stored, int block);
Place PlaceOfOutput(const MatrixName& name, Isa isa, int wave_size, int row, int column, int block);
// The four index bits of the pair of row `i` that stands for elements k..k+3, for set `set`.
Place PlaceOfIndex(const MatrixName& name, Isa isa, int wave_size, int bits, int i, int k, int set);
int IndexSets(const MatrixName& name, Isa isa, int wave_size, int bits);

void Put(MatrixMachine* m, const Operand& o, const Place& place, int bits, uint64_t value);
uint64_t Get(MatrixMachine* m, const Operand& o, const Place& place, int bits);

}  // namespace understudy::emu::amd::testing
