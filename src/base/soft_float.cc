// SPDX-License-Identifier: Apache-2.0
#include "src/base/soft_float.h"

#include <algorithm>
#include <bit>

#include "src/base/bits.h"

namespace understudy {
namespace {

using U128 = unsigned __int128;

enum class Kind : uint8_t { kZero, kFinite, kInf, kNan };

// A value taken apart: for kFinite, (-1)^negative * sig * 2^exp with sig > 0.
struct Parts {
  Kind kind;
  bool negative;
  int exp;
  U128 sig;
};

int Msb(U128 v) {
  const auto high = static_cast<uint64_t>(v >> 64);
  return high ? 127 - std::countl_zero(high) : 63 - std::countl_zero(static_cast<uint64_t>(v));
}

bool FlushesIn(SoftContext c) { return static_cast<int>(c.denorm) & 1; }
bool FlushesOut(SoftContext c) { return static_cast<int>(c.denorm) & 2; }

Parts Unpack(const FloatFormat& f, uint64_t bits, SoftContext ctx) {
  const bool negative = bits & f.sign_mask();
  if (f.IsNan(bits)) return {Kind::kNan, negative, 0, 0};
  if (f.IsInf(bits)) return {Kind::kInf, negative, 0, 0};
  const int exponent = static_cast<int>((bits & f.exp_mask()) >> f.man_bits);
  const uint64_t man = bits & f.man_mask();
  if (exponent == 0) {
    if (man == 0 || FlushesIn(ctx)) return {Kind::kZero, negative, 0, 0};
    return {Kind::kFinite, negative, f.min_exp() - f.man_bits, man};
  }
  return {Kind::kFinite, negative, exponent - f.bias - f.man_bits, man | (f.man_mask() + 1)};
}

uint64_t Zero(const FloatFormat& f, bool negative) { return negative && f.has_neg_zero ? f.sign_mask() : 0; }

uint64_t QuietNan(const FloatFormat& f, uint64_t bits) {
  if (f.nan != NanEncoding::kIeee) return f.nan_bits() | (bits & f.sign_mask());
  return (bits & (f.sign_mask() | (f.sign_mask() - 1))) | uint64_t{1} << (f.man_bits - 1);
}

uint64_t OverflowBits(const FloatFormat& f, bool negative, SoftContext ctx) {
  const uint64_t sign = negative ? f.sign_mask() : 0;
  const bool to_max = ctx.overflow == Overflow::kSaturate || ctx.rounding == Rounding::kToZero ||
                      (ctx.rounding == Rounding::kUp && negative) ||
                      (ctx.rounding == Rounding::kDown && !negative);
  if (to_max) return sign | f.max_bits();
  if (f.has_inf) return sign | f.inf_bits();
  if (f.nan == NanEncoding::kNoNan) return sign | f.max_bits();
  return f.nan == NanEncoding::kNegativeZero ? f.nan_bits() : sign | f.nan_bits();
}

uint64_t Infinity(const FloatFormat& f, bool negative, SoftContext ctx) {
  if (f.has_inf && ctx.overflow == Overflow::kInf) return (negative ? f.sign_mask() : 0) | f.inf_bits();
  return OverflowBits(f, negative, {Rounding::kNearestEven, ctx.denorm, ctx.overflow});
}

// Does a discarded part (`half` its top bit, `rest` anything below) push the magnitude `q` up by one?
bool RoundsUp(Rounding mode, bool negative, bool odd, bool half, bool rest) {
  switch (mode) {
    case Rounding::kNearestEven:
      return half && (rest || odd);
    case Rounding::kToZero:
      return false;
    case Rounding::kUp:
      return !negative && (half || rest);
    case Rounding::kDown:
      return negative && (half || rest);
  }
  return false;
}

// sig >> shift, rounded; `sticky` says that non-zero bits were already lost below. shift >= 0.
U128 ShiftRound(U128 sig, int shift, bool sticky, Rounding mode, bool negative) {
  if (shift == 0) return sig + (RoundsUp(mode, negative, sig & 1, false, sticky) ? 1 : 0);
  if (shift > 127) {
    // The half bit of a shift by 128 could only be bit 127, which no caller sets.
    return RoundsUp(mode, negative, false, false, sticky || sig != 0) ? 1 : 0;
  }
  const U128 q = sig >> shift;
  const bool half = (sig >> (shift - 1)) & 1;
  const bool rest = sticky || (sig & ((U128{1} << (shift - 1)) - 1)) != 0;
  return q + (RoundsUp(mode, negative, q & 1, half, rest) ? 1 : 0);
}

// Rounds (-1)^negative * (sig + something in (0,1) if sticky) * 2^exp into the format. sig != 0.
uint64_t Pack(const FloatFormat& f, bool negative, int exp, U128 sig, bool sticky, SoftContext ctx) {
  const int e = exp + Msb(sig);
  const int lsb = std::max(e, f.min_exp()) - f.man_bits;
  const int shift = lsb - exp;
  // A left shift cannot overflow: the result has at most man_bits + 1 bits.
  const U128 q =
      shift <= 0 ? (sig << -shift) +
                       (RoundsUp(ctx.rounding, negative, (shift == 0) && (sig & 1), false, sticky) ? 1 : 0)
                 : ShiftRound(sig, shift, sticky, ctx.rounding, negative);
  const int64_t biased = e < f.min_exp() ? 0 : int64_t{e} + f.bias - 1;
  if (biased > (int64_t{1} << f.exp_bits)) return OverflowBits(f, negative, ctx);
  const uint64_t mag = (static_cast<uint64_t>(biased) << f.man_bits) + static_cast<uint64_t>(q);
  if (mag > f.max_bits()) return OverflowBits(f, negative, ctx);
  if (mag == 0) return Zero(f, negative);
  if (FlushesOut(ctx) && mag <= f.man_mask()) return Zero(f, negative);
  return (negative ? f.sign_mask() : 0) | mag;
}

// Moves the leading one to bit `top`; exact when the value has no more than top + 1 bits.
void Normalize(Parts* p, int top) {
  const int shift = top - Msb(p->sig);
  p->sig = shift >= 0 ? p->sig << shift : p->sig >> -shift;
  p->exp -= shift;
}

uint64_t AddParts(const FloatFormat& f, Parts a, Parts b, SoftContext ctx) {
  if (a.kind == Kind::kInf || b.kind == Kind::kInf) {
    if (a.kind == b.kind && a.negative != b.negative) return f.nan_bits();
    return Infinity(f, a.kind == Kind::kInf ? a.negative : b.negative, ctx);
  }
  if (a.kind == Kind::kZero && b.kind == Kind::kZero) {
    return Zero(f, a.negative == b.negative ? a.negative : ctx.rounding == Rounding::kDown);
  }
  if (a.kind == Kind::kZero) return Pack(f, b.negative, b.exp, b.sig, false, ctx);
  if (b.kind == Kind::kZero) return Pack(f, a.negative, a.exp, a.sig, false, ctx);
  // Products have up to 106 bits: with the leading one at bit 124, at least 18 zero bits lie below, so
  // nothing is lost where cancellation can be deep (distance 0 or 1).
  Normalize(&a, 124);
  Normalize(&b, 124);
  if (a.exp < b.exp) std::swap(a, b);
  const int distance = a.exp - b.exp;
  const U128 shifted = distance > 127 ? 0 : b.sig >> distance;
  const bool sticky = distance > 127 || (shifted << distance) != b.sig;
  if (a.negative == b.negative) return Pack(f, a.negative, a.exp, a.sig + shifted, sticky, ctx);
  if (distance == 0 && a.sig == b.sig) return Zero(f, ctx.rounding == Rounding::kDown);
  if (a.sig >= shifted + (sticky ? 1 : 0))
    return Pack(f, a.negative, a.exp, a.sig - shifted - (sticky ? 1 : 0), sticky, ctx);
  return Pack(f, b.negative, a.exp, shifted - a.sig, sticky, ctx);
}

Parts MulParts(const Parts& a, const Parts& b) {
  return {Kind::kFinite, a.negative != b.negative, a.exp + b.exp, a.sig * b.sig};
}

// The first NaN among the operands, quieted; false when there is none.
template <class... Bits>
bool PropagateNan(const FloatFormat& f, uint64_t* out, Bits... bits) {
  return ((f.IsNan(bits) ? (*out = QuietNan(f, bits), true) : false) || ...);
}

}  // namespace

uint64_t SoftAdd(const FloatFormat& f, uint64_t a, uint64_t b, SoftContext ctx) {
  uint64_t nan;
  if (PropagateNan(f, &nan, a, b)) return nan;
  return AddParts(f, Unpack(f, a, ctx), Unpack(f, b, ctx), ctx);
}

uint64_t SoftSub(const FloatFormat& f, uint64_t a, uint64_t b, SoftContext ctx) {
  uint64_t nan;
  if (PropagateNan(f, &nan, a, b)) return nan;
  Parts y = Unpack(f, b, ctx);
  y.negative = !y.negative;
  return AddParts(f, Unpack(f, a, ctx), y, ctx);
}

uint64_t SoftMul(const FloatFormat& f, uint64_t a, uint64_t b, SoftContext ctx) {
  uint64_t nan;
  if (PropagateNan(f, &nan, a, b)) return nan;
  const Parts x = Unpack(f, a, ctx), y = Unpack(f, b, ctx);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::kInf || y.kind == Kind::kInf) {
    if (x.kind == Kind::kZero || y.kind == Kind::kZero) return f.nan_bits();
    return Infinity(f, negative, ctx);
  }
  if (x.kind == Kind::kZero || y.kind == Kind::kZero) return Zero(f, negative);
  const Parts p = MulParts(x, y);
  return Pack(f, negative, p.exp, p.sig, false, ctx);
}

