// SPDX-License-Identifier: Apache-2.0
// mov, with packing and unpacking of vectors, and logic on predicates, which are masks: no arithmetic of
// lanes.
#include <cstring>

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/integer.h"
#include "emu/ptx/semantics/integer_kernels.h"
#include "emu/ptx/semantics/lane_rows.h"

namespace understudy::emu::ptx {
namespace {

uint64_t LowBits(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// aux[0]: bits of an element.
ExecResult Pack(Warp& w, const Inst& inst) {
  const int bits = static_cast<int>(inst.aux[0]);
  alignas(64) uint64_t value[kWarpSize] = {};
  for (int i = 0; i < inst.op(1).num_elements; ++i) {
    const Row64 element(w, inst.op(1).elements[i].row);
    for (int lane = 0; lane < kWarpSize; ++lane)
      value[lane] |= (element.row[lane] & LowBits(bits)) << (bits * i);
  }
  StoreRow(w, inst.src(0), value);
  return ExecResult::kNext;
}

ExecResult Unpack(Warp& w, const Inst& inst) {
  const int bits = static_cast<int>(inst.aux[0]);
  const Row64 source(w, inst.src(1));
  alignas(64) uint64_t from[kWarpSize], part[kWarpSize];
  std::memcpy(from, source.row, sizeof from);  // an element may be the source's own register
  for (int i = 0; i < inst.op(0).num_elements; ++i) {
    const BoundOperand& element = inst.op(0).elements[i];
    if (element.row.sink) continue;
    for (int lane = 0; lane < kWarpSize; ++lane) part[lane] = from[lane] >> (bits * i) & LowBits(bits);
    StoreRow(w, element.row, part);
  }
  return ExecResult::kNext;
}

// The two 64-bit rows of a 128-bit register.
Src Half(Src s, int i) {
  s.bytes = 8;
  s.offset += static_cast<uint32_t>(i) * kWarpSize * 8;
  return s;
}
ExecResult Move128(Warp& w, const Inst& inst) {
  const BoundOperand &to = inst.op(0), &from = inst.op(1);
  alignas(64) uint64_t value[2][kWarpSize];
  for (int i = 0; i < 2; ++i) {
    const Row64 row(w, from.num_elements == 2 ? from.elements[i].row : Half(from.row, i));
    std::memcpy(value[i], row.row, sizeof value[i]);
  }
  for (int i = 0; i < 2; ++i) {
    const Src dst = to.num_elements == 2 ? to.elements[i].row : Half(to.row, i);
    if (!dst.sink) StoreRow(w, dst, value[i]);
  }
  return ExecResult::kNext;
}

// mov.v2 and mov.v4, an element at a time, all read first.
ExecResult MoveVector(Warp& w, const Inst& inst) {
  const BoundOperand &to = inst.op(0), &from = inst.op(1);
  alignas(64) uint64_t value[4][kWarpSize];
  for (int i = 0; i < to.num_elements; ++i) {
    const Row64 row(w, from.elements[i].row);
    std::memcpy(value[i], row.row, sizeof value[i]);
  }
  for (int i = 0; i < to.num_elements; ++i)
    if (!to.elements[i].row.sink) StoreRow(w, to.elements[i].row, value[i]);
  return ExecResult::kNext;
}

template <Op op>
ExecResult PredicateLogic(Warp& w, const Inst& inst) {
  const uint32_t a = w.Pred(inst.src(1)), b = inst.num_operands > 2 ? w.Pred(inst.src(2)) : 0;
  w.SetPred(inst.src(0), op == Op::kAnd   ? a & b
                         : op == Op::kOr  ? a | b
                         : op == Op::kXor ? a ^ b
                         : op == Op::kNot ? ~a
                                          : a);
  return ExecResult::kNext;
}

}  // namespace

Exec FindMove(const Instruction& inst) {
  const Type type = inst.type(0);
  if (type == Type::kPred) return Exact(PredicateLogic<Op::kMov>);
  const int bits = TypeBits(type);
  if (inst.types.size() != 1 || inst.operands.size() != 2 ||
      (bits != 16 && bits != 32 && bits != 64 && bits != 128))
    return Refused(inst, "PTX has no such combination of type and operands");
  const Operand &to = inst.operands[0], &from = inst.operands[1];
  const bool unpacks = to.kind == Operand::Kind::kVector, packs = from.kind == Operand::Kind::kVector;
  if (inst.Has("v2") || inst.Has("v4")) {
    const size_t elements = inst.Has("v2") ? 2 : 4;
    // A special register is a vector of its four elements.
    const bool matches =
        packs ? from.elements.size() == elements : from.kind == Operand::Kind::kSpecial && elements == 4;
    if (!unpacks || to.elements.size() != elements || !matches || bits > 64)
      return Refused(inst, "expected vectors of as many elements");
    return Exact(MoveVector);
  }
  const size_t parts = unpacks ? to.elements.size() : packs ? from.elements.size() : 1;
  if ((unpacks && packs) || (unpacks && from.kind != Operand::Kind::kRegister) ||
      (parts != 1 && parts != 2 && parts != 4) || static_cast<size_t>(bits) < 8 * parts)
    return Refused(inst, "PTX has no such combination of type and operands");
  if (bits == 128) {
    if (parts == 4 || (parts == 1 && from.kind != Operand::Kind::kRegister))
      return Refused(inst, "a 128-bit register holds two of 64 bits");
    return Exact(Move128);
  }
  const uint64_t part = static_cast<uint64_t>(bits) / parts;
  if (unpacks) return Exact(Unpack, part);
  if (packs) return Exact(Pack, part);
  return Exact(HostKernel(IntegerKernel::kMov16, 16, bits));
}

Exec FindPredicateLogic(const Instruction& inst) {
  switch (inst.op) {
    case Op::kAnd:
      return Exact(PredicateLogic<Op::kAnd>);
    case Op::kOr:
      return Exact(PredicateLogic<Op::kOr>);
    case Op::kXor:
      return Exact(PredicateLogic<Op::kXor>);
    default:
      return Exact(PredicateLogic<Op::kNot>);
  }
}

}  // namespace understudy::emu::ptx
