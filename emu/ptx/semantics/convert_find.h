// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the executor of a cvt with a float on either side. Used by float_find.cc alone.

#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

// {} for conversions between integers and for cvt.pack.
Exec FindConvertExec(const Instruction& inst, const ExecContext& context);

}  // namespace understudy::emu::ptx
