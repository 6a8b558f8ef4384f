// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, logic, shifts, comparisons, selection and moves, a lane at a time.
#include <bit>

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/find_exec.h"
#include "emu/ptx/semantics/integer.h"

namespace understudy::emu::ptx {
namespace {

enum Mode : uint64_t { kLow, kHigh, kWide };
enum Compare : uint64_t { kEq, kNe, kLt, kLe, kGt, kGe };
enum Combine : uint64_t { kPlain, kAnd, kOr, kXor };

int64_t Extend(uint64_t value, int bits) {
  return bits == 64 ? static_cast<int64_t>(value) : static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}
uint64_t Cut(uint64_t value, int bits) { return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1); }

// aux[0]: bits of the type, from bit 8 signed, from bit 16 the mode.
struct Meaning {
  explicit Meaning(const Inst& inst)
      : bits(static_cast<int>(inst.aux[0] & 0xff)),
        is_signed((inst.aux[0] >> 8 & 1) != 0),
        mode(inst.aux[0] >> 16) {}
  int bits;
  bool is_signed;
  uint64_t mode;
};

template <class Fn>
ExecResult Each(Warp& w, const Inst& inst, Fn&& fn) {
  for (uint32_t m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    w.SetLane(inst.src(0), lane, fn(lane));
  }
  return ExecResult::kNext;
}

template <Op op>
ExecResult Two(Warp& w, const Inst& inst) {
  const Meaning meaning(inst);
  const int bits = meaning.bits;
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Cut(w.Lane(inst.src(1), lane), bits);
    const uint64_t b = inst.num_operands > 2 ? w.Lane(inst.src(2), lane) : 0;
    const int64_t sa = Extend(a, bits), sb = Extend(Cut(b, bits), bits);
    const uint64_t ub = Cut(b, bits);
    switch (op) {
      case Op::kAdd:
        return Cut(a + ub, bits);
      case Op::kSub:
        return Cut(a - ub, bits);
      case Op::kAnd:
        return a & ub;
      case Op::kOr:
        return a | ub;
      case Op::kXor:
        return a ^ ub;
      case Op::kNot:
        return Cut(~a, bits);
      case Op::kNeg:
        return Cut(0 - a, bits);
      case Op::kAbs:
        return Cut(sa < 0 ? 0 - a : a, bits);
      case Op::kMin:
        return meaning.is_signed ? Cut(static_cast<uint64_t>(sa < sb ? sa : sb), bits) : (a < ub ? a : ub);
      case Op::kMax:
        return meaning.is_signed ? Cut(static_cast<uint64_t>(sa > sb ? sa : sb), bits) : (a > ub ? a : ub);
      case Op::kShl:
        return (b & 0xffffffff) >= static_cast<uint64_t>(bits) ? 0 : Cut(a << b, bits);
      case Op::kShr: {
        const uint64_t n = b & 0xffffffff;
        if (meaning.is_signed)
          return Cut(static_cast<uint64_t>(
                         sa >> (n >= static_cast<uint64_t>(bits) ? bits - 1 : static_cast<int>(n))),
                     bits);
        return n >= static_cast<uint64_t>(bits) ? 0 : a >> n;
      }
      case Op::kDiv:
      case Op::kRem: {
        const bool rem = op == Op::kRem;
        // The manual leaves a division by zero open, and no recording has one: this is our choice.
        if (ub == 0) return rem ? a : Cut(~uint64_t{0}, bits);
        if (!meaning.is_signed) return rem ? a % ub : a / ub;
        if (sb == -1) return rem ? 0 : Cut(0 - a, bits);
        return Cut(static_cast<uint64_t>(rem ? sa % sb : sa / sb), bits);
      }
      case Op::kPopc:
        return static_cast<uint64_t>(std::popcount(a));
      case Op::kClz:
        return static_cast<uint64_t>(std::countl_zero(a) - (64 - bits));
      default:
        return 0;
    }
  });
}

