// SPDX-License-Identifier: Apache-2.0
#pragma once
// Double-precision arithmetic under a directed rounding, done by the host's own FPU. Used by the semantics
// when MODE asks for anything but nearest-even; never changes the caller's rounding mode.

#include "emu/amd/semantics/fp_mode.h"

namespace understudy::emu::amd {

double AddRounded(double a, double b, Round round);
double MulRounded(double a, double b, Round round);
double FmaRounded(double a, double b, double c, Round round);
double SqrtRounded(double a, Round round);

}  // namespace understudy::emu::amd
