// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constants and the one definition of CAST. Folding, REF, the renderers' tests and the Tensor API all read
// constants through this file.

#include <cstdint>
#include <string>
#include <variant>

#include "src/dtype/dtype.h"

namespace understudy {

// Integers, bool and index hold int64_t (u64 as its bit pattern); floats hold their exact value as double.
using ConstValue = std::variant<int64_t, double>;

// The value as the type stores it: integers wrap to the width (then sign- or zero-extend to 64 bits), bool
// becomes 0 or 1, floats round to nearest even in the type's format, every NaN becomes the quiet positive
// NaN. The alternative always matches the type afterwards; a double given for an integer type converts as
// CAST does.
ConstValue Canonical(DType type, ConstValue value);

// CAST. Integer to integer wraps; to bool is x != 0; integer to float rounds to nearest even once (u64 read
// as unsigned); float to integer truncates toward zero and saturates at the destination's limits, NaN gives
// 0; float to float rounds to nearest even once: overflow gives infinity, or NaN where the format has none.
ConstValue CastConst(DType from, DType to, ConstValue value);

// The bits in memory, right-aligned in 64 bits, and back.
uint64_t ToBits(DType type, ConstValue value);
ConstValue FromBits(DType type, uint64_t bits);

// Smallest and largest finite values. US_CHECKs that the type is bool, integer or float.
ConstValue MinValue(DType type);
ConstValue MaxValue(DType type);

// Identity and bit equality: -0.0 differs from 0.0, NaN equals NaN.
bool SameConst(const ConstValue& a, const ConstValue& b);

// "3", "true", "0x1.8p+1", "nan", "-inf".
std::string ConstText(DType type, const ConstValue& value);

}  // namespace understudy
