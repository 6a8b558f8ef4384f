// SPDX-License-Identifier: Apache-2.0
// Products of matrix blocks, one loop a rule, W columns at a time. The rules that sum in fixed point hold a
// product as the integer `product` times 2^(exponent - 24), where `exponent` is the sum of its factors'
// exponents. docs/matrix.md explains the rules.
#include "emu/amd/semantics/matrix_kernels.h"

#include <cstdint>
#include <cstring>

#include "emu/amd/semantics/matrix_vectors.h"

namespace understudy::emu::amd::US_MATRIX_NAMESPACE {
namespace {

#include "emu/amd/semantics/matrix_kernels_stage.inc"

// The row of B that stored element k of `row` multiplies.
US_VEC int RowOfB(const MatrixProduct& p, int row, int k) {
  return p.select == nullptr ? k : p.select[row * p.k + k];
}

template <int W>
struct Term {
  FloatsOf<W> product;  // an integer of magnitude below 2^26, zeros signed
  IntsOf<W> exponent;
};
template <int W>
US_VEC Term<W> TermOf(const MatrixProduct& p, int row, int col, int k) {
  const int a = k * p.a_stride + row, b = RowOfB(p, row, k) * p.b_stride + col;
  return {Load<FloatsOf<W>>(p.b + b) * p.a[a], Load<IntsOf<W>>(p.b_exponent + b) + p.a_exponent[a]};
}

// Bits of an f32 accumulator taken apart.
template <int W>
struct Accumulator {
  IntsOf<W> negative;     // a mask
  IntsOf<W> exponent;     // at least -126
  IntsOf<W> significand;  // magnitude: 24 bits, units of 2^(exponent - 23)
};
template <int W>
US_VEC Accumulator<W> TakeApart(IntsOf<W> bits) {
  using I = IntsOf<W>;
  const I field = (bits >> 23) & 255;
  const I fraction = bits & 0x7fffff;
  return {bits < 0, Max(field, I{} + 1) - 127, field == 0 ? fraction : fraction | 0x800000};
}
template <int W>
US_VEC IntsOf<W> IsSpecial(IntsOf<W> bits) {
  return ((bits >> 23) & 255) == 255;
}

// magnitude * 2^grid, a sum below 2^30, rounded to f16. Rounding to odd at 24 bits first keeps it one
// rounding.
template <int W>
US_VEC FloatsOf<W> HalfOfSum(IntsOf<W> magnitude, IntsOf<W> grid) {
  using I = IntsOf<W>;
  const I wide = magnitude >> 24 != 0;
  const I odd = (magnitude >> 6) | ((magnitude & 63) != 0 ? I{} + 1 : I{});
  const FloatsOf<W> kept = __builtin_convertvector(wide ? odd : magnitude, FloatsOf<W>);
  return RoundToHalf<W>(kept * PowerOfTwo<W>(grid + (wide ? I{} + 6 : I{})));
}
template <int W>
US_VEC IntsOf<W> BeyondHalf(FloatsOf<W> v) {
  return (Cast<IntsOf<W>>(v) & INT32_MAX) >= 0x47800000;  // 2^16
}

// ---- RDNA3: C and two products in the frame of C's sign; a term of the other sign is inverted bit by bit.

template <int W, MatrixType kD>
US_VEC IntsOf<W> Dot2Step(IntsOf<W> c, const Term<W>& x, const Term<W>& y, IntsOf<W>* bad) {
  using F = FloatsOf<W>;
  using I = IntsOf<W>;
  const Accumulator<W> acc = TakeApart<W>(c);
  const I zero_c = (c & 0x7f800000) == 0;  // denormals count as zeros
  const I c_significand = zero_c ? I{} : acc.significand;
  I c_lead = zero_c ? I{} - 1024 : acc.exponent;
  const I x_bits = Cast<I>(x.product), y_bits = Cast<I>(y.product);
  const I x_lead = ((x_bits >> 23) & 255) + (x.exponent - 24 - 127);
  const I y_lead = ((y_bits >> 23) & 255) + (y.exponent - 24 - 127);
  I lead = Max(Max(c_lead, x_lead), y_lead);
  if constexpr (kD == MatrixType::kF16) lead = Max(lead, I{} - 14);
  const I grid = Max(Max(x.exponent, y.exponent) - 24, lead - 26);
  const auto in_frame = [&](F product, I bits, I exponent) {
    const I magnitude = __builtin_convertvector(Cast<F>(Cast<I>(product) & INT32_MAX), I);
    const I shifted = ShiftDown(magnitude, grid - (exponent - 24));
    return shifted ^ ((bits < 0) ^ acc.negative);  // ~magnitude where the signs differ
  };
  const I sum = ShiftDown(c_significand << 3, grid - (c_lead - 26)) +
                in_frame(x.product, x_bits, x.exponent) + in_frame(y.product, y_bits, y.exponent);
  const I nothing = (c_significand == 0) & ((x_bits & INT32_MAX) == 0) & ((y_bits & INT32_MAX) == 0);
  const I zero = nothing | (sum == 0);
  const I sign = ((sum < 0) ^ acc.negative) & INT32_MIN;
  const I magnitude = sum < 0 ? -sum : sum;
  if constexpr (kD == MatrixType::kF16) {
    const F half = HalfOfSum<W>(magnitude, grid);
    *bad |= BeyondHalf<W>(half) & ~zero;
    const I bits = Cast<I>(half);
    return zero | (bits == 0) ? I{} : bits | sign;
  } else {
    const I rounded = Cast<I>(__builtin_convertvector(magnitude, F));
    const I field = (rounded >> 23) + grid;
    *bad |= (field > 254) & ~zero;
    // A result below the least normal is +0.
    I bits = zero | (field < 1) ? I{} : (rounded + (grid << 23)) | sign;
    if constexpr (kD == MatrixType::kBf16) bits &= ~0xffff;
    return bits;
  }
}

// Runs `step(row, col, k, c, bad)` for every `count` products of each row and hands what is out of the
// ordinary to p.slow.
template <int W, class Step>
US_VEC void EachElement(const MatrixProduct& p, int count, Step step) {
  using I = IntsOf<W>;
  const int rows = p.rows, cols = p.cols, k_count = p.k;
  uint32_t* cd = p.cd;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; col += W, cd += W) {
      I c = Load<I>(cd);
      I bad = IsSpecial<W>(c);
      for (int k = 0; k < k_count; k += count) c = step(row, col, k, c, &bad);
      if (Any(bad)) {
        p.slow(p, row, col, W);
      } else {
        Store(cd, c);
      }
    }
  }
}

