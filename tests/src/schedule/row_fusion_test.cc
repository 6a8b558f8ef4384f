// SPDX-License-Identifier: Apache-2.0
// Which reductions run in one kernel with what goes over their rows again, which do not, and what the report
// says of it. Values are those of the kernels apart.
#include "src/schedule/row_fusion.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/schedule/fusion_report.h"
#include "src/tensor/norm.h"
#include "tests/src/schedule/mini_engine.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Filled(const Shape& shape, const std::string& device = "CPU") {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i) v[i] = static_cast<float>(i * 7919 % 401 - 200) / 64;
  return Tensor::FromData(v, shape, device);
}

ScheduleOptions Room(int64_t bytes) {
  ScheduleOptions options;
  options.row_bytes["CPU"] = bytes;
  return options;
}

// How many kernels it takes, by the report and by the schedule.
size_t Kernels(const std::vector<Tensor>& values, const ScheduleOptions& options,
               FusionReport* report = nullptr) {
  std::vector<OutputRequest> requests;
  for (const Tensor& t : values) requests.push_back({t.uop(), t.device()});
  const auto call = MakeCall(requests);
  EXPECT_TRUE(call.ok()) << call.status();
  const auto schedule = MakeSchedule(*call, options, report);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return schedule->items.size();
}

TEST(RowFusion, WhatGoesOverARowAgainIsOneKernel) {
  const Tensor x = Filled({128, 256}), w = Filled({256});
  const Tensor centred = x - x.Mean({1}, true);
  const std::vector<std::pair<const char*, Tensor>> rows = {
      {"softmax", x.Softmax(-1)},
      {"log_softmax", x.LogSoftmax(-1)},
      {"layer norm", LayerNorm(x, {256}, &w, &w)},
      {"rms norm", RmsNorm(x, {256}, &w)},
      {"standardised", centred / (centred.Square().Sum({1}, true) / 255).Sqrt()},
      {"scaled by the largest", x / x.Abs().Max({1}, true)},
  };
  for (const auto& [name, y] : rows) {
    EXPECT_EQ(Kernels({y}, Room(1 << 16)), 1u) << name;
    EXPECT_GT(Kernels({y}, {}), 1u) << name;  // a device without room
    ScheduleOptions other;
    other.row_bytes["elsewhere"] = 1 << 16;
    EXPECT_GT(Kernels({y}, other), 1u) << name;
  }
  EXPECT_EQ(Kernels({Filled({4, 6, 128, 256}).Softmax(-1)}, Room(1 << 16)), 1u);
  EXPECT_EQ(Kernels({LayerNorm(Filled({128, 8, 32}), {8, 32})}, Room(1 << 16)), 1u);
}

TEST(RowFusion, TheReportGivesTheReasonAndItsNumbers) {
  FusionReport report;
  Kernels({Filled({128, 256}).Softmax(-1)}, Room(4096), &report);
  ASSERT_EQ(report.merges.size(), 1u);
  EXPECT_EQ(report.merges[0].item, 0);
  EXPECT_THAT(report.merges[0].reasons,
              ElementsAre("", "reads an output of the kernel element by element",
                          "goes over a row again while the cache holds it (1024 bytes of 4096)"));
  int memory = 0, kept = 0;
  for (const FusionDecision& d : report.decisions) {
    if (IsStored(d.reason)) ++(d.memory ? memory : kept);
  }
  EXPECT_EQ(memory, 1);
  EXPECT_EQ(kept, 2);
  EXPECT_THAT(FusionText(report), HasSubstr("in kernel 0: a reduction that another reduction would repeat"));
}

