// SPDX-License-Identifier: Apache-2.0
#pragma once
// A random program as a tree of text, so that a reducer can drop statements from it. Used by the generators
// of amd_programs and ptx_programs. Plain data; it knows nothing of a language beyond its own nesting.

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

// The text, two columns a level.
std::string Text(const std::vector<Node>& nodes);

}  // namespace understudy::programs
