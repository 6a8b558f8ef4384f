// SPDX-License-Identifier: Apache-2.0
// What goes over a row several times runs as one kernel on the CPU: its values are PyTorch's, and the choice
// `keep` leaves REF's bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "nlohmann/json.hpp"
#include "src/codegen/choices.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/norm.h"
#include "src/tensor/tensor.h"
#include "src/uop/build.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT
using nlohmann::json;
using uop::IndexOf;
using uop::Load;
using uop::Param;
using uop::Range;
using uop::Reduce;

template <class T>
Tensor Made(const Shape& shape, const std::function<double(int64_t)>& element) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  std::vector<T> values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(element(i));
  return Tensor::FromData(values, shape, "CPU");
}

// The operations of make_rows.py, on its inputs.
template <class T>
Tensor Result(const std::string& op, int64_t rows, int64_t columns) {
  const Tensor x = Made<T>({rows, columns}, [](int64_t i) { return (i * 7919 % 4001 - 2000) / 256.0; });
  const Tensor w = Made<T>({columns}, [](int64_t i) { return (i * 31 % 17 - 8) / 8.0; });
  const Tensor b = Made<T>({columns}, [](int64_t i) { return (i * 13 % 11 - 5) / 8.0; });
  if (op == "softmax") return x.Softmax(-1);
  if (op == "log_softmax") return x.LogSoftmax(-1);
  if (op == "layer_norm") return LayerNorm(x, {columns}, &w, &b, 1e-5);
  if (op == "rms_norm") return RmsNorm(x, {columns}, &w, 1e-6);
  if (op == "softmax_gradient") return Gradients((x.Softmax(-1) * w).Sum(), {x})[0];
  EXPECT_EQ(op, "standardise");
  const Tensor centred = x - x.Mean({1}, true);
  return centred / (centred.Square().Sum({1}, true) / (columns - 1.0)).Sqrt();
}

template <class T>
void Compare(const json& c, double tolerance) {
  // What cancels: products of weights, and sums of them, of about this size.
  const double scale = c["op"] == "softmax" ? 0 : c["op"] == "softmax_gradient" ? 0.01 : 1;
  const int64_t rows = c["rows"], columns = c["columns"];
  DeviceRegistry devices;
  devices.Register(std::make_shared<CpuDevice>());
  Engine engine(devices, {});
  Tensor y = Result<T>(c["op"], rows, columns);
  const auto got = engine.Data<T>(y);
  ASSERT_TRUE(got.ok()) << got.status();
  // (The exponential of f64 is stored between two.)
  if (c["op"] != "softmax_gradient" && sizeof(T) == 4) {
    EXPECT_EQ(engine.stats().kernels_launched, 1);
  }
  const std::vector<double> expected = c["result"];
  size_t at = 0;
  for (const int64_t row : c["keep"]) {
    for (int64_t k = 0; k < columns; ++k, ++at) {
      const double v = static_cast<double>((*got)[row * columns + k]);
      EXPECT_NEAR(v, expected[at], tolerance * (scale + std::abs(expected[at])))
          << "[" << row << "," << k << "]";
    }
  }
  ASSERT_EQ(at, expected.size());
}

TEST(Rows, ValuesArePyTorchs) {
  std::ifstream file("tests/data/rows/rows.json");
  const json cases = json::parse(file);
  ASSERT_EQ(cases.size(), 24u);
  for (const json& c : cases) {
    SCOPED_TRACE(std::string(c["op"]) + " " + c["rows"].dump() + "x" + c["columns"].dump());
    Compare<float>(c, 4e-6);
    Compare<double>(c, 1e-10);
  }
}

