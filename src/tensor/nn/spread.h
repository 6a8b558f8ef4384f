// SPDX-License-Identifier: Apache-2.0
#pragma once
// A module's tensors on several devices. For data-parallel training all are replicated and the batch is
// sharded; for tensor-parallel layers single parameters are replaced by sharded ones
// (layer.weight = Shard(layer.weight, devices, 0)). The modules' code is the same either way.

#include <string>
#include <vector>

#include "src/tensor/nn/module.h"

namespace understudy::nn {

// Replaces every parameter and buffer by a replicated one of the same contents.
absl::Status Replicate(Module& module, const std::vector<std::string>& devices);

}  // namespace understudy::nn
