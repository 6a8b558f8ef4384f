// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/decompose.h"

#include "src/base/status.h"
#include "src/codegen/divide.h"
#include "src/codegen/math_builder.h"
#include "src/codegen/narrow_float.h"
#include "src/codegen/transcendental.h"
#include "src/codegen/wide_int.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

using namespace math;       // NOLINT
using namespace uop::expr;  // NOLINT
using uop::Where;

DType UnsignedOf(DType t) {
  constexpr Scalar kByBytes[] = {Scalar::kVoid, Scalar::kUInt8,  Scalar::kUInt16,
                                 Scalar::kVoid, Scalar::kUInt32, Scalar::kVoid,
                                 Scalar::kVoid, Scalar::kVoid,   Scalar::kUInt64};
  return DType(kByBytes[t.ScalarBytes()], t.lanes);
}
UOpRef Equal(const UOpRef& a, int64_t v) { return uop::CmpEq(a, uop::ConstLike(a, v)); }

// A divisor for which every machine's division is defined and means the same.
bool IsPlainDivisor(const UOpRef& b) {
  return b->IsConst() && b->const_int() != 0 && !(b->dtype().IsSigned() && b->const_int() == -1);
}

// x/0 = 0 and INT_MIN/-1 wraps.
UOpRef SafeDiv(const UOpRef& a, const UOpRef& b) {
  if (IsPlainDivisor(b)) return uop::IDiv(a, b);
  const UOpRef is_zero = Equal(b, 0), one = uop::ConstLike(b, 1), zero = uop::ConstLike(b, 0);
  if (!b->dtype().IsSigned()) return Where(is_zero, zero, uop::IDiv(a, Where(is_zero, one, b)));
  const UOpRef minus = Equal(b, -1);
  return Where(is_zero, zero, Where(minus, -a, uop::IDiv(a, Where(is_zero | minus, one, b))));
}

// x%0 = x and x%-1 = 0.
UOpRef SafeMod(const UOpRef& a, const UOpRef& b) {
  if (IsPlainDivisor(b)) return uop::IMod(a, b);
  const UOpRef is_zero = Equal(b, 0), one = uop::ConstLike(b, 1);
  const UOpRef bad = b->dtype().IsSigned() ? (is_zero | Equal(b, -1)) : is_zero;
  // x % 1 = 0 serves for -1.
  return Where(is_zero, a, uop::IMod(a, Where(bad, one, b)));
}

// Truncation went up where a remainder is left and the signs differ.
UOpRef RoundedUp(const UOpRef& remainder, const UOpRef& b) {
  const UOpRef zero = uop::ConstLike(b, 0);
  return uop::CmpNe(remainder, zero) & ((remainder < zero) ^ (b < zero));
}

UOpRef FloorDivOf(const UOpRef& a, const UOpRef& b) {
  if (!a->dtype().IsSigned()) return SafeDiv(a, b);
  if (b->IsConst() && b->const_int() > 0 && (b->const_int() & (b->const_int() - 1)) == 0) {
    return a >> uop::ConstLike(b, __builtin_ctzll(b->const_int()));
  }
  // a == q b + r also for b == 0, where q = 0 and r = a: no correction then.
  const UOpRef q = SafeDiv(a, b), r = a - q * b;
  const UOpRef up =
      IsPlainDivisor(b) ? RoundedUp(r, b) : RoundedUp(r, b) & uop::CmpNe(b, uop::ConstLike(b, 0));
  return q - To(up, a->dtype().Element());
}

UOpRef FloorModOf(const UOpRef& a, const UOpRef& b) {
  if (!a->dtype().IsSigned()) return SafeMod(a, b);
  if (b->IsConst() && b->const_int() > 0 && (b->const_int() & (b->const_int() - 1)) == 0)
    return a & uop::ConstLike(b, b->const_int() - 1);
  // Adding b == 0 changes nothing.
  const UOpRef r = SafeMod(a, b);
  return Where(RoundedUp(r, b), r + b, r);
}

bool InRange(const UOpRef& amount) {
  return amount->IsConst() && amount->const_int() >= 0 && amount->const_int() < amount->dtype().BitWidth();
}

