// SPDX-License-Identifier: Apache-2.0
// Graphs of launches on the mock machine: one packet and one doorbell a run whatever the graph holds, waits
// only where the plan has them, arguments that change between runs that overlap, and faults inside.
#include "src/runtime/amd/gpu_graph.h"

#include <gtest/gtest.h>

#include "tests/src/runtime/amd/mock_machine.h"

namespace understudy::amd {
namespace {

class GpuGraphTest : public GpuTest {
 protected:
  void SetUp() override { Open(); }
  void TearDown() override {
    graph_.reset();
    GpuTest::TearDown();
  }
  GraphKernel Increment(bool waits) { return {Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, 16, waits}; }
  void Make(std::vector<GraphKernel> kernels) {
    auto graph = GpuGraph::Create(*gpu_, std::move(kernels));
    ASSERT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
  }
  // increment(p, 64)
  void SetIncrement(size_t kernel, const GpuBuffer& p) {
    graph_->Set(kernel, 0, p.va);
    graph_->Set(kernel, 8, 64);
  }
  void Run() {
    const absl::Status s = graph_->Run();
    ASSERT_TRUE(s.ok()) << s;
  }
  std::unique_ptr<GpuGraph> graph_;
};

TEST_P(GpuGraphTest, OnePacketAndOneDoorbellARunWhateverItHolds) {
  int64_t words[2] = {};
  for (const int n : {3, 200}) {
    const GpuBuffer p = Upload(std::vector<uint32_t>(64, 7));
    Make(std::vector<GraphKernel>(static_cast<size_t>(n), Increment(true)));
    for (int i = 0; i < n; ++i) SetIncrement(static_cast<size_t>(i), p);
    Run();  // after a copy: one wait more
    ASSERT_TRUE(gpu_->Synchronize().ok());
    const GpuStats before = gpu_->stats();
    for (int i = 0; i < 5; ++i) Run();
    const GpuStats after = gpu_->stats();
    EXPECT_EQ(after.submissions - before.submissions, 5) << "one doorbell each";
    EXPECT_EQ(after.launches - before.launches, 5 * n);
    EXPECT_EQ(after.graph_patches, before.graph_patches) << "nothing changed";
    words[n == 200] = after.compute_words - before.compute_words;
    EXPECT_EQ(Download<uint32_t>(p, 64), std::vector<uint32_t>(64, 7u + 6u * static_cast<uint32_t>(n)));
  }
  EXPECT_EQ(words[0], words[1]) << "words in the ring do not depend on the number of kernels";
  EXPECT_LT(words[0], 5 * 40);
  EXPECT_EQ(gpu_->stats().graphs, 2);
}

TEST_P(GpuGraphTest, KernelsWaitOnlyWhereTheyMust) {
  const GpuBuffer a = Upload(std::vector<uint32_t>(64, 1)), b = Upload(std::vector<uint32_t>(64, 2));
  Make({Increment(false), Increment(false), Increment(true), Increment(false)});
  EXPECT_EQ(graph_->waits(), 1u);
  const size_t few = graph_->words();
  for (const size_t k : {0, 2}) SetIncrement(k, a);
  for (const size_t k : {1, 3}) SetIncrement(k, b);
  Run();
  EXPECT_EQ(Download<uint32_t>(a, 64), std::vector<uint32_t>(64, 3));
  EXPECT_EQ(Download<uint32_t>(b, 64), std::vector<uint32_t>(64, 4));
  Make({Increment(true), Increment(true), Increment(true), Increment(true)});
  EXPECT_EQ(graph_->waits(), 3u);
  const size_t acquire = GetParam().rfind("gfx9", 0) == 0 ? 7 : 8;
  EXPECT_EQ(graph_->words() - few, 2u * (2 + acquire)) << "EVENT_WRITE and ACQUIRE_MEM a wait";
}

TEST_P(GpuGraphTest, ArgumentsChangeBetweenRunsThatAreOnTheirWay) {
  std::vector<GpuBuffer> buffers;
  for (int i = 0; i < 7; ++i) buffers.push_back(Upload(std::vector<uint32_t>(64, 0)));
  Make({Increment(true), Increment(true)});
  std::vector<uint32_t> want(7);
  for (size_t i = 0; i < 60; ++i) {
    const size_t x = i % 7, y = i * i % 7;
    SetIncrement(0, buffers[x]);
    SetIncrement(1, buffers[y]);
    ++want[x], ++want[y];
    Run();
  }
  for (size_t i = 0; i < 7; ++i)
    EXPECT_EQ(Download<uint32_t>(buffers[i], 64), std::vector<uint32_t>(64, want[i])) << i;
}

TEST_P(GpuGraphTest, RunsAreInOrderWithCopiesAndLaunches) {
  const GpuBuffer p = Upload(std::vector<uint32_t>(64, 0)), q = New(256);
  Make({Increment(true), Increment(true)});
  for (const size_t k : {0, 1}) SetIncrement(k, p);
  uint32_t want = 0;
  for (uint32_t i = 0; i < 20; ++i) {
    Run();
    ASSERT_TRUE(
        gpu_->Launch(Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{p.va}, Scalar(64u)})
            .ok());
    want += 3;
    if (i % 3 == 0) {
      ASSERT_TRUE(gpu_->CopyWithin(q.va, p.va, 256).ok());
      Run();
      ASSERT_TRUE(gpu_->CopyWithin(p.va, q.va, 256).ok());  // back to before
    }
    if (i % 5 == 0) {
      ASSERT_EQ(Download<uint32_t>(p, 64), std::vector<uint32_t>(64, want)) << i;
    }
  }
  EXPECT_EQ(Download<uint32_t>(p, 64), std::vector<uint32_t>(64, want));
}

TEST_P(GpuGraphTest, AFaultNamesTheKernelAndTheGraphRunsAgainAfterRecover) {
  const GpuBuffer p = Upload(std::vector<uint32_t>(64, 0)), word = New(4);
  Make({Increment(true), {Kernel("store_at"), {{1, 1, 1}, {32, 1, 1}, 0}, 16, false}, Increment(true)});
  SetIncrement(0, p);
  graph_->Set(1, 0, 0xdead0000);
  graph_->Set(1, 8, 5);
  SetIncrement(2, p);
  Run();
  const absl::Status fault = gpu_->Synchronize();
  ASSERT_EQ(fault.code(), absl::StatusCode::kAborted) << fault;
  for (const char* text :
       {"kernel 'store_at' (2 of 3) of a graph", "memory fault at 0xdead", "page not present"})
    EXPECT_NE(std::string(fault.message()).find(text), std::string::npos) << fault << "\nexpected: " << text;
  EXPECT_EQ(graph_->Run(), fault) << "every call reports the fault until Recover";
  ASSERT_TRUE(gpu_->Recover().ok());
  EXPECT_EQ(Download<uint32_t>(p, 64), std::vector<uint32_t>(64, 1))
      << "the kernel after the fault never ran";
  graph_->Set(1, 0, word.va);
  Run();
  EXPECT_EQ(Download<uint32_t>(p, 64), std::vector<uint32_t>(64, 3));
  EXPECT_EQ(Download<uint32_t>(word, 1)[0], 5u);
}

TEST_P(GpuGraphTest, TheFirstOfSeveralRunsOnTheirWayIsNamed) {
  const GpuBuffer p = Upload(std::vector<uint32_t>(64, 0));
  Make({Increment(true), Increment(true)});
  for (const size_t k : {0, 1}) SetIncrement(k, p);
  for (int i = 0; i < 3; ++i) Run();
  ASSERT_TRUE(gpu_->Launch(Kernel("store_at"), {}, {GlobalPointer{0xdead0000}, Scalar(1u)}).ok());
  for (int i = 0; i < 3; ++i) Run();
  const absl::Status fault = gpu_->Synchronize();
  EXPECT_NE(std::string(fault.message()).find(GetParam() + ": kernel 'store_at': memory fault"),
            std::string::npos)
      << fault;
  ASSERT_TRUE(gpu_->Recover().ok());
  EXPECT_EQ(Download<uint32_t>(p, 64), std::vector<uint32_t>(64, 6));
}

TEST_P(GpuGraphTest, ScratchThatGrowsIsSeen) {
  const GpuBuffer p = Upload(std::vector<uint32_t>(64, 0)), out = New(4 * 512);
  Make({Increment(true)});
  SetIncrement(0, p);
  Run();
  // Needs scratch for the first time.
  ASSERT_TRUE(
      gpu_->Launch(Kernel("scratch"), {{2, 1, 1}, {256, 1, 1}, 0}, {GlobalPointer{out.va}, Scalar(3u)}).ok());
  Run();
  EXPECT_EQ(Download<uint32_t>(p, 64), std::vector<uint32_t>(64, 2));
  Make({{Kernel("scratch"), {{2, 1, 1}, {256, 1, 1}, 0}, 16, true}, Increment(false)});
  graph_->Set(0, 0, out.va);
  graph_->Set(0, 8, 1000);
  SetIncrement(1, p);
  Run();
  const auto got = Download<uint32_t>(out, 512);
  for (uint32_t i = 0; i < 512; ++i) ASSERT_EQ(got[i], ((1000 + i % 256) & 63) * 1000 + i % 256) << i;
}

TEST_P(GpuGraphTest, AGraphMayGoWhileItRunsAndGivesItsMemoryBack) {
  const GpuBuffer p = Upload(std::vector<uint32_t>(64, 0));
  const int64_t before = gpu_->live_buffers();
  for (int i = 0; i < 10; ++i) {
    Make({Increment(true), Increment(true)});
    for (const size_t k : {0, 1}) SetIncrement(k, p);
    Run();
    graph_.reset();
  }
  EXPECT_EQ(Download<uint32_t>(p, 64), std::vector<uint32_t>(64, 20));
  ASSERT_TRUE(gpu_->Synchronize().ok());
  EXPECT_EQ(gpu_->live_buffers(), before);
}

TEST_P(GpuGraphTest, HiddenArgumentsAndDispatchPacketsAreThere) {
  const GpuBuffer out = New(3 * 2 * 2 * 6 * 4);
  Make({{Kernel("shape"), {{3, 2, 2}, {8, 4, 2}, 0}, 8, true}});
  graph_->Set(0, 0, out.va);
  Run();
  const auto got = Download<uint32_t>(out, 3 * 2 * 2 * 6);
  for (int g = 0; g < 12; ++g) {
    EXPECT_EQ(std::vector<uint32_t>(got.begin() + 6 * g, got.begin() + 6 * g + 6),
              (std::vector<uint32_t>{3, 2, 2, 8, 4, 2}))
        << "workgroup " << g;
  }
}

TEST_P(GpuGraphTest, WhatCannotRunIsRefusedWhenItIsMade) {
  EXPECT_EQ(GpuGraph::Create(*gpu_, {}).status().code(), absl::StatusCode::kInvalidArgument);
  GraphKernel wide = Increment(true);
  wide.shape.block[0] = 4096;
  const auto refused = GpuGraph::Create(*gpu_, {wide});
  EXPECT_NE(std::string(refused.status().message()).find("'increment'"), std::string::npos)
      << refused.status();
  GraphKernel odd = Increment(true);
  odd.args_bytes = 12;
  EXPECT_EQ(GpuGraph::Create(*gpu_, {odd}).status().code(), absl::StatusCode::kInvalidArgument);
}

US_FOR_EVERY_GPU(GpuGraphTest);

}  // namespace
}  // namespace understudy::amd
