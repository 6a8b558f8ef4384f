// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/matrix_table.h"

#include <algorithm>
#include <array>

#include "emu/amd/semantics/matrix_layout.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t MaskOf(Isa isa) { return 1u << static_cast<int>(isa); }
constexpr uint32_t kAllRdna3 = MaskOf(Isa::kRdna3) | MaskOf(Isa::kRdna35), kRdna4s = MaskOf(Isa::kRdna4),
                   kAllRdna = kAllRdna3 | kRdna4s;
constexpr uint32_t kCdna2s = MaskOf(Isa::kCdna2), kCdna3s = MaskOf(Isa::kCdna3),
                   kCdna4s = MaskOf(Isa::kCdna4), kCdna34 = kCdna3s | kCdna4s, kAllCdna = kCdna2s | kCdna34;
constexpr uint32_t kEvery = kAllRdna | kAllCdna;

struct OpRow {
  Opcode op;
  uint32_t isas;
  int m, n, k, blocks;
  MatrixType a, b, d;
  MatrixForm form;
};
using enum MatrixType;
using enum MatrixForm;
constexpr OpRow kOps[] = {
#define MATRIX_OP(op, isas, m, n, k, blocks, a, b, d, form) \
  {Opcode::op, isas, m, n, k, blocks, a, b, d, form},
#include "emu/amd/semantics/matrix_ops.inc"
#undef MATRIX_OP
};

struct RuleRow {
  uint32_t isas;
  MatrixType a, d;
  MatrixForm form;
  MatrixRule rule;
  int group;
  SemanticState state;
  const char* note;
};
constexpr RuleRow kRules[] = {
#define MATRIX_RULE(isas, a, d, form, rule, group, state, note) \
  {isas, a, d, form, MatrixRule::rule, group, SemanticState::state, note},
#include "emu/amd/semantics/matrix_rules.inc"
#undef MATRIX_RULE
};

const RuleRow& RuleFor(Isa isa, const OpRow& row) {
  return *std::find_if(std::begin(kRules), std::end(kRules), [&](const RuleRow& r) {
    return (r.isas & MaskOf(isa)) != 0 && (r.a == kAny || r.a == row.a) && (r.d == kAny || r.d == row.d) &&
           (r.form == kAnyForm || r.form == row.form);
  });
}

struct Table {
  std::vector<MatrixOp> ops;
  std::array<std::array<int16_t, static_cast<size_t>(Opcode::kCount)>, std::size(kAllIsas)> by_opcode;
  std::array<bool, static_cast<size_t>(Opcode::kCount)> known = {};
};

MatrixOp MakeOp(Isa isa, const OpRow& row) {
  const RuleRow& rule = RuleFor(isa, row);
  MatrixOp op = {};
  op.op = row.op;
  op.isa = isa;
  op.m = row.m;
  op.n = row.n;
  op.k = row.k;
  op.blocks = row.blocks;
  op.a = row.a;
  op.b = row.b;
  op.d = row.d;
  op.form = row.form;
  op.rule = rule.rule;
  // Before the _1k forms, CDNA's bf16 instructions read one register of two elements a lane.
  op.group = isa == Isa::kCdna2 && row.a == kBf16 && row.m * row.k * row.blocks == 128 ? 2 : rule.group;
  op.state = rule.state;
  op.note = rule.note;
  if (row.a == kF8f6f4) {
    for (int bits : {4, 6, 8}) op.by_bits[bits / 2 - 2] = MakeMatrixPlan(op, 64, bits);
    op.plan[1] = op.by_bits[2];
  } else {
    const int bits = MatrixTypeBits(row.a);
    if (IsRdna(isa)) op.plan[0] = MakeMatrixPlan(op, 32, bits);
    op.plan[1] = MakeMatrixPlan(op, 64, bits);
  }
  return op;
}

const Table* BuildTable() {
  Table* table = new Table;
  for (auto& row : table->by_opcode) row.fill(-1);
  for (const OpRow& row : kOps) {
    table->known[static_cast<size_t>(row.op)] = true;
    for (Isa isa : kAllIsas) {
      if ((row.isas & MaskOf(isa)) == 0) continue;
      table->by_opcode[static_cast<size_t>(isa)][static_cast<size_t>(row.op)] =
          static_cast<int16_t>(table->ops.size());
      table->ops.push_back(MakeOp(isa, row));
    }
  }
  table->known[static_cast<size_t>(Opcode::V_MFMA_LD_SCALE_B32)] = true;
  return table;
}

const Table& TheTable() {
  static const Table* const table = BuildTable();
  return *table;
}

}  // namespace

const MatrixOp* MatrixOpOf(Isa isa, Opcode op) {
  const Table& table = TheTable();
  const int i = table.by_opcode[static_cast<size_t>(isa)][static_cast<size_t>(op)];
  return i < 0 ? nullptr : &table.ops[static_cast<size_t>(i)];
}

const std::vector<MatrixOp>& AllMatrixOps() { return TheTable().ops; }

bool IsMatrixOpcode(Opcode op) { return TheTable().known[static_cast<size_t>(op)]; }

int MatrixTypeBits(MatrixType type) {
  switch (type) {
    case kF64:
      return 64;
    case kF16:
    case kBf16:
      return 16;
    case kFp8:
    case kBf8:
    case kF8f6f4:
    case kI8:
    case kIu8:
      return 8;
    case kIu4:
      return 4;
    default:
      return 32;
  }
}

MatrixStateRow MatrixState(Isa isa, Opcode op) {
  if (op == Opcode::V_MFMA_LD_SCALE_B32) {
    return {SemanticState::kRefused, "the first half of V_MFMA_SCALE_*, which does not stand alone"};
  }
  const MatrixOp* row = MatrixOpOf(isa, op);
  if (row == nullptr) return {SemanticState::kRefused, "not a matrix instruction of this generation"};
  return {row->state, row->state == SemanticState::kExact ? "" : row->note};
}

}  // namespace understudy::emu::amd
