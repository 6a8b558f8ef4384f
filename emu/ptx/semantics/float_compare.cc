// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/float_compare.h"

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/float_bits.h"

namespace understudy::emu::ptx {
namespace {

struct Comparison {
  uint32_t relations;
  BoolOp combine;
  bool pair;
  uint32_t result[2];  // masks of lanes, before the Boolean operation
};

Comparison Compare(const Warp& w, const Inst& inst) {
  Comparison c;
  c.relations = inst.aux[0] & 15;
  c.combine = static_cast<BoolOp>(inst.aux[0] >> 4 & 3);
  const auto type = static_cast<FloatType>(inst.aux[0] >> 8 & 15);
  c.pair = type == FloatType::kF16x2 || type == FloatType::kBf16x2;
  const FloatRelations r =
      HostFloatKernels().compare[static_cast<int>(type)][inst.aux[0] >> 12 & 1](w, inst.src(1), inst.src(2));
  for (int part = 0; part < 2; ++part) {
    const uint32_t greater = ~(r.less[part] | r.equal[part] | r.unordered[part]);
    c.result[part] = ((c.relations & kLess) != 0 ? r.less[part] : 0) |
                     ((c.relations & kEqual) != 0 ? r.equal[part] : 0) |
                     ((c.relations & kGreater) != 0 ? greater : 0) |
                     ((c.relations & kUnordered) != 0 ? r.unordered[part] : 0);
  }
  return c;
}

// The comparison of one half combined with the predicate operand, if there is one.
uint32_t Combined(const Warp& w, const Inst& inst, BoolOp op, uint32_t mask) {
  return Combine(op, mask, op == BoolOp::kNone ? 0 : w.Pred(inst.src(3)));
}

}  // namespace

uint32_t RelationsOf(const std::string& name) {
  static constexpr struct {
    const char* name;
    uint32_t relations;
  } kRows[] = {
      {"eq", kEqual},
      {"ne", kLess | kGreater},
      {"lt", kLess},
      {"le", kLess | kEqual},
      {"gt", kGreater},
      {"ge", kGreater | kEqual},
      {"equ", kEqual | kUnordered},
      {"neu", kLess | kGreater | kUnordered},
      {"ltu", kLess | kUnordered},
      {"leu", kLess | kEqual | kUnordered},
      {"gtu", kGreater | kUnordered},
      {"geu", kGreater | kEqual | kUnordered},
      {"num", kLess | kEqual | kGreater},
      {"nan", kUnordered},
  };
  for (const auto& row : kRows)
    if (name == row.name) return row.relations;
  return 0;
}

ExecResult SetPredicate(Warp& w, const Inst& inst) {
  const Comparison c = Compare(w, inst);
  const BoundOperand& d = inst.op(0);
  const bool two = d.num_elements == 2;
  const uint32_t p = Combined(w, inst, c.combine, c.result[0]);
  // Of a pair q is the upper half's result, else it is the complement's.
  const uint32_t q = two ? Combined(w, inst, c.combine, c.pair ? c.result[1] : ~c.result[0]) : 0;
  w.SetPred(two ? d.elements[0].row : d.row, p);
  if (two) w.SetPred(d.elements[1].row, q);
  return ExecResult::kNext;
}

ExecResult SetRegister(Warp& w, const Inst& inst) {
  // Of true: in the lower half or alone, and in the upper half.
  static constexpr uint32_t kTrue[][2] = {{0xffffu, 0},
                                          {0xffffffffu, 0},
                                          {Half::kOne, 0},
                                          {Brain::kOne, 0},
                                          {Single::kOne, 0},
                                          {0xffffu, 0xffff0000u},
                                          {Half::kOne, Half::kOne << 16},
                                          {Brain::kOne, Brain::kOne << 16}};
  const Comparison c = Compare(w, inst);
  const uint32_t* value = kTrue[inst.aux[0] >> 16 & 15];
  const uint32_t low = Combined(w, inst, c.combine, c.result[0]);
  const uint32_t high = Combined(w, inst, c.combine, c.result[1]);
  alignas(64) uint32_t out[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i)
    out[i] = ((low >> i & 1) != 0 ? value[0] : 0) | ((high >> i & 1) != 0 ? value[1] : 0);
  StoreRow(w, inst.src(0), out);
  return ExecResult::kNext;
}

ExecResult TestProperty(Warp& w, const Inst& inst) {
  const bool wide = inst.aux[1] != 0;
  const Row64 row(w, inst.src(1));
  uint32_t mask = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t bits = row.row[lane];
    const uint64_t magnitude = bits & (wide ? Double::kSign - 1 : uint64_t{Single::kSign - 1});
    const uint64_t inf = wide ? Double::kInf : uint64_t{Single::kInf};
    const uint64_t least = wide ? Double::kMinNormal : uint64_t{Single::kMinNormal};
    bool is = false;
    switch (static_cast<FloatClass>(inst.aux[0])) {
      case FloatClass::kFinite:
        is = magnitude < inf;
        break;
      case FloatClass::kInfinite:
        is = magnitude == inf;
        break;
      case FloatClass::kNumber:
        is = magnitude <= inf;
        break;
      case FloatClass::kNotANumber:
        is = magnitude > inf;
        break;
      case FloatClass::kNormal:
        // Zero counts as normal.
        is = (magnitude >= least || magnitude == 0) && magnitude < inf;
        break;
      case FloatClass::kSubnormal:
        is = magnitude != 0 && magnitude < least;
        break;
    }
    mask |= static_cast<uint32_t>(is) << lane;
  }
  w.SetPred(inst.src(0), mask);
  return ExecResult::kNext;
}

}  // namespace understudy::emu::ptx
