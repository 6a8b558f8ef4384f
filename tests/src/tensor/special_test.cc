// SPDX-License-Identifier: Apache-2.0
// The gamma, error and Bessel functions: PyTorch's values, gradients and types; and, compiled for the CPU,
// within the bounds of src/tensor/math_special.h of mpmath's 40 digits.
#include "src/tensor/special.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "gmock/gmock.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "tests/src/tensor/calls/calls.h"

namespace understudy {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

UNDERSTUDY_VECTOR_TESTS(Special, "tests/data/ops/special.json", vectors::SpecialCalls);

struct Row {
  std::string name;
  std::function<Tensor(const Tensor&)> f;
  double bound64;
  // Below 0 in f64: units in the last place of the larger of 1 and the function.
  double bound64_below = 0;
};
std::vector<Row> Rows() {
  std::vector<Row> rows = {
      {"lgamma", Lgamma, 4, 8}, {"digamma", Digamma, 3, 4},
      {"erfinv", Erfinv, 3},    {"erfcx", Erfcx, 3},
      {"ndtr", Ndtr, 5},        {"log_ndtr", LogNdtr, 4},
      {"ndtri", Ndtri, 4},      {"i0", I0, 5},
      {"i0e", I0e, 5},          {"i1", I1, 5},
      {"i1e", I1e, 5},
  };
  for (const int n : {1, 2, 5, 12, 30}) {
    rows.push_back({"polygamma" + std::to_string(n), [n](const Tensor& x) { return Polygamma(n, x); },
                    5.0 + n, 8.0 + n});
  }
  return rows;
}

template <class T>
void CheckBounds() {
  DeviceRegistry devices;
  devices.Register(std::make_shared<CpuDevice>());
  Engine engine(devices);
  std::ifstream file("tests/data/ops/special_points.json");
  ASSERT_TRUE(file.good());
  const json points = json::parse(file);
  for (const Row& row : Rows()) {
    const json& at = points.at(row.name);
    std::vector<T> x;
    std::vector<long double> want;
    for (size_t i = 0; i < at["x"].size(); ++i) {
      const double v = at["x"][i];
      const long double y = static_cast<long double>(at["hi"][i].get<double>()) + at["lo"][i].get<double>();
      if (static_cast<T>(v) != v) continue;
      // Past the largest number of the type, and among its denormals, an ulp means nothing.
      if (std::fabs(y) > std::numeric_limits<T>::max() || std::fabs(y) < std::numeric_limits<T>::min())
        continue;
      x.push_back(static_cast<T>(v));
      want.push_back(y);
    }
    ASSERT_GT(x.size(), 40u) << row.name;
    Tensor y = row.f(Tensor::FromData<T>(x, {static_cast<int64_t>(x.size())}));
    const auto got = engine.Data<T>(y);
    ASSERT_TRUE(got.ok()) << row.name << ": " << got.status();
    double worst[2] = {0, 0};
    T where[2] = {0, 0};
    for (size_t i = 0; i < x.size(); ++i) {
      const bool below = sizeof(T) == 8 && row.bound64_below > 0 && x[i] < 0;
      const long double size = std::fabs(below && std::fabs(want[i]) < 1 ? 1.0L : want[i]);
      const long double ulp = std::ldexp(1.0L, std::ilogb(size) + 1 - std::numeric_limits<T>::digits);
      const double error =
          std::isnan((*got)[i]) ? HUGE_VAL : static_cast<double>(std::fabs((*got)[i] - want[i]) / ulp);
      if (error > worst[below]) worst[below] = error, where[below] = x[i];
    }
    std::printf("%-12s f%zu: %zu points, largest error %.3f ulp at %.17g, %.3f below 0 at %.17g\n",
                row.name.c_str(), sizeof(T) * 8, x.size(), worst[0], static_cast<double>(where[0]), worst[1],
                static_cast<double>(where[1]));
    EXPECT_LE(worst[0], sizeof(T) == 4 ? 0.52 : row.bound64) << row.name << " at " << where[0];
    EXPECT_LE(worst[1], row.bound64_below) << row.name << " at " << where[1];
  }
}

TEST(SpecialBounds, F32) { CheckBounds<float>(); }
TEST(SpecialBounds, F64) { CheckBounds<double>(); }

TEST(Special, SignsAndInfinities) {
  const double inf = INFINITY;
  const auto values = [](const Tensor& t) { return vectors::Values(t); };
  const Tensor zeros = Tensor::FromData<double>({0.0, -0.0}, {2});
  EXPECT_EQ(values(Digamma(zeros)), (std::vector<double>{-inf, inf}));
  EXPECT_EQ(values(Lgamma(zeros)), (std::vector<double>{inf, inf}));
  for (const auto& f : {Erfinv, I1, I1e}) EXPECT_TRUE(std::signbit(values(f(zeros))[1]));
  const Tensor ends = Tensor::FromData<double>({inf, -inf}, {2});
  EXPECT_EQ(values(I0(ends)), (std::vector<double>{inf, inf}));
  EXPECT_EQ(values(I1(ends)), (std::vector<double>{inf, -inf}));
  EXPECT_EQ(values(I0e(ends)), (std::vector<double>{0, 0}));
  EXPECT_EQ(values(Lgamma(ends)), (std::vector<double>{inf, inf}));
  // Derivatives where the formula is 0 / 0 or inf - inf.
  const Tensor x = Tensor::FromData<double>({0.0, 800, -800}, {3});
  EXPECT_EQ(values(Gradients(I1(x.Shrink({{0, 1}})).Sum(), {x})[0])[0], 0.5);
  EXPECT_EQ(values(Gradients(I0e(x.Shrink({{0, 1}})).Sum(), {x})[0])[0], 0);
  const std::vector<double> log_slope = values(Gradients(LogNdtr(x).Sum(), {x})[0]);
  EXPECT_NEAR(log_slope[0], std::sqrt(2 / M_PI), 1e-12);
  EXPECT_EQ(log_slope[1], 0);
  EXPECT_NEAR(log_slope[2], 800, 0.01);
}

TEST(Special, Errors) {
  const Tensor x = Tensor::FromData<float>({1, 2}, {2});
  const auto error = [](const Tensor& t) { return std::string(t.status().message()); };
  EXPECT_THAT(error(Polygamma(-1, x)), HasSubstr("Polygamma: order -1, expected 0 to 30"));
  EXPECT_THAT(error(Polygamma(31, x)), HasSubstr("order 31"));
  EXPECT_THAT(error(Mvlgamma(x, 0)), HasSubstr("Mvlgamma: dimension 0, expected 1 to 64"));
  EXPECT_THAT(error(Xlog1py(x, Tensor::Ones({3}))),
              HasSubstr("Xlog1py: shapes [2] and [3] do not broadcast"));
  EXPECT_THAT(error(Lgamma(Polygamma(-1, x))), HasSubstr("Polygamma: order"));
}

}  // namespace
}  // namespace understudy
