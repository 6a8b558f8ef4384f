// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/variable.h"

#include <algorithm>
#include <limits>

#include "src/base/status.h"
#include "src/tensor/internal.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {

using tensor_internal::Axis;
using tensor_internal::Bad;
using tensor_internal::Combine;
using tensor_internal::Constant;
using tensor_internal::Text;

// --- Sizes ---

Size::Size(int64_t v) : expr_(uop::IndexConst(v)) {}
Size::Size(UOpRef expr) : expr_(std::move(expr)) {
  US_CHECK(expr_ != nullptr && uop::IsSizeExpr(*expr_) && expr_->dtype() == dtypes::kIndex);
}
Size::Size(absl::Status error) : status_(std::move(error)) { US_CHECK(!status_.ok()); }

bool Size::IsFixed() const { return expr_ != nullptr && expr_->IsConst(); }
int64_t Size::Least() const { return expr_ == nullptr ? 0 : uop::LimitsOf(expr_).lo; }
int64_t Size::Most() const { return expr_ == nullptr ? 0 : uop::LimitsOf(expr_).hi; }
absl::StatusOr<int64_t> Size::Value() const {
  US_RETURN_IF_ERROR(status_);
  return uop::SizeValue(expr_);
}
std::string Size::Text() const {
  return expr_ == nullptr ? std::string(status_.message()) : uop::SizeText(expr_);
}

Tensor Size::AsTensor(DType dtype, const std::string& device) const {
  if (!status_.ok()) return Tensor(status_);
  for (const int64_t limit : {Least(), Most()}) {
    const bool fits =
        dtype.IsInt()
            ? Canonical(dtype, limit) == ConstValue(limit)
            : dtype.IsFloat() && std::get<double>(Canonical(dtype, static_cast<double>(limit))) == limit;
    if (!fits) {
      return Tensor(Bad("AsTensor", Text(), " up to ", limit, " is no ", dtype.Name(),
                        ", expected a type that has all its values"));
    }
  }
  return Tensor(uop::Cast(expr_, dtype), device);
}

namespace {

Size Sum(const Size& a, const Size& b, int64_t factor) {
  if (!a.status().ok()) return a;
  if (!b.status().ok()) return b;
  return Size(uop::SizeSum(a.expr(), uop::SizeScale(b.expr(), factor)));
}

}  // namespace

Size operator+(const Size& a, const Size& b) { return Sum(a, b, 1); }
Size operator-(const Size& a, const Size& b) { return Sum(a, b, -1); }
Size operator*(const Size& a, int64_t factor) {
  return a.status_.ok() ? Size(uop::SizeScale(a.expr_, factor)) : a;
}

Variable::Variable(std::string name, int64_t min, int64_t max)
    : name_(std::move(name)), min_(min), max_(max) {}

Size Variable::Unbound() const {
  if (name_.empty()) return Size(Bad("Variable", "empty name"));
  if (min_ < 0 || max_ < min_ || max_ > (int64_t{1} << 40)) {
    return Size(Bad("Variable", name_, " in [", min_, ", ", max_, "], expected 0 <= min <= max <= 2^40"));
  }
  return Size(uop::Var(name_, min_, max_));
}

Size Variable::Bind(int64_t value) const {
  const Size unbound = Unbound();
  if (!unbound.status().ok()) return unbound;
  if (value < min_ || value > max_) {
    return Size(absl::OutOfRangeError(
        absl::StrCat("Variable: ", name_, " = ", value, ", expected one of [", min_, ", ", max_, "]")));
  }
  return Size(uop::Bind(unbound.expr(), value));
}

// --- Slices ---

namespace {

// Refuses what is outside for the values that the variables have, or, where they have none, for all.
absl::Status CheckInside(const char* op, int64_t axis, const Size& start, const Size& length,
                         const Size& size) {
  const Size rest = size - start - length;
  const auto outside = [&](const Size& s) {
    const auto value = s.Value();
    return value.ok() ? *value < 0 : s.Most() < 0;
  };
  if (!outside(start) && !outside(length) && !outside(rest)) return absl::OkStatus();
  const auto text = [](const Size& s) {
    const auto value = s.Value();
    return value.ok() && !s.IsFixed() ? absl::StrCat(s.Text(), " = ", *value) : s.Text();
  };
  return Bad(op, "start ", text(start), " and length ", text(length), " at axis ", axis, " of size ",
             text(size), ", expected a part of it");
}

UOpRef Window(const UOpRef& x, int64_t axis, const Size& start, const Size& length, int64_t room) {
  return uop::Slice(x, axis, start.expr(), length.expr(), room);
}

Size LengthOf(const UOpRef& x, int64_t axis) { return Size(uop::LengthOf(x, static_cast<size_t>(axis))); }

}  // namespace

