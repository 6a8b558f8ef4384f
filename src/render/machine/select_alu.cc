// SPDX-License-Identifier: Apache-2.0
// Arithmetic on vectors and scalars.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/render/machine/selector.h"

namespace understudy::machine {

bool Selector::VectorAlu(const UOp& n) {
  const DType t = n.dtype(), in = n.src(0)->dtype();
  // Masks.
  if (IsComparison(n.op())) {
    const Shape s = ShapeOf(in);
    if (s.parts == 0) return false;
    return Each(n, s, in.ScalarBytes(), [&](int p) {
      return e_.VectorCompare(n.op(), in.Element(), s.bytes, Part(n.src(0), p, s, in.ScalarBytes()),
                              Part(n.src(1), p, s, in.ScalarBytes()));
    });
  }
  if (t.IsBool() && IsBitwise(n.op())) return MaskLogic(n);
  if (t.IsBool() && n.op() == Op::kCast) {
    const Shape s = ShapeOf(in);
    if (s.parts == 0 || in.IsBool()) return false;
    const Reg zero = e_.Splat(in.ScalarBytes(), 0, s.bytes);
    return Each(n, s, in.ScalarBytes(), [&](int p) {
      return e_.VectorCompare(Op::kCmpNe, in.Element(), s.bytes, Part(n.src(0), p, s, in.ScalarBytes()),
                              zero);
    });
  }
  const Shape s = ShapeOf(t);
  if (s.parts == 0) return false;
  const int bytes = t.ScalarBytes();
  const auto part = [&](int i, int p) { return Part(n.src(i), p, s, bytes); };
  switch (n.op()) {
    case Op::kWhere:
      return Each(n, s, bytes,
                  [&](int p) { return e_.VectorChoose(s.bytes, bytes, part(0, p), part(1, p), part(2, p)); });
    case Op::kBitcast:
      if (ShapeOf(in).parts == 0 || in.ScalarBytes() != bytes) return false;
      return Each(n, s, bytes, [&](int p) { return part(0, p); });
    case Op::kCast:
      if (in.IsBool()) {
        const Value& v = V(n.src(0));
        if (v.parts.empty() || v.lane_bytes != bytes) return false;
        const Reg one = e_.Splat(
            bytes, ToBits(t.Element(), t.IsFloat() ? ConstValue(1.0) : ConstValue(int64_t{1})), s.bytes);
        return Each(n, s, bytes,
                    [&](int p) { return e_.VectorBinary(Op::kAnd, t.Element(), s.bytes, part(0, p), one); });
      }
      if (ShapeOf(in).parts == 0 || in.ScalarBytes() != bytes) return false;
      if (in.IsInt() && t.IsInt()) return Each(n, s, bytes, [&](int p) { return part(0, p); });
      return Each(n, s, bytes,
                  [&](int p) { return e_.VectorCast(in.Element(), t.Element(), s.bytes, part(0, p)); });
    case Op::kShl:
    case Op::kShr: {
      const Value& amount = V(n.src(1));
      if (amount.constant == nullptr) return false;
      return Each(n, s, bytes, [&](int p) {
        return e_.VectorShift(n.op(), t.Element(), s.bytes, part(0, p), amount.constant->const_int());
      });
    }
    case Op::kMulAcc:
      return Each(n, s, bytes, [&](int p) {
        return e_.VectorMulAcc(t.Element(), s.bytes, part(0, p), part(1, p), part(2, p));
      });
    default:
      break;
  }
  if (n.num_src() == 1)
    return Each(n, s, bytes, [&](int p) { return e_.VectorUnary(n.op(), t.Element(), s.bytes, part(0, p)); });
  if (n.num_src() == 2)
    return Each(n, s, bytes,
                [&](int p) { return e_.VectorBinary(n.op(), t.Element(), s.bytes, part(0, p), part(1, p)); });
  return false;
}

bool Selector::MaskLogic(const UOp& n) {
  const Value *a = &V(n.src(0)), *b = &V(n.src(1));
  if (a->constant != nullptr) std::swap(a, b);
  if (a->parts.empty() || a->type.lanes == 1) return false;
  if (b->constant == nullptr && (b->parts.empty() || b->lane_bytes != a->lane_bytes)) return false;
  Shape s;
  s.bytes = a->part_bytes;
  s.parts = static_cast<int>(a->parts.size());
  s.lanes = a->lanes_in_part();
  const int lane_bytes = a->lane_bytes;
  return Each(n, s, lane_bytes, [&](int p) {
    return e_.VectorBinary(n.op(), dtypes::kUInt32, s.bytes, Part(n.src(0), p, s, lane_bytes),
                           Part(n.src(1), p, s, lane_bytes));
  });
}

Condition Selector::CompareOf(const UOp& n, int i) {
  const DType t = n.src(0)->dtype();
  const bool is_signed = t.IsSigned();
  Condition c;
  c.bits = IntBits(t);
  c.cond = n.op() == Op::kCmpEq   ? Cond::kEq
           : n.op() == Op::kCmpNe ? Cond::kNe
           : is_signed            ? Cond::kLt
                                  : Cond::kBelow;
  IntArg a = Int(n.src(0), i);
  c.b = Int(n.src(1), i);
  if (a.IsConst()) a = IntArg::Of(e_.IntConst(c.bits, a.value));
  c.a = a.reg;
  return c;
}

bool Selector::ScalarBool(const UOp& n) {
  if (!n.dtype().IsBool()) return false;
  const DType in = n.src(0)->dtype();
  const bool to_bool = n.op() == Op::kCast && !in.IsBool();
  if ((IsComparison(n.op()) || to_bool) && IsFloatReg(in)) {
    const int bytes = in.ScalarBytes();
    const Reg b = to_bool ? e_.Splat(bytes, 0, 16) : Lane(n.src(1), 0);
    const Reg mask = e_.FloatCompare(to_bool ? Op::kCmpNe : n.op(), bytes, Lane(n.src(0), 0), b);
    DefineParts(n, {mask}, 16, bytes);
    return true;
  }
  if ((IsComparison(n.op()) || to_bool) && !in.IsFloat()) {
    const Condition c =
        to_bool ? Condition{Cond::kNe, IntBits(in), Lane(n.src(0), 0), IntArg::Const(0)} : CompareOf(n, 0);
    Value& v = New(n);
    v.conditions = {c};
    return true;
  }
  if (IsBitwise(n.op()) && HasScalarMask(n.src(0)) && HasScalarMask(n.src(1)) &&
      V(n.src(0)).lane_bytes == V(n.src(1)).lane_bytes) {
    const int bytes = V(n.src(0)).lane_bytes;
    const Reg r = e_.VectorBinary(n.op(), dtypes::kUInt32, 16, V(n.src(0)).parts[0], V(n.src(1)).parts[0]);
    DefineParts(n, {r}, 16, bytes);
    return true;
  }
  return false;
}

Reg Selector::IntCast(DType from, DType to, Reg a) {
  const int bits = to.BitWidth();
  if (to.IsBool()) return a;
  const int had = from.IsBool() ? 1 : from.BitWidth();
  if (bits == 64) return from.IsSigned() && had < 64 ? e_.Extend(32, true, a, 64) : a;
  if (bits == 32) return had == 64 ? e_.Extend(32, false, a, 64) : a;
  // 8 or 16 bits: only what may differ from the canonical form is extended.
  if (had < bits && !(from.IsSigned() && !to.IsSigned())) return a;
  if (had == bits && from.IsSigned() == to.IsSigned()) return a;
  return e_.Extend(bits, to.IsSigned(), a, 32);
}

absl::StatusOr<Reg> Selector::ScalarAlu(const UOp& n, int i) {
  const DType t = n.dtype().Element(), in = n.src(0)->dtype().Element();
  const auto arg = [&](int s) { return Lane(n.src(s), i); };
  if (n.op() == Op::kCast) return Cast(n, in, t, i);
  if (n.op() == Op::kBitcast) {
    const Reg x = arg(0);
    if (IsFloatReg(in) && IsFloatReg(t)) return x;
    if (IsFloatReg(in)) return e_.FloatToBits(in.ScalarBytes(), x);
    if (IsFloatReg(t)) return e_.BitsToFloat(t.ScalarBytes(), x);
    const auto bits = [](DType d) { return d.IsFloat() ? dtypes::kUInt16 : d; };
    return IntCast(bits(in), bits(t), x);
  }
  if (n.op() == Op::kWhere) {
    if (!IsFloatReg(t)) {
      const Condition c = Test(n.src(0), i);
      const Reg then = arg(1), otherwise = arg(2);
      return e_.Choose(c, IntBits(t), then, otherwise);
    }
    const Reg mask = ScalarMask(n.src(0), i, t.ScalarBytes());
    const Reg then = arg(1), otherwise = arg(2);
    return e_.VectorChoose(16, t.ScalarBytes(), mask, then, otherwise);
  }
  if (IsFloatReg(in)) {
    Reg r = kNoReg;
    const int bytes = in.ScalarBytes();
    if (IsComparison(n.op())) {
      const Reg mask = e_.FloatCompare(n.op(), bytes, arg(0), arg(1));
      return e_.IntBinary(Op::kAnd, false, 32, e_.FloatToBits(bytes, mask), IntArg::Const(1));
    }
    if (n.op() == Op::kMulAcc) {
      r = e_.FloatMulAcc(bytes, arg(0), arg(1), arg(2));
      if (r == kNoReg && bytes == 4) r = MulAccInDouble(arg(0), arg(1), arg(2));
    } else if (n.num_src() == 1) {
      r = e_.FloatUnary(n.op(), bytes, arg(0));
    } else if (n.num_src() == 2) {
      r = e_.FloatBinary(n.op(), bytes, arg(0), arg(1));
    }
    if (r == kNoReg) return Refuse(n);
    return r;
  }
  if (in.IsFloat()) return Refuse(n);
  const int bits = IntBits(t);
  if (t.IsBool() && !IsBitwise(n.op()) && n.op() != Op::kNeg) return Refuse(n);
  if (n.num_src() == 1) {
    if (n.op() != Op::kNeg) return Refuse(n);
    if (t.IsBool()) return arg(0);
    return Canonical(t, e_.IntNeg(bits, arg(0)));
  }
  switch (n.op()) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kIDiv:
    case Op::kIMod:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShl:
    case Op::kShr:
    case Op::kMin:
    case Op::kMax: {
      IntArg a = Int(n.src(0), i), b = Int(n.src(1), i);
      if (a.IsConst() && !b.IsConst() && IsCommutative(n.op())) std::swap(a, b);
      if (a.IsConst()) a = IntArg::Of(e_.IntConst(bits, a.value));
      const Reg r = e_.IntBinary(n.op(), t.IsSigned(), bits, a.reg, b);
      // The others keep the canonical form.
      const bool grows = n.op() == Op::kAdd || n.op() == Op::kSub || n.op() == Op::kMul ||
                         n.op() == Op::kShl || n.op() == Op::kIDiv;
      return grows ? Canonical(t, r) : r;
    }
    default:
      return Refuse(n);
  }
}

