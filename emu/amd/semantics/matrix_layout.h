// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the elements of a matrix instruction lie: which register, bits and lanes hold A[i][k], B[k][j], C and
// D[i][j] and the index of sparse A. Used by matrix_table.cc alone.

#include "emu/amd/semantics/matrix_table.h"

namespace understudy::emu::amd {

// `bits` is the width of an element of A and B.
MatrixPlan MakeMatrixPlan(const MatrixOp& op, int wave_size, int bits);

}  // namespace understudy::emu::amd