Tensor Narrow(const Tensor& x, int64_t axis, const Size& start, const Size& length) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(start.status());
    US_RETURN_IF_ERROR(length.status());
    US_ASSIGN_OR_RETURN(const int64_t a, Axis("Narrow", axis, x.ndim()));
    const Size size = LengthOf(x.uop(), a);
    US_RETURN_IF_ERROR(CheckInside("Narrow", a, start, length, size));
    if (start == Size(0) && length == size) return x.uop();
    const int64_t have = x.shape()[a];
    if (start.IsFixed() && length.IsFixed() && size.IsFixed()) {
      std::vector<int64_t> bounds;
      for (int i = 0; i < x.ndim(); ++i) bounds.insert(bounds.end(), {0, x.shape()[i]});
      bounds[2 * a] = start.Least();
      bounds[2 * a + 1] = start.Least() + length.Least();
      return uop::Shrink(x.uop(), bounds);
    }
    const int64_t room =
        length.IsFixed() ? length.Least()
                         : std::clamp<int64_t>(length.Most(), 0, std::max<int64_t>(0, have - start.Least()));
    return Window(x.uop(), a, start, length, room);
  };
  if (!x.ok()) return x;
  return Combine("Narrow", {&x}, make());
}

Tensor& AssignNarrow(Tensor& x, int64_t axis, const Size& start, const Tensor& value) {
  if (!x.ok()) return x;
  const auto view = [&]() -> Tensor {
    if (!value.ok()) return value;
    const auto a = Axis("AssignNarrow", axis, x.ndim());
    if (!a.ok()) return Tensor(a.status());
    if (value.ndim() != x.ndim()) {
      return Tensor(Bad("AssignNarrow", "value of shape ", Text(value.shape()), " into ", Text(x.shape()),
                        ", expected equal ranks"));
    }
    return Narrow(x, *a, start, SizeOf(value, *a));
  };
  return x.AssignView(view(), value);
}

namespace tensor_internal {

bool IsVariableAxis(const Tensor& x, int64_t axis) {
  return x.ok() && !x.uop()->sizes().empty() && x.uop()->sizes()[axis] != nullptr;
}

Tensor SizedAs(const Tensor& x, const Tensor& like) {
  if (!x.ok() || !like.ok() || like.uop()->sizes().empty()) return x;
  return Combine("Like", {&x}, uop::Sized(x.uop(), like.uop()->sizes()));
}

namespace {

// x seen through the window, with `fill` in its other places.
absl::StatusOr<UOpRef> Filled(const char* op, const UOpRef& x, int64_t axis, const Size& start,
                              const Size& length, int64_t room, const Number& fill) {
  US_ASSIGN_OR_RETURN(const UOpRef value, NumberConst(op, x->dtype(), fill));
  const UOpRef padded = Window(x, axis, start, length, room);
  if (SameConst(value->value(), uop::Const(x->dtype(), 0)->value())) return padded;
  // A mask keeps the fill and the elements apart exactly, whatever they are.
  const UOpRef all = uop::Sized(Constant(dtypes::kBool, int64_t{1}, x->shape()), x->sizes());
  return uop::Where(Window(all, axis, start, length, room), padded, BroadcastTo(value, padded->shape()));
}

}  // namespace

Tensor PadVariable(const Tensor& x, int64_t axis, int64_t lo, int64_t hi, const Number& fill) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    const Size size = LengthOf(x.uop(), axis), length = size + lo + hi;
    const auto value = length.Value();
    if (length.Most() < 0 || (value.ok() && *value < 0))
      return Bad("Pad", "{", lo, ",", hi, "} cuts more than the ", size.Text(), " elements of axis ", axis);
    return Filled("Pad", x.uop(), axis, -lo, length, std::max<int64_t>(0, x.shape()[axis] + lo + hi), fill);
  };
  if (!x.ok()) return x;
  return Combine("Pad", {&x}, make());
}

Tensor FlipVariable(const Tensor& x, int64_t axis) {
  if (!x.ok()) return x;
  const int64_t room = x.shape()[axis];
  const Size size = LengthOf(x.uop(), axis);
  // Of the whole room the elements that exist are the last ones then.
  const UOpRef whole = uop::Flip(Window(x.uop(), axis, 0, room, room), {axis});
  return Combine("Flip", {&x}, Window(whole, axis, Size(room) - size, size, room));
}

