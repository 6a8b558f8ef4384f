// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/host_grid.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

extern "C" {
uint32_t host_local_id(uint32_t d);
uint32_t host_group_id(uint32_t d);
uint32_t host_local_size(uint32_t d);
void host_barrier();
}

namespace understudy::demo {
namespace {

TEST(HostGrid, RunsEveryWorkItemOnce) {
  std::vector<int> seen(4 * 3 * 2 * 5);
  ASSERT_TRUE(RunOnHost({2, 5, 1}, {4, 3, 1}, [&] {
                const uint32_t x = host_group_id(0) * host_local_size(0) + host_local_id(0);
                const uint32_t y = host_group_id(1) * host_local_size(1) + host_local_id(1);
                ++seen[y * 8 + x];
              }).ok());
  for (int n : seen) EXPECT_EQ(n, 1);
}

TEST(HostGrid, ABarrierSeesWhatEveryItemWroteBeforeIt) {
  int shared[8];
  std::vector<int> sums;
  ASSERT_TRUE(RunOnHost({1, 1, 1}, {8, 1, 1}, [&] {
                shared[host_local_id(0)] = static_cast<int>(host_local_id(0)) + 1;
                host_barrier();
                int sum = 0;
                for (int v : shared) sum += v;
                host_barrier();
                sums.push_back(sum);
              }).ok());
  EXPECT_EQ(sums, std::vector<int>(8, 36));
}

TEST(HostGrid, ABarrierThatSomeItemsNeverReachIsAnError) {
  const absl::Status s = RunOnHost({1, 1, 1}, {4, 1, 1}, [&] {
    if (host_local_id(0) == 2) host_barrier();
  });
  EXPECT_EQ(s.message(), "group (0,0,0): 1 work items wait at a barrier that 3 never reach");
}

}  // namespace
}  // namespace understudy::demo