// The loops work on a copy of the task: the compiler knows that stores to D do not change it.
template <MatrixType kD>
void Dot2As(const MatrixProduct& task) {
  const MatrixProduct p = task;
  EachElement<kNative>(task, 2, [&](int row, int col, int k, IntsOf<kNative> c, IntsOf<kNative>* bad) {
    return Dot2Step<kNative, kD>(c, TermOf<kNative>(p, row, col, k), TermOf<kNative>(p, row, col, k + 1),
                                 bad);
  });
}
void Dot2(const MatrixProduct& p) {
  if (p.d == MatrixType::kF16) return Dot2As<MatrixType::kF16>(p);
  if (p.d == MatrixType::kBf16) return Dot2As<MatrixType::kBf16>(p);
  Dot2As<MatrixType::kF32>(p);
}

// ---- RDNA4: two's complement, rounding down at each alignment; products meet in pairs (or all four), then
// C.

template <int W, MatrixType kD, int kGroup>
US_VEC IntsOf<W> Dot4Step(IntsOf<W> c, const Term<W> (&t)[4], IntsOf<W>* bad) {
  using F = FloatsOf<W>;
  using I = IntsOf<W>;
  constexpr int kFloor = kD == MatrixType::kF16 ? -14 : -126;
  I sums[2], exponents[2];
  for (int g = 0; g < 4 / kGroup; ++g) {
    I top = t[g * kGroup].exponent;
    for (int i = 1; i < kGroup; ++i) top = Max(top, t[g * kGroup + i].exponent);
    I sum = {};
    for (int i = 0; i < kGroup; ++i) {
      const Term<W>& term = t[g * kGroup + i];
      sum += ShiftDown(__builtin_convertvector(term.product, I), top - term.exponent);
    }
    sums[g] = sum;
    exponents[g] = top;
  }
  if constexpr (kGroup == 4) {
    sums[1] = I{};
    exponents[1] = exponents[0];
  }
  const Accumulator<W> acc = TakeApart<W>(c);
  const I grid = Max(Max(exponents[0], exponents[1]) - 24, Max(acc.exponent, I{} + kFloor) - 26);
  const I c_shift = grid - (acc.exponent - 26);
  const I c_magnitude = acc.significand << 3;
  const I aligned = ShiftDown(acc.negative ? -c_magnitude : c_magnitude, c_shift);
  // A negative C of which nothing remains counts as zero, not as one unit, on coarse grids.
  const I dropped = (ShiftDown(c_magnitude, c_shift) == 0) & (grid > kFloor);
  const I total = (dropped ? I{} : aligned) + ShiftDown(sums[0], grid - (exponents[0] - 24)) +
                  ShiftDown(sums[1], grid - (exponents[1] - 24));
  if constexpr (kD == MatrixType::kF16) {
    const F half = HalfOfSum<W>(total < 0 ? -total : total, grid);
    *bad |= BeyondHalf<W>(half);
    const I bits = Cast<I>(half);
    return bits == 0 ? I{} : bits | (total & INT32_MIN);
  } else {
    const I rounded = Cast<I>(__builtin_convertvector(total, F));
    const I field = ((rounded >> 23) & 255) + grid;
    // Denormal results are left to the scalar rule.
    *bad |= ((field > 254) | (field < 1)) & (total != 0);
    I bits = total == 0 ? I{} : rounded + (grid << 23);
    if constexpr (kD == MatrixType::kBf16) bits &= ~0xffff;
    return bits;
  }
}

