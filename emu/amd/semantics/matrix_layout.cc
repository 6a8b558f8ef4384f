// SPDX-License-Identifier: Apache-2.0
// One rule serves every generation. The lanes fall into groups of M * blocks (N * blocks) lanes, lane i of a
// group holding row i of A (column i of B), block after block. Elements along K go to the groups in turn,
// `chunk` at a time:
//   CDNA   64 / (M * blocks) groups; chunk: all that a lane holds, except that gfx950's operands of eight
//   registers
//          of 8- or 16-bit elements are two of four registers, one after the other in K.
//   RDNA3  one group, repeated in the upper lanes: a lane holds a whole row.
//   RDNA4  two groups; chunk: 8 bytes, 16 for the dense partner of a sparse matrix. Wave64 keeps the first
//   half of
//          wave32's registers in lanes 0-31 and the second half in lanes 32-63.
// Sources: AMD's matrix instruction calculator; the CDNA4 layouts are those of published kernels
// (docs/matrix.md).
#include "emu/amd/semantics/matrix_layout.h"

#include <algorithm>

namespace understudy::emu::amd {
namespace {

struct InputShape {
  int outer;  // M or N
  int blocks;
  int k;  // elements along K, as stored
  int bits;
  int groups;
  int chunk;    // elements
  bool halves;  // RDNA4's wave64
};

// The number of registers a lane of wave32 needs where wave64 halves them.
int Registers(const InputShape& s) { return (s.k / s.groups * s.bits + 31) / 32; }

// Element k of every row, in `block`.
MatrixSlice Place(const InputShape& s, int k, int block) {
  const int turn = k / s.chunk;
  const int local = turn / s.groups * s.chunk + k % s.chunk;
  const int bit = local * s.bits;
  int reg = bit / 32;
  int lane = (turn % s.groups) * s.outer * s.blocks + block * s.outer;
  const int registers = Registers(s);
  if (s.halves && registers > 1) {
    lane += 32 * (reg / (registers / 2));
    reg %= registers / 2;
  }
  return {static_cast<uint8_t>(reg), static_cast<uint8_t>(bit % 32), static_cast<uint8_t>(lane)};
}

InputShape ShapeOf(const MatrixOp& op, int wave_size, int bits, bool is_a) {
  const bool sparse = op.form == MatrixForm::kSparse;
  InputShape s = {};
  s.outer = is_a ? op.m : op.n;
  s.blocks = op.blocks;
  s.k = is_a && sparse ? op.k / 2 : op.k;
  s.bits = bits;
  if (IsCdna(op.isa)) {
    s.groups = 64 / (s.outer * s.blocks);
    s.chunk = s.k / s.groups;
    if (op.isa == Isa::kCdna4 && bits >= 8 && s.chunk * bits == 256) s.chunk /= 2;
  } else if (op.isa == Isa::kRdna4) {
    s.groups = 2;
    s.chunk = std::min(s.k / 2, (sparse && !is_a ? 128 : 64) / bits);
    s.halves = wave_size == 64;
  } else {
    s.groups = 1;
    s.chunk = s.k;
  }
  return s;
}

void AddInput(const InputShape& s, std::vector<MatrixSlice>* slices, int* regs) {
  for (int k = 0; k < s.k; ++k) {
    for (int block = 0; block < s.blocks; ++block) {
      const MatrixSlice slice = Place(s, k, block);
      slices->push_back(slice);
      *regs = std::max(*regs, slice.reg + (slice.shift + s.bits + 31) / 32);
    }
  }
}

// The indices of the pairs of elements that a lane of A holds follow one another, four bits each, in the same
// lane of the index register.
void AddIndex(const InputShape& a, MatrixPlan* plan) {
  int per_lane = 0;
  for (int k = 0; k < a.k; k += 2) {
    MatrixSlice slice = Place(a, k, 0);
    slice.shift = static_cast<uint8_t>((slice.reg * 32 + slice.shift) / a.bits / 2 * 4);
    slice.reg = 0;
    per_lane = std::max(per_lane, slice.shift + 4);
    plan->index.push_back(slice);
  }
  plan->index_bits = per_lane;
  plan->index_sets = 32 / per_lane;
}

MatrixSlice PlaceOutput(const MatrixOp& op, int wave_size, int block, int row) {
  int reg = 0, shift = 0, lane = 0;
  if (IsCdna(op.isa)) {
    // Strips of N columns and four rows (one row of f64), which fill the lanes, then the next registers.
    const int strip = op.d == MatrixType::kF64 ? 1 : 4;
    const int strips = 64 / op.n;
    const int blocks_in_register = std::max(1, 64 * strip / (op.m * op.n));
    reg = block * (op.m * op.n / 64) + row / (strip * strips) * strip + row % strip;
    lane = (block % blocks_in_register + row / strip % strips * blocks_in_register) * op.n;
    if (op.d == MatrixType::kF64) reg *= 2;
  } else if (op.isa == Isa::kRdna4) {
    reg = row % 8;
    lane = 16 * (row / 8);
    int registers = 8;
    if (MatrixTypeBits(op.d) == 16) {
      shift = 16 * (reg % 2);
      reg /= 2;
      registers = 4;
    }
    if (wave_size == 64) {
      lane += 32 * (reg / (registers / 2));
      reg %= registers / 2;
    }
  } else {
    // 16-bit results take the half of the register that OPSEL names.
    const int rows = wave_size / 16;
    reg = row / rows;
    lane = row % rows * 16;
  }
  return {static_cast<uint8_t>(reg), static_cast<uint8_t>(shift), static_cast<uint8_t>(lane)};
}

}  // namespace

MatrixPlan MakeMatrixPlan(const MatrixOp& op, int wave_size, int bits) {
  MatrixPlan plan;
  const InputShape a = ShapeOf(op, wave_size, bits, true);
  plan.stored_k = a.k;
  AddInput(a, &plan.a, &plan.a_regs);
  AddInput(ShapeOf(op, wave_size, bits, false), &plan.b, &plan.b_regs);
  if (op.form == MatrixForm::kSparse) AddIndex(a, &plan);
  for (int block = 0; block < op.blocks; ++block) {
    for (int row = 0; row < op.m; ++row) {
      plan.d.push_back(PlaceOutput(op, wave_size, block, row));
      plan.d_regs = std::max(plan.d_regs, plan.d.back().reg + (op.d == MatrixType::kF64 ? 2 : 1));
    }
  }
  return plan;
}

}  // namespace understudy::emu::amd
