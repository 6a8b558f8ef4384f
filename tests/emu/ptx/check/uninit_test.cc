// SPDX-License-Identifier: Apache-2.0
// The check of uninitialised values finds each planted use, names the register and where the value came from,
// and says nothing where the undefined bits decide nothing.
#include <gtest/gtest.h>

#include "emu/ptx/check/global_memory.h"
#include "tests/emu/ptx/check/check_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr const char* kShared = ".shared .align 16 .b8 s[1024];\n";

Checked Uninit(const std::string& body, uint32_t threads = 32, const std::string& level = "warn",
               const std::string& before = kShared) {
  CheckSetup setup;
  setup.checks = "uninit:" + level;
  setup.threads = threads;
  Checked checked = RunChecked(CheckKernel(body, before), setup);
  EXPECT_TRUE(level == "fail" || checked.fault.message.empty()) << checked.fault.message;
  return checked;
}

void ExpectFound(const Checked& c, const std::string& text) {
  EXPECT_NE(c.Errors().find(text), std::string::npos) << "found: " << c.Errors();
}
void ExpectClean(const Checked& c) { EXPECT_EQ(c.Errors(), ""); }

TEST(UninitCheckTest, ARegisterThatReachesAnAddressABranchOrAStore) {
  const Checked c = Uninit("cvt.u64.u32 %d1, %r7;\nadd.s64 %d1, %d1, %o;\nst.global.u32 [%d1], 1;\nret;");
  ExpectFound(c, "uninit: the address is uninitialised: bits 0x");
  ExpectFound(c, "of %d1, computed from a register that was never written");
  ExpectFound(c, "'st.global.u32 [%d1], 1;' in k");
  ExpectFound(Uninit("setp.eq.u32 %p, %r7, 0;\n@%p bra A;\nA:\nret;"),
              "the branch's condition is uninitialised: %p");
  ExpectFound(
      Uninit("st.global.u32 [%i], %r7;\nret;"),
      "the value stored to global memory is uninitialised: bits 0xffffffff of %r7, which was never written");
  ExpectFound(Uninit("setp.eq.u32 %p, %r7, 0;\n@%p st.global.u32 [%i], %r0;\nret;"),
              "the guard is uninitialised: %p");
  ExpectFound(Uninit("red.global.add.u32 [%o], %r7;\nret;"), "the operand of an atomic on global memory");
  ExpectFound(Uninit("bar.sync %r7;\nret;"), "the barrier is uninitialised: bits 0xffffffff of %r7");
  ExpectFound(Uninit("shfl.sync.idx.b32 %r1, %r0, 0, 31, %r7;\nret;", 32, "fail"),
              "the member mask is uninitialised");
}

TEST(UninitCheckTest, FailingFaults) {
  const Checked c = Uninit("st.global.u32 [%i], %r7;\nret;", 32, "fail");
  EXPECT_EQ(c.fault.kind, FaultKind::kCheck);
  EXPECT_NE(c.fault.message.find("%r7, which was never written"), std::string::npos) << c.fault.message;
}

TEST(UninitCheckTest, WhatReachesNothingIsNotReported) {
  ExpectClean(Uninit("add.u32 %r1, %r7, 1;\nmul.f32 %f1, %f2, %f3;\nst.shared.u32 [s], %r1;\nret;"));
  ExpectClean(Uninit("mov.u32 %r1, %r7;\nmov.u32 %r1, 4;\nst.global.u32 [%i], %r1;\nret;"));
}

TEST(UninitCheckTest, OnlyTheLanesThatWrote) {
  const std::string body = "setp.lt.u32 %p, %r0, 16;\n@%p mov.u32 %r1, 5;\n";
  ExpectClean(Uninit(body + "@%p st.global.u32 [%i], %r1;\nret;"));
  const Checked c = Uninit(body + "st.global.u32 [%i], %r1;\nret;");
  ASSERT_EQ(c.reports.size(), 1u);
  EXPECT_EQ(c.reports[0].where.thread.x, 16u);
}

