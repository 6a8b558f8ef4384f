// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the stage "call" knows of tensor-level nodes: which of them are names of others, where an assignment
// ends, and the graph without wrappers, assignments and values that are known already. Only src/schedule's
// call files use this; nothing here declares storage.

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/schedule/call.h"
#include "src/uop/uop.h"

namespace understudy {

inline bool IsPassThrough(Op op) {
  return op == Op::kDetach || op == Op::kContiguousBackward || op == Op::kWithGradient;
}

// "buffer #3 (4 x f32 on CPU)".
std::string BufferText(const UOp& buffer);

// A CONST under movement ops: the same element everywhere.
bool IsVirtualConstant(const UOp* u);

// Peels what only renames all the elements in order: the nodes from `u` (included) down to the one that makes
// them.
std::vector<UOpRef> Names(UOpRef u);

// What a view shows: below movement ops that only pick and order elements.
UOpRef ViewRoot(UOpRef u);

// The buffer (or, for assignments to values, the value) that a chain of whole assignments ends in.
const UOp* TargetOf(const UOp* assign);

// A graph without wrappers, assignments and values that are known already: what remains computes.
class Normaliser {
 public:
  explicit Normaliser(const RealizedValues* realized) : realized_(realized) {}
  UOpRef operator()(const UOpRef& root);

 private:
  const UOpRef& Of(const UOpRef& u) { return memo_.at(u.get()); }
  UOpRef One(const UOp* u);

  const RealizedValues* realized_;
  absl::flat_hash_map<const UOp*, UOpRef> memo_;
  std::vector<UOpRef> keep_;
};

}  // namespace understudy
