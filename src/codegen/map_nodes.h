// SPDX-License-Identifier: Apache-2.0
#pragma once
// One walk over a graph from its leaves up, for the steps of decomposition that replace a node by others.

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/uop/graph.h"
#include "src/uop/uop.h"

namespace understudy {

// `replace(node)` of every node, whose sources are replaced already; what it returns is not walked again.
template <class Replace>
UOpRef MapNodes(const UOpRef& root, const Replace& replace) {
  absl::flat_hash_map<const UOp*, UOpRef> done;
  for (const UOp* n : uop::Toposort(root)) {
    std::vector<UOpRef> src;
    bool changed = false;
    for (const UOpRef& s : n->src()) {
      src.push_back(done.at(s.get()));
      changed |= !(src.back() == s);
    }
    done.emplace(n, replace(changed ? n->WithSrc(std::move(src)) : UOpRef(n)));
  }
  return done.at(root.get());
}

}  // namespace understudy
