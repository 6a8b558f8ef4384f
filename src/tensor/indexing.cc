// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/indexing.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/tensor/value_expr.h"

namespace understudy {

using tensor_internal::Bad;
using tensor_internal::BroadcastTo;
using tensor_internal::Combine;
using tensor_internal::Constant;
using tensor_internal::Product;
using tensor_internal::Text;
using tensor_internal::Value;

namespace {

using Ints = std::vector<int64_t>;

UOpRef ZeroOf(DType t, const Shape& shape) {
  return Constant(t, t.IsFloat() ? ConstValue(0.0) : ConstValue(int64_t{0}), shape);
}
UOpRef Int64(int64_t v, const Shape& shape) { return Constant(dtypes::kInt64, v, shape); }

UOpRef SumOver(const UOpRef& x, int64_t axis) {
  const UOpRef sum = uop::ReduceAxis(x, x->dtype().IsBool() ? Op::kMax : Op::kAdd, {axis});
  Shape s = sum->shape();
  s.erase(s.begin() + axis);
  return uop::Reshape(sum, s);
}

// rows {n, r}, at {m} -> {m, r}: a sum with one term, which the scheduler turns into an indexed load.
UOpRef PickRows(const UOpRef& rows, const UOpRef& at) {
  const int64_t n = rows->shape()[0], r = rows->shape()[1], m = at->shape()[0];
  const Shape shape{m, n, r};
  const UOpRef position = BroadcastTo(uop::Reshape(uop::Iota(dtypes::kInt64, n), {1, n, 1}), shape);
  const UOpRef hit = uop::CmpEq(BroadcastTo(uop::Reshape(at, {m, 1, 1}), shape), position);
  const UOpRef values = BroadcastTo(uop::Reshape(rows, {1, n, r}), shape);
  return SumOver(uop::Where(hit, values, ZeroOf(rows->dtype(), shape)), 1);
}

// The flat places of the first `count` true elements of the mask, -1 for those that are missing.
UOpRef TruePlaces(const UOpRef& mask, int64_t count) {
  const int64_t n = mask->numel();
  const UOpRef flat = uop::Reshape(mask, {n});
  if (n == 0 || count == 0) return Int64(-1, {count});
  // How many are true up to each place, itself included; then the place where that first is k + 1.
  const Shape square{n, n};
  const UOpRef i = BroadcastTo(uop::Reshape(uop::Iota(dtypes::kInt64, n), {n, 1}), square);
  const UOpRef j = BroadcastTo(uop::Iota(dtypes::kInt64, n), square);
  const UOpRef upto = uop::And(BroadcastTo(flat, square), Not(Value(uop::CmpLt(i, j))).u);
  const UOpRef number = uop::Where(flat, SumOver(uop::Cast(upto, dtypes::kInt64), 1), Int64(0, {n}));
  const Shape pairs{count, n};
  const UOpRef k = BroadcastTo(uop::Reshape(uop::Iota(dtypes::kInt64, count), {count, 1}), pairs);
  const UOpRef hit = uop::CmpEq(uop::Add(k, Int64(1, pairs)), BroadcastTo(number, pairs));
  const UOpRef place = uop::Add(BroadcastTo(uop::Iota(dtypes::kInt64, n), pairs), Int64(1, pairs));
  return uop::Add(SumOver(uop::Where(hit, place, Int64(0, pairs)), 1), Int64(-1, {count}));
}

// What the items select: a view by the basic ones, and index tensors for some of its axes.
struct Plan {
  Tensor view;
  struct Axis {
    int64_t axis;
    UOpRef index;  // i64; out of range where nothing is selected
  };
  std::vector<Axis> indexed;
  Shape common;          // of the index tensors
  bool in_place = true;  // the common axes stand where the first indexed axis stood
  // A mask without a count, at this axis of the view.
  UOpRef uncounted;
  int64_t uncounted_axis = 0;
};

absl::StatusOr<Plan> MakePlan(const char* op, const Tensor& x, const std::vector<TensorIndex>& items,
                              bool may_lack_count) {
  US_RETURN_IF_ERROR(x.status());
  int used = 0, ellipses = 0;
  for (const TensorIndex& item : items) {
    if (const auto* t = std::get_if<Tensor>(&item)) {
      US_RETURN_IF_ERROR(t->status());
      if (t->dtype().IsBool()) {
        used += std::max(0, t->ndim());
      } else if (!t->dtype().IsInt()) {
        return Bad(op, "index tensor of dtype ", t->dtype().Name(), ", expected integers or bool");
      } else {
        ++used;
      }
    } else if (const auto* m = std::get_if<Mask>(&item)) {
      US_RETURN_IF_ERROR(m->mask.status());
      if (!m->mask.dtype().IsBool())
        return Bad(op, "mask of dtype ", m->mask.dtype().Name(), ", expected bool");
      if (m->count && *m->count < 0) return Bad(op, "a mask's count of ", *m->count, ", expected at least 0");
      used += m->mask.ndim();
    } else {
      used += std::holds_alternative<int64_t>(item) || std::holds_alternative<Slice>(item);
      ellipses += std::holds_alternative<Ellipsis>(item);
    }
  }
  if (ellipses > 1) return Bad(op, ellipses, " ellipses, expected at most one");
  if (used > x.ndim()) return Bad(op, used, " indices for a tensor of rank ", x.ndim());

  Plan plan;
  std::vector<IndexItem> basic;
  int64_t axis = 0, source = 0;  // axes of the view and of x
  std::vector<std::pair<int64_t, Tensor>> tensors;
  const auto add_mask = [&](const Tensor& mask, std::optional<int64_t> count) -> absl::Status {
    const Shape& s = mask.shape();
    if (s.empty()) {
      return absl::UnimplementedError(
          absl::StrCat(op, ": a mask without axes, expected at least one (Where chooses by a scalar)"));
    }
    for (size_t i = 0; i < s.size(); ++i) {
      if (s[i] != x.shape()[source + i]) {
        return Bad(op, "mask of shape ", Text(s), " at axis ", source, " of a tensor of shape ",
                   Text(x.shape()));
      }
      basic.push_back(Slice{});
    }
    if (!count) {
      if (!may_lack_count) {
        return absl::UnimplementedError(
            absl::StrCat(op, ": a mask selects a number of elements that depends on its values, expected ",
                         "Mask{mask, count}, or MaskedFill or Where, which need no number"));
      }
      if (plan.uncounted != nullptr || !tensors.empty())
        return Bad(op, "a mask without a count beside other index tensors, expected Mask{mask, count}");
      plan.uncounted = mask.uop();
      plan.uncounted_axis = axis;
    } else {
      UOpRef rest = TruePlaces(mask.uop(), *count);
      const UOpRef missing = uop::CmpLt(rest, Int64(0, rest->shape()));
      std::vector<UOpRef> parts(s.size());
      for (size_t i = s.size(); i-- > 0;) {
        const UOpRef n = Int64(std::max<int64_t>(1, s[i]), rest->shape());
        // A missing element's index is past the end.
        parts[i] = uop::Where(missing, Int64(s[i], rest->shape()), uop::FloorMod(rest, n));
        rest = uop::FloorDiv(rest, n);
      }
      for (size_t i = 0; i < s.size(); ++i)
        tensors.push_back({axis + static_cast<int64_t>(i), Tensor(parts[i], mask.device())});
    }
    axis += static_cast<int64_t>(s.size());
    source += static_cast<int64_t>(s.size());
    return absl::OkStatus();
  };
  for (const TensorIndex& item : items) {
    if (const auto* i = std::get_if<int64_t>(&item)) {
      basic.push_back(*i);
      ++source;
    } else if (const auto* s = std::get_if<Slice>(&item)) {
      basic.push_back(*s);
      ++axis, ++source;
    } else if (std::holds_alternative<NewAxis>(item)) {
      basic.push_back(NewAxis{});
      ++axis;
    } else if (std::holds_alternative<Ellipsis>(item)) {
      for (int i = used; i < x.ndim(); ++i) basic.push_back(Slice{}), ++axis, ++source;
    } else if (const auto* m = std::get_if<Mask>(&item)) {
      US_RETURN_IF_ERROR(add_mask(m->mask, m->count));
    } else {
      const Tensor& t = std::get<Tensor>(item);
      if (t.dtype().IsBool()) {
        US_RETURN_IF_ERROR(add_mask(t, std::nullopt));
      } else {
        basic.push_back(Slice{});
        tensors.push_back({axis, t});
        ++axis, ++source;
      }
    }
  }
  plan.view = x.Index(basic);
  US_RETURN_IF_ERROR(plan.view.status());
  if (plan.uncounted != nullptr && !tensors.empty())
    return Bad(op, "a mask without a count beside other index tensors, expected Mask{mask, count}");
  for (const auto& [a, t] : tensors) {
    US_ASSIGN_OR_RETURN(plan.common, tensor_internal::BroadcastShapes(op, plan.common, t.shape()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [a, t] = tensors[i];
    const UOpRef wide = uop::Cast(BroadcastTo(t.uop(), plan.common), dtypes::kInt64);
    const UOpRef n = Int64(plan.view.shape()[a], plan.common);
    const UOpRef wrapped = t.dtype().IsUnsigned()
                               ? wide
                               : uop::Where(uop::CmpLt(wide, Int64(0, plan.common)), uop::Add(wide, n), wide);
    plan.indexed.push_back({a, wrapped});
    plan.in_place &= i == 0 || a == tensors[i - 1].first + 1;
  }
  return plan;
}

// The view as a matrix: a row for each place of the indexed axes, a column for each of the others.
struct Matrix {
  Ints perm;    // indexed axes, then the others
  Shape moved;  // the view's shape in that order
  int64_t rows = 1, cols = 1;
  Shape rest;  // sizes of the others
  UOpRef at;   // {m}: the row of each index, -1 when one of its parts is out of range
  int64_t m = 1;
};
Matrix MatrixOf(const Plan& p) {
  Matrix x;
  const Shape& s = p.view.shape();
  std::vector<bool> indexed(s.size(), false);
  x.m = Product(p.common);
  UOpRef at = Int64(0, p.common);
  UOpRef inside = Constant(dtypes::kBool, int64_t{1}, p.common);
  for (const Plan::Axis& a : p.indexed) {
    x.perm.push_back(a.axis);
    indexed[a.axis] = true;
    x.rows *= s[a.axis];
    const UOpRef n = Int64(s[a.axis], p.common);
    at = uop::Add(uop::Mul(at, n), a.index);
    inside = uop::And(
        inside, uop::And(Not(Value(uop::CmpLt(a.index, Int64(0, p.common)))).u, uop::CmpLt(a.index, n)));
  }
  for (size_t i = 0; i < s.size(); ++i) {
    if (indexed[i]) continue;
    x.perm.push_back(static_cast<int64_t>(i));
    x.rest.push_back(s[i]);
    x.cols *= s[i];
  }
  for (const int64_t a : x.perm) x.moved.push_back(s[a]);
  // One index tensor is its own guard: what is out of range meets no row.
  if (p.indexed.size() > 1) at = uop::Where(inside, at, Int64(-1, p.common));
  x.at = uop::Reshape(at, {x.m});
  return x;
}

// {common..., rest...} to the order of the result, as a permutation.
Ints ResultOrder(const Plan& p) {
  const int64_t c = static_cast<int64_t>(p.common.size()),
                r = p.view.ndim() - static_cast<int64_t>(p.indexed.size());
  const int64_t lead = p.in_place && !p.indexed.empty() ? p.indexed[0].axis : 0;
  Ints order;
  for (int64_t i = 0; i < lead; ++i) order.push_back(c + i);
  for (int64_t i = 0; i < c; ++i) order.push_back(i);
  for (int64_t i = lead; i < r; ++i) order.push_back(c + i);
  return order;
}
Ints Inverse(const Ints& perm) {
  Ints out(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) out[perm[i]] = static_cast<int64_t>(i);
  return out;
}
Shape Permuted(const Shape& s, const Ints& perm) {
  Shape out;
  for (const int64_t p : perm) out.push_back(s[p]);
  return out;
}

std::vector<const Tensor*> Inputs(const Tensor& x, const std::vector<TensorIndex>& items) {
  std::vector<const Tensor*> out{&x};
  for (const TensorIndex& item : items) {
    if (const auto* t = std::get_if<Tensor>(&item)) out.push_back(t);
    if (const auto* m = std::get_if<Mask>(&item)) out.push_back(&m->mask);
  }
  return out;
}

// Combine takes a fixed list: devices and errors meet pair by pair.
Tensor Result(const char* op, const std::vector<const Tensor*>& inputs, absl::StatusOr<UOpRef> value) {
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Tensor pair =
        Combine(op, {inputs[0], inputs[i]},
                inputs[0]->ok() ? absl::StatusOr<UOpRef>(inputs[0]->uop()) : inputs[0]->status());
    if (!pair.ok()) return pair;
  }
  const Tensor* placed = inputs[0];
  for (const Tensor* t : inputs) {
    if (t->ok() && t->is_placed() && !placed->is_placed()) placed = t;
  }
  return Combine(op, {inputs[0], placed}, std::move(value));
}

// `part`, which has the view's shape, written back through the view into x.
UOpRef WriteBack(const UOpRef& x, const UOpRef& view, UOpRef part) {
  UOpRef mask = Constant(dtypes::kBool, int64_t{1}, view->shape());
  bool whole = true;
  for (const UOp* u = view.get(); u != x.get(); u = u->src(0).get()) {
    whole &= u->op() == Op::kReshape || u->op() == Op::kPermute || u->op() == Op::kFlip;
    part = tensor_internal::UndoMovement(*u, part);
    mask = tensor_internal::UndoMovement(*u, mask);
  }
  return whole ? part : uop::Where(mask, part, x);
}

}  // namespace

Tensor IndexBy(const Tensor& x, const std::vector<TensorIndex>& items) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_ASSIGN_OR_RETURN(const Plan p, MakePlan("IndexBy", x, items, false));
    if (p.indexed.empty()) return p.view.uop();
    const Matrix m = MatrixOf(p);
    Shape shape = p.common;
    shape.insert(shape.end(), m.rest.begin(), m.rest.end());
    const UOpRef rows = uop::Reshape(uop::Permute(p.view.uop(), m.perm), {m.rows, m.cols});
    return uop::Permute(uop::Reshape(PickRows(rows, m.at), shape), ResultOrder(p));
  };
  return Result("IndexBy", Inputs(x, items), make());
}

