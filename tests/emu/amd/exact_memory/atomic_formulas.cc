// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/exact_memory/atomic_formulas.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/base/float_format.h"

namespace understudy::emu::amd {
namespace {

using U = uint64_t;

int64_t Signed(U v, int bits) { return bits == 32 ? static_cast<int32_t>(v) : static_cast<int64_t>(v); }
double Real(U v, int bits) {
  return bits == 32 ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(v)))
                    : std::bit_cast<double>(v);
}
bool Negative(U v, int bits) { return (v >> (bits - 1)) != 0; }
U Quieted(U v, int bits) { return v | U{1} << (bits == 32 ? 22 : 51); }
bool Nan(U v, int bits) { return std::isnan(Real(v, bits)); }
bool SignallingNan(U v, int bits) { return Nan(v, bits) && Quieted(v, bits) != v; }
// A denormal becomes a zero of its sign.
U Flushed(U v, int bits, bool flush) {
  const U exponent = bits == 32 ? 0x7f800000 : 0x7ff0000000000000;
  return flush && (v & exponent) == 0 ? v & U{1} << (bits - 1) : v;
}
// Of f32 too: the sum of two floats in double precision, rounded once more, is the correctly rounded sum. A
// NaN stays itself, made quiet.
U Sum(U a, U b, int bits, bool flush) {
  if (Nan(a, bits)) return Quieted(a, bits);
  if (Nan(b, bits)) return Quieted(b, bits);
  const double sum = Real(Flushed(a, bits, flush), bits) + Real(Flushed(b, bits, flush), bits);
  return bits == 32 ? std::bit_cast<uint32_t>(static_cast<float>(sum)) : std::bit_cast<U>(sum);
}
// "Larger" and "smaller" of RDNA3 ISA 13.3 and CDNA4 ISA 9.2.3: the place of a number in the order
// -inf, -float, -denorm, -0, +0, +denorm, +float, +inf.
bool Before(U a, U b, int bits) {
  const double x = Real(a, bits), y = Real(b, bits);
  return x != y ? x < y : Negative(a, bits) && !Negative(b, bits);
}
// A signalling NaN wins, made quiet; a quiet one is the last to be chosen. Flushing is for the comparison
// alone.
U Selected(U old, U data, int bits, bool flush, bool maximum) {
  if (SignallingNan(data, bits)) return Quieted(data, bits);
  if (SignallingNan(old, bits)) return Quieted(old, bits);
  if (Nan(data, bits)) return old;
  if (Nan(old, bits)) return data;
  const U x = Flushed(data, bits, flush), y = Flushed(old, bits, flush);
  return (maximum ? Before(y, x, bits) : Before(x, y, bits)) ? data : old;
}
// IEEE 754-2019 minimumNumber of flushed values: a number rather than a NaN, of two NaNs the data's made
// quiet.
U MinimumNumber(U old, U data, int bits, bool flush, bool maximum) {
  const U x = Flushed(data, bits, flush), y = Flushed(old, bits, flush);
  if (Nan(x, bits)) return Nan(y, bits) ? Quieted(x, bits) : y;
  if (Nan(y, bits)) return x;
  return (maximum ? Before(y, x, bits) : Before(x, y, bits)) ? x : y;
}
// +0 is -0; a NaN is not even itself.
U Compared(U old, U compare, U data, int bits, bool flush) {
  const bool equal = Real(Flushed(old, bits, flush), bits) == Real(Flushed(compare, bits, flush), bits);
  return equal ? Flushed(data, bits, flush) : old;
}
U PackedSum(const FloatFormat& format, U a, U b) {
  U r = 0;
  for (int i = 0; i < 32; i += 16) {
    r |= EncodeFloat(format, DecodeFloat(format, a >> i & 0xffff) + DecodeFloat(format, b >> i & 0xffff))
         << i;
  }
  return r;
}