TEST(RowFusion, RowsThatDoNotFitStayApart) {
  const Tensor x = Filled({128, 256});
  EXPECT_EQ(Kernels({x.Softmax(-1)}, Room(1024)), 1u);
  EXPECT_EQ(Kernels({x.Softmax(-1)}, Room(1023)), 2u);
  // What is added counts, rows of it or all of them the same.
  const Tensor y = Filled({128, 256}) * 0.5f, w = Filled({256});
  EXPECT_EQ(Kernels({LayerNorm(x + y, {256}, &w)}, Room(3 * 1024)), 1u);
  EXPECT_GT(Kernels({LayerNorm(x + y, {256}, &w)}, Room(3 * 1024 - 1)), 1u);
}

TEST(RowFusion, FewLongRowsKeepTheirThreads) {
  EXPECT_EQ(Kernels({Filled({64, 4096}).Softmax(-1)}, Room(1 << 20)), 1u);
  EXPECT_EQ(Kernels({Filled({63, 8192}).Softmax(-1)}, Room(1 << 20)), 2u);
  EXPECT_EQ(Kernels({Filled({2, 1024}).Softmax(-1)}, Room(1 << 20)), 1u);  // small: no threads
  // Many short ones are vectors of rows.
  EXPECT_EQ(Kernels({Filled({8192, 32}).Softmax(-1)}, Room(1 << 20)), 2u);
}

TEST(RowFusion, ColumnsStayApart) {
  EXPECT_GT(Kernels({Filled({256, 512}).Softmax(0)}, Room(1 << 20)), 1u);
  EXPECT_GT(Kernels({Filled({256, 512}).Transpose().Softmax(-1)}, Room(1 << 20)), 1u);
}

TEST(RowFusion, ResultsThatOthersReadAreStored) {
  const Tensor x = Filled({128, 1024});
  const Tensor sum = x.Sum({1}, true);
  EXPECT_EQ(Kernels({x / sum}, Room(1 << 20)), 1u);
  EXPECT_EQ(Kernels({x / sum, sum}, Room(1 << 20)), 2u);
  EXPECT_EQ(Kernels({x / sum, sum.Reshape({8, 16}).Max({1})}, Room(1 << 20)), 3u);
  // Other memory than the row's: nothing is read once instead of twice.
  EXPECT_EQ(Kernels({Filled({128, 1024}) * 2 / sum}, Room(1 << 20)), 2u);
}

// A product takes its own tiles: the factor of its rows is stored as before.
TEST(RowFusion, ProductsStayProducts) {
  const Tensor x = Filled({128, 256}), w = Filled({256, 128});
  const Tensor scaled = x.Matmul(w) * x.Square().Mean({1}, true).Rsqrt();
  EXPECT_EQ(Kernels({scaled}, Room(1 << 20)), Kernels({scaled}, {}));
  const Tensor scores = x.Matmul(w).Softmax(-1);
  EXPECT_EQ(Kernels({scores}, Room(1 << 20)), 2u);
}

TEST(RowFusion, ValuesAreThoseOfTheKernelsApart) {
  const std::vector<std::function<Tensor()>> programs = {
      [] { return Filled({6, 9}).Softmax(-1); },
      [] { return Filled({3, 4, 5}).Softmax(-1) * Filled({5}); },
      [] { return Filled({3, 4, 5}).Softmax(1); },
      [] { return Filled({7, 8}).Softmax(-1).Sum({1}, true) + Filled({7, 8}); },
      [] { return LayerNorm(Filled({4, 3, 5}), {3, 5}); },
      [] { return Filled({1, 40}).LogSoftmax(-1); },
      [] {
        Tensor x = Filled({6, 9});
        x.Assign(x - x.Mean({1}, true));
        return x * 2;
      },
      [] {
        const Tensor x = Filled({6, 9}), s = x.Sum({1}, true), m = x.Max({1}, true);
        return (x - m) / s + x.Flip({1}) * (s + m);
      },
  };
  for (size_t i = 0; i < programs.size(); ++i) {
    MiniEngine apart, fused;
    fused.options = Room(1 << 20);
    const auto expected = apart.Values(programs[i]()), got = fused.Values(programs[i]());
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*expected, *got) << i;
  }
}

}  // namespace
}  // namespace understudy