ExecResult Multiply(Warp& w, const Inst& inst) {
  const Meaning meaning(inst);
  const int bits = meaning.bits;
  return Each(w, inst, [&](int lane) -> uint64_t {
    const uint64_t a = Cut(w.Lane(inst.src(1), lane), bits), b = Cut(w.Lane(inst.src(2), lane), bits);
    const unsigned __int128 product =
        meaning.is_signed
            ? static_cast<unsigned __int128>(static_cast<__int128>(Extend(a, bits)) * Extend(b, bits))
            : static_cast<unsigned __int128>(a) * b;
    const int out_bits = meaning.mode == kWide ? 2 * bits : bits;
    uint64_t value = static_cast<uint64_t>(meaning.mode == kHigh ? product >> bits : product);
    if (inst.num_operands > 3) value += w.Lane(inst.src(3), lane);
    return Cut(value, out_bits);
  });
}

// mode: comparison, from bit 8 how the third source joins.
ExecResult SetPredicate(Warp& w, const Inst& inst) {
  const Meaning meaning(inst);
  const int bits = meaning.bits;
  uint32_t result = 0;
  for (uint32_t m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t a = Cut(w.Lane(inst.src(1), lane), bits), b = Cut(w.Lane(inst.src(2), lane), bits);
    const bool less = meaning.is_signed ? Extend(a, bits) < Extend(b, bits) : a < b;
    bool value = false;
    switch (meaning.mode & 0xff) {
      case kEq:
        value = a == b;
        break;
      case kNe:
        value = a != b;
        break;
      case kLt:
        value = less;
        break;
      case kLe:
        value = less || a == b;
        break;
      case kGt:
        value = !less && a != b;
        break;
      default:
        value = !less;
    }
    result |= static_cast<uint32_t>(value) << lane;
  }
  const uint64_t combine = meaning.mode >> 8;
  const uint32_t third = combine == kPlain ? 0 : w.Pred(inst.src(3));
  const auto join = [&](uint32_t value) {
    return combine == kAnd   ? value & third
           : combine == kOr  ? value | third
           : combine == kXor ? value ^ third
                             : value;
  };
  if (inst.op(0).num_elements == 2) {
    if (!inst.op(0).elements[0].row.sink) w.SetPred(inst.op(0).elements[0].row, join(result));
    if (!inst.op(0).elements[1].row.sink) w.SetPred(inst.op(0).elements[1].row, join(~result));
  } else {
    w.SetPred(inst.src(0), join(result));
  }
  return ExecResult::kNext;
}

ExecResult Select(Warp& w, const Inst& inst) {
  const uint32_t p = w.Pred(inst.src(3));
  return Each(w, inst, [&](int lane) { return w.Lane(inst.src((p >> lane & 1) != 0 ? 1 : 2), lane); });
}

ExecResult Move(Warp& w, const Inst& inst) {
  return Each(w, inst, [&](int lane) { return w.Lane(inst.src(1), lane); });
}

ExecResult Pack(Warp& w, const Inst& inst) {
  const int bits = static_cast<int>(inst.aux[0] & 0xff);
  const BoundOperand& from = inst.op(1);
  const int part = bits / from.num_elements;
  return Each(w, inst, [&](int lane) {
    uint64_t value = 0;
    for (int i = 0; i < from.num_elements; ++i)
      value |= Cut(w.Lane(from.elements[i].row, lane), part) << (part * i);
    return value;
  });
}

ExecResult Unpack(Warp& w, const Inst& inst) {
  const int bits = static_cast<int>(inst.aux[0] & 0xff);
  const BoundOperand& to = inst.op(0);
  const int part = bits / to.num_elements;
  for (uint32_t m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t value = w.Lane(inst.src(1), lane);
    for (int i = 0; i < to.num_elements; ++i)
      if (!to.elements[i].row.sink) w.SetLane(to.elements[i].row, lane, Cut(value >> (part * i), part));
  }
  return ExecResult::kNext;
}

ExecResult PredicateLogic(Warp& w, const Inst& inst) {
  const uint32_t a = w.Pred(inst.src(1));
  const uint32_t b = inst.num_operands > 2 ? w.Pred(inst.src(2)) : 0;
  switch (inst.text->op) {
    case Op::kAnd:
      w.SetPred(inst.src(0), a & b);
      break;
    case Op::kOr:
      w.SetPred(inst.src(0), a | b);
      break;
    case Op::kXor:
      w.SetPred(inst.src(0), a ^ b);
      break;
    case Op::kNot:
      w.SetPred(inst.src(0), ~a);
      break;
    default:
      w.SetPred(inst.src(0), a);
  }
  return ExecResult::kNext;
}

