// SPDX-License-Identifier: Apache-2.0
// malloc and free of kernels: blocks do not overlap and come back, exhaustion gives 0, misuse is named. What
// an H200 gives for sizes is in tests/data/ptx/special.jsonl.zst.
#include "emu/ptx/core/device_heap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint64_t kBase = 0x10000;

TEST(DeviceHeapTest, BlocksNeverOverlapAndAllMemoryComesBack) {
  DeviceHeap heap(kBase, 64 * 1024);
  std::map<uint64_t, uint64_t> blocks;
  std::mt19937 random(7);
  for (int step = 0; step < 20000; ++step) {
    if (random() % 5 < 2 && !blocks.empty()) {
      const auto it = std::next(blocks.begin(), random() % blocks.size());
      ASSERT_TRUE(heap.Free(it->first).ok());
      blocks.erase(it);
      continue;
    }
    const uint64_t bytes = random() % 3000;
    const uint64_t at = heap.Allocate(bytes);
    if (at == 0) continue;
    ASSERT_EQ(at % 16, 0u);
    ASSERT_GE(at, kBase);
    ASSERT_LE(at + bytes, kBase + 64 * 1024);
    const auto after = blocks.lower_bound(at);
    if (after != blocks.end()) {
      ASSERT_LE(at + std::max<uint64_t>(bytes, 1), after->first);
    }
    if (after != blocks.begin()) {
      ASSERT_LE(std::prev(after)->first + std::max<uint64_t>(std::prev(after)->second, 1), at);
    }
    blocks[at] = bytes;
  }
  for (const auto& [at, bytes] : blocks) ASSERT_TRUE(heap.Free(at).ok());
  EXPECT_EQ(heap.Allocate(64 * 1024), kBase);
  EXPECT_EQ(heap.Allocate(0), 0u);
}

TEST(DeviceHeapTest, MisuseIsNamed) {
  DeviceHeap heap(kBase, 1024);
  const uint64_t a = heap.Allocate(100), b = heap.Allocate(100);
  EXPECT_TRUE(heap.Free(0).ok());
  EXPECT_EQ(heap.Free(a + 16).message(),
            "free of 0x10010: it lies 16 bytes inside the block of 112 bytes at 0x10000");
  EXPECT_EQ(heap.Free(0x999).message(), "free of 0x999: malloc of the device heap has not given it");
  EXPECT_TRUE(heap.Free(a).ok());
  EXPECT_EQ(heap.Free(a).message(), "free of 0x10000: the block was freed already (a double free)");
  EXPECT_EQ(heap.Allocate(5), a);  // given again: no double free
  EXPECT_TRUE(heap.Free(a).ok());
  EXPECT_TRUE(heap.Free(b).ok());
}

// A kernel that calls malloc and free; %d1 is what `malloc` has given.
std::string Kernel(const std::string& body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n"
         ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
         ".visible .entry k(.param .u64 out, .param .u64 given)\n{\n.reg .pred %p;\n.reg .b32 %r<8>;\n"
         ".reg .b64 %o, %d<8>;\nld.param.u64 %o, [out];\nld.param.u64 %d2, [given];\n" +
         body + "ret;\n}\n";
}
const std::string kMalloc =
    "{\n.param .b64 n;\n.param .b64 r;\nst.param.b64 [n], 64;\ncall.uni (r), malloc, (n);\n"
    "ld.param.b64 %d1, [r];\n}\n";
std::string Free(const std::string& pointer) {
  return "{\n.param .b64 n;\nst.param.b64 [n], " + pointer + ";\ncall.uni free, (n);\n}\n";
}

LaunchFault FaultOf(const std::string& body) {
  PtxRunner runner(Kernel(body));
  EXPECT_TRUE(runner.status().ok()) << runner.status();
  const uint64_t out = runner.Allocate(64);
  const auto result = runner.Run("k", {}, Dim3{1}, {out, 0});
  EXPECT_TRUE(result.ok()) << result.status();
  return result->fault;
}

TEST(DeviceHeapTest, KernelsThatMisuseItFaultByName) {
  EXPECT_EQ(FaultOf(kMalloc + Free("%d1")).message, "");
  const LaunchFault twice = FaultOf(kMalloc + Free("%d1") + Free("%d1"));
  EXPECT_EQ(twice.kind, FaultKind::kHeap);
  EXPECT_NE(twice.message.find("misuse of the device heap: free of 0x"), std::string::npos) << twice.message;
  EXPECT_NE(twice.message.find("(a double free)"), std::string::npos) << twice.message;
  EXPECT_NE(twice.message.find("call.uni free, (n);"), std::string::npos) << twice.message;
  const LaunchFault inside = FaultOf(kMalloc + "add.u64 %d1, %d1, 8;\n" + Free("%d1"));
  EXPECT_NE(inside.message.find("it lies 8 bytes inside the block of 64 bytes"), std::string::npos)
      << inside.message;
  const LaunchFault foreign = FaultOf(Free("%o"));
  EXPECT_NE(foreign.message.find("malloc of the device heap has not given it"), std::string::npos)
      << foreign.message;
}

TEST(DeviceHeapTest, BlocksOutliveTheLaunch) {
  PtxRunner runner(Kernel("setp.ne.u64 %p, %d2, 0;\n@%p bra SECOND;\n" + kMalloc +
                          "st.global.u64 [%o], %d1;\nst.u32 [%d1+60], 77;\nret;\nSECOND:\n"
                          "ld.u32 %r1, [%d2+60];\nst.global.u32 [%o], %r1;\n" +
                          Free("%d2")));
  ASSERT_TRUE(runner.status().ok()) << runner.status();
  const uint64_t out = runner.Allocate(64);
  ASSERT_TRUE(runner.Run("k", {}, Dim3{1}, {out, 0})->ok());
  const uint64_t block = runner.Values<uint64_t>(out, 1)[0];
  ASSERT_NE(block, 0u);
  const auto second = runner.Run("k", {}, Dim3{1}, {out, block});
  EXPECT_EQ(second->fault.message, "");
  EXPECT_EQ(runner.Values<uint32_t>(out, 1)[0], 77u);
  const auto third = runner.Run("k", {}, Dim3{1}, {out, block});
  EXPECT_EQ(third->fault.kind, FaultKind::kHeap);
}

}  // namespace
}  // namespace understudy::emu::ptx
