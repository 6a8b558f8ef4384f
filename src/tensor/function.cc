// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/function.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"
#include "src/tensor/internal.h"
#include "src/uop/graph.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

using tensor_internal::Bad;

bool IsWrapper(Op op) { return op == Op::kReshape || op == Op::kDetach || op == Op::kContiguousBackward; }

// Below what only renames all the elements in order.
const UOp* Made(const UOp* u) {
  while (IsWrapper(u->op())) u = u->src(0).get();
  return u;
}

// The storage below what names all of it in order, variable sizes among it.
const UOp* Stored(const UOp* u) {
  while (IsWrapper(u->op()) || uop::IsSizing(*u)) u = u->src(0).get();
  return u;
}

// A view of something else.
UOpRef Over(const UOp& view, const UOpRef& x) {
  std::vector<UOpRef> src(view.src().begin(), view.src().end());
  src[0] = x;
  return view.WithSrc(std::move(src));
}

// What a chain of whole assignments writes to.
const UOp* TargetOf(const UOp* assign) {
  const UOp* u = assign;
  while (u->op() == Op::kAssign || IsWrapper(u->op()) || uop::IsSizing(*u)) u = u->src(0).get();
  return u;
}

int64_t PositionOf(const UOp& param) { return param.arg_as<std::vector<int64_t>>()[0]; }
bool IsShapedParam(const UOp& u) {
  return u.op() == Op::kParam && std::holds_alternative<std::vector<int64_t>>(u.arg());
}

// Turns traced values into a body: what does not depend on the parameters and names storage becomes an
// argument of its own, assignments become the values assigned.
class Lifter {
 public:
  // `places`: the buffers that stand for the inputs while the body is traced. They are nobody else's, so that
  // a body inside of another one cannot mistake the other's inputs for its own.
  Lifter(std::vector<UOpRef> inputs, absl::Span<const UOpRef> places)
      : args_(std::move(inputs)), places_(places.begin(), places.end()) {}

  bool IsPlace(const UOp* u) const {
    return std::any_of(places_.begin(), places_.end(), [&](const UOpRef& p) { return p.get() == u; });
  }
  UOpRef Param(size_t position) const {
    return uop::TensorParam(args_[position]->dtype(), static_cast<int64_t>(position),
                            args_[position]->shape());
  }

  // Depends on an input of this body.
  bool Depends(const UOpRef& u) {
    Look(u);
    return seen_.at(u.get()).param;
  }

  UOpRef operator()(const UOpRef& root) {
    Look(root);
    return Get(root);
  }

  // A parameter for a value from outside.
  UOpRef Lift(const UOpRef& node) {
    for (size_t i = 0; i < args_.size(); ++i) {
      if (args_[i] == node) return Param(i);
      // The storage that an input is all of.
      if (i < places_.size() && Stored(args_[i].get()) == node.get())
        return uop::Reshape(Param(i), node->shape());
    }
    return Add(node);
  }

  UOpRef Add(const UOpRef& arg) {
    args_.push_back(arg);
    return Param(args_.size() - 1);
  }
  const std::vector<UOpRef>& args() const { return args_; }

 private:
  struct Seen {
    bool param = false, storage = false;
    UOpRef body;  // of nodes that depend on a parameter
  };

  UOpRef Get(const UOpRef& u) {
    const Seen& s = seen_.at(u.get());
    if (s.param) return s.body;
    if (!s.storage) return u;
    // Views stay in the body, so that an argument is storage wherever it can be.
    std::vector<const UOp*> views;
    const UOp* at = u.get();
    while (IsMovement(at->op()) || at->op() == Op::kDetach || at->op() == Op::kContiguousBackward ||
           uop::IsSizing(*at)) {
      views.push_back(at);
      at = at->src(0).get();
    }
    UOpRef out = uop::Sized(Lift(UOpRef(at)), at->sizes());
    for (size_t i = views.size(); i-- > 0;) out = Over(*views[i], out);
    return out;
  }

