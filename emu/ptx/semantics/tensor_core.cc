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
    // unit, 8-bit, fraction, result, step, through half, pairs first, add after
    {TensorUnit::kWarp, false, 25, 23, 16, false, false, false},
    // Hopper has no warp-level 8-bit float product: the compiler makes two of f16 and an addition of it.
    {TensorUnit::kWarp, true, 25, 23, 16, true, true, true},
    {TensorUnit::kWarpgroup, false, 25, 23, 16, false, false, false},
    {TensorUnit::kWarpgroup, true, 13, 13, 32, false, false, false},
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

bool IsSpecial(Type type, uint32_t bits) {
  return type == Type::kF16 ? (bits & 0x7c00) == 0x7c00 : (bits & 0x7f800000) == 0x7f800000;
}

// Outputs that an infinite or NaN input reaches.
void OverwriteSpecials(const FloatCoding& fa, const FloatCoding& fb, bool ab_special, Type c_type,
                       Type d_type, const uint32_t* c, const MatrixOperands& p) {
  const FloatCoding fc =
      c_type == Type::kF16 ? FloatCoding{5, 10, 0, false, false} : FloatCoding{8, 23, 0, false, false};
  for (int row = 0; row < p.m; ++row)
    for (int col = 0; col < p.n; ++col) {
      const int out = row * p.n + col;
      if (!ab_special && !IsSpecial(c_type, c[out])) continue;
      Specials specials;
      if (ab_special)
        for (int k = 0; k < p.k; ++k) {
          const int at = row * p.k + k;
          Element a = Classify(fa, p.a[at]);
          Element b = Classify(fb, p.b[(p.select != nullptr ? p.select[at] : k) * p.n + col]);
          a.negative ^= p.negate_a;
          b.negative ^= p.negate_b;
          specials.AddProduct(a, b);
        }
      specials.Add(Classify(fc, c[out]));
      if (specials.any()) p.d[out] = specials.Result(d_type);
    }
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

// Column of A (and, dense, row of B) that comes k-th where the first of two steps takes the first two
// elements of every four.
int PairsFirst(int k, int columns) {
  const int half = columns / 2, step = k / half, i = k % half;
  return i / 2 * 4 + 2 * step + i % 2;
}

}  // namespace

const FloatRule* FindFloatRule(TensorUnit unit, Type a, Type b) {
  const auto wide = [](Type t) { return t == Type::kF16 || t == Type::kBf16 || t == Type::kTf32; };
  const auto narrow = [](Type t) { return t == Type::kE4m3 || t == Type::kE5m2; };
  if (!(wide(a) && a == b) && !(narrow(a) && narrow(b))) return nullptr;
  for (const FloatRule& rule : kFloatRules)
    if (rule.unit == unit && rule.eight_bit == narrow(a)) return &rule;
  return nullptr;
}

void MultiplyFloats(const FloatRule& rule, Type a, Type b, Type c, Type d, const MatrixOperands& p) {
  const int a_count = p.m * p.k, b_count = p.b_rows * p.n, c_count = p.m * p.n;
  US_CHECK(a_count <= kMaxTensorA && b_count <= kMaxTensorB && c_count <= kMaxTensorC && p.n % 8 == 0);
  const TensorKernels& kernels = Kernels();
  alignas(64) int32_t a_sig[kMaxTensorA], a_exp[kMaxTensorA], b_sig[kMaxTensorB], b_exp[kMaxTensorB];
  alignas(64) uint32_t kept_c[kMaxTensorC], partial[kMaxTensorC];
  const FloatCoding fa = CodingOf(a, rule.through_half), fb = CodingOf(b, rule.through_half);

  MatrixOperands q = p;
  const bool two_steps = rule.pairs_first && p.k > rule.step;
  uint32_t ordered[kMaxTensorA];
  uint8_t ordered_select[kMaxTensorA];
  if (two_steps) {
    for (int row = 0; row < p.m; ++row)
      for (int k = 0; k < p.k; ++k) {
        const int from = PairsFirst(k, p.k), at = row * p.k + k;
        ordered[at] = p.a[row * p.k + from];
        ordered_select[at] = p.select != nullptr ? p.select[row * p.k + from] : static_cast<uint8_t>(from);
      }
    q.a = ordered;
    q.select = ordered_select;
  }
  bool special = kernels.decode(fa, q.a, a_count, kShiftA, a_sig, a_exp);
  special |= kernels.decode(fb, q.b, b_count, kShiftB, b_sig, b_exp);
  if (p.negate_a != p.negate_b) Negate(a_sig, a_count);
  bool special_c = false;
  for (int i = 0; i < c_count; ++i) special_c |= IsSpecial(c, p.c[i]);
  const uint32_t* c_in = p.c;
  if (special || special_c || rule.add_after) {
    std::memcpy(kept_c, p.c, c_count * sizeof(uint32_t));
    c_in = kept_c;
  }

  FloatBlock block{};
  block.m = p.m;
  block.n = p.n;
  block.stride = p.k;
  block.a_sig = a_sig;
  block.a_exp = a_exp;
  block.b_sig = b_sig;
  block.b_exp = b_exp;
  block.select = q.select;
  block.dropped_bits = 25 - rule.fraction_bits;
  block.result_bits = rule.result_bits;
  block.c = rule.add_after ? nullptr : c_in;
  block.half_c = c == Type::kF16;
  block.half_d = d == Type::kF16 && !rule.add_after;
  block.d = rule.add_after ? partial : p.d;
  for (block.first = 0; block.first < p.k; block.first += rule.step) {
    block.count = p.k - block.first < rule.step ? p.k - block.first : rule.step;
    kernels.floats(block);
    block.c = block.d;
    block.half_c = block.half_d;
  }
  if (rule.add_after) {
    for (int i = 0; i < c_count; ++i) {
      if (d == Type::kF16)
        p.d[i] = static_cast<uint32_t>(EncodeFloat(
            formats::kF16, DecodeFloat(formats::kF16, c_in[i]) + static_cast<double>(AsFloat(partial[i]))));
      else
        p.d[i] = AsBits(AsFloat(c_in[i]) + AsFloat(partial[i]));
    }
  }
  if (special || special_c) OverwriteSpecials(fa, fb, special, c, d, c_in, q);
}

void MultiplyIntegers(Type a, Type b, bool saturate, const MatrixOperands& p) {
  const int a_count = p.m * p.k, b_count = p.b_rows * p.n, c_count = p.m * p.n;
  US_CHECK(a_count <= kMaxTensorA && b_count <= kMaxTensorB && c_count <= kMaxTensorC && p.n % 8 == 0);
  alignas(64) int32_t a_value[kMaxTensorA], b_value[kMaxTensorB], sum[kMaxTensorC];
  const auto extend = [](Type type, const uint32_t* raw, int count, int32_t* out) {
    const int shift = 32 - TypeBits(type);
    if (IsSigned(type))
      for (int i = 0; i < count; ++i) out[i] = (static_cast<int32_t>(raw[i] << shift) >> shift) & 0xffff;
    else
      for (int i = 0; i < count; ++i) out[i] = static_cast<int32_t>((raw[i] << shift) >> shift);
  };
  extend(a, p.a, a_count, a_value);
  extend(b, p.b, b_count, b_value);
  Kernels().integers({p.m, p.n, p.k, a_value, b_value, p.select, sum});
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
