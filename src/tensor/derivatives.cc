// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/derivatives.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "src/base/status.h"
#include "src/tensor/by_index.h"
#include "src/tensor/math.h"
#include "src/tensor/math_special.h"
#include "src/tensor/value_expr.h"

namespace understudy::tensor_internal {
namespace {

using Grads = std::vector<UOpRef>;

// f(x, y, g) is the gradient of the one input.
template <Value (*F)(const Value& x, const Value& y, const Value& g)>
Grads OneInput(const UOpRef& y, const UOpRef& g) {
  return {nullptr, F(y->src(1), y, g).u};
}

Value SqrtOf(const Value& x) { return Value(uop::Sqrt(x.u)); }

// d e^x = e^x dx
Value ExpRule(const Value&, const Value& y, const Value& g) { return g * y; }
Value Expm1Rule(const Value&, const Value& y, const Value& g) { return g * (y + 1.0); }
// d sigmoid(x) = s (1 - s) dx
Value SigmoidRule(const Value&, const Value& y, const Value& g) { return g * ((1.0 - y) * y); }
Value LogRule(const Value& x, const Value&, const Value& g) { return g / x; }
Value Log10Rule(const Value& x, const Value&, const Value& g) { return g / (x * std::numbers::ln10); }
Value Log1pRule(const Value& x, const Value&, const Value& g) { return g / (x + 1.0); }
Value SinhRule(const Value& x, const Value&, const Value& g) { return g * Value(math::Cosh(x)); }
Value CoshRule(const Value& x, const Value&, const Value& g) { return g * Value(math::Sinh(x)); }
Value TanhRule(const Value&, const Value& y, const Value& g) { return g * (1.0 - y * y); }
Value TanRule(const Value&, const Value& y, const Value& g) { return g * (y * y + 1.0); }
// (1 - x)(1 + x): 1 - x^2 would lose the small difference near 1.
Value AsinRule(const Value& x, const Value&, const Value& g) { return g / SqrtOf((1.0 - x) * (x + 1.0)); }
Value AcosRule(const Value& x, const Value&, const Value& g) { return -(g / SqrtOf((1.0 - x) * (x + 1.0))); }
Value AtanRule(const Value& x, const Value&, const Value& g) { return g / (x * x + 1.0); }
Value AsinhRule(const Value& x, const Value&, const Value& g) { return g / SqrtOf(x * x + 1.0); }
Value AcoshRule(const Value& x, const Value&, const Value& g) { return g / SqrtOf((x - 1.0) * (x + 1.0)); }
Value AtanhRule(const Value& x, const Value&, const Value& g) { return g / ((1.0 - x) * (x + 1.0)); }
// d erf(x) = 2/sqrt(pi) e^(-x^2) dx
Value ErfRule(const Value& x, const Value&, const Value& g) {
  return g * (Value(math::Exp(-(x * x))) * (2 * std::numbers::inv_sqrtpi));
}
Value ErfcRule(const Value& x, const Value& y, const Value& g) { return -ErfRule(x, y, g); }

Value SoftplusRule(const Value& x, const Value&, const Value& g) { return g * Value(math::Sigmoid(x)); }
// d logit(x) = dx / (x (1 - x))
Value LogitRule(const Value& x, const Value&, const Value& g) { return g / (x * (1.0 - x)); }
// d sinc(x) = (cos(pi x) - sinc(x)) / x dx, 0 at 0
Value SincRule(const Value& x, const Value& y, const Value& g) {
  const Value zero = x == 0.0, safe = Select(zero, 1.0, x);
  const Value slope = (Value(uop::Cos((x * std::numbers::pi).u)) - y) / safe;
  return Select(zero, 0.0, g * slope);
}

// --- Gamma, error and Bessel functions ---

constexpr double kHalfSqrtPi = 0x1.c5bf891b4ef6bp-1, kInvSqrt2Pi = 0x1.9884533d43651p-2;

Value LgammaRule(const Value& x, const Value&, const Value& g) { return g * Value(math::Digamma(x)); }
Value DigammaRule(const Value& x, const Value&, const Value& g) { return g * Value(math::Polygamma(1, x)); }
// The order is part of the name.
Grads PolygammaRule(const UOpRef& y, const UOpRef& g) {
  int n = 0;
  US_CHECK(absl::SimpleAtoi(y->arg_as<std::string>().substr(sizeof("polygamma") - 1), &n));
  return {nullptr, (Value(g) * Value(math::Polygamma(n + 1, y->src(1)))).u};
}
// d erfinv(x) = sqrt(pi) / 2 e^(y^2) dx
Value ErfinvRule(const Value&, const Value& y, const Value& g) {
  return g * (Value(math::Exp((y * y).u)) * kHalfSqrtPi);
}
// d erfcx(x) = (2 x erfcx(x) - 2 / sqrt(pi)) dx
Value ErfcxRule(const Value& x, const Value& y, const Value& g) {
  return g * ((x * y - std::numbers::inv_sqrtpi) * 2.0);
}
Value NormalDensity(const Value& x) { return Value(math::Exp((x * x * -0.5).u)) * kInvSqrt2Pi; }
Value NdtrRule(const Value& x, const Value&, const Value& g) { return g * NormalDensity(x); }
// The quotient of density and distribution; below 0 both vanish together.
Value LogNdtrRule(const Value& x, const Value& y, const Value& g) {
  const Value tail =
      x.Like(2 * kInvSqrt2Pi) / Value(math::Erfcx((Max(-x, 0.0) * (std::numbers::sqrt2 / 2)).u));
  return g * Select(x < 0.0, tail, NormalDensity(x) / Value(math::Exp(y.u)));
}
Value NdtriRule(const Value&, const Value& y, const Value& g) { return g / NormalDensity(y); }
Value I0Rule(const Value& x, const Value&, const Value& g) { return g * Value(math::BesselI1(x)); }
Value I0eRule(const Value& x, const Value& y, const Value& g) {
  const Value i1e(math::BesselI1e(x));
  return g * Select(x < 0.0, i1e + y, Select(x == 0.0, 0.0, i1e - y));
}
// d I1(x) = (I0(x) - I1(x) / x) dx, 1/2 at 0
Value I1Rule(const Value& x, const Value& y, const Value& g) {
  const Value zero = x == 0.0;
  return g * Select(zero, 0.5, Value(math::BesselI0(x)) - y / Select(zero, 1.0, x));
}
Value I1eRule(const Value& x, const Value& y, const Value& g) {
  const Value zero = x == 0.0, slope = Value(math::BesselI0e(x)) - y / Select(zero, 1.0, x);
  return g * Select(zero, 0.5, Select(x < 0.0, slope + y, slope - y));
}
Value EntrRule(const Value& x, const Value&, const Value& g) { return -(g * (Value(math::Log(x)) + 1.0)); }

// d log(e^a + e^b) = sigmoid(a - b) da + sigmoid(b - a) db
Grads LogAddExpRule(const UOpRef& y, const UOpRef& g) {
  const Value a(y->src(1)), b(y->src(2));
  return {nullptr, (Value(g) * Value(math::Sigmoid(a - b))).u, (Value(g) * Value(math::Sigmoid(b - a))).u};
}
Grads LogAddExp2Rule(const UOpRef& y, const UOpRef& g) {
  const Value d = (Value(y->src(1)) - Value(y->src(2))) * std::numbers::ln2;
  return {nullptr, (Value(g) * Value(math::Sigmoid(d))).u, (Value(g) * Value(math::Sigmoid(-d))).u};
}
// d copysign(a, b) = sign(a) sign(b) da, 0 where a is 0
Grads CopysignRule(const UOpRef& y, const UOpRef& g) {
  const Value a(y->src(1)), same = (a < 0.0) == (Value(y) < 0.0);
  return {nullptr, Select(a == 0.0, 0.0, Select(same, Value(g), -Value(g))).u, nullptr};
}
// d atan2(y, x) = (x dy - y dx) / (x^2 + y^2)
Grads Atan2Rule(const UOpRef& node, const UOpRef& g) {
  const Value y(node->src(1)), x(node->src(2)), over = Value(g) / (x * x + y * y);
  return {nullptr, (over * x).u, (-(over * y)).u};
}
// d (a - q b) = da - q db, for the whole number q = (a - y) / b that truncation or flooring gave
Grads FmodRule(const UOpRef& y, const UOpRef& g) {
  const Value b(y->src(2)), q = (Value(y->src(1)) - Value(y)) / b;
  const Value whole(uop::Trunc((q + Select(q < 0.0, -0.5, q.Like(0.5))).u));
  return {nullptr, g, (-(Value(g) * whole)).u};
}
// d hypot(a, b) = (a da + b db) / hypot(a, b), 0 at the origin
Grads HypotRule(const UOpRef& y, const UOpRef& g) {
  const Value a(y->src(1)), b(y->src(2)), r(y);
  const Value over = Select(r == 0.0, 0.0, Value(g) / Select(r == 0.0, 1.0, r));
  return {nullptr, (over * a).u, (over * b).u};
}
// d x^y = y x^(y-1) dx + x^y log(x) dy; 0 for dx where y is 0, and for dy where x is 0 and y >= 0.
Grads PowRule(const UOpRef& node, const UOpRef& g0) {
  const Value x(node->src(1)), y(node->src(2)), r(node), g(g0);
  const UOp* exponent = node->src(2).get();
  while (IsMovement(exponent->op())) exponent = exponent->src(0).get();
  if (exponent->IsConst()) {
    const double c = std::get<double>(exponent->value());
    if (c == 0) return {nullptr, (g * 0.0).u, nullptr};
    return {nullptr, (g * (Value(math::Pow(x.u, x.Like(c - 1).u)) * c)).u, nullptr};
  }
  const Value dx = Select(y == 0.0, 0.0, g * (y * Value(math::Pow(x.u, (y - 1.0).u))));
  const Value flat = (x == 0.0) & Not(y < 0.0);
  const Value dy = Select(flat, 0.0, g * (r * Value(math::Log(Select(flat, 1.0, x).u))));
  return {nullptr, dx.u, dy.u};
}
std::vector<int64_t> ReducedAxes(const UOpRef& whole, const UOpRef& reduced) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < whole->shape().size(); ++i) {
    if (reduced->shape()[i] != whole->shape()[i]) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

// One element of each window: WITH_GRADIENT(value, windows, positions, chosen), the last three of one shape,
// whose reduced axes are 1 in value. The gradient goes to the element at the chosen position.
Grads ChosenRule(const UOpRef& y, const UOpRef& g) {
  const UOpRef &windows = y->src(1), &positions = y->src(2), &chosen = y->src(3);
  const UOpRef wide = uop::Expand(g, windows->shape());
  const UOpRef none = Constant(g->dtype(), 0.0, windows->shape());
  return {nullptr, uop::Where(uop::CmpEq(positions, chosen), wide, none), nullptr, nullptr};
}

// WITH_GRADIENT(f, x, c, product) for f_i = c_i prod_{j != i} x_j: with h the gradient of f,
// dx_k = sum_{i != k} h_i c_i prod_{j != i, k} x_j, from a table of all i and j.
Grads ProductGradientRule(const UOpRef& f, const UOpRef& h) {
  const UOpRef &x = f->src(1), &c = f->src(2), &product = f->src(3);
  const Value one(Constant(x->dtype(), 1.0, x->shape()));
  const UOpRef dc = uop::Mul(h, ProductGradient(x, one.u, product));
  const std::vector<int64_t> axes = ReducedAxes(x, product);
  if (axes.empty()) return {nullptr, nullptr, dc, nullptr};
  // Reduced axes last and as one.
  std::vector<int64_t> order, back(x->shape().size());
  for (size_t i = 0; i < x->shape().size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end())
      order.push_back(static_cast<int64_t>(i));
  }
  order.insert(order.end(), axes.begin(), axes.end());
  int64_t outer = 1, n = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    (i + axes.size() < order.size() ? outer : n) *= x->shape()[static_cast<size_t>(order[i])];
  }
  const UOpRef last = uop::Permute(x, order);
  const UOpRef row = uop::Reshape(last, {outer, 1, n});
  const UOpRef scale = uop::Reshape(uop::Permute(uop::Mul(h, c), order), {outer, n, 1});
  const Shape table = {outer, n, n};
  const UOpRef i = uop::Expand(uop::Reshape(uop::Iota(dtypes::kInt64, n), {1, n, 1}), table);
  const UOpRef j = uop::Expand(uop::Reshape(uop::Iota(dtypes::kInt64, n), {1, 1, n}), table);
  const UOpRef same = uop::CmpEq(i, j);
  const UOpRef others = uop::Where(same, Constant(x->dtype(), 1.0, table), uop::Expand(row, table));
  const UOpRef slopes =
      ProductGradient(others, uop::Expand(scale, table), uop::ReduceAxis(others, Op::kMul, {2}));
  const DType acc = AccType(x->dtype());
  const UOpRef sum =
      uop::Cast(uop::ReduceAxis(uop::Cast(uop::Where(same, Constant(x->dtype(), 0.0, table), slopes), acc),
                                Op::kAdd, {1}),
                x->dtype());
  return {nullptr, uop::Permute(uop::Reshape(sum, last->shape()), back), dc, nullptr};
}

}  // namespace

