// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the executors of add, sub and fma of f32 with f16 or bf16 operands. Used by float_find.cc alone.

#include "emu/ptx/core/warp.h"

namespace understudy::emu::ptx {

// `type`: f16 or bf16. Null where there is no such form.
ExecFn FindMixed(Op op, Type type, bool saturate);

}  // namespace understudy::emu::ptx
