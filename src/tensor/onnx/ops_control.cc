// SPDX-License-Identifier: Apache-2.0
// Control flow, sequences and optionals. Conditions and counts are evaluated; loops unroll into the graph.
#include <algorithm>

#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

// Turns of a loop joined along `axis`. Of none: the size that the graph declares.
ValueRef Joined(NodeContext& c, const std::vector<ValueRef>& turns, int64_t axis,
                const ValueInfoProto& declared) {
  std::vector<Tensor> parts;
  for (const ValueRef& v : turns) {
    if (!c.Want(v->kind == Value::Kind::kTensor, "a loop's output '", declared.name, "' is no tensor"))
      return nullptr;
    parts.push_back(v->tensor);
  }
  if (!parts.empty()) {
    const int64_t at = c.Axis(axis, parts[0].ndim() + 1);
    if (!c.ok()) return nullptr;
    return Value::Of(Stack(parts, at), turns[0]->type);
  }
  Shape shape = {0};
  const auto type = static_cast<ElemType>(declared.type.elem_type);
  bool known = declared.type.dims.has_value() && !HeldIn(type).IsVoid();
  if (known) {
    for (const Dimension& d : *declared.type.dims) {
      known &= d.value.has_value();
      shape.push_back(d.value.value_or(0));
    }
  }
  if (!known) {
    c.Refuse("no turns of a loop whose output '", declared.name, "' has no declared size");
    return nullptr;
  }
  return Value::Of(Tensor::Zeros(shape, c.Options(HeldIn(type))), type);
}

bool Truth(NodeContext& c, const ValueRef& v) {
  if (!c.Want(v->kind == Value::Kind::kTensor && v->tensor.numel() == 1,
              "a condition that is no single bool"))
    return false;
  const auto bytes = c.runner().Known(*v);
  if (!bytes.ok()) {
    c.Fail(bytes.status());
    return false;
  }
  return (**bytes)[0] != 0;
}

std::vector<ValueRef>* Items(NodeContext& c, int i) {
  const ValueRef v = c.Input(i);
  if (v == nullptr) return nullptr;
  if (!c.Want(v->kind == Value::Kind::kSequence, "input ", i, " is no sequence")) return nullptr;
  return &v->items;
}

// A place in a sequence of n items, from the end when negative; `end`: n itself too.
int64_t Place(NodeContext& c, int i, int64_t n, bool end) {
  const int64_t at = c.IntOf(i);
  if (!c.Want(at >= -n && at < n + (end ? 1 : 0), "item ", at, " of ", n)) return 0;
  return at < 0 ? at + n : at;
}

}  // namespace

void If(NodeContext& c) {
  const ValueRef condition = c.Input(0);
  if (condition == nullptr) return;
  const bool truth = Truth(c, condition);
  const GraphProto* graph = c.Graph(truth ? "then_branch" : "else_branch");
  if (graph == nullptr) return;
  const auto out = c.RunGraph(*graph, {});
  for (size_t i = 0; i < out.size(); ++i) c.OutValue(static_cast<int>(i), out[i]);
}

