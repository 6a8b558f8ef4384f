// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/all_reduce.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/schedule/pieces.h"
#include "src/uop/build.h"
#include "src/uop/sharding.h"

namespace understudy {
namespace {

using Values = std::vector<UOpRef>;
using Names = std::vector<std::string>;

Values Naive(Op op, const Values& p, const Names& devices) {
  Values out;
  for (const std::string& to : devices) {
    UOpRef sum;
    for (size_t j = 0; j < p.size(); ++j) {
      const UOpRef v = MoveTo(p[j], devices[j], to);
      sum = sum == nullptr ? v : uop::Binary(op, sum, v);
    }
    out.push_back(std::move(sum));
  }
  return out;
}

Values Tree(Op op, Values v, const Names& devices) {
  const size_t n = v.size();
  size_t stride = 1;
  for (; stride < n; stride *= 2) {
    for (size_t i = 0; i + stride < n; i += 2 * stride)
      v[i] = uop::Binary(op, v[i], MoveTo(v[i + stride], devices[i + stride], devices[i]));
  }
  for (stride /= 2; stride >= 1; stride /= 2) {
    for (size_t i = 0; i + stride < n; i += 2 * stride)
      v[i + stride] = MoveTo(v[i], devices[i], devices[i + stride]);
  }
  return v;
}

Values Ring(Op op, const Values& p, const Names& devices) {
  const size_t n = p.size();
  const int64_t size = p[0]->numel();
  Values flat;
  // Stored as a whole first: every chunk reads it.
  for (const UOpRef& v : p) flat.push_back(uop::Reshape(uop::Contiguous(v), {size}));
  const Sharding chunks = EvenSharding(devices, 0, size);
  std::vector<std::vector<Piece>> pieces(n);
  for (size_t c = 0; c < n; ++c) {
    const auto [begin, end] = chunks.parts[c];
    if (begin == end) continue;
    UOpRef sum = Cut(flat[c], 0, begin, end);
    for (size_t k = 1; k < n; ++k) {
      const size_t from = (c + k - 1) % n, at = (c + k) % n;
      sum = uop::Binary(op, MoveTo(sum, devices[from], devices[at]), Cut(flat[at], 0, begin, end));
    }
    for (size_t k = 0; k < n; ++k) {
      const size_t at = (c + n - 1 + k) % n;
      if (k > 0) sum = MoveTo(sum, devices[(at + n - 1) % n], devices[at]);
      pieces[at].push_back({begin, sum});
    }
  }
  Values out;
  for (size_t i = 0; i < n; ++i) out.push_back(uop::Reshape(Join(pieces[i], 0, {size}), p[i]->shape()));
  return out;
}

// Whether values go round from neighbour to neighbour; two devices are each other's only ones.
bool GoesRound(const AllReduceOptions& options, int64_t bytes, size_t devices) {
  switch (ChooseAllReduce(options, bytes, devices)) {
    case AllReduceKind::kRing:
      return true;
    case AllReduceKind::kTree:
      return options.kind == AllReduceKind::kAuto;
    default:
      return false;
  }
}

}  // namespace

const char* AllReduceName(AllReduceKind kind) {
  switch (kind) {
    case AllReduceKind::kAuto:
      return "auto";
    case AllReduceKind::kNaive:
      return "naive";
    case AllReduceKind::kTree:
      return "tree";
    case AllReduceKind::kRing:
      return "ring";
  }
  return "?";
}

AllReduceKind ChooseAllReduce(const AllReduceOptions& options, int64_t bytes, size_t devices) {
  if (options.kind != AllReduceKind::kAuto) return options.kind;
  if (devices <= 2 || bytes <= options.naive_bytes) return AllReduceKind::kNaive;
  return bytes <= options.tree_bytes ? AllReduceKind::kTree : AllReduceKind::kRing;
}

std::vector<UOpRef> AllReduce(Op op, const std::vector<UOpRef>& partials,
                              const std::vector<std::string>& devices, const AllReduceOptions& options) {
  Values p;
  Names names;
  std::vector<int> place(partials.size(), -1);
  for (size_t i = 0; i < partials.size(); ++i) {
    if (partials[i] == nullptr) continue;
    place[i] = static_cast<int>(p.size());
    p.push_back(partials[i]);
    names.push_back(devices[i]);
  }
  US_CHECK(!p.empty());
  const int64_t bytes = p[0]->numel() * p[0]->dtype().ScalarBytes();
  Values sums;
  switch (ChooseAllReduce(options, bytes, p.size())) {
    case AllReduceKind::kTree:
      sums = Tree(op, p, names);
      break;
    case AllReduceKind::kRing:
      sums = Ring(op, p, names);
      break;
    default:
      sums = Naive(op, p, names);
  }
  Values out;
  for (size_t i = 0; i < partials.size(); ++i)
    out.push_back(place[i] >= 0 ? sums[place[i]] : MoveTo(sums[0], names[0], devices[i]));
  return out;
}

std::vector<UOpRef> ReduceScatter(Op op, const std::vector<UOpRef>& partials, const Sharding& parts,
                                  const AllReduceOptions& options) {
  std::vector<size_t> with;  // devices that have something to add
  Values stored(partials.size());
  for (size_t i = 0; i < partials.size(); ++i) {
    if (partials[i] == nullptr) continue;
    with.push_back(i);
    // Stored as a whole first: every device's part reads it.
    stored[i] = uop::Contiguous(partials[i]);
  }
  US_CHECK(!with.empty());
  const UOpRef& first = partials[with[0]];
  const int64_t bytes = first->numel() * first->dtype().ScalarBytes();
  const bool round = GoesRound(options, bytes, with.size());
  Values out(parts.devices.size());
  for (size_t to = 0; to < out.size(); ++to) {
    const auto [begin, end] = parts.parts[to];
    if (begin == end) continue;
    UOpRef sum;
    std::string at;  // where it is
    // Round: from the device behind this one to this one.
    const auto start = round ? std::upper_bound(with.begin(), with.end(), to) - with.begin() : 0;
    for (size_t k = 0; k < with.size(); ++k) {
      const size_t from = with[(static_cast<size_t>(start) + k) % with.size()];
      const UOpRef own = Cut(stored[from], parts.axis, begin, end);
      if (sum == nullptr) {
        sum = round ? own : MoveTo(own, parts.devices[from], parts.devices[to]);
      } else if (round) {
        sum = uop::Binary(op, MoveTo(sum, at, parts.devices[from]), own);
      } else {
        sum = uop::Binary(op, sum, MoveTo(own, parts.devices[from], parts.devices[to]));
      }
      at = round ? parts.devices[from] : parts.devices[to];
    }
    out[to] = MoveTo(sum, at, parts.devices[to]);
  }
  return out;
}

std::vector<UOpRef> AllGather(const std::vector<UOpRef>& values, const Sharding& parts, const Shape& shape,
                              const AllReduceOptions& options) {
  const size_t n = values.size();
  int64_t bytes = values[0]->dtype().ScalarBytes();
  for (const int64_t d : shape) bytes *= d;
  const bool round = GoesRound(options, bytes, n);
  std::vector<std::vector<Piece>> pieces(n);
  for (size_t from = 0; from < n; ++from) {
    const auto [begin, end] = parts.parts[from];
    if (begin == end) continue;
    UOpRef v = values[from];
    for (size_t k = 0; k < n; ++k) {
      const size_t at = (from + k) % n;
      if (k > 0)
        v = round ? MoveTo(v, parts.devices[(at + n - 1) % n], parts.devices[at])
                  : MoveTo(values[from], parts.devices[from], parts.devices[at]);
      pieces[at].push_back({begin, v});
    }
  }
  Values out;
  for (size_t i = 0; i < n; ++i) {
    if (pieces[i].empty()) return {};
    std::sort(pieces[i].begin(), pieces[i].end(),
              [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    out.push_back(Join(pieces[i], parts.axis, shape));
  }
  return out;
}

}  // namespace understudy