UOpRef ProductGradient(const UOpRef& x, const UOpRef& wide, const UOpRef& product) {
  const std::vector<int64_t> axes = ReducedAxes(x, product);
  if (axes.empty()) return wide;
  // One zero: only that element has a gradient; more zeros: none has.
  const Shape& shape = x->shape();
  const auto fill = [&](DType t, double v) {
    return Constant(t, t.IsFloat() ? ConstValue(v) : ConstValue(static_cast<int64_t>(v)), shape);
  };
  const UOpRef none = fill(x->dtype(), 0);
  const UOpRef zero = uop::CmpEq(x, none), rest = uop::Where(zero, fill(x->dtype(), 1), x);
  const UOpRef all = uop::Expand(uop::ReduceAxis(rest, Op::kMul, axes), shape);
  const UOpRef zeros = uop::Expand(uop::ReduceAxis(uop::Cast(zero, dtypes::kInt64), Op::kAdd, axes), shape);
  const UOpRef at_zero = uop::Where(uop::CmpEq(zeros, fill(dtypes::kInt64, 1)), all, none);
  const UOpRef elsewhere = uop::Where(uop::CmpEq(zeros, fill(dtypes::kInt64, 0)), uop::FDiv(all, rest), none);
  return uop::WithGradient("product", uop::Mul(wide, uop::Where(zero, at_zero, elsewhere)),
                           {x, wide, product});
}

