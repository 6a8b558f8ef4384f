// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX models: read once, run as tensors. Run builds the graph's lazy tensors for given inputs; an engine
// realises them. What the graph's own structure depends on (shapes given as tensors, loop counts, NonZero) is
// computed on the host or asked of an evaluator; nothing else is computed here. Programs, the CLI and tests
// use it.
//
//   US_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::Load("net.onnx", {.evaluator = [&](Tensor& t) {
//     return engine.Bytes(t); }}));
//   US_ASSIGN_OR_RETURN(auto out, model.Run({{"x", x}}));

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/tensor/onnx/value.h"
#include "src/tensor/tensor.h"

namespace understudy {

struct OnnxOptions {
  std::string device = "CPU";  // where initialisers live: that of the inputs
  // Realises a tensor and gives its elements (Engine::Bytes). Without one, graphs whose structure depends on
  // values that are not small and known are refused.
  std::function<absl::StatusOr<std::vector<uint8_t>>(Tensor&)> evaluator;
  uint64_t seed = 0;  // of random operators; a node's own `seed` has no part in it
};

// A graph's input or output as declared. Sizes without a number have a name (or "") and take any size, the
// same one wherever the name stands.
struct OnnxDim {
  std::optional<int64_t> size;
  std::string name;
};
struct OnnxValueInfo {
  std::string name;
  std::string type;      // ONNX's words: "FLOAT[n,3]", "sequence of INT64[...]"
  DType dtype;           // what a tensor of it holds; kVoid for other kinds
  bool any_rank = true;  // no shape was declared
  std::vector<OnnxDim> dims;
  bool optional = false;  // an input that an initialiser gives a value
};

class OnnxModel {
 public:
  // Files are mapped; external data is looked for in the model's folder and must stay inside it. Refused with
  // the reason: bytes that are no model, initialisers that do not fit their shapes. Operators and versions are
  // judged when a run comes to them.
  static absl::StatusOr<OnnxModel> Load(const std::string& path, OnnxOptions options = {});
  // From memory; external data is refused.
  static absl::StatusOr<OnnxModel> Parse(std::vector<uint8_t> bytes, OnnxOptions options = {});

  OnnxModel(OnnxModel&&) noexcept;
  OnnxModel& operator=(OnnxModel&&) noexcept;
  ~OnnxModel();

  const std::vector<OnnxValueInfo>& inputs() const;  // initialisers are not among them unless declared
  const std::vector<OnnxValueInfo>& outputs() const;
  std::map<std::string, int64_t> opsets() const;
  // How often each operator stands in the graph, its subgraphs and functions ("domain.Name" outside ONNX's
  // own).
  std::map<std::string, int64_t> Operators() const;

  // InvalidArgument names an input that is missing, unknown, of another type or shape. Errors of nodes name
  // operator, node and output; Unimplemented: operators and versions that do not exist here (docs/onnx.md).
  absl::StatusOr<std::map<std::string, Tensor>> Run(const std::map<std::string, Tensor>& inputs) const;
  // The same with sequences and optionals.
  absl::StatusOr<std::map<std::string, onnx::ValueRef>> RunValues(
      const std::map<std::string, onnx::ValueRef>& inputs) const;

 private:
  struct Impl;
  explicit OnnxModel(std::unique_ptr<Impl> impl);
  static absl::StatusOr<OnnxModel> Make(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Domain, name and versions of every operator that is known, in the table's order ("" is ONNX's own domain).
struct OnnxOperator {
  std::string domain, name;
  int64_t since, until;
};
std::vector<OnnxOperator> OnnxOperators();

}  // namespace understudy
