// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation over tensor-level nodes: one rule an op, in a table. Gradients are graphs like
// any other, so they can be differentiated again.
#include <array>
#include <numbers>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/base/status.h"
#include "src/tensor/derivatives.h"
#include "src/tensor/internal.h"
#include "src/uop/inline.h"
#include "src/uop/sizes.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::Constant;

namespace {

using Grads = std::vector<UOpRef>;  // one a source; null: none
// `y` is the node, `g` the gradient of its value.
using Rule = Grads (*)(const UOpRef& y, const UOpRef& g);

UOpRef Fill(const UOpRef& like, double v) {
  return Constant(like->dtype(),
                  like->dtype().IsFloat() ? ConstValue(v) : ConstValue(static_cast<int64_t>(v)),
                  like->shape());
}
UOpRef Zero(const UOpRef& like) { return Fill(like, 0); }

// Sums over axes in the accumulation type, rounding once.
UOpRef SumTo(const UOpRef& g, const std::vector<int64_t>& axes) {
  if (axes.empty()) return g;
  return uop::Cast(uop::ReduceAxis(uop::Cast(g, AccType(g->dtype())), Op::kAdd, axes), g->dtype());
}

Grads None(const UOpRef& y, const UOpRef&) { return Grads(y->num_src()); }
Grads Same(const UOpRef&, const UOpRef& g) { return {g}; }

// Ties share the gradient evenly: of two operands, or of all equal elements of a reduction.
Grads Extremum(const UOpRef& y, const UOpRef& g) {
  const UOpRef &a = y->src(0), &b = y->src(1);
  const UOpRef half = uop::Mul(g, Fill(g, 0.5)), tie = uop::CmpEq(a, b);
  const UOpRef a_wins = y->op() == Op::kMax ? uop::CmpLt(b, a) : uop::CmpLt(a, b);
  const UOpRef b_wins = y->op() == Op::kMax ? uop::CmpLt(a, b) : uop::CmpLt(b, a);
  return {uop::Where(a_wins, g, uop::Where(tie, half, Zero(g))),
          uop::Where(b_wins, g, uop::Where(tie, half, Zero(g)))};
}

Grads ReduceRule(const UOpRef& y, const UOpRef& g) {
  const auto& arg = y->arg_as<ReduceArg>();
  const UOpRef& x = y->src(0);
  const Shape& shape = x->shape();
  const UOpRef wide = uop::Expand(g, shape);
  if (arg.op == Op::kAdd) return {wide};
  if (arg.op == Op::kMul) {
    return {tensor_internal::ProductGradient(x, wide, y)};
  }
  const UOpRef hit = uop::CmpEq(x, uop::Expand(y, shape));
  const DType acc = AccType(x->dtype());
  const UOpRef count = uop::ReduceAxis(uop::Cast(hit, acc), Op::kAdd, arg.axes);
  const UOpRef share = uop::Cast(uop::FDiv(uop::Cast(g, acc), count), g->dtype());
  return {uop::Where(hit, uop::Expand(share, shape), Zero(wide))};
}

Grads ExpandRule(const UOpRef& y, const UOpRef& g) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < y->shape().size(); ++i) {
    if (y->shape()[i] != y->src(0)->shape()[i]) axes.push_back(static_cast<int64_t>(i));
  }
  return {SumTo(g, axes)};
}

// Two gradients of x. Where x was expanded from 1 and met different sizes, each is nothing past its own.
UOpRef Plus(const UOpRef& x, UOpRef a, UOpRef b) {
  const auto size = [](const UOpRef& g, size_t axis) {
    return g->sizes().empty() ? UOpRef() : g->sizes()[axis];
  };
  for (size_t axis = 0; axis < x->shape().size(); ++axis) {
    if (size(x, axis) != nullptr || size(a, axis) == size(b, axis)) continue;
    const int64_t room = x->shape()[axis];
    for (UOpRef* g : {&a, &b}) {
      if (size(*g, axis) == nullptr) continue;
      *g = uop::Slice(*g, static_cast<int64_t>(axis), uop::IndexConst(0), uop::IndexConst(room), room);
    }
  }
  return uop::Add(a, b);
}