void Loop(NodeContext& c) {
  const GraphProto* body = c.Graph("body");
  if (body == nullptr) return;
  const int64_t most = c.Has(0) ? c.IntOf(0) : INT64_MAX;
  std::vector<ValueRef> carried;
  for (int i = 2; i < c.num_inputs(); ++i) carried.push_back(c.Input(i));
  const size_t n = carried.size();
  if (!c.Want(body->outputs.size() >= n + 1 && body->inputs.size() == n + 2, "the body has ",
              body->inputs.size(), " inputs and ", body->outputs.size(), " outputs for ", n, " values"))
    return;
  std::vector<std::vector<ValueRef>> turns(body->outputs.size() - n - 1);
  ValueRef condition = c.Has(1) ? c.Input(1) : Value::Of(Tensor::Full({}, true, c.Options(dtypes::kBool)));
  for (int64_t i = 0; i < most && c.ok() && Truth(c, condition); ++i) {
    c.Fail(c.runner().CountSteps(1));
    std::vector<ValueRef> in = {Value::Of(c.Host(std::vector<int64_t>{i}, {})), condition};
    in.insert(in.end(), carried.begin(), carried.end());
    const auto out = c.RunGraph(*body, in);
    if (!c.ok()) return;
    condition = out[0];
    std::copy(out.begin() + 1, out.begin() + 1 + static_cast<int64_t>(n), carried.begin());
    for (size_t k = 0; k < turns.size(); ++k) turns[k].push_back(out[1 + n + k]);
  }
  if (!c.ok()) return;
  for (size_t k = 0; k < n; ++k) c.OutValue(static_cast<int>(k), carried[k]);
  for (size_t k = 0; k < turns.size(); ++k) {
    if (c.Wants(static_cast<int>(n + k)))
      c.OutValue(static_cast<int>(n + k), Joined(c, turns[k], 0, body->outputs[1 + n + k]));
  }
}

namespace {

// One scan over already aligned inputs: `states` before, then outputs per turn. Directions and axes apply to
// the scanned values.
void ScanOnce(NodeContext& c, const GraphProto& body, std::vector<ValueRef> states,
              const std::vector<ValueRef>& scanned, std::vector<ValueRef>* out) {
  const size_t n = states.size(), m = scanned.size();
  if (!c.Want(m > 0 && body.inputs.size() == n + m && body.outputs.size() >= n, "the body has ",
              body.inputs.size(), " inputs for ", n, " states and ", m, " scanned values"))
    return;
  const size_t k = body.outputs.size() - n;
  const auto list = [&](const char* name, size_t size) {
    std::vector<int64_t> v = c.IntList(name).value_or(std::vector<int64_t>(size, 0));
    c.Want(v.size() == size, name, " has ", v.size(), " entries, expected ", size);
    v.resize(size, 0);
    return v;
  };
  const bool old = c.opset() < 9;
  const std::vector<int64_t> in_axes = old ? std::vector<int64_t>(m, 0) : list("scan_input_axes", m);
  const std::vector<int64_t> in_directions = list(old ? "directions" : "scan_input_directions", m);
  const std::vector<int64_t> out_axes = old ? std::vector<int64_t>(k, 0) : list("scan_output_axes", k);
  const std::vector<int64_t> out_directions =
      old ? std::vector<int64_t>(k, 0) : list("scan_output_directions", k);
  int64_t steps = -1;
  std::vector<int64_t> axes(m);
  for (size_t i = 0; i < m && c.ok(); ++i) {
    if (!c.Want(scanned[i]->kind == Value::Kind::kTensor, "a scanned value is no tensor")) return;
    axes[i] = c.Axis(in_axes[i], scanned[i]->tensor.ndim());
    if (!c.ok()) return;
    const int64_t size = scanned[i]->tensor.shape()[axes[i]];
    if (!c.Want(steps < 0 || steps == size, "scanned values of ", steps, " and ", size, " elements")) return;
    steps = size;
  }
  if (!c.ok()) return;
  std::vector<std::vector<ValueRef>> turns(k);
  c.Fail(c.runner().CountSteps(steps));
  for (int64_t t = 0; t < steps && c.ok(); ++t) {
    std::vector<ValueRef> in = states;
    for (size_t i = 0; i < m; ++i) {
      in.push_back(Value::Of(Select(scanned[i]->tensor, axes[i], in_directions[i] != 0 ? steps - 1 - t : t),
                             scanned[i]->type));
    }
    const auto got = c.RunGraph(body, in);
    if (!c.ok()) return;
    std::copy(got.begin(), got.begin() + static_cast<int64_t>(n), states.begin());
    for (size_t i = 0; i < k; ++i) turns[i].push_back(got[n + i]);
  }
  *out = states;
  for (size_t i = 0; i < k && c.ok(); ++i) {
    if (out_directions[i] != 0) std::reverse(turns[i].begin(), turns[i].end());
    out->push_back(Joined(c, turns[i], out_axes[i], body.outputs[n + i]));
  }
}

}  // namespace

