// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small words for writing numeric code as UOps over any lane count; used by the decompositions only.

#include "src/uop/build.h"

namespace understudy::math {

inline DType Like(const UOpRef& x, DType scalar) { return scalar.WithLanes(x->dtype().lanes); }
template <class T>
UOpRef C(const UOpRef& like, DType scalar, T v) {
  return uop::Const(Like(like, scalar), v);
}
inline UOpRef To(const UOpRef& x, DType scalar) { return uop::Cast(x, Like(x, scalar)); }
inline UOpRef Bits(const UOpRef& x, DType scalar) { return uop::Bitcast(x, Like(x, scalar)); }
inline UOpRef Fma(const UOpRef& a, const UOpRef& b, const UOpRef& c) { return uop::MulAcc(a, b, c); }
// x != x: true for a NaN only.
inline UOpRef IsNan(const UOpRef& x) { return uop::CmpNe(x, x); }

// A number and the error that its rounding left behind.
struct Pair {
  UOpRef hi, lo;
};
// hi + lo == a + b exactly (Knuth's TwoSum), whatever their magnitudes.
inline Pair TwoSum(const UOpRef& a, const UOpRef& b) {
  using namespace uop::expr;
  const UOpRef s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
// hi + lo == a + b exactly when |a| >= |b| or a is zero.
inline Pair FastTwoSum(const UOpRef& a, const UOpRef& b) {
  using namespace uop::expr;
  const UOpRef s = a + b;
  return {s, b - (s - a)};
}
// hi + lo == a * b exactly.
inline Pair TwoProduct(const UOpRef& a, const UOpRef& b) {
  const UOpRef p = uop::Mul(a, b);
  return {p, Fma(a, b, uop::Neg(p))};
}
// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule with fused steps.
template <size_t N>
UOpRef Polynomial(const UOpRef& x, const double (&c)[N]) {
  UOpRef p = uop::ConstLike(x, c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) p = Fma(p, x, uop::ConstLike(x, c[i]));
  return p;
}

}  // namespace understudy::math
