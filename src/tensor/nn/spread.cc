// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/nn/spread.h"

#include "src/tensor/shard.h"

namespace understudy::nn {

absl::Status Replicate(Module& module, const std::vector<std::string>& devices) {
  absl::Status status;
  const Visitor::OnTensor replicate = [&](const std::string&, Role, Tensor& t) {
    Tensor copy = understudy::Replicate(t, devices);
    status.Update(copy.status());
    if (copy.ok()) t = std::move(copy);
  };
  module.Visit(Visitor("", &replicate, nullptr));
  return status;
}

}  // namespace understudy::nn
