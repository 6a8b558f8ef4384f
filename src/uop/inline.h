// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls as expressions: what AFTER(argument, CALL) holds, written over the call's arguments. The scheduler
// fuses calls that way and the gradient differentiates through them; neither ever looks into a body
// otherwise.

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/uop/uop.h"

namespace understudy::uop {

// The argument position that AFTER(x, CALL) names: the first that is x and that the body stores to or the
// call declares; -1 for other nodes.
int ResultPosition(const UOp& after);
// The STORE of the body to that position, or null.
UOpRef StoreTo(const UOp& call, int position);
// The positions that the body stores to, in the order of its STOREs.
std::vector<int> StoredPositions(const UOp& call);

// Replaces every AFTER(x, CALL) by ASSIGN(x, value over the arguments), or by x where the body stores nothing
// there. Nodes are shared: the same node always becomes the same node.
class CallInliner {
 public:
  // `known` may give the replacement of a node (then nothing below it is looked at), or null.
  using Known = std::function<UOpRef(const UOp& node)>;
  explicit CallInliner(Known known = nullptr) : known_(std::move(known)) {}

  UOpRef operator()(const UOpRef& root);

 private:
  UOpRef One(const UOp& n);

  Known known_;
  absl::flat_hash_map<const UOp*, UOpRef> done_;
  std::vector<UOpRef> keep_;
};

}  // namespace understudy::uop