  // All nodes below the root, sources first; a call's body is no part of the graph.
  void Look(const UOpRef& root) {
    std::vector<std::pair<const UOp*, size_t>> stack;
    const auto push = [&](const UOp* u) {
      if (!seen_.contains(u)) stack.emplace_back(u, u->op() == Op::kCall ? 1 : 0);
    };
    push(root.get());
    keep_.push_back(root);
    while (!stack.empty()) {
      const UOp* u = stack.back().first;
      if (seen_.contains(u)) {
        stack.pop_back();
      } else if (stack.back().second < u->num_src()) {
        push(u->src(stack.back().second++).get());
      } else {
        stack.pop_back();
        Seen s = One(*u);
        seen_.emplace(u, std::move(s));
      }
    }
  }

  Seen One(const UOp& u) {
    Seen s;
    s.storage = u.op() == Op::kBuffer;
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].get() != &u) continue;
      s.param = true;
      s.body = uop::Reshape(Param(i), u.shape());
      return s;
    }
    const size_t first = u.op() == Op::kCall ? 1 : 0;
    for (size_t i = first; i < u.num_src(); ++i) {
      const Seen& from = seen_.at(u.src(i).get());
      s.param |= from.param;
      s.storage |= from.storage;
    }
    if (!s.param || u.num_src() == 0) return s;
    if (u.op() == Op::kAssign) {
      s.body = Get(u.src(1));
      return s;
    }
    if (u.op() == Op::kReshape) {
      UOpRef x = Get(u.src(0));
      while (x->op() == Op::kReshape) x = UOpRef(x->src(0));
      s.body = uop::Reshape(x, u.shape());
      return s;
    }
    std::vector<UOpRef> src;
    if (first == 1) src.push_back(u.src(0));
    for (size_t i = first; i < u.num_src(); ++i) src.push_back(Get(u.src(i)));
    s.body = u.WithSrc(std::move(src));
    return s;
  }

  std::vector<UOpRef> args_, places_;
  absl::flat_hash_map<const UOp*, Seen> seen_;
  std::vector<UOpRef> keep_;
};

}  // namespace

