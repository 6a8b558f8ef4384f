// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/tensor_core.h"

#include <atomic>
#include <cmath>
#include <cstring>

#include "emu/ptx/semantics/tensor_core_kernels.h"
#include "src/base/soft_float.h"
#include "src/base/status.h"

namespace understudy::emu::ptx {
namespace {

constexpr FloatRule kFloatRules[] = {
    // unit, elements, fraction bits, result bits, step, through half
    {TensorUnit::kMma, Type::kF16, 25, 23, 16, false},    {TensorUnit::kMma, Type::kBf16, 25, 23, 16, false},
    {TensorUnit::kMma, Type::kTf32, 25, 23, 8, false},    {TensorUnit::kMma, Type::kE4m3, 25, 23, 16, true},
    {TensorUnit::kWmma, Type::kF16, 25, 23, 16, false},   {TensorUnit::kWmma, Type::kBf16, 25, 23, 16, false},
    {TensorUnit::kWmma, Type::kTf32, 25, 23, 4, false},   {TensorUnit::kWgmma, Type::kF16, 25, 23, 16, false},
    {TensorUnit::kWgmma, Type::kBf16, 25, 23, 16, false}, {TensorUnit::kWgmma, Type::kTf32, 25, 23, 8, false},
    {TensorUnit::kWgmma, Type::kE4m3, 13, 13, 32, false},
};

const TensorKernels* const kKernels[] = {&kTensorKernels_baseline, &kTensorKernels_avx2,
                                         &kTensorKernels_avx512};

int CountKernels() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? 3 : 2;
#else
  return 1;
#endif
}

std::atomic<const TensorKernels*>& Chosen() {
  static std::atomic<const TensorKernels*> chosen{kKernels[CountKernels() - 1]};
  return chosen;
}
const TensorKernels& Kernels() { return *Chosen().load(std::memory_order_relaxed); }

FloatCoding CodingOf(Type type, bool through_half) {
  switch (type) {
    case Type::kF16:
      return {5, 10, 0, false, false};
    case Type::kBf16:
      return {8, 7, 0, false, false};
    case Type::kTf32:
      return {8, 10, 13, false, false};
    case Type::kE4m3:
      return {4, 3, 0, true, through_half};
    default:
      US_CHECK(type == Type::kE5m2);
      return {5, 2, 0, false, false};
  }
}

enum class Kind : uint8_t { kZero, kFinite, kInfinite, kNan };
struct Element {
  Kind kind;
  bool negative;
};
Element Classify(const FloatCoding& f, uint32_t raw) {
  const uint32_t bits = raw >> f.skipped_bits, fraction = (1u << f.fraction_bits) - 1,
                 top = (1u << f.exponent_bits) - 1;
  const uint32_t field = bits >> f.fraction_bits & top, low = bits & fraction;
  const bool negative = (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  if (f.finite) {
    if (field == top && low == fraction) return {Kind::kNan, negative};
  } else if (field == top) {
    return {low == 0 ? Kind::kInfinite : Kind::kNan, negative};
  }
  return {field == 0 && low == 0 ? Kind::kZero : Kind::kFinite, negative};
}

// What a sum with infinite or NaN terms is: only which there are counts.
struct Specials {
  bool nan = false, infinite[2] = {};
  void AddProduct(Element a, Element b) {
    if (a.kind == Kind::kNan || b.kind == Kind::kNan)
      nan = true;
    else if (a.kind == Kind::kInfinite || b.kind == Kind::kInfinite) {
      nan |= a.kind == Kind::kZero || b.kind == Kind::kZero;
      infinite[a.negative != b.negative] = true;
    }
  }
  void Add(Element c) {
    nan |= c.kind == Kind::kNan;
    if (c.kind == Kind::kInfinite) infinite[c.negative] = true;
  }
  bool any() const { return nan || infinite[0] || infinite[1]; }
  uint32_t Result(Type type) const {
    const bool half = type == Type::kF16;
    if (nan || (infinite[0] && infinite[1])) return half ? 0x7fff : 0x7fffffff;
    return half ? 0x7c00 | infinite[1] << 15 : 0x7f800000 | uint32_t{infinite[1]} << 31;
  }
};

FloatCoding AccumulatorCoding(Type type) {
  return type == Type::kF16 ? FloatCoding{5, 10, 0, false, false} : FloatCoding{8, 23, 0, false, false};
}

// A finite number: significand * 2^(exponent - 23).
struct Parts {
  int64_t significand;
  int exponent;  // kZeroExponent of zero
};
Parts Split(const FloatCoding& f, uint32_t raw) {
  const uint32_t bits = raw >> f.skipped_bits, top = (1u << f.exponent_bits) - 1;
  const int field = static_cast<int>(bits >> f.fraction_bits & top);
  int64_t significand = bits & ((1u << f.fraction_bits) - 1);
  if (field != 0) significand |= int64_t{1} << f.fraction_bits;
  if (significand == 0) return {0, kZeroExponent};
  int exponent = (field == 0 ? 1 : field) - static_cast<int>(top >> 1);
  for (; f.normalize && significand < int64_t{1} << f.fraction_bits; significand <<= 1) --exponent;
  const bool negative = (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  significand <<= 23 - f.fraction_bits;
  return {negative ? -significand : significand, exponent};
}

// A sum that is cut or rounded to zero is +0, whatever its sign was.
uint32_t PositiveZero(uint64_t bits, uint32_t magnitude) {
  const auto word = static_cast<uint32_t>(bits);
  return (word & magnitude) == 0 ? 0 : word;
}

// One output of one step, in plain integers: what the kernels compute, and what they leave out, infinities
// and NaNs.
uint32_t ScalarStep(const FloatRule& rule, const FloatCoding& fa, const FloatCoding& fb, Type c_type,
                    Type d_type, const MatrixOperands& p, int row, int col, int first, int count,
                    uint32_t c) {
  const FloatCoding fc = AccumulatorCoding(c_type);
  Specials specials;
  specials.Add(Classify(fc, c));
  struct Term {
    int64_t value;  // times 2^(exponent - 46)
    int exponent;
  };
  Term terms[32 + 1];
  US_CHECK(count <= 32);
  int top = kZeroExponent;
  for (int i = 0; i < count; ++i) {
    const int at = row * p.k + first + i;
    const uint32_t a_raw = p.a[at], b_raw = p.b[(p.select != nullptr ? p.select[at] : first + i) * p.n + col];
    Element a = Classify(fa, a_raw);
    a.negative ^= p.negate_a != p.negate_b;
    specials.AddProduct(a, Classify(fb, b_raw));
    if (specials.any()) continue;
    const Parts x = Split(fa, a_raw), y = Split(fb, b_raw);
    const int64_t value = x.significand * y.significand;
    terms[i] = {p.negate_a != p.negate_b ? -value : value, x.exponent + y.exponent};
    if (terms[i].exponent > top) top = terms[i].exponent;
  }
  if (specials.any()) return specials.Result(d_type);
  const Parts z = Split(fc, c);
  terms[count] = {z.significand << 23, z.exponent};
  if (z.exponent > top) top = z.exponent;
  int64_t sum = 0;
  for (int i = 0; i <= count; ++i) {
    const int down = top - terms[i].exponent + 46 - rule.fraction_bits;
    const int64_t magnitude = terms[i].value < 0 ? -terms[i].value : terms[i].value;
    const int64_t kept = down > 62 ? 0 : magnitude >> down;
    sum += terms[i].value < 0 ? -kept : kept;
  }
  const double exact = sum == 0 ? 0.0 : std::ldexp(static_cast<double>(sum), top - rule.fraction_bits);
  if (d_type == Type::kF16) return PositiveZero(EncodeFloat(formats::kF16, exact), 0x7fff);
  if (std::fabs(exact) >= 0x1p128) return exact < 0 ? 0xff800000 : 0x7f800000;
  return PositiveZero(EncodeFloat(formats::kF32, exact, Rounding::kToZero), 0x7fffffff) &
         ~((1u << (23 - rule.result_bits)) - 1);
}

bool IsSpecial(Type type, uint32_t bits) {
  return type == Type::kF16 ? (bits & 0x7c00) == 0x7c00 : (bits & 0x7f800000) == 0x7f800000;
}

void Negate(int32_t* sig, int count) {
  for (int i = 0; i < count; ++i) sig[i] = -sig[i] & 0xffff;
}

float AsFloat(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof(v));
  return v;
}
uint32_t AsBits(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof(v));
  return bits;
}

// c + sum in `type`, rounded to nearest.
uint32_t AddAfter(Type type, uint32_t c, uint32_t sum) {
  if (type == Type::kF16) {
    const double v = DecodeFloat(formats::kF16, c) + DecodeFloat(formats::kF16, sum);
    return std::isnan(v) ? 0x7fff : static_cast<uint32_t>(EncodeFloat(formats::kF16, v));
  }
  const float v = AsFloat(c) + AsFloat(sum);
  return std::isnan(v) ? 0x7fffffff : AsBits(v);
}

// Column of A (and, dense, row of B) that comes k-th where the first of two steps takes the first two
// elements of every four.
int PairsFirst(int k, int columns) {
  const int half = columns / 2, step = k / half, i = k % half;
  return i / 2 * 4 + 2 * step + i % 2;
}

}  // namespace