template <MatrixType kD, int kGroup>
void Dot4As(const MatrixProduct& task) {
  const MatrixProduct p = task;
  EachElement<kNative>(task, 4, [&](int row, int col, int k, IntsOf<kNative> c, IntsOf<kNative>* bad) {
    const Term<kNative> terms[4] = {TermOf<kNative>(p, row, col, k), TermOf<kNative>(p, row, col, k + 1),
                                    TermOf<kNative>(p, row, col, k + 2), TermOf<kNative>(p, row, col, k + 3)};
    return Dot4Step<kNative, kD, kGroup>(c, terms, bad);
  });
}
void Dot4(const MatrixProduct& p) {
  if (p.group == 4) return Dot4As<MatrixType::kF32, 4>(p);
  if (p.d == MatrixType::kF16) return Dot4As<MatrixType::kF16, 2>(p);
  if (p.d == MatrixType::kBf16) return Dot4As<MatrixType::kBf16, 2>(p);
  Dot4As<MatrixType::kF32, 2>(p);
}

// ---- CDNA3: products truncated towards zero on the grid of the largest, then rounded down with C.

// The sum of every `step`th product in units of 2^(*top - 24). kInRange: products are taken from values,
// whose scale is the same for all; else from significands, each with a scale of its own.
template <int W, bool kInRange>
US_VEC IntsOf<W> TruncatedSum(const MatrixProduct& p, int row, int col, int first, int step, int count,
                              IntsOf<W>* top) {
  using F = FloatsOf<W>;
  using I = IntsOf<W>;
  I exponent = I{} + 2 * kZeroExponent;
  for (int i = 0; i < count; ++i) {
    const int k = first + i * step;
    exponent = Max(exponent, Load<I>(p.b_exponent + RowOfB(p, row, k) * p.b_stride + col) +
                                 p.a_exponent[k * p.a_stride + row]);
  }
  I sum = {};
  const F unit = PowerOfTwo<W>(24 - Max(exponent, I{} - 100));
  for (int i = 0; i < count; ++i) {
    const int k = first + i * step;
    if constexpr (kInRange) {
      const F product =
          Load<F>(p.b_value + RowOfB(p, row, k) * p.b_stride + col) * p.a_value[k * p.a_stride + row];
      sum += __builtin_convertvector(product * unit, I);
    } else {
      const Term<W> term = TermOf<W>(p, row, col, k);
      const F scale = PowerOfTwo<W>(Max(term.exponent - exponent, I{} - 64));
      sum += __builtin_convertvector(term.product * scale, I);
    }
  }
  *top = exponent;
  return sum;
}

// The largest double that is an integer and not above v, |v| < 2^50.
template <class D>
US_VEC D FloorOf(D v) {
  const D magic = D{} + 6755399441055744.0;  // 1.5 * 2^52
  const D nearest = (v + magic) - magic;
  return nearest > v ? nearest - 1.0 : nearest;
}

