// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every module offers: its tensors by PyTorch's state_dict names, and the switch between training and
// evaluation. Layers are plain structs with public tensors and a Forward of their own; a program's networks
// are too:
//
//   struct Net : nn::Module {
//     nn::Linear fc1, fc2;
//     Tensor Forward(const Tensor& x) { return fc2.Forward(fc1.Forward(x).Relu()); }
//     void Visit(const nn::Visitor& v) override { v.Child("fc1", fc1); v.Child("fc2", fc2); }
//   };

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "src/tensor/random.h"
#include "src/tensor/state/named_tensor.h"
#include "src/tensor/tensor.h"

namespace understudy::nn {

// Gradients are taken of parameters; buffers (running statistics) are only saved and loaded.
enum class Role { kParameter, kBuffer };

class Module;

// Walks a module's tensors in state_dict order. Modules call it from Visit; nobody else makes one.
class Visitor {
 public:
  using OnTensor = std::function<void(const std::string& name, Role role, Tensor& t)>;
  using OnModule = std::function<void(Module& m)>;
  Visitor(std::string prefix, const OnTensor* on_tensor, const OnModule* on_module)
      : prefix_(std::move(prefix)), on_tensor_(on_tensor), on_module_(on_module) {}

  void Parameter(const std::string& name, Tensor& t) const;
  void Buffer(const std::string& name, Tensor& t) const;
  void Child(const std::string& name, Module& m) const;

 private:
  std::string prefix_;
  const OnTensor* on_tensor_;
  const OnModule* on_module_;
};

class Module {
 public:
  virtual ~Module() = default;
  // Names every parameter, buffer and child.
  virtual void Visit(const Visitor& v) = 0;

  // Of this module and all below it; modules start in training mode, as in PyTorch.
  void Train(bool on = true);
  void Eval() { Train(false); }
  bool training() const { return training_; }

 private:
  bool training_ = true;
};

// Handles, in state_dict order: assigning or realising one is seen by the module.
std::vector<Tensor> Parameters(Module& module);
StateDict NamedParameters(Module& module);
// Parameters and buffers: PyTorch's state_dict.
StateDict State(Module& module);
// What realises a module's fresh or loaded tensors and the statistics that a training step wrote.
std::vector<Tensor*> StateTensors(StateDict& state);
int64_t ParameterCount(Module& module);

// Assigns every tensor of `state` to the module's of that name, converted to its dtype and device. Refused,
// with nothing assigned: names that one side lacks (with `strict`), unequal shapes.
absl::Status LoadState(Module& module, const StateDict& state, bool strict = true);

// A module's parameters of its own storage, drawn uniformly from [-bound, bound) or constant.
Tensor UniformParameter(const Shape& shape, double bound, Generator& generator, const TensorOptions& options);
Tensor ConstantParameter(const Shape& shape, double value, const TensorOptions& options);

}  // namespace understudy::nn