UOpRef Shift(const UOp& n) {
  const UOpRef &x = n.src(0), &amount = n.src(1);
  const int width = x->dtype().BitWidth();
  const UOpRef masked = amount & (width - 1);
  const UOpRef fits =
      uop::CmpLt(uop::Cast(amount, UnsignedOf(x->dtype())), uop::Const(UnsignedOf(x->dtype()), width));
  const bool arithmetic = n.op() == Op::kShr && x->dtype().IsSigned();
  const UOpRef beyond = arithmetic ? x >> uop::ConstLike(x, width - 1) : uop::ConstLike(x, 0);
  return Where(fits, uop::Binary(n.op(), x, masked), beyond);
}

// Equal operands differ in the sign of zero at most: AND of the bits gives +0, OR gives -0, and either the
// common value otherwise. When the first operand is a NaN both comparisons fail and it stays.
UOpRef MaxOrMin(const UOp& n) {
  const UOpRef &a = n.src(0), &b = n.src(1);
  const DType bits = UnsignedOf(a->dtype()).Element();
  const bool max = n.op() == Op::kMax;
  const UOpRef equal =
      Bits(max ? Bits(a, bits) & Bits(b, bits) : Bits(a, bits) | Bits(b, bits), a->dtype().Element());
  const UOpRef other = Where((max ? a < b : b < a) | IsNan(b), b, a);
  return Where(uop::CmpEq(a, b), equal, other);
}

bool IsFloatAlu(const UOp& n, Op op) { return n.op() == op && n.dtype().IsFloat(); }
template <Op op>
bool Always(const UOp& n, const Target&) {
  return n.op() == op;
}
template <Op op>
bool Inaccurate(const UOp& n, const Target& t) {
  return IsFloatAlu(n, op) && !t.transcendental.Has(n.dtype());
}
template <Op op>
bool OnBool(const UOp& n, const Target&) {
  return n.op() == op && n.dtype().IsBool();
}

}  // namespace

const std::vector<Decomposition>& Decompositions() {
  static const auto* const kRows = new std::vector<Decomposition>{
      {"floordiv", "a // b = a / b - (a % b != 0 && a % b < 0 != b < 0)", Always<Op::kFloorDiv>,
       [](const UOp& n, const Target&) { return FloorDivOf(n.src(0), n.src(1)); }},
      {"floormod", "a mod b = a % b + (a % b != 0 && a % b < 0 != b < 0 ? b : 0)", Always<Op::kFloorMod>,
       [](const UOp& n, const Target&) { return FloorModOf(n.src(0), n.src(1)); }},
      {"idiv-guard", "a / b = b == 0 ? 0 : b == -1 ? -a : a / b", Always<Op::kIDiv>,
       [](const UOp& n, const Target&) { return SafeDiv(n.src(0), n.src(1)); }},
      {"imod-guard", "a % b = b == 0 ? a : b == -1 ? 0 : a % b", Always<Op::kIMod>,
       [](const UOp& n, const Target&) { return SafeMod(n.src(0), n.src(1)); }},
      {"shl-guard", "a << n = n < width ? a << n : 0",
       [](const UOp& n, const Target&) { return n.op() == Op::kShl && !InRange(n.src(1)); },
       [](const UOp& n, const Target&) { return Shift(n); }},
      {"shr-guard", "a >> n = n < width ? a >> n : sign(a)",
       [](const UOp& n, const Target&) { return n.op() == Op::kShr && !InRange(n.src(1)); },
       [](const UOp& n, const Target&) { return Shift(n); }},
      {"exp2", "2^x = 2^n (1 + f q(f)), n = round(x)", Inaccurate<Op::kExp2>,
       [](const UOp& n, const Target&) { return Exp2Polynomial(n.src(0)); }},
      {"log2", "log2(2^e m) = e + log2(m), m in [sqrt(1/2), sqrt(2))", Inaccurate<Op::kLog2>,
       [](const UOp& n, const Target&) { return Log2Polynomial(n.src(0)); }},
      {"sin", "sin(n pi/2 + r) = +-sin(r) or +-cos(r)", Inaccurate<Op::kSin>,
       [](const UOp& n, const Target&) { return SinPolynomial(n.src(0)); }},
      {"cos", "cos(n pi/2 + r) = +-cos(r) or +-sin(r)", Inaccurate<Op::kCos>,
       [](const UOp& n, const Target&) { return CosPolynomial(n.src(0)); }},
      {"float-max", "max(a, b) = a == b ? a & b : a < b or b != b ? b : a",
       [](const UOp& n, const Target& t) { return IsFloatAlu(n, Op::kMax) && !t.maximum.Has(n.dtype()); },
       [](const UOp& n, const Target&) { return MaxOrMin(n); }},
      {"float-min", "min(a, b) = a == b ? a | b : b < a or b != b ? b : a",
       [](const UOp& n, const Target& t) { return IsFloatAlu(n, Op::kMin) && !t.maximum.Has(n.dtype()); },
       [](const UOp& n, const Target&) { return MaxOrMin(n); }},
      {"recip", "recip(x) = 1 / x", Always<Op::kRecip>,
       [](const UOp& n, const Target&) { return uop::FDiv(uop::ConstLike(n.src(0), 1.0), n.src(0)); }},
      {"integer-mulacc", "mulacc(a, b, c) = a b + c",
       [](const UOp& n, const Target&) { return n.op() == Op::kMulAcc && n.dtype().IsInt(); },
       [](const UOp& n, const Target&) { return n.src(0) * n.src(1) + n.src(2); }},
      {"bool-max", "max(a, b) = a or b", OnBool<Op::kMax>,
       [](const UOp& n, const Target&) { return n.src(0) | n.src(1); }},
      {"bool-min", "min(a, b) = a and b", OnBool<Op::kMin>,
       [](const UOp& n, const Target&) { return n.src(0) & n.src(1); }},
      {"bitcast-nan", "bits(x) = x != x ? bits(quiet NaN) : bits(x)",
       [](const UOp& n, const Target&) {
         return n.op() == Op::kBitcast && n.src(0)->dtype().IsFloat() && n.dtype().IsInt();
       },
       [](const UOp& n, const Target&) {
         const UOpRef& x = n.src(0);
         const auto nan = static_cast<int64_t>(FormatOf(x->dtype().Element()).nan_bits());
         return Where(IsNan(x), uop::Const(n.dtype(), ConstValue(nan)), uop::Bitcast(x, n.dtype()));
       }},
  };
  return *kRows;
}

