// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/matrix_plan.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {
namespace {

bool FindShape(const Instruction& inst, int* m, int* n, int* k) {
  for (const std::string& modifier : inst.modifiers) {
    char end;
    if (modifier[0] == 'm' && std::sscanf(modifier.c_str(), "m%dn%dk%d%c", m, n, k, &end) == 3) return true;
  }
  return false;
}

// The operand that says which lanes hold the metadata, or what the operands' scales are: an integer constant.
bool Constant(const Instruction& inst, size_t index, int64_t* value) {
  if (index >= inst.operands.size() || inst.operands[index].kind != Operand::Kind::kImmediate) return false;
  *value = static_cast<int64_t>(inst.operands[index].bits);
  return true;
}

bool IsEightBitFloat(Type type) { return type == Type::kE4m3 || type == Type::kE5m2; }
bool IsByte(Type type) { return type == Type::kS8 || type == Type::kU8; }
bool IsNibble(Type type) { return type == Type::kS4 || type == Type::kU4; }

// Type pairs that can be multiplied, and with which accumulators.
bool ChooseKind(MatrixPlan* plan) {
  const Type a = plan->a_type, b = plan->b_type, c = plan->c_type, d = plan->d_type;
  const bool halves = (c == Type::kF16 || c == Type::kF32) && (d == Type::kF16 || d == Type::kF32);
  const bool singles = c == Type::kF32 && d == Type::kF32, words = c == Type::kS32 && d == Type::kS32;
  if (a == Type::kF64) {
    plan->kind = MatrixKind::kDouble;
    return b == a && c == a && d == a && !plan->sparse;
  }
  if (a == Type::kB1) {
    plan->kind = MatrixKind::kBits;
    return b == a && words && !plan->sparse;
  }
  if (IsByte(a) || IsNibble(a)) {
    plan->kind = MatrixKind::kInteger;
    return (IsByte(a) ? IsByte(b) : IsNibble(b)) && words;
  }
  plan->kind = MatrixKind::kFloat;
  if (a == Type::kF16) return b == a && halves;
  if (a == Type::kBf16 || a == Type::kTf32) return b == a && singles;
  return IsEightBitFloat(a) && IsEightBitFloat(b) && halves && c == d;
}

void PlanMetadata(int selector, MatrixPlan* plan) {
  for (int row = 0; row < 16; ++row)
    for (int col = 0; col < plan->stored(); ++col) {
      plan->metadata.push_back(FindMetadataPlace(plan->a_type, plan->k, selector, row, col));
      for (int index = 0; index < 4; ++index)
        plan->rows_of_b.push_back(static_cast<uint8_t>(SparseColumn(plan->a_type, col, index)));
    }
}

// Selectors of a sparse shape: as many as sets of lanes that can hold its metadata.
int NumSelectors(Type type, int k) {
  const int bits = TypeBits(type) == 32 ? 4 * k / 2 : TypeBits(type) == 4 ? k / 2 : k;
  return bits <= 16 ? 4 : bits <= 32 ? 2 : 1;
}

std::string PlanMma(const Instruction& inst, MatrixPlan* plan) {
  if (inst.types.size() != 4) return "needs the types of D, A, B and C";
  plan->d_type = inst.types[0];
  plan->a_type = inst.types[1];
  plan->b_type = inst.types[2];
  plan->c_type = inst.types[3];
  plan->sparse = inst.Has("sp") || inst.Has("sp::ordered_metadata");
  for (const std::string& modifier : inst.modifiers)
    if (modifier == "block_scale" || modifier.rfind("kind::", 0) == 0 || modifier.rfind("scale_vec", 0) == 0)
      return "." + modifier + " is of sm_120's matrix unit: sm_90's arithmetic is what is emulated";
  if (!ChooseKind(plan)) return "no product of these types";
  const bool quad_pairs = plan->m == 8 && plan->k == 4 && plan->a_type == Type::kF16;
  const bool a_rows = !inst.Has("col") || inst.Has("row");
  bool a_row = a_rows, b_row = false;
  if (quad_pairs) {
    // The first of .row and .col is A's.
    std::vector<bool> layouts;
    for (const std::string& modifier : inst.modifiers)
      if (modifier == "row" || modifier == "col") layouts.push_back(modifier == "row");
    if (layouts.size() != 2) return "needs the layouts of A and B";
    a_row = layouts[0];
    b_row = layouts[1];
  }
  plan->a = FindMmaLayout(Fragment::kA, plan->m, plan->n, plan->k, plan->a_type, plan->sparse, a_row);
  plan->b = FindMmaLayout(Fragment::kB, plan->m, plan->n, plan->k, plan->b_type, plan->sparse, b_row);
  plan->c = FindMmaLayout(Fragment::kC, plan->m, plan->n, plan->k, plan->c_type, false, true);
  plan->d = FindMmaLayout(Fragment::kC, plan->m, plan->n, plan->k, plan->d_type, false, true);
  if (plan->sparse) {
    int64_t selector = 0;
    if (!Constant(inst, 5, &selector)) return "the sparsity selector is no constant";
    if (selector < 0 || selector >= NumSelectors(plan->a_type, plan->k))
      return "sparsity selector " + std::to_string(selector) + " of a shape that has " +
             std::to_string(NumSelectors(plan->a_type, plan->k));
    PlanMetadata(static_cast<int>(selector), plan);
  }
  return "";
}

std::string PlanWmma(const Instruction& inst, MatrixPlan* plan) {
  std::vector<bool> rows;
  for (const std::string& modifier : inst.modifiers) {
    if (modifier == "row" || modifier == "col") rows.push_back(modifier == "row");
    if (modifier == "rz") plan->rounding = Rounding::kToZero;
    if (modifier == "rm") plan->rounding = Rounding::kDown;
    if (modifier == "rp") plan->rounding = Rounding::kUp;
  }
  if (rows.size() != 2) return "needs the layouts of A and B";
  if (inst.types.size() == 2) {
    plan->d_type = inst.types[0];
    plan->a_type = plan->b_type = Type::kF16;
    plan->c_type = inst.types[1];
  } else if (inst.types.size() == 4) {
    plan->d_type = inst.types[0];
    plan->a_type = inst.types[1];
    plan->b_type = inst.types[2];
    plan->c_type = inst.types[3];
  } else {
    return "needs two or four types";
  }
  if (!ChooseKind(plan)) return "no product of these types";
  const int m = plan->m, n = plan->n, k = plan->k;
  plan->a = FindWmmaLayout(Fragment::kA, m, n, k, plan->a_type, rows[0]);
  plan->b = FindWmmaLayout(Fragment::kB, m, n, k, plan->b_type, rows[1]);
  plan->c = FindWmmaLayout(Fragment::kC, m, n, k, plan->c_type, true);
  plan->d = FindWmmaLayout(Fragment::kC, m, n, k, plan->d_type, true);
  return "";
}

std::string PlanWgmma(const Instruction& inst, MatrixPlan* plan) {
  if (inst.types.size() != 3) return "needs the types of D, A and B";
  plan->d_type = plan->c_type = inst.types[0];
  plan->a_type = inst.types[1];
  plan->b_type = inst.types[2];
  plan->sparse = inst.Has("sp");
  if (!ChooseKind(plan) || IsNibble(plan->a_type) || plan->kind == MatrixKind::kDouble)
    return "no product of these types";
  const int bits = TypeBits(plan->a_type);
  const bool one_bit = bits == 1;
  if (plan->m != 64 || plan->n < 8 || plan->n > 256 || plan->n % 8 != 0 || plan->stored() * bits != 256)
    return "no such shape";
  if (inst.operands.size() < (plan->sparse ? 6u : 4u))
    return "needs D, A, B, metadata of a sparse A, and scale-d";
  plan->a_in_registers = inst.operands[1].kind == Operand::Kind::kVector;
  plan->a = FindWgmmaLayout(Fragment::kA, 8, plan->stored(), plan->a_type);
  plan->c = plan->d = FindWgmmaLayout(Fragment::kC, plan->n, plan->k, plan->d_type);
  if (plan->sparse) {
    int64_t selector = 0;
    if (!Constant(inst, 4, &selector)) return "the sparsity selector is no constant";
    if (selector < 0 || selector >= NumSelectors(plan->a_type, plan->k))
      return "sparsity selector " + std::to_string(selector) + " of a shape that has " +
             std::to_string(NumSelectors(plan->a_type, plan->k));
    PlanMetadata(static_cast<int>(selector), plan);
  }
  if (plan->kind == MatrixKind::kInteger || one_bit) return "";
  // scale-d, imm-scale-a, imm-scale-b and, for 16-bit elements, imm-trans-a (of a matrix in shared memory),
  // imm-trans-b.
  size_t at = plan->sparse ? 6 : 4;
  for (bool* negate : {&plan->negate_a, &plan->negate_b}) {
    int64_t scale = 1;
    if (!Constant(inst, at++, &scale) || (scale != 1 && scale != -1)) return "scales of A and B are 1 or -1";
    *negate = scale == -1;
  }
  if (bits == 16) {
    for (bool* transpose : {&plan->transpose_a, &plan->transpose_b}) {
      if (transpose == &plan->transpose_a && plan->a_in_registers) continue;
      int64_t value = 0;
      if (!Constant(inst, at++, &value) || (value != 0 && value != 1)) return "transpositions are 0 or 1";
      *transpose = value == 1;
    }
  }
  return "";
}

int VectorSize(const Operand& operand) {
  return operand.kind == Operand::Kind::kVector ? static_cast<int>(operand.elements.size()) : 1;
}

std::string MakePlan(const Instruction& inst, MatrixPlan* plan) {
  if (!FindShape(inst, &plan->m, &plan->n, &plan->k)) return "needs a shape";
  plan->saturate = inst.Has("satfinite");
  plan->bits = inst.Has("and") ? BitProduct::kAnd : BitProduct::kXor;
  std::string reason = inst.op == Op::kMma    ? PlanMma(inst, plan)
                       : inst.op == Op::kWmma ? PlanWmma(inst, plan)
                                              : PlanWgmma(inst, plan);
  if (!reason.empty()) return reason;
  const bool wgmma = inst.op == Op::kWgmma;
  if (plan->a == nullptr || (!wgmma && plan->b == nullptr) || plan->c == nullptr || plan->d == nullptr)
    return "no such shape of these types";
  if (plan->kind == MatrixKind::kFloat) {
    const TensorUnit unit = wgmma                  ? TensorUnit::kWgmma
                            : inst.op == Op::kWmma ? TensorUnit::kWmma
                                                   : TensorUnit::kMma;
    plan->rule = FindFloatRule(unit, plan->a_type, plan->b_type);
    if (plan->rule == nullptr) return "no rule for these types";
  }
  const auto check = [&](size_t index, const FragmentLayout* layout, const char* name) -> std::string {
    if (index >= inst.operands.size()) return std::string("operand ") + name + " is missing";
    const int given = VectorSize(inst.operands[index]);
    if (given == layout->registers) return "";
    return std::string("operand ") + name + " has " + std::to_string(given) + " registers, expected " +
           std::to_string(layout->registers);
  };
  reason = check(0, plan->d, "D");
  if (reason.empty() && plan->a_in_registers) reason = check(1, plan->a, "A");
  if (reason.empty() && !wgmma) reason = check(2, plan->b, "B");
  if (reason.empty() && !wgmma) reason = check(3, plan->c, "C");
  if (reason.empty() && plan->sparse && inst.op == Op::kMma && inst.operands.size() < 6)
    reason = "needs metadata and selector";
  return reason;
}

}  // namespace

