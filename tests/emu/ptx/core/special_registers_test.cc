// SPDX-License-Identifier: Apache-2.0
// Special registers whose values no recording can hold: clocks, and the number of the launch. The others are
// in tests/data/ptx/special.jsonl.zst.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {
namespace {

std::string Kernel(const std::string& body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p, %q;\n.reg .b32 %r<8>;\n.reg .b64 %o, %i, %d<20>;\nld.param.u64 %o, [out];\n"
         "mov.u32 %r0, %tid.x;\nmul.wide.u32 %i, %r0, 64;\nadd.s64 %i, %o, %i;\n" +
         body + "ret;\n}\n";
}

std::vector<uint64_t> Words(PtxRunner& runner, uint32_t threads) {
  EXPECT_TRUE(runner.status().ok()) << runner.status();
  const uint64_t out = runner.Allocate(threads * 64);
  const auto result = runner.Run("k", {}, Dim3{threads}, {out});
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->fault.message, "");
  return runner.Values<uint64_t>(out, threads * 8);
}

TEST(SpecialRegistersTest, ClocksCountTheWarpsInstructions) {
  for (uint64_t seed : {uint64_t{0}, uint64_t{3}}) {
    PtxRunner runner(
        Kernel("mov.u64 %d1, %clock64;\nmov.u64 %d2, %clock64;\nadd.u32 %r1, %r0, 1;\nadd.u32 %r1, %r1, 1;\n"
               "mov.u64 %d3, %clock64;\nmov.u32 %r2, %clock;\nmov.u32 %r3, %clock;\ncvt.u64.u32 %d4, %r2;\n"
               "cvt.u64.u32 %d5, %r3;\nst.global.u64 [%i], %d1;\nst.global.u64 [%i+8], %d2;\n"
               "st.global.u64 [%i+16], %d3;\nst.global.u64 [%i+24], %d4;\nst.global.u64 [%i+32], %d5;\n"));
    runner.options.seed = seed;
    const std::vector<uint64_t> out = Words(runner, 96);
    for (size_t t = 0; t < 96; ++t) {
      const uint64_t* v = out.data() + 8 * t;
      // With a seed other warps may run in between.
      EXPECT_GE(v[1], v[0] + 1) << t;
      EXPECT_GE(v[2], v[1] + 3) << t;
      EXPECT_GE(v[3], v[2] + 1) << t;
      EXPECT_GE(v[4], v[3] + 1) << t;
      if (seed == 0) {
        EXPECT_EQ(v[4], v[0] + 6) << t;
      }
    }
  }
}

TEST(SpecialRegistersTest, AClockNeverGoesBackWhereLanesPart) {
  PtxRunner runner(Kernel(
      "mov.u64 %d1, %clock64;\nmov.u32 %r1, 0;\nmov.u32 %r4, 0;\nand.b32 %r2, %r0, 7;\nL:\n"
      "mov.u64 %d2, %clock64;\nsetp.le.u64 %q, %d2, %d1;\n@%q add.u32 %r4, %r4, 1;\nmov.u64 %d1, %d2;\n"
      "add.u32 %r1, %r1, 1;\nsetp.le.u32 %p, %r1, %r2;\n@%p bra L;\nbar.sync 0;\n"
      "mov.u64 %d2, %clock64;\nsetp.le.u64 %q, %d2, %d1;\n@%q add.u32 %r4, %r4, 1;\n"
      "st.global.u32 [%i], %r4;\nst.global.u32 [%i+4], %r1;\n"));
  const std::vector<uint64_t> out = Words(runner, 128);
  for (size_t t = 0; t < 128; ++t) EXPECT_EQ(out[8 * t], ((t & 7) + 1) << 32) << t;
}

TEST(SpecialRegistersTest, EachLaunchHasANumber) {
  PtxRunner runner(Kernel("mov.u64 %d1, %gridid;\nst.global.u64 [%i], %d1;\n"));
  EXPECT_EQ(Words(runner, 1)[0], 1u);
  EXPECT_EQ(Words(runner, 1)[0], 2u);
}

TEST(SpecialRegistersTest, ExplicitClusters) {
  const std::string body =
      "mov.pred %p, %is_explicit_cluster;\nmov.pred %q, !%is_explicit_cluster;\nselp.u64 %d1, 1, 0, %p;\n"
      "selp.u64 %d2, 1, 0, %q;\nst.global.u64 [%i], %d1;\nst.global.u64 [%i+8], %d2;\n";
  PtxRunner runner(Kernel(body));
  std::vector<uint64_t> out = Words(runner, 1);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[1], 1u);
  runner.config.explicit_cluster = true;
  out = Words(runner, 1);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 0u);
}

TEST(SpecialRegistersTest, ASignBeforeOneIsRefused) {
  EXPECT_NE(PtxRunner(Kernel("mov.u32 %r1, -%laneid;\n"))
                .status()
                .message()
                .find("'-' before the special register"),
            std::string::npos);
  EXPECT_NE(PtxRunner(Kernel("mov.u32 %r1, !%laneid;\n")).status().message().find("negated"),
            std::string::npos);
  EXPECT_FALSE(PtxRunner(Kernel("mov.pred %p, -%is_explicit_cluster;\n")).status().ok());
}

}  // namespace
}  // namespace understudy::emu::ptx
