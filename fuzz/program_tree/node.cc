// SPDX-License-Identifier: Apache-2.0
#include "fuzz/program_tree/node.h"

namespace understudy::programs {
namespace {

void Print(const Node& node, int depth, std::string& out) {
  const auto lines = [&](const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      out += std::string(static_cast<size_t>(2 * depth), ' ') + text.substr(at, end - at) + "\n";
      at = end + 1;
    }
  };
  lines(node.head);
  for (const Node& child : node.children) Print(child, depth + 1, out);
  lines(node.tail);
}

}  // namespace

std::string Text(const std::vector<Node>& nodes) {
  std::string out;
  for (const Node& node : nodes) Print(node, 0, out);
  return out;
}

}  // namespace understudy::programs