// The same where all 32 lanes execute: loops over whole rows, which compilers vectorise. Rows are the same or
// apart, so that an element is read before it is written.
template <Op op, class T>
T Plain(T a, T b, T c) {
  if constexpr (op == Op::kAdd) return a + b;
  if constexpr (op == Op::kSub) return a - b;
  if constexpr (op == Op::kAnd) return a & b;
  if constexpr (op == Op::kOr) return a | b;
  if constexpr (op == Op::kXor) return a ^ b;
  if constexpr (op == Op::kMul) return a * b;
  if constexpr (op == Op::kMad) return a * b + c;
  if constexpr (op == Op::kNot) return ~a;
  return a;
}

template <class T>
T* Row(Warp& w, Src s) {
  return reinterpret_cast<T*>(w.base[s.base] + s.offset);
}

template <Op op, class T, ExecFn partial>
ExecResult Whole(Warp& w, const Inst& inst) {
  if (w.mask != ~0u) return partial(w, inst);
  constexpr bool kTwo = op != Op::kMov && op != Op::kNot;
  T* const out = Row<T>(w, inst.src(0));
  const T* const a = Row<T>(w, inst.src(1));
  const T* const b = kTwo ? Row<T>(w, inst.src(2)) : a;
  const T* const c = op == Op::kMad ? Row<T>(w, inst.src(3)) : a;
#pragma GCC ivdep
  for (int i = 0; i < kWarpSize; ++i) out[i] = Plain<op, T>(a[i], b[i], c[i]);
  return ExecResult::kNext;
}

template <bool is_signed>
ExecResult WholeWide(Warp& w, const Inst& inst) {
  if (w.mask != ~0u) return Multiply(w, inst);
  uint64_t* const out = Row<uint64_t>(w, inst.src(0));
  const uint32_t* const a = Row<uint32_t>(w, inst.src(1));
  const uint32_t* const b = Row<uint32_t>(w, inst.src(2));
  const uint64_t* const c = inst.num_operands > 3 ? Row<uint64_t>(w, inst.src(3)) : nullptr;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint64_t product =
        is_signed ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(a[i])} * static_cast<int32_t>(b[i]))
                  : uint64_t{a[i]} * b[i];
    out[i] = product + (c != nullptr ? c[i] : 0);
  }
  return ExecResult::kNext;
}

template <class T>
ExecResult WholeCompare(Warp& w, const Inst& inst) {
  const uint64_t mode = inst.aux[0] >> 16;
  if (w.mask != ~0u || mode > 0xff || inst.op(0).num_elements != 0) return SetPredicate(w, inst);
  const T* const a = Row<T>(w, inst.src(1));
  const T* const b = Row<T>(w, inst.src(2));
  uint32_t equal = 0, less = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    equal |= static_cast<uint32_t>(a[i] == b[i]) << i;
    less |= static_cast<uint32_t>(a[i] < b[i]) << i;
  }
  const uint32_t results[] = {equal, ~equal, less, less | equal, ~(less | equal), ~less};
  *w.Dst32(inst.src(0)) = results[mode];
  return ExecResult::kNext;
}

// The fast executor of one that has been found, or the same.
ExecFn Faster(const Instruction& inst, ExecFn fn, const Exec& exec, const ExecContext& context) {
  // Rows as wide as the type: other widths are for the executors by lane.
  const int bits = static_cast<int>(exec.aux[0] & 0xff);
  if (bits != 32 && bits != 64) return fn;
  const bool wide = inst.Has("wide");
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    const Operand& operand = inst.operands[i];
    if (operand.kind == Operand::Kind::kVector || operand.kind == Operand::Kind::kSink) return fn;
    const int width = context.OperandBits(operand);
    const int wanted = wide && (i == 0 || i == 3) ? 2 * bits : bits;
    if (width > 1 && width != wanted) return fn;
  }
  const bool is_signed = (exec.aux[0] >> 8 & 1) != 0;
  switch (inst.op) {
#define WHOLE(name, slow) \
  case Op::name:          \
    return bits == 32 ? Whole<Op::name, uint32_t, slow> : Whole<Op::name, uint64_t, slow>;
    WHOLE(kAdd, Two<Op::kAdd>)
    WHOLE(kSub, Two<Op::kSub>)
    WHOLE(kAnd, Two<Op::kAnd>)
    WHOLE(kOr, Two<Op::kOr>)
    WHOLE(kXor, Two<Op::kXor>)
    WHOLE(kNot, Two<Op::kNot>)
    WHOLE(kMov, Move)
    case Op::kMul:
    case Op::kMad:
      if (inst.Has("hi")) return fn;
      if (wide && bits == 32) return is_signed ? WholeWide<true> : WholeWide<false>;
      if (wide) return fn;
      if (inst.op == Op::kMul)
        return bits == 32 ? Whole<Op::kMul, uint32_t, Multiply> : Whole<Op::kMul, uint64_t, Multiply>;
      return bits == 32 ? Whole<Op::kMad, uint32_t, Multiply> : Whole<Op::kMad, uint64_t, Multiply>;
#undef WHOLE
    case Op::kSetp:
      if (bits == 32) return is_signed ? WholeCompare<int32_t> : WholeCompare<uint32_t>;
      return is_signed ? WholeCompare<int64_t> : WholeCompare<uint64_t>;
    default:
      return fn;
  }
}

