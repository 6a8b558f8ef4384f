// SPDX-License-Identifier: Apache-2.0
// The report says what the schedule does, with the reason and the numbers that it was decided by.
#include "src/schedule/fusion_report.h"

#include <algorithm>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/schedule/schedule.h"
#include "src/tensor/tensor.h"

namespace understudy {
namespace {

using ::testing::HasSubstr;

Tensor Filled(Shape shape) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return Tensor::FromData(std::vector<float>(n), std::move(shape));
}

struct Outcome {
  Schedule schedule;
  FusionReport report;
};
Outcome Decide(const std::vector<Tensor>& values, const ScheduleOptions& options = {}) {
  std::vector<OutputRequest> requests;
  for (const Tensor& t : values) requests.push_back({t.uop(), t.device()});
  const auto call = MakeCall(requests);
  EXPECT_TRUE(call.ok()) << call.status();
  Outcome out;
  auto schedule = MakeSchedule(*call, options, &out.report);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  out.schedule = *std::move(schedule);
  return out;
}

int Count(const FusionReport& r, FusionReason reason) {
  return static_cast<int>(std::count_if(r.decisions.begin(), r.decisions.end(),
                                        [&](const FusionDecision& d) { return d.reason == reason; }));
}

// What is said to be in memory is what the items write, one by one.
void ExpectAgrees(const Outcome& o) {
  std::multiset<int> said, done;
  for (const FusionDecision& d : o.report.decisions) {
    if (IsStored(d.reason) && d.memory) said.insert(d.item);
    EXPECT_EQ(IsStored(d.reason), d.item >= 0) << FusionText(o.report);
  }
  for (size_t i = 0; i < o.schedule.items.size(); ++i) {
    for (int k = 0; k < o.schedule.items[i].outputs; ++k) done.insert(static_cast<int>(i));
  }
  EXPECT_EQ(said, done) << FusionText(o.report) << ScheduleText(o.schedule);
}

TEST(FusionReport, NamesOutputsAndWhatIsWantedOnce) {
  const Outcome o = Decide({(Filled({8, 8}) + 1) * 2});
  ASSERT_EQ(o.report.decisions.size(), 2u);
  EXPECT_EQ(o.report.decisions[0].reason, FusionReason::kOnce);
  EXPECT_EQ(o.report.decisions[1].reason, FusionReason::kOutput);
  ExpectAgrees(o);
}

TEST(FusionReport, ShowsTheCostsThatWereCompared) {
  // Cheap enough to be computed in the product, unless storing costs next to nothing.
  const Tensor x = Filled({64, 64}), w = Filled({64, 512});
  const Tensor y = (x * 2 + 1).Matmul(w);
  const Outcome cheap = Decide({y});
  EXPECT_EQ(cheap.schedule.items.size(), 1u);
  ScheduleOptions options;
  options.recompute_element = options.recompute_total = options.hidden = 0;
  const Outcome dear = Decide({y}, options);
  EXPECT_EQ(dear.schedule.items.size(), 2u);
  ASSERT_EQ(Count(dear.report, FusionReason::kDear), 1);
  for (const FusionDecision& d : dear.report.decisions) {
    if (d.reason != FusionReason::kDear) continue;
    EXPECT_EQ(d.evaluations, 64.0 * 64 * 512);
    // A tile of outputs shares an element: 512 / tile times instead of once, two operations each.
    EXPECT_EQ(d.again, 2 * 64 * 64 * (512 / options.tile - 1));
    EXPECT_EQ(d.store, 0);
  }
  EXPECT_THAT(FusionText(dear.report), HasSubstr("stored by item 0: computing it again costs more"));
  ExpectAgrees(cheap);
  ExpectAgrees(dear);
}

TEST(FusionReport, SaysWhyReductionsAreStored) {
  const Tensor x = Filled({32, 64});
  const Outcome softmax = Decide({x.Softmax()});
  EXPECT_EQ(Count(softmax.report, FusionReason::kReduceInside), 1);  // the maximum, within the sum
  EXPECT_EQ(Count(softmax.report, FusionReason::kHoldsReduce), 1);   // 1 / the sum, for every element
  const Outcome sum = Decide({x - x.Sum({1}, true)});
  EXPECT_EQ(Count(sum.report, FusionReason::kReduceAgain), 1);
  ASSERT_EQ(softmax.report.merges.size(), 1u);
  EXPECT_EQ(softmax.report.merges[0].item, 0);
  EXPECT_THAT(softmax.report.merges[0].reasons,
              ::testing::ElementsAre("", "reads an output of the kernel element by element"));
  ExpectAgrees(softmax);
  const Outcome padded = Decide({x.Sum({1}).Shrink({{0, 8}}).Pad({{1, 1}}) + 1});
  EXPECT_EQ(Count(padded.report, FusionReason::kReducePadded), 1);
  ExpectAgrees(padded);
}

TEST(FusionReport, TellsMemoryFromWhatOneKernelKeeps) {
  Tensor w = Filled({40, 30}), m = Filled({40, 30});
  const Tensor g = Filled({40, 50}).Matmul(Filled({50, 30})).Contiguous();
  m.Assign(m * 0.9 + g);
  w.Assign(w - m * 0.1 - g * 0.01);
  const Outcome o = Decide({w, m});
  EXPECT_EQ(std::count_if(o.report.decisions.begin(), o.report.decisions.end(),
                          [](const FusionDecision& d) { return IsStored(d.reason) && !d.memory; }),
            1);
  EXPECT_THAT(FusionText(o.report), HasSubstr("in kernel 0"));
  ExpectAgrees(o);
}

TEST(FusionReport, NamesTheLimitOfBuffers) {
  Tensor sum = Filled({5});
  for (int i = 0; i < 8; ++i) sum = sum + Filled({5});
  ScheduleOptions options;
  options.max_buffers = 4;
  options.merge_outputs = false;
  const Outcome o = Decide({sum}, options);
  EXPECT_GE(Count(o.report, FusionReason::kBufferLimit), 2);
  ExpectAgrees(o);
}

// Nested: what a sum over a product's elements takes is computed inside of it, where there is work enough.
TEST(FusionReport, ASumTakesAProductsElementsAsTheyCome) {
  const Tensor x = Filled({64, 8, 16}), w = Filled({16, 128});
  const Tensor y = x.Matmul(w).Relu().Sum({1});
  EXPECT_EQ(Decide({y}).schedule.items.size(), 1u);
  ScheduleOptions never;
  never.nest_outputs = 1e30;
  EXPECT_EQ(Decide({y}, never).schedule.items.size(), 2u);
}

}  // namespace
}  // namespace understudy
