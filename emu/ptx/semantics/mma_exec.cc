// SPDX-License-Identifier: Apache-2.0
// mma.sync, mma.sp and wmma.mma: fragments out of registers, products, fragments into registers.
#include "emu/ptx/semantics/matrix_plan.h"

namespace understudy::emu::ptx {
namespace {

struct Rows {
  const uint32_t* row[kMaxFragmentRegisters];
  Rows(const Warp& warp, const BoundOperand& operand) { RowsOf(warp, operand, row); }
};
struct OutRows {
  uint32_t* row[kMaxFragmentRegisters];
  OutRows(Warp& warp, const BoundOperand& operand) { RowsOf(warp, operand, row); }
};

// m8n8k4 of f16: four products of 8 rows, 8 columns and 4 terms.
void ExecuteQuadPairs(const MatrixPlan& plan, const uint32_t* a, const uint32_t* b, uint32_t* c) {
  uint32_t b_block[4 * 8];
  for (int block = 0; block < 4; ++block) {
    for (int k = 0; k < 4; ++k)
      for (int col = 0; col < 8; ++col) b_block[k * 8 + col] = b[k * 32 + 8 * block + col];
    MatrixOperands p;
    p.m = p.n = 8;
    p.k = p.b_rows = 4;
    p.a = a + block * 8 * 4;
    p.b = b_block;
    p.c = p.d = c + block * 8 * 8;
    MultiplyQuad(plan.c_type, plan.d_type, p);
  }
}

void ExecuteDoubles(Warp& warp, const Inst& inst, const MatrixPlan& plan) {
  uint64_t a[16 * 16], b[16 * 8], c[16 * 8];
  const auto gather = [&](const FragmentLayout& layout, const BoundOperand& operand, uint64_t* out) {
    for (int reg = 0; reg < layout.registers; ++reg) {
      const uint64_t* row =
          warp.U64(operand.kind == Operand::Kind::kVector ? operand.elements[reg].row : operand.row);
      for (int lane = 0; lane < 32; ++lane) {
        const ElementPlace& place = layout.At(reg, lane, 0);
        out[place.row * layout.cols + place.col] = row[lane];
      }
    }
  };
  gather(*plan.a, inst.op(1), a);
  gather(*plan.b, inst.op(2), b);
  gather(*plan.c, inst.op(3), c);
  MultiplyDoubles(plan.rounding, plan.m, plan.n, plan.k, a, b, c, c);
  const BoundOperand& d = inst.op(0);
  for (int reg = 0; reg < plan.d->registers; ++reg) {
    uint64_t* row = warp.Dst64(d.kind == Operand::Kind::kVector ? d.elements[reg].row : d.row);
    for (int lane = 0; lane < 32; ++lane) {
      const ElementPlace& place = plan.d->At(reg, lane, 0);
      row[lane] = c[place.row * plan.d->cols + place.col];
    }
  }
}

}  // namespace

ExecResult ExecuteMma(Warp& warp, const Inst& inst) {
  if (!AllLanes(warp, inst)) return ExecResult::kFault;
  const MatrixPlan& plan = *reinterpret_cast<const MatrixPlan*>(inst.aux[0]);
  if (plan.kind == MatrixKind::kDouble) {
    ExecuteDoubles(warp, inst, plan);
    return ExecResult::kNext;
  }
  alignas(64) uint32_t a[kMaxTensorA], b[kMaxTensorA], c[kMaxTensorA];
  uint8_t select[kMaxTensorA];
  const Rows a_rows(warp, inst.op(1)), b_rows(warp, inst.op(2)), c_rows(warp, inst.op(3));
  GatherFragment(*plan.c, c_rows.row, c);
  if (plan.kind == MatrixKind::kBits) {
    GatherBits(*plan.a, false, a_rows.row, a);
    GatherBits(*plan.b, true, b_rows.row, b);
    MultiplyBits(plan.bits, plan.m, plan.n, plan.k / 32, a, b, c, c);
  } else {
    GatherFragment(*plan.a, a_rows.row, a);
    GatherFragment(*plan.b, b_rows.row, b);
    MatrixOperands p;
    p.m = plan.m;
    p.n = plan.n;
    p.k = plan.stored();
    p.b_rows = plan.k;
    p.a = a;
    p.b = b;
    p.c = p.d = c;
    if (plan.sparse) {
      GatherSelection(plan, warp.U32(inst.src(4)), select);
      p.select = select;
    }
    if (plan.kind == MatrixKind::kInteger)
      MultiplyIntegers(plan.a_type, plan.b_type, plan.saturate, p);
    else if (plan.a->rows == 32 && plan.k == 4)
      ExecuteQuadPairs(plan, a, b, c);
    else
      MultiplyFloats(*plan.rule, plan.a_type, plan.b_type, plan.c_type, plan.d_type, p);
  }
  const OutRows d_rows(warp, inst.op(0));
  ScatterFragment(*plan.d, c, d_rows.row);
  return ExecResult::kNext;
}

}  // namespace understudy::emu::ptx
