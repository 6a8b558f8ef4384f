// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where every register holds a value that is still read: by position, instruction i of the function reading
// at 2 i and writing at 2 i + 1. Used by the allocator.

#include <vector>

#include "src/render/machine/ir.h"

namespace understudy::machine {

// [begin, end) of positions.
struct Segment {
  int begin = 0, end = 0;
};
using Segments = std::vector<Segment>;  // ascending, apart

struct Liveness {
  std::vector<Segments> of;      // by virtual register (number - kFirstVirtual)
  std::vector<Segments> real;    // by real register, kFirstVirtual of them
  std::vector<float> weight;     // by virtual register: reads and writes, ten times as many in each loop
  std::vector<int> block_begin;  // first instruction of each block, and one past the last
};

// Deleted instructions count for nothing but keep their numbers. `live_in` real registers hold arguments.
Liveness ComputeLiveness(const Function& f, const std::vector<Reg>& live_in);

bool Overlap(const Segments& a, const Segments& b);
Segments Union(const Segments& a, const Segments& b);

}  // namespace understudy::machine