namespace {

// Replaces narrow float types by their carriers.
class NarrowFloats {
 public:
  explicit NarrowFloats(const Target& target) : target_(target) {}

  UOpRef Run(const UOpRef& root) {
    for (const UOp* n : uop::Toposort(root)) {
      std::vector<UOpRef> src;
      bool narrow = IsNarrowFloat(n->dtype());
      bool changed = false;
      for (const UOpRef& s : n->src()) {
        src.push_back(done_.at(s.get()));
        narrow |= IsNarrowFloat(s->dtype());
        changed |= !(src.back() == s);
      }
      done_.emplace(n, narrow ? Carry(*n, std::move(src)) : changed ? n->WithSrc(std::move(src)) : UOpRef(n));
    }
    return done_.at(root.get());
  }

 private:
  bool Native(DType t) const { return target_.arithmetic.Has(t.scalar); }
  static DType Carrier(DType t) { return IsNarrowFloat(t) ? DType(Scalar::kFloat32, t.lanes, t.space) : t; }
  // Memory outside the kernel holds the narrow bits; registers and local memory hold the carrier.
  DType Stored(DType t) const {
    if (!IsNarrowFloat(t)) return t;
    if (t.space != AddrSpace::kGlobal) return Carrier(t);
    return Native(t) ? t : DType(StorageOf(t.Element()).scalar, t.lanes, t.space);
  }
  UOpRef Decode(DType t, const UOpRef& stored) const {
    return Native(t) ? To(stored, dtypes::kFloat32) : DecodeNarrow(t, stored);
  }
  UOpRef Encode(DType t, const UOpRef& value) const {
    return Native(t) ? To(value, t.Element()) : EncodeNarrow(t, value);
  }
  UOpRef Round(DType t, const UOpRef& value) const { return RoundToNarrow(t.Element(), value, target_); }

