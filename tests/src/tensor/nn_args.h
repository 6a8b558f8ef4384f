// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading the arguments of test vectors into the option types of the network functions.

#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "src/tensor/per_axis.h"
#include "src/tensor/tensor.h"

namespace understudy::vectors {

using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;

inline const Tensor* Optional(In x, size_t i) { return x.size() > i ? &x[i] : nullptr; }

inline PerAxis Sizes(const nlohmann::json& args, const char* key, int64_t missing) {
  if (!args.contains(key)) return missing;
  const nlohmann::json& v = args[key];
  return v.is_array() ? PerAxis(v.get<std::vector<int64_t>>()) : PerAxis(v.get<int64_t>());
}

inline std::optional<PerAxis> MaybeSizes(const nlohmann::json& args, const char* key) {
  if (!args.contains(key)) return std::nullopt;
  return Sizes(args, key, 0);
}

}  // namespace understudy::vectors