std::vector<Tensor> Function::operator()(absl::Span<const Tensor> inputs) const {
  const auto fail = [&](const absl::Status& s) { return std::vector<Tensor>{Tensor(s)}; };
  std::vector<UOpRef> args, places, seen;
  std::vector<Tensor> in;
  std::string device;  // of inputs that name none
  for (const Tensor& t : inputs) {
    if (!t.ok()) return fail(t.status());
    // A body has storage of one device: with spread inputs it is part of the caller's graph.
    if (IsGroupName(t.device())) return body_(std::vector<Tensor>(inputs.begin(), inputs.end()));
    if (device.empty() && t.is_placed()) device = t.device();
  }
  for (const Tensor& t : inputs) {
    args.push_back(t.uop());
    places.push_back(
        uop::NewBuffer(t.dtype(), t.numel(), t.is_placed() || device.empty() ? t.device() : device));
    seen.push_back(uop::Sized(uop::Reshape(places.back(), t.shape()), t.uop()->sizes()));
    in.push_back(Tensor(seen.back(), "", true, t.requires_grad()));
    in.back().state_->device = places.back()->arg_as<BufferArg>().device;
  }
  std::vector<Tensor> results = body_(in);
  for (const Tensor& r : results) {
    if (!r.ok()) return results;
  }
  for (const Tensor& p : in) {
    if (!p.ok()) return fail(p.status());
  }

  Lifter lift(args, places);
  std::vector<UOpRef> stores;
  // Effects: the inputs that the body assigned to.
  std::vector<size_t> direct, replaced;  // written in place; given a new value
  std::vector<UOpRef> new_values(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].uop() == seen[i]) continue;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (k != i && inputs[k].uop() == inputs[i].uop()) {
        return fail(Bad("Function", options_.name, " writes to input ", i, ", which is input ", k,
                        " too, expected different tensors"));
      }
    }
    const bool storage = inputs[i].state_->base == nullptr &&
                         tensor_internal::IsStorage(*Stored(inputs[i].uop().get())) && inputs[i].numel() > 0;
    (storage ? direct : replaced).push_back(i);
    new_values[i] = in[i].uop();
    if (storage)
      stores.push_back(uop::Store(lift.Param(i), uop::Reshape(lift(in[i].uop()), args[i]->shape())));
  }

  // Results: positions.
  std::vector<int64_t> outputs;
  absl::flat_hash_map<UOpRef, int64_t> position_of;  // a made value -> its position
  const auto declare = [&](const UOpRef& value, const std::string& device) -> int64_t {
    const UOpRef made(Made(value.get()));
    if (const auto it = position_of.find(made); it != position_of.end()) return it->second;
    for (const size_t i : direct) {
      if (Made(new_values[i].get()) == made.get()) return static_cast<int64_t>(i);
    }
    const auto stored = [&](int64_t p) {
      return std::any_of(stores.begin(), stores.end(),
                         [&](const UOpRef& s) { return PositionOf(*s->src(0)) == p; });
    };
    int64_t position = -1;
    UOpRef param;
    const UOp* target = made->op() == Op::kAssign ? TargetOf(made.get()) : nullptr;
    if (!lift.Depends(made)) {
      // From outside: the storage that it has, if it has any.
      const UOpRef p = tensor_internal::IsStorage(*made) ? UOpRef(Made(lift(made).get())) : UOpRef();
      if (p != nullptr && IsShapedParam(*p) && !stored(PositionOf(*p))) position = PositionOf(*p);
    } else if (lift.IsPlace(made.get())) {
      const auto p = static_cast<int64_t>(std::find(places.begin(), places.end(), made) - places.begin());
      if (!stored(p)) position = p;
    } else if (target != nullptr && target->op() == Op::kBuffer && !lift.IsPlace(target) &&
               target->arg_as<BufferArg>().slot->impl == nullptr) {
      // A buffer that the body declared and assigned.
      const UOpRef p = lift.Lift(UOpRef(target));
      if (IsShapedParam(*p) && !stored(PositionOf(*p))) position = PositionOf(*p), param = p;
    }
    if (position < 0) {
      param = lift.Add(uop::NewBuffer(made->dtype(), made->numel(), device));
      position = PositionOf(*param);
    }
    if (param != nullptr) stores.push_back(uop::Store(param, uop::Reshape(lift(made), param->shape())));
    position_of[made] = position;
    return position;
  };
  for (const Tensor& r : results) {
    outputs.push_back(r.numel() == 0 ? -1 : declare(r.uop(), r.device()));
  }
  std::vector<int64_t> replaced_positions;
  for (const size_t i : replaced)
    replaced_positions.push_back(inputs[i].numel() == 0 ? -1 : declare(new_values[i], inputs[i].device()));

  CallArg arg{options_.name, {}, options_.precompile};
  for (const auto* list : {&outputs, &replaced_positions}) {
    for (const int64_t p : *list) {
      if (p >= 0 && !std::count(arg.outputs.begin(), arg.outputs.end(), p)) arg.outputs.push_back(p);
    }
  }
  absl::StatusOr<UOpRef> call = UOp::MakeChecked(
      Op::kCall, dtypes::kVoid,
      [&] {
        std::vector<UOpRef> src{uop::Sink(stores)};
        src.insert(src.end(), lift.args().begin(), lift.args().end());
        return src;
      }(),
      arg);
  if (!call.ok()) return fail(call.status());
  const auto result = [&](int64_t position, const Shape& shape, const UOpRef& value) {
    if (position < 0)
      return uop::Expand(uop::Reshape(uop::Const(value->dtype(), 0), Shape(shape.size(), 1)), shape);
    return uop::Sized(uop::Reshape(uop::After(lift.args()[static_cast<size_t>(position)], {*call}), shape),
                      value->sizes());
  };
  bool grad = false;
  for (const Tensor& t : inputs) grad |= t.requires_grad();
  std::vector<Tensor> out;
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor& r = results[i];
    out.push_back(
        Tensor(result(outputs[i], r.shape(), r.uop()), r.device(), true, grad || r.requires_grad()));
  }
  for (const size_t i : direct) {
    Tensor t = inputs[i];
    t.SetContents(uop::After(lift.args()[i], {*call}), in[i].requires_grad());
  }
  for (size_t k = 0; k < replaced.size(); ++k) {
    Tensor t = inputs[replaced[k]];
    const UOpRef value = result(replaced_positions[k], t.shape(), t.uop());
    if (t.state_->base != nullptr) {
      t.Assign(Tensor(value, t.device(), true, in[replaced[k]].requires_grad()));
    } else {
      t.SetContents(value, in[replaced[k]].requires_grad());
    }
  }
  return out;
}

}  // namespace understudy