Tensor CatVariable(const std::vector<Tensor>& tensors, int64_t axis) {
  Size total(0);
  int64_t room = 0;
  for (const Tensor& t : tensors) {
    total = total + LengthOf(t.uop(), axis);
    room += t.shape()[axis];
  }
  Tensor out;
  Size at(0);
  for (const Tensor& t : tensors) {
    const Size start = Size(0) - at;
    at = at + LengthOf(t.uop(), axis);
    const Tensor part = Combine("Cat", {&t}, Window(t.uop(), axis, start, total, room));
    if (!out.ok()) {
      out = part;
      continue;
    }
    const UOpRef all = uop::Sized(Constant(dtypes::kBool, int64_t{1}, t.shape()), t.uop()->sizes());
    out = Where(Tensor(Window(all, axis, start, total, room), t.device()), part, out);
    if (!out.ok()) return out;
  }
  return out;
}

}  // namespace tensor_internal

Tensor PadToRoom(const Tensor& x, int64_t axis, Number fill) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_ASSIGN_OR_RETURN(const int64_t a, Axis("PadToRoom", axis, x.ndim()));
    const int64_t room = x.shape()[a];
    if (!tensor_internal::IsVariableAxis(x, a)) return x.uop();
    return tensor_internal::Filled("PadToRoom", x.uop(), a, 0, room, room, fill);
  };
  if (!x.ok()) return x;
  return Combine("PadToRoom", {&x}, make());
}

// --- Creation ---

namespace {

// The most that each size can be, and the expressions of those that are variable.
struct Sizes {
  Shape room;
  std::vector<UOpRef> exprs;
};
absl::StatusOr<Sizes> Resolve(const char* op, const std::vector<Size>& shape) {
  Sizes s;
  for (const Size& d : shape) {
    US_RETURN_IF_ERROR(d.status());
    const auto value = d.Value();
    if (value.ok() && *value < 0) return Bad(op, "size ", d.Text(), " = ", *value, ", expected at least 0");
    s.room.push_back(std::max<int64_t>(0, d.Most()));
    s.exprs.push_back(d.IsFixed() ? UOpRef() : d.expr());
  }
  return s;
}

}  // namespace

Tensor Arange(const Size& n, const TensorOptions& options) {
  const auto sizes = Resolve("Arange", {n});
  if (!sizes.ok()) return Tensor(sizes.status());
  const Tensor all = Tensor::Arange(0, sizes->room[0], 1, options);
  return all.ok() ? Tensor(uop::Sized(all.uop(), sizes->exprs), options.device) : all;
}

Tensor Full(const std::vector<Size>& shape, Number value, const TensorOptions& options) {
  const auto sizes = Resolve("Full", shape);
  if (!sizes.ok()) return Tensor(sizes.status());
  const Tensor all = Tensor::Full(sizes->room, value, options);
  return all.ok() ? Tensor(uop::Sized(all.uop(), sizes->exprs), options.device) : all;
}

// --- Asking ---

bool HasVariableSize(const Tensor& x) { return x.ok() && !x.uop()->sizes().empty(); }

Size SizeOf(const Tensor& x, int64_t axis) {
  if (!x.ok()) return Size(x.status());
  const auto a = Axis("SizeOf", axis, x.ndim());
  return a.ok() ? LengthOf(x.uop(), *a) : Size(a.status());
}

absl::StatusOr<Shape> TrueShape(const Tensor& x) {
  US_RETURN_IF_ERROR(x.status());
  return uop::TrueShape(*x.uop());
}

Tensor BindAll(const Tensor& x, const std::map<std::string, int64_t>& values) {
  if (!x.ok()) return x;
  uop::SubstitutionMap map;
  for (const UOp* n : uop::Toposort(x.uop())) {
    if (n->op() == Op::kBind) map[UOpRef(n)] = UOpRef(n);
    if (n->op() != Op::kVar) continue;
    const auto& v = n->arg_as<VarArg>();
    const auto it = values.find(v.name);
    if (it == values.end()) continue;
    if (it->second < v.min || it->second > v.max) {
      return Tensor(absl::OutOfRangeError(absl::StrCat("BindAll: ", v.name, " = ", it->second,
                                                       ", expected one of [", v.min, ", ", v.max, "]")));
    }
    map[UOpRef(n)] = uop::Bind(UOpRef(n), it->second);
  }
  return map.empty() ? x : Combine("BindAll", {&x}, uop::Substitute(x.uop(), map));
}

}  // namespace understudy
