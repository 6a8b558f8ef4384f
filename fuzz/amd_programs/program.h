// SPDX-License-Identifier: Apache-2.0
#pragma once
// A random kernel as a tree of C text, so that a reducer can drop statements from it. Made by generate.h,
// compiled by compile.h. Plain data; it knows nothing of C beyond its own nesting.

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/program_tree/node.h"

namespace understudy::programs {

struct Program {
  uint64_t seed = 0;
  std::string name;  // of the kernel
  std::vector<Node> nodes;
};

// C text in the words of support.h, without its #include.
std::string Text(const Program& program);
// Lines of that text.
int CountLines(const Program& program);

}  // namespace understudy::programs
