// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers as graphs. Everything is made of operations that round one way only (integers,
// comparisons, float +, *, / and square root), so that every device gives the same bits; the logarithm and
// the cosine of the normal distribution are therefore series here and not LOG2 and SIN.
#include "src/tensor/random.h"

#include <cmath>
#include <numbers>

#include "src/base/status.h"
#include "src/tensor/internal.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::CheckCreate;
using tensor_internal::Product;

namespace {

constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
constexpr uint32_t kParity = 0x1BD11BDA;

Tensor Const(const Tensor& like, double v) {
  return Tensor(tensor_internal::Constant(like.dtype(), v, like.shape()), like.device());
}

}  // namespace

std::array<uint32_t, 2> Threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter) {
  const uint32_t ks[3] = {key[0], key[1], kParity ^ key[0] ^ key[1]};
  uint32_t x0 = counter[0] + ks[0], x1 = counter[1] + ks[1];
  for (uint32_t round = 0; round < 20; ++round) {
    const int r = kRotations[round % 8];
    x0 += x1;
    x1 = (x1 << r | x1 >> (32 - r)) ^ x0;
    if (round % 4 == 3) {
      const uint32_t injection = round / 4 + 1;
      x0 += ks[injection % 3];
      x1 += ks[(injection + 1) % 3] + injection;
    }
  }
  return {x0, x1};
}

double RandomUnit(uint64_t seed, uint64_t counter) {
  const auto bits = Threefry2x32({static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
                                 {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)});
  return static_cast<double>(bits[0] >> 8) * 0x1p-24;
}

std::array<Tensor, 2> Threefry2x32(const std::array<Tensor, 2>& key, const std::array<Tensor, 2>& counter) {
  for (const Tensor* t : {&key[0], &key[1], &counter[0], &counter[1]}) {
    if (!t->ok()) return {*t, *t};
    if (t->dtype() != dtypes::kUInt32) {
      const Tensor bad(Bad("Threefry2x32", "dtype ", t->dtype().Name(), ", expected u32"));
      return {bad, bad};
    }
  }
  const Tensor ks[3] = {key[0], key[1], key[0].BitXor(key[1]).BitXor(kParity)};
  Tensor x0 = counter[0] + ks[0], x1 = counter[1] + ks[1];
  for (int round = 0; round < 20; ++round) {
    const int r = kRotations[round % 8];
    x0 = x0 + x1;
    x1 = x1.Shl(r).BitOr(x1.Shr(32 - r)).BitXor(x0);
    if (round % 4 == 3) {
      const int injection = round / 4 + 1;
      x0 = x0 + ks[injection % 3];
      x1 = x1 + (ks[(injection + 1) % 3] + injection);
    }
  }
  return {x0, x1};
}

