// SPDX-License-Identifier: Apache-2.0
#pragma once
// Floats narrower than f32 as f32 values: conversions written with integer ops, correctly rounded. Used by
// the decomposition stage for types that a target cannot convert by itself.

#include "src/dtype/dtype.h"
#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

inline bool IsNarrowFloat(DType t) { return t.IsFloat() && t.BitWidth() < 32; }
// u8 or u16: how memory holds the type.
inline DType StorageOf(DType t) {
  return DType(t.BitWidth() == 8 ? Scalar::kUInt8 : Scalar::kUInt16, t.lanes);
}

// The f32 value of storage bits, exactly; every NaN becomes a quiet one.
UOpRef DecodeNarrow(DType type, const UOpRef& bits);
// The storage bits of an f32 value: rounded to nearest even, overflow as CAST does it.
UOpRef EncodeNarrow(DType type, const UOpRef& value);
// Decode(Encode(value)): the nearest value of the type.
UOpRef RoundToNarrow(DType type, const UOpRef& value, const Target& target);
// An f32 from which rounding to any narrower type gives what rounding the f64 directly would (round to odd).
UOpRef NarrowToOdd(const UOpRef& f64);
// An integer (any width) as an f32 from which rounding to `type` is right.
UOpRef IntegerForNarrow(const UOpRef& integer);
// a * b + c of f32 values with at most 11 significant bits, to be rounded to a narrow type.
UOpRef MulAccForNarrow(const UOpRef& a, const UOpRef& b, const UOpRef& c);

}  // namespace understudy
