// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/matrix_scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kInf = 0x7f800000, kQuiet = 0x00400000, kSign = 0x80000000;
// What RDNA's dot products answer for a NaN among the factors, and for infinity times zero or minus infinity.
constexpr uint32_t kFactorNan = 0xffc00a3d, kInvalidNan = 0xffc00000;
constexpr int kNone = -100000;  // exponent of nothing

struct Product {
  int64_t magnitude;  // units of 2^(exponent - 24)
  int exponent;       // sum of the factors' exponents
  bool negative;
  float a, b;
};

Product ProductOf(const MatrixProduct& p, int row, int col, int k) {
  const int a = k * p.a_stride + row;
  const int b = (p.select == nullptr ? k : p.select[row * p.k + k]) * p.b_stride + col;
  Product r = {0, 0, false, p.a_value[a], p.b_value[b]};
  r.negative = std::signbit(r.a) != std::signbit(r.b);
  if (std::isfinite(r.a) && std::isfinite(r.b)) {
    r.magnitude = static_cast<int64_t>(std::fabs(p.a[a])) * static_cast<int64_t>(std::fabs(p.b[b]));
  }
  r.exponent = r.magnitude == 0 ? kNone : p.a_exponent[a] + p.b_exponent[b];
  return r;
}

int Bits(int64_t magnitude) { return std::bit_width(static_cast<uint64_t>(magnitude)); }

// magnitude * 2^from as a multiple of 2^to, rounded down; *tail: bits were dropped.
int64_t Aligned(int64_t magnitude, int from, int to, bool* tail = nullptr) {
  if (tail != nullptr) *tail = false;
  if (magnitude == 0) return 0;
  if (from >= to) return magnitude << (from - to);
  const int down = to - from;
  if (down >= 63) {
    if (tail != nullptr) *tail = true;
    return 0;
  }
  if (tail != nullptr) *tail = (magnitude & ((int64_t{1} << down) - 1)) != 0;
  return magnitude >> down;
}
int64_t AlignedDown(int64_t signed_value, int from, int to) {
  bool tail;
  const int64_t magnitude = Aligned(std::abs(signed_value), from, to, &tail);
  return signed_value < 0 ? -magnitude - (tail ? 1 : 0) : magnitude;
}