const MatrixPlan* FindMatrixPlan(const Instruction& inst, std::string* reason) {
  // The name does not tell a sparsity selector, scales, or where A is.
  std::string key = inst.Name();
  for (const Operand& operand : inst.operands) {
    if (operand.kind == Operand::Kind::kImmediate)
      key += "," + std::to_string(static_cast<int64_t>(operand.bits));
    else
      key += "," + std::to_string(VectorSize(operand)) + (operand.kind == Operand::Kind::kVector ? "v" : "r");
  }
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const MatrixPlan>>* const plans =
      new std::map<std::string, std::unique_ptr<const MatrixPlan>>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = plans->find(key);
  if (found != plans->end()) return found->second.get();
  auto plan = std::make_unique<MatrixPlan>();
  *reason = MakePlan(inst, plan.get());
  if (!reason->empty()) return nullptr;
  return plans->emplace(key, std::move(plan)).first->second.get();
}

namespace {

// kRun elements at a time: as constants, so that the loops become vector moves.
template <class E, int kRun>
void GatherRuns(const FragmentLayout& layout, const uint32_t* const* rows, uint32_t* out) {
  const int count = 32 * layout.elements;
  const uint16_t* index = layout.index.data();
  for (int reg = 0; reg < layout.distinct; ++reg, index += count) {
    const E* in = reinterpret_cast<const E*>(rows[reg]);
#pragma GCC unroll 4
    for (int i = 0; i < count; i += kRun) {
      uint32_t* to = out + index[i];
      if constexpr (kRun == 1) {
        to[0] = in[i];
      } else {
        typedef E Narrow __attribute__((vector_size(sizeof(E) * kRun)));
        typedef uint32_t Wide __attribute__((vector_size(4 * kRun)));
        Narrow narrow;
        std::memcpy(&narrow, in + i, sizeof(narrow));
        const Wide wide = __builtin_convertvector(narrow, Wide);
        std::memcpy(to, &wide, sizeof(wide));
      }
    }
  }
}

template <class E>
void GatherElements(const FragmentLayout& layout, const uint32_t* const* rows, uint32_t* out) {
  // Registers are little endian rows: element e of a lane follows element e - 1 in memory.
  if (layout.run >= 8)
    GatherRuns<E, 8>(layout, rows, out);
  else if (layout.run >= 4)
    GatherRuns<E, 4>(layout, rows, out);
  else
    GatherRuns<E, 1>(layout, rows, out);
}

}  // namespace