const FloatRule* FindFloatRule(TensorUnit unit, Type a, Type b) {
  const auto narrow = [](Type t) { return t == Type::kE4m3 || t == Type::kE5m2; };
  if (a != b && !(narrow(a) && narrow(b))) return nullptr;
  for (const FloatRule& rule : kFloatRules)
    if (rule.unit == unit && rule.type == (narrow(a) ? Type::kE4m3 : a)) return &rule;
  return nullptr;
}

void MultiplyFloats(const FloatRule& rule, Type a, Type b, Type c, Type d, const MatrixOperands& p) {
  const int a_count = p.m * p.k, b_count = p.b_rows * p.n, c_count = p.m * p.n;
  US_CHECK(a_count <= kMaxTensorA && b_count <= kMaxTensorB && c_count <= kMaxTensorC && p.n % 8 == 0);
  const TensorKernels& kernels = Kernels();
  alignas(64) int32_t a_sig[kMaxTensorA], a_exp[kMaxTensorA], b_sig[kMaxTensorB], b_exp[kMaxTensorB];
  alignas(64) uint32_t result[kMaxTensorC];
  uint32_t ordered_a[kMaxTensorA], ordered_b[kMaxTensorB];
  uint8_t ordered_select[kMaxTensorA];
  bool overflown[kMaxTensorC];
  std::memset(overflown, 0, c_count);
  const FloatCoding fa = CodingOf(a, rule.through_half), fb = CodingOf(b, rule.through_half);

  MatrixOperands q = p;
  if (rule.through_half) {
    uint8_t from[2 * kMaxStep];
    US_CHECK(p.k <= 2 * kMaxStep);
    for (int k = 0; k < p.k; ++k) from[k] = static_cast<uint8_t>(PairsFirst(k, p.k));
    for (int at = 0; at < a_count; at += p.k)
      for (int k = 0; k < p.k; ++k) ordered_a[at + k] = p.a[at + from[k]];
    for (int at = 0; p.select != nullptr && at < a_count; at += p.k)
      for (int k = 0; k < p.k; ++k) ordered_select[at + k] = p.select[at + from[k]];
    for (int k = 0; p.select == nullptr && k < p.k; ++k)
      std::memcpy(ordered_b + k * p.n, p.b + from[k] * p.n, p.n * sizeof(uint32_t));
    q.a = ordered_a;
    if (p.select != nullptr)
      q.select = ordered_select;
    else
      q.b = ordered_b;
  }
  const DecodedRange range_a = kernels.decode(fa, q.a, a_count, a_sig, a_exp);
  const DecodedRange range_b = kernels.decode(fb, q.b, b_count, b_sig, b_exp);
  const bool negate = p.negate_a != p.negate_b;
  if (negate)
    for (int i = 0; i < a_count; ++i) a_sig[i] ^= INT32_MIN;
  bool special = range_a.special || range_b.special || kernels.any_special(c == Type::kF16, p.c, c_count);
  bool wide = range_a.wide || range_b.wide;

  FloatBlock block{};
  block.m = p.m;
  block.n = p.n;
  block.stride = p.k;
  block.a_sig = a_sig;
  block.a_exp = a_exp;
  block.b_sig = b_sig;
  block.b_exp = b_exp;
  block.select = q.select;
  block.fraction_bits = rule.fraction_bits;
  block.result_bits = rule.result_bits;
  block.half_d = d == Type::kF16;
  block.d = result;
  const int step = rule.through_half ? p.k / 2 : rule.step < p.k ? rule.step : p.k;
  const auto run = [&] {
    block.c = rule.through_half ? nullptr : p.c;
    block.half_c = c == Type::kF16;
    for (block.first = 0; block.first < p.k; block.first += step) {
      block.count = p.k - block.first < step ? p.k - block.first : step;
      if (wide)
        kernels.wide_floats(block);
      else if (!kernels.floats(block))
        return false;
      block.c = result;
      block.half_c = block.half_d;
      // A sum may pass the largest number before the last step.
      if (block.first + step < p.k && kernels.any_special(block.half_d, result, c_count)) {
        special = true;
        for (int i = 0; i < c_count; ++i) overflown[i] |= IsSpecial(d, result[i]);
      }
    }
    return true;
  };
  if (wide || !run()) {
    wide = true;
    kernels.decode_wide(fa, q.a, a_count, kShiftA, a_sig, a_exp);
    kernels.decode_wide(fb, q.b, b_count, kShiftB, b_sig, b_exp);
    if (negate) Negate(a_sig, a_count);
    std::memset(overflown, 0, c_count);
    run();
  }
  if (special) {
    // Outputs that an infinity or NaN reaches are done again, one by one: kernels do not know them.
    bool rows[kMaxTensorA] = {}, cols[kMaxTensorB] = {};
    const auto is_special = [](const FloatCoding& f, uint32_t raw) {
      return Classify(f, raw).kind >= Kind::kInfinite;
    };
    for (int i = 0; range_a.special && i < a_count; ++i) rows[i / p.k] |= is_special(fa, q.a[i]);
    for (int i = 0; range_b.special && i < b_count; ++i) cols[i % p.n] |= is_special(fb, q.b[i]);
    for (int row = 0; row < p.m; ++row)
      for (int col = 0; col < p.n; ++col) {
        const int out = row * p.n + col;
        if (!rows[row] && !cols[col] && !IsSpecial(c, p.c[out]) && !overflown[out]) continue;
        uint32_t sum = rule.through_half ? 0 : p.c[out];
        Type sum_type = rule.through_half ? d : c;
        for (int first = 0; first < p.k; first += step, sum_type = d) {
          const int count = p.k - first < step ? p.k - first : step;
          sum = ScalarStep(rule, fa, fb, sum_type, d, q, row, col, first, count, sum);
        }
        result[out] = sum;
      }
  }
  if (rule.through_half)
    for (int i = 0; i < c_count; ++i) p.d[i] = AddAfter(d, p.c[i], result[i]);
  else
    std::memcpy(p.d, result, c_count * sizeof(uint32_t));
}