void Scan(NodeContext& c) {
  const GraphProto* body = c.Graph("body");
  if (body == nullptr) return;
  const int first = c.opset() < 9 ? 1 : 0;
  if (first == 1 && c.Has(0)) return c.Refuse("sequence_lens of version 8");
  const int64_t m = c.Int("num_scan_inputs", 0), n = c.num_inputs() - first - m;
  if (!c.Want(m > 0 && n >= 0, m, " scanned inputs of ", c.num_inputs())) return;
  std::vector<ValueRef> states, scanned;
  for (int64_t i = 0; i < n + m; ++i)
    (i < n ? states : scanned).push_back(c.Input(static_cast<int>(first + i)));
  if (!c.ok()) return;
  std::vector<ValueRef> out;
  if (first == 0) {
    ScanOnce(c, *body, states, scanned, &out);
  } else {
    // Version 8: every value has a batch axis in front; one scan an element of it.
    if (!c.Want(scanned[0]->tensor.ndim() >= 1, "a scanned value without axes")) return;
    const int64_t batch = scanned[0]->tensor.shape()[0];
    std::vector<std::vector<Tensor>> parts;
    std::vector<ElemType> types;
    for (int64_t b = 0; b < batch && c.ok(); ++b) {
      const auto slice = [&](std::vector<ValueRef> values) {
        for (ValueRef& v : values) v = Value::Of(Select(v->tensor, 0, b), v->type);
        return values;
      };
      std::vector<ValueRef> one;
      ScanOnce(c, *body, slice(states), slice(scanned), &one);
      if (!c.ok()) return;
      parts.resize(one.size());
      types.clear();
      for (size_t i = 0; i < one.size(); ++i) {
        parts[i].push_back(one[i]->tensor);
        types.push_back(one[i]->type);
      }
    }
    if (!c.Want(!parts.empty(), "no batches")) return;
    for (size_t i = 0; i < parts.size(); ++i) out.push_back(Value::Of(Stack(parts[i], 0), types[i]));
  }
  if (!c.ok()) return;
  for (size_t i = 0; i < out.size(); ++i) c.OutValue(static_cast<int>(i), out[i]);
}

// --- Sequences ---

void SequenceEmpty(NodeContext& c) { c.OutValue(0, Value::Sequence({})); }

void SequenceConstruct(NodeContext& c) {
  std::vector<ValueRef> items;
  for (int i = 0; i < c.num_inputs(); ++i) items.push_back(c.Input(i));
  c.OutValue(0, Value::Sequence(std::move(items)));
}

void SequenceInsert(NodeContext& c) {
  const auto* items = Items(c, 0);
  const ValueRef item = c.Input(1);
  if (items == nullptr || item == nullptr) return;
  const auto n = static_cast<int64_t>(items->size());
  const int64_t at = c.Has(2) ? Place(c, 2, n, true) : n;
  if (!c.ok()) return;
  std::vector<ValueRef> out = *items;
  out.insert(out.begin() + at, item);
  c.OutValue(0, Value::Sequence(std::move(out)));
}

void SequenceErase(NodeContext& c) {
  const auto* items = Items(c, 0);
  if (items == nullptr || !c.Want(!items->empty(), "an empty sequence")) return;
  const auto n = static_cast<int64_t>(items->size());
  const int64_t at = c.Has(1) ? Place(c, 1, n, false) : n - 1;
  if (!c.ok()) return;
  std::vector<ValueRef> out = *items;
  out.erase(out.begin() + at);
  c.OutValue(0, Value::Sequence(std::move(out)));
}

