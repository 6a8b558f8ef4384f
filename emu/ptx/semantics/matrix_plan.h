// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a matrix instruction multiplies and where its operands lie: made once for each distinct instruction,
// when it is bound, and read by the executors of mma, wmma.mma and wgmma.mma_async.

#include <cstdint>
#include <string>
#include <vector>

#include "emu/ptx/core/program.h"
#include "emu/ptx/core/warp.h"
#include "emu/ptx/semantics/fragment_layout.h"
#include "emu/ptx/semantics/tensor_core.h"

namespace understudy::emu::ptx {

enum class MatrixKind : uint8_t { kFloat, kInteger, kBits, kDouble };

struct MatrixPlan {
  MatrixKind kind = MatrixKind::kFloat;
  int m = 0, n = 0, k = 0;
  Type d_type = Type::kNone, a_type = Type::kNone, b_type = Type::kNone, c_type = Type::kNone;
  bool sparse = false, saturate = false;
  BitProduct bits = BitProduct::kXor;
  Rounding rounding = Rounding::kNearestEven;
  const FloatRule* rule = nullptr;
  const FragmentLayout *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;  // wgmma: no b
  // Sparse: where the index of A's element [row * stored + col] lies, for the instruction's selector.
  std::vector<MetadataPlace> metadata;
  std::vector<uint8_t> rows_of_b;  // [(row * stored + col) * 4 + index]
  // wgmma: which operands are read with M or N as the contiguous dimension, and negated.
  bool a_in_registers = true, transpose_a = false, transpose_b = false, negate_a = false, negate_b = false;

  int stored() const { return sparse ? k / 2 : k; }
};

// The plan of an mma, wmma.mma or wgmma.mma_async instruction, kept for the process. nullptr, with the
// reason: a shape, type or modifier that there is no such instruction for, or none that is supported.
const MatrixPlan* FindMatrixPlan(const Instruction& inst, std::string* reason);

// Elements of a fragment out of register rows, to out[row * cols + col].
void GatherFragment(const FragmentLayout& layout, const uint32_t* const* rows, uint32_t* out);
// One-bit fragments: whole words, to out[major * words + word] where major is the row of A, the column of B.
void GatherBits(const FragmentLayout& layout, bool by_column, const uint32_t* const* rows, uint32_t* out);
// The inverse of GatherFragment, for accumulators.
void ScatterFragment(const FragmentLayout& layout, const uint32_t* in, uint32_t* const* rows);

// The row of B for each stored element of A: select[row * stored + col].
void GatherSelection(const MatrixPlan& plan, const uint32_t* metadata, uint8_t* select);

// Source rows of a vector operand or of a single register. Returns how many.
constexpr int kMaxFragmentRegisters = 128;
int RowsOf(const Warp& warp, const BoundOperand& operand, const uint32_t** rows);
int RowsOf(Warp& warp, const BoundOperand& operand, uint32_t** rows);

// kFault unless every lane of the warp executes the instruction, as .sync.aligned demands.
bool AllLanes(Warp& warp, const Inst& inst);

ExecResult ExecuteMma(Warp& warp, const Inst& inst);        // mma, mma.sp, wmma.mma; aux[0]: the plan
ExecResult ExecuteWgmma(Warp& warp, const Inst& inst);      // wgmma.mma_async, .sp; aux[0]: the plan
ExecResult ExecuteWgmmaSync(Warp& warp, const Inst& inst);  // wgmma.fence, .commit_group, .wait_group

}  // namespace understudy::emu::ptx
