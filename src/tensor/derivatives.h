// SPDX-License-Identifier: Apache-2.0
#pragma once
// Named derivatives: what WITH_GRADIENT nodes refer to. A function whose formula is made for accuracy (split
// arguments, bit patterns, polynomials) carries here the derivative of what it computes, exact and short,
// instead of that of its formula. Rules build graphs of other functions, so they can be differentiated again.
// Nothing outside src/tensor includes this.

#include <string>
#include <vector>

#include "src/uop/uop.h"

namespace understudy::tensor_internal {

// `y` is WITH_GRADIENT(value, inputs...), `g` the gradient of its value. One entry a source: null for the
// value, and null or the gradient (of the input's shape and dtype) for each input.
using Derivative = std::vector<UOpRef> (*)(const UOpRef& y, const UOpRef& g);

// Null when there is none of that name.
const Derivative* FindDerivative(const std::string& name);

// `wide` times the product of the others, for each element of x; `product` is x's, reduced axes 1. It can be
// differentiated again, also where elements are 0.
UOpRef ProductGradient(const UOpRef& x, const UOpRef& wide, const UOpRef& product);

}  // namespace understudy::tensor_internal
