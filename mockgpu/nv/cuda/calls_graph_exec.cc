// SPDX-License-Identifier: Apache-2.0
// Instantiated graphs, and graphs from the capture of streams.
#include <algorithm>
#include <cstring>

#include "mockgpu/nv/cuda/graph.h"
#include "mockgpu/nv/cuda/graph_calls.h"
#include "mockgpu/nv/cuda/memory_calls.h"

namespace understudy::mockgpu::nv::calls {
namespace {

Driver& D() { return Driver::Get(); }

CUresult Instantiate(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  Context* context = nullptr;
  if (!Driver::Stack().empty()) US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(out != nullptr && D().graphs.Has(graph) && flags <= 15, CUDA_ERROR_INVALID_VALUE);
  // Memory that a graph allocates has one address, so one executable at a time.
  if (HasMemoryNodes(*graph))
    for (const GraphExec* other : D().execs.all())
      US_CUDA_REQUIRE(other->graph->cloned_from != graph, CUDA_ERROR_NOT_SUPPORTED);
  US_CUDA_REQUIRE((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) == 0, CUDA_ERROR_NOT_SUPPORTED);
  std::unique_ptr<Graph> clone = CloneGraph(*graph);
  std::vector<Node*> order;
  US_CUDA_REQUIRE(Order(*clone, &order), CUDA_ERROR_INVALID_VALUE);
  GraphExec* const exec = D().execs.Make();
  exec->graph = std::move(clone);
  exec->order = std::move(order);
  exec->flags = flags & ~static_cast<unsigned long long>(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  for (const auto& n : exec->graph->nodes) exec->clones[n->cloned_from] = n.get();
  *out = exec;
  return CUDA_SUCCESS;
}

// The executable's copy of a node of the graph that it was made from.
template <class T>
CUresult CloneOf(CUgraphExec exec, CUgraphNode original, T** command) {
  US_CUDA_REQUIRE(D().execs.Has(exec), CUDA_ERROR_INVALID_VALUE);
  const auto it = exec->clones.find(original);
  US_CUDA_REQUIRE(it != exec->clones.end(), CUDA_ERROR_INVALID_VALUE);
  *command = std::get_if<T>(&it->second->command);
  return *command == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  // An upload needs a stream: cuGraphInstantiateWithParams has it.
  US_CUDA_REQUIRE((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0, CUDA_ERROR_INVALID_VALUE);
  return Instantiate(out, graph, flags);
}
CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log, size_t size) {
  if (error != nullptr) *error = nullptr;
  if (log != nullptr && size > 0) *log = 0;
  return Instantiate(out, graph, 0);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log, size_t size) {
  return cuGraphInstantiate(out, graph, error, log, size);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  params->hErrNode_out = nullptr;
  const CUresult result = Instantiate(out, graph, params->flags);
  params->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                       : result == CUDA_ERROR_NOT_SUPPORTED
                           ? CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
                           : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  return result;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  US_CUDA_REQUIRE(D().execs.Has(exec), CUDA_ERROR_INVALID_VALUE);
  D().execs.Destroy(exec);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  US_CUDA_REQUIRE(D().execs.Has(exec) && flags != nullptr, CUDA_ERROR_INVALID_VALUE);
  *flags = exec->flags;
  return CUDA_SUCCESS;
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  return D().execs.Has(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(D().execs.Has(exec), CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(Driver::CheckStreamNotCapturing(*stream));
  // What earlier launches allocated is known once they have run.
  if (HasMemoryNodes(*exec->graph)) D().Pump();
  if (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) {
    for (const Node* node : exec->order)
      if (const auto* alloc = std::get_if<AllocCommand>(&node->command))
        if (D().FindRange(alloc->params.dptr) != nullptr)
          US_CUDA_TRY(D().Submit(stream, FreeCommand{alloc->params.dptr}));
  } else {
    // What an earlier launch allocated for its caller must have been freed.
    for (const Node* node : exec->order)
      if (const auto* alloc = std::get_if<AllocCommand>(&node->command))
        US_CUDA_REQUIRE(D().FindRange(alloc->params.dptr) == nullptr, CUDA_ERROR_INVALID_VALUE);
  }
  return LaunchGraph(D(), *exec->graph, exec->order, stream);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  KernelCommand* kernel = nullptr;
  US_CUDA_TRY(CloneOf(exec, node, &kernel));
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  KernelCommand made;
  US_CUDA_TRY(KernelOf(*params, kernel->attributes, &made));
  *kernel = std::move(made);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUDA_KERNEL_NODE_PARAMS wide{};
  std::memcpy(&wide, params, sizeof *params);
  return cuGraphExecKernelNodeSetParams_v2(exec, node, &wide);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* params,
                                        CUcontext) {
  CopyCommand* copy = nullptr;
  US_CUDA_TRY(CloneOf(exec, node, &copy));
  CopyCommand made;
  US_CUDA_TRY(CopyOf(params, &made));
  *copy = std::move(made);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  MemsetCommand* set = nullptr;
  US_CUDA_TRY(CloneOf(exec, node, &set));
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(CheckMemsetNode(*params));
  // A row stays a row, a plane a plane.
  US_CUDA_REQUIRE((params->height > 1) == (set->set.height > 1), CUDA_ERROR_INVALID_VALUE);
  set->set = *params;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* params) {
  HostCommand* host = nullptr;
  US_CUDA_TRY(CloneOf(exec, node, &host));
  US_CUDA_REQUIRE(params != nullptr && params->fn != nullptr, CUDA_ERROR_INVALID_VALUE);
  *host = HostCommand{params->fn, params->userData, nullptr, nullptr};
  return CUDA_SUCCESS;
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  RecordCommand* record = nullptr;
  US_CUDA_TRY(CloneOf(exec, node, &record));
  US_CUDA_REQUIRE(D().events.Has(event), CUDA_ERROR_INVALID_HANDLE);
  record->event = event;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  WaitCommand* wait = nullptr;
  US_CUDA_TRY(CloneOf(exec, node, &wait));
  US_CUDA_REQUIRE(D().events.Has(event), CUDA_ERROR_INVALID_HANDLE);
  wait->event = event;
  return CUDA_SUCCESS;
}

namespace {

// Takes the parameters of a graph of the same shape: nodes in the order of making, of the same kinds, with
// the same edges.
CUresult Update(const Graph& to, const Graph& from, CUgraphExecUpdateResultInfo* info) {
  const auto fail = [&](CUgraphExecUpdateResult why, Node* node) {
    info->result = why;
    info->errorNode = node;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  };
  if (to.nodes.size() != from.nodes.size()) return fail(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  std::unordered_map<const Node*, size_t> a, b;
  for (size_t i = 0; i < to.nodes.size(); ++i) a[to.nodes[i].get()] = i, b[from.nodes[i].get()] = i;
  std::vector<std::pair<size_t, size_t>> ea, eb;
  for (const GraphEdge& e : to.edges) ea.push_back({a[e.from], a[e.to]});
  for (const GraphEdge& e : from.edges) eb.push_back({b[e.from], b[e.to]});
  std::sort(ea.begin(), ea.end());
  std::sort(eb.begin(), eb.end());
  if (ea != eb) {
    size_t i = 0;
    while (i < ea.size() && i < eb.size() && ea[i] == eb[i]) ++i;
    // The node that has another edge, or lacks one.
    return fail(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
                from.nodes[i < eb.size() ? eb[i].second : ea[i].second].get());
  }
  for (size_t i = 0; i < to.nodes.size(); ++i)
    if (to.nodes[i]->type != from.nodes[i]->type)
      return fail(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, from.nodes[i].get());
  for (size_t i = 0; i < to.nodes.size(); ++i) {
    const auto* now = std::get_if<MemsetCommand>(&to.nodes[i]->command);
    const auto* then = std::get_if<MemsetCommand>(&from.nodes[i]->command);
    if (now != nullptr && then != nullptr && (now->set.height > 1) != (then->set.height > 1))
      return fail(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, from.nodes[i].get());
  }
  for (size_t i = 0; i < to.nodes.size(); ++i) {
    if (const auto* child = std::get_if<ChildCommand>(&to.nodes[i]->command)) {
      US_CUDA_TRY(Update(*child->graph, *std::get<ChildCommand>(from.nodes[i]->command).graph, info));
      continue;
    }
    to.nodes[i]->command = from.nodes[i]->command;
    to.nodes[i]->attributes = from.nodes[i]->attributes;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  US_CUDA_REQUIRE(D().execs.Has(exec), CUDA_ERROR_INVALID_HANDLE);
  US_CUDA_REQUIRE(info != nullptr, CUDA_ERROR_INVALID_VALUE);
  *info = {};
  US_CUDA_REQUIRE(D().graphs.Has(graph), CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(Update(*exec->graph, *graph, info));
  exec->clones.clear();
  for (size_t i = 0; i < exec->graph->nodes.size(); ++i)
    exec->clones[graph->nodes[i].get()] = exec->graph->nodes[i].get();
  return CUDA_SUCCESS;
}
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* node,
                           CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult r = cuGraphExecUpdate_v2(exec, graph, &info);
  if (node != nullptr) *node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return r;
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph graph) {
  ChildCommand* child = nullptr;
  US_CUDA_TRY(CloneOf(exec, node, &child));
  US_CUDA_REQUIRE(D().graphs.Has(graph), CUDA_ERROR_INVALID_VALUE);
  CUgraphExecUpdateResultInfo info{};
  return Update(*child->graph, *graph, &info);
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  US_CUDA_REQUIRE(D().execs.Has(exec), CUDA_ERROR_INVALID_HANDLE);
  const auto it = exec->clones.find(node);
  US_CUDA_REQUIRE(it != exec->clones.end() && params != nullptr && params->type == it->second->type,
                  CUDA_ERROR_INVALID_VALUE);
  if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return cuGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
  Command command;
  Context* context = nullptr;
  US_CUDA_TRY(CommandOf(*params, &command, &context));
  it->second->command = std::move(command);
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled) {
  US_CUDA_REQUIRE(D().execs.Has(exec), CUDA_ERROR_INVALID_HANDLE);
  const auto it = exec->clones.find(node);
  US_CUDA_REQUIRE(it != exec->clones.end() && it->second->type <= CU_GRAPH_NODE_TYPE_MEMSET,
                  CUDA_ERROR_INVALID_VALUE);
  it->second->enabled = enabled != 0;
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int* enabled) {
  US_CUDA_REQUIRE(D().execs.Has(exec), CUDA_ERROR_INVALID_HANDLE);
  const auto it = exec->clones.find(node);
  US_CUDA_REQUIRE(it != exec->clones.end() && enabled != nullptr, CUDA_ERROR_INVALID_VALUE);
  *enabled = it->second->enabled;
  return CUDA_SUCCESS;
}

// --- capture ---

namespace {

CUresult Begin(Stream* stream, Graph* graph, CUstreamCaptureMode mode) {
  US_CUDA_REQUIRE(mode >= 0 && mode <= CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(!stream->legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  US_CUDA_REQUIRE(stream->capture == nullptr, CUDA_ERROR_ILLEGAL_STATE);
  auto capture = std::make_shared<Capture>();
  capture->owns_graph = graph == nullptr;
  capture->graph = graph == nullptr ? NewGraph(D()) : graph;
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->id = D().NextId();
  capture->streams.insert(stream);
  stream->capture = capture;
  stream->capture_after.clear();
  D().captures.push_back(capture);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  return Begin(stream, nullptr, mode);
}
CUresult cuStreamBeginCapture(CUstream handle) { return cuStreamBeginCapture_v2(handle, 0); }
CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode* before,
                                     const CUgraphEdgeData*, size_t count, CUstreamCaptureMode mode) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(D().graphs.Has(graph) && (before != nullptr || count == 0), CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    const Node* node = FindNode(D(), before[i]);
    US_CUDA_REQUIRE(node != nullptr && node->graph == graph, CUDA_ERROR_INVALID_VALUE);
  }
  US_CUDA_TRY(Begin(stream, graph, mode));
  stream->capture_after.assign(before, before + count);
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* out) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  if (out != nullptr) *out = nullptr;
  US_CUDA_REQUIRE(stream->capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream) {
    capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  // Another thread ends the capture, and gets nothing of it.
  const bool wrong_thread =
      capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id();
  // All work must lead to where the origin stream is.
  std::set<const Node*> reached(stream->capture_after.begin(), stream->capture_after.end());
  std::vector<const Node*> todo(reached.begin(), reached.end());
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    for (const Node* before : Before(node))
      if (reached.insert(before).second) todo.push_back(before);
  }
  bool joined = true;
  for (const Stream* other : capture->streams)
    for (const Node* node : other->capture_after) joined &= reached.count(node) != 0;
  const bool failed = capture->invalidated || !joined || wrong_thread;
  for (Stream* other : capture->streams) {
    other->capture.reset();
    other->capture_after.clear();
  }
  capture->streams.clear();
  Graph* const graph = capture->graph;
  capture->graph = nullptr;
  if (failed) {
    if (capture->owns_graph) D().graphs.Destroy(graph);
    if (wrong_thread) return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    return capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  }
  if (out != nullptr)
    *out = graph;
  else if (capture->owns_graph)
    D().graphs.Destroy(graph);
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(status != nullptr, CUDA_ERROR_INVALID_VALUE);
  if (stream->legacy)
    for (const Stream* other : stream->context->streams)
      if (other->blocking() && other->capture != nullptr) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = stream->capture == nullptr     ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                           : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** after, const CUgraphEdgeData** edges,
                                   size_t* count) {
  US_CUDA_TRY(cuStreamIsCapturing(handle, status));
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  if (edges != nullptr) *edges = nullptr;
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  if (id != nullptr) *id = stream->capture->id;
  if (graph != nullptr) *graph = stream->capture->graph;
  if (after != nullptr) *after = stream->capture_after.data();
  if (count != nullptr) *count = stream->capture_after.size();
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** after, size_t* count) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, graph, after, nullptr, count);
}
CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* nodes, const CUgraphEdgeData*,
                                              size_t count, unsigned int flags) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(stream->capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  US_CUDA_REQUIRE(flags <= 1 && (nodes != nullptr || count == 0), CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    const Node* node = FindNode(D(), nodes[i]);
    US_CUDA_REQUIRE(node != nullptr && node->graph == stream->capture->graph, CUDA_ERROR_INVALID_VALUE);
  }
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->capture_after.clear();
  stream->capture_after.insert(stream->capture_after.end(), nodes, nodes + count);
  return CUDA_SUCCESS;
}
CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes, size_t count,
                                           unsigned int flags) {
  return cuStreamUpdateCaptureDependencies_v2(handle, nodes, nullptr, count, flags);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  US_CUDA_REQUIRE(mode != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::swap(Driver::CaptureMode(), *mode);
  return CUDA_SUCCESS;
}

}  // namespace understudy::mockgpu::nv::calls
