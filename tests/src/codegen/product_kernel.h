// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of matrices as kernels, for tests of tensor cores: with small whole numbers for which every
// partial sum is exact, and with one factor whose elements all differ while the other selects.

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "src/dtype/const_value.h"
#include "src/schedule/tensor_core.h"
#include "src/uop/build.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {

struct ProductSize {
  int64_t m, n, k;
};

// Sizes and choices of kernels that use a target's tensor core of that number.
using ProductCase = std::pair<ProductSize, std::string>;
inline std::vector<ProductCase> ProductCases(const TensorCore& core, size_t number) {
  const std::string tc = "tc(0," + std::to_string(number) + ")";
  const ProductSize one = {core.m, core.n, core.k}, several = {2 * core.m, 3 * core.n, 2 * core.k};
  return {
      {one, tc},
      {several, tc},
      {several, tc + " upcast(0,2) unroll(0,2)"},
      {several, tc + " local(0,2) upcast(1,3)"},
      // The other use: rows and columns change places. (With 16 rows for 8 columns both must divide.)
      {{6 * core.n, 2 * core.m, 2 * core.k}, "tc(1," + std::to_string(number) + ") unroll(0,2)"},
  };
}

// c[m, n] = sum over k of f(a[m, k]) g(b[k, n]), the factors widened to `out`; the contents are zeros.
template <class F, class G>
RandomKernel MakeEmptyProduct(const ProductSize& s, DType in, DType out, F f, G g) {
  using namespace uop::expr;  // NOLINT
  const UOpRef m = uop::Range(s.m, 0, AxisKind::kGlobal), n = uop::Range(s.n, 1, AxisKind::kGlobal),
               k = uop::Range(s.k, 2, AxisKind::kReduce);
  const UOpRef a = f(uop::Load(uop::IndexOf(uop::Param(in, 1), m * s.k + k)));
  const UOpRef b = g(uop::Load(uop::IndexOf(uop::Param(in, 2), k * s.n + n)));
  RandomKernel r;
  const UOpRef sum = uop::Reduce(Op::kAdd, uop::Cast(a, out) * uop::Cast(b, out), {k});
  r.kernel = uop::Sink({uop::Store(uop::IndexOf(uop::Param(out, 0), m * s.n + n), sum, {m, n})}, "product");
  r.dtypes = {out, in, in};
  for (const int64_t bytes :
       {s.m * s.n * out.ScalarBytes(), s.m * s.k * in.ScalarBytes(), s.k * s.n * in.ScalarBytes()})
    r.bytes.emplace_back(bytes);
  return r;
}

// The same with small whole numbers.
template <class F, class G>
RandomKernel MakeProduct(const ProductSize& s, DType in, DType out, bool positive, F f, G g) {
  RandomKernel r = MakeEmptyProduct(s, in, out, f, g);
  int64_t seed = 1;
  for (size_t which : {1, 2}) {
    std::vector<uint8_t>& bytes = r.bytes[which];
    for (size_t i = 0; i < bytes.size() / in.ScalarBytes(); ++i) {
      seed = (seed * 48271) % 2147483647;
      // Whole numbers that even an E5M2 holds exactly.
      constexpr int kValues[] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
      int v = kValues[seed % 16];
      // Beyond the mantissa of an 8-bit float.
      if (in.IsFloat() && in.ScalarBytes() == 1 && v % 2 != 0 && (v > 4 || v < -4)) v = 4;
      if (positive) v += 8;
      const ConstValue c = in.IsFloat() ? ConstValue(static_cast<double>(v)) : ConstValue(int64_t{v});
      const uint64_t bits = ToBits(in, c);
      std::memcpy(&bytes[i * in.ScalarBytes()], &bits, in.ScalarBytes());
    }
  }
  return r;
}

// Numbers of a type that all differ: any number stays exact in a product with one 1 and zeros.
inline std::vector<uint64_t> DistinctBits(DType t, bool positive) {
  std::vector<uint64_t> out;
  if (t.ScalarBytes() == 1) {
    for (uint64_t bits = 1; bits < 256; ++bits) {
      const ConstValue v = FromBits(t, bits);
      const double number =
          t.IsFloat() ? std::get<double>(v) : static_cast<double>(static_cast<int8_t>(bits));
      if (!std::isfinite(number) || (t.IsFloat() && number == 0)) continue;
      if (positive && number < 0 && !t.IsUnsigned()) continue;
      out.push_back(bits);
    }
    return out;
  }
  // From 1 on: the next floats in 16 bits, the next whole numbers in wider types.
  const bool narrow = t.IsFloat() && t.ScalarBytes() == 2;
  for (int64_t i = 0; i < 8192; ++i) {
    const ConstValue v =
        t.IsFloat() ? ConstValue(static_cast<double>(narrow ? 1 : 1 + i)) : ConstValue(1 + i);
    out.push_back(ToBits(t, v) + (narrow ? i : 0));
  }
  return out;
}

// Products at least `s` large in which every element of a (then of b) is seen: the other factor selects, with
// a single 1 in each column (row). Where the type has too few numbers, several products whose elements are
// the digits of their places, so that all are distinct together.
inline std::vector<RandomKernel> MakeDistinctProducts(const ProductSize& s, DType in, DType out,
                                                      bool positive) {
  const auto same = [](const UOpRef& x) { return x; };
  const auto put = [&](std::vector<uint8_t>* bytes, int64_t at, uint64_t bits) {
    std::memcpy(&(*bytes)[at * in.ScalarBytes()], &bits, in.ScalarBytes());
  };
  const uint64_t one = ToBits(in, in.IsFloat() ? ConstValue(1.0) : ConstValue(int64_t{1}));
  const std::vector<uint64_t> numbers = DistinctBits(in, positive);
  const auto count = static_cast<int64_t>(numbers.size());
  std::vector<RandomKernel> all;
  for (const bool of_a : {true, false}) {
    ProductSize size = s;
    int64_t& long_side = of_a ? size.n : size.m;
    long_side *= (s.k + long_side - 1) / long_side;
    const int64_t elements = of_a ? size.m * size.k : size.k * size.n;
    for (int64_t unit = 1; unit < elements; unit *= count) {
      RandomKernel r = MakeEmptyProduct(size, in, out, same, same);
      for (int64_t i = 0; i < elements; ++i) put(&r.bytes[of_a ? 1 : 2], i, numbers[i / unit % count]);
      for (int64_t j = 0; j < long_side; ++j) {
        // Not the identity: places five apart (sizes are powers of two, so that all come).
        const int64_t k = (j * 5 + 3) % s.k;
        put(&r.bytes[of_a ? 2 : 1], of_a ? k * size.n + j : j * size.k + k, one);
      }
      all.push_back(std::move(r));
    }
  }
  return all;
}

}  // namespace understudy::test