uint64_t SoftFma(const FloatFormat& f, uint64_t a, uint64_t b, uint64_t c, SoftContext ctx) {
  uint64_t nan;
  if (PropagateNan(f, &nan, a, b, c)) return nan;
  const Parts x = Unpack(f, a, ctx), y = Unpack(f, b, ctx), z = Unpack(f, c, ctx);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::kInf || y.kind == Kind::kInf) {
    if (x.kind == Kind::kZero || y.kind == Kind::kZero) return f.nan_bits();
    return AddParts(f, {Kind::kInf, negative, 0, 0}, z, ctx);
  }
  if (x.kind == Kind::kZero || y.kind == Kind::kZero)
    return AddParts(f, {Kind::kZero, negative, 0, 0}, z, ctx);
  return AddParts(f, MulParts(x, y), z, ctx);
}

uint64_t SoftDiv(const FloatFormat& f, uint64_t a, uint64_t b, SoftContext ctx) {
  uint64_t nan;
  if (PropagateNan(f, &nan, a, b)) return nan;
  Parts x = Unpack(f, a, ctx), y = Unpack(f, b, ctx);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::kInf) return y.kind == Kind::kInf ? f.nan_bits() : Infinity(f, negative, ctx);
  if (y.kind == Kind::kInf) return Zero(f, negative);
  if (y.kind == Kind::kZero) return x.kind == Kind::kZero ? f.nan_bits() : Infinity(f, negative, ctx);
  if (x.kind == Kind::kZero) return Zero(f, negative);
  Normalize(&x, 63);
  Normalize(&y, 63);
  const U128 dividend = x.sig << 64;
  return Pack(f, negative, x.exp - 64 - y.exp, dividend / y.sig, dividend % y.sig != 0, ctx);
}