Reg Selector::MulAccInDouble(Reg a, Reg b, Reg c) {
  const auto op = [&](Op o, Reg x, Reg y) { return e_.FloatBinary(o, 8, x, y); };
  const Reg p = op(Op::kMul, e_.FloatCast(4, 8, a), e_.FloatCast(4, 8, b)), q = e_.FloatCast(4, 8, c);
  const Reg s = op(Op::kAdd, p, q), t = op(Op::kSub, s, p);
  const Reg error = op(Op::kAdd, op(Op::kSub, p, op(Op::kSub, s, t)), op(Op::kSub, q, t));
  const Reg zero = e_.Splat(8, 0, 16);
  const auto mask = [&](Op o, Reg x, Reg y) { return e_.VectorBinary(o, dtypes::kUInt32, 16, x, y); };
  const Reg below = e_.FloatCompare(Op::kCmpLt, 8, error, zero);
  // A NaN or infinite sum has a NaN error: it is kept.
  const Reg inexact = mask(Op::kOr, below, e_.FloatCompare(Op::kCmpLt, 8, zero, error));
  const Reg away = mask(Op::kXor, below, e_.FloatCompare(Op::kCmpLt, 8, s, zero));
  const Reg nearer =
      e_.IntBinary(Op::kAdd, true, 64, e_.FloatToBits(8, s), IntArg::Of(e_.FloatToBits(8, away)));
  const Reg odd = e_.BitsToFloat(8, e_.IntBinary(Op::kOr, true, 64, nearer, IntArg::Const(1)));
  return e_.FloatCast(8, 4, e_.VectorChoose(16, 8, inexact, odd, s));
}

