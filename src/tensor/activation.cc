// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/activation.h"

#include <numbers>

#include "src/base/status.h"
#include "src/tensor/math.h"
#include "src/tensor/value_expr.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::Combine;
using tensor_internal::ComputeType;
using tensor_internal::FloatType;
using tensor_internal::Text;
using tensor_internal::Value;
namespace math = tensor_internal::math;

namespace {

// A formula in the compute type, rounded once to the result type.
template <class F>
Tensor Formula(const char* name, const Tensor& a, F f) {
  if (!a.ok()) return a;
  const DType out = FloatType(a.dtype());
  const Value x(uop::Cast(a.uop(), ComputeType(out)));
  return Combine(name, {&a}, uop::Cast(f(x).u, out));
}

// A comparison chooses, so that NaN and the gradient stay with x.
Value ClampTo(const Value& x, double low, double high) {
  const Value v = Select(x < low, low, x);
  return Select(v > high, high, v);
}

Value SigmoidOf(const Value& x) { return Value(math::Sigmoid(x)); }

}  // namespace

// Integers keep their type, as in PyTorch.
Tensor Relu6(const Tensor& x) { return x.dtype().IsFloat() ? Hardtanh(x, 0, 6) : x.Clamp(0, 6); }
Tensor LeakyRelu(const Tensor& x, double negative_slope) {
  return Formula("LeakyRelu", x, [&](const Value& v) { return Select(v > 0.0, v, v * negative_slope); });
}
Tensor Prelu(const Tensor& x, const Tensor& weight) {
  if (!x.ok()) return x;
  if (!weight.ok()) return weight;
  Tensor w = weight;
  if (weight.numel() != 1) {
    const int64_t channels = x.ndim() == 0 ? 1 : x.shape()[x.ndim() == 1 ? 0 : 1];
    if (weight.ndim() != 1 || weight.numel() != channels) {
      return Tensor(Bad("Prelu", "weight of shape ", Text(weight.shape()), " for x of shape ",
                        Text(x.shape()), ", expected one element or one a channel"));
    }
    Shape s(x.ndim(), 1);
    s[x.ndim() == 1 ? 0 : 1] = channels;
    w = weight.Reshape(s);
  } else {
    w = weight.Reshape(Shape(x.ndim(), 1));
  }
  return Where(x.Gt(0), x, x * w);
}
Tensor RreluEval(const Tensor& x, double lower, double upper) { return LeakyRelu(x, (lower + upper) / 2); }
namespace {
// scale * (x above 0, else alpha (e^(x input_scale) - 1)).
Value EluOf(const Value& x, double alpha, double scale, double input_scale) {
  // The exponential is taken of what is not positive only: its slope must stay finite where it is not chosen.
  const Value low = Select(x > 0.0, 0.0, input_scale == 1 ? x : x * input_scale);
  return Select(x > 0.0, scale == 1 ? x : x * scale, Value(math::Expm1(low)) * (alpha * scale));
}
}  // namespace
Tensor Elu(const Tensor& x, double alpha) {
  return Formula("Elu", x, [&](const Value& v) { return EluOf(v, alpha, 1, 1); });
}
Tensor Celu(const Tensor& x, double alpha) {
  if (x.ok() && alpha == 0) return Tensor(Bad("Celu", "alpha 0, expected another number"));
  return Formula("Celu", x, [&](const Value& v) { return EluOf(v, alpha, 1, 1 / alpha); });
}
Tensor Selu(const Tensor& x) {
  // Klambauer et al., "Self-normalizing neural networks", 2017.
  return Formula("Selu", x, [](const Value& v) {
    return EluOf(v, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
  });
}
Tensor Silu(const Tensor& x) {
  return Formula("Silu", x, [](const Value& v) { return v * SigmoidOf(v); });
}
Tensor Mish(const Tensor& x) {
  return Formula("Mish", x, [](const Value& v) { return v * Value(math::Tanh(math::Softplus(v))); });
}
Tensor Gelu(const Tensor& x, GeluForm form) {
  if (form == GeluForm::kTanh) return x.Gelu();
  // x Phi(x) with Phi(x) = erfc(-x / sqrt 2) / 2: small tails keep their relative accuracy.
  return Formula("Gelu", x,
                 [](const Value& v) { return v * 0.5 * Value(math::Erfc(v * (-std::numbers::sqrt2 / 2))); });
}
Tensor QuickGelu(const Tensor& x) {
  return Formula("QuickGelu", x, [](const Value& v) { return v * SigmoidOf(v * 1.702); });
}
Tensor Softplus(const Tensor& x, double beta, double threshold) {
  if (x.ok() && beta == 0) return Tensor(Bad("Softplus", "beta 0, expected another number"));
  return Formula("Softplus", x, [&](const Value& v) {
    const Value scaled = beta == 1 ? v : v * beta;
    const Value soft(math::Softplus(scaled));
    return Select(scaled > threshold, v, beta == 1 ? soft : soft / beta);
  });
}
Tensor Softsign(const Tensor& x) {
  return Formula("Softsign", x, [](const Value& v) {
    // |x| as a select: its slope at 0 is then of one side, and the quotient's is 1.
    return v / (Select(v < 0.0, -v, v) + 1.0);
  });
}
Tensor LogSigmoid(const Tensor& x) {
  return Formula("LogSigmoid", x, [](const Value& v) { return -Value(math::Softplus(-v)); });
}
Tensor Hardtanh(const Tensor& x, double min, double max) {
  if (x.ok() && !(min <= max))
    return Tensor(Bad("Hardtanh", "bounds ", min, " and ", max, " are in the wrong order"));
  return Formula("Hardtanh", x, [&](const Value& v) {
    // PyTorch's slope is 0 at the bounds themselves.
    const Value low = Select(v > min, v, Select(v != v, v, min));
    return Select(low < max, low, Select(v != v, v, max));
  });
}
Tensor Hardsigmoid(const Tensor& x) {
  return Formula("Hardsigmoid", x, [](const Value& v) {
    const Value line = (v + 3.0) / 6.0;
    const Value low = Select(v > -3.0, line, Select(v != v, v, 0.0));
    return Select(v < 3.0, low, Select(v != v, v, 1.0));
  });
}
Tensor Hardswish(const Tensor& x) {
  return Formula("Hardswish", x, [](const Value& v) { return v * ClampTo(v + 3.0, 0, 6) / 6.0; });
}
Tensor Hardshrink(const Tensor& x, double lambda) {
  return Formula("Hardshrink", x,
                 [&](const Value& v) { return Select((v > lambda) | (v < -lambda) | (v != v), v, 0.0); });
}
Tensor Softshrink(const Tensor& x, double lambda) {
  if (x.ok() && !(lambda >= 0)) return Tensor(Bad("Softshrink", "lambda ", lambda, ", expected at least 0"));
  return Formula("Softshrink", x, [&](const Value& v) {
    return Select(v > lambda, v - lambda, Select(v < -lambda, v + lambda, v * 0.0));
  });
}
Tensor Tanhshrink(const Tensor& x) {
  return Formula("Tanhshrink", x, [](const Value& v) { return v - Value(math::Tanh(v)); });
}
Tensor Threshold(const Tensor& x, double threshold, double value) {
  return Formula("Threshold", x,
                 [&](const Value& v) { return Select((v > threshold) | (v != v), v, value); });
}
Tensor Glu(const Tensor& x, int64_t axis) {
  if (!x.ok()) return x;
  const auto a = tensor_internal::Axis("Glu", axis, x.ndim());
  if (!a.ok()) return Tensor(a.status());
  const int64_t n = x.shape()[*a];
  if (n % 2 != 0) return Tensor(Bad("Glu", "axis ", axis, " of size ", n, ", expected an even size"));
  std::vector<std::pair<int64_t, int64_t>> first, second;
  for (const int64_t d : x.shape()) first.push_back({0, d});
  second = first;
  first[*a] = {0, n / 2};
  second[*a] = {n / 2, n};
  return x.Shrink(first) * x.Shrink(second).Sigmoid();
}

}  // namespace understudy
