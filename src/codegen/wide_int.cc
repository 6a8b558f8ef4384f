// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/wide_int.h"

#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/codegen/math_builder.h"
#include "src/symbolic/bounds.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

using namespace math;       // NOLINT
using namespace uop::expr;  // NOLINT
using uop::Where;

constexpr DType kU32 = dtypes::kUInt32, kI32 = dtypes::kInt32, kF32 = dtypes::kFloat32;

bool IsWide(DType t) { return t.scalar == Scalar::kInt64 || t.scalar == Scalar::kUInt64; }

// Operators of words below do not hide those of nodes.
using uop::expr::operator&;
using uop::expr::operator|;
using uop::expr::operator^;

// A 64-bit integer of any lane count.
struct Words {
  UOpRef lo, hi;
};

Words operator&(const Words& a, const Words& b) { return {a.lo & b.lo, a.hi & b.hi}; }
Words operator|(const Words& a, const Words& b) { return {a.lo | b.lo, a.hi | b.hi}; }
Words operator^(const Words& a, const Words& b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
Words Select(const UOpRef& c, const Words& a, const Words& b) {
  return {Where(c, a.lo, b.lo), Where(c, a.hi, b.hi)};
}
Words Number(const UOpRef& like, uint64_t v) {
  return {C(like, kU32, static_cast<int64_t>(v & 0xffffffff)), C(like, kU32, static_cast<int64_t>(v >> 32))};
}

Words Plus(const Words& a, const Words& b) {
  const UOpRef lo = a.lo + b.lo;
  return {lo, a.hi + b.hi + To(lo < a.lo, kU32)};
}
Words Minus(const Words& a, const Words& b) { return {a.lo - b.lo, a.hi - b.hi - To(a.lo < b.lo, kU32)}; }
Words Negated(const Words& a) { return Minus(Number(a.lo, 0), a); }

// The upper half of a product of two u32.
UOpRef HighProduct(const UOpRef& a, const UOpRef& b) {
  const UOpRef al = a & 0xffff, ah = a >> 16, bl = b & 0xffff, bh = b >> 16;
  const UOpRef low = al * bl, m1 = al * bh, m2 = ah * bl;
  const UOpRef middle = (low >> 16) + (m1 & 0xffff) + (m2 & 0xffff);
  return ah * bh + (m1 >> 16) + (m2 >> 16) + (middle >> 16);
}
Words Times(const Words& a, const Words& b) {
  return {a.lo * b.lo, HighProduct(a.lo, b.lo) + a.lo * b.hi + a.hi * b.lo};
}

UOpRef ArithmeticShift(const UOpRef& x, const UOpRef& amount) {
  return Bits(Bits(x, kI32) >> Bits(amount, kI32), kU32);
}
UOpRef SignOf(const UOpRef& hi) { return ArithmeticShift(hi, C(hi, kU32, 31)); }

// By `amount` < 64. Shifts by 32 - s are two, by 1 and by 31 - s, so that s = 0 stays in range.
Words ShiftLeft(const Words& a, const UOpRef& amount) {
  const UOpRef s = amount & 31;
  const UOpRef low = a.lo << s;
  const UOpRef high = (a.hi << s) | ((a.lo >> 1) >> (s ^ 31));
  const UOpRef far = uop::CmpNe(amount & 32, C(amount, kU32, 0));
  return Select(far, {C(low, kU32, 0), low}, {low, high});
}
Words ShiftRight(const Words& a, const UOpRef& amount, bool is_signed) {
  const UOpRef s = amount & 31;
  const UOpRef low = (a.lo >> s) | ((a.hi << 1) << (s ^ 31));
  const UOpRef high = is_signed ? ArithmeticShift(a.hi, s) : a.hi >> s;
  const UOpRef far = uop::CmpNe(amount & 32, C(amount, kU32, 0));
  return Select(far, {high, is_signed ? SignOf(a.hi) : C(high, kU32, 0)}, {low, high});
}

UOpRef Same(const Words& a, const Words& b) { return uop::CmpEq(a.lo, b.lo) & uop::CmpEq(a.hi, b.hi); }
UOpRef Less(const Words& a, const Words& b, bool is_signed) {
  const UOpRef high = is_signed ? Bits(a.hi, kI32) < Bits(b.hi, kI32) : a.hi < b.hi;
  return high | (uop::CmpEq(a.hi, b.hi) & (a.lo < b.lo));
}

// Quotient and remainder, one bit at a time from the top. By zero: all ones and the dividend, which the
// guards around a division never let through.
struct QuotientRemainder {
  Words q, r;
};
QuotientRemainder DivideUnsigned(const Words& a, const Words& b) {
  QuotientRemainder out{Number(a.lo, 0), Number(a.lo, 0)};
  for (int bit = 63; bit >= 0; --bit) {
    const UOpRef& word = bit >= 32 ? a.hi : a.lo;
    const UOpRef next = (word >> (bit & 31)) & 1;
    // The bit that leaves the remainder says that it is past every divisor.
    const UOpRef carry = uop::CmpNe(out.r.hi >> 31, C(next, kU32, 0));
    const Words r = {(out.r.lo << 1) | next, (out.r.hi << 1) | (out.r.lo >> 31)};
    const UOpRef fits = carry | !Less(r, b, false);
    out.r = Select(fits, Minus(r, b), r);
    UOpRef& q = bit >= 32 ? out.q.hi : out.q.lo;
    q = q | (To(fits, kU32) << (bit & 31));
  }
  return out;
}

UOpRef IsNegative(const Words& a) { return Bits(a.hi, kI32) < 0; }
Words Magnitude(const Words& a) { return Select(IsNegative(a), Negated(a), a); }

Words Quotient(const Words& a, const Words& b, bool is_signed) {
  if (!is_signed) return DivideUnsigned(a, b).q;
  const Words q = DivideUnsigned(Magnitude(a), Magnitude(b)).q;
  return Select(IsNegative(a) ^ IsNegative(b), Negated(q), q);
}
Words Remainder(const Words& a, const Words& b, bool is_signed) {
  if (!is_signed) return DivideUnsigned(a, b).r;
  const Words r = DivideUnsigned(Magnitude(a), Magnitude(b)).r;
  return Select(IsNegative(a), Negated(r), r);
}

// From a type of at most 32 bits (or bool).
Words Extended(const UOpRef& x) {
  const DType t = x->dtype();
  if (t.IsBool() || t.IsUnsigned()) {
    const UOpRef lo = To(x, kU32);
    return {lo, C(lo, kU32, 0)};
  }
  const UOpRef lo = Bits(To(x, kI32), kU32);
  return {lo, SignOf(lo)};
}

// f64 holds each word's product by a power of two: their sum rounds once.
UOpRef ToFloat64(const Words& a, bool is_signed) {
  const UOpRef high = To(is_signed ? Bits(a.hi, kI32) : a.hi, dtypes::kFloat64);
  return high * 0x1p32 + To(a.lo, dtypes::kFloat64);
}
// The topmost 32 bits with what is below them in the last: rounding to 24 bits sees whether anything is left.
UOpRef ToFloat32(const Words& a, bool is_signed) {
  const Words plain = is_signed ? Magnitude(a) : a;
  Words m = plain;
  const UOpRef small = uop::CmpEq(m.hi, C(m.hi, kU32, 0));
  UOpRef scale = C(m.lo, kF32, 0x1p32);
  for (const int step : {16, 8, 4, 2, 1}) {
    const UOpRef room = m.hi < C(m.hi, kU32, int64_t{1} << (32 - step));
    const Words moved = {m.lo << step, (m.hi << step) | (m.lo >> (32 - step))};
    m = Select(room, moved, m);
    scale = Where(room, scale * std::ldexp(1.0, -step), scale);
  }
  const UOpRef sticky = To(uop::CmpNe(m.lo, C(m.lo, kU32, 0)), kU32);
  const UOpRef value = Where(small, To(plain.lo, kF32), To(m.hi | sticky, kF32) * scale);
  return is_signed ? Where(IsNegative(a), -value, value) : value;
}
// Toward zero, saturating; a NaN gives 0 (as CastConst).
Words FromFloat(const UOpRef& x, bool is_signed) {
  const UOpRef zero = uop::ConstLike(x, 0.0);
  const UOpRef negative = x < zero;
  const UOpRef size = uop::Trunc(Where(negative, -x, x));
  const UOpRef high = uop::Trunc(size * 0x1p-32);
  const Words magnitude = {To(size - high * 0x1p32, kU32), To(high, kU32)};
  const UOpRef nan = IsNan(x);
  const double limit = is_signed ? 0x1p63 : 0x1p64;
  const UOpRef above = uop::Not(nan | (x < uop::ConstLike(x, limit)));
  Words out = magnitude;
  if (is_signed) {
    const UOpRef below = x < uop::ConstLike(x, -limit);
    out = Select(negative, Negated(out), out);
    out = Select(below, Number(out.lo, uint64_t{1} << 63), out);
    out = Select(above, Number(out.lo, ~uint64_t{0} >> 1), out);
  } else {
    out = Select(above, Number(out.lo, ~uint64_t{0}), out);
    out = Select(negative, Number(out.lo, 0), out);
  }
  return Select(nan, Number(out.lo, 0), out);
}

UOpRef Interleaved(const Words& w) {
  const int lanes = w.lo->dtype().lanes;
  if (lanes == 1) return uop::Vectorize({w.lo, w.hi});
  std::vector<UOpRef> words;
  for (int i = 0; i < lanes; ++i) {
    words.push_back(uop::Gep(w.lo, i));
    words.push_back(uop::Gep(w.hi, i));
  }
  return uop::Vectorize(std::move(words));
}
Words Separated(const UOpRef& words) {
  const int lanes = words->dtype().lanes / 2;
  if (lanes == 1) return {uop::Gep(words, 0), uop::Gep(words, 1)};
  std::vector<UOpRef> lo, hi;
  for (int i = 0; i < lanes; ++i) {
    lo.push_back(uop::Gep(words, 2 * i));
    hi.push_back(uop::Gep(words, 2 * i + 1));
  }
  return {uop::Vectorize(std::move(lo)), uop::Vectorize(std::move(hi))};
}

class WideInts {
 public:
  UOpRef Run(const UOpRef& root) {
    for (const UOp* n : uop::Toposort(root)) {
      const bool wide_value = IsWide(n->dtype()) && !n->dtype().IsPointer();
      if (wide_value) {
        words_.emplace(n, Split(*n));
      } else {
        done_.emplace(n, Rebuilt(*n));
      }
    }
    return done_.at(root.get());
  }

 private:
  const UOpRef& Of(const UOpRef& n) const { return done_.at(n.get()); }
  const Words& WordsOf(const UOpRef& n) const { return words_.at(n.get()); }
  static bool HasWords(const UOpRef& n) { return IsWide(n->dtype()) && !n->dtype().IsPointer(); }

  std::vector<UOpRef> Tail(const UOp& n, size_t from) const {
    std::vector<UOpRef> out;
    for (size_t i = from; i < n.num_src(); ++i) out.push_back(Of(n.src(i)));
    return out;
  }

  // Registers have all low words first, so that vectors stay as they are; memory has pairs.
  static bool InRegisters(const UOpRef& place) { return place->dtype().space == AddrSpace::kReg; }
  static int64_t SizeOf(const UOpRef& registers) {
    const UOp* p = registers.get();
    while (p->op() == Op::kAfter || p->op() == Op::kIndex) p = p->src(0).get();
    return p->arg_as<std::vector<int64_t>>()[1];
  }
  static UOpRef Moved(const UOpRef& index, int64_t by) {
    if (index->IsConst()) return uop::ConstLike(index, index->const_int() + by);
    return index + by;
  }
  // The place of the high words that belong to a place of low ones, once `deps` are done.
  UOpRef HighPlace(const UOp& index, std::vector<UOpRef> deps) const {
    std::vector<UOpRef> src = Tail(index, 0);
    if (!deps.empty()) src[0] = uop::After(src[0], std::move(deps));
    src[1] = Moved(src[1], SizeOf(index.src(0)));
    return UOp::Make(Op::kIndex, DType(Scalar::kUInt32, index.dtype().lanes, index.dtype().space),
                     std::move(src), index.arg());
  }

  Words Load(const UOp& n) const {
    std::vector<UOpRef> src = Tail(n, 0);
    const int lanes = n.dtype().lanes;
    if (!InRegisters(n.src(0)))
      return Separated(UOp::Make(Op::kLoad, kU32.WithLanes(2 * lanes), std::move(src)));
    std::vector<UOpRef> high = src;
    high[0] = HighPlace(*n.src(0), {});
    return {UOp::Make(Op::kLoad, kU32.WithLanes(lanes), std::move(src)),
            UOp::Make(Op::kLoad, kU32.WithLanes(lanes), std::move(high))};
  }

  UOpRef Store(const UOp& n) const {
    const Words& value = WordsOf(n.src(1));
    std::vector<UOpRef> src = {Of(n.src(0)), InRegisters(n.src(0)) ? value.lo : Interleaved(value)};
    for (UOpRef& s : Tail(n, 2)) src.push_back(std::move(s));
    std::vector<UOpRef> high = src;
    const UOpRef first = UOp::Make(Op::kStore, n.dtype(), std::move(src));
    if (!InRegisters(n.src(0))) return first;
    high[0] = HighPlace(*n.src(0), {first});
    high[1] = value.hi;
    return UOp::Make(Op::kStore, n.dtype(), std::move(high));
  }

  // A node that is no 64-bit integer.
  UOpRef Rebuilt(const UOp& n) const {
    const DType t = n.dtype();
    if (IsWide(t)) {  // places
      const DType place(Scalar::kUInt32, t.lanes, t.space);
      switch (n.op()) {
        case Op::kParam:
          return UOp::Make(n.op(), place, {}, n.arg());
        case Op::kDefineLocal:
        case Op::kDefineReg: {
          std::vector<int64_t> arg = n.arg_as<std::vector<int64_t>>();
          arg[1] *= 2;
          return UOp::Make(n.op(), place, {}, std::move(arg));
        }
        case Op::kIndex: {
          std::vector<UOpRef> src = Tail(n, 0);
          if (!InRegisters(n.src(0)))
            src[1] = src[1]->IsConst() ? uop::ConstLike(src[1], 2 * src[1]->const_int()) : src[1] * 2;
          return UOp::Make(n.op(), place, std::move(src), n.arg());
        }
        default:
          US_CHECK(n.op() == Op::kAfter) << OpName(n.op()) << " of " << t.Name();
          return UOp::Make(n.op(), place, Tail(n, 0), n.arg());
      }
    }
    if (n.op() == Op::kStore && HasWords(n.src(1))) return Store(n);
    bool reads_words = false;
    for (const UOpRef& s : n.src()) reads_words |= HasWords(s);
    if (!reads_words) {
      std::vector<UOpRef> src;
      bool changed = false;
      for (const UOpRef& s : n.src()) {
        src.push_back(Of(s));
        changed |= !(src.back() == s);
      }
      return changed ? n.WithSrc(std::move(src)) : UOpRef(&n);
    }
    const Words& a = WordsOf(n.src(0));
    const bool is_signed = n.src(0)->dtype().IsSigned();
    switch (n.op()) {
      case Op::kCmpLt:
        return Less(a, WordsOf(n.src(1)), is_signed);
      case Op::kCmpEq:
        return Same(a, WordsOf(n.src(1)));
      case Op::kCmpNe:
        return !Same(a, WordsOf(n.src(1)));
      case Op::kBitcast:
        return uop::Bitcast(Interleaved(a), t);
      case Op::kCast:
        if (t.IsBool()) return uop::CmpNe(a.lo | a.hi, C(a.lo, kU32, 0));
        if (t.scalar == Scalar::kFloat64) return ToFloat64(a, is_signed);
        if (t.IsFloat()) return To(ToFloat32(a, is_signed), t.Element());
        return To(a.lo, t.Element());
      default:
        US_CHECK(false) << OpName(n.op()) << " of 64-bit integers";
        return nullptr;
    }
  }

  Words Split(const UOp& n) const {
    const bool is_signed = n.dtype().IsSigned();
    const auto a = [&](int i = 0) -> const Words& { return WordsOf(n.src(i)); };
    switch (n.op()) {
      case Op::kConst: {
        const auto v = static_cast<uint64_t>(n.const_int());
        const DType t = kU32.WithLanes(n.dtype().lanes);
        return {uop::Const(t, ConstValue(static_cast<int64_t>(v & 0xffffffff))),
                uop::Const(t, ConstValue(static_cast<int64_t>(v >> 32)))};
      }
      case Op::kLoad:
        return Load(n);
      case Op::kAfter: {
        const std::vector<UOpRef> deps = Tail(n, 1);
        return {uop::After(a().lo, deps), uop::After(a().hi, deps)};
      }
      case Op::kVectorize: {
        std::vector<UOpRef> lo, hi;
        for (const UOpRef& s : n.src()) {
          lo.push_back(WordsOf(s).lo);
          hi.push_back(WordsOf(s).hi);
        }
        return {uop::Vectorize(std::move(lo)), uop::Vectorize(std::move(hi))};
      }
      case Op::kGep:
        return {uop::Gep(a().lo, n.arg_as<int64_t>()), uop::Gep(a().hi, n.arg_as<int64_t>())};
      case Op::kNeg:
        return Negated(a());
      case Op::kAdd:
        return Plus(a(), a(1));
      case Op::kSub:
        return Minus(a(), a(1));
      case Op::kMul:
        return Times(a(), a(1));
      case Op::kIDiv:
        return Quotient(a(), a(1), is_signed);
      case Op::kIMod:
        return Remainder(a(), a(1), is_signed);
      case Op::kMax:
        return Select(Less(a(), a(1), is_signed), a(1), a());
      case Op::kMin:
        return Select(Less(a(), a(1), is_signed), a(), a(1));
      case Op::kAnd:
        return a() & a(1);
      case Op::kOr:
        return a() | a(1);
      case Op::kXor:
        return a() ^ a(1);
      case Op::kShl:
        return ShiftLeft(a(), a(1).lo);
      case Op::kShr:
        return ShiftRight(a(), a(1).lo, is_signed);
      case Op::kWhere:
        return Select(Of(n.src(0)), a(1), a(2));
      case Op::kTrunc:
        return a();
      case Op::kBitcast:
        if (HasWords(n.src(0))) return a();
        return Separated(uop::Bitcast(Of(n.src(0)), kU32.WithLanes(2 * n.dtype().lanes)));
      case Op::kCast: {
        if (HasWords(n.src(0))) return a();
        const UOpRef& x = Of(n.src(0));
        const DType from = x->dtype();
        if (!from.IsFloat()) return Extended(x);
        return FromFloat(from.scalar == Scalar::kFloat64 ? x : To(x, kF32), is_signed);
      }
      default:
        US_CHECK(false) << OpName(n.op()) << " of " << n.dtype().Name();
        return {};
    }
  }

  absl::flat_hash_map<const UOp*, UOpRef> done_;
  absl::flat_hash_map<const UOp*, Words> words_;
};

}  // namespace

bool LacksWideInts(const Target& target) {
  return !target.arithmetic.Has(Scalar::kInt64) || !target.arithmetic.Has(Scalar::kUInt64);
}

absl::Status CheckWideInts(const UOpRef& kernel) {
  const symbolic::BoundsCache bounds;
  for (const UOp* n : uop::Toposort(kernel)) {
    if (n->op() != Op::kIndex) continue;
    const UOpRef& place = n->src(1);
    if (IsWide(place->dtype()))
      return absl::UnimplementedError("an index past 2^31 on a target without 64-bit integers");
    if (IsWide(n->dtype()) && bounds.Wide(place).hi >= int64_t{1} << 30)
      return absl::UnimplementedError(
          absl::StrCat("an array of ", n->dtype().Element().Name(),
                       " of more than 2^30 elements on a target without 64-bit integers"));
  }
  return absl::OkStatus();
}

UOpRef SplitWideInts(const UOpRef& kernel) { return WideInts().Run(kernel); }

}  // namespace understudy
