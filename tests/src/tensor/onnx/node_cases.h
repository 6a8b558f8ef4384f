// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cases of tests/data/onnx/node_tests.zst and how their results are compared.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/runtime/engine.h"
#include "src/tensor/onnx/onnx_model.h"

namespace understudy::node_cases {

struct Case {
  std::string name;
  std::string model;
  std::vector<std::string> inputs, outputs;  // values as the archive has them
};
// Sorted by name; a file that cannot be read is a failed check.
const std::vector<Case>& AllCases();

// The value at the start of `bytes` on that device.
absl::StatusOr<onnx::ValueRef> ReadValue(const std::string& bytes, const std::string& device);

struct Closeness {
  double factor = 1;         // of the suite's tolerance
  bool shapes_only = false;  // types and shapes, no elements
};
// The first difference in type, shape or elements: |got - want| <= 1e-7 + 1e-3 |want| (two units in the last
// place of bf16), integers exactly; "" when there is none.
std::string Difference(Engine& engine, const onnx::ValueRef& got, const onnx::ValueRef& want,
                       const Closeness& closeness = {});

// Runs a case on the device: an error of the import or of the engine, else Difference of the first output
// that differs.
absl::StatusOr<std::string> RunCase(const Case& c, Engine& engine, const std::string& device,
                                    const Closeness& closeness = {});

}  // namespace understudy::node_cases
