// SPDX-License-Identifier: Apache-2.0
// Floats, conversions and vectors.
#include <cmath>

#include "src/base/bits.h"
#include "src/render/x86_64/emitter.h"

namespace understudy::x86_64 {

using machine::Cond;
using machine::Inst;
using machine::IntArg;
using machine::kNoReg;
using machine::Operand;
using machine::Reg;
using O = understudy::Op;

namespace {

// What CMPSS and its like compare (SDM volume 2, table 3-1).
enum Predicate { kEqual = 0, kLess = 1, kLessEqual = 2, kNotEqual = 4, kOrdered = 7 };
int PredicateOf(O op) { return op == O::kCmpLt ? kLess : op == O::kCmpEq ? kEqual : kNotEqual; }

constexpr int kTowardZero = 3;  // ROUNDSS

Op Pick(int bytes, Op single, Op twice) { return bytes == 4 ? single : twice; }

bool IsF32(DType t) { return t.scalar == Scalar::kFloat32; }
bool IsFloatElement(DType t) { return t.scalar == Scalar::kFloat32 || t.scalar == Scalar::kFloat64; }

}  // namespace

bool X86Emitter::HasVector(DType t) const {
  return IsFloatElement(t) || (t.IsInt() && (t.BitWidth() == 32 || t.BitWidth() == 64));
}

Reg X86Emitter::Three(Op op, int bytes, int lane, Reg a, Reg b) {
  Inst i = Make(op, bytes);
  if (avx2_) {
    const Reg r = Vector(bytes);
    i.Add(Operand::Def(r, bytes));
    i.Add(Operand::Use(a, bytes));
    i.Add(Operand::Use(b, lane));
    Append(i);
    return r;
  }
  const Reg r = Copy(a);
  i.Add(Operand::UseDef(r, bytes));
  i.Add(Operand::Use(b, lane));
  Append(i);
  return r;
}
Reg X86Emitter::ThreeImm(Op op, int bytes, int lane, Reg a, Reg b, int64_t imm) {
  const Reg r = Three(op, bytes, lane, a, b);
  f_.blocks[block_].insts.back().Add(Operand::Imm(imm));
  return r;
}
Reg X86Emitter::Two(Op op, int bytes, int lane, Reg a) {
  const Reg r = Vector(bytes);
  Inst i = Make(op, bytes);
  i.Add(Operand::Def(r, bytes));
  i.Add(Operand::Use(a, lane));
  Append(i);
  return r;
}
Reg X86Emitter::TwoImm(Op op, int bytes, Reg a, int64_t imm) {
  const Reg r = Two(op, bytes, bytes, a);
  f_.blocks[block_].insts.back().Add(Operand::Imm(imm));
  return r;
}
Reg X86Emitter::One(Op op, int lane, Reg a, int64_t imm) {
  const Reg r = Vector(16);
  Inst i = Make(op, 16);
  i.Add(Operand::Def(r, 16));
  if (avx2_) i.Add(Operand::Use(a, 16));
  i.Add(Operand::Use(a, lane));
  if (imm >= 0) i.Add(Operand::Imm(imm));
  Append(i);
  return r;
}

Reg X86Emitter::MakeConstant(const uint8_t* data, int bytes) {
  const Reg r = Vector(bytes);
  bool zero = true;
  for (int i = 0; i < bytes; ++i) zero &= data[i] == 0;
  Inst i = Make(zero ? kZero : kMovaps, zero ? 16 : bytes);
  i.flags |= Inst::kRemake;
  i.Add(Operand::Def(r, zero ? 16 : bytes));
  if (!zero) i.Add(Operand::Pool(PoolConstant(data, bytes), bytes));
  AppendToEntry(i);
  return r;
}
Reg X86Emitter::FloatConst(int bytes, double v) {
  if (bytes == 8) return Splat(8, BitCast<uint64_t>(v), 16);
  return Splat(4, BitCast<uint32_t>(static_cast<float>(v)), 16);
}

Reg X86Emitter::FloatBinary(O op, int bytes, Reg a, Reg b) {
  switch (op) {
    case O::kAdd:
      return Three(Pick(bytes, kAddss, kAddsd), 16, bytes, a, b);
    case O::kSub:
      return Three(Pick(bytes, kSubss, kSubsd), 16, bytes, a, b);
    case O::kMul:
      return Three(Pick(bytes, kMulss, kMulsd), 16, bytes, a, b);
    case O::kFDiv:
      return Three(Pick(bytes, kDivss, kDivsd), 16, bytes, a, b);
    default:
      return kNoReg;
  }
}
Reg X86Emitter::FloatUnary(O op, int bytes, Reg a) {
  switch (op) {
    case O::kSqrt:
      return One(Pick(bytes, kSqrtss, kSqrtsd), bytes, a);
    case O::kTrunc:
      return One(Pick(bytes, kRoundss, kRoundsd), bytes, a, kTowardZero);
    case O::kNeg:
      return Three(kXorps, 16, 16, a, FloatConst(bytes, -0.0));
    default:
      return kNoReg;
  }
}
Reg X86Emitter::FloatMulAcc(int bytes, Reg a, Reg b, Reg c) {
  if (!avx2_) return kNoReg;
  const Reg r = Copy(c);
  Inst i = Make(Pick(bytes, kVfmadd231ss, kVfmadd231sd), 16);
  i.Add(Operand::UseDef(r, 16));
  i.Add(Operand::Use(a, 16));
  i.Add(Operand::Use(b, bytes));
  Append(i);
  return r;
}
Reg X86Emitter::CompareFloats(int code, int bytes, Reg a, Reg b) {
  return ThreeImm(Pick(bytes, kCmpss, kCmpsd), 16, bytes, a, b, code);
}
Reg X86Emitter::FloatCompare(O op, int bytes, Reg a, Reg b) {
  return CompareFloats(PredicateOf(op), bytes, a, b);
}
Reg X86Emitter::FloatCast(int from_bytes, int to_bytes, Reg a) {
  if (from_bytes == to_bytes) return a;
  return One(from_bytes == 4 ? kCvtss2sd : kCvtsd2ss, from_bytes, a);
}
Reg X86Emitter::HalfToFloat(Reg a) {
  if (!avx2_) return kNoReg;
  return Two(kVcvtph2ps, 16, 8, BitsToFloat(4, a));
}
Reg X86Emitter::FloatToHalf(Reg a) {
  if (!avx2_) return kNoReg;
  const Reg r = Vector(16);
  Inst i = Make(kVcvtps2ph, 16);
  i.Add(Operand::Def(r, 16));
  i.Add(Operand::Use(a, 16));
  i.Add(Operand::Imm(0));  // to nearest even
  Append(i);
  return Extend(16, false, FloatToBits(4, r), 32);
}
Reg X86Emitter::BitsToFloat(int bytes, Reg a) {
  const Reg r = Vector(16);
  Inst i = Make(Pick(bytes, kMovd, kMovq), 16);
  i.Add(Operand::Def(r, 16));
  i.Add(Operand::Use(a, bytes));
  Append(i);
  return r;
}
Reg X86Emitter::FloatToBits(int bytes, Reg a) {
  const Reg r = General();
  Inst i = Make(Pick(bytes, kMovdToGeneral, kMovqToGeneral), 16);
  i.Add(Operand::Def(r, bytes));
  i.Add(Operand::Use(a, 16));
  Append(i);
  return r;
}

Reg X86Emitter::FromInt64(int to_bytes, int from_bytes, Reg a) {
  const Reg zero = Splat(4, 0, 16);
  Inst i = Make(Pick(to_bytes, kCvtsi2ss, kCvtsi2sd), 16);
  if (avx2_) {
    const Reg r = Vector(16);
    i.Add(Operand::Def(r, 16));
    i.Add(Operand::Use(zero, 16));
    i.Add(Operand::Use(a, from_bytes));
    Append(i);
    return r;
  }
  const Reg r = Copy(zero);
  i.Add(Operand::UseDef(r, 16));
  i.Add(Operand::Use(a, from_bytes));
  Append(i);
  return r;
}
Reg X86Emitter::IntToFloat(DType from, int to_bytes, Reg a) {
  if (from.IsBool() || from.BitWidth() < 32 || from.scalar == Scalar::kInt32)
    return FromInt64(to_bytes, 4, a);
  if (from.scalar != Scalar::kUInt64) return FromInt64(to_bytes, 8, a);  // u32 is a small i64
  // Past 2^63: half of it, the lost bit kept as a sticky one, converted and doubled. Exactly one rounding.
  const Reg half = IntBinary(O::kOr, false, 64, IntBinary(O::kShr, false, 64, a, IntArg::Const(1)),
                             IntArg::Of(IntBinary(O::kAnd, false, 64, a, IntArg::Const(1))));
  const Reg small = Choose({Cond::kLt, 64, a, IntArg::Const(0)}, 64, half, a);
  const Reg value = FromInt64(to_bytes, 8, small);
  const Reg twice = FloatBinary(O::kAdd, to_bytes, value, value);
  const Reg mask = BitsToFloat(8, IntBinary(O::kShr, true, 64, a, IntArg::Const(63)));
  return VectorChoose(16, to_bytes, mask, twice, value);
}
Reg X86Emitter::Truncate(int from_bytes, int to_bytes, Reg a) {
  const Reg r = General();
  Inst i = Make(Pick(from_bytes, kCvttss2si, kCvttsd2si), 16);
  i.Add(Operand::Def(r, to_bytes));
  i.Add(Operand::Use(a, 16));
  Append(i);
  return r;
}
Reg X86Emitter::AtLeast(int bytes, double limit, Reg a, Reg* mask) {
  const Reg m = CompareFloats(kLessEqual, bytes, FloatConst(bytes, limit), a);
  if (mask != nullptr) *mask = m;
  const Reg bits = FloatToBits(bytes, m);
  return bytes == 8 ? bits : Extend(32, true, bits, 64);
}
Reg X86Emitter::FloatToInt(int from_bytes, DType to, Reg a) {
  const int bits = to.BitWidth();
  if (bits < 64) {
    // Both limits are exact in f64, where the value is brought between them.
    Reg x = FloatCast(from_bytes, 8, a);
    x = Three(kAndps, 16, 16, x, CompareFloats(kOrdered, 8, x, x));
    const double most = std::ldexp(1.0, to.IsSigned() ? bits - 1 : bits) - 1;
    x = Three(kMinsd, 16, 8, x, FloatConst(8, most));
    x = Three(kMaxsd, 16, 8, x, FloatConst(8, to.IsSigned() ? -most - 1 : 0.0));
    return Truncate(8, to.scalar == Scalar::kUInt32 ? 8 : 4, x);
  }
  if (to.IsSigned()) {
    // What does not fit becomes the least integer, whose complement is the greatest.
    const Reg x = Three(kAndps, 16, 16, a, CompareFloats(kOrdered, from_bytes, a, a));
    const Reg r = Truncate(from_bytes, 8, x);
    return IntBinary(O::kXor, true, 64, r, IntArg::Of(AtLeast(from_bytes, std::ldexp(1.0, 63), x)));
  }
  const Reg x = Three(Pick(from_bytes, kMaxss, kMaxsd), 16, from_bytes, a, FloatConst(from_bytes, 0.0));
  Reg mask;
  const Reg large = AtLeast(from_bytes, std::ldexp(1.0, 63), x, &mask);
  const Reg less = Three(kAndps, 16, 16, mask, FloatConst(from_bytes, std::ldexp(1.0, 63)));
  Reg r = Truncate(from_bytes, 8, FloatBinary(O::kSub, from_bytes, x, less));
  r = IntBinary(O::kXor, true, 64, r, IntArg::Of(IntBinary(O::kShl, true, 64, large, IntArg::Const(63))));
  return IntBinary(O::kOr, true, 64, r, IntArg::Of(AtLeast(from_bytes, std::ldexp(1.0, 64), x)));
}

// --- vectors

Reg X86Emitter::VectorBinary(O op, DType t, int bytes, Reg a, Reg b) {
  Op which = kNumOps;
  const bool f32 = IsF32(t), wide = t.BitWidth() == 64;
  if (IsFloatElement(t)) {
    switch (op) {
      case O::kAdd:
        which = f32 ? kAddps : kAddpd;
        break;
      case O::kSub:
        which = f32 ? kSubps : kSubpd;
        break;
      case O::kMul:
        which = f32 ? kMulps : kMulpd;
        break;
      case O::kFDiv:
        which = f32 ? kDivps : kDivpd;
        break;
      case O::kAnd:
        which = kAndps;
        break;
      default:
        return kNoReg;
    }
    return Three(which, bytes, bytes, a, b);
  }
  switch (op) {
    case O::kAdd:
      which = wide ? kPaddq : kPaddd;
      break;
    case O::kSub:
      which = wide ? kPsubq : kPsubd;
      break;
    case O::kAnd:
      which = kAndps;
      break;
    case O::kOr:
      which = kOrps;
      break;
    case O::kXor:
      which = kXorps;
      break;
    case O::kMul:
      which = wide ? kNumOps : kPmulld;
      break;
    case O::kMin:
      which = wide ? kNumOps : t.IsSigned() ? kPminsd : kPminud;
      break;
    case O::kMax:
      which = wide ? kNumOps : t.IsSigned() ? kPmaxsd : kPmaxud;
      break;
    default:
      break;
  }
  return which == kNumOps ? kNoReg : Three(which, bytes, bytes, a, b);
}
Reg X86Emitter::VectorShift(O op, DType t, int bytes, Reg a, int64_t amount) {
  const bool wide = t.BitWidth() == 64, left = op == O::kShl;
  if (!t.IsInt() || (wide && !left && t.IsSigned())) return kNoReg;
  const Op which = left ? (wide ? kPsllq : kPslld) : wide ? kPsrlq : t.IsSigned() ? kPsrad : kPsrld;
  Inst i = Make(which, bytes);
  Reg r;
  if (avx2_) {
    r = Vector(bytes);
    i.Add(Operand::Def(r, bytes));
    i.Add(Operand::Use(a, bytes));
  } else {
    r = Copy(a);
    i.Add(Operand::UseDef(r, bytes));
  }
  i.Add(Operand::Imm(amount));
  Append(i);
  return r;
}
Reg X86Emitter::VectorUnary(O op, DType t, int bytes, Reg a) {
  if (t.IsInt()) {
    if (op != O::kNeg) return kNoReg;
    return VectorBinary(O::kSub, t, bytes, Splat(4, 0, bytes), a);
  }
  const int lane = t.ScalarBytes();
  switch (op) {
    case O::kSqrt:
      return Two(Pick(lane, kSqrtps, kSqrtpd), bytes, bytes, a);
    case O::kTrunc:
      return TwoImm(Pick(lane, kRoundps, kRoundpd), bytes, a, kTowardZero);
    case O::kNeg:
      return Three(kXorps, bytes, bytes, a, Splat(lane, uint64_t{1} << (8 * lane - 1), bytes));
    default:
      return kNoReg;
  }
}
Reg X86Emitter::VectorMulAcc(DType t, int bytes, Reg a, Reg b, Reg c) {
  if (!avx2_ || !IsFloatElement(t)) return kNoReg;
  const Reg r = Copy(c);
  Inst i = Make(IsF32(t) ? kVfmadd231ps : kVfmadd231pd, bytes);
  i.Add(Operand::UseDef(r, bytes));
  i.Add(Operand::Use(a, bytes));
  i.Add(Operand::Use(b, bytes));
  Append(i);
  return r;
}
Reg X86Emitter::VectorCompare(O op, DType t, int bytes, Reg a, Reg b) {
  if (IsFloatElement(t)) return ThreeImm(IsF32(t) ? kCmpps : kCmppd, bytes, bytes, a, b, PredicateOf(op));
  const bool wide = t.BitWidth() == 64;
  if (op == O::kCmpLt) {
    if (wide) return kNoReg;
    if (!t.IsSigned()) {
      const Reg sign = Splat(4, 0x80000000u, bytes);
      a = Three(kXorps, bytes, bytes, a, sign);
      b = Three(kXorps, bytes, bytes, b, sign);
    }
    return Three(kPcmpgtd, bytes, bytes, b, a);
  }
  const Reg equal = Three(wide ? kPcmpeqq : kPcmpeqd, bytes, bytes, a, b);
  return op == O::kCmpEq ? equal : Three(kXorps, bytes, bytes, equal, Splat(8, ~uint64_t{0}, bytes));
}
Reg X86Emitter::VectorChoose(int bytes, int lane_bytes, Reg mask, Reg then, Reg otherwise) {
  if (avx2_) {
    const Reg r = Vector(bytes);
    Inst i = Make(Pick(lane_bytes, kVblendvps, kVblendvpd), bytes);
    i.Add(Operand::Def(r, bytes));
    i.Add(Operand::Use(otherwise, bytes));
    i.Add(Operand::Use(then, bytes));
    i.Add(Operand::Use(mask, bytes));
    Append(i);
    return r;
  }
  const Reg yes = Three(kAndps, bytes, bytes, then, mask);
  const Reg no = Three(kAndnps, bytes, bytes, mask, otherwise);
  return Three(kOrps, bytes, bytes, yes, no);
}
Reg X86Emitter::VectorCast(DType from, DType to, int bytes, Reg a) {
  if (from.scalar == Scalar::kInt32 && IsF32(to)) return Two(kCvtdq2ps, bytes, bytes, a);
  if (!IsF32(from) || to.scalar != Scalar::kInt32) return kNoReg;
  const Reg x = Three(kAndps, bytes, bytes, a, ThreeImm(kCmpps, bytes, bytes, a, a, kOrdered));
  const Reg limit = Splat(4, BitCast<uint32_t>(2147483648.0f), bytes);
  const Reg over = ThreeImm(kCmpps, bytes, bytes, limit, x, kLessEqual);
  return Three(kXorps, bytes, bytes, Two(kCvttps2dq, bytes, bytes, x), over);
}

Reg X86Emitter::VectorBuild(int lane_bytes, bool is_float, int bytes, const std::vector<Reg>& lanes) {
  bool equal = true;
  for (const Reg r : lanes) equal &= r == lanes[0];
  const auto lane = [&](size_t i) { return is_float ? lanes[i] : BitsToFloat(lane_bytes, lanes[i]); };
  if (equal) {
    const Reg x = lane(0);
    if (avx2_ && (bytes == 32 || lane_bytes == 4))
      return Two(Pick(lane_bytes, kVbroadcastss, kVbroadcastsd), bytes, 16, x);
    return TwoImm(kPshufd, 16, x, lane_bytes == 4 ? 0 : 0x44);
  }
  if (bytes == 32) {
    const size_t half = lanes.size() / 2;
    const Reg low = VectorBuild(lane_bytes, is_float, 16, {lanes.begin(), lanes.begin() + half});
    const Reg high = VectorBuild(lane_bytes, is_float, 16, {lanes.begin() + half, lanes.end()});
    const Reg r = Vector(32);
    Inst i = Make(kVinsertf128, 32);
    i.Add(Operand::Def(r, 32));
    i.Add(Operand::Use(low, 32));
    i.Add(Operand::Use(high, 16));
    i.Add(Operand::Imm(1));
    Append(i);
    return r;
  }
  if (lane_bytes == 8) return Three(kUnpcklpd, 16, 16, lane(0), lane(1));
  const Reg low = Three(kUnpcklps, 16, 16, lane(0), lane(1));
  const Reg high = Three(kUnpcklps, 16, 16, lane(2), lane(3));
  return Three(kMovlhps, 16, 16, low, high);
}
Reg X86Emitter::VectorExtract(int lane_bytes, bool is_float, int bytes, Reg a, int lane) {
  const int in_half = 16 / lane_bytes;
  if (bytes == 32 && lane >= in_half) {
    const Reg high = Vector(16);
    Inst i = Make(kVextractf128, 32);
    i.Add(Operand::Def(high, 16));
    i.Add(Operand::Use(a, 32));
    i.Add(Operand::Imm(1));
    Append(i);
    a = high;
    lane -= in_half;
  }
  if (is_float) {
    // The low lane is where a scalar lies.
    if (lane == 0) return bytes == 32 && f_.InfoOf(a).bytes == 32 ? Two(kMovaps, 16, 16, a) : a;
    return TwoImm(kPshufd, 16, a, lane_bytes == 8 ? 0xee : lane);
  }
  if (lane == 0) return FloatToBits(lane_bytes, a);
  const Reg r = General();
  Inst i = Make(Pick(lane_bytes, kPextrd, kPextrq), 16);
  i.Add(Operand::Def(r, lane_bytes));
  i.Add(Operand::Use(a, 16));
  i.Add(Operand::Imm(lane));
  Append(i);
  return r;
}

}  // namespace understudy::x86_64
