// SPDX-License-Identifier: Apache-2.0
#pragma once
// Test vectors made by PyTorch (tests/data/{nn,ops,tensor_families,typed}, written by the make_*.py in them):
// each case gives an operation's name and arguments, inputs, results and the gradients of a weighted sum of
// the results. A test binary says what each name means as Tensor calls; every case is then checked on REF in
// its own types with its gradients, and on CPU in f32, too.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/runtime/engine.h"
#include "src/tensor/tensor.h"

namespace understudy::vectors {

struct Array {
  DType dtype;
  Shape shape;
  std::vector<double> values;
};
struct Case {
  std::string name, op;
  nlohmann::json args;
  std::vector<Array> inputs, outputs;
  std::vector<std::vector<double>> grads;  // empty: none for that input
  bool has_grads = false, cpu = true;
  bool own_types = false;   // CPU keeps f64 too
  double tolerance = 1e-9;  // relative to the larger of 1 and the element, on REF
};
void PrintTo(const Case& c, std::ostream* out);  // its name

// Aborts when the file is not there or not of this form: it is the project's own.
std::vector<Case> Load(const std::string& path);

using Call = std::function<std::vector<Tensor>(const std::vector<Tensor>& in, const nlohmann::json& args)>;
using Calls = std::map<std::string, Call>;

// The case's arguments; without inputs they say on which device to make the results.
nlohmann::json ArgsOn(const Case& c, const std::string& device);

void CheckOnRef(const Case& c, const Calls& calls);
void CheckOnCpu(const Case& c, const Calls& calls);  // in //tests/src/tensor:vectors_cpu
// The same on the engine's device of that name (f64 as f32, but for cases of own types): values, shapes,
// types and, if asked, gradients; what the device answers when it does not run the case.
absl::Status CheckOnDevice(const Case& c, const Calls& calls, Engine& engine, const std::string& device,
                           bool gradients = true);
// The derivative of the gradients along one direction of all float inputs, against central differences of the
// gradients, in f64 on REF. Skips cases without gradients and of other types.
void CheckSecondDerivative(const Case& c, const Calls& calls);

// Elements of type t that hold the values, rounded to it.
Tensor ToTensor(const std::vector<double>& values, const Shape& shape, DType t,
                const std::string& device = "CPU");

// Evaluated on REF; a test failure and {} on an error.
std::vector<double> Values(const Tensor& t);

// Divisions and remainders in the kernels that compute t.
int DivisionsIn(const Tensor& t);

// A name that gtest accepts.
std::string TestName(const Case& c, size_t index);

class VectorTest : public testing::TestWithParam<Case> {};

#define UNDERSTUDY_VECTOR_TESTS(suite, file, calls)                                              \
  using suite = ::understudy::vectors::VectorTest;                                               \
  TEST_P(suite, Ref) { ::understudy::vectors::CheckOnRef(GetParam(), calls()); }                 \
  TEST_P(suite, Cpu) { ::understudy::vectors::CheckOnCpu(GetParam(), calls()); }                 \
  INSTANTIATE_TEST_SUITE_P(suite, suite, testing::ValuesIn(::understudy::vectors::Load(file)),   \
                           [](const testing::TestParamInfo<::understudy::vectors::Case>& info) { \
                             return ::understudy::vectors::TestName(info.param, info.index);     \
                           })

}  // namespace understudy::vectors
