// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/normalise.h"

#include "absl/strings/str_cat.h"
#include "src/schedule/index_expr.h"
#include "src/schedule/views.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {

namespace {

// Consecutive elements of a buffer in order: a view that needs no copy.
bool IsContiguousRange(const UOpRef& x) {
  if (x->numel() == 0) return false;
  Place at;
  int64_t id = 0;
  for (const int64_t d : x->shape()) at.index.push_back(d == 1 ? uop::IndexConst(0) : uop::Range(d, id++));
  const UOpRef in_order = Flatten(at.index, x->shape());
  const UOp* u = x.get();
  for (; u->op() == Op::kReshape || u->op() == Op::kShrink || uop::IsSizing(*u); u = u->src(0).get()) {
    UOpRef own;
    at = SourcePlace(*u, at, &own);
  }
  if (u->op() != Op::kBuffer) return false;
  index::Linear l = index::Decompose(at.index[0]);
  l.constant = 0;
  return index::Compose(std::move(l)) == in_order;
}

}  // namespace

std::string BufferText(const UOp& b) {
  const auto& arg = b.arg_as<BufferArg>();
  return absl::StrCat("buffer #", arg.id, " (", arg.size, " x ", b.dtype().Name(), " on ", arg.device, ")");
}

bool IsVirtualConstant(const UOp* u) {
  while (IsMovement(u->op()) && u->op() != Op::kPad) u = u->src(0).get();
  return u->op() == Op::kConst;
}

// Peels what only renames all the elements in order: the nodes from `u` (included) down to the one that makes
// them.
std::vector<UOpRef> Names(UOpRef u) {
  std::vector<UOpRef> out{u};
  while (u->op() == Op::kReshape || u->op() == Op::kContiguous || IsPassThrough(u->op())) {
    u = UOpRef(u->src(0));
    out.push_back(u);
  }
  return out;
}

// The buffer that a chain of whole assignments ends in.
const UOp* TargetOf(const UOp* assign) {
  const UOp* u = assign;
  for (;;) {
    if (u->op() == Op::kAssign || u->op() == Op::kReshape || IsPassThrough(u->op()) || uop::IsSizing(*u))
      u = u->src(0).get();
    else
      return u;
  }
}

// What a view shows: below movement ops that only pick and order elements.
UOpRef ViewRoot(UOpRef u) {
  while ((IsMovement(u->op()) && u->op() != Op::kPad && u->op() != Op::kExpand) || IsPassThrough(u->op()))
    u = UOpRef(u->src(0));
  return u;
}

UOpRef Normaliser::operator()(const UOpRef& root) {
  // Not through what an earlier root has met.
  std::vector<std::pair<const UOp*, size_t>> stack{{root.get(), 0}};
  while (!stack.empty()) {
    const UOp* u = stack.back().first;
    size_t& next = stack.back().second;
    if (next == 0 && memo_.contains(u)) {
      stack.pop_back();
      continue;
    }
    if (next < u->num_src()) {
      const UOp* s = u->src(next++).get();
      if (!memo_.contains(s)) stack.emplace_back(s, 0);
      continue;
    }
    stack.pop_back();
    if (!memo_.contains(u)) {
      UOpRef value = One(u);
      memo_.emplace(u, std::move(value));
    }
  }
  return memo_.at(root.get());
}

UOpRef Normaliser::One(const UOp* u) {
  keep_.push_back(UOpRef(u));
  if (realized_ != nullptr && u->num_src() > 0) {
    if (const UOpRef known = realized_->Find(UOpRef(u)))
      return uop::Sized(uop::Reshape(known, u->shape()), u->sizes());
  }
  if (IsPassThrough(u->op())) return Of(u->src(0));
  // The new contents of the target are the value; storing it there is the call's business.
  if (u->op() == Op::kAssign) return Of(u->src(1));
  if (u->op() == Op::kContiguous) {
    const UOpRef& x = Of(u->src(0));
    if (IsContiguousRange(x) || x->op() == Op::kContiguous || x->op() == Op::kCopy) return x;
    return uop::Contiguous(x);
  }
  if (u->num_src() == 0) return UOpRef(u);
  std::vector<UOpRef> src;
  for (const UOpRef& s : u->src()) src.push_back(Of(s));
  if (u->op() == Op::kReshape) {
    while (src[0]->op() == Op::kReshape) src[0] = UOpRef(src[0]->src(0));
    return uop::Sized(uop::Reshape(src[0], u->shape()), u->sizes());
  }
  return u->WithSrc(std::move(src));
}

}  // namespace understudy
