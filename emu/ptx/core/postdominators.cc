// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/postdominators.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace understudy::emu::ptx {
namespace {

constexpr int kNone = -1;

struct Block {
  uint32_t first = 0, last = 0;
  bool leaves = false;
  std::vector<int> successors, predecessors;
};

std::vector<Block> MakeBlocks(const std::vector<Flow>& code, std::vector<int>* block_of) {
  const size_t n = code.size();
  std::vector<bool> leader(n + 1, false);
  leader[0] = true;
  for (size_t i = 0; i < n; ++i) {
    for (uint32_t target : code[i].targets) leader[std::min<size_t>(target, n)] = true;
    if (!code[i].targets.empty() || code[i].leaves || !code[i].falls_through) leader[i + 1] = true;
  }
  std::vector<Block> blocks;
  block_of->assign(n, 0);
  for (size_t i = 0; i < n; ++i) {
    if (leader[i]) {
      blocks.emplace_back();
      blocks.back().first = static_cast<uint32_t>(i);
    }
    blocks.back().last = static_cast<uint32_t>(i);
    (*block_of)[i] = static_cast<int>(blocks.size()) - 1;
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    Block& block = blocks[b];
    const Flow& flow = code[block.last];
    if (flow.falls_through && block.last + 1 < n) block.successors.push_back((*block_of)[block.last + 1]);
    for (uint32_t target : flow.targets)
      if (target < n) block.successors.push_back((*block_of)[target]);
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()),
                           block.successors.end());
    // One that may also go on is no end: those that leave there are just no longer waited for.
    block.leaves = block.successors.empty();
    for (int s : block.successors) blocks[static_cast<size_t>(s)].predecessors.push_back(static_cast<int>(b));
  }
  return blocks;
}

// Blocks not yet settled that reach `exit`, exit first, each after at least one of its successors (reverse
// post-order of the reversed graph).
std::vector<int> ReversePostOrder(const std::vector<Block>& blocks, int exit, const std::vector<bool>& done) {
  std::vector<int> order;
  std::vector<bool> seen(blocks.size(), false);
  std::vector<std::pair<int, size_t>> stack{{exit, 0}};
  seen[static_cast<size_t>(exit)] = true;
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    const auto& predecessors = blocks[static_cast<size_t>(b)].predecessors;
    if (next == predecessors.size()) {
      order.push_back(b);
      stack.pop_back();
      continue;
    }
    const int p = predecessors[next++];
    if (seen[static_cast<size_t>(p)] || done[static_cast<size_t>(p)]) continue;
    seen[static_cast<size_t>(p)] = true;
    stack.emplace_back(p, 0);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

// Immediate post-dominators by Cooper, Harvey and Kennedy's iteration, once per block that ends the function,
// that which most blocks reach first: a block belongs to the first of them that it reaches.
std::vector<uint32_t> ReconvergencePoints(const std::vector<Flow>& code) {
  std::vector<uint32_t> points(code.size(), ~0u);
  if (code.empty()) return points;
  std::vector<int> block_of;
  const std::vector<Block> blocks = MakeBlocks(code, &block_of);
  std::vector<bool> done(blocks.size(), false);
  std::vector<int> immediate(blocks.size(), kNone);
  std::vector<int> position(blocks.size(), kNone);
  std::vector<std::pair<size_t, size_t>> ends;  // blocks that reach it, block
  for (size_t e = 0; e < blocks.size(); ++e)
    if (blocks[e].leaves) ends.emplace_back(ReversePostOrder(blocks, static_cast<int>(e), done).size(), e);
  std::sort(ends.rbegin(), ends.rend());
  for (const auto& [reach, e] : ends) {
    if (done[e]) continue;
    const int exit = static_cast<int>(e);
    const std::vector<int> order = ReversePostOrder(blocks, exit, done);
    std::fill(position.begin(), position.end(), kNone);
    for (size_t i = 0; i < order.size(); ++i) position[static_cast<size_t>(order[i])] = static_cast<int>(i);
    immediate[e] = exit;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 1; i < order.size(); ++i) {
        const size_t b = static_cast<size_t>(order[i]);
        int common = kNone;
        for (int s : blocks[b].successors) {
          if (position[static_cast<size_t>(s)] == kNone || immediate[static_cast<size_t>(s)] == kNone)
            continue;
          if (common == kNone) {
            common = s;
            continue;
          }
          int x = s;
          while (x != common) {
            while (position[static_cast<size_t>(x)] > position[static_cast<size_t>(common)])
              x = immediate[static_cast<size_t>(x)];
            while (position[static_cast<size_t>(common)] > position[static_cast<size_t>(x)])
              common = immediate[static_cast<size_t>(common)];
          }
        }
        if (immediate[b] == common) continue;
        immediate[b] = common;
        changed = true;
      }
    }
    for (int b : order) done[static_cast<size_t>(b)] = true;
    immediate[e] = kNone;
  }
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].targets.empty()) continue;
    const int meet = immediate[static_cast<size_t>(block_of[i])];
    if (meet != kNone) points[i] = blocks[static_cast<size_t>(meet)].first;
  }
  return points;
}

}  // namespace understudy::emu::ptx
