// SPDX-License-Identifier: Apache-2.0
// The handle: state, status, devices, and in-place assignment.
#include "src/tensor/tensor.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "src/base/status.h"
#include "src/tensor/internal.h"
#include "src/tensor/watch.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace tensor_internal {

std::string Text(const std::vector<int64_t>& v) {
  std::string s = "[";
  for (size_t i = 0; i < v.size(); ++i) absl::StrAppend(&s, i ? "," : "", v[i]);
  return s + "]";
}

int64_t Product(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

UOpRef Constant(DType dtype, const ConstValue& v, const Shape& shape) {
  return BroadcastTo(uop::Const(dtype, v), shape);
}

UOpRef BroadcastTo(const UOpRef& x, const Shape& shape) {
  if (x->shape() == shape) return x;
  Shape ones(shape.size() - x->shape().size(), 1);
  ones.insert(ones.end(), x->shape().begin(), x->shape().end());
  return uop::Expand(uop::Reshape(x, ones), shape);
}

absl::StatusOr<Shape> BroadcastShapes(const char* op, const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1, db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return Bad(op, "shapes ", Text(a), " and ", Text(b), " do not broadcast: sizes ", da, " and ", db,
                 " at axis -", i + 1, ", expected equal or 1");
    }
    out[out.size() - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

absl::StatusOr<int64_t> Axis(const char* op, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return Bad(op, "axis ", axis, " is outside a tensor of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

absl::StatusOr<std::vector<int64_t>> Axes(const char* op, const std::vector<int64_t>& axes, int rank) {
  std::vector<int64_t> out;
  if (axes.empty()) {
    for (int i = 0; i < rank; ++i) out.push_back(i);
    return out;
  }
  for (const int64_t a : axes) {
    US_ASSIGN_OR_RETURN(const int64_t axis, Axis(op, a, rank));
    if (std::count(out.begin(), out.end(), axis))
      return Bad(op, "axis ", a, " appears twice in ", Text(axes));
    out.push_back(axis);
  }
  std::sort(out.begin(), out.end());
  return out;
}

DType NumberType(DType t, const Number& n) {
  if (n.kind() == Number::Kind::kFloat && !t.IsFloat()) return dtypes::kFloat32;
  if (n.kind() == Number::Kind::kInt && t.IsBool()) return dtypes::kInt64;
  return t;
}

absl::StatusOr<UOpRef> NumberConst(const char* op, DType dtype, const Number& n) {
  if (dtype.IsFloat()) return uop::Const(dtype, ConstValue(n.as_double()));
  if (dtype.IsInt() && n.kind() == Number::Kind::kInt && dtype.BitWidth() < 64) {
    // As PyTorch: an unsigned type also takes the negative numbers of its width.
    const int64_t v = std::get<int64_t>(n.value()), span = int64_t{1} << dtype.BitWidth();
    if (v >= (dtype.IsSigned() ? span / 2 : span) || v < -(dtype.IsSigned() ? span / 2 : span)) {
      return Bad(op, "number ", v, " does not fit ", dtype.Name());
    }
  }
  return uop::Const(dtype, n.value());
}

DType ComputeType(DType t) { return t == dtypes::kFloat64 ? t : dtypes::kFloat32; }
DType FloatType(DType t) { return t.IsFloat() ? t : dtypes::kFloat32; }

bool AllOk(std::initializer_list<const Tensor*> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [](const Tensor* t) { return t == nullptr || t->ok(); });
}

UOpRef UndoCopy(const UOp& copy, const UOpRef& g) {
  const std::string from = DeviceOf(copy.src(0)), &to = copy.arg_as<std::string>();
  if (from.empty() || from == to) return g;
  if (!IsGroupName(from)) return uop::Copy(g, from);
  // Every device takes its part.
  const std::optional<Sharding> s = ShardingOf(copy.src(0));
  if (!s || s->replicated()) return uop::Copy(g, from);
  return SpreadParts(g, *s);
}

std::string DeviceOf(const UOpRef& x) {
  std::vector<const UOp*> stack{x.get()};
  absl::flat_hash_set<const UOp*> seen;
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!seen.insert(u).second) continue;
    if (u->op() == Op::kBuffer) return u->arg_as<BufferArg>().device;
    if (u->op() == Op::kCopy) return u->arg_as<std::string>();
    if (u->op() == Op::kMulti) return GroupName(u->arg_as<MultiArg>().devices);
    for (const UOpRef& s : u->src()) stack.push_back(s.get());
  }
  return "";
}

bool IsStorage(const UOp& node) {
  if (node.op() == Op::kMulti) {
    return std::all_of(node.src().begin(), node.src().end(), [](const UOpRef& part) {
      const UOp* u = part.get();
      while (u->op() == Op::kReshape) u = u->src(0).get();
      return part->numel() == 0 || IsStorage(*u);
    });
  }
  return node.op() == Op::kBuffer || node.op() == Op::kAssign || node.op() == Op::kAfter ||
         (node.op() == Op::kParam && std::holds_alternative<std::vector<int64_t>>(node.arg()));
}

bool IsRangeOfStorage(const UOpRef& x) {
  const UOp* u = x.get();
  for (;; u = u->src(0).get()) {
    if (u->op() == Op::kShrink) {
      // One cut axis; those before it have one element left, those after it are whole.
      const auto& bounds = u->arg_as<std::vector<int64_t>>();
      const Shape& in = u->src(0)->shape();
      bool single = true;
      for (size_t i = 0; i < in.size(); ++i) {
        const int64_t size = bounds[2 * i + 1] - bounds[2 * i];
        if (!single && size != in[i]) return false;
        single &= size == 1;
      }
    } else if (u->op() != Op::kReshape && u->op() != Op::kDetach && u->op() != Op::kContiguousBackward) {
      return IsStorage(*u) && x->numel() > 0;
    }
  }
}

absl::Status SameSizes(const char* op, const UOp& target, const UOp& value) {
  for (size_t i = 0; i < target.shape().size(); ++i) {
    const UOpRef want = target.sizes().empty() ? UOpRef() : target.sizes()[i],
                 have = value.sizes().empty() ? UOpRef() : value.sizes()[i];
    if (want == have || (have == nullptr && i < 32 && (value.broadcast_axes() >> i & 1) != 0)) continue;
    const auto text = [&](const UOpRef& s) {
      return s == nullptr ? absl::StrCat(target.shape()[i]) : uop::SizeText(s);
    };
    return Bad(op, "value of size ", text(have), " at axis ", i, " into one of size ", text(want),
               ", expected equal sizes");
  }
  return absl::OkStatus();
}

absl::Status SizeError(const char* op, const UOp& value) {
  if (value.size_info() == nullptr || value.size_info()->error.ok()) return absl::OkStatus();
  const absl::Status& e = value.size_info()->error;
  return absl::Status(e.code(), absl::StrCat(op, ": ", std::string(e.message())));
}

UOpRef Transfer(const UOpRef& value, const std::string& device) {
  if (IsGroupName(device)) {
    // Spread as the value is.
    std::optional<Sharding> s = ShardingOf(value);
    if (!s || GroupName(s->devices) != device) s = Replicated(GroupDevices(device));
    return uop::Assign(SpreadStorage(value->dtype(), value->shape(), *s), uop::Copy(value, device));
  }
  const UOpRef own = uop::NewBuffer(value->dtype(), value->numel(), device);
  return uop::Assign(uop::Reshape(own, value->shape()), uop::Copy(value, device));
}

UOpRef SpreadStorage(DType dtype, const Shape& shape, const Sharding& s) {
  std::vector<UOpRef> parts;
  for (size_t i = 0; i < s.devices.size(); ++i) {
    const Shape local = s.PartShape(shape, i);
    const int64_t n = Product(local);
    parts.push_back(n == 0 ? Constant(dtype, ZeroOf(dtype), local)
                           : uop::Reshape(uop::NewBuffer(dtype, n, s.devices[i]), local));
  }
  return uop::Multi(std::move(parts), MultiArgOf(s));
}

UOpRef SpreadParts(const UOpRef& x, const Sharding& s) {
  const bool placed = !DeviceOf(x).empty();
  std::vector<UOpRef> parts;
  for (size_t i = 0; i < s.devices.size(); ++i) {
    const Shape local = s.PartShape(x->shape(), i);
    if (Product(local) == 0) {
      parts.push_back(Constant(x->dtype(), ZeroOf(x->dtype()), local));
      continue;
    }
    const UOpRef part = CutAxis(x, s, i);
    parts.push_back(placed ? uop::Copy(part, s.devices[i]) : part);
  }
  return uop::Multi(std::move(parts), MultiArgOf(s));
}

UOpRef CutAxis(const UOpRef& x, const Sharding& s, size_t part) {
  if (s.replicated() || s.parts[part].size() == x->shape()[s.axis]) return x;
  std::vector<int64_t> bounds;
  for (const int64_t d : x->shape()) bounds.insert(bounds.end(), {0, d});
  bounds[2 * s.axis] = s.parts[part].begin, bounds[2 * s.axis + 1] = s.parts[part].end;
  return uop::Shrink(x, bounds);
}

UOpRef UndoMovement(const UOp& node, const UOpRef& g) {
  const Shape& in = node.src(0)->shape();
  switch (node.op()) {
    case Op::kReshape:
      return uop::Reshape(g, in);
    case Op::kPermute: {
      const auto& perm = node.arg_as<std::vector<int64_t>>();
      std::vector<int64_t> inverse(perm.size());
      for (size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = static_cast<int64_t>(i);
      return uop::Permute(g, inverse);
    }
    case Op::kPad: {
      const auto& pad = node.arg_as<std::vector<int64_t>>();
      std::vector<int64_t> bounds;
      for (size_t i = 0; i < in.size(); ++i) bounds.insert(bounds.end(), {pad[2 * i], pad[2 * i] + in[i]});
      return uop::Shrink(g, bounds);
    }
    case Op::kShrink: {
      const auto& bounds = node.arg_as<std::vector<int64_t>>();
      std::vector<int64_t> pad;
      for (size_t i = 0; i < in.size(); ++i)
        pad.insert(pad.end(), {bounds[2 * i], in[i] - bounds[2 * i + 1]});
      return uop::Pad(g, pad);
    }
    case Op::kFlip:
      return uop::Flip(g, node.arg_as<std::vector<int64_t>>());
    case Op::kSlice: {
      // The elements go back to where they came from.
      const auto axis = node.arg_as<std::vector<int64_t>>()[0];
      const UOpRef length = uop::LengthOf(node.src(0), static_cast<size_t>(axis));
      return uop::Slice(g, axis, uop::SizeScale(node.src(1), -1), length, in[axis]);
    }
    default:
      US_CHECK(false) << OpName(node.op());
      return nullptr;
  }
}

}  // namespace tensor_internal

using tensor_internal::Bad;
using tensor_internal::Text;

double Number::as_double() const {
  if (const int64_t* i = std::get_if<int64_t>(&value_)) return static_cast<double>(*i);
  return std::get<double>(value_);
}

Tensor::Tensor() : Tensor(absl::FailedPreconditionError("tensor without a value")) {}

Tensor::Tensor(absl::Status error) : state_(std::make_shared<State>()) {
  US_CHECK(!error.ok());
  state_->status = std::move(error);
}

Tensor::Tensor(UOpRef uop, std::string device) : state_(std::make_shared<State>()) {
  US_CHECK(uop != nullptr);
  if (absl::Status s = tensor_internal::SizeError("tensor", *uop); !s.ok()) {
    state_->status = std::move(s);
    return;
  }
  const std::string named = tensor_internal::DeviceOf(uop);
  state_->placed = !named.empty();
  state_->device = named.empty() ? std::move(device) : named;
  state_->uop = std::move(uop);
}

UOpRef Tensor::State::Step::Over(const UOpRef& x) const {
  std::vector<UOpRef> src{x};
  src.insert(src.end(), rest.begin(), rest.end());
  return UOp::Make(op, x->dtype(), std::move(src), arg);
}

Tensor::State& Tensor::Fresh() const {
  State& s = Look();
  if (TensorWatch* watch = TensorWatch::Current(); watch != nullptr && s.uop != nullptr) {
    watch->OnRead(*this, s.uop);
    if (s.base != nullptr && s.base->uop != nullptr) watch->OnRead(Tensor(s.base), s.base->uop);
  }
  return s;
}

Tensor::State& Tensor::Look() const {
  State& s = *state_;
  if (s.base == nullptr || s.shown == s.base->version) return s;
  s.shown = s.base->version;
  if (!s.base->status.ok()) {
    s.status = s.base->status;
    s.uop = nullptr;
    return s;
  }
  s.uop = s.base->uop;
  bool detached = false;
  for (const State::Step& step : s.steps) {
    s.uop = step.Over(s.uop);
    detached |= step.op == Op::kDetach;
  }
  s.placed = s.base->placed;
  s.requires_grad |= s.base->requires_grad && !detached;
  return s;
}

const absl::Status& Tensor::status() const { return Fresh().status; }
const Shape& Tensor::shape() const {
  static const Shape kNone;
  return state_->uop ? state_->uop->shape() : kNone;
}
DType Tensor::dtype() const { return state_->uop ? state_->uop->dtype() : dtypes::kVoid; }
const std::string& Tensor::device() const { return state_->device; }
int64_t Tensor::numel() const { return tensor_internal::Product(shape()); }
const UOpRef& Tensor::uop() const { return Fresh().uop; }
bool Tensor::requires_grad() const { return Fresh().requires_grad; }
Tensor& Tensor::set_requires_grad(bool on) {
  state_->requires_grad = on;
  return *this;
}

namespace {

// What a node is when looked at through views (EXPAND and PAD make values): the value behind it, whether that
// is storage, and whether the node is all of it in order.
struct Root {
  const UOp* base;
  bool storage, whole;
};
Root RootOf(const UOp* u) {
  bool whole = true;
  while ((IsMovement(u->op()) && u->op() != Op::kPad && u->op() != Op::kExpand) || u->op() == Op::kDetach ||
         u->op() == Op::kContiguousBackward || uop::IsSizing(*u)) {
    if (u->op() != Op::kReshape && IsMovement(u->op())) whole = false;
    u = u->src(0).get();
  }
  return {u, tensor_internal::IsStorage(*u), whole};
}

// The contents of `base` once `view`, which is made from it by movement ops, holds `value`.
absl::StatusOr<UOpRef> WrittenThrough(const UOp* view, const UOp* base, const UOpRef& value) {
  UOpRef moved = value, mask = uop::Sized(tensor_internal::Constant(dtypes::kBool, int64_t{1}, view->shape()),
                                          view->sizes());
  moved = uop::Sized(moved, view->sizes());
  bool part = false;
  for (const UOp* u = view; u != base; u = u->src(0).get()) {
    if (u->op() == Op::kDetach) moved = uop::Detach(moved);
    if (u->op() == Op::kCopy) moved = tensor_internal::UndoCopy(*u, moved);
    if (!IsMovement(u->op()) && u->op() != Op::kSlice) continue;
    if (u->op() == Op::kExpand) {
      return Bad("Assign", "through EXPAND from ", Text(u->src(0)->shape()), " to ", Text(u->shape()),
                 ", which would write one element several times");
    }
    part |= u->op() == Op::kShrink || u->op() == Op::kPad || u->op() == Op::kSlice;
    moved = tensor_internal::UndoMovement(*u, moved);
    mask = tensor_internal::UndoMovement(*u, mask);
  }
  return part ? uop::Where(mask, moved, UOpRef(base)) : moved;
}

}  // namespace

void Tensor::Rebind(UOpRef uop) {
  US_CHECK(ok() && uop != nullptr && uop->dtype() == dtype() && uop->shape() == shape());
  state_->uop = std::move(uop);
  state_->placed = true;
  // The only view of a value that nobody else can see keeps nothing of it alive.
  if (state_->base != nullptr && state_->base.use_count() == 1 && !RootOf(state_->base->uop.get()).storage)
    state_->base = nullptr;
}

std::optional<ConstValue> Tensor::ConstantValue() const {
  if (!ok()) return std::nullopt;
  const UOp* u = uop().get();
  while (u->op() != Op::kPad && IsMovement(u->op())) u = u->src(0).get();
  if (u->op() != Op::kConst) return std::nullopt;
  return u->value();
}

Tensor tensor_internal::Combine(const char* op, std::initializer_list<const Tensor*> inputs,
                                absl::StatusOr<UOpRef> value) {
  const Tensor* placed = nullptr;
  const Tensor* any = nullptr;
  bool grad = false;
  for (const Tensor* t : inputs) {
    if (t == nullptr) continue;
    if (!t->ok()) return Tensor(t->status());
    if (any == nullptr) any = t;
    grad |= t->requires_grad();
    if (!t->is_placed()) continue;
    if (placed != nullptr && placed->device() != t->device()) {
      return Tensor(Bad(op, "operands on devices ", placed->device(), " and ", t->device(),
                        ", expected one device (To() moves)"));
    }
    placed = t;
  }
  if (!value.ok()) return Tensor(value.status());
  if (absl::Status s = SizeError(op, **value); !s.ok()) return Tensor(s);
  const Tensor* from = placed != nullptr ? placed : any;
  Tensor out(*std::move(value), from->device(), placed != nullptr, grad);
  // Every other operation makes values, even where its result happens to be a movement of its operand; one
  // that changes nothing gives the tensor itself.
  static constexpr const char* kViews[] = {"Reshape", "Permute", "Shrink",     "Flip",
                                           "Index",   "Detach",  "Contiguous", "ContiguousBackward",
                                           "Narrow"};
  const bool view = std::any_of(std::begin(kViews), std::end(kViews),
                                [&](const char* name) { return std::string(name) == op; });
  for (const Tensor* t : inputs) {
    if (t == nullptr || out.state_->base != nullptr) continue;
    if ((view && inputs.size() == 1) || out.uop() == t->uop()) LinkView(out, *t);
  }
  return out;
}

void tensor_internal::LinkView(Tensor& view, const Tensor& of) {
  constexpr int kMost = 64;
  std::vector<Tensor::State::Step> steps;
  const UOp* u = view.uop().get();
  for (int i = 0; u != of.uop().get(); ++i, u = u->src(0).get()) {
    const bool view_op = (IsMovement(u->op()) && u->op() != Op::kExpand) || u->op() == Op::kSlice ||
                         u->op() == Op::kDetach || u->op() == Op::kContiguousBackward || u->op() == Op::kCopy;
    if (!view_op || i == kMost) return;
    steps.push_back({u->op(), u->arg(), {u->src().begin() + 1, u->src().end()}});
  }
  std::reverse(steps.begin(), steps.end());
  const Tensor::State& s = *of.state_;
  Tensor::State& v = *view.state_;
  v.base = s.base != nullptr ? s.base : of.state_;
  v.steps = s.base != nullptr ? s.steps : std::vector<Tensor::State::Step>();
  v.steps.insert(v.steps.end(), steps.begin(), steps.end());
  v.shown = v.base->version;
}

Tensor::Tensor(UOpRef uop, std::string device, bool placed, bool requires_grad)
    : state_(std::make_shared<State>()) {
  state_->uop = std::move(uop);
  state_->device = std::move(device);
  state_->placed = placed;
  state_->requires_grad = requires_grad;
}

bool Tensor::is_placed() const { return Fresh().placed; }

Tensor& Tensor::Assign(const Tensor& value) {
  if (!ok()) return *this;
  if (!value.ok()) return Fail(value.status());
  if (value.shape() != shape() || value.dtype() != dtype()) {
    return Fail(Bad("Assign", "value of ", value.dtype().Name(), Text(value.shape()), " into ",
                    dtype().Name(), Text(shape()), ", expected equal dtype and shape"));
  }
  if (value.is_placed() && value.device() != device()) {
    return Fail(Bad("Assign", "value on device ", value.device(), " into a tensor on ", device()));
  }
  if (absl::Status s = tensor_internal::SameSizes("Assign", *uop(), *value.uop()); !s.ok()) return Fail(s);
  const bool grad = requires_grad() || value.requires_grad();
  if (state_->base != nullptr) {
    Tensor base(state_->base);
    UOpRef at = base.uop();
    std::vector<UOpRef> keep{at};
    for (const State::Step& step : state_->steps) keep.push_back(at = step.Over(at));
    const auto contents = WrittenThrough(at.get(), base.uop().get(), value.uop());
    if (!contents.ok()) return Fail(contents.status());
    base.Assign(Tensor(*contents, base.device(), true, grad));
    return *this;
  }
  const Root root = RootOf(uop().get());
  if (!root.storage) {
    // A tensor that has no storage yet simply gets a value of its own.
    SetContents(tensor_internal::Transfer(value.uop(), device()), grad);
  } else if (root.whole) {
    // Storage has room for any size: the value says how much of it exists.
    const UOpRef& to = uop();
    const UOpRef from = uop::Sized(value.uop(), to->sizes());
    UOpRef place = to;
    while (uop::IsSizing(*place)) place = UOpRef(place->src(0));
    const UOpRef written = uop::Assign(place, from);
    if (absl::Status s = tensor_internal::SizeError("Assign", *written); !s.ok()) return Fail(s);
    SetContents(written, grad);
  } else {
    // A view without a tensor behind it: the storage is written, then looked at the same way.
    const auto contents = WrittenThrough(uop().get(), root.base, value.uop());
    if (!contents.ok()) return Fail(contents.status());
    std::vector<const UOp*> steps;
    for (const UOp* u = uop().get(); u != root.base; u = u->src(0).get()) steps.push_back(u);
    UOpRef at = uop::Assign(UOpRef(root.base), *contents);
    for (size_t i = steps.size(); i-- > 0;) {
      std::vector<UOpRef> src(steps[i]->src().begin(), steps[i]->src().end());
      src[0] = at;
      at = steps[i]->WithSrc(std::move(src));
    }
    SetContents(at, grad);
  }
  return *this;
}

void Tensor::SetContents(UOpRef uop, bool requires_grad) {
  state_->uop = std::move(uop);
  state_->placed = true;
  state_->requires_grad |= requires_grad;
  ++state_->version;
  if (TensorWatch* watch = TensorWatch::Current()) watch->OnAssigned(*this);
}

Tensor& Tensor::Fail(absl::Status status) {
  state_->status = std::move(status);
  state_->uop = nullptr;
  state_->base = nullptr;
  ++state_->version;
  return *this;
}

Tensor& Tensor::AssignIndex(const std::vector<IndexItem>& items, const Tensor& value) {
  return AssignView(Index(items), value);
}

Tensor& Tensor::AssignView(const Tensor& view, const Tensor& value) {
  if (!ok()) return *this;
  if (!view.ok()) return Fail(view.status());
  if (!value.ok()) return Fail(value.status());
  const UOp* u = view.uop().get();
  while (u != uop().get() && (IsMovement(u->op()) || u->op() == Op::kSlice) && u->op() != Op::kExpand)
    u = u->src(0).get();
  if (u != uop().get()) {
    return Fail(
        Bad("AssignView", OpName(u->op()),
            " between the tensor and the place to write, expected views of this tensor without Expand"));
  }
  if (value.dtype() != dtype()) {
    return Fail(Bad("AssignView", "value of dtype ", value.dtype().Name(), " into ", dtype().Name(),
                    ", expected equal dtypes"));
  }
  const auto shape = tensor_internal::BroadcastShapes("AssignView", view.shape(), value.shape());
  if (!shape.ok() || *shape != view.shape()) {
    return Fail(Bad("AssignView", "value of shape ", Text(value.shape()),
                    " does not broadcast to the part's shape ", Text(view.shape())));
  }
  if (value.is_placed() && value.device() != device()) {
    return Fail(Bad("AssignView", "value on device ", value.device(), " into a tensor on ", device()));
  }
  const UOpRef wide = tensor_internal::BroadcastTo(value.uop(), view.shape());
  if (absl::Status s = tensor_internal::SameSizes("AssignView", *view.uop(), *wide); !s.ok()) return Fail(s);
  const auto contents = WrittenThrough(view.uop().get(), uop().get(), wide);
  if (!contents.ok()) return Fail(contents.status());
  if (absl::Status s = tensor_internal::SizeError("AssignView", **contents); !s.ok()) return Fail(s);
  return Assign(Tensor(*contents, device(), true, requires_grad() || value.requires_grad()));
}

}  // namespace understudy