const Derivative* FindDerivative(const std::string& name) {
  static const auto* const kTable = new absl::flat_hash_map<std::string, Derivative>{
      {"exp", OneInput<ExpRule>},
      {"expm1", OneInput<Expm1Rule>},
      {"sigmoid", OneInput<SigmoidRule>},
      {"log", OneInput<LogRule>},
      {"log10", OneInput<Log10Rule>},
      {"log1p", OneInput<Log1pRule>},
      {"sinh", OneInput<SinhRule>},
      {"cosh", OneInput<CoshRule>},
      {"tanh", OneInput<TanhRule>},
      {"tan", OneInput<TanRule>},
      {"asin", OneInput<AsinRule>},
      {"acos", OneInput<AcosRule>},
      {"atan", OneInput<AtanRule>},
      {"asinh", OneInput<AsinhRule>},
      {"acosh", OneInput<AcoshRule>},
      {"atanh", OneInput<AtanhRule>},
      {"erf", OneInput<ErfRule>},
      {"erfc", OneInput<ErfcRule>},
      {"softplus", OneInput<SoftplusRule>},
      {"logit", OneInput<LogitRule>},
      {"sinc", OneInput<SincRule>},
      {"lgamma", OneInput<LgammaRule>},
      {"digamma", OneInput<DigammaRule>},
      {"polygamma", PolygammaRule},
      {"erfinv", OneInput<ErfinvRule>},
      {"erfcx", OneInput<ErfcxRule>},
      {"ndtr", OneInput<NdtrRule>},
      {"log_ndtr", OneInput<LogNdtrRule>},
      {"ndtri", OneInput<NdtriRule>},
      {"i0", OneInput<I0Rule>},
      {"i0e", OneInput<I0eRule>},
      {"i1", OneInput<I1Rule>},
      {"i1e", OneInput<I1eRule>},
      {"entr", OneInput<EntrRule>},
      {"logaddexp", LogAddExpRule},
      {"logaddexp2", LogAddExp2Rule},
      {"copysign", CopysignRule},
      {"atan2", Atan2Rule},
      {"fmod", FmodRule},
      {"hypot", HypotRule},
      {"chosen", ChosenRule},
      {"product", ProductGradientRule},
      {"scattered_extreme", ScatteredExtremeRule},
      {"scattered_extreme_alone", ScatteredExtremeAloneRule},
      {"pow", PowRule},
  };
  const auto it = kTable->find(absl::StartsWith(name, "polygamma") ? "polygamma" : name);
  return it == kTable->end() ? nullptr : &it->second;
}

}  // namespace understudy::tensor_internal
