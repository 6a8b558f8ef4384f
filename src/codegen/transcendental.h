// SPDX-License-Identifier: Apache-2.0
#pragma once
// EXP2, LOG2, SIN and COS of f32 and f64 written with ops that every target rounds the same way, for targets whose
// own instructions are approximate. Used by the decomposition stage. Error below 1 ulp over the full range,
// denormals and huge arguments included; the same bits on every target.

#include "src/uop/uop.h"

namespace understudy {

// `x` is f32 or f64, of any lane count.
UOpRef Exp2Polynomial(const UOpRef& x);
UOpRef Log2Polynomial(const UOpRef& x);
UOpRef SinPolynomial(const UOpRef& x);
UOpRef CosPolynomial(const UOpRef& x);

}  // namespace understudy
