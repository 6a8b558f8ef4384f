// SPDX-License-Identifier: Apache-2.0
// Classes of mistakes that emulators of PTX have made, each with an input that shows it and the right answer.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {
namespace {

// What each of 32 threads leaves in %r1.
std::vector<uint32_t> RunBody(const std::string& body) {
  PtxRunner runner(
      ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 counter = 100;\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n"
      ".reg .b64 %o, %i;\nld.param.u64 %o, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %i, %r0, 4;\n"
      "add.s64 %i, %o, %i;\n" +
      body + "st.global.u32 [%i], %r1;\nret;\n}\n");
  EXPECT_TRUE(runner.status().ok()) << runner.status();
  if (!runner.status().ok()) return std::vector<uint32_t>(32);
  const uint64_t out = runner.Allocate(128);
  const auto result = runner.Run("k", {}, Dim3{32}, {out});
  EXPECT_TRUE(result.ok() && result->ok())
      << (result.ok() ? result->fault.message : result.status().ToString());
  return runner.Values<uint32_t>(out, 32);
}

uint32_t First(const std::string& body) { return RunBody(body)[0]; }

TEST(CasesTest, NegatedPredicateSource) {
  EXPECT_EQ(First("setp.lt.f32 %p, 0f7fc00000, 0f3f800000;\nselp.s32 %r1, 0x80000000, 7, !%p;\n"),
            0x80000000u);
}

TEST(CasesTest, DirectedRounding) {
  // 1 - 2^-30 and 1 + 2^-30 are no f32.
  EXPECT_EQ(First("mov.f32 %f1, 0f3f800000;\nadd.rm.f32 %f2, %f1, 0fb0800000;\nmov.b32 %r1, %f2;\n"),
            0x3f7fffffu);
  EXPECT_EQ(First("mov.f32 %f1, 0f3f800000;\nadd.rp.f32 %f2, %f1, 0f30800000;\nmov.b32 %r1, %f2;\n"),
            0x3f800001u);
}

TEST(CasesTest, IntegerToFloatTruncates) {
  EXPECT_EQ(First("mov.u32 %r2, 2147483647;\ncvt.rz.f32.s32 %f1, %r2;\nmov.b32 %r1, %f1;\n"), 0x4effffffu);
}

TEST(CasesTest, HighMultiplyAddUsesTheFullProduct) {
  EXPECT_EQ(First("mov.u32 %r2, -1;\nmad.hi.u32 %r1, %r2, %r2, 1;\n"), 0xffffffffu);
}

TEST(CasesTest, LanesMeetBeforeAShuffle) {
  const std::vector<uint32_t> values = RunBody(
      "setp.ne.u32 %p, %r0, 0;\nmov.u32 %r2, 7;\n@%p bra M;\nmov.u32 %r2, 1234;\nM:\n"
      "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;\n");
  for (uint32_t value : values) EXPECT_EQ(value, 1234u);
}

TEST(CasesTest, FlushesOnlyWhereAsked) {
  const std::string load = "mov.b32 %f1, 0x80400000;\n";
  EXPECT_EQ(First(load + "mul.ftz.f32 %f2, %f1, 0f3f000000;\nmov.b32 %r1, %f2;\n"), 0x80000000u);
  EXPECT_EQ(First(load + "mul.f32 %f2, %f1, 0f3f000000;\nmov.b32 %r1, %f2;\n"), 0x80200000u);
}

TEST(CasesTest, AtomicsWithLimits) {
  // One thread; 100 becomes 101, then 0.
  const std::string start = "setp.ne.u32 %p, %r0, 0;\nmov.u32 %r1, 0;\n@%p bra E;\n";
  EXPECT_EQ(First(start + "atom.global.inc.u32 %r2, [counter], 101;\nld.global.u32 %r1, [counter];\nE:\n"),
            101u);
  EXPECT_EQ(First(start +
                  "atom.global.inc.u32 %r2, [counter], 101;\natom.global.inc.u32 %r1, [counter], 101;\nE:\n"),
            101u);
  EXPECT_EQ(
      First(start + "atom.global.inc.u32 %r2, [counter], 101;\natom.global.inc.u32 %r2, [counter], 101;\n"
                    "ld.global.u32 %r1, [counter];\nE:\n"),
      0u);
}

}  // namespace
}  // namespace understudy::emu::ptx