TEST(UninitCheckTest, SharedMemoryCarriesIt) {
  const std::string load = "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r1, %r1, %r2;\n";
  const Checked c = Uninit(load + "ld.shared.u32 %r3, [%r1];\nst.global.u32 [%i], %r3;\nret;");
  ExpectFound(
      c, "from memory that nobody had written when line 19 'ld.shared.u32 %r3, [%r1];' by thread (0,0,0)");
  EXPECT_EQ(c.reports[0].other.location.line, 19);
  ExpectClean(
      Uninit(load + "st.shared.u32 [%r1], %r0;\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%i], %r3;\nret;"));
  // A byte of the word is missing; another that is there may be used.
  const std::string half = load + "st.shared.u16 [%r1], %r0;\n";
  ExpectFound(Uninit(half + "ld.shared.u32 %r3, [%r1];\nst.global.u32 [%i], %r3;\nret;"),
              "bits 0xffff0000 of %r3");
  ExpectClean(
      Uninit(half + "ld.shared.u32 %r3, [%r1];\nand.b32 %r3, %r3, 0xffff;\nst.global.u32 [%i], %r3;\nret;"));
  // What is stored undefined stays so.
  ExpectFound(
      Uninit(load + "st.shared.u32 [%r1], %r9;\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%i], %r3;\nret;"),
      "of %r3");
  // The generic address of the same memory.
  ExpectFound(
      Uninit(
          "mov.u64 %d1, s;\ncvta.shared.u64 %d1, %d1;\nld.u32 %r3, [%d1];\nst.global.u32 [%i], %r3;\nret;"),
      "of %r3");
}

TEST(UninitCheckTest, LocalMemoryOfCalls) {
  const std::string before =
      kShared +
      std::string(
          ".func (.param .b32 r) f(.param .b32 a)\n{\n.local .align 4 .b8 l[8];\n.reg .b32 %t<4>;\n"
          "ld.param.u32 %t1, [a];\nst.local.u32 [l], %t1;\nld.local.u32 %t2, [l+4];\nld.local.u32 %t3, [l];\n"
          "st.param.b32 [r], %t3;\nret;\n}\n");
  const auto call = [](const std::string& argument) {
    return "{\n.param .b32 p0;\n.param .b32 r0;\nst.param.b32 [p0], " + argument +
           ";\ncall.uni (r0), f, (p0);\nld.param.b32 %r1, [r0];\n}\nst.global.u32 [%i], %r1;\nret;";
  };
  ExpectClean(Uninit(call("%r0"), 32, "warn", before));
  ExpectFound(Uninit(call("%r9"), 32, "warn", before), "the value stored to global memory");
  std::string wrong = before;
  wrong.replace(wrong.find("[r], %t3"), 8, "[r], %t2");
  ExpectFound(Uninit(call("%r0"), 32, "warn", wrong), "the value stored to global memory");
}

TEST(UninitCheckTest, BitsOfArithmetic) {
  const auto stored = [](const std::string& code) { return Uninit(code + "st.global.u32 [%i], %r1;\nret;"); };
  // Exact.
  ExpectClean(stored("and.b32 %r1, %r7, 0;\n"));
  ExpectFound(stored("and.b32 %r1, %r7, 6;\n"), "bits 0x6 of");
  ExpectClean(stored("or.b32 %r1, %r7, -1;\n"));
  ExpectClean(stored("xor.b32 %r1, %r7, %r7;\n"));
  ExpectClean(stored("sub.u32 %r1, %r7, %r7;\n"));
  ExpectFound(stored("not.b32 %r1, %r7;\n"), "bits 0xffffffff of");
  ExpectClean(stored("lop3.b32 %r1, 15, %r7, %r0, 0xca;\nor.b32 %r1, %r1, 15;\n"));
  ExpectFound(stored("shl.b32 %r1, %r7, 24;\n"), "bits 0xff000000 of");
  ExpectFound(stored("shr.u32 %r1, %r7, 28;\n"), "bits 0xf of");
  ExpectClean(stored("bfi.b32 %r1, %r7, %r0, 8, 0;\n"));
  ExpectFound(stored("bfi.b32 %r1, %r7, %r0, 8, 4;\n"), "bits 0xf00 of");
  ExpectFound(stored("prmt.b32 %r1, %r0, %r7, 0x3240;\n"), "bits 0xff00 of");
  ExpectFound(stored("cvt.u32.u16 %r1, %h1;\n"), "bits 0xffff of");
  ExpectFound(stored("mov.b32 %r1, {%h1, %h2};\nand.b32 %r1, %r1, 0x10001;\n"), "bits 0x10001 of");
  ExpectFound(stored("mov.u16 %h1, 1;\nmov.b32 %r1, {%h1, %h2};\n"), "bits 0xffff0000 of");
  ExpectFound(stored("shl.b32 %r2, %r7, 8;\nadd.u32 %r1, %r2, %r0;\n"), "bits 0xffffff00 of");
  ExpectFound(stored("lop3.b32 %r1, 15, %r7, %r0, 0xca;\n"), "bits 0xf of");
  // A selection by a defined predicate has the bits of what it chose.
  ExpectClean(stored("setp.lt.u32 %p, %r0, 100;\nselp.u32 %r1, %r0, %r7, %p;\n"));
  ExpectFound(stored("setp.lt.u32 %p, %r0, 100;\nselp.u32 %r1, %r7, %r0, %p;\n"), "bits 0xffffffff of");
  ExpectClean(stored("setp.lt.u32 %p, %r7, 100;\nselp.u32 %r1, 3, 3, %p;\n"));
  ExpectFound(stored("setp.lt.u32 %p, %r7, 100;\nselp.u32 %r1, 3, 2, %p;\n"), "bits 0x1 of");
  // Coarse: all bits.
  ExpectFound(stored("shr.u32 %r2, %r7, 31;\nmul.hi.u32 %r1, %r2, %r0;\n"), "bits 0xffffffff of");
  ExpectFound(stored("shl.b32 %r1, %r0, %r7;\n"), "bits 0xffffffff of");
  ExpectFound(stored("add.cc.u32 %r2, %r7, 1;\naddc.u32 %r1, %r0, 0;\n"), "bits 0xffffffff of");
  ExpectClean(stored("add.cc.u32 %r2, %r0, 1;\naddc.u32 %r1, %r0, 0;\n"));
  // A guard that nobody has set.
  ExpectFound(stored("mov.u32 %r1, 1;\n@%s mov.u32 %r1, 2;\n"), "bits 0xffffffff of %r1");
}