// softmax(x) of rows, times the row's number, with the parts that `keep` is about.
RandomKernel SoftmaxKernel(int64_t rows, int64_t columns, bool floats) {
  const DType t = floats ? dtypes::kFloat32 : dtypes::kInt32;
  const UOpRef i = Range(rows, 0, AxisKind::kGlobal), j = Range(columns, 1, AxisKind::kGlobal);
  const UOpRef r = Range(columns, 2, AxisKind::kReduce), s = Range(columns, 3, AxisKind::kReduce);
  const UOpRef x = Param(t, 1);
  const auto at = [&](const UOpRef& step) { return Load(IndexOf(x, i * columns + step)); };
  const UOpRef most = Reduce(Op::kMax, at(r), {r});
  const auto shifted = [&](const UOpRef& step) { return (at(step) - most) * (at(step) + most); };
  const UOpRef sum = Reduce(floats ? Op::kMax : Op::kAdd, shifted(s), {s});
  RandomKernel k;
  k.kernel =
      uop::Sink({uop::Store(IndexOf(Param(t, 0), i * columns + j), shifted(j) * 3 + sum, {i, j})}, "k");
  k.dtypes = {t, t};
  k.bytes = {std::vector<uint8_t>(rows * columns * 4, 0xa5), std::vector<uint8_t>(rows * columns * 4)};
  for (int64_t e = 0; e < rows * columns; ++e) {
    const int64_t whole = e * 7919 % 4001;
    const uint64_t bits = ToBits(t, floats ? ConstValue(static_cast<double>(whole) / 3) : ConstValue(whole));
    std::memcpy(&k.bytes[1][e * 4], &bits, 4);
  }
  return k;
}

TEST(Rows, KeptValuesAreRefsBits) {
  CpuDevice cpu;
  RefDevice ref;
  for (const bool floats : {false, true}) {
    for (const int64_t columns : {1, 2, 16, 64, 65, 100, 128, 257}) {
      const RandomKernel k = SoftmaxKernel(5, columns, floats);
      const auto expected = RunKernel(ref, k, nullptr);
      ASSERT_TRUE(expected.ok()) << expected.status();
      for (const char* text : {"keep(1,1)", "keep(1,1) unroll(1,2)", "keep(1,1) vectorize(1,4) upcast(1,2)",
                               "keep(1,1) group(0,4) unroll(1,4)", "keep(1,1) thread(0,5) vectorize(1,8)"}) {
        const ChoiceList choices = *ParseChoices(text);
        const auto got = RunKernel(cpu, k, &choices);
        if (!got.ok()) {  // amounts that do not divide
          EXPECT_NE(columns, 128) << got.status();
          continue;
        }
        EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "") << columns << " " << text;
      }
      const auto got = RunKernel(cpu, k, nullptr);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "")
          << columns << " " << ChoicesText(HeuristicChoices(k.kernel, cpu.target()));
    }
  }
}

TEST(Rows, KeepSaysWhatItAsksFor) {
  const Target t = CpuDevice().target();
  const UOpRef kernel = SoftmaxKernel(4, 128, true).kernel;
  const auto says = [&](const char* before, const char* choice) {
    const auto status = CheckChoice(kernel, t, *ParseChoices(before), (*ParseChoices(choice))[0]);
    return std::string(status.message());
  };
  EXPECT_EQ(says("", "keep(1,1)"), "");
  EXPECT_NE(says("", "keep(2,1)").find("2 reduce ranges"), std::string::npos);
  EXPECT_NE(says("", "keep(0,1)").find("no value of the outputs is reduced there"), std::string::npos);
  EXPECT_NE(says("", "keep(1,0)").find("different numbers of steps"), std::string::npos);
  EXPECT_NE(says("unroll(0,2)", "keep(1,1)").find("before ranges are split"), std::string::npos);
  EXPECT_NE(says("keep(1,1) vectorize(1,64) upcast(1,2)", "keep(1,1)").find("before ranges are split"),
            std::string::npos);
  EXPECT_NE(says("keep(1,1)", "upcast(0,2)").find("values of one row"), std::string::npos);
  EXPECT_NE(says("keep(1,1)", "swap(0,1)").find("before values are kept"), std::string::npos);
  Target gpu = t;
  gpu.pack_bytes = 0;
  EXPECT_FALSE(CheckChoice(kernel, gpu, {}, (*ParseChoices("keep(1,1)"))[0]).ok());
  Target small = t;
  small.pack_bytes = 128 * 4 - 1;
  EXPECT_FALSE(CheckChoice(kernel, small, {}, (*ParseChoices("keep(1,1)"))[0]).ok());
}

}  // namespace
}  // namespace understudy::test
