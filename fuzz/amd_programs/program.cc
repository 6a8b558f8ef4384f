// SPDX-License-Identifier: Apache-2.0
#include "fuzz/amd_programs/program.h"

#include <algorithm>

namespace understudy::programs {
namespace {

void Print(const Node& node, int depth, std::string& out) {
  const auto line = [&](const std::string& text) {
    if (!text.empty()) out += std::string(static_cast<size_t>(2 * depth), ' ') + text + "\n";
  };
  line(node.head);
  for (const Node& child : node.children) Print(child, depth + 1, out);
  line(node.tail);
}

}  // namespace

std::string Text(const Program& program) {
  std::string out;
  for (const Node& node : program.nodes) Print(node, 0, out);
  return out;
}

int CountLines(const Program& program) {
  const std::string text = Text(program);
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace understudy::programs