// sum * 2^(top - 24) + C, both rounded down: the sum to 31 fraction bits of the larger exponent, C to 24.
template <int W>
US_VEC FloatsOf<W> AddFusedPart(IntsOf<W> sum, IntsOf<W> top, IntsOf<W> signed_c, IntsOf<W> c_exponent,
                                bool drops_small_c) {
  using I = IntsOf<W>;
  using D = typename Lanes<W>::D;
  const I larger = Max(top, c_exponent);
  if (drops_small_c) signed_c = c_exponent < larger - 25 ? I{} : signed_c;
  const D products =
      FloorOf(__builtin_convertvector(sum, D) * PowerOfTwo64<W>(Max(top - larger, I{} - 900) + 7));
  const D addend = FloorOf(__builtin_convertvector(signed_c, D) * PowerOfTwo64<W>(c_exponent - larger + 1));
  const D total = (products + addend * 128.0) * PowerOfTwo64<W>(larger - 31);
  return __builtin_convertvector(total, FloatsOf<W>);
}

template <int W>
US_VEC IntsOf<W> AddFused(IntsOf<W> sum, IntsOf<W> top, IntsOf<W> c, bool drops_small_c, IntsOf<W>* bad) {
  using I = IntsOf<W>;
  constexpr int kHalf = W / 2;  // doubles are twice as wide
  constexpr auto kLanes = std::make_index_sequence<kHalf>();
  const Accumulator<W> acc = TakeApart<W>(c);
  const I signed_c = acc.negative ? -acc.significand : acc.significand;
  const auto low = AddFusedPart<kHalf>(Part<0>(sum, kLanes), Part<0>(top, kLanes), Part<0>(signed_c, kLanes),
                                       Part<0>(acc.exponent, kLanes), drops_small_c);
  const auto high =
      AddFusedPart<kHalf>(Part<kHalf>(sum, kLanes), Part<kHalf>(top, kLanes), Part<kHalf>(signed_c, kLanes),
                          Part<kHalf>(acc.exponent, kLanes), drops_small_c);
  const I bits = Cast<I>(Join(low, high, std::make_index_sequence<W>()));
  // A product of 2^128 or more is infinite even where the sum is not.
  *bad |= IsSpecial<W>(bits) | (top > 125);
  return bits;
}

template <int W, bool kInRange>
void FusedAs(const MatrixProduct& task) {
  const MatrixProduct p = task;
  EachElement<W>(task, p.group, [&](int row, int col, int k, IntsOf<W> c, IntsOf<W>* bad) {
    const int count = p.k - k < p.group ? p.k - k : p.group;
    IntsOf<W> top;
    // A count that the compiler knows keeps the products in registers.
    const IntsOf<W> sum = count == 8 ? TruncatedSum<W, kInRange>(p, row, col, k, 1, 8, &top)
                                     : TruncatedSum<W, kInRange>(p, row, col, k, 1, count, &top);
    return AddFused<W>(sum, top, c, false, bad);
  });
}
void Fused(const MatrixProduct& p) {
  if (p.cols == 4) return FusedAs<4, false>(p);
  p.in_range ? FusedAs<kNative, true>(p) : FusedAs<kNative, false>(p);
}

void FusedHalves(const MatrixProduct& task) {
  using I = IntsOf<kNative>;
  const MatrixProduct p = task;
  EachElement<kNative>(task, p.group, [&](int row, int col, int k, I c, I* bad) {
    const int count = (p.k - k < p.group ? p.k - k : p.group) / 2;
    I even_top, odd_top;
    const I even = TruncatedSum<kNative, true>(p, row, col, k, 2, count, &even_top);
    const I odd = TruncatedSum<kNative, true>(p, row, col, k + 1, 2, count, &odd_top);
    const I top = Max(even_top, odd_top);
    return AddFused<kNative>(ShiftDown(even, top - even_top) + ShiftDown(odd, top - odd_top), top, c, true,
                             bad);
  });
}

// ---- CDNA2: f32 trees. IEEE arithmetic but for denormals, so nothing is out of the ordinary.

