// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/special.h"

#include <cmath>
#include <numbers>

#include "src/base/status.h"
#include "src/tensor/math.h"
#include "src/tensor/math_special.h"
#include "src/tensor/value_expr.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::Combine;
using tensor_internal::ComputeType;
using tensor_internal::FloatType;
using tensor_internal::Pair;
using tensor_internal::Promoted;
using tensor_internal::Value;
namespace math = tensor_internal::math;

namespace {

// f on the value in the compute type, rounded to the result type.
template <class F>
Tensor Float1(const char* op, const Tensor& a, F f) {
  if (!a.ok()) return a;
  const DType out = FloatType(a.dtype());
  return Combine(op, {&a}, uop::Cast(f(uop::Cast(a.uop(), ComputeType(out))), out));
}

}  // namespace

#define UNDERSTUDY_FUNCTION(name, function) \
  Tensor name(const Tensor& x) { return Float1(#name, x, math::function); }
UNDERSTUDY_FUNCTION(Lgamma, Lgamma)
UNDERSTUDY_FUNCTION(Digamma, Digamma)
UNDERSTUDY_FUNCTION(Erfinv, Erfinv)
UNDERSTUDY_FUNCTION(Erfcx, Erfcx)
UNDERSTUDY_FUNCTION(Ndtr, Ndtr)
UNDERSTUDY_FUNCTION(LogNdtr, LogNdtr)
UNDERSTUDY_FUNCTION(Ndtri, Ndtri)
UNDERSTUDY_FUNCTION(I0, BesselI0)
UNDERSTUDY_FUNCTION(I0e, BesselI0e)
UNDERSTUDY_FUNCTION(I1, BesselI1)
UNDERSTUDY_FUNCTION(I1e, BesselI1e)
#undef UNDERSTUDY_FUNCTION

Tensor Polygamma(int n, const Tensor& x) {
  if (n < 0 || n > math::kMaxPolygamma)
    return Tensor(Bad("Polygamma", "order ", n, ", expected 0 to ", math::kMaxPolygamma));
  if (n == 0) return Digamma(x);
  return Float1("Polygamma", x, [&](const UOpRef& v) { return math::Polygamma(n, v); });
}

Tensor Mvlgamma(const Tensor& x, int p) {
  if (p < 1 || p > 64) return Tensor(Bad("Mvlgamma", "dimension ", p, ", expected 1 to 64"));
  return Float1("Mvlgamma", x, [&](const UOpRef& v) {
    Value sum = Value(v).Like(p * (p - 1) / 4.0 * std::log(std::numbers::pi));
    for (int j = 0; j < p; ++j) sum = sum + Value(math::Lgamma((Value(v) - j / 2.0).u));
    return sum.u;
  });
}

Tensor Entr(const Tensor& x) {
  return Float1("Entr", x, [](const UOpRef& v) {
    const Value a(v), y = -(a * Value(math::Log(v)));
    const Value value = Select(a == 0.0, 0.0, Select(a < 0.0, -INFINITY, y));
    return uop::WithGradient("entr", value.u, {v});
  });
}

Tensor Xlog1py(const Tensor& x, const Operand& y) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_ASSIGN_OR_RETURN(const Pair p, Promoted("Xlog1py", x, y));
    const DType out = FloatType(p.a->dtype()), in = ComputeType(out);
    const Value a(uop::Cast(p.a, in)), b(uop::Cast(p.b, in));
    // Where x is 0 and the logarithm no number, neither it nor its slope counts.
    const Value none = (a == 0.0) & (b == b) & (Not(b > -1.0) | (b == b.Like(INFINITY)));
    return uop::Cast(Select(none, 0.0, a * Value(math::Log1p(Select(none, 0.0, b).u))).u, out);
  };
  return Combine("Xlog1py", {&x, y.tensor()}, make());
}

}  // namespace understudy
