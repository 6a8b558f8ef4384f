// SPDX-License-Identifier: Apache-2.0
// Graphs of copies, fills and host functions: made by hand and by capture, run in the order of their edges,
// updated; the errors of captures that go wrong.
#include "tests/mockgpu/nv/api_test_base.h"

namespace understudy::test {
namespace {

class GraphApi : public CudaApiTest {
 protected:
  void SetUp() override {
    CudaApiTest::SetUp();
    CU_OK(cuMemAlloc_v2(&p_, 64));
    CU_OK(cuMemsetD32_v2(p_, 0, 16));
    CU_OK(cuStreamCreate(&s_, CU_STREAM_NON_BLOCKING));
    CU_OK(cuStreamCreate(&t_, CU_STREAM_NON_BLOCKING));
    CU_OK(cuEventCreate(&e_, 0));
  }
  CUDA_MEMSET_NODE_PARAMS Set(int word, unsigned value, size_t words = 1) const {
    return {p_ + 4 * static_cast<unsigned>(word), 0, value, 4, words, 1};
  }
  CUDA_MEMCPY3D Copy(int to, int from) const {
    CUDA_MEMCPY3D c{};
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = p_ + 4 * static_cast<unsigned>(from);
    c.dstDevice = p_ + 4 * static_cast<unsigned>(to);
    c.WidthInBytes = 4;
    c.Height = c.Depth = 1;
    return c;
  }
  CUdeviceptr p_ = 0;
  CUstream s_ = nullptr, t_ = nullptr;
  CUevent e_ = nullptr;
};

TEST_F(GraphApi, NodesRunInTheOrderOfEdges) {
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CUgraphNode copy = nullptr, set = nullptr;
  // The copy is made first and depends on the fill that is made after it.
  const CUDA_MEMCPY3D c = Copy(1, 0);
  CU_OK(cuGraphAddMemcpyNode(&copy, graph, nullptr, 0, &c, context_));
  CUDA_MEMSET_NODE_PARAMS m = Set(0, 7);
  CU_OK(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &m, context_));
  CU_OK(cuGraphAddDependencies(graph, &set, &copy, 1));
  CU_IS(cuGraphAddDependencies(graph, &set, &copy, 1), CUDA_ERROR_INVALID_VALUE);
  size_t count = 0;
  CU_OK(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1u);
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  CU_OK(cuGraphLaunch(exec, s_));
  CU_OK(cuStreamSynchronize(s_));
  EXPECT_EQ(Words(p_, 2), (std::vector<uint32_t>{7, 7}));
  // The executable changes, the graph does not.
  m = Set(0, 9);
  CU_OK(cuGraphExecMemsetNodeSetParams(exec, set, &m, context_));
  CU_OK(cuGraphNodeSetEnabled(exec, copy, 0));
  CU_OK(cuGraphLaunch(exec, s_));
  CU_OK(cuStreamSynchronize(s_));
  EXPECT_EQ(Words(p_, 2), (std::vector<uint32_t>{9, 7}));
  CU_OK(cuGraphMemsetNodeGetParams(set, &m));
  EXPECT_EQ(m.value, 7u);
  // A cycle is found when the graph is instantiated.
  CU_OK(cuGraphAddDependencies(graph, &copy, &set, 1));
  CUgraphExec bad = nullptr;
  CU_IS(cuGraphInstantiateWithFlags(&bad, graph, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
  CU_IS(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphApi, CaptureFollowsEventsBetweenStreams) {
  CUgraph graph = nullptr;
  int calls = 0;
  CU_OK(cuStreamBeginCapture_v2(s_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU_OK(cuMemsetD32Async(p_, 3, 1, s_));
  CU_OK(cuEventRecord(e_, s_));
  CU_OK(cuStreamWaitEvent(t_, e_, 0));
  CU_OK(cuMemcpyDtoDAsync_v2(p_ + 4, p_, 4, t_));
  CU_OK(cuLaunchHostFunc(t_, [](void* n) { ++*static_cast<int*>(n); }, &calls));
  CUevent back = nullptr;
  CU_OK(cuEventCreate(&back, 0));
  CU_OK(cuEventRecord(back, t_));
  CU_OK(cuStreamWaitEvent(s_, back, 0));
  CU_OK(cuMemcpyDtoDAsync_v2(p_ + 8, p_ + 4, 4, s_));
  CUstreamCaptureStatus status = -1;
  CU_OK(cuStreamIsCapturing(t_, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CU_OK(cuStreamEndCapture(s_, &graph));
  EXPECT_EQ(Words(p_, 3), (std::vector<uint32_t>{0, 0, 0}));
  size_t nodes = 0, edges = 0;
  CU_OK(cuGraphGetNodes(graph, nullptr, &nodes));
  CU_OK(cuGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT_EQ(nodes, 4u);
  EXPECT_EQ(edges, 4u);  // set -> copy -> call -> copy, and set -> the last copy
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) CU_OK(cuGraphLaunch(exec, s_));
  CU_OK(cuStreamSynchronize(s_));
  EXPECT_EQ(Words(p_, 3), (std::vector<uint32_t>{3, 3, 3}));
  EXPECT_EQ(calls, 3);
}

TEST_F(GraphApi, CapturesThatGoWrongSayHow) {
  CUgraph graph = nullptr;
  CUdeviceptr q = 0;
  CU_IS(cuStreamEndCapture(s_, &graph), CUDA_ERROR_ILLEGAL_STATE);
  CU_IS(cuStreamBeginCapture_v2(nullptr, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  // A call that a capture forbids.
  CU_OK(cuStreamBeginCapture_v2(s_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU_IS(cuMemAlloc_v2(&q, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CU_IS(cuMemsetD32Async(p_, 3, 1, s_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CU_IS(cuStreamEndCapture(s_, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
  // In relaxed mode it does not.
  CU_OK(cuStreamBeginCapture_v2(s_, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_IS(cuMemAlloc_v2(&q, 4), CUDA_SUCCESS);
  CU_OK(cuStreamEndCapture(s_, &graph));
  // Work that does not come back.
  CU_OK(cuStreamBeginCapture_v2(s_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU_OK(cuEventRecord(e_, s_));
  CU_OK(cuStreamWaitEvent(t_, e_, 0));
  CU_OK(cuMemsetD32Async(p_, 3, 1, t_));
  CU_IS(cuStreamEndCapture(s_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  // Waiting for work outside.
  CU_OK(cuEventRecord(e_, t_));
  CU_OK(cuStreamBeginCapture_v2(s_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU_IS(cuStreamWaitEvent(s_, e_, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  CU_IS(cuStreamEndCapture(s_, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // The legacy stream would have to wait for a blocking one.
  CUstream blocking = nullptr;
  CU_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  CU_OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_IS(cuMemsetD32Async(p_, 3, 1, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CU_IS(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(Words(p_, 1)[0], 0u);
}

TEST_F(GraphApi, UpdatesTakeGraphsOfTheSameShapeOnly) {
  CUgraph a = nullptr, b = nullptr, c = nullptr;
  for (const auto& [graph, value, nodes] : {std::tuple{&a, 1u, 1}, {&b, 2u, 1}, {&c, 3u, 2}}) {
    CU_OK(cuGraphCreate(graph, 0));
    for (int i = 0; i < nodes; ++i) {
      CUgraphNode node = nullptr;
      const CUDA_MEMSET_NODE_PARAMS m = Set(i, value);
      CU_OK(cuGraphAddMemsetNode(&node, *graph, nullptr, 0, &m, context_));
    }
  }
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&exec, a, 0));
  CUgraphExecUpdateResultInfo info{};
  CU_OK(cuGraphExecUpdate_v2(exec, b, &info));
  CU_OK(cuGraphLaunch(exec, s_));
  CU_OK(cuStreamSynchronize(s_));
  EXPECT_EQ(Words(p_, 1)[0], 2u);
  CU_IS(cuGraphExecUpdate_v2(exec, c, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

TEST_F(GraphApi, ChildrenAreCopies) {
  CUgraph child = nullptr, parent = nullptr;
  CU_OK(cuGraphCreate(&child, 0));
  CU_OK(cuGraphCreate(&parent, 0));
  CUgraphNode set = nullptr, inner = nullptr, after = nullptr;
  CUDA_MEMSET_NODE_PARAMS m = Set(0, 5);
  CU_OK(cuGraphAddMemsetNode(&set, child, nullptr, 0, &m, context_));
  CU_OK(cuGraphAddChildGraphNode(&inner, parent, nullptr, 0, child));
  const CUDA_MEMCPY3D c = Copy(1, 0);
  CU_OK(cuGraphAddMemcpyNode(&after, parent, &inner, 1, &c, context_));
  m.value = 6;
  CU_OK(cuGraphMemsetNodeSetParams(set, &m));
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&exec, parent, 0));
  CU_OK(cuGraphDestroy(child));
  CU_OK(cuGraphDestroy(parent));
  CU_OK(cuGraphLaunch(exec, s_));
  CU_OK(cuStreamSynchronize(s_));
  EXPECT_EQ(Words(p_, 2), (std::vector<uint32_t>{5, 5}));
  CU_OK(cuGraphExecDestroy(exec));
}

TEST_F(GraphApi, MemoryOfAGraphLivesInItsLaunches) {
  CUgraph graph = nullptr;
  CU_OK(cuStreamBeginCapture_v2(s_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUdeviceptr q = 0;
  CU_OK(cuMemAllocAsync(&q, 64, s_));
  CU_OK(cuMemsetD32Async(p_, 8, 1, s_));
  CU_OK(cuMemFreeAsync(q, s_));
  CU_OK(cuStreamEndCapture(s_, &graph));
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) {
    CU_OK(cuGraphLaunch(exec, s_));
    CU_OK(cuStreamSynchronize(s_));
  }
  uint32_t type = 0;
  CU_IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphApi, UserObjectsGoWithTheirLastReference) {
  int destroyed = 0;
  CUuserObject object = nullptr;
  CUgraph graph = nullptr;
  CU_OK(cuUserObjectCreate(&object, &destroyed, [](void* n) { ++*static_cast<int*>(n); }, 1, 1));
  CU_OK(cuGraphCreate(&graph, 0));
  CU_OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  EXPECT_EQ(destroyed, 0);
  CU_OK(cuGraphDestroy(graph));
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace understudy::test