int64_t ShiftNearestEven(int64_t magnitude, int down) {
  if (down <= 0) return magnitude << -down;
  if (down >= 63) return 0;
  const int64_t rest = magnitude & ((int64_t{1} << down) - 1), half = int64_t{1} << (down - 1);
  const int64_t kept = magnitude >> down;
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

// magnitude * 2^grid rounded to nearest even in a format of f32's bits whose least exponent and fraction are
// given. Zero results are +0.
uint32_t RoundToFloat(int64_t magnitude, int grid, bool negative, int fraction, int least, int most,
                      bool flush, bool saturate) {
  if (magnitude == 0) return 0;
  const uint32_t sign = negative ? kSign : 0;
  int exponent = Bits(magnitude) - 1 + grid;
  if (exponent < least && !flush) {
    const int64_t units = ShiftNearestEven(magnitude, least - fraction - grid);
    return units == 0
               ? 0
               : std::bit_cast<uint32_t>(std::ldexp(static_cast<float>(units), least - fraction)) | sign;
  }
  int64_t significand = ShiftNearestEven(magnitude, exponent - fraction - grid);
  if (significand >> (fraction + 1) != 0) {
    significand >>= 1;
    ++exponent;
  }
  if (exponent < least) return 0;
  if (exponent > most) {
    if (!saturate) return kInf | sign;
    significand = (int64_t{2} << fraction) - 1;
    exponent = most;
  }
  return std::bit_cast<uint32_t>(std::ldexp(static_cast<float>(significand), exponent - fraction)) | sign;
}

uint32_t RoundSum(const MatrixProduct& p, int64_t sum, int grid, bool frame_negative, bool flush) {
  const int64_t magnitude = std::abs(sum);
  const bool negative = (sum < 0) != frame_negative;
  if (p.d == MatrixType::kF16) {
    return RoundToFloat(magnitude, grid, negative, 10, -14, 15, false, p.fp16_ovfl);
  }
  const uint32_t bits = RoundToFloat(magnitude, grid, negative, 23, -126, 127, flush, false);
  return p.d == MatrixType::kBf16 ? bits & 0xffff0000u : bits;
}

// A NaN or infinity as the accumulator's type keeps it.
uint32_t KeepSpecial(const MatrixProduct& p, uint32_t bits) {
  if (p.d == MatrixType::kF16) return bits == kFactorNan ? WidenHalf(0xfe3d) : WidenHalf(NarrowHalf(bits));
  if (p.d == MatrixType::kBf16) return bits == kFactorNan ? 0xfffd0000u : bits & 0xffff0000u;
  return bits;
}

// RDNA: true where an infinity or a NaN decides the result of a step.
bool SpecialStep(const MatrixProduct& p, const Product* products, int n, uint32_t c, uint32_t invalid_nan,
                 uint32_t* result) {
  bool factor_nan = false, invalid = false, up = false, down = false;
  for (int i = 0; i < n; ++i) {
    const Product& x = products[i];
    factor_nan |= std::isnan(x.a) || std::isnan(x.b);
    const bool infinite = std::isinf(x.a) || std::isinf(x.b);
    invalid |= infinite && (x.a == 0 || x.b == 0);
    (x.negative ? down : up) |= infinite;
  }
  // NaN factors first, then invalid products, then C.
  if (factor_nan) {
    *result = KeepSpecial(p, kFactorNan);
  } else if (invalid || (up && down)) {
    *result = KeepSpecial(p, invalid_nan);
  } else if ((c & ~kSign) > kInf) {
    *result = KeepSpecial(p, c | kQuiet);
  } else {
    up |= c == kInf;
    down |= c == (kInf | kSign);
    if (!up && !down) return false;
    *result = KeepSpecial(p, up && down ? invalid_nan : down ? kInf | kSign : kInf);
  }
  return true;
}

uint32_t Dot2Step(const MatrixProduct& p, const Product (&x)[2], uint32_t c) {
  uint32_t special;
  if (SpecialStep(p, x, 2, c, kInvalidNan, &special)) return special;
  const bool frame = (c & kSign) != 0;
  const int field = static_cast<int>(c >> 23) & 255;
  const int64_t c_magnitude = field == 0 ? 0 : (c & 0x7fffff) | 0x800000;
  const int c_unit = field - 127 - 23;
  if (c_magnitude == 0 && x[0].magnitude == 0 && x[1].magnitude == 0) return 0;
  int lead = c_magnitude == 0 ? kNone : c_unit + 23;
  if (p.d == MatrixType::kF16) lead = std::max(lead, -14);
  for (const Product& y : x) {
    if (y.magnitude != 0) lead = std::max(lead, Bits(y.magnitude) - 1 + y.exponent - 24);
  }
  const int grid = std::max(std::max(x[0].exponent, x[1].exponent) - 24, lead - 26);
  int64_t sum = Aligned(c_magnitude, c_unit, grid);
  for (const Product& y : x) {
    const int64_t magnitude = Aligned(y.magnitude, y.exponent - 24, grid);
    sum += y.negative != frame ? -magnitude - 1 : magnitude;
  }
  return RoundSum(p, sum, grid, frame, true);
}

uint32_t Dot4Step(const MatrixProduct& p, const Product (&x)[4], uint32_t c) {
  const bool bytes = p.group == 4;
  uint32_t special;
  if (SpecialStep(p, x, 4, c, bytes ? kFactorNan : kInvalidNan, &special)) return special;
  const int field = static_cast<int>(c >> 23) & 255;
  const int64_t c_magnitude = field == 0 ? c & 0x7fffff : (c & 0x7fffff) | 0x800000;
  const int c_unit = std::max(field, 1) - 127 - 23;
  const int floor = p.d == MatrixType::kF16 ? -14 : -126;
  int top = kNone;
  for (const Product& y : x) top = std::max(top, y.exponent);
  const int lead = c_magnitude == 0 ? kNone : c_unit + Bits(c_magnitude) - 1;
  const int grid = std::max(top - 24, std::max(floor, lead) - 26);
  bool tail;
  int64_t total = Aligned(c_magnitude, c_unit, grid, &tail);
  if ((c & kSign) != 0) total = -total - (tail && (grid <= floor || total != 0) ? 1 : 0);
  for (int first = 0; first < 4; first += p.group) {
    int group_top = kNone;
    for (int i = first; i < first + p.group; ++i) group_top = std::max(group_top, x[i].exponent);
    int64_t group = 0;
    for (int i = first; i < first + p.group; ++i) {
      group +=
          AlignedDown(x[i].negative ? -x[i].magnitude : x[i].magnitude, x[i].exponent - 24, group_top - 24);
    }
    total += AlignedDown(group, group_top - 24, grid);
  }
  return RoundSum(p, total, grid, false, false);
}

// CDNA3. `halves`: even and odd products are summed apart first.
uint32_t FusedStep(const Product* x, int n, uint32_t c, bool halves) {
  const float c_value = std::bit_cast<float>(c);
  double plain = c_value;
  bool up = false, down = false;
  for (int i = 0; i < n; ++i) {
    const double product = static_cast<double>(x[i].a) * x[i].b;
    plain += product;
    if (std::fabs(product) >= 0x1p128) (product > 0 ? up : down) = true;
  }
  if (std::isnan(plain) || (std::isfinite(plain) && up && down)) return 0x7fc00000;
  if (std::isinf(plain)) return std::bit_cast<uint32_t>(static_cast<float>(plain));
  if (up || down) return up ? kInf : kInf | kSign;

  const auto truncated = [&](int first, int step, int* top) {
    *top = kNone;
    for (int i = first; i < n; i += step) *top = std::max(*top, x[i].exponent);
    int64_t sum = 0;
    for (int i = first; i < n; i += step) {
      const int64_t magnitude = Aligned(x[i].magnitude, x[i].exponent, *top);
      sum += x[i].negative ? -magnitude : magnitude;
    }
    return sum;
  };
  int top;
  int64_t sum;  // units of 2^(top - 24)
  if (halves) {
    int tops[2];
    const int64_t even = truncated(0, 2, &tops[0]), odd = truncated(1, 2, &tops[1]);
    top = std::max(tops[0], tops[1]);
    sum = AlignedDown(even, tops[0], top) + AlignedDown(odd, tops[1], top);
  } else {
    sum = truncated(0, 1, &top);
  }
  const int field = static_cast<int>(c >> 23) & 255;
  const int c_exponent = std::max(field, 1) - 127;
  const int64_t magnitude = field == 0 ? c & 0x7fffff : (c & 0x7fffff) | 0x800000;
  const int64_t signed_c = (c & kSign) != 0 ? -magnitude : magnitude;
  const int larger = std::max(top, c_exponent);
  int64_t total = AlignedDown(sum, top - 24, larger - 31);
  if (!halves || c_exponent >= larger - 25) {
    total += AlignedDown(signed_c, c_exponent - 23, larger - 24) * 128;
  }
  return RoundToFloat(std::abs(total), larger - 31, total < 0, 23, -126, 127, false, false);
}

template <int kCount, class Step>
void EachStep(const MatrixProduct& p, int row, int col, int n, Step step) {
  for (int i = col; i < col + n; ++i) {
    uint32_t& cd = p.cd[row * p.cols + i];
    for (int k = 0; k < p.k; k += kCount) {
      Product x[kCount];
      const int count = std::min(kCount, p.k - k);
      for (int j = 0; j < count; ++j) x[j] = ProductOf(p, row, i, k + j);
      cd = step(x, count, cd);
    }
  }
}

}  // namespace

