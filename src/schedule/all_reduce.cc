// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/all_reduce.h"

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

}  // namespace understudy
