// SPDX-License-Identifier: Apache-2.0
// Random graphs of shared values, views, reductions, wrappers and assignments: whatever is fused, stored,
// recomputed or written in place, every output equals the same graph evaluated node by node on plain arrays.
// Integers, so that equality is exact. A failure prints the seed, the program and the schedule.
#include <iostream>

#include "gtest/gtest.h"
#include "tests/src/schedule/mini_engine.h"
#include "tests/src/schedule/random_program.h"

namespace understudy {
namespace {

using nd::Array;
using random_program::Program;
using random_program::Value;

// 0: default thresholds; 1: store whatever has two users; 2: recompute whatever may be.
void RunProgram(uint64_t seed, int mode, int* computed, int* refused, int* merged) {
  Program p(seed);
  MiniEngine e;
  if (mode == 1) e.options.recompute_element = e.options.recompute_total = e.options.hidden = 0;
  if (mode == 2) e.options.recompute_element = 1e30;
  if (seed % 3 == 0) e.options.max_buffers = 4;
  e.options.merge_outputs = seed % 4 != 0;
  if (seed % 5 == 0) e.options.nest_outputs = 1;
  if (seed % 7 < 3) e.options.row_bytes["CPU"] = 1 << 20;
  for (int round = 0; round < 3; ++round) {
    const int64_t steps = p.Int(3, 12);
    for (int64_t i = 0; i < steps; ++i) p.Step();
    std::vector<Tensor> outputs;
    std::vector<Array> expected;
    const int64_t count = p.Int(1, 4);
    for (int64_t i = 0; i < count; ++i) {
      const Value& v = p.Any();
      outputs.push_back(v.t);
      expected.push_back(v.a);
    }
    const absl::Status s = e.Realize(outputs);
    if (!s.ok()) {
      // The one thing that may be refused here: contents that an earlier round overwrote.
      ASSERT_TRUE(absl::IsFailedPrecondition(s)) << s << "\nseed " << seed << "\n" << p.log.str();
      ++*refused;
      continue;
    }
    const std::string schedule = ScheduleText(e.last_schedule);
    for (const ScheduleItem& item : e.last_schedule.items) *merged += item.outputs > 1;
    for (size_t i = 0; i < outputs.size(); ++i) {
      auto got = e.Values(outputs[i]);
      if (absl::IsFailedPrecondition(got.status())) continue;  // a view of a buffer that this round overwrote
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ(*got, expected[i].v) << "seed " << seed << " mode " << mode << " round " << round
                                     << " output " << i << "\n"
                                     << p.log.str() << schedule;
      ++*computed;
    }
  }
}

TEST(RandomGraphs, FusedOrStoredTheValuesAreTheSame) {
  int computed = 0, refused = 0, merged = 0;
  for (uint64_t seed = 1; seed <= 1500 && !HasFatalFailure(); ++seed)
    RunProgram(seed, static_cast<int>(seed % 3), &computed, &refused, &merged);
  EXPECT_GT(computed, 5000);
  EXPECT_GT(merged, 500);
  EXPECT_LT(refused, 900);
  RecordProperty("computed", computed);
  std::cout << computed << " outputs compared, " << refused << " rounds refused, " << merged
            << " kernels of several outputs\n";
}

}  // namespace
}  // namespace understudy
