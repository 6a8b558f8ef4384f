// SPDX-License-Identifier: Apache-2.0
// Constants: operations of constants, values that bounds pin to one point, and the order of operands.
#include <optional>

#include "src/symbolic/rule_lists.h"
#include "src/uop/build.h"
#include "src/uop/eval.h"
#include "src/uop/graph.h"

namespace understudy::symbolic {
namespace {

using namespace uop;  // NOLINT: the rule language

bool IsIntegral(const UOpRef& n) {
  return !n->dtype().IsPointer() && (n->dtype().IsInt() || n->dtype().IsBool());
}

UOpRef PointConst(const UOpRef& node, const BoundsCache& bounds) {
  if (node->IsConst() || !IsIntegral(node) || !node->shape().empty()) return nullptr;
  const WideInterval b = bounds.Wide(node);
  return b.IsPoint() ? Const(node->dtype(), static_cast<int64_t>(b.lo)) : nullptr;
}

UOpRef Fold(const Match& m) {
  const UOpRef& n = m.root();
  std::vector<ConstValue> values;
  for (const UOpRef& s : n->src()) {
    if (!s->IsConst()) return nullptr;
    values.push_back(s->value());
  }
  if (n->op() == Op::kBitcast && n->src(0)->dtype().lanes != n->dtype().lanes) return nullptr;
  return Const(n->dtype(), EvalNode(*n, values));
}

// Constants to the right, otherwise the structural order.
bool InOrder(const UOpRef& a, const UOpRef& b) {
  if (a == b || b->IsConst()) return true;
  return !a->IsConst() && StructuralLess(a, b);
}

UOpRef Order(const Match& m) {
  const UOpRef& n = m.root();
  // Chains have an order of their own: sum-order, idempotent-order.
  if (n->op() == Op::kAdd && n->dtype().IsInt() && n->shape().empty()) return nullptr;
  const bool idempotent =
      n->op() == Op::kAnd || n->op() == Op::kOr || n->op() == Op::kMax || n->op() == Op::kMin;
  if (idempotent && IsIntegral(n)) return nullptr;
  return InOrder(n->src(0), n->src(1)) ? nullptr : UOp::Make(n->op(), n->dtype(), {n->src(1), n->src(0)});
}

UOpRef ReplacePointSources(const Match& m) {
  const BoundsCache* bounds = BoundsOf(m);
  if (bounds == nullptr) return nullptr;
  std::vector<UOpRef> src(m.root()->src().begin(), m.root()->src().end());
  bool changed = false;
  for (UOpRef& s : src) {
    if (UOpRef c = PointConst(s, *bounds)) {
      s = c;
      changed = true;
    }
  }
  return changed ? m.root()->WithSrc(std::move(src)) : nullptr;
}

}  // namespace

std::vector<Rule> FoldingRules() {
  return {
      R("fold", AnyOp(OpsWith(kFlagAlu)), kAllTypes, "an operation of constants is its value", Fold),
      R("operand-order", AnyOp(OpsWith(kFlagCommutes)), kAllTypes, "constants right, else structural order",
        Order),
  };
}

std::vector<Rule> PointRules() {
  return {
      // Only operations: a RANGE that counts to 1 stays where something names it as a range.
      R("one-value", AnyOp(OpsWith(kFlagAlu)), kAllTypes,
        "an operation whose bounds are one value is that value",
        [](const Match& m) { return BoundsOf(m) ? PointConst(m.root(), *BoundsOf(m)) : nullptr; }),
      R("one-value-source", AnyOp(OpsWith(kFlagAlu)), kAllTypes,
        "sources whose bounds are one value are that value", ReplacePointSources),
  };
}

}  // namespace understudy::symbolic
