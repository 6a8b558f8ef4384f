// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/onnx/node.h"

#include <cstring>

namespace understudy::onnx {
namespace {

// The elements as T, through the type's own conversion.
template <class T>
std::vector<T> Numbers(DType dtype, const std::vector<uint8_t>& bytes) {
  const auto width = static_cast<size_t>(dtype.SizeBytes());
  std::vector<T> out(bytes.size() / width);
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    const ConstValue v = FromBits(dtype, bits);
    if (const auto* d = std::get_if<double>(&v))
      out[i] = static_cast<T>(*d);
    else
      out[i] = static_cast<T>(std::get<int64_t>(v));
  }
  return out;
}

}  // namespace

ValueRef NodeContext::Input(int i) {
  if (i >= num_inputs() || inputs_[i] == nullptr) {
    Bad("input ", i, " is missing");
    return nullptr;
  }
  return inputs_[i];
}

Tensor NodeContext::In(int i) {
  const ValueRef v = Input(i);
  if (v == nullptr) return Tensor(status_);
  if (v->kind != Value::Kind::kTensor) {
    Bad("input ", i, " is ", v->kind == Value::Kind::kSequence ? "a sequence" : "an optional without a value",
        ", expected a tensor");
    return Tensor(status_);
  }
  return v->tensor;
}

ElemType NodeContext::TypeOf(int i) {
  const ValueRef v = Input(i);
  return v == nullptr ? ElemType::kUndefined : v->type;
}

std::vector<int64_t> NodeContext::Ints(int i) {
  const Tensor t = In(i);
  if (!ok()) return {};
  if (t.ok() && !t.dtype().IsInt() && !t.dtype().IsBool()) {
    Bad("input ", i, " has elements of ", t.dtype().Name(), ", expected integers");
    return {};
  }
  const auto bytes = runner_.Known(*inputs_[i]);
  if (!bytes.ok()) {
    Fail(bytes.status());
    return {};
  }
  return Numbers<int64_t>(t.dtype(), **bytes);
}

std::vector<double> NodeContext::Doubles(int i) {
  const Tensor t = In(i);
  if (!ok()) return {};
  const auto bytes = runner_.Known(*inputs_[i]);
  if (!bytes.ok()) {
    Fail(bytes.status());
    return {};
  }
  return Numbers<double>(t.dtype(), **bytes);
}

int64_t NodeContext::IntOf(int i) {
  const std::vector<int64_t> v = Ints(i);
  return Want(v.size() == 1, "input ", i, " has ", v.size(), " elements, expected one") ? v[0] : 0;
}

double NodeContext::DoubleOf(int i) {
  const std::vector<double> v = Doubles(i);
  return Want(v.size() == 1, "input ", i, " has ", v.size(), " elements, expected one") ? v[0] : 0;
}

const AttributeProto* NodeContext::Attribute(const std::string& name) {
  for (const AttributeProto& a : node_.attributes) {
    if (a.name != name) continue;
    if (a.ref_attr_name.empty()) return &a;
    const auto it = frame_.attributes.find(a.ref_attr_name);
    return it == frame_.attributes.end() ? nullptr : it->second;
  }
  return nullptr;
}

// The value of attribute `name` when it is of that type (AttributeProto.AttributeType); 0 stands in files of
// IR version 1, which have no types.
#define UNDERSTUDY_ATTRIBUTE(number, text, field)                                            \
  const AttributeProto* a = Attribute(name);                                                 \
  if (a == nullptr) return otherwise;                                                        \
  if (a->type != number && a->type != 0) {                                                   \
    Bad("attribute '", name, "' is of type ", a->type, ", expected " #number " (" text ")"); \
    return otherwise;                                                                        \
  }                                                                                          \
  return field

int64_t NodeContext::Int(const std::string& name, int64_t otherwise) { UNDERSTUDY_ATTRIBUTE(2, "INT", a->i); }
double NodeContext::Float(const std::string& name, double otherwise) {
  UNDERSTUDY_ATTRIBUTE(1, "FLOAT", a->f);
}
std::string NodeContext::Text(const std::string& name, const std::string& otherwise) {
  UNDERSTUDY_ATTRIBUTE(3, "STRING", a->s);
}
std::optional<std::vector<int64_t>> NodeContext::IntList(const std::string& name) {
  const std::optional<std::vector<int64_t>> otherwise;
  UNDERSTUDY_ATTRIBUTE(7, "INTS", a->ints);
}
std::vector<float> NodeContext::FloatList(const std::string& name) {
  const std::vector<float> otherwise;
  UNDERSTUDY_ATTRIBUTE(6, "FLOATS", a->floats);
}
std::vector<std::string> NodeContext::TextList(const std::string& name) {
  const std::vector<std::string> otherwise;
  UNDERSTUDY_ATTRIBUTE(8, "STRINGS", a->strings);
}
#undef UNDERSTUDY_ATTRIBUTE

const GraphProto* NodeContext::Graph(const std::string& name) {
  const AttributeProto* a = Attribute(name);
  if (a == nullptr || a->g == nullptr) {
    Bad("attribute '", name, "' holds no graph");
    return nullptr;
  }
  return a->g.get();
}

std::vector<ValueRef> NodeContext::RunGraph(const GraphProto& graph, std::vector<ValueRef> inputs) {
  if (!ok()) return {};
  Frame frame = frame_;
  ++frame.depth;
  auto out = runner_.RunGraph(graph, frame, &scope_, std::move(inputs));
  if (!out.ok()) {
    Fail(out.status());
    return {};
  }
  return *std::move(out);
}

int64_t NodeContext::Axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    Bad("axis ", axis, " of a tensor with ", rank, " axes");
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace understudy::onnx