void GatherFragment(const FragmentLayout& layout, const uint32_t* const* rows, uint32_t* out) {
  switch (layout.bits) {
    case 32:
      return GatherElements<uint32_t>(layout, rows, out);
    case 16:
      return GatherElements<uint16_t>(layout, rows, out);
    case 8:
      return GatherElements<uint8_t>(layout, rows, out);
    default: {
      const uint32_t mask = (1u << layout.bits) - 1;
      const uint16_t* index = layout.index.data();
      for (int reg = 0; reg < layout.distinct; ++reg)
        for (int lane = 0; lane < 32; ++lane)
          for (int e = 0; e < layout.elements; ++e)
            out[*index++] = rows[reg][lane] >> (e * layout.bits) & mask;
    }
  }
}

void GatherBits(const FragmentLayout& layout, bool by_column, const uint32_t* const* rows, uint32_t* out) {
  const int words = (by_column ? layout.rows : layout.cols) / 32;
  for (int reg = 0; reg < layout.distinct; ++reg)
    for (int lane = 0; lane < 32; ++lane) {
      const ElementPlace& place = layout.At(reg, lane, 0);
      const int major = by_column ? place.col : place.row, minor = by_column ? place.row : place.col;
      out[major * words + minor / 32] = rows[reg][lane];
    }
}