  UOpRef Carry(const UOp& n, std::vector<UOpRef> src) {
    const DType t = n.dtype();
    switch (n.op()) {
      case Op::kParam:
      case Op::kDefineLocal:
      case Op::kDefineReg:
        return UOp::Make(n.op(), Stored(t), {}, n.arg());
      case Op::kIndex:
      case Op::kAfter:
        return UOp::Make(n.op(), Stored(t), std::move(src), n.arg());
      case Op::kLoad: {
        const DType place = n.src(0)->dtype();
        if (place.space != AddrSpace::kGlobal) return UOp::Make(n.op(), Carrier(t), std::move(src));
        const DType stored = Stored(t.WithSpace(AddrSpace::kGlobal)).WithSpace(AddrSpace::kNone);
        const UOpRef read = UOp::Make(n.op(), stored, std::move(src));
        const UOpRef value = Decode(t, read);
        decoded_.emplace(value, read);
        return value;
      }
      case Op::kStore:
        if (n.src(0)->dtype().space == AddrSpace::kGlobal) src[1] = Encode(n.src(1)->dtype(), src[1]);
        return UOp::Make(n.op(), t, std::move(src));
      case Op::kCast:
        return Cast(n, src[0]);
      case Op::kBitcast: {
        const DType from = n.src(0)->dtype();
        UOpRef bits = src[0];
        if (IsNarrowFloat(from)) {
          const UOpRef code = EncodeNarrow(from, src[0]);
          bits = t.lanes == from.lanes ? Bits(code, StorageOf(from.Element())) : code;
        }
        if (!IsNarrowFloat(t)) return uop::Bitcast(bits, t);
        return DecodeNarrow(t, uop::Bitcast(bits, StorageOf(t)));
      }
      case Op::kWmma:
        // A fragment of narrow floats has their bits.
        for (int side : {0, 1}) {
          if (IsNarrowFloat(n.src(side)->dtype())) src[side] = Packed(n.src(side)->dtype(), src[side]);
        }
        return UOp::Make(n.op(), t, std::move(src), n.arg());
      case Op::kMulAcc:
        return Round(t, MulAccForNarrow(src[0], src[1], src[2]));
      default:
        break;
    }
    const UOpRef carried = UOp::Make(n.op(), Carrier(t), std::move(src), n.arg());
    if (!IsNarrowFloat(t)) return carried;  // comparisons
    switch (n.op()) {
      case Op::kAdd:
      case Op::kSub:
      case Op::kMul:
      case Op::kFDiv:
      case Op::kSqrt:
      case Op::kExp2:
      case Op::kLog2:
      case Op::kSin:
      case Op::kCos:
      case Op::kRecip:
        return Round(t, carried);
      case Op::kNeg:
      case Op::kTrunc:
        return FormatOf(t.Element()).has_neg_zero ? carried : Round(t, carried);
      default:
        return carried;  // CONST, WHERE, MAX, MIN, VECTORIZE, GEP: values of the type already
    }
  }

  // The carried value as stored again; where it has just been read, what was read.
  UOpRef Packed(DType t, const UOpRef& value) const {
    if (value->op() == Op::kVectorize) {
      std::vector<UOpRef> lanes;
      for (const UOpRef& lane : value->src()) lanes.push_back(Packed(t.Element(), lane));
      return uop::Vectorize(std::move(lanes));
    }
    if (const auto read = decoded_.find(value); read != decoded_.end()) return read->second;
    if (value->op() == Op::kGep) {
      if (const auto read = decoded_.find(value->src(0)); read != decoded_.end())
        return uop::Gep(read->second, value->arg_as<int64_t>());
    }
    return Encode(t, value);
  }

  UOpRef Cast(const UOp& n, const UOpRef& x) const {
    const DType from = n.src(0)->dtype(), to = n.dtype();
    if (!IsNarrowFloat(to)) return uop::Cast(x, to);
    if (from.scalar == Scalar::kFloat64) return Round(to, NarrowToOdd(x));
    if (from.IsFloat()) return Round(to, x);
    return Round(to, IntegerForNarrow(x));
  }

  const Target& target_;
  absl::flat_hash_map<const UOp*, UOpRef> done_;
  uop::SubstitutionMap decoded_;  // value of a LOAD -> the LOAD of its bits
};

}  // namespace

UOpRef Decompose(const UOpRef& kernel, const Target& target) {
  UOpRef out = uop::Rebuild(NarrowFloats(target).Run(kernel), [&](const UOpRef& node) {
    for (const Decomposition& row : Decompositions()) {
      if (row.applies(*node, target)) return row.replace(*node, target);
    }
    return node;
  });
  if (!target.divides_by_constants) out = DivisionsByConstants(out);
  if (LacksWideInts(target)) out = SplitWideInts(out);
  return out;
}

}  // namespace understudy
