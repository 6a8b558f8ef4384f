// SPDX-License-Identifier: Apache-2.0
#include "src/render/machine/liveness.h"

#include <algorithm>

namespace understudy::machine {
namespace {

using Bits = std::vector<uint64_t>;

bool Test(const Bits& b, Reg r) { return b[r / 64] >> (r % 64) & 1; }
void Set(Bits& b, Reg r) { b[r / 64] |= uint64_t{1} << (r % 64); }

// Live before each block, real and virtual registers alike.
std::vector<Bits> LiveIn(const Function& f) {
  const size_t words = (kFirstVirtual + f.virtuals.size() + 63) / 64, blocks = f.blocks.size();
  std::vector<Bits> reads(blocks, Bits(words)), writes(blocks, Bits(words)), in(blocks, Bits(words));
  for (size_t b = 0; b < blocks; ++b) {
    for (const Inst& i : f.blocks[b].insts) {
      if (i.flags & Inst::kDeleted) continue;
      ForEachReg(i, [&](Reg r, Role role) {
        if (role != Role::kDef && !Test(writes[b], r)) Set(reads[b], r);
      });
      ForEachReg(i, [&](Reg r, Role role) {
        if (role != Role::kUse) Set(writes[b], r);
      });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks; b-- > 0;) {
      for (size_t w = 0; w < words; ++w) {
        uint64_t out = 0;
        for (const int n : f.blocks[b].next) out |= in[n][w];
        const uint64_t now = reads[b][w] | (out & ~writes[b][w]);
        changed |= now != in[b][w];
        in[b][w] = now;
      }
    }
  }
  return in;
}

}  // namespace

Liveness ComputeLiveness(const Function& f, const std::vector<Reg>& live_in) {
  Liveness l;
  const size_t count = kFirstVirtual + f.virtuals.size(), words = (count + 63) / 64;
  l.weight.assign(f.virtuals.size(), 0);
  int position = 0;
  for (const Block& b : f.blocks) {
    l.block_begin.push_back(position);
    position += static_cast<int>(b.insts.size());
  }
  l.block_begin.push_back(position);

  const std::vector<Bits> in = LiveIn(f);
  std::vector<Segments> all(count);
  std::vector<int> open(count, -1);  // where the segment that is being read backwards ends
  for (size_t b = f.blocks.size(); b-- > 0;) {
    const Block& block = f.blocks[b];
    float frequency = 1;
    for (int d = 0; d < std::min(block.depth, 6); ++d) frequency *= 10;
    const int begin = 2 * l.block_begin[b], end = 2 * l.block_begin[b + 1];
    std::vector<Reg> opened;
    Bits out(words);
    for (const int n : block.next) {
      for (size_t w = 0; w < words; ++w) out[w] |= in[n][w];
    }
    for (size_t w = 0; w < words; ++w) {
      for (uint64_t bits = out[w]; bits != 0; bits &= bits - 1) {
        const Reg r = static_cast<Reg>(w * 64 + __builtin_ctzll(bits));
        open[r] = end;
        opened.push_back(r);
      }
    }
    for (size_t i = block.insts.size(); i-- > 0;) {
      const Inst& inst = block.insts[i];
      if (inst.flags & Inst::kDeleted) continue;
      const int at = begin + 2 * static_cast<int>(i);
      ForEachReg(inst, [&](Reg r, Role role) {
        if (IsVirtual(r)) l.weight[r - kFirstVirtual] += role == Role::kUseDef ? 2 * frequency : frequency;
        if (role != Role::kDef) return;
        all[r].push_back({at + 1, open[r] >= 0 ? open[r] : at + 2});
        open[r] = -1;
      });
      ForEachReg(inst, [&](Reg r, Role role) {
        if (role == Role::kDef || open[r] >= 0) return;
        open[r] = role == Role::kUseDef ? at + 2 : at + 1;
        opened.push_back(r);
      });
    }
    for (const Reg r : opened) {
      if (open[r] < 0) continue;
      all[r].push_back({begin, open[r]});
      open[r] = -1;
    }
  }
  for (const Reg r : live_in) all[r].push_back({0, 1});
  for (Segments& s : all) {
    std::sort(s.begin(), s.end(), [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
    Segments joined;
    for (const Segment& x : s) {
      if (!joined.empty() && joined.back().end >= x.begin) {
        joined.back().end = std::max(joined.back().end, x.end);
      } else {
        joined.push_back(x);
      }
    }
    s = std::move(joined);
  }
  l.real.assign(all.begin(), all.begin() + kFirstVirtual);
  l.of.assign(all.begin() + kFirstVirtual, all.end());
  return l;
}

bool Overlap(const Segments& a, const Segments& b) {
  // From where the two can meet.
  if (a.empty() || b.empty()) return false;
  const auto from = [](const Segments& s, int begin) {
    return std::partition_point(s.begin(), s.end(), [&](const Segment& x) { return x.end <= begin; });
  };
  auto i = from(a, b.front().begin);
  auto j = from(b, a.front().begin);
  while (i != a.end() && j != b.end()) {
    if (i->end <= j->begin) {
      ++i;
    } else if (j->end <= i->begin) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

Segments Union(const Segments& a, const Segments& b) {
  Segments all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all),
             [](const Segment& x, const Segment& y) { return x.begin < y.begin; });
  Segments joined;
  for (const Segment& x : all) {
    if (!joined.empty() && joined.back().end >= x.begin) {
      joined.back().end = std::max(joined.back().end, x.end);
    } else {
      joined.push_back(x);
    }
  }
  return joined;
}

}  // namespace understudy::machine
