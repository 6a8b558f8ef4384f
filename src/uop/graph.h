// SPDX-License-Identifier: Apache-2.0
#pragma once
// Walks over a graph of nodes: order, substitution, users. Everything here is iterative (graphs are deep) and
// visits each node once however often it is shared.

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "src/uop/uop.h"

namespace understudy::uop {

// All nodes that the roots reach, sources before users, in a deterministic order (depth first, sources left
// to right). Pointers stay valid while the roots live.
std::vector<const UOp*> Toposort(absl::Span<const UOpRef> roots);
std::vector<const UOp*> Toposort(const UOpRef& root);

// The graph with every key of `map` replaced by its value. Replacements are taken as they are: neither they
// nor what lies only below a replaced node is visited. Nodes above are rebuilt with dtype and argument kept.
using SubstitutionMap = absl::flat_hash_map<UOpRef, UOpRef>;
UOpRef Substitute(const UOpRef& root, const SubstitutionMap& map);
std::vector<UOpRef> Substitute(absl::Span<const UOpRef> roots, const SubstitutionMap& map);

// The graph from its leaves up: `visit(node)` of every node, whose sources are what it made of them, is what
// takes its place. What it returns is not visited again.
template <class Visit>
UOpRef Rebuild(const UOpRef& root, const Visit& visit) {
  absl::flat_hash_map<const UOp*, UOpRef> changed;
  for (const UOp* n : Toposort(root)) {
    UOpRef node(n);
    for (const UOpRef& source : n->src()) {
      if (!changed.contains(source.get())) continue;
      std::vector<UOpRef> src;
      src.reserve(n->num_src());
      for (const UOpRef& s : n->src()) {
        const auto it = changed.find(s.get());
        src.push_back(it == changed.end() ? s : it->second);
      }
      node = n->WithSrc(std::move(src));
      break;
    }
    UOpRef out = visit(node);
    if (out.get() != n) changed.emplace(n, std::move(out));
  }
  const auto it = changed.find(root.get());
  return it == changed.end() ? root : it->second;
}

// Who uses what: for each reached node its users, in topological order, once per use.
absl::flat_hash_map<const UOp*, std::vector<const UOp*>> Users(absl::Span<const UOpRef> roots);

// True when `root` reaches `node`.
bool Reaches(const UOpRef& root, const UOpRef& node);

int64_t CountNodes(const UOpRef& root);

// All nodes of that op under the root, in topological order.
std::vector<UOpRef> NodesOf(const UOpRef& root, Op op);

// A total order of nodes that is the same in every process (ids are not): by op, argument, then sources.
// Equal only for the same node.
bool StructuralLess(const UOpRef& a, const UOpRef& b);

}  // namespace understudy::uop
