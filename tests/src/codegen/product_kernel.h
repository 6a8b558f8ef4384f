// SPDX-License-Identifier: Apache-2.0
#pragma once
// A product of matrices as a kernel, with small whole numbers for which every partial sum is exact, so that a
// wrong layout shows. For tests of tensor cores.

#include <cstring>

#include "src/dtype/const_value.h"
#include "src/uop/build.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {

struct ProductSize {
  int64_t m, n, k;
};

// c[m, n] = sum over k of f(a[m, k]) g(b[k, n]), the factors widened to `out`.
template <class F, class G>
RandomKernel MakeProduct(const ProductSize& s, DType in, DType out, bool positive, F f, G g) {
  using namespace uop::expr;  // NOLINT
  const UOpRef m = uop::Range(s.m, 0, AxisKind::kGlobal), n = uop::Range(s.n, 1, AxisKind::kGlobal),
               k = uop::Range(s.k, 2, AxisKind::kReduce);
  const UOpRef a = f(uop::Load(uop::IndexOf(uop::Param(in, 1), m * s.k + k)));
  const UOpRef b = g(uop::Load(uop::IndexOf(uop::Param(in, 2), k * s.n + n)));
  RandomKernel r;
  const UOpRef sum = uop::Reduce(Op::kAdd, uop::Cast(a, out) * uop::Cast(b, out), {k});
  r.kernel = uop::Sink({uop::Store(uop::IndexOf(uop::Param(out, 0), m * s.n + n), sum, {m, n})}, "product");
  r.dtypes = {out, in, in};
  r.bytes = {std::vector<uint8_t>(s.m * s.n * out.ScalarBytes())};
  int64_t seed = 1;
  for (const int64_t count : {s.m * s.k, s.k * s.n}) {
    std::vector<uint8_t> bytes(count * in.ScalarBytes());
    for (int64_t i = 0; i < count; ++i) {
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
    r.bytes.push_back(std::move(bytes));
  }
  return r;
}

}  // namespace understudy::test