Tensor IndexPut(const Tensor& x, const std::vector<TensorIndex>& items, const Operand& value,
                bool accumulate) {
  std::vector<const Tensor*> inputs = Inputs(x, items);
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(x.status());
    Tensor v;
    if (const Number* n = value.number()) {
      v = Tensor::Full({}, *n, {x.dtype(), x.device()});
    } else {
      v = *value.tensor();
      inputs.push_back(value.tensor());
      if (v.ok() && v.dtype() != x.dtype()) {
        return Bad("IndexPut", "value of dtype ", v.dtype().Name(), " into ", x.dtype().Name(),
                   ", expected equal dtypes");
      }
    }
    US_RETURN_IF_ERROR(v.status());
    const DType t = x.dtype();
    if (accumulate && t.IsBool()) return Bad("IndexPut", "accumulation of bool");
    US_ASSIGN_OR_RETURN(const Plan p, MakePlan("IndexPut", x, items, true));
    const UOpRef& view = p.view.uop();
    const auto fits = [&](const Shape& want) -> absl::Status {
      const auto shape = tensor_internal::BroadcastShapes("IndexPut", want, v.shape());
      if (shape.ok() && *shape == want) return absl::OkStatus();
      return Bad("IndexPut", "value of shape ", Text(v.shape()), " does not broadcast to the part's shape ",
                 Text(want));
    };
    if (p.uncounted != nullptr) {
      // {before..., mask..., after...}: the value may vary along `after` only, or be one element.
      Shape mask_shape(view->shape().size(), 1);
      std::copy(p.uncounted->shape().begin(), p.uncounted->shape().end(),
                mask_shape.begin() + p.uncounted_axis);
      const int64_t after =
          p.view.ndim() - p.uncounted_axis - static_cast<int64_t>(p.uncounted->shape().size());
      Shape own = v.shape();
      while (static_cast<int64_t>(own.size()) > after && own.front() == 1) own.erase(own.begin());
      if (static_cast<int64_t>(own.size()) > after) {
        return absl::UnimplementedError(
            absl::StrCat("IndexPut: value of shape ", Text(v.shape()),
                         " through a mask of unknown count, expected one that does not vary along it, or ",
                         "Mask{mask, count}"));
      }
      const auto shape = tensor_internal::BroadcastShapes("IndexPut", view->shape(), own);
      if (!shape.ok() || *shape != view->shape())
        return Bad("IndexPut", "value of shape ", Text(v.shape()), " into a part of shape ",
                   Text(view->shape()));
      const UOpRef mask = BroadcastTo(uop::Reshape(p.uncounted, mask_shape), view->shape());
      UOpRef wide = BroadcastTo(uop::Reshape(v.uop(), own), view->shape());
      if (accumulate) wide = uop::Add(view, wide);
      return WriteBack(x.uop(), view, uop::Where(mask, wide, view));
    }
    if (p.indexed.empty()) {
      US_RETURN_IF_ERROR(fits(view->shape()));
      UOpRef wide = BroadcastTo(v.uop(), view->shape());
      if (accumulate) wide = uop::Add(view, wide);
      return WriteBack(x.uop(), view, wide);
    }
    const Matrix m = MatrixOf(p);
    const Ints order = ResultOrder(p);
    Shape shape = p.common;
    shape.insert(shape.end(), m.rest.begin(), m.rest.end());
    const Shape want = Permuted(shape, order);
    US_RETURN_IF_ERROR(fits(want));
    if (m.rows == 0 || m.cols == 0 || m.m == 0) return x.uop();
    const UOpRef values =
        uop::Reshape(uop::Permute(BroadcastTo(v.uop(), want), Inverse(order)), {m.m, m.cols});
    const UOpRef rows = uop::Reshape(uop::Permute(view, m.perm), {m.rows, m.cols});
    const Shape pairs{m.rows, m.m};
    const UOpRef hit =
        uop::CmpEq(BroadcastTo(m.at, pairs),
                   BroadcastTo(uop::Reshape(uop::Iota(dtypes::kInt64, m.rows), {m.rows, 1}), pairs));
    UOpRef out;
    if (accumulate) {
      const Shape cube{m.rows, m.m, m.cols};
      const DType acc = t.IsFloat() ? AccType(t) : t;
      const UOpRef each = BroadcastTo(uop::Reshape(uop::Cast(values, acc), {1, m.m, m.cols}), cube);
      const UOpRef chosen =
          uop::Where(BroadcastTo(uop::Reshape(hit, {m.rows, m.m, 1}), cube), each, ZeroOf(acc, cube));
      out = uop::Cast(uop::Add(uop::Cast(rows, acc), SumOver(chosen, 1)), t);
    } else {
      // The last writer of each row, or -1.
      const UOpRef number = uop::Add(BroadcastTo(uop::Iota(dtypes::kInt64, m.m), pairs), Int64(1, pairs));
      const UOpRef most = uop::ReduceAxis(uop::Where(hit, number, Int64(0, pairs)), Op::kMax, {1});
      const UOpRef last = uop::Add(uop::Reshape(most, {m.rows}), Int64(-1, {m.rows}));
      const UOpRef written = Not(Value(uop::CmpLt(last, Int64(0, {m.rows})))).u;
      out = uop::Where(BroadcastTo(uop::Reshape(written, {m.rows, 1}), {m.rows, m.cols}),
                       PickRows(values, last), rows);
    }
    const UOpRef part = uop::Permute(uop::Reshape(out, m.moved), Inverse(m.perm));
    return WriteBack(x.uop(), view, part);
  };
  absl::StatusOr<UOpRef> made = make();
  return Result("IndexPut", inputs, std::move(made));
}

Tensor& AssignIndexBy(Tensor& x, const std::vector<TensorIndex>& items, const Operand& value,
                      bool accumulate) {
  return x.Assign(IndexPut(x, items, value, accumulate));
}

Tensor MaskedSelect(const Tensor& x, const Tensor& mask, int64_t count) {
  if (!x.ok()) return x;
  if (!mask.ok()) return mask;
  const auto shape = tensor_internal::BroadcastShapes("MaskedSelect", x.shape(), mask.shape());
  if (!shape.ok()) return Tensor(shape.status());
  const int64_t n = Product(*shape);
  return IndexBy(x.Expand(*shape).Reshape({n}), {Mask{mask.Expand(*shape).Reshape({n}), count}});
}

}  // namespace understudy
