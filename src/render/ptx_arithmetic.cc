// SPDX-License-Identifier: Apache-2.0
#include "src/render/ptx_arithmetic.h"

namespace understudy {

std::string PtxArithmetic::Alu(const UOp& n, const Lanes& x) {
  const DType t = n.dtype().Element(), in = n.src(0)->dtype().Element();
  if (n.op() == Op::kCast) return Cast(in, t, x[0]);
  if (n.op() == Op::kBitcast) return Bitcast(in, t, x[0]);
  if (n.op() == Op::kWhere) return Select(t, x[0], x[1], x[2]);
  if (in.IsBool()) return BoolAlu(n.op(), x);
  if (in.IsFloat()) {
    if (in.scalar == Scalar::kFloat32 || in.scalar == Scalar::kFloat64) return FloatAlu(n.op(), in, x);
    return "";
  }
  return IntAlu(n.op(), in, x);
}

std::string PtxArithmetic::Select(DType t, const std::string& c, const std::string& x, const std::string& y) {
  switch (BankOf(t)) {
    case Bank::kPred: {
      const std::string then = Op2(Bank::kPred, "and.pred", c, x), not_c = Op1(Bank::kPred, "not.pred", c);
      return Op2(Bank::kPred, "or.pred", then, Op2(Bank::kPred, "and.pred", not_c, y));
    }
    case Bank::kHalf:
      return Op3(Bank::kHalf, "selp.b16", x, y, c);
    case Bank::kWord:
      return Op3(Bank::kWord, "selp.b32", x, y, c);
    case Bank::kLong:
      return Op3(Bank::kLong, "selp.b64", x, y, c);
    case Bank::kFloat:
      return Op3(Bank::kFloat, "selp.f32", x, y, c);
    case Bank::kDouble:
      return Op3(Bank::kDouble, "selp.f64", x, y, c);
  }
  return "";
}

std::string PtxArithmetic::BoolAlu(Op op, const Lanes& x) {
  const auto two = [&](const char* name) { return Op2(Bank::kPred, name, x[0], x[1]); };
  const auto negated = [&](const std::string& v) { return Op1(Bank::kPred, "not.pred", v); };
  switch (op) {
    case Op::kAnd:
    case Op::kMul:
    case Op::kMin:
      return two("and.pred");
    case Op::kOr:
    case Op::kAdd:
    case Op::kMax:
      return two("or.pred");
    case Op::kXor:
    case Op::kCmpNe:
      return two("xor.pred");
    case Op::kCmpEq:
      return negated(two("xor.pred"));
    case Op::kCmpLt:
      return Op2(Bank::kPred, "and.pred", negated(x[0]), x[1]);
    default:
      return "";
  }
}

std::string PtxArithmetic::FloatAlu(Op op, DType t, const Lanes& x) {
  const bool single = t.scalar == Scalar::kFloat32;
  const Bank bank = BankOf(t);
  const std::string type = single ? ".f32" : ".f64";
  const auto two = [&](const char* name) { return Op2(bank, name + type, x[0], x[1]); };
  switch (op) {
    case Op::kNeg: {
      // The sign alone, of a NaN too.
      const Bank bits = single ? Bank::kWord : Bank::kLong;
      const std::string i = Op1(bits, single ? "mov.b32" : "mov.b64", x[0]);
      const std::string flipped =
          Op2(bits, single ? "xor.b32" : "xor.b64", i, single ? "0x80000000" : "0x8000000000000000");
      return Op1(bank, single ? "mov.b32" : "mov.b64", flipped);
    }
    case Op::kSqrt:
      return Op1(bank, "sqrt.rn" + type, x[0]);
    case Op::kTrunc:
      return Op1(bank, "cvt.rzi" + type + type, x[0]);
    case Op::kAdd:
      return two("add.rn");
    case Op::kSub:
      return two("sub.rn");
    case Op::kMul:
      return two("mul.rn");
    case Op::kFDiv:
      return two("div.rn");
    case Op::kMax:
      return single ? two("max.NaN") : "";
    case Op::kMin:
      return single ? two("min.NaN") : "";
    case Op::kMulAcc:
      return Op3(bank, "fma.rn" + type, x[0], x[1], x[2]);
    case Op::kCmpLt:
      return Op2(Bank::kPred, "setp.lt" + type, x[0], x[1]);
    case Op::kCmpEq:
      return Op2(Bank::kPred, "setp.eq" + type, x[0], x[1]);
    case Op::kCmpNe:
      return Op2(Bank::kPred, "setp.neu" + type, x[0], x[1]);
    default:
      return "";
  }
}

std::string PtxArithmetic::Narrowed(DType t, const std::string& x) {
  if (t.BitWidth() >= 32) return x;
  return t.IsSigned() ? Op3(Bank::kWord, "bfe.s32", x, "0", absl::StrCat(t.BitWidth()))
                      : Op2(Bank::kWord, "and.b32", x, absl::StrCat((1 << t.BitWidth()) - 1));
}

std::string PtxArithmetic::IntAlu(Op op, DType t, const Lanes& x) {
  const bool wide = IsWide(t);
  const Bank bank = BankOf(t);
  const std::string type = "." + ComputeType(t), bits = wide ? ".b64" : ".b32";
  const auto two = [&](const std::string& name) { return Op2(bank, name, x[0], x[1]); };
  const auto narrow = [&](const std::string& v) { return Narrowed(t, v); };
  const auto amount = [&] { return wide && x[1][0] == '%' ? Op1(Bank::kWord, "cvt.u32.u64", x[1]) : x[1]; };
  switch (op) {
    case Op::kNeg:
      return narrow(Op1(bank, wide ? "neg.s64" : "neg.s32", x[0]));
    case Op::kAdd:
      return narrow(two("add" + type));
    case Op::kSub:
      return narrow(two("sub" + type));
    case Op::kMul:
      return narrow(two("mul.lo" + type));
    case Op::kMulAcc:
      return narrow(Op3(bank, "mad.lo" + type, x[0], x[1], x[2]));
    case Op::kIDiv:
      return narrow(two("div" + type));
    case Op::kIMod:
      return narrow(two("rem" + type));
    case Op::kMax:
      return two("max" + type);
    case Op::kMin:
      return two("min" + type);
    case Op::kAnd:
      return two("and" + bits);
    case Op::kOr:
      return two("or" + bits);
    case Op::kXor:
      return narrow(two("xor" + bits));
    case Op::kShl:
      return narrow(Op2(bank, "shl" + bits, x[0], amount()));
    case Op::kShr:
      return Op2(bank, "shr" + type, x[0], amount());
    case Op::kCmpLt:
      return Op2(Bank::kPred, "setp.lt" + type, x[0], x[1]);
    case Op::kCmpEq:
      return Op2(Bank::kPred, "setp.eq" + type, x[0], x[1]);
    case Op::kCmpNe:
      return Op2(Bank::kPred, "setp.ne" + type, x[0], x[1]);
    default:
      return "";
  }
}

std::string PtxArithmetic::FloatType(DType t) {
  return t.scalar == Scalar::kFloat16   ? "f16"
         : t.scalar == Scalar::kFloat32 ? "f32"
         : t.scalar == Scalar::kFloat64 ? "f64"
                                        : "";
}

std::string PtxArithmetic::Cast(DType from, DType to, const std::string& x) {
  if (from == to) return x;
  if (to.IsBool()) {
    if (from.IsInt()) return Op2(Bank::kPred, IsWide(from) ? "setp.ne.s64" : "setp.ne.s32", x, "0");
    const std::string type = FloatType(from);
    if (type.empty()) return "";
    if (type == "f16") return Cast(dtypes::kFloat32, to, Cast(from, dtypes::kFloat32, x));
    return Op2(Bank::kPred, "setp.neu." + type, x, ZeroOf(BankOf(from)));
  }
  if (from.IsBool()) {
    const std::string bit = Op3(Bank::kWord, "selp.u32", "1", "0", x);
    return to == dtypes::kUInt32 ? bit : Cast(dtypes::kUInt32, to, bit);
  }
  if (from.IsFloat() && FloatType(from).empty()) return "";
  if (to.IsFloat() && FloatType(to).empty()) return "";
  if (from.IsFloat() && to.IsFloat()) {
    const bool exact = to.BitWidth() > from.BitWidth();
    return Op1(BankOf(to), absl::StrCat("cvt", exact ? "." : ".rn.", FloatType(to), ".", FloatType(from)), x);
  }
  if (to.IsFloat()) return Op1(BankOf(to), absl::StrCat("cvt.rn.", FloatType(to), ".", ComputeType(from)), x);
  if (from.IsFloat()) return ToInt(from, to, x);
  // Integers.
  if (IsWide(to)) {
    if (IsWide(from)) return x;
    return Op1(Bank::kLong, absl::StrCat("cvt.", from.IsSigned() ? "s64.s32" : "u64.u32"), x);
  }
  const std::string low = IsWide(from) ? Op1(Bank::kWord, "cvt.u32.u64", x) : x;
  const bool holds =
      !IsWide(from) && (from.BitWidth() < to.BitWidth() ? !from.IsSigned() || to.IsSigned() : false);
  return holds ? low : Narrowed(to, low);
}

std::string PtxArithmetic::ToInt(DType from, DType to, const std::string& x) {
  if (from.scalar == Scalar::kFloat16) return ToInt(dtypes::kFloat32, to, Cast(from, dtypes::kFloat32, x));
  const std::string type = FloatType(from);
  if (to.BitWidth() < 32) {
    const int bits = to.BitWidth();
    const int64_t most = to.IsSigned() ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    const int64_t least = to.IsSigned() ? -(1 << (bits - 1)) : 0;
    const std::string v = ToInt(from, dtypes::kInt32, x);
    return Op2(Bank::kWord, "min.s32", Op2(Bank::kWord, "max.s32", v, absl::StrCat(least)),
               absl::StrCat(most));
  }
  const std::string v = Op1(BankOf(to), absl::StrCat("cvt.rzi.", ComputeType(to), ".", type), x);
  if (!IsWide(to) && from.scalar == Scalar::kFloat32) return v;
  const std::string number = Op2(Bank::kPred, "setp.eq." + type, x, x);
  return Op3(BankOf(to), IsWide(to) ? "selp.b64" : "selp.b32", v, "0", number);
}

std::string PtxArithmetic::Bitcast(DType from, DType to, const std::string& x) {
  if (BankOf(from) == BankOf(to)) {
    // Of one width: a sign more or less.
    return BankOf(to) == Bank::kWord && to.BitWidth() < 32 ? Narrowed(to.IsFloat() ? StorageType(to) : to, x)
                                                           : x;
  }
  if (from.scalar == Scalar::kFloat16) return Narrowed(to, Op1(Bank::kWord, "cvt.u32.u16", x));
  if (to.scalar == Scalar::kFloat16) return Op1(Bank::kHalf, "cvt.u16.u32", x);
  return Op1(BankOf(to), from.BitWidth() == 64 ? "mov.b64" : "mov.b32", x);
}

DType PtxArithmetic::StorageType(DType t) { return t.BitWidth() == 8 ? dtypes::kUInt8 : dtypes::kUInt16; }

}  // namespace understudy