void MultiplyQuad(Type c, Type d, const MatrixOperands& p) {
  const auto half = [](uint32_t bits) {
    return static_cast<float>(DecodeFloat(formats::kF16, bits & 0xffff));
  };
  for (int row = 0; row < 8; ++row)
    for (int col = 0; col < 8; ++col) {
      float a[4], b[4];
      for (int k = 0; k < 4; ++k) {
        a[k] = half(p.a[row * 4 + k]);
        b[k] = half(p.b[k * p.n + col]);
      }
      const uint32_t c_bits = p.c[row * p.n + col];
      const float start = c == Type::kF16 ? half(c_bits) : AsFloat(c_bits);
      const float first = std::fma(a[1], b[1], a[0] * b[0]);
      uint32_t* out = p.d + row * p.n + col;
      if (d == Type::kF16) {
        const float v = (first + start) + std::fma(a[3], b[3], a[2] * b[2]);
        *out = std::isnan(v) ? 0x7fff : static_cast<uint32_t>(EncodeFloat(formats::kF16, v));
      } else {
        const float v = std::fma(a[3], b[3], std::fma(a[2], b[2], first)) + start;
        *out = std::isnan(v) ? 0x7fffffff : AsBits(v);
      }
    }
}

void MultiplyIntegers(Type a, Type b, bool saturate, const MatrixOperands& p) {
  const int a_count = p.m * p.k, b_count = p.b_rows * p.n, c_count = p.m * p.n;
  US_CHECK(a_count <= kMaxTensorA && b_count <= kMaxTensorB && c_count <= kMaxTensorC && p.n % 8 == 0);
  alignas(64) int32_t a_value[kMaxTensorA], b_value[kMaxTensorB], sum[kMaxTensorC];
  const TensorKernels& kernels = Kernels();
  kernels.extend(TypeBits(a), IsSigned(a), p.a, a_count, a_value);
  kernels.extend(TypeBits(b), IsSigned(b), p.b, b_count, b_value);
  kernels.integers({p.m, p.n, p.k, a_value, b_value, p.select, sum});
  if (saturate) {
    for (int i = 0; i < c_count; ++i) {
      const int64_t exact = int64_t{sum[i]} + static_cast<int32_t>(p.c[i]);
      p.d[i] = static_cast<uint32_t>(exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact);
    }
  } else {
    for (int i = 0; i < c_count; ++i) p.d[i] = static_cast<uint32_t>(sum[i]) + p.c[i];
  }
}

