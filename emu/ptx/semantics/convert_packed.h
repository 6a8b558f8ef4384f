// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the executors of conversions to and from packed narrow formats, tf32, ue8m0 and of stochastic
// rounding. Used by convert_find.cc alone.

#include "emu/ptx/core/warp.h"

namespace understudy::emu::ptx {

// In Inst::aux[0]. aux[1]: the Round of tf32.
enum PackedFlags : uint64_t { kPackedRelu = 1, kPackedFinite = 2, kPackedUp = 4 };

// Null where there is no such conversion.
ExecFn FindPackedConvert(Type to, Type from);
ExecFn FindStochasticConvert(Type to);  // from f32

}  // namespace understudy::emu::ptx
