// SPDX-License-Identifier: Apache-2.0
#pragma once
// Walks an ONNX graph node by node and builds tensors: names in scopes, functions of the model, subgraphs.
// OnnxModel owns the parsed model and starts runs; operators (operators.inc) are called from here with a
// NodeContext. Nothing here computes elements but by asking the evaluator.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "src/tensor/onnx/value.h"
#include "src/tensor/random.h"

namespace understudy::onnx {

using Evaluator = std::function<absl::StatusOr<std::vector<uint8_t>>(Tensor&)>;

// Names of a graph; those of the graph around it are seen through it.
struct Scope {
  const Scope* outer = nullptr;
  absl::flat_hash_map<std::string, ValueRef> values;
  ValueRef Find(const std::string& name) const {
    for (const Scope* s = this; s != nullptr; s = s->outer) {
      const auto it = s->values.find(name);
      if (it != s->values.end()) return it->second;
    }
    return nullptr;
  }
};

// Where a node stands: the operator sets in force and, in the body of a function, the call's attributes.
struct Frame {
  const OpsetImports* opsets = nullptr;
  bool in_function = false;
  std::map<std::string, const AttributeProto*> attributes;
  int depth = 0;
};

class Runner {
 public:
  Runner(const ModelProto& model, std::string device, Evaluator evaluator, uint64_t seed)
      : model_(model), device_(std::move(device)), evaluator_(std::move(evaluator)), generator_(seed) {}

  // `inputs` by position; initialisers are looked up in `initial` (the main graph) or made anew.
  absl::StatusOr<std::vector<ValueRef>> RunGraph(const GraphProto& graph, const Frame& frame,
                                                 const Scope* outer, std::vector<ValueRef> inputs);
  absl::Status RunNodes(const std::vector<NodeProto>& nodes, const Frame& frame, Scope& scope);

  // The elements on the host, as stored: known, computed on the host, or by the evaluator.
  absl::StatusOr<std::shared_ptr<const std::vector<uint8_t>>> Known(Value& value);

  const std::string& device() const { return device_; }
  Generator& generator() { return generator_; }
  // Counts a turn of a loop or a step of a recurrence: ResourceExhausted beyond 65536.
  absl::Status CountSteps(int64_t n);

 private:
  absl::Status RunNode(const NodeProto& node, const Frame& frame, Scope& scope);
  absl::Status RunFunction(const FunctionProto& f, const NodeProto& node, const Frame& frame, Scope& scope);
  const FunctionProto* FindFunction(const NodeProto& node) const;

  const ModelProto& model_;
  std::string device_;
  Evaluator evaluator_;
  Generator generator_;
  int64_t steps_ = 0;
};

}  // namespace understudy::onnx