void MultiplyBits(BitProduct product, int m, int n, int words, const uint32_t* a, const uint32_t* b,
                  const uint32_t* c, uint32_t* d) {
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      uint32_t count = 0;
      for (int w = 0; w < words; ++w) {
        const uint32_t x = a[row * words + w], y = b[col * words + w];
        count += static_cast<uint32_t>(__builtin_popcount(product == BitProduct::kAnd ? x & y : x ^ y));
      }
      d[row * n + col] = c[row * n + col] + count;
    }
}

namespace {

constexpr uint64_t kInfinity64 = 0x7ff0'0000'0000'0000, kQuiet64 = 0x0008'0000'0000'0000;
bool IsNan64(uint64_t v) { return (v & ~(uint64_t{1} << 63)) > kInfinity64; }

// One step of the chain. A NaN accumulator stays, then a's and b's count; an invalid operation gives a
// negative quiet NaN.
uint64_t FmaStep(Rounding rounding, uint64_t a, uint64_t b, uint64_t c) {
  double x, y, z;
  std::memcpy(&x, &a, 8);
  std::memcpy(&y, &b, 8);
  std::memcpy(&z, &c, 8);
  uint64_t bits;
  if (rounding == Rounding::kNearestEven) {
    const double r = std::fma(x, y, z);
    std::memcpy(&bits, &r, 8);
    if (!IsNan64(bits)) return bits;
  } else {
    bits = SoftFma(formats::kF64, a, b, c, {.rounding = rounding});
    if (!IsNan64(bits)) return bits;
  }
  for (const uint64_t operand : {b, c, a})
    if (IsNan64(operand)) return operand | kQuiet64;
  return uint64_t{1} << 63 | kInfinity64 | kQuiet64;
}

}  // namespace

void MultiplyDoubles(Rounding rounding, int m, int n, int k, const uint64_t* a, const uint64_t* b,
                     const uint64_t* c, uint64_t* d) {
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      uint64_t sum = c[row * n + col];
      for (int i = 0; i < k; ++i) sum = FmaStep(rounding, a[row * k + i], b[i * n + col], sum);
      d[row * n + col] = sum;
    }
}

int NumTensorKernels() { return CountKernels(); }
const char* TensorKernelName(int index) { return kKernels[index]->name; }
void UseTensorKernels(int index) {
  US_CHECK(index >= 0 && index < CountKernels());
  Chosen().store(kKernels[index], std::memory_order_relaxed);
}

}  // namespace understudy::emu::ptx