const std::array<Rule, kNumOps>& Rules() {
  static const std::array<Rule, kNumOps> table = [] {
    std::array<Rule, kNumOps> t{};
    const auto set = [&](Op op, Rule rule) { t[static_cast<size_t>(op)] = rule; };
    // d(a+b) = da + db; d(ab) = b da + a db; d(a/b) = da/b - (a/b) db/b
    set(Op::kNeg, [](const UOpRef&, const UOpRef& g) -> Grads { return {uop::Neg(g)}; });
    set(Op::kAdd, [](const UOpRef&, const UOpRef& g) -> Grads { return {g, g}; });
    set(Op::kSub, [](const UOpRef&, const UOpRef& g) -> Grads { return {g, uop::Neg(g)}; });
    set(Op::kMul, [](const UOpRef& y, const UOpRef& g) -> Grads {
      return {uop::Mul(g, y->src(1)), uop::Mul(g, y->src(0))};
    });
    set(Op::kFDiv, [](const UOpRef& y, const UOpRef& g) -> Grads {
      const UOpRef a = uop::FDiv(g, y->src(1));
      return {a, uop::Neg(uop::Mul(a, y))};
    });
    set(Op::kMulAcc, [](const UOpRef& y, const UOpRef& g) -> Grads {
      return {uop::Mul(g, y->src(1)), uop::Mul(g, y->src(0)), g};
    });
    // d sqrt(x) = dx / (2 sqrt(x)); d 2^x = 2^x ln 2 dx; d log2(x) = dx / (x ln 2); d sin(x) = cos(x) dx
    set(Op::kSqrt,
        [](const UOpRef& y, const UOpRef& g) -> Grads { return {uop::FDiv(g, uop::Mul(y, Fill(y, 2)))}; });
    set(Op::kExp2, [](const UOpRef& y, const UOpRef& g) -> Grads {
      return {uop::Mul(g, uop::Mul(y, Fill(y, std::numbers::ln2)))};
    });
    set(Op::kLog2, [](const UOpRef& y, const UOpRef& g) -> Grads {
      return {uop::FDiv(g, uop::Mul(y->src(0), Fill(y, std::numbers::ln2)))};
    });
    set(Op::kSin,
        [](const UOpRef& y, const UOpRef& g) -> Grads { return {uop::Mul(g, uop::Cos(y->src(0)))}; });
    set(Op::kCos, [](const UOpRef& y, const UOpRef& g) -> Grads {
      return {uop::Neg(uop::Mul(g, uop::Sin(y->src(0))))};
    });
    set(Op::kRecip,
        [](const UOpRef& y, const UOpRef& g) -> Grads { return {uop::Neg(uop::Mul(g, uop::Mul(y, y)))}; });
    set(Op::kTrunc, None);
    set(Op::kMax, Extremum);
    set(Op::kMin, Extremum);
    set(Op::kWhere, [](const UOpRef& y, const UOpRef& g) -> Grads {
      return {nullptr, uop::Where(y->src(0), g, Zero(g)), uop::Where(y->src(0), Zero(g), g)};
    });
    set(Op::kCast, [](const UOpRef& y, const UOpRef& g) -> Grads {
      return {y->src(0)->dtype().IsFloat() ? uop::Cast(g, y->src(0)->dtype()) : nullptr};
    });
    for (const Op op : {Op::kReshape, Op::kPermute, Op::kPad, Op::kShrink, Op::kFlip}) {
      set(op,
          [](const UOpRef& y, const UOpRef& g) -> Grads { return {tensor_internal::UndoMovement(*y, g)}; });
    }
    set(Op::kSlice, [](const UOpRef& y, const UOpRef& g) -> Grads {
      return {tensor_internal::UndoMovement(*y, g), nullptr, nullptr};
    });
    set(Op::kExpand, ExpandRule);
    set(Op::kReduceAxis, ReduceRule);
    set(Op::kContiguous, Same);
    set(Op::kContiguousBackward,
        [](const UOpRef&, const UOpRef& g) -> Grads { return {uop::Contiguous(g)}; });
    set(Op::kDetach, None);
    set(Op::kWithGradient, [](const UOpRef& y, const UOpRef& g) -> Grads {
      const tensor_internal::Derivative* rule = tensor_internal::FindDerivative(y->arg_as<std::string>());
      US_CHECK(rule != nullptr) << "no derivative named " << y->arg_as<std::string>();
      Grads out = (*rule)(y, g);
      US_CHECK(out.size() == y->num_src()) << y->arg_as<std::string>() << " gives " << out.size();
      return out;
    });
    set(Op::kCopy,
        [](const UOpRef& y, const UOpRef& g) -> Grads { return {tensor_internal::UndoCopy(*y, g)}; });
    // Every part is used once. Of equal copies the first stands for all: they are one value.
    set(Op::kMulti, [](const UOpRef& y, const UOpRef& g) -> Grads {
      const Sharding s = ShardingOfMulti(*y);
      Grads out(y->num_src());
      const UOpRef parts = tensor_internal::SpreadParts(g, s);
      for (size_t i = 0; i < (s.replicated() ? 1 : out.size()); ++i) out[i] = UOpRef(parts->src(i));
      return out;
    });
    // The new contents depend on the value alone.
    set(Op::kAssign, [](const UOpRef&, const UOpRef& g) -> Grads { return {nullptr, g}; });
    // Bits and comparisons have no slope.
    for (const Op op : {Op::kCmpLt, Op::kCmpEq, Op::kCmpNe, Op::kBitcast}) set(op, None);
    return t;
  }();
  return table;
}

}  // namespace