uint64_t SoftSqrt(const FloatFormat& f, uint64_t a, SoftContext ctx) {
  uint64_t nan;
  if (PropagateNan(f, &nan, a)) return nan;
  Parts x = Unpack(f, a, ctx);
  if (x.kind == Kind::kZero) return Zero(f, x.negative);
  if (x.negative) return f.nan_bits();
  if (x.kind == Kind::kInf) return Infinity(f, false, ctx);
  Normalize(&x, 126);
  if (x.exp & 1) {
    x.sig >>= 1;  // bit 0 is clear: no format has 127 significant bits
    ++x.exp;
  }
  U128 root = 0, remainder = x.sig;
  for (int bit = 63; bit >= 0; --bit) {
    // (root + 2^bit)^2 - root^2
    const U128 step = (root << (bit + 1)) + (U128{1} << (2 * bit));
    if (remainder >= step) {
      remainder -= step;
      root += U128{1} << bit;
    }
  }
  return Pack(f, false, x.exp / 2, root, remainder != 0, ctx);
}

uint64_t SoftConvert(const FloatFormat& from, const FloatFormat& to, uint64_t a, SoftContext ctx) {
  const bool sign = a & from.sign_mask();
  if (from.IsNan(a)) {
    if (to.nan == NanEncoding::kNegativeZero) return to.nan_bits();
    const uint64_t out_sign = sign && from.nan != NanEncoding::kNegativeZero ? to.sign_mask() : 0;
    if (to.nan != NanEncoding::kIeee || from.nan != NanEncoding::kIeee) return out_sign | to.nan_bits();
    const uint64_t man = a & from.man_mask();
    const uint64_t kept = to.man_bits >= from.man_bits ? man << (to.man_bits - from.man_bits)
                                                       : man >> (from.man_bits - to.man_bits);
    return out_sign | to.nan_bits() | kept;
  }
  const Parts p = Unpack(from, a, ctx);
  if (p.kind == Kind::kInf) return Infinity(to, p.negative, ctx);
  if (p.kind == Kind::kZero) return Zero(to, p.negative);
  return Pack(to, p.negative, p.exp, p.sig, false, ctx);
}