const AtomicFormula kFormulas[] = {
    // RDNA's and CDNA's names with widths, images' and scalar memory's without.
    {" SWAP SWAP_B32 SWAP_X2 SWAP_B64 WRXCHG_B32 WRXCHG_B64 STOREXCHG_B32 STOREXCHG_B64 ", 0, 1, 'i',
     [](U, U d, U, int, bool) { return d; }},
    // The value to store comes first, the one to compare with second; in CDNA's LDS the other way round.
    {" CMPSWAP CMPSWAP_B32 CMPSWAP_X2 CMPSWAP_B64 CMPSTORE_B32 CMPSTORE_B64 ", 0, 2, 'i',
     [](U o, U d, U c, int, bool) { return o == c ? d : o; }},
    {" CMPST_B32 CMPST_B64 ", 0, 2, 'i', [](U o, U c, U d, int, bool) { return o == c ? d : o; }},
    {" ADD ADD_U32 ADD_X2 ADD_U64 ADD_UINT ", 0, 1, 'i', [](U o, U d, U, int, bool) { return o + d; }},
    {" SUB SUB_U32 SUB_X2 SUB_U64 SUB_UINT ", 0, 1, 'i', [](U o, U d, U, int, bool) { return o - d; }},
    {" RSUB_U32 RSUB_U64 ", 0, 1, 'i', [](U o, U d, U, int, bool) { return d - o; }},
    {" CSUB_U32 SUB_CLAMP_U32 ", 4, 1, 'i', [](U o, U d, U, int, bool) { return o < d ? 0 : o - d; }},
    {" COND_SUB_U32 ", 4, 1, 'i', [](U o, U d, U, int, bool) { return o < d ? o : o - d; }},
    {" SMIN SMIN_X2 MIN_I32 MIN_I64 MIN_INT ", 0, 1, 'i',
     [](U o, U d, U, int bits, bool) { return Signed(d, bits) < Signed(o, bits) ? d : o; }},
    {" SMAX SMAX_X2 MAX_I32 MAX_I64 MAX_INT ", 0, 1, 'i',
     [](U o, U d, U, int bits, bool) { return Signed(d, bits) > Signed(o, bits) ? d : o; }},
    {" UMIN UMIN_X2 MIN_U32 MIN_U64 MIN_UINT ", 0, 1, 'i',
     [](U o, U d, U, int, bool) { return d < o ? d : o; }},
    {" UMAX UMAX_X2 MAX_U32 MAX_U64 MAX_UINT ", 0, 1, 'i',
     [](U o, U d, U, int, bool) { return d > o ? d : o; }},
    {" AND AND_X2 AND_B32 AND_B64 ", 0, 1, 'i', [](U o, U d, U, int, bool) { return o & d; }},
    {" OR OR_X2 OR_B32 OR_B64 ", 0, 1, 'i', [](U o, U d, U, int, bool) { return o | d; }},
    {" XOR XOR_X2 XOR_B32 XOR_B64 ", 0, 1, 'i', [](U o, U d, U, int, bool) { return o ^ d; }},
    {" INC INC_U32 INC_X2 INC_U64 INC_UINT ", 0, 1, 'i',
     [](U o, U d, U, int, bool) { return o >= d ? 0 : o + 1; }},
    {" DEC DEC_U32 DEC_X2 DEC_U64 DEC_UINT ", 0, 1, 'i',
     [](U o, U d, U, int, bool) { return o == 0 || o > d ? d : o - 1; }},
    {" MSKOR_B32 MSKOR_B64 ", 0, 2, 'i', [](U o, U d, U e, int, bool) { return (o & ~d) | e; }},
    {" WRAP_B32 ", 4, 2, 'i', [](U o, U d, U e, int, bool) { return o >= d ? o - d : o + e; }},
    {" ADD_F32 ADD_FLT ", 4, 1, 'a',
     [](U o, U d, U, int bits, bool flush) { return Sum(o, d, bits, flush); }},
    {" ADD_F64 ", 8, 1, 'a', [](U o, U d, U, int bits, bool flush) { return Sum(o, d, bits, flush); }},
    // RDNA3's and CDNA's minimum and maximum have a chapter of rules, RDNA4's are those of numbers.
    {" MIN_F32 ", 4, 1, 'n',
     [](U o, U d, U, int bits, bool flush) { return Selected(o, d, bits, flush, false); }},
    {" MAX_F32 ", 4, 1, 'n',
     [](U o, U d, U, int bits, bool flush) { return Selected(o, d, bits, flush, true); }},
    {" MIN_NUM_F32 MIN_FLT ", 4, 1, 'n',
     [](U o, U d, U, int bits, bool flush) { return MinimumNumber(o, d, bits, flush, false); }},
    {" MAX_NUM_F32 MAX_FLT ", 4, 1, 'n',
     [](U o, U d, U, int bits, bool flush) { return MinimumNumber(o, d, bits, flush, true); }},
    {" CMPSWAP_F32 CMPSTORE_F32 ", 4, 2, 'n',
     [](U o, U d, U c, int bits, bool flush) { return Compared(o, c, d, bits, flush); }},
    {" CMPST_F32 ", 4, 2, 'n',
     [](U o, U d, U c, int bits, bool flush) { return Compared(o, d, c, bits, flush); }},
    {" MIN_F64 ", 8, 1, 'n',
     [](U o, U d, U, int bits, bool flush) { return Selected(o, d, bits, flush, false); }},
    {" MAX_F64 ", 8, 1, 'n',
     [](U o, U d, U, int bits, bool flush) { return Selected(o, d, bits, flush, true); }},
    {" MIN_NUM_F64 ", 8, 1, 'n',
     [](U o, U d, U, int bits, bool flush) { return MinimumNumber(o, d, bits, flush, false); }},
    {" MAX_NUM_F64 ", 8, 1, 'n',
     [](U o, U d, U, int bits, bool flush) { return MinimumNumber(o, d, bits, flush, true); }},
    {" CMPSTORE_F64 ", 8, 2, 'n',
     [](U o, U d, U c, int bits, bool flush) { return Compared(o, c, d, bits, flush); }},
    {" CMPST_F64 ", 8, 2, 'n',
     [](U o, U d, U c, int bits, bool flush) { return Compared(o, d, c, bits, flush); }},
    {" PK_ADD_F16 ", 4, 1, 'h', [](U o, U d, U, int, bool) { return PackedSum(formats::kF16, o, d); }},
    {" PK_ADD_BF16 ", 4, 1, 'b', [](U o, U d, U, int, bool) { return PackedSum(formats::kBf16, o, d); }},
};

}  // namespace

