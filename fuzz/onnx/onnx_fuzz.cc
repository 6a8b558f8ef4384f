// SPDX-License-Identifier: Apache-2.0
// Any bytes: refused with a reason, or a model whose graph builds (or refuses by name) for inputs of zeros.
// Nothing is realised; what needs values finds those that the host can compute.
#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/tensor/onnx/onnx_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace understudy;  // NOLINT
  const auto model = OnnxModel::Parse({data, data + size});
  if (!model.ok()) return 0;
  std::map<std::string, Tensor> inputs;
  for (const OnnxValueInfo& v : model->inputs()) {
    if (v.dtype.IsVoid()) return 0;
    Shape shape;
    for (const OnnxDim& d : v.dims) shape.push_back(d.size.value_or(2));
    inputs[v.name] = Tensor::Zeros(shape, {v.dtype, "CPU"});
  }
  const auto outputs = model->Run(inputs);
  if (!outputs.ok()) return 0;
  for (const auto& [name, tensor] : *outputs) US_CHECK(tensor.ok()) << name;
  return 0;
}