absl::StatusOr<Reg> Selector::Cast(const UOp& n, DType from, DType to, int i) {
  const Reg x = Lane(n.src(0), i);
  if (from == to) return x;
  if (to.IsBool()) {
    if (IsFloatReg(from)) {
      const int bytes = from.ScalarBytes();
      const Reg mask = e_.FloatCompare(Op::kCmpNe, bytes, x, e_.Splat(bytes, 0, 16));
      return e_.IntBinary(Op::kAnd, false, 32, e_.FloatToBits(bytes, mask), IntArg::Const(1));
    }
    if (from.IsFloat()) return Refuse(n);
    return e_.Compare({Cond::kNe, IntBits(from), x, IntArg::Const(0)});
  }
  if (from.scalar == Scalar::kFloat16 || to.scalar == Scalar::kFloat16) {
    Reg r = kNoReg;
    if (to == dtypes::kFloat32) r = e_.HalfToFloat(x);
    if (from == dtypes::kFloat32) r = e_.FloatToHalf(x);
    if (r == kNoReg) return Refuse(n);
    return r;
  }
  if (IsFloatReg(from) && IsFloatReg(to)) return e_.FloatCast(from.ScalarBytes(), to.ScalarBytes(), x);
  if (IsFloatReg(from)) return e_.FloatToInt(from.ScalarBytes(), to, x);
  if (IsFloatReg(to)) return e_.IntToFloat(from, to.ScalarBytes(), x);
  return IntCast(from, to, x);
}

}  // namespace understudy::machine