const AtomicFormula* FindAtomicFormula(const std::string& name) {
  const std::string wanted = " " + name + " ";
  for (const AtomicFormula& formula : kFormulas) {
    if (std::strstr(formula.names, wanted.c_str()) != nullptr) return &formula;
  }
  return nullptr;
}

uint64_t AtomicValue(const AtomicFormula& formula, int bits, uint32_t k) {
  constexpr uint64_t kIntegers[] = {
      0,          1,          2,          5,          0x7fffffff,         0x80000000,         0xffffffff,
      0xfffffffe, 0x80000001, 0x12345678, 0xc0490fdb, 0x7fffffffffffffff, 0x8000000000000000, ~uint64_t{0},
      100,        0x100000000};
  constexpr double kReals[] = {0.0, -0.0, 1.0, -1.0, 1.5, -2.25, 3.375, 1e-3, -1e10, 3e38, -3e38, 0.1};
  const uint64_t mask = bits == 32 ? 0xffffffff : ~uint64_t{0};
  const auto encode = [&](double v) -> uint64_t {
    return bits == 32 ? std::bit_cast<uint32_t>(static_cast<float>(v)) : std::bit_cast<uint64_t>(v);
  };
  switch (formula.values) {
    case 'a':
    case 'n': {
      k %= 22;
      if (k < 12) return encode(kReals[k]);
      const double infinity = std::numeric_limits<double>::infinity();
      if (k < 14) return encode(k == 12 ? infinity : -infinity);
      // Quiet and signalling NaNs of both signs.
      const uint64_t nan = encode(infinity) | (k % 2 == 0 ? uint64_t{1} << (bits == 32 ? 22 : 51) : 0) | k;
      if (k < 18) return nan | (k >= 16 ? uint64_t{1} << (bits - 1) : 0);
      // Denormals, of both signs.
      const uint64_t denormal = k % 2 == 0 ? 0x00123456 : 0x00400000;
      return denormal | (k >= 20 ? uint64_t{1} << (bits - 1) : 0);
    }
    case 'h':
    case 'b': {
      const FloatFormat& format = formula.values == 'h' ? formats::kF16 : formats::kBf16;
      const auto half = [&](uint32_t i) {
        return EncodeFloat(format, (static_cast<int>(i % 23) - 9) * 0.40625);
      };
      return half(k) | half(3 * k + 5) << 16;
    }
    default:
      return kIntegers[k % 16] & mask;
  }
}

bool IsDefined(const AtomicFormula& formula, int bits, bool flush, uint64_t old, uint64_t data,
               uint64_t data2) {
  if (formula.values != 'a' && formula.values != 'n') return true;
  if (formula.operands == 2) {
    // Whether a value that stays in memory is flushed, too.
    return !flush || (Flushed(old, bits, true) == old && Flushed(data, bits, true) == data &&
                      Flushed(data2, bits, true) == data2);
  }
  // Which of two operands is "src0".
  if (Nan(old, bits) && Nan(data, bits))
    return std::strstr(formula.names, "_NUM_") != nullptr ||
           (formula.values == 'n' && SignallingNan(old, bits) != SignallingNan(data, bits));
  // The sign of the NaN that two infinities give.
  return formula.values == 'n' || !std::isinf(Real(old, bits)) || !std::isinf(Real(data, bits)) ||
         old == data;
}

}  // namespace understudy::emu::amd
