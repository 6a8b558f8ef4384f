// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fixed-point rules of matrix sums for one element at a time, infinities, NaNs, denormal results and
// overflows included. The vector loops hand over what they do not cover; tests compare the two where both
// apply.

#include <cstdint>

#include "emu/amd/semantics/matrix_kernels.h"

namespace understudy::emu::amd {

// Each replaces p.cd[row * p.cols + col ...] by D. p.a and p.b are significands, p.a_value and p.b_value are
// set.
void Dot2Scalar(const MatrixProduct& p, int row, int col, int n);
void Dot4Scalar(const MatrixProduct& p, int row, int col, int n);
void FusedScalar(const MatrixProduct& p, int row, int col, int n);
void FusedHalvesScalar(const MatrixProduct& p, int row, int col, int n);

// f16 to f32 and back without arithmetic, NaN payloads kept. Narrowing is exact for values that f16 holds.
uint32_t WidenHalf(uint32_t half);
uint32_t NarrowHalf(uint32_t bits);

}  // namespace understudy::emu::amd