template <int W>
void PairwiseAs(const MatrixProduct& p) {
  using F = FloatsOf<W>;
  using I = IntsOf<W>;
  for (int row = 0; row < p.rows; ++row) {
    for (int col = 0; col < p.cols; col += W) {
      uint32_t* const cd = p.cd + row * p.cols + col;
      const auto flushed = [&](F v) {
        const I bits = Cast<I>(v);
        return Cast<F>(((bits & 0x7f800000) == 0) & (p.flush ? -1 : 0) ? bits & INT32_MIN : bits);
      };
      const auto product = [&](int k) {
        return flushed(Load<F>(p.b + k * p.b_stride + col) * p.a[k * p.a_stride + row] + 0.0f);
      };
      F sum = flushed(Cast<F>(Load<I>(cd)));
      if (p.flush) sum += 0.0f;  // a flushed C is +0
      for (int k = 0; k < p.k; k += p.group) {
        F group = p.group == 1 ? product(k) : flushed(product(k) + product(k + 1));
        if (p.group == 4) group = flushed(group + flushed(product(k + 2) + product(k + 3)));
        sum = flushed(sum + group);
      }
      Store(cd, Cast<I>(sum));
    }
  }
}
void Pairwise(const MatrixProduct& p) { p.cols == 4 ? PairwiseAs<4>(p) : PairwiseAs<kNative>(p); }

// ---- Chains of fused multiply-adds.

void FmaF32(const MatrixProduct& p) {
  for (int row = 0; row < p.rows; ++row) {
    float sum[32];
    std::memcpy(sum, p.cd + row * p.cols, sizeof(float) * p.cols);
    for (int k = 0; k < p.k; ++k) {
      const float a = p.a[k * p.a_stride + row];
      const float* b = p.b + k * p.b_stride;
      for (int col = 0; col < p.cols; ++col) sum[col] = __builtin_fmaf(a, b[col], sum[col]);
    }
    std::memcpy(p.cd + row * p.cols, sum, sizeof(float) * p.cols);
  }
}

void FmaF64(const MatrixProduct& p) {
  for (int row = 0; row < p.rows; ++row) {
    double* const sum = p.cd_f64 + row * p.cols;
    for (int k = 0; k < p.k; ++k) {
      const double a = p.a_f64[k * p.a_stride + row];
      const double* b = p.b_f64 + k * p.b_stride;
      for (int col = 0; col < p.cols; ++col) sum[col] = __builtin_fma(a, b[col], sum[col]);
    }
  }
}

// ---- F8F6F4: blocks of 32 products in f64.

void Blocks(const MatrixProduct& p) {
  constexpr int kWidth = kNative / 2;  // doubles are twice as wide
  using F = FloatsOf<kWidth>;
  using D = Lanes<kWidth>::D;
  for (int row = 0; row < p.rows; ++row) {
    for (int col = 0; col < p.cols; col += kWidth) {
      uint32_t* const cd = p.cd + row * p.cols + col;
      F sum = Cast<F>(Load<IntsOf<kWidth>>(cd));
      for (int k = 0; k < p.k; k += p.group) {
        D block = {};
        for (int i = k; i < k + p.group; ++i) {
          block +=
              __builtin_convertvector(Load<F>(p.b + i * p.b_stride + col) * p.a[i * p.a_stride + row], D);
        }
        const int at = k / p.group;
        block = block * p.a_scale[at * p.rows + row] * Load<D>(p.b_scale + at * p.cols + col);
        sum = __builtin_convertvector(__builtin_convertvector(sum, D) + block, F);
      }
      Store(cd, Cast<IntsOf<kWidth>>(sum));
    }
  }
}

// ---- Integers.

template <int W>
void IntegerAs(const MatrixProduct& p) {
  using I = IntsOf<W>;
  typedef uint32_t U __attribute__((vector_size(4 * W)));
  for (int row = 0; row < p.rows; ++row) {
    for (int col = 0; col < p.cols; col += W) {
      uint32_t* const cd = p.cd + row * p.cols + col;
      I products = {};  // below 2^23
      for (int k = 0; k < p.k; ++k) {
        products +=
            Load<I>(p.b_integer + RowOfB(p, row, k) * p.b_stride + col) * p.a_integer[k * p.a_stride + row];
      }
      const I c = Load<I>(cd);
      I sum = Cast<I>(Cast<U>(c) + Cast<U>(products));
      if (p.clamp) {
        const I overflows = ((c ^ sum) & (products ^ sum)) < 0;
        sum = overflows ? (c < 0 ? I{} + INT32_MIN : I{} + INT32_MAX) : sum;
      }
      Store(cd, sum);
    }
  }
}
void Integer(const MatrixProduct& p) { p.cols == 4 ? IntegerAs<4>(p) : IntegerAs<kNative>(p); }

}  // namespace

const MatrixKernels kKernels = {Stage, Integer,  FmaF64, FmaF32,      Dot2,
                                Dot4,  Pairwise, Fused,  FusedHalves, Blocks};

}  // namespace understudy::emu::amd::US_MATRIX_NAMESPACE
