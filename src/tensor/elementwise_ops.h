// SPDX-License-Identifier: Apache-2.0
#pragma once
// Elementwise functions beyond the arithmetic that Tensor has as methods: PyTorch's names, argument order,
// broadcasting, promotion and special values. Integers and bool answer in f32 where the function is a float
// function. Every function passes on the first error of its operands; none computes anything itself.
//
// f32 and f64 results are within a few units in the last place over the whole range (the bounds stand in
// src/tensor/math.h); f16, bf16 and 8-bit floats are computed in f32 and rounded once.
//
//   Tensor y = Where(Abs(x) < 1e-3, Log1p(x), Log(x + 1));

#include <optional>
#include <utility>

#include "src/tensor/tensor.h"

namespace understudy {

// --- Exponentials, logarithms, trigonometry ---
Tensor Expm1(const Tensor& x);
Tensor Log10(const Tensor& x);
Tensor Log1p(const Tensor& x);
Tensor Tan(const Tensor& x);
Tensor Asin(const Tensor& x);
Tensor Acos(const Tensor& x);
Tensor Atan(const Tensor& x);
Tensor Sinh(const Tensor& x);
Tensor Cosh(const Tensor& x);
Tensor Asinh(const Tensor& x);
Tensor Acosh(const Tensor& x);
Tensor Atanh(const Tensor& x);
Tensor Erf(const Tensor& x);
Tensor Erfc(const Tensor& x);
// sin(pi x) / (pi x), 1 at 0.
Tensor Sinc(const Tensor& x);
// log(x / (1 - x)); with eps, x is first clamped to [eps, 1 - eps].
Tensor Logit(const Tensor& x, std::optional<double> eps = std::nullopt);
Tensor Atan2(const Tensor& y, const Operand& x);
Tensor Hypot(const Tensor& a, const Operand& b);
// log(e^a + e^b) and log2(2^a + 2^b), without overflow.
Tensor LogAddExp(const Tensor& a, const Operand& b);
Tensor LogAddExp2(const Tensor& a, const Operand& b);
// x log(y); 0 where x is 0 and y is no NaN.
Tensor Xlogy(const Tensor& x, const Operand& y);

// --- Rounding, signs, remainders ---
// To the nearest integer, halves to even; with decimals, of x 10^decimals, divided back (floats only).
Tensor Round(const Tensor& x, int decimals = 0);
Tensor Frac(const Tensor& x);  // x - trunc(x)
Tensor Copysign(const Tensor& magnitude, const Operand& sign);
Tensor Signbit(const Tensor& x);
Tensor Remainder(const Tensor& a, const Operand& b);  // sign of the divisor; Tensor::Fmod has the dividend's
Tensor Ldexp(const Tensor& x, const Operand& exponent);
// 0 below 0, `values` at 0, 1 above.
Tensor Heaviside(const Tensor& x, const Tensor& values);

// --- Tests ---
Tensor IsInf(const Tensor& x);
Tensor IsFinite(const Tensor& x);
// |a - b| <= atol + rtol |b|, or equal infinities; NaNs are close to each other with equal_nan.
Tensor IsClose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
// All of IsClose, a bool scalar.
Tensor AllClose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false);
Tensor LogicalAnd(const Tensor& a, const Operand& b);
Tensor LogicalOr(const Tensor& a, const Operand& b);
Tensor LogicalXor(const Tensor& a, const Operand& b);

// --- Choosing and mixing ---
// The operand that is no NaN when the other one is (Tensor::Maximum and Minimum give NaN).
Tensor Fmax(const Tensor& a, const Operand& b);
Tensor Fmin(const Tensor& a, const Operand& b);
// Bounds as tensors, broadcast; either may be null, not both. The upper bound wins where they cross.
Tensor Clamp(const Tensor& x, const Tensor* low, const Tensor* high);
// NaN becomes `nan`, infinities the given numbers or the largest finite values of the type.
Tensor NanToNum(const Tensor& x, double nan = 0, std::optional<double> posinf = std::nullopt,
                std::optional<double> neginf = std::nullopt);
// `value` (converted to x's type) where the mask is true.
Tensor MaskedFill(const Tensor& x, const Tensor& mask, const Operand& value);
Tensor Addcmul(const Tensor& x, const Tensor& a, const Tensor& b, Number value = 1);  // x + value a b
Tensor Addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, Number value = 1);  // x + value a / b

// --- Counter-based random bits ---
// Threefry-2x32 with 20 rounds of u32 tensors, broadcast: the two words of each element.
std::pair<Tensor, Tensor> Threefry2x32(const Tensor& key0, const Tensor& key1, const Tensor& counter0,
                                       const Tensor& counter1);
// The same of u64 tensors whose low word is word 0.
Tensor Threefry(const Tensor& counter, const Tensor& key);

}  // namespace understudy
