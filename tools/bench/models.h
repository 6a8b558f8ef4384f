// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks of real size for measurements of graph building, scheduling and lowering: ResNet-50, GPT-2,
// BERT-large and Llama-3-8B with the published architectures. Weights are declared on a device and never
// filled, so that on NULL no memory is touched. Used by models_bench and tests; nothing here runs anything.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/runtime/device.h"
#include "src/tensor/tensor.h"

namespace understudy::bench {

class Model {
 public:
  virtual ~Model() = default;
  // The graph of one step: the values that a program would realise (for training: the loss, and all that the
  // optimiser and the statistics write).
  virtual absl::StatusOr<std::vector<Tensor>> Step() = 0;
  // Forgets what Step assigned, as if its graph had been dropped: the next Step has the same structure.
  void Reset();
  int64_t parameters() const { return parameters_; }

 protected:
  // Storage without contents for `t`, to which Reset leads back.
  void Declare(Tensor& t, const std::shared_ptr<Device>& device);

  int64_t parameters_ = 0;

 private:
  struct Declared {
    Tensor tensor;
    UOpRef storage;
  };
  std::vector<Declared> declared_;
};

// "resnet50" (batch 64, 224x224), "resnet50_training" (the same with SGD and momentum), "gpt2_training" (12
// layers, 4 sequences of 1024 tokens, AdamW), "bert_large" (8 sequences of 512), "llama3_8b" (one of 512).
const std::vector<std::string>& ModelNames();
// NotFound lists the names.
absl::StatusOr<std::unique_ptr<Model>> MakeModel(const std::string& name, std::shared_ptr<Device> device);

}  // namespace understudy::bench
