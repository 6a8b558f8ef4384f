// SPDX-License-Identifier: Apache-2.0
#pragma once
// Division by a constant as a multiplication and a shift, for targets whose compiler does not make that
// itself. Used by Decompose. It never divides by 0 or by a variable, and leaves 64-bit types alone: their
// product would need 128 bits.

#include <cstdint>
#include <optional>

#include "src/uop/uop.h"

namespace understudy {

// floor(x * multiplier / 2^shift) = floor(x / d).
struct Reciprocal {
  uint64_t multiplier = 0;
  int shift = 0;
};

// The one of the least shift that is right for every x in [0, limit], keeps x * multiplier below
// 2^product_bits, and is above 1/d, so that negative numbers truncate after adding 1. With m d = 2^k + e,
// x m / 2^k = x / d + x e / (d 2^k) stays below the next integer for all x exactly when it does for the
// greatest x that leaves the remainder d - 1, which is x e < 2^k (Granlund and Montgomery, Division by
// Invariant Integers using Multiplication, 1994). Nothing where there is none. Needs 2 <= d <= limit < 2^32.
std::optional<Reciprocal> ReciprocalOf(uint64_t d, uint64_t limit, int product_bits);

// x / d, truncating, for a CONST d of x's type, in arithmetic without divisions. Null where that is not
// known: types of 64 bits (but powers of two), d = 0.
UOpRef DivideByConstant(const UOpRef& x, const UOpRef& d);

// All IDIVs and IMODs by such constants replaced.
UOpRef DivisionsByConstants(const UOpRef& kernel);

}  // namespace understudy