TEST(UninitCheckTest, PredicatesAreBitsToo) {
  ExpectClean(Uninit("setp.lt.u32 %p, %r0, 100;\nor.pred %q, %p, %s;\n@%q bra A;\nA:\nret;"));
  ExpectFound(Uninit("setp.lt.u32 %p, %r0, 100;\nand.pred %q, %p, %s;\n@%q bra A;\nA:\nret;"),
              "the branch's condition");
  ExpectClean(Uninit("setp.ge.u32 %p, %r0, 100;\nand.pred %q, %p, %s;\n@%q bra A;\nA:\nret;"));
}

TEST(UninitCheckTest, LanesExchange) {
  const std::string body = "setp.lt.u32 %p, %r0, 16;\n@%p mov.u32 %r1, 5;\n";
  ExpectClean(Uninit(body + "shfl.sync.idx.b32 %r2, %r1, 3, 31, -1;\nst.global.u32 [%i], %r2;\nret;"));
  ExpectFound(Uninit(body + "shfl.sync.idx.b32 %r2, %r1, 20, 31, -1;\nst.global.u32 [%i], %r2;\nret;"),
              "of %r2");
  // From a lane that does not take part.
  ExpectFound(Uninit("setp.lt.u32 %p, %r0, 16;\n@!%p bra E;\nshfl.sync.idx.b32 %r2, %r0, 20, 31, 0xffff;\n"
                     "st.global.u32 [%i], %r2;\nE:\nret;"),
              "bits 0xffffffff of %r2");
  ExpectClean(
      Uninit("setp.lt.u32 %p, %r0, 16;\n@!%p bra E;\nshfl.sync.idx.b32 %r2|%q, %r0, 2, 31, 0xffff;\n"
             "@%q st.global.u32 [%i], %r2;\nE:\nret;"));
  ExpectFound(
      Uninit(body +
             "setp.eq.u32 %q, %r1, 5;\nvote.sync.ballot.b32 %r2, %q, -1;\nst.global.u32 [%i], %r2;\nret;"),
      "bits 0xffff0000 of %r2");
  ExpectClean(Uninit(body + "setp.eq.u32 %q, %r1, 5;\nvote.sync.any.pred %s, %q, -1;\n@%s bra E;\nE:\nret;"));
  ExpectFound(Uninit(body + "setp.eq.u32 %q, %r1, 5;\nvote.sync.all.pred %s, %q, -1;\n@%s bra E;\nE:\nret;"),
              "the branch's condition");
}