std::vector<Tensor> Gradients(const Tensor& loss, const std::vector<Tensor>& params) {
  const auto all = [&](const absl::Status& s) { return std::vector<Tensor>(params.size(), Tensor(s)); };
  if (!loss.ok()) return all(loss.status());
  if (loss.numel() != 1 || !loss.dtype().IsFloat()) {
    return all(Bad("Gradients", "loss of ", loss.dtype().Name(), tensor_internal::Text(loss.shape()),
                   ", expected one float"));
  }
  // Calls are differentiated through their bodies. (The values that they left behind are found again when the
  // gradient is realised.)
  uop::CallInliner inlined;
  const UOpRef root = inlined(loss.uop());
  std::vector<UOpRef> wanted;
  for (const Tensor& p : params) wanted.push_back(p.ok() ? inlined(p.uop()) : UOpRef());
  // Sources before users.
  std::vector<UOpRef> order;
  absl::flat_hash_set<const UOp*> seen;
  std::vector<std::pair<UOpRef, size_t>> stack{{root, 0}};
  seen.insert(root.get());
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    // The formula of a value that has a derivative of its own takes no part.
    if (node->op() == Op::kWithGradient && next == 0) next = 1;
    if (next < node->num_src()) {
      const UOpRef s = node->src(next++);
      if (seen.insert(s.get()).second) stack.push_back({s, 0});
    } else {
      order.push_back(node);
      stack.pop_back();
    }
  }
  // Only what lies between the parameters and the loss takes part.
  absl::flat_hash_set<const UOp*> active;
  for (const UOpRef& p : wanted) {
    if (p != nullptr) active.insert(p.get());
  }
  for (const UOpRef& u : order) {
    if (!u->dtype().IsFloat()) continue;
    for (size_t i = u->op() == Op::kWithGradient ? 1 : 0; i < u->num_src(); ++i) {
      if (active.count(u->src(i).get())) active.insert(u.get());
    }
  }
  absl::flat_hash_map<const UOp*, UOpRef> grad;
  grad[root.get()] = Constant(loss.dtype(), 1.0, loss.shape());
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const UOpRef& u = *it;
    if (!active.count(u.get())) continue;
    const auto g = grad.find(u.get());
    if (g == grad.end() || u->num_src() == 0) continue;
    const Rule rule = Rules()[static_cast<size_t>(u->op())];
    if (rule == nullptr) {
      return all(absl::UnimplementedError(
          absl::StrCat("Gradients: no rule for ", OpName(u->op()), " of dtype ", u->dtype().Name())));
    }
    // What a sum spread over an axis has as many elements as the value that was summed.
    const Grads sources = rule(u, uop::Sized(g->second, u->sizes()));
    for (size_t i = 0; i < sources.size(); ++i) {
      const UOp* s = u->src(i).get();
      if (sources[i] == nullptr || !active.count(s)) continue;
      UOpRef& slot = grad[s];
      slot = slot == nullptr ? sources[i] : Plus(UOpRef(s), slot, sources[i]);
    }
  }
  std::vector<Tensor> out;
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor& p = params[i];
    if (!p.ok()) {
      out.push_back(p);
    } else if (!seen.count(wanted[i].get())) {
      out.push_back(Tensor(Bad("Gradients", "parameter ", i, " of shape ", tensor_internal::Text(p.shape()),
                               " takes no part in the loss")));
    } else if (!p.dtype().IsFloat()) {
      out.push_back(
          Tensor(Bad("Gradients", "parameter ", i, " has dtype ", p.dtype().Name(), ", expected a float")));
    } else {
      const auto g = grad.find(wanted[i].get());
      out.push_back(
          Tensor(uop::Sized(g == grad.end() ? Zero(p.uop()) : g->second, p.uop()->sizes()), p.device()));
    }
  }
  return out;
}

}  // namespace understudy
