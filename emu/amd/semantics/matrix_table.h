// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each matrix instruction multiplies (matrix_ops.inc), how it sums (matrix_rules.inc) and where its
// elements lie in registers, ready for the executor and the coverage report. Built once; read-only
// afterwards. It computes nothing.

#include <cstdint>
#include <vector>

#include "emu/amd/isa/opcode.h"
#include "emu/amd/semantics/builder.h"

namespace understudy::emu::amd {

enum class MatrixType : uint8_t {
  kAny,
  kF64,
  kF32,
  kXf32,
  kF16,
  kBf16,
  kFp8,     // E4M3: FNUZ on CDNA3, OCP elsewhere
  kBf8,     // E5M2, likewise
  kF8f6f4,  // named by the instruction: CBSZ for A, BLGP for B
  kI8,
  kIu8,  // signed where NEG says so
  kIu4,
  kI32,
};

// The formats that CBSZ and BLGP of F8F6F4 name, by their number there.
enum class F8f6f4 : uint8_t { kFp8, kBf8, kFp6, kBf6, kFp4 };
constexpr int F8f6f4Bits(int format) { return format < 2 ? 8 : format < 4 ? 6 : 4; }

enum class MatrixForm : uint8_t { kAnyForm, kDense, kSparse, kScaled };

enum class MatrixRule : uint8_t {
  kInteger,
  kFmaF64,
  kFmaF32,
  kDot2,         // RDNA3
  kDot4,         // RDNA4
  kPairwise,     // CDNA2
  kFused,        // CDNA3
  kFusedHalves,  // CDNA3, 8-bit floats
  kBlocks,       // F8F6F4
};

// M contiguous lanes of one register that hold row or column elements 0..M-1 of a slice.
struct MatrixSlice {
  uint8_t reg;    // from the first register of the operand
  uint8_t shift;  // of the element in the register, in bits; an element of 6 bits may reach into the next one
  uint8_t lane;
};

// Where A, B, C and D lie for one wave size.
struct MatrixPlan {
  int stored_k = 0;            // K of A: half of B's where A is sparse
  std::vector<MatrixSlice> a;  // [k * blocks + block], M lanes each
  std::vector<MatrixSlice> b;  // [k * blocks + block], N lanes each
  std::vector<MatrixSlice> d;  // [block * M + row], N lanes each
  // Sparse: for each pair of stored elements, the lanes and the bit of the first set that hold its index.
  std::vector<MatrixSlice> index;
  int index_sets = 0;  // sets that ABID or INDEX_KEY chooses between
  int index_bits = 0;  // of one set
  int a_regs = 0, b_regs = 0, d_regs = 0;
};

struct MatrixOp {
  Opcode op;
  Isa isa;
  int m, n, k, blocks;
  MatrixType a, b, d;
  MatrixForm form;
  MatrixRule rule;
  int group;  // products a step
  SemanticState state;
  const char* note;
  // [0] wave32, [1] wave64; an empty plan where the generation has no such waves. F8F6F4: `by_bits` instead
  // for A and B, by 4, 6 or 8 bits an element.
  MatrixPlan plan[2];
  MatrixPlan by_bits[3];

  const MatrixPlan& PlanFor(int wave_size) const { return plan[wave_size == 64 ? 1 : 0]; }
  const MatrixPlan& PlanForBits(int bits) const { return by_bits[bits / 2 - 2]; }
};

// Null where `op` is no matrix instruction of `isa`.
const MatrixOp* MatrixOpOf(Isa isa, Opcode op);
// Every row, generation by generation.
const std::vector<MatrixOp>& AllMatrixOps();
// A matrix instruction on any generation, V_MFMA_LD_SCALE_B32 included.
bool IsMatrixOpcode(Opcode op);

int MatrixTypeBits(MatrixType type);

struct MatrixStateRow {
  SemanticState state;
  const char* note;
};
// How well the instruction executes, with the bound where it is approximate and the reason where it is not
// one of `isa`.
MatrixStateRow MatrixState(Isa isa, Opcode op);

}  // namespace understudy::emu::amd
