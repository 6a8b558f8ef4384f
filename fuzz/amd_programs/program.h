// SPDX-License-Identifier: Apache-2.0
#pragma once
// A random kernel as a tree of C text, so that a reducer can drop statements from it. Made by generate.h,
// compiled by compile.h. Plain data; it knows nothing of C beyond its own nesting.

#include <cstdint>
#include <string>
#include <vector>

namespace understudy::programs {

// `head`, the children, `tail`: a statement (no children) or a block. Text without its indentation.
struct Node {
  std::string head, tail;
  std::vector<Node> children;
  // Without it the program is still one: all that it sets has a value before. Nodes that are not removable
  // may have removable children.
  bool removable = false;
};

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
