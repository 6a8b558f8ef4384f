// SPDX-License-Identifier: Apache-2.0
// Wrong accesses fault, without any check, and the message names what a person needs: the nearest allocation,
// one that was freed, kernel, block, thread, instruction and line.
#include <gtest/gtest.h>

#include "tests/emu/ptx/check/check_machine.h"

namespace understudy::emu::ptx {
namespace {

constexpr const char* kShared = ".shared .align 16 .b8 s[256];\n";

// Runs a body with `out` of 128 bytes and `prepare` done to the memory before.
LaunchFault Fault(const std::string& body, Dim3 grid = {}, uint32_t threads = 32,
                  const std::function<void(PtxRunner&, uint64_t)>& prepare = nullptr) {
  PtxRunner runner(CheckKernel(body, kShared));
  EXPECT_TRUE(runner.status().ok()) << runner.status();
  if (!runner.status().ok()) return {};
  const uint64_t out = runner.Allocate(128, "weights");
  if (prepare) prepare(runner, out);
  const auto result = runner.Run("k", grid, Dim3{threads}, {out});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? result->fault : LaunchFault{};
}

void ExpectMessage(const LaunchFault& fault, FaultKind kind, const std::vector<std::string>& parts) {
  EXPECT_EQ(fault.kind, kind) << fault.message;
  for (const std::string& part : parts)
    EXPECT_NE(fault.message.find(part), std::string::npos)
        << "missing: " << part << "\nin: " << fault.message;
}

TEST(MemcheckTest, PastTheEndNamesTheAllocationAndThePlace) {
  EXPECT_EQ(Fault("st.global.u32 [%i], %r0;\nret;").message, "");
  const LaunchFault f = Fault("st.global.u32 [%i+20], %r0;\nret;", Dim3{3});
  ExpectMessage(f, FaultKind::kMemory,
                {"illegal address: st.global.u32: write of 4 bytes at 0x7f0000000080: ",
                 "0 bytes past the end of 'weights' [0x7f0000000000, 0x7f0000000080)",
                 "module:16: 'st.global.u32 [%i+20], %r0;' in k (instruction 4)",
                 "CTA (0,0,0), warp 0, thread (27,0,0)"});
  EXPECT_EQ(f.location.line, 16);
  EXPECT_EQ(f.pc, 4u);
  EXPECT_EQ(f.lane, 27);
  EXPECT_EQ(f.memory.nearest_label, "weights");
  EXPECT_EQ(f.memory.distance, 0);
}

TEST(MemcheckTest, BeforeTheStartAndFarAway) {
  ExpectMessage(Fault("ld.global.u32 %r1, [%o+-8];\nret;"), FaultKind::kMemory,
                {"8 bytes before the start of 'weights'"});
  ExpectMessage(Fault("mov.u64 %d1, 64;\nld.global.u32 %r1, [%d1];\nret;"), FaultKind::kMemory,
                {"read of 4 bytes at 0x40: unmapped", "before the start of 'weights'"});
}

TEST(MemcheckTest, TheSecondWarpAndBlockAreNamed) {
  const std::string body =
      "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p, %r1, 1;\nsetp.eq.u32 %q, %r0, 40;\nand.pred %p, %p, %q;\n"
      "@%p ld.global.u32 %r1, [%o+4096];\nret;";
  ExpectMessage(Fault(body, Dim3{2}, 64), FaultKind::kMemory, {"CTA (1,0,0), warp 1, thread (40,0,0)"});
}

TEST(MemcheckTest, FreedMemoryIsNamed) {
  const LaunchFault f = Fault("ld.global.u32 %r1, [%i];\nret;", {}, 32, [](PtxRunner& runner, uint64_t out) {
    runner.Allocate(64, "another");
    EXPECT_TRUE(runner.memory.Unmap(out, 128).ok());
  });
  ExpectMessage(f, FaultKind::kMemory,
                {"inside 'weights' [0x7f0000000000, 0x7f0000000080), which was freed",
                 "before the start of 'another'"});
  EXPECT_TRUE(f.memory.was_freed);
  EXPECT_EQ(f.memory.freed_label, "weights");
}

TEST(MemcheckTest, AnAccessAcrossTheEndIsPartial) {
  EXPECT_EQ(Fault("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%o+112];\nret;").message, "");
  ExpectMessage(Fault("ld.global.v2.u64 {%d1,%d2}, [%o+128];\nret;"), FaultKind::kMemory,
                {"past the end of 'weights'"});
  // A buffer that ends in the middle of the access.
  const LaunchFault f =
      Fault("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%o+112];\nret;", {}, 32,
            [](PtxRunner& runner, uint64_t out) { EXPECT_TRUE(runner.memory.Unmap(out + 120, 8).ok()); });
  ExpectMessage(f, FaultKind::kMemory, {"read of 16 bytes at 0x7f0000000078", "which was freed"});
}

TEST(MemcheckTest, ReadOnlyMemoryIsNamed) {
  const LaunchFault f = Fault("st.global.u32 [%i], %r0;\nret;", {}, 32, [](PtxRunner& runner, uint64_t out) {
    EXPECT_TRUE(runner.memory.Protect(out, 128, Perm::kRead).ok());
  });
  ExpectMessage(f, FaultKind::kMemory, {"in 'weights' [0x7f0000000000, 0x7f0000000080) at offset 0x0"});
}

TEST(MemcheckTest, MisalignmentNamesAddressAndSize) {
  ExpectMessage(
      Fault("ld.global.u32 %r1, [%o+2];\nret;"), FaultKind::kMisaligned,
      {"misaligned address: ld.global.u32: read of 4 bytes at global address 0x7f0000000002, which is not a "
       "multiple of 4",
       "thread (0,0,0)"});
  ExpectMessage(Fault("ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [s+8];\nret;"), FaultKind::kMisaligned,
                {"multiple of 16"});
  EXPECT_EQ(Fault("ld.global.u16 %h1, [%o+2];\nret;").message, "");
}

TEST(MemcheckTest, SharedLocalAndParameterMemoryEnd) {
  ExpectMessage(Fault("mov.u32 %r1, s;\nld.shared.u32 %r2, [%r1+256];\nret;"), FaultKind::kSharedOutOfRange,
                {"read of 4 bytes at shared address 0x100, of which there are 256 bytes"});
  EXPECT_EQ(Fault("mov.u32 %r1, s;\nld.shared.u32 %r2, [%r1+252];\nret;").message, "");
  ExpectMessage(Fault("mov.u32 %r1, 0x40000000;\nst.local.u32 [%r1], %r0;\nret;"),
                FaultKind::kLocalOutOfRange, {"write of 4 bytes at local address 0x40000000"});
  ExpectMessage(Fault("ld.param.u64 %d1, [out+8];\nret;"), FaultKind::kMemory,
                {"of which there are 8 bytes"});
}

TEST(MemcheckTest, EveryKindOfAccessIsChecked) {
  for (const char* code :
       {"atom.global.add.u32 %r1, [%o+128], 1;", "red.global.add.u32 [%o+128], 1;",
        "cp.async.ca.shared.global [s], [%o+128], 16;", "cp.async.ca.shared.global [s], [%o+-16], 16;",
        "cp.async.bulk.global.shared::cta.bulk_group [%o+112], [s], 32;", "ld.u32 %r1, [%o+128];",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%o];"})
    ExpectMessage(Fault(std::string(code) + "\nret;"), FaultKind::kMemory, {"'weights'", code});
  for (const char* code :
       {"atom.shared.add.u32 %r1, [s+256], 1;", "cp.async.ca.shared.global [s+256], [%o], 16;",
        "mov.u32 %r1, s;\nadd.u32 %r1, %r1, 144;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 "
        "{%r2,%r3,%r4,%r5}, [%r1+112];"})
    ExpectMessage(Fault(std::string(code) + "\nret;"), FaultKind::kSharedOutOfRange,
                  {"of which there are 256 bytes"});
}

}  // namespace
}  // namespace understudy::emu::ptx