uint64_t SoftFromUint(const FloatFormat& f, uint64_t v, SoftContext ctx) {
  return v == 0 ? 0 : Pack(f, false, 0, v, false, ctx);
}

uint64_t SoftFromInt(const FloatFormat& f, int64_t v, SoftContext ctx) {
  if (v == 0) return 0;
  return Pack(f, v < 0, 0, v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v), false,
              ctx);
}

namespace {

// The rounded magnitude, or all ones when it needs more than 64 bits.
uint64_t RoundedMagnitude(const Parts& p, Rounding mode) {
  if (p.kind != Kind::kFinite) return p.kind == Kind::kInf ? ~uint64_t{0} : 0;
  if (p.exp >= 0) return Msb(p.sig) + p.exp > 63 ? ~uint64_t{0} : static_cast<uint64_t>(p.sig << p.exp);
  return static_cast<uint64_t>(ShiftRound(p.sig, -p.exp, false, mode, p.negative));
}

}  // namespace

int64_t SoftToInt(const FloatFormat& f, uint64_t a, int width, SoftContext ctx) {
  const Parts p = Unpack(f, a, ctx);
  if (p.kind == Kind::kNan) return 0;
  const uint64_t mag = RoundedMagnitude(p, ctx.rounding);
  const uint64_t limit = uint64_t{1} << (width - 1);
  if (p.negative) return mag >= limit ? SignExtend(limit, width) : -static_cast<int64_t>(mag);
  return static_cast<int64_t>(std::min(mag, limit - 1));
}

uint64_t SoftToUint(const FloatFormat& f, uint64_t a, int width, SoftContext ctx) {
  const Parts p = Unpack(f, a, ctx);
  if (p.kind == Kind::kNan || p.negative) return 0;
  return std::min(RoundedMagnitude(p, ctx.rounding), LowMask(width));
}

uint64_t SoftRoundToIntegral(const FloatFormat& f, uint64_t a, SoftContext ctx) {
  uint64_t nan;
  if (PropagateNan(f, &nan, a)) return nan;
  const Parts p = Unpack(f, a, ctx);
  if (p.kind == Kind::kInf) return a & (f.sign_mask() | (f.sign_mask() - 1));
  if (p.kind == Kind::kZero) return Zero(f, p.negative);
  if (p.exp >= 0) return a & (f.sign_mask() | (f.sign_mask() - 1));
  const U128 mag = ShiftRound(p.sig, -p.exp, false, ctx.rounding, p.negative);
  return mag == 0 ? Zero(f, p.negative) : Pack(f, p.negative, 0, mag, false, ctx);
}

}  // namespace understudy