TEST(UninitCheckTest, MatricesDependOnTheirFactors) {
  const auto product = [](const std::string& set) {
    return Uninit(set +
                  "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3}, {%r1,%r2,%r3,%r4}, "
                  "{%r5,%r6}, {%f4,%f5,%f6,%f7};\nst.global.f32 [%i], %f0;\nret;");
  };
  std::string all;
  for (int i = 1; i < 7; ++i) all += "mov.u32 %r" + std::to_string(i) + ", 0;\n";
  std::string sums;
  for (int i = 4; i < 8; ++i) sums += "mov.f32 %f" + std::to_string(i) + ", 0f00000000;\n";
  ExpectClean(product(all + sums));
  ExpectFound(product(sums), "of %f0");
  ExpectFound(product(all + sums.substr(sums.find('\n') + 1)), "of %f0");
  // Only the second sum is missing.
  const size_t line = sums.find("%f5");
  std::string partly = sums;
  partly.replace(line, 3, "%f9");
  ExpectClean(product(all + partly));
}

TEST(UninitCheckTest, MatrixLoadsOfSharedMemory) {
  const auto body = [](const std::string& bytes) {
    return "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 4;\nadd.u32 %r3, %r1, %r2;\nsetp.lt.u32 %p, %r0, " + bytes +
           ";\nmov.u32 %r4, 0;\n@%p st.shared.v4.u32 [%r3], {%r4,%r4,%r4,%r4};\nbar.warp.sync -1;\n"
           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r3];\nst.global.u32 [%i], %r5;\nret;";
  };
  ExpectClean(Uninit(body("8")));
  const Checked c = Uninit(body("7"));
  ExpectFound(c, "of %r5");
  // Row 7 is in lanes 28 to 31.
  EXPECT_EQ(c.reports[0].where.thread.x, 28u);
}

TEST(UninitCheckTest, AsynchronousCopiesWriteSharedMemory) {
  const auto body = [](const std::string& size) {
    return "mov.u32 %r1, s;\nshl.b32 %r2, %r0, 4;\nadd.u32 %r3, %r1, %r2;\ncp.async.ca.shared.global [%r3], "
           "[%o], 8" +
           size +
           ";\ncp.async.wait_all;\nld.shared.u32 %r4, [%r3+4];\nld.shared.u32 %r5, [%r3+8];\n"
           "st.global.u32 [%i], %r4;\n";
  };
  ExpectClean(Uninit(body("") + "ret;"));
  ExpectClean(Uninit(body(", 4") + "ret;"));
  ExpectFound(Uninit(body("") + "st.global.u32 [%i], %r5;\nret;"), "of %r5");
}

TEST(UninitCheckTest, FreshDeviceMemoryOnRequest) {
  const std::string ptx = CheckKernel("ld.global.u32 %r1, [%i+128];\nst.global.u32 [%i], %r1;\nret;");
  const auto run = [&](GlobalMemory* memory, const std::string& checks, uint64_t defined) {
    PtxRunner runner(ptx);
    std::string error;
    EXPECT_TRUE(runner.options.checks.Parse(checks, &error));
    const uint64_t out = runner.Allocate(256, "out");
    memory->Track(out, 256);
    memory->Define(out + 128, defined);
    runner.options.global_memory = memory;
    const auto result = runner.Run("k", {}, Dim3{32}, {out});
    EXPECT_TRUE(result.ok());
    std::string text;
    for (const CheckReport& r : result->reports) text += r.message;
    EXPECT_EQ(memory->Undefined(out), 0);  // stores define it
    return text;
  };
  GlobalMemory memory;
  EXPECT_EQ(run(&memory, "global:warn", 128), "");
  EXPECT_NE(run(&memory, "global:warn", 64).find("from memory that nobody had written when"),
            std::string::npos);
  EXPECT_EQ(run(&memory, "uninit:warn", 64), "");
}

TEST(GlobalMemoryTest, CopiesCarryItAlong) {
  GlobalMemory memory;
  memory.Track(0x1000, 64);
  memory.Track(0x2000, 64);
  EXPECT_EQ(memory.Undefined(0x1000), 0xff);
  EXPECT_EQ(memory.Undefined(0x0fff), 0);
  memory.Define(0x0ff0, 32);
  EXPECT_EQ(memory.Undefined(0x100f), 0);
  EXPECT_EQ(memory.Undefined(0x1010), 0xff);
  memory.Copy(0x2000, 0x1008, 16);
  EXPECT_EQ(memory.Undefined(0x2007), 0);
  EXPECT_EQ(memory.Undefined(0x2008), 0xff);
  memory.Copy(0x2008, 0x9000, 8);  // not tracked: the host's
  EXPECT_EQ(memory.Undefined(0x2008), 0);
  memory.Forget(0x2000, 64);
  EXPECT_EQ(memory.Undefined(0x2030), 0);
}

}  // namespace
}  // namespace understudy::emu::ptx