void ScatterFragment(const FragmentLayout& layout, const uint32_t* in, uint32_t* const* rows) {
  const uint16_t* index = layout.index.data();
  const auto scatter = [&](auto element) {
    using E = decltype(element);
    const int count = 32 * layout.elements;
    for (int reg = 0; reg < layout.registers; ++reg, index += count) {
      E* out = reinterpret_cast<E*>(rows[reg]);
#pragma GCC unroll 4
      for (int i = 0; i < count; ++i) out[i] = static_cast<E>(in[index[i]]);
    }
  };
  if (layout.bits == 32)
    scatter(uint32_t{});
  else
    scatter(uint16_t{});
}

void GatherSelection(const MatrixPlan& plan, const uint32_t* metadata, uint8_t* select) {
  const MetadataPlace* place = plan.metadata.data();
  const uint8_t* row_of_b = plan.rows_of_b.data();
  const int count = 16 * plan.stored();
  for (int i = 0; i < count; ++i)
    select[i] = row_of_b[4 * i + (metadata[place[i].lane] >> place[i].shift & 3)];
}

int RowsOf(const Warp& warp, const BoundOperand& operand, const uint32_t** rows) {
  if (operand.kind != Operand::Kind::kVector) {
    rows[0] = warp.U32(operand.row);
    return 1;
  }
  const int count = std::min<int>(operand.num_elements, kMaxFragmentRegisters);
  for (int i = 0; i < count; ++i) rows[i] = warp.U32(operand.elements[i].row);
  return count;
}

int RowsOf(Warp& warp, const BoundOperand& operand, uint32_t** rows) {
  if (operand.kind != Operand::Kind::kVector) {
    rows[0] = warp.Dst32(operand.row);
    return 1;
  }
  const int count = std::min<int>(operand.num_elements, kMaxFragmentRegisters);
  for (int i = 0; i < count; ++i) rows[i] = warp.Dst32(operand.elements[i].row);
  return count;
}

bool AllLanes(Warp& warp, const Inst& inst) {
  if (warp.mask == warp.lanes) return true;
  char text[160];
  std::snprintf(
      text, sizeof(text), "%s is executed by lanes 0x%08x of 0x%08x: .aligned needs all threads of the warp",
      inst.text != nullptr ? inst.text->Name().c_str() : "a matrix instruction", warp.mask, warp.lanes);
  warp.Fail(FaultKind::kBarrier, -1, text);
  return false;
}

}  // namespace understudy::emu::ptx
