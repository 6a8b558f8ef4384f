// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/by_index.h"

#include "src/base/status.h"
#include "src/tensor/internal.h"
#include "src/uop/build.h"
#include "src/uop/eval.h"
#include "src/uop/sizes.h"

namespace understudy::tensor_internal {
namespace {

// Of shapes that are known to fit.
UOpRef Pick(const UOpRef& x, const UOpRef& index) { return *PickLast("Gather", x, index); }

std::vector<UOpRef> ExtremeRule(const UOpRef& y, const UOpRef& g, bool alone) {
  const UOpRef &self = y->src(1), &index = y->src(2), &src = y->src(3);
  const DType t = g->dtype(), acc = AccType(t);
  const UOpRef sent = uop::CmpEq(src, Pick(y, index)), stays = uop::CmpEq(self, y);
  UOpRef count = SendTo(Op::kAdd, uop::Cast(sent, acc), index, self);
  if (!alone) count = uop::Add(count, uop::Cast(stays, acc));
  const UOpRef divisor = uop::Max(count, Constant(acc, 1.0, self->shape()));
  const UOpRef share = uop::FDiv(g, uop::Cast(divisor, t)), none = Constant(t, 0.0, self->shape());
  UOpRef own;
  if (alone) {
    const UOpRef all = Constant(dtypes::kBool, int64_t{1}, index->shape());
    own = uop::Where(SendTo(Op::kMax, all, index, self), none, g);
  } else {
    own = uop::Where(stays, share, none);
  }
  return {nullptr, own, nullptr, uop::Where(sent, Pick(share, index), Constant(t, 0.0, src->shape()))};
}

}  // namespace

UOpRef InsertAxis(const UOpRef& x, size_t from_end) {
  Shape s = x->shape();
  s.insert(s.end() - static_cast<int64_t>(from_end), 1);
  return uop::Reshape(x, s);
}

UOpRef LastPositions(const UOpRef& x, const Shape& shape, bool last) {
  const int64_t n = x->shape().back();
  UOpRef i = uop::Iota(dtypes::kInt64, n);
  if (!x->sizes().empty() && x->sizes().back() != nullptr) i = uop::Sized(i, {x->sizes().back()});
  return BroadcastTo(last ? i : uop::Reshape(i, {n, 1}), shape);
}

absl::StatusOr<UOpRef> PickLast(const char* op, const UOpRef& x, const UOpRef& index) {
  const Shape x_lead(x->shape().begin(), x->shape().end() - 1),
      i_lead(index->shape().begin(), index->shape().end() - 1);
  US_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(op, x_lead, i_lead));
  shape.push_back(index->shape().back());
  shape.push_back(x->shape().back());
  const UOpRef at = BroadcastTo(InsertAxis(uop::Cast(index, dtypes::kInt64), 0), shape);
  const UOpRef values = BroadcastTo(InsertAxis(x, 1), shape);
  const UOpRef hit = uop::CmpEq(at, LastPositions(x, shape, true));
  const UOpRef picked =
      uop::ReduceAxis(uop::Where(hit, values, Constant(x->dtype(), ZeroOf(x->dtype()), shape)),
                      x->dtype().IsBool() ? Op::kMax : Op::kAdd, {static_cast<int64_t>(shape.size()) - 1});
  shape.pop_back();
  return uop::Reshape(picked, shape);
}

UOpRef HitsOf(const UOpRef& like, const UOpRef& index) {
  Shape shape(like->shape());
  shape.push_back(index->shape().back());
  return uop::CmpEq(BroadcastTo(InsertAxis(index, 1), shape), LastPositions(like, shape, false));
}

UOpRef SendTo(Op op, const UOpRef& values, const UOpRef& index, const UOpRef& like) {
  const UOpRef hits = HitsOf(like, index);
  const Shape& shape = hits->shape();
  const UOpRef sent = uop::Where(hits, BroadcastTo(InsertAxis(values, 1), shape),
                                 Constant(values->dtype(), uop::IdentityOf(op, values->dtype()), shape));
  return uop::Reshape(uop::ReduceAxis(sent, op, {static_cast<int64_t>(shape.size()) - 1}), like->shape());
}

std::vector<UOpRef> ScatteredExtremeRule(const UOpRef& y, const UOpRef& g) {
  return ExtremeRule(y, g, false);
}
std::vector<UOpRef> ScatteredExtremeAloneRule(const UOpRef& y, const UOpRef& g) {
  return ExtremeRule(y, g, true);
}

}  // namespace understudy::tensor_internal
