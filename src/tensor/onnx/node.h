// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an operator's function sees of its node: inputs, attributes, the operator set's version, and where its
// outputs go. The first error sticks, so that functions read their arguments in a row and end with Out; an
// input or attribute that is missing or of another kind reads as an error tensor, {} or the default. Only the
// files ops_*.cc and the runner include this.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/tensor/onnx/runner.h"

namespace understudy::onnx {

class NodeContext {
 public:
  NodeContext(Runner& runner, const NodeProto& node, const Frame& frame, const Scope& scope, int64_t opset,
              std::vector<ValueRef> inputs)
      : runner_(runner),
        node_(node),
        frame_(frame),
        scope_(scope),
        opset_(opset),
        inputs_(std::move(inputs)),
        outputs_(node.outputs.size()) {}

  int64_t opset() const { return opset_; }
  const NodeProto& node() const { return node_; }
  const char* op() const { return node_.op_type.c_str(); }

  // --- Errors ---
  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  template <class... A>
  void Bad(const A&... a) {
    Fail(absl::InvalidArgumentError(absl::StrCat(a...)));
  }
  template <class... A>
  void Refuse(const A&... a) {
    Fail(absl::UnimplementedError(absl::StrCat(a...)));
  }
  // Fails with the text unless `condition`; says whether everything is well so far.
  template <class... A>
  bool Want(bool condition, const A&... a) {
    if (!condition) Bad(a...);
    return ok();
  }

  // --- Inputs ---
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  // Given, by a name that is not empty (an optional without a value counts as not given).
  bool Has(int i) const {
    return i < num_inputs() && inputs_[i] != nullptr && inputs_[i]->kind != Value::Kind::kAbsent;
  }
  ValueRef Input(int i);  // of any kind; null (and an error) when missing
  Tensor In(int i);
  ElemType TypeOf(int i);
  // The elements of an input on the host, integers of any type (bool too).
  std::vector<int64_t> Ints(int i);
  // The same of numbers of any type.
  std::vector<double> Doubles(int i);
  // One element.
  int64_t IntOf(int i);
  double DoubleOf(int i);

  // --- Attributes ---
  const AttributeProto* Attribute(const std::string& name);
  int64_t Int(const std::string& name, int64_t otherwise);
  double Float(const std::string& name, double otherwise);
  std::string Text(const std::string& name, const std::string& otherwise);
  std::optional<std::vector<int64_t>> IntList(const std::string& name);
  std::vector<float> FloatList(const std::string& name);
  std::vector<std::string> TextList(const std::string& name);
  const GraphProto* Graph(const std::string& name);

  // --- Outputs ---
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  bool Wants(int i) const { return i < num_outputs() && !node_.outputs[i].empty(); }
  void Out(int i, Tensor t) { OutValue(i, Value::Of(std::move(t))); }
  void Out(int i, Tensor t, ElemType type) { OutValue(i, Value::Of(std::move(t), type)); }
  // Of the ONNX type of input 0: elements moved, not computed.
  void OutMoved(int i, Tensor t) { Out(i, std::move(t), TypeOf(0)); }
  void OutValue(int i, ValueRef v) {
    if (i < num_outputs()) outputs_[i] = std::move(v);
  }
  std::vector<ValueRef>& outputs() { return outputs_; }

  // --- The rest ---
  const std::string& device() const { return runner_.device(); }
  Runner& runner() { return runner_; }
  // A subgraph of this node with inputs by position; empty on an error.
  std::vector<ValueRef> RunGraph(const GraphProto& graph, std::vector<ValueRef> inputs);
  // Host numbers as a tensor on the model's device.
  template <class T>
  Tensor Host(const std::vector<T>& v, Shape shape) const {
    return Tensor::FromData<T>(v, std::move(shape), device());
  }
  TensorOptions Options(DType dtype) const { return {dtype, device()}; }
  // Negative axes count from the end; an error outside [0, rank).
  int64_t Axis(int64_t axis, int64_t rank);

 private:
  Runner& runner_;
  const NodeProto& node_;
  const Frame& frame_;
  const Scope& scope_;
  const int64_t opset_;
  std::vector<ValueRef> inputs_, outputs_;
  absl::Status status_;
};

using OpFunction = void (*)(NodeContext&);

// A row of the table: the function for versions since..until of the domain's operator set.
struct OpRow {
  const char* domain;
  const char* name;
  int64_t since, until;
  OpFunction function;
};
absl::Span<const OpRow> OpTable();

}  // namespace understudy::onnx