uint32_t WidenHalf(uint32_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, exponent = (half >> 10) & 31, fraction = half & 0x3ff;
  if (exponent == 31) return sign | kInf | fraction << 13;
  if (exponent != 0) return sign | (exponent + 112) << 23 | fraction << 13;
  return sign | std::bit_cast<uint32_t>(std::ldexp(static_cast<float>(fraction), -24));
}

uint32_t NarrowHalf(uint32_t bits) {
  const uint32_t sign = (bits >> 16) & 0x8000u, field = (bits >> 23) & 255;
  if (field == 255) return sign | 0x7c00u | ((bits >> 13) & 0x3ffu);
  if (field > 112) return sign | (field - 112) << 10 | ((bits >> 13) & 0x3ffu);
  return sign | static_cast<uint32_t>(std::ldexp(std::fabs(std::bit_cast<float>(bits)), 24));
}

void Dot2Scalar(const MatrixProduct& p, int row, int col, int n) {
  EachStep<2>(p, row, col, n, [&](const Product(&x)[2], int, uint32_t c) { return Dot2Step(p, x, c); });
}
void Dot4Scalar(const MatrixProduct& p, int row, int col, int n) {
  EachStep<4>(p, row, col, n, [&](const Product(&x)[4], int, uint32_t c) { return Dot4Step(p, x, c); });
}
void FusedScalar(const MatrixProduct& p, int row, int col, int n) {
  // Groups of four (xf32) or eight.
  const auto step = [](const auto& x, int count, uint32_t c) { return FusedStep(x, count, c, false); };
  p.group == 4 ? EachStep<4>(p, row, col, n, step) : EachStep<8>(p, row, col, n, step);
}
void FusedHalvesScalar(const MatrixProduct& p, int row, int col, int n) {
  EachStep<16>(p, row, col, n,
               [](const Product(&x)[16], int count, uint32_t c) { return FusedStep(x, count, c, true); });
}

}  // namespace understudy::emu::amd