void SequenceAt(NodeContext& c) {
  const auto* items = Items(c, 0);
  if (items == nullptr) return;
  const int64_t at = Place(c, 1, static_cast<int64_t>(items->size()), false);
  if (c.ok()) c.OutValue(0, (*items)[at]);
}

void SequenceLength(NodeContext& c) {
  const auto* items = Items(c, 0);
  if (items != nullptr) c.Out(0, c.Host(std::vector<int64_t>{static_cast<int64_t>(items->size())}, {}));
}

void SplitToSequence(NodeContext& c) {
  const Tensor x = c.In(0);
  const int64_t axis = c.Axis(c.Int("axis", 0), x.ndim());
  if (!c.ok()) return;
  const int64_t n = x.shape()[axis];
  bool keep = true;
  std::vector<int64_t> sizes;
  if (!c.Has(1)) {
    keep = c.Int("keepdims", 1) != 0;
    if (!c.Want(n <= 65536, "a sequence of ", n, " items")) return;
    sizes.assign(n, 1);
  } else {
    sizes = c.Ints(1);
    if (c.ok() && c.In(1).ndim() == 0) {
      const int64_t size = sizes[0];
      if (!c.Want(size > 0 && n / size < 65536, "pieces of ", size)) return;
      sizes.clear();
      for (int64_t at = 0; at < n; at += size) sizes.push_back(std::min(size, n - at));
    }
  }
  if (!c.ok()) return;
  std::vector<ValueRef> items;
  for (const Tensor& t : understudy::Split(x, sizes, axis))
    items.push_back(Value::Of(keep ? t : t.Squeeze(axis), c.TypeOf(0)));
  c.OutValue(0, Value::Sequence(std::move(items)));
}

void ConcatFromSequence(NodeContext& c) {
  const auto* items = Items(c, 0);
  if (items == nullptr || !c.Want(!items->empty(), "an empty sequence")) return;
  std::vector<Tensor> parts;
  for (const ValueRef& v : *items) {
    if (!c.Want(v->kind == Value::Kind::kTensor, "an item that is no tensor")) return;
    parts.push_back(v->tensor);
  }
  const int64_t axis = c.Int("axis", 0);
  c.Out(0, c.Int("new_axis", 0) != 0 ? Stack(parts, axis) : Cat(parts, axis), (*items)[0]->type);
}

void SequenceMap(NodeContext& c) {
  const GraphProto* body = c.Graph("body");
  const auto* items = Items(c, 0);
  if (body == nullptr || items == nullptr) return;
  std::vector<std::vector<ValueRef>> out(body->outputs.size());
  for (size_t i = 0; i < items->size(); ++i) {
    c.Fail(c.runner().CountSteps(1));
    std::vector<ValueRef> in;
    for (int k = 0; k < c.num_inputs(); ++k) {
      const ValueRef v = c.Input(k);
      if (v == nullptr) return;
      if (v->kind == Value::Kind::kSequence) {
        if (!c.Want(i < v->items.size(), "sequences of different lengths")) return;
        in.push_back(v->items[i]);
      } else {
        in.push_back(v);
      }
    }
    const auto got = c.RunGraph(*body, in);
    if (!c.ok()) return;
    for (size_t k = 0; k < got.size(); ++k) out[k].push_back(got[k]);
  }
  for (size_t k = 0; k < out.size(); ++k) c.OutValue(static_cast<int>(k), Value::Sequence(out[k]));
}

// --- Optionals: the value itself, or none ---

void Optional(NodeContext& c) { c.OutValue(0, c.num_inputs() > 0 ? c.Input(0) : Value::Absent()); }
void OptionalHasElement(NodeContext& c) { c.Out(0, Tensor::FromData<bool>({c.Has(0)}, {}, c.device())); }
void OptionalGetElement(NodeContext& c) {
  if (c.Want(c.Has(0), "an optional without a value")) c.OutValue(0, c.Input(0));
}

}  // namespace understudy::onnx::ops
