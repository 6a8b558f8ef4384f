// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/payne_hanek.h"

#include <algorithm>
#include <vector>

#include "src/codegen/math_builder.h"

namespace understudy {
namespace {

using namespace math;       // NOLINT
using namespace uop::expr;  // NOLINT
using uop::Where;

// The first 1216 bits of 2/pi after the point.
constexpr uint64_t kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// Words `index`..`index`+3 of `table`, chosen bit by bit of the index from the top: fewer selects than one
// chain a word, because the candidates halve at each step.
std::vector<UOpRef> FourWords(std::vector<UOpRef> table, const UOpRef& index, int top_bit) {
  for (int bit = top_bit; bit >= 0; --bit) {
    const size_t step = size_t{1} << bit;
    const UOpRef set = uop::CmpNe(index & int64_t(step), uop::ConstLike(index, 0));
    const size_t keep = std::min(table.size(), step - 1 + 4);
    std::vector<UOpRef> chosen(keep);
    for (size_t i = 0; i < keep; ++i)
      chosen[i] = i + step < table.size() ? Where(set, table[i + step], table[i]) : table[i];
    table = std::move(chosen);
  }
  table.resize(4);
  return table;
}

// The upper 64 bits of a 64x64-bit product.
UOpRef MulHigh(const UOpRef& a, const UOpRef& b) {
  const UOpRef a0 = a & int64_t{0xffffffff}, a1 = a >> 32, b0 = b & int64_t{0xffffffff}, b1 = b >> 32;
  const UOpRef low = a0 * b0, mid = a1 * b0 + (low >> 32);
  const UOpRef mid2 = a0 * b1 + (mid & int64_t{0xffffffff});
  return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}

}  // namespace

// |x| = m 2^k with m of 24 bits. In m 2^k (2/pi) the bits of 2/pi of weight 2^-j with k - j >= 2 give
// multiples of 4, that is whole turns. So the window starts at j = k - 1; 96 bits of it leave 62 bits behind
// the quadrant, and no f32 comes closer to a multiple of pi/2 than about 2^-30 of a quadrant.
ReducedAngle PayneHanekF32(const UOpRef& ax) {
  const DType u64 = dtypes::kUInt64;
  const UOpRef bits = To(Bits(ax, dtypes::kUInt32), u64);
  const UOpRef m = (bits & 0x7fffff) | 0x800000;
  // 32 zero bits stand before the point; bit j of 2/pi is bit 31 + j of the table.
  const UOpRef start = (bits >> 23) + uop::ConstLike(bits, ConstValue(int64_t{30 - 127 - 23}));
  std::vector<UOpRef> table{uop::ConstLike(m, 0)};
  for (int i = 0; i < 7; ++i)
    table.push_back(C(m, u64, static_cast<int64_t>(kTwoOverPi[i / 2] >> (i % 2 ? 0 : 32) & 0xffffffff)));
  const std::vector<UOpRef> t = FourWords(std::move(table), (start >> 5) & 7, 2);
  const UOpRef shift = start & 31;
  const auto word = [&](int i) { return (((t[i] << 32) | t[i + 1]) << shift) >> 32; };
  const UOpRef product = ((m * word(0)) << 32) + m * word(1) + ((m * word(2)) >> 32);
  const UOpRef quadrant = (product + (int64_t{1} << 61)) >> 62;
  const UOpRef fraction = To(product - (quadrant << 62), dtypes::kInt64);
  const UOpRef r = To(fraction, dtypes::kFloat64) * 0x1.921fb54442d18p-62;
  const UOpRef hi = To(r, dtypes::kFloat32);
  return {To(quadrant, dtypes::kInt32), hi, To(r - To(hi, dtypes::kFloat64), dtypes::kFloat32)};
}

// As above with a 53-bit mantissa, a 192-bit window and the upper 128 bits of the product: no f64 comes
// closer to a multiple of pi/2 than about 2^-62 of a quadrant, which leaves 64 significant bits.
ReducedAngle PayneHanekF64(const UOpRef& ax) {
  const DType u64 = dtypes::kUInt64, f64 = dtypes::kFloat64;
  const UOpRef bits = Bits(ax, u64);
  const UOpRef m = (bits & ((int64_t{1} << 52) - 1)) | (int64_t{1} << 52);
  const UOpRef start = (bits >> 52) + uop::ConstLike(bits, ConstValue(int64_t{62 - 1023 - 52}));
  std::vector<UOpRef> table{uop::ConstLike(m, 0)};
  for (const uint64_t w : kTwoOverPi) table.push_back(C(m, u64, static_cast<int64_t>(w)));
  const std::vector<UOpRef> t = FourWords(std::move(table), (start >> 6) & 31, 4);
  const UOpRef shift = start & 63;
  const auto word = [&](int i) { return (t[i] << shift) | ((t[i + 1] >> 1) >> (shift ^ 63)); };
  const UOpRef w0 = word(0), w1 = word(1), w2 = word(2);
  const UOpRef low1 = m * w1, low = low1 + MulHigh(m, w2);
  const UOpRef carry = To(low < low1, u64);
  const UOpRef high = m * w0 + MulHigh(m, w1) + carry;
  const UOpRef quadrant = (high + (int64_t{1} << 61)) >> 62;
  const UOpRef fraction = To(high - (quadrant << 62), dtypes::kInt64);
  // The 128-bit fraction as four exact doubles of 32 bits each (the top one signed), summed with their
  // errors.
  const auto part = [&](const UOpRef& v, double weight) { return To(v, f64) * weight; };
  const UOpRef a = part(fraction >> 32, 0x1p-30), b = part(fraction & int64_t{0xffffffff}, 0x1p-62);
  const UOpRef c = part(low >> 32, 0x1p-94), d = part(low & int64_t{0xffffffff}, 0x1p-126);
  const Pair ab = TwoSum(a, b), abc = TwoSum(ab.hi, c);
  const Pair turn = TwoSum(abc.hi, (ab.lo + abc.lo) + d);
  const Pair product = TwoProduct(turn.hi, C(ax, f64, 0x1.921fb54442d18p+0));
  const UOpRef rest = Fma(turn.lo, C(ax, f64, 0x1.921fb54442d18p+0),
                          Fma(turn.hi, C(ax, f64, 0x1.1a62633145c07p-54), product.lo));
  const Pair r = FastTwoSum(product.hi, rest);
  return {To(quadrant, dtypes::kInt64), r.hi, r.lo};
}

}  // namespace understudy