namespace tensor_internal {

std::array<Tensor, 2> RandomBits(const Shape& shape, uint64_t seed, uint64_t counter, uint64_t stride,
                                 const std::string& device) {
  // The seed and the counter are contents, not structure: every draw of a shape is the same kernel.
  return RandomBits(shape, Tensor::FromData<uint64_t>({seed, counter}, {2}, device), stride);
}

std::array<Tensor, 2> RandomBits(const Shape& shape, const Tensor& state, uint64_t stride) {
  if (!state.ok()) return {state, state};
  const auto at = [&](int64_t i) {
    return state.Shrink({{i, i + 1}}).Reshape(Shape(shape.size(), 1)).Expand(shape);
  };
  const auto low = [](const Tensor& t) { return t.Cast(dtypes::kUInt32); };
  const auto high = [](const Tensor& t) { return t.Shr(32).Cast(dtypes::kUInt32); };
  const Tensor position =
      Tensor(uop::Reshape(uop::Iota(dtypes::kUInt64, Product(shape)), shape), state.device()) *
      static_cast<int64_t>(stride);
  const Tensor key = at(0), place = at(1) + position;
  return Threefry2x32({low(key), high(key)}, {low(place), high(place)});
}

Tensor UnitFromBits(const Tensor& bits) { return bits.Shr(8).Cast(dtypes::kFloat32) * 0x1p-24; }

Tensor UnitFromBits64(const Tensor& high, const Tensor& low) {
  // 53 bits, each part exact.
  return high.Cast(dtypes::kFloat64) * 0x1p-32 + low.Shr(11).Cast(dtypes::kFloat64) * 0x1p-53;
}

Tensor ExactLog(const Tensor& x) {
  if (!x.ok()) return x;
  const bool wide = x.dtype() == dtypes::kFloat64;
  const DType bits_type = wide ? dtypes::kInt64 : dtypes::kInt32;
  const int mantissa = wide ? 52 : 23;
  const int64_t root_half = wide ? 0x3FE6A09E667F3BCD : 0x3F3504F3;  // sqrt(1/2)
  const Tensor bits = x.Bitcast(bits_type);
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh(s), s = (m - 1) / (m + 1).
  const Tensor e = (bits - root_half).Shr(mantissa);
  const Tensor m = (bits - e.Shl(mantissa)).Bitcast(x.dtype());
  const Tensor s = (m - 1.0) / (m + 1.0), s2 = s * s;
  Tensor series = Const(x, 0);
  for (int k = wide ? 23 : 9; k >= 1; k -= 2) series = series * s2 + 2.0 / k;
  // ln 2 in two parts, the first short enough for its product with e to be exact.
  const double ln2_high = wide ? 0x1.62e42fee00000p-1 : 0x1.63p-1, ln2_low = std::numbers::ln2 - ln2_high;
  const Tensor scale = e.Cast(x.dtype());
  return scale * ln2_high + (s * series + scale * ln2_low);
}

namespace {

// sin(a), cos(a) for |a| <= pi/4.
Tensor SinSeries(const Tensor& a, int terms) {
  const Tensor a2 = a * a;
  Tensor t = Const(a, 0);
  for (int k = terms; k >= 0; --k) t = t * a2 + (k % 2 == 0 ? 1.0 : -1.0) / std::tgamma(2.0 * k + 2);
  return t * a;
}
Tensor CosSeries(const Tensor& a, int terms) {
  const Tensor a2 = a * a;
  Tensor t = Const(a, 0);
  for (int k = terms; k >= 0; --k) t = t * a2 + (k % 2 == 0 ? 1.0 : -1.0) / std::tgamma(2.0 * k + 1);
  return t;
}

}  // namespace

Tensor ExactCosTurns(const Tensor& turns) {
  if (!turns.ok()) return turns;
  const int terms = turns.dtype() == dtypes::kFloat64 ? 9 : 5;
  const Tensor quarters = turns * 4.0, k = (quarters + 0.5).Trunc();
  const Tensor a = (quarters - k) * (std::numbers::pi / 2), quadrant = k.Cast(dtypes::kInt32).BitAnd(3);
  const Tensor s = SinSeries(a, terms), c = CosSeries(a, terms);
  // cos(k pi/2 + a)
  const Tensor v = Where(quadrant.BitAnd(1).Eq(1), s, c);
  return Where(quadrant.Eq(1).BitOr(quadrant.Eq(2)), -v, v);
}

Tensor BoxMuller(const Tensor& u, const Tensor& w) {
  // 1 - u keeps the logarithm's argument above zero.
  return (ExactLog(1.0 - u) * -2.0).Sqrt() * ExactCosTurns(w);
}

}  // namespace tensor_internal

namespace {

absl::Status CheckRandom(const char* op, const Shape& shape, DType dtype) {
  US_RETURN_IF_ERROR(CheckCreate(op, shape, dtype));
  if (!dtype.IsFloat()) return Bad(op, "dtype ", dtype.Name(), ", expected a float");
  return absl::OkStatus();
}

}  // namespace

Tensor Tensor::Uniform(Shape shape, uint64_t seed, double low, double high, const TensorOptions& options) {
  if (absl::Status s = CheckRandom("Uniform", shape, options.dtype); !s.ok()) return Tensor(s);
  const Tensor u =
      tensor_internal::UnitFromBits(tensor_internal::RandomBits(shape, seed, 0, 1, options.device)[0]);
  if (low == 0 && high == 1) return u.Cast(options.dtype);
  return (u.Cast(dtypes::kFloat64) * (high - low) + low).Cast(options.dtype);
}

Tensor Tensor::Normal(Shape shape, uint64_t seed, double mean, double stddev, const TensorOptions& options) {
  if (absl::Status s = CheckRandom("Normal", shape, options.dtype); !s.ok()) return Tensor(s);
  const DType t = tensor_internal::ComputeType(options.dtype);
  const auto unit = [&](uint64_t first) {
    return tensor_internal::UnitFromBits(
               tensor_internal::RandomBits(shape, seed, first, 2, options.device)[0])
        .Cast(t);
  };
  Tensor z = tensor_internal::BoxMuller(unit(0), unit(1));
  if (stddev != 1) z = z * stddev;
  if (mean != 0) z = z + mean;
  return z.Cast(options.dtype);
}

}  // namespace understudy