ExecFn FindTwo(Op op) {
  switch (op) {
#define TWO(name) \
  case Op::name:  \
    return Two<Op::name>;
    TWO(kAdd)
    TWO(kSub)
    TWO(kAnd)
    TWO(kOr)
    TWO(kXor)
    TWO(kNot) TWO(kNeg) TWO(kAbs) TWO(kMin) TWO(kMax) TWO(kShl) TWO(kShr) TWO(kDiv) TWO(kRem) TWO(kPopc)
        TWO(kClz)
#undef TWO
            default : return nullptr;
  }
}

Exec FindByLane(const Instruction& inst) {
  Exec exec;
  exec.state = SemanticState::kExact;
  const Type type = inst.type(0);
  if (FindBitExec(inst, &exec)) return exec;
  exec.aux[0] = static_cast<uint64_t>(TypeBits(type)) | (IsSigned(type) ? 1u << 8 : 0);
  const bool move = inst.op == Op::kMov || inst.op == Op::kSelp;
  if (type == Type::kPred) {
    switch (inst.op) {
      case Op::kMov:
      case Op::kAnd:
      case Op::kOr:
      case Op::kXor:
      case Op::kNot:
        exec.fn = PredicateLogic;
        return exec;
      default:
        return {};
    }
  }
  if (inst.types.size() != 1 || (IsFloat(type) && !move) || TypeBits(type) > 64 || type == Type::kU16x2 ||
      type == Type::kS16x2)
    return {};
  if (inst.Has("sat") || inst.Has("cc") || inst.Has("relu")) return {};
  switch (inst.op) {
    case Op::kMov:
      exec.fn = inst.operands[0].kind == Operand::Kind::kVector   ? Unpack
                : inst.operands[1].kind == Operand::Kind::kVector ? Pack
                                                                  : Move;
      if (inst.operands[0].kind == Operand::Kind::kVector &&
          inst.operands[1].kind != Operand::Kind::kRegister)
        return {};
      return exec;
    case Op::kSelp:
      exec.fn = Select;
      return exec;
    case Op::kMul:
    case Op::kMad:
      exec.fn = Multiply;
      exec.aux[0] |= (inst.Has("wide") ? kWide : inst.Has("hi") ? kHigh : kLow) << 16;
      return exec;
    case Op::kSetp: {
      const std::string& c = inst.modifiers[0];
      const uint64_t compare = c == "eq"                ? kEq
                               : c == "ne"              ? kNe
                               : c == "lt" || c == "lo" ? kLt
                               : c == "le" || c == "ls" ? kLe
                               : c == "gt" || c == "hi" ? kGt
                                                        : kGe;
      const uint64_t combine = inst.Has("and")   ? kAnd
                               : inst.Has("or")  ? kOr
                               : inst.Has("xor") ? kXor
                                                 : kPlain;
      exec.fn = SetPredicate;
      exec.aux[0] |= (compare | combine << 8) << 16;
      return exec;
    }
    default:
      exec.fn = FindTwo(inst.op);
      if (exec.fn == nullptr) return {};
      return exec;
  }
}

}  // namespace

Exec FindIntegerExec(const Instruction& inst, const ExecContext& context) {
  Exec exec = FindByLane(inst);
  Exec other;
  if (exec.fn != nullptr && !FindBitExec(inst, &other)) exec.fn = Faster(inst, exec.fn, exec, context);
  return exec;
}

}  // namespace understudy::emu::ptx
