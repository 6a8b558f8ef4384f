// SPDX-License-Identifier: Apache-2.0
// The discrete-event machine by itself: order, virtual time, seeds and fault points, with actors that only
// count.
#include "mockgpu/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace understudy::mockgpu {
namespace {

// Takes `steps` steps of `cost` nanoseconds and writes its name into a shared trace.
class Counter : public Actor {
 public:
  Counter(std::string* trace, char name, int steps, uint64_t cost)
      : trace_(trace), name_(name), left_(steps), cost_(cost) {}
  bool Ready() override { return left_ > 0; }
  uint64_t Step() override {
    --left_;
    trace_->push_back(name_);
    if (on_step) on_step();
    return cost_;
  }
  std::function<void()> on_step;

 private:
  std::string* trace_;
  char name_;
  int left_;
  uint64_t cost_;
};

std::string Trace(Policy policy, uint64_t seed, uint64_t* end = nullptr) {
  std::string trace;
  Machine machine({.seed = seed, .policy = policy});
  Counter a(&trace, 'a', 4, 10), b(&trace, 'b', 2, 25);
  machine.AddActor(&a, "a");
  machine.AddActor(&b, "b");
  EXPECT_TRUE(machine.RunUntilIdle());
  EXPECT_EQ(machine.steps(), 6u);
  if (end != nullptr) *end = machine.now();
  return trace;
}

TEST(Machine, InOrderFollowsVirtualTimeThenRegistration) {
  uint64_t end = 0;
  // a at 0, 10, 20, 30; b at 0, 25.
  EXPECT_EQ(Trace(Policy::kInOrder, 0, &end), "abaaba");
  EXPECT_EQ(end, 30u);
}

TEST(Machine, SeedsChooseTheOrderAndReproduceIt) {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 32; ++seed) {
    const std::string trace = Trace(Policy::kRandom, seed);
    EXPECT_EQ(trace, Trace(Policy::kRandom, seed)) << "seed " << seed;
    EXPECT_EQ(std::count(trace.begin(), trace.end(), 'b'), 2) << "seed " << seed;
    orders.insert(trace);
  }
  // 15 orders exist.
  EXPECT_GT(orders.size(), 8u);
}

TEST(Machine, TimeNeverGoesBack) {
  std::string trace;
  Machine machine({.seed = 7, .policy = Policy::kRandom});
  uint64_t last = 0;
  Counter a(&trace, 'a', 50, 7), b(&trace, 'b', 50, 1000);
  a.on_step = b.on_step = [&] {
    EXPECT_GE(machine.now(), last);
    last = machine.now();
  };
  machine.AddActor(&a, "a");
  machine.AddActor(&b, "b");
  EXPECT_TRUE(machine.RunUntilIdle());
  EXPECT_GE(machine.now(), 49000u);
  machine.AdvanceTo(5);
  EXPECT_GE(machine.now(), 49000u);
}

TEST(Machine, RunUntilChangeStopsAtTheFirstVisibleWrite) {
  std::string trace;
  Machine machine({});
  Counter a(&trace, 'a', 10, 1);
  int step = 0;
  a.on_step = [&] {
    if (++step % 3 == 0) machine.HostVisible();
  };
  machine.AddActor(&a, "a");
  EXPECT_TRUE(machine.RunUntilChange());
  EXPECT_EQ(trace.size(), 3u);
  EXPECT_FALSE(machine.RunUntilChange(2)) << "two steps change nothing";
  EXPECT_TRUE(machine.RunUntilChange());
  EXPECT_EQ(trace.size(), 6u);
}

TEST(Machine, ActorsMayLeaveWhileTheyRun) {
  std::string trace;
  Machine machine({});
  Counter a(&trace, 'a', 10, 1), b(&trace, 'b', 2, 1);
  const uint32_t id = machine.AddActor(&a, "a");
  machine.AddActor(&b, "b");
  a.on_step = [&] { machine.RemoveActor(id); };
  EXPECT_TRUE(machine.RunUntilIdle());
  EXPECT_EQ(trace, "abb");
  EXPECT_EQ(machine.ActorName(id), "a");
}

class Ordinals : public FaultPlan {
 public:
  int At(FaultPoint point, uint64_t detail, uint64_t ordinal) override {
    asked.push_back({static_cast<uint64_t>(point), detail, ordinal});
    return detail == 5 ? 1 : 0;
  }
  std::vector<std::vector<uint64_t>> asked;
};

TEST(Machine, FaultPointsCountSeparatelyAndAreLogged) {
  Ordinals plan;
  Machine machine({.fault_plan = &plan});
  EXPECT_EQ(machine.Inject(FaultPoint::kIoctl, 1), 0);
  EXPECT_EQ(machine.Inject(FaultPoint::kIoctl, 5), 1);
  EXPECT_EQ(machine.Inject(FaultPoint::kDoorbell, 2), 0);
  const uint64_t ioctl = static_cast<uint64_t>(FaultPoint::kIoctl),
                 doorbell = static_cast<uint64_t>(FaultPoint::kDoorbell);
  EXPECT_THAT(plan.asked,
              testing::ElementsAre(testing::ElementsAre(ioctl, 1, 0), testing::ElementsAre(ioctl, 5, 1),
                                   testing::ElementsAre(doorbell, 2, 0)));
  ASSERT_EQ(machine.log().events().size(), 1u);
  EXPECT_EQ(machine.log().events()[0].kind, EventKind::kInjected);
}

TEST(Machine, TheLogStopsAtItsCapacityAndCountsOn) {
  Machine machine({.log_capacity = 3});
  for (int i = 0; i < 5; ++i) machine.Log(EventKind::kMap, i);
  EXPECT_EQ(machine.log().events().size(), 3u);
  EXPECT_EQ(machine.log().dropped(), 2u);
  EXPECT_EQ(EventText(machine.log().events()[2], "host"), "0 ns  host: map va=0x2 size=0x0 gpu=0x0");
}

}  // namespace
}  // namespace understudy::mockgpu
