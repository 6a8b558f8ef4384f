// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small kernel graphs of the shapes that people tune, by name: for `understudy tune`, tests and figures.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/uop/uop.h"

namespace understudy {

struct ExampleKernel {
  const char* name;
  const char* what;  // "f32 64x64 by 64x64"
  UOpRef (*make)();
};
const std::vector<ExampleKernel>& ExampleKernels();
// NotFound lists the names.
absl::StatusOr<UOpRef> MakeExampleKernel(const std::string& name);

// C = A B. `accumulate`: the type in which products are summed and stored.
UOpRef MatmulKernel(int64_t m, int64_t n, int64_t k, DType in, DType accumulate);

}  // namespace understudy
