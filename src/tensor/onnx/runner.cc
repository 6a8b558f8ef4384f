// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/onnx/runner.h"

#include "absl/strings/str_cat.h"
#include "src/tensor/onnx/host_value.h"
#include "src/tensor/onnx/node.h"

namespace understudy::onnx {
namespace {

constexpr int kMaxDepth = 64;           // of subgraphs and functions
constexpr int64_t kMaxSteps = 1 << 16;  // of loops and recurrences in one run

std::string Where(const NodeProto& node) {
  return absl::StrCat("onnx: ", node.op_type, node.name.empty() ? "" : " '" + node.name + "'",
                      node.outputs.empty() ? "" : " (" + node.outputs[0] + ")");
}

absl::Status Within(const NodeProto& node, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(Where(node), ": ", std::string(status.message())));
}

// The row whose version is in force, or why there is none.
absl::StatusOr<const OpRow*> FindRow(const NodeProto& node, int64_t opset) {
  static const auto* const rows = [] {
    auto* map = new absl::flat_hash_map<std::pair<std::string, std::string>, std::vector<const OpRow*>>();
    for (const OpRow& row : OpTable()) (*map)[{row.domain, row.name}].push_back(&row);
    return map;
  }();
  const auto it = rows->find(std::make_pair(node.domain, node.op_type));
  if (it == rows->end()) {
    return absl::UnimplementedError(
        absl::StrCat("no such operator", node.domain.empty() ? "" : " in the domain " + node.domain));
  }
  std::string known;
  for (const OpRow* row : it->second) {
    if (row->since <= opset && opset <= row->until) return row;
    absl::StrAppend(&known, known.empty() ? "" : ", ", row->since, "..", row->until);
  }
  return absl::UnimplementedError(
      absl::StrCat("version ", opset, " of the operator set, expected one of ", known));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const std::vector<uint8_t>>> Runner::Known(Value& value) {
  if (value.known != nullptr) return value.known;
  if (value.kind != Value::Kind::kTensor) return absl::InvalidArgumentError("values of what is no tensor");
  if (!value.tensor.ok()) return value.tensor.status();
  std::optional<std::vector<uint8_t>> bytes = HostElements(value.tensor.uop());
  if (!bytes) {
    if (!evaluator_) {
      return absl::FailedPreconditionError(
          "the values of a tensor are needed to know the graph, and no evaluator was given");
    }
    US_ASSIGN_OR_RETURN(bytes, evaluator_(value.tensor));
  }
  value.known = std::make_shared<const std::vector<uint8_t>>(*std::move(bytes));
  return value.known;
}

absl::Status Runner::CountSteps(int64_t n) {
  if (n < 0 || n > kMaxSteps - steps_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", kMaxSteps, " steps of loops and recurrences in one run"));
  }
  steps_ += n;
  return absl::OkStatus();
}

const FunctionProto* Runner::FindFunction(const NodeProto& node) const {
  for (const FunctionProto& f : model_.functions) {
    if (f.name == node.op_type && f.domain == node.domain && f.overload == node.overload) return &f;
  }
  return nullptr;
}

absl::Status Runner::RunFunction(const FunctionProto& f, const NodeProto& node, const Frame& frame,
                                 Scope& scope) {
  if (node.inputs.size() > f.inputs.size() || node.outputs.size() > f.outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(node.inputs.size(), " inputs and ", node.outputs.size(),
                                                   " outputs, expected at most ", f.inputs.size(), " and ",
                                                   f.outputs.size()));
  }
  Scope body;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty()) continue;
    const ValueRef v = scope.Find(node.inputs[i]);
    if (v == nullptr) return absl::InvalidArgumentError("input '" + node.inputs[i] + "' has no value yet");
    body.values[f.inputs[i]] = v;
  }
  Frame inner;
  inner.opsets = f.opsets.empty() ? frame.opsets : &f.opsets;
  inner.in_function = true;
  inner.depth = frame.depth + 1;
  for (const AttributeProto& a : f.attribute_defaults) inner.attributes[a.name] = &a;
  for (const AttributeProto& a : node.attributes) {
    if (a.ref_attr_name.empty()) {
      inner.attributes[a.name] = &a;
    } else if (const auto it = frame.attributes.find(a.ref_attr_name); it != frame.attributes.end()) {
      inner.attributes[a.name] = it->second;
    }
  }
  US_RETURN_IF_ERROR(RunNodes(f.nodes, inner, body));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const ValueRef v = body.Find(f.outputs[i]);
    if (v == nullptr)
      return absl::InvalidArgumentError("the function's output '" + f.outputs[i] + "' has no value");
    scope.values[node.outputs[i]] = v;
  }
  return absl::OkStatus();
}

