// SPDX-License-Identifier: Apache-2.0
// Threads that wait for others that never come end the launch as a hang whose message has every place where
// somebody waits, for each kind of wait.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {
namespace {

struct Hang {
  std::string name, body;
  uint32_t threads;
  std::vector<std::string> parts;  // of the message
  uint32_t ctas = 1;               // of a cluster
};
void PrintTo(const Hang& hang, std::ostream* out) { *out << hang.name; }

constexpr const char* kLowHalf = "setp.lt.u32 %p, %r0, 16;\n@%p bra A;\n";
constexpr const char* kFirstWarp = "setp.lt.u32 %p, %r0, 32;\n@%p bra A;\n";

// The upper half of the warp comes to `warp_wide`; the lower one waits at a barrier for a second warp, which
// is at another.
Hang Missing(const std::string& name, const std::string& warp_wide) {
  return {name,
          "setp.ge.u32 %q, %r0, 32;\n@%q bra C;\n" + std::string(kLowHalf) + warp_wide +
              "\nret;\nA:\nbarrier.sync 1;\nret;\nC:\nbarrier.sync 2;\nret;",
          64,
          {warp_wide, "lanes 0xffff0000 wait for lanes 0xffffffff", "at barrier 1", "barrier.sync 1;",
           "at barrier 2", "barrier.sync 2;"}};
}

class HangTest : public testing::TestWithParam<Hang> {};
INSTANTIATE_TEST_SUITE_P(
    Waits, HangTest,
    testing::Values(
        Hang{"BarSync",
             std::string(kFirstWarp) + "bar.sync 3;\nret;\nA:\nbar.sync 4;\nret;",
             64,
             {"at barrier 3", "bar.sync 3;", "at barrier 4", "bar.sync 4;"}},
        Hang{"BarrierWithCount",
             "setp.ge.u32 %q, %r0, 64;\n@%q exit;\n" + std::string(kFirstWarp) +
                 "barrier.sync 3, 96;\nret;\nA:\nbarrier.sync 3, 96;\nret;",
             96,
             {"at line 15 'barrier.sync 3, 96;'", "at line 18 'barrier.sync 3, 96;'",
              "(64 of 96 threads have come)"}},
        // 31 warps at one place do not hide the other.
        Hang{"ManyWarps",
             std::string(kFirstWarp) + "bar.sync 3;\nret;\nA:\nbar.sync 4;\nret;",
             1024,
             {"bar.sync 3;' (and 30 more groups of lanes)", "warp 0: lanes 0xffffffff wait at barrier 4"}},
        Hang{"TryWait",
             "setp.ne.u32 %q, %r0, 0;\n@%q bra B;\nmbarrier.init.shared.b64 [s], 65;\nB:\nbar.sync 0;\n" +
                 std::string(kFirstWarp) +
                 "mbarrier.arrive.shared.b64 %d1, [s];\nL:\nmbarrier.try_wait.shared.b64 %q, [s], %d1;\n"
                 "@!%q bra L;\nret;\nA:\nbar.sync 4;\nret;",
             64,
             {"wait for a phase of an mbarrier", "mbarrier.try_wait.shared.b64 %q, [s], %d1;",
              "at barrier 4"}},
        Missing("Shuffle", "shfl.sync.idx.b32 %r1, %r0, 3, 31, -1;"),
        Missing("Vote", "vote.sync.any.pred %q, %p, -1;"),
        Missing("Match", "match.any.sync.b32 %r1, %r0, -1;"),
        Missing("Redux", "redux.sync.add.u32 %r1, %r0, -1;"), Missing("Elect", "elect.sync %r1|%q, -1;"),
        Missing("BarWarp", "bar.warp.sync -1;"),
        Hang{"ClusterBarrier",
             "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p, %r1, 0;\n@%p bra A;\nbarrier.cluster.arrive;\n"
             "barrier.cluster.wait;\nret;\nA:\nbarrier.sync 5, 64;\nret;",
             64,
             {"CTA 1 of the cluster, warp 0: lanes 0xffffffff wait at the cluster's barrier",
              "barrier.cluster.wait;", "CTA 0 of the cluster, warp 0: lanes 0xffffffff wait at barrier 5",
              "barrier.sync 5, 64;"},
             2}),
    [](const auto& info) { return info.param.name; });

TEST_P(HangTest, NamesEveryPlace) {
  const Hang& hang = GetParam();
  std::string body = hang.body;
  // Of two warps in CTA 0 one ends, so that its barrier never fills.
  if (hang.ctas > 1)
    body =
        "mov.u32 %r2, %cluster_ctarank;\nsetp.eq.u32 %p, %r2, 0;\nsetp.ge.and.u32 %q, %r0, 32, %p;\n@%q "
        "exit;\n" +
        body;
  PtxRunner runner(
      ".version 8.7\n.target sm_90a\n.address_size 64\n.shared .align 8 .b64 s;\n.visible .entry k()\n{\n"
      ".reg .pred %p, %q;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\nmov.u32 %r0, %tid.x;\n" +
      body + "\n}\n");
  ASSERT_TRUE(runner.status().ok()) << runner.status();
  runner.options.instruction_budget = 1 << 24;
  runner.config.cluster = Dim3{hang.ctas};
  const auto result = runner.Run("k", Dim3{hang.ctas}, Dim3{hang.threads}, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->fault.kind, FaultKind::kHang) << result->fault.message;
  for (const std::string& part : hang.parts)
    EXPECT_NE(result->fault.message.find(part), std::string::npos)
        << part << "\nin " << result->fault.message;
}

}  // namespace
}  // namespace understudy::emu::ptx
