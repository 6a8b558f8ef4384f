// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensor cores as data: the shape and types of one matrix instruction of a wave, and which element of a
// matrix each lane holds where. A Target lists those that it has; codegen builds fragments by them, and a
// renderer knows their names. Layouts: AMD's matrix instruction calculator and docs/matrix.md; PTX ISA,
// "Matrix Fragments for mma".

#include <cstdint>
#include <string>
#include <vector>

#include "src/dtype/dtype.h"

namespace understudy {

// How the lanes of a wave share a matrix: a lane stands for one line of it (a row of A, a column of B or C)
// and holds `elements` of it. Along the line `groups` of lanes take turns, `chunk` elements each. With
// several `lines` a lane has as many, evenly spaced: after each chunk of the first comes that of the second.
struct Fragment {
  int elements = 1, groups = 1, chunk = 1;
  int lines = 1;
  bool neighbours = false;  // the lanes of a line are neighbours; else lanes one line apart are
  friend bool operator==(const Fragment&, const Fragment&) = default;
};

struct TensorCore {
  std::string name;  // what the renderer calls it: the LLVM intrinsic without its "llvm.amdgcn.", PTX's name
  int m = 0, n = 0, k = 0;  // C (m x n) += A (m x k) B (k x n)
  DType in, out;            // of A and B, and of C
  int wave_size = 32;
  Fragment a, b, c;        // A along k, B along k, C along m or n
  bool c_by_rows = false;  // C's lines are rows
  friend bool operator==(const TensorCore&, const TensorCore&) = default;
};

// Those of an AMD processor ("gfx1100", "gfx942", ...), the preferred one of equal types first; none for
// processors without.
std::vector<TensorCore> AmdTensorCores(const std::string& isa);

// Those of an NVIDIA compute capability: 80, 89, 90...
std::vector<TensorCore> NvidiaTensorCores(int sm);

}  // namespace understudy