absl::Status Runner::RunNode(const NodeProto& node, const Frame& frame, Scope& scope) {
  if (frame.depth > kMaxDepth) {
    return absl::ResourceExhaustedError(absl::StrCat("graphs and functions nest deeper than ", kMaxDepth));
  }
  if (const FunctionProto* f = FindFunction(node)) return RunFunction(*f, node, frame, scope);
  const auto opset = frame.opsets->find(node.domain);
  if (opset == frame.opsets->end()) {
    return absl::InvalidArgumentError("the model imports no operator set of the domain '" + node.domain +
                                      "'");
  }
  US_ASSIGN_OR_RETURN(const OpRow* row, FindRow(node, opset->second));
  std::vector<ValueRef> inputs;
  for (const std::string& name : node.inputs) {
    inputs.push_back(name.empty() ? nullptr : scope.Find(name));
    if (!name.empty() && inputs.back() == nullptr) {
      return absl::InvalidArgumentError("input '" + name + "' has no value yet");
    }
  }
  NodeContext context(*this, node, frame, scope, opset->second, std::move(inputs));
  row->function(context);
  US_RETURN_IF_ERROR(context.status());
  for (int i = 0; i < context.num_outputs(); ++i) {
    if (node.outputs[i].empty()) continue;
    const ValueRef& v = context.outputs()[i];
    if (v == nullptr) return absl::UnimplementedError(absl::StrCat("output ", i, " is not computed"));
    if (v->kind == Value::Kind::kTensor) US_RETURN_IF_ERROR(v->tensor.status());
    scope.values[node.outputs[i]] = v;
  }
  return absl::OkStatus();
}

absl::Status Runner::RunNodes(const std::vector<NodeProto>& nodes, const Frame& frame, Scope& scope) {
  for (const NodeProto& node : nodes) {
    const absl::Status status = RunNode(node, frame, scope);
    if (!status.ok()) return Within(node, status);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ValueRef>> Runner::RunGraph(const GraphProto& graph, const Frame& frame,
                                                       const Scope* outer, std::vector<ValueRef> inputs) {
  if (graph.sparse_initializers != 0)
    return absl::UnimplementedError("onnx: sparse initialisers are not read");
  Scope scope;
  scope.outer = outer;
  for (const TensorProto& t : graph.initializers) {
    // The main graph's are made once, by the model, and given in the scope around it.
    if (outer != nullptr && frame.depth == 0) break;
    US_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, Elements(t));
    scope.values[t.name] =
        Value::Of(Tensor::FromBytes(std::move(bytes), HeldIn(t.type()), t.dims, device_), t.type());
  }
  if (inputs.size() > graph.inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat("onnx: the graph '", graph.name, "' takes ",
                                                   graph.inputs.size(), " inputs, not ", inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) scope.values[graph.inputs[i].name] = inputs[i];
  }
  US_RETURN_IF_ERROR(RunNodes(graph.nodes, frame, scope));
  std::vector<ValueRef> out;
  for (const ValueInfoProto& o : graph.outputs) {
    out.push_back(scope.Find(o.name));
    if (out.back() == nullptr) {
      return absl::InvalidArgumentError("onnx: the graph's output '" + o.name + "' has no value");
    }
  }
  return out;
}

}  // namespace understudy::onnx
