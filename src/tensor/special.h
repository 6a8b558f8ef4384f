// SPDX-License-Identifier: Apache-2.0
#pragma once
// torch.special: gamma, error and Bessel functions, with PyTorch's names, special values and gradients.
// Integers and bool answer in f32. f32 results are rounded once from f64; bounds stand in
// src/tensor/math_special.h. What torch.special shares with the elementary functions (erf, erfc, expm1,
// log1p, logit, sinc, xlogy, log_softmax ...) is in elementwise_ops.h and reduce_ops.h.

#include "src/tensor/tensor.h"

namespace understudy {

Tensor Lgamma(const Tensor& x);   // log |gamma(x)|, also torch.special.gammaln
Tensor Digamma(const Tensor& x);  // also torch.special.psi
// The n-th derivative of Digamma, n from 0 to 30.
Tensor Polygamma(int n, const Tensor& x);
// The logarithm of the multivariate gamma function of dimension p.
Tensor Mvlgamma(const Tensor& x, int p);

Tensor Erfinv(const Tensor& x);
Tensor Erfcx(const Tensor& x);    // e^(x^2) erfc(x)
Tensor Ndtr(const Tensor& x);     // the area under the normal density below x
Tensor LogNdtr(const Tensor& x);  // its logarithm
Tensor Ndtri(const Tensor& p);    // its inverse

// Modified Bessel functions of the first kind; I0e and I1e times e^-|x|.
Tensor I0(const Tensor& x);
Tensor I0e(const Tensor& x);
Tensor I1(const Tensor& x);
Tensor I1e(const Tensor& x);

inline Tensor Expit(const Tensor& x) { return x.Sigmoid(); }
Tensor Entr(const Tensor& x);  // -x log(x); 0 at 0, -inf below
// x log(1 + y); 0 where x is 0 and y is no NaN.
Tensor Xlog1py(const Tensor& x, const Operand& y);

}  // namespace understudy
