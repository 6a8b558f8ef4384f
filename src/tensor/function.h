// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions on tensors whose calls are nodes of the graph: a body over parameters, arguments, and declared
// outputs, each a storage position among the arguments. The body is traced at every call (equal bodies are
// the same node), so that it sees its captures as they are then. A Function never computes anything itself.
//
//   Function f([](absl::Span<const Tensor> in) -> std::vector<Tensor> { return {in[0] + 1, in[0] * 2}; });
//   const std::vector<Tensor> y = f({x});

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "src/tensor/tensor.h"

namespace understudy {

struct FunctionOptions {
  std::string name = "f";
  // Scheduled and compiled as a whole, once a structure, and run before what surrounds it. By default a call
  // is fused with its surroundings, and runs whole only when one of its results is realised.
  bool precompile = false;
};

class Function {
 public:
  using Body = std::function<std::vector<Tensor>(absl::Span<const Tensor>)>;
  explicit Function(Body body, FunctionOptions options = {})
      : body_(std::move(body)), options_(std::move(options)) {}

  // Each result has storage that was declared for it: that of the input it is (position 0 for one that
  // returns its first input), that of the buffer which the body made and assigned, or its own; another call
  // has other storage. Tensors that the body uses and was not given are arguments too. Where the body assigns
  // to an input, the caller's tensor is assigned to by the call, in place. A body may assign to its inputs
  // and to tensors that it made, to no others. Errors are those of the body's results; two inputs that are
  // one tensor, which the body writes to, are refused.
  std::vector<Tensor> operator()(absl::Span<const Tensor> inputs) const;
  std::vector<Tensor> operator()(std::initializer_list<Tensor> inputs) const {
    return (*this)(absl::MakeConstSpan(inputs.begin(), inputs.size()));
  }

 private:
  Body body_;
  FunctionOptions options_;
};

}  // namespace understudy
