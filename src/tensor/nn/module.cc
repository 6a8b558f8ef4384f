// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/nn/module.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy::nn {
namespace {

std::string ShapeText(const Shape& shape) {
  std::string s = "[";
  for (size_t i = 0; i < shape.size(); ++i) absl::StrAppend(&s, i == 0 ? "" : ",", shape[i]);
  return s + "]";
}

void Walk(Module& module, const Visitor::OnTensor& on_tensor) {
  module.Visit(Visitor("", &on_tensor, nullptr));
}

}  // namespace

void Visitor::Parameter(const std::string& name, Tensor& t) const {
  if (on_tensor_ != nullptr) (*on_tensor_)(prefix_ + name, Role::kParameter, t);
}

void Visitor::Buffer(const std::string& name, Tensor& t) const {
  if (on_tensor_ != nullptr) (*on_tensor_)(prefix_ + name, Role::kBuffer, t);
}

void Visitor::Child(const std::string& name, Module& m) const {
  if (on_module_ != nullptr) (*on_module_)(m);
  m.Visit(Visitor(absl::StrCat(prefix_, name, "."), on_tensor_, on_module_));
}

void Module::Train(bool on) {
  training_ = on;
  const Visitor::OnModule set = [on](Module& m) { m.training_ = on; };
  Visit(Visitor("", nullptr, &set));
}

std::vector<Tensor> Parameters(Module& module) {
  std::vector<Tensor> out;
  Walk(module, [&](const std::string&, Role role, Tensor& t) {
    if (role == Role::kParameter) out.push_back(t);
  });
  return out;
}

StateDict NamedParameters(Module& module) {
  StateDict out;
  Walk(module, [&](const std::string& name, Role role, Tensor& t) {
    if (role == Role::kParameter) out.push_back({name, t});
  });
  return out;
}

StateDict State(Module& module) {
  StateDict out;
  Walk(module, [&](const std::string& name, Role, Tensor& t) { out.push_back({name, t}); });
  return out;
}

std::vector<Tensor*> StateTensors(StateDict& state) {
  std::vector<Tensor*> out;
  for (NamedTensor& t : state) out.push_back(&t.tensor);
  return out;
}

int64_t ParameterCount(Module& module) {
  int64_t n = 0;
  for (const Tensor& p : Parameters(module)) n += p.numel();
  return n;
}

absl::Status LoadState(Module& module, const StateDict& state, bool strict) {
  absl::flat_hash_map<std::string, const Tensor*> given;
  for (const NamedTensor& t : state) {
    US_RETURN_IF_ERROR(t.tensor.status());
    if (!given.emplace(t.name, &t.tensor).second)
      return absl::InvalidArgumentError(absl::StrCat("LoadState: two tensors named ", t.name));
  }
  StateDict own = State(module);
  std::vector<std::pair<Tensor, const Tensor*>> pairs;
  for (const NamedTensor& t : own) {
    US_RETURN_IF_ERROR(t.tensor.status());
    const auto it = given.find(t.name);
    if (it == given.end()) {
      if (strict) return absl::NotFoundError(absl::StrCat("LoadState: nothing named ", t.name, " was given"));
      continue;
    }
    if (it->second->shape() != t.tensor.shape()) {
      return absl::InvalidArgumentError(absl::StrCat("LoadState: ", t.name, " of shape ",
                                                     ShapeText(it->second->shape()), ", expected ",
                                                     ShapeText(t.tensor.shape())));
    }
    pairs.emplace_back(t.tensor, it->second);
    given.erase(it);
  }
  if (strict && !given.empty()) {
    // The first in the order that they were given.
    for (const NamedTensor& t : state) {
      if (given.contains(t.name))
        return absl::NotFoundError(absl::StrCat("LoadState: the module has nothing named ", t.name));
    }
  }
  for (auto& [to, from] : pairs) {
    Tensor value = from->Detach().Cast(to.dtype());
    if (value.device() != to.device()) value = value.To(to.device());
    to.Assign(value);
    US_RETURN_IF_ERROR(to.status());
  }
  return absl::OkStatus();
}

Tensor UniformParameter(const Shape& shape, double bound, Generator& generator,
                        const TensorOptions& options) {
  return (Rand(shape, generator, options) * (2 * bound) - bound).Clone();
}

Tensor ConstantParameter(const Shape& shape, double value, const TensorOptions& options) {
  // Storage of its own from the start: two parameters of equal shape and value must not be one graph node.
  const int width = options.dtype.ScalarBytes();
  const auto count = state::CheckedBytes("ConstantParameter", shape, width);
  if (!count.ok()) return Tensor(count.status());
  const uint64_t bits =
      ToBits(options.dtype,
             Canonical(options.dtype, options.dtype.IsFloat() ? ConstValue(value)
                                                              : ConstValue(static_cast<int64_t>(value))));
  std::vector<uint8_t> bytes(*count);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(bits >> (8 * (i % width)));
  return Tensor::FromBytes(std::move(bytes), options.dtype, shape, options.device);
}

}  // namespace understudy::nn
