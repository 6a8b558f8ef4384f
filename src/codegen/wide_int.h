// SPDX-License-Identifier: Apache-2.0
#pragma once
// 64-bit integers as pairs of u32, for targets whose arithmetic has none. Used by Decompose as its last step,
// when all other ops have their final form; LowerKernel refuses first what it cannot split.

#include "absl/status/status.h"
#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

bool LacksWideInts(const Target& target);

// Unimplemented where a kernel computes its indices in 64 bits, or an array of 64-bit integers has 2^30
// elements or more: its places as u32 would not fit in i32. Call it after stage "index".
absl::Status CheckWideInts(const UOpRef& kernel);

// Every value of i64 or u64 becomes a low and a high word, low first in memory; arrays become arrays of u32
// of twice the size. The results are the same bit for bit: products from 16-bit halves, quotients one bit at
// a time, conversions to floats rounded once. f64 values keep their arithmetic; their bits are moved as
// u32x2.
UOpRef SplitWideInts(const UOpRef& kernel);

}  // namespace understudy
