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
// Of f32 too: the sum of two floats in double precision, rounded once more, is the correctly rounded sum.
U Sum(U a, U b, int bits) {
  const double sum = Real(a, bits) + Real(b, bits);
  return bits == 32 ? std::bit_cast<uint32_t>(static_cast<float>(sum)) : std::bit_cast<U>(sum);
}
// IEEE 754-2019 minimumNumber: -0 below +0, a number rather than a NaN, of two NaNs the data's made quiet.
U MinimumNumber(U old, U data, int bits, bool maximum) {
  const double a = Real(data, bits), b = Real(old, bits);
  if (std::isnan(a)) return std::isnan(b) ? Quieted(data, bits) : old;
  if (std::isnan(b)) return data;
  if (a == b) return Negative(data, bits) != maximum ? data : old;
  return (a < b) != maximum ? data : old;
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
     [](U, U d, U, int) { return d; }},
    // The value to store comes first, the one to compare with second; in CDNA's LDS the other way round.
    {" CMPSWAP CMPSWAP_B32 CMPSWAP_X2 CMPSWAP_B64 CMPSTORE_B32 CMPSTORE_B64 ", 0, 2, 'i',
     [](U o, U d, U c, int) { return o == c ? d : o; }},
    {" CMPST_B32 CMPST_B64 ", 0, 2, 'i', [](U o, U c, U d, int) { return o == c ? d : o; }},
    {" ADD ADD_U32 ADD_X2 ADD_U64 ADD_UINT ", 0, 1, 'i', [](U o, U d, U, int) { return o + d; }},
    {" SUB SUB_U32 SUB_X2 SUB_U64 SUB_UINT ", 0, 1, 'i', [](U o, U d, U, int) { return o - d; }},
    {" RSUB_U32 RSUB_U64 ", 0, 1, 'i', [](U o, U d, U, int) { return d - o; }},
    {" CSUB_U32 SUB_CLAMP_U32 ", 4, 1, 'i', [](U o, U d, U, int) { return o < d ? 0 : o - d; }},
    {" COND_SUB_U32 ", 4, 1, 'i', [](U o, U d, U, int) { return o < d ? o : o - d; }},
    {" SMIN SMIN_X2 MIN_I32 MIN_I64 MIN_INT ", 0, 1, 'i',
     [](U o, U d, U, int bits) { return Signed(d, bits) < Signed(o, bits) ? d : o; }},
    {" SMAX SMAX_X2 MAX_I32 MAX_I64 MAX_INT ", 0, 1, 'i',
     [](U o, U d, U, int bits) { return Signed(d, bits) > Signed(o, bits) ? d : o; }},
    {" UMIN UMIN_X2 MIN_U32 MIN_U64 MIN_UINT ", 0, 1, 'i', [](U o, U d, U, int) { return d < o ? d : o; }},
    {" UMAX UMAX_X2 MAX_U32 MAX_U64 MAX_UINT ", 0, 1, 'i', [](U o, U d, U, int) { return d > o ? d : o; }},
    {" AND AND_X2 AND_B32 AND_B64 ", 0, 1, 'i', [](U o, U d, U, int) { return o & d; }},
    {" OR OR_X2 OR_B32 OR_B64 ", 0, 1, 'i', [](U o, U d, U, int) { return o | d; }},
    {" XOR XOR_X2 XOR_B32 XOR_B64 ", 0, 1, 'i', [](U o, U d, U, int) { return o ^ d; }},
    {" INC INC_U32 INC_X2 INC_U64 INC_UINT ", 0, 1, 'i', [](U o, U d, U, int) { return o >= d ? 0 : o + 1; }},
    {" DEC DEC_U32 DEC_X2 DEC_U64 DEC_UINT ", 0, 1, 'i',
     [](U o, U d, U, int) { return o == 0 || o > d ? d : o - 1; }},
    {" MSKOR_B32 MSKOR_B64 ", 0, 2, 'i', [](U o, U d, U e, int) { return (o & ~d) | e; }},
    {" WRAP_B32 ", 4, 2, 'i', [](U o, U d, U e, int) { return o >= d ? o - d : o + e; }},
    {" ADD_F32 ADD_FLT ", 4, 1, 'a', [](U o, U d, U, int bits) { return Sum(o, d, bits); }},
    {" ADD_F64 ", 8, 1, 'a', [](U o, U d, U, int bits) { return Sum(o, d, bits); }},
    // Comparisons as the manuals write them: false with a NaN, so that memory keeps its value.
    {" MIN_F32 ", 4, 1, 'n', [](U o, U d, U, int bits) { return Real(d, bits) < Real(o, bits) ? d : o; }},
    {" MIN_F64 ", 8, 1, 'n', [](U o, U d, U, int bits) { return Real(d, bits) < Real(o, bits) ? d : o; }},
    {" MAX_F32 ", 4, 1, 'n', [](U o, U d, U, int bits) { return Real(d, bits) > Real(o, bits) ? d : o; }},
    {" MAX_F64 ", 8, 1, 'n', [](U o, U d, U, int bits) { return Real(d, bits) > Real(o, bits) ? d : o; }},
    {" MIN_NUM_F32 MIN_FLT ", 4, 1, 'n',
     [](U o, U d, U, int bits) { return MinimumNumber(o, d, bits, false); }},
    {" MIN_NUM_F64 ", 8, 1, 'n', [](U o, U d, U, int bits) { return MinimumNumber(o, d, bits, false); }},
    {" MAX_NUM_F32 MAX_FLT ", 4, 1, 'n',
     [](U o, U d, U, int bits) { return MinimumNumber(o, d, bits, true); }},
    {" MAX_NUM_F64 ", 8, 1, 'n', [](U o, U d, U, int bits) { return MinimumNumber(o, d, bits, true); }},
    {" CMPSWAP_F32 CMPSTORE_F32 ", 4, 2, 'n',
     [](U o, U d, U c, int bits) { return Real(o, bits) == Real(c, bits) ? d : o; }},
    {" CMPSTORE_F64 ", 8, 2, 'n',
     [](U o, U d, U c, int bits) { return Real(o, bits) == Real(c, bits) ? d : o; }},
    {" CMPST_F32 ", 4, 2, 'n',
     [](U o, U c, U d, int bits) { return Real(o, bits) == Real(c, bits) ? d : o; }},
    {" CMPST_F64 ", 8, 2, 'n',
     [](U o, U c, U d, int bits) { return Real(o, bits) == Real(c, bits) ? d : o; }},
    {" PK_ADD_F16 ", 4, 1, 'h', [](U o, U d, U, int) { return PackedSum(formats::kF16, o, d); }},
    {" PK_ADD_BF16 ", 4, 1, 'b', [](U o, U d, U, int) { return PackedSum(formats::kBf16, o, d); }},
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
      return encode(kReals[k % 12]);
    case 'n': {
      k %= 18;
      if (k < 12) return encode(kReals[k]);
      const double infinity = std::numeric_limits<double>::infinity();
      if (k < 14) return encode(k == 12 ? infinity : -infinity);
      // Quiet and signalling NaNs of both signs.
      const uint64_t nan = encode(infinity) | (k % 2 == 0 ? uint64_t{1} << (bits == 32 ? 22 : 51) : 0) | k;
      return nan | (k >= 16 ? uint64_t{1} << (bits - 1) : 0);
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

}  // namespace understudy::emu::amd
