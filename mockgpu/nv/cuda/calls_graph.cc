// SPDX-License-Identifier: Apache-2.0
// Graphs: their making, nodes' parameters, edges.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "mockgpu/nv/cuda/graph.h"
#include "mockgpu/nv/cuda/graph_calls.h"
#include "mockgpu/nv/cuda/launch_calls.h"
#include "mockgpu/nv/cuda/memory_calls.h"

namespace understudy::mockgpu::nv {
namespace {

Driver& D() { return Driver::Get(); }

CUresult CheckGraph(CUgraph graph) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  return D().graphs.Has(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult NewNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                 const CUgraphEdgeData* data, Command command, Context* context) {
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(out != nullptr && (before != nullptr || count == 0), CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    const Node* node = FindNode(D(), before[i]);
    US_CUDA_REQUIRE(node != nullptr && node->graph == graph, CUDA_ERROR_INVALID_VALUE);
    US_CUDA_REQUIRE(std::find(before, before + i, before[i]) == before + i, CUDA_ERROR_INVALID_VALUE);
  }
  Node* const node = AddNode(graph, std::move(command), context);
  for (size_t i = 0; i < count; ++i)
    AddEdge(graph, before[i], node, data == nullptr ? CUgraphEdgeData{} : data[i]);
  if (const auto* kernel = std::get_if<KernelCommand>(&node->command)) node->attributes = kernel->attributes;
  *out = node;
  return CUDA_SUCCESS;
}

CUresult KernelOf(const CUDA_KERNEL_NODE_PARAMS& p, const std::map<int, CUlaunchAttributeValue>& attributes,
                  KernelCommand* out) {
  std::vector<CUlaunchAttribute> list;
  for (const auto& [id, value] : attributes) {
    CUlaunchAttribute a{};
    a.id = id;
    a.value = value;
    list.push_back(a);
  }
  return MakeLaunch(D(),
                    {p.func != nullptr ? p.func : reinterpret_cast<CUfunction>(p.kern),
                     {p.gridDimX, p.gridDimY, p.gridDimZ},
                     {p.blockDimX, p.blockDimY, p.blockDimZ},
                     p.sharedMemBytes,
                     p.kernelParams,
                     p.extra,
                     list.data(),
                     static_cast<unsigned>(list.size())},
                    out);
}

CUresult CopyOf(const CUDA_MEMCPY3D* p, CopyCommand* out) {
  US_CUDA_REQUIRE(p != nullptr && p->WidthInBytes != 0 && p->Height != 0 && p->Depth != 0,
                  CUDA_ERROR_INVALID_VALUE);
  out->copy = From3D(*p);
  return CheckCopy(D(), out->copy);
}

CUresult CheckMemsetNode(const CUDA_MEMSET_NODE_PARAMS& set) {
  US_CUDA_REQUIRE(set.width != 0 && set.height != 0, CUDA_ERROR_INVALID_VALUE);
  return CheckMemset(D(), set);
}

CUresult CommandOf(const CUgraphNodeParams& p, Command* out, Context** context) {
  US_CUDA_TRY(D().Current(context));
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      KernelCommand kernel;
      US_CUDA_TRY(KernelOf(p.kernel, {}, &kernel));
      *out = std::move(kernel);
      return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
      CopyCommand copy;
      US_CUDA_TRY(CopyOf(&p.memcpy.copyParams, &copy));
      *out = std::move(copy);
      return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto& m = p.memset;
      const CUDA_MEMSET_NODE_PARAMS set{m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
      US_CUDA_TRY(CheckMemsetNode(set));
      *out = MemsetCommand{set};
      return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_HOST:
      US_CUDA_REQUIRE(p.host.fn != nullptr, CUDA_ERROR_INVALID_VALUE);
      *out = HostCommand{p.host.fn, p.host.userData, nullptr, nullptr};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      US_CUDA_TRY(CheckGraph(p.graph.graph));
      US_CUDA_REQUIRE(!HasMemoryNodes(*p.graph.graph), CUDA_ERROR_NOT_SUPPORTED);
      Graph* const child = D().graphs.Make();
      std::unique_ptr<Graph> clone = CloneGraph(*p.graph.graph);
      std::swap(child->nodes, clone->nodes);
      std::swap(child->edges, clone->edges);
      for (const auto& n : child->nodes) n->graph = child;
      child->cloned_from = p.graph.graph;
      *out = ChildCommand{child};
      return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_EMPTY:
      *out = EmptyCommand{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      US_CUDA_REQUIRE(D().events.Has(p.eventWait.event), CUDA_ERROR_INVALID_HANDLE);
      *out = WaitCommand{p.eventWait.event, nullptr};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      US_CUDA_REQUIRE(D().events.Has(p.eventRecord.event), CUDA_ERROR_INVALID_HANDLE);
      *out = RecordCommand{p.eventRecord.event, nullptr};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      AllocCommand alloc{p.alloc};
      US_CUDA_REQUIRE(alloc.params.bytesize != 0, CUDA_ERROR_INVALID_VALUE);
      alloc.params.accessDescs = nullptr;
      alloc.params.accessDescCount = 0;
      alloc.params.dptr = D().ReserveAddresses(alloc.params.bytesize, 512);
      US_CUDA_REQUIRE(alloc.params.dptr != 0, CUDA_ERROR_OUT_OF_MEMORY);
      *out = alloc;
      return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      US_CUDA_REQUIRE(p.free.dptr != 0, CUDA_ERROR_INVALID_VALUE);
      *out = FreeCommand{p.free.dptr};
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

namespace calls {
namespace {

CUDA_KERNEL_NODE_PARAMS Widen(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  CUDA_KERNEL_NODE_PARAMS out{};
  std::memcpy(&out, &p, sizeof p);
  return out;
}

// Null is the current context.
CUresult NodeContext(CUcontext* context) {
  if (*context == nullptr) return D().Current(context);
  return D().contexts.Has(*context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

// A node of one kind, and its command.
template <class T>
CUresult NodeOf(CUgraphNode handle, Node** node, T** command) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  *node = FindNode(D(), handle);
  US_CUDA_REQUIRE(*node != nullptr, CUDA_ERROR_INVALID_VALUE);
  *command = std::get_if<T>(&(*node)->command);
  return *command == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// *out = read(command) of a node whose command is a T.
template <class T, class Out, class Read>
CUresult ReadNode(CUgraphNode handle, Out* out, Read read) {
  Node* node = nullptr;
  T* command = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &command));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = read(*command);
  return CUDA_SUCCESS;
}
template <class T>
CUresult SetEvent(CUgraphNode handle, CUevent event) {
  Node* node = nullptr;
  T* command = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &command));
  US_CUDA_REQUIRE(D().events.Has(event), CUDA_ERROR_INVALID_HANDLE);
  command->event = event;
  return CUDA_SUCCESS;
}

template <class T>
CUresult List(const std::vector<T>& all, T* out, size_t* count) {
  US_CUDA_REQUIRE(count != nullptr, CUDA_ERROR_INVALID_VALUE);
  if (out != nullptr) {
    // What is left of a longer list is null.
    for (size_t i = 0; i < *count; ++i) out[i] = i < all.size() ? all[i] : T{};
    *count = std::min(*count, all.size());
  } else {
    *count = all.size();
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphCreate(CUgraph* out, unsigned int flags) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  *out = NewGraph(D());
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  US_CUDA_TRY(CheckGraph(graph));
  for (const std::weak_ptr<Capture>& weak : D().captures)
    if (const auto capture = weak.lock()) US_CUDA_REQUIRE(capture->graph != graph, CUDA_ERROR_ILLEGAL_STATE);
  US_CUDA_REQUIRE(!graph->child, CUDA_ERROR_INVALID_VALUE);
  D().graphs.Destroy(graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphClone(CUgraph* out, CUgraph graph) {
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(!HasMemoryNodes(*graph), CUDA_ERROR_NOT_SUPPORTED);
  std::unique_ptr<Graph> clone = CloneGraph(*graph);
  Graph* const made = NewGraph(D());
  std::swap(made->nodes, clone->nodes);
  std::swap(made->edges, clone->edges);
  std::swap(made->user_objects, clone->user_objects);
  for (const auto& n : made->nodes) n->graph = made;
  made->cloned_from = graph;
  *out = made;
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  US_CUDA_TRY(CheckGraph(clone));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const auto& n : clone->nodes)
    if (n->cloned_from == original) {
      *out = n.get();
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* before,
                           const CUgraphEdgeData* data, size_t count, CUgraphNodeParams* params) {
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  Command command;
  Context* context = nullptr;
  US_CUDA_TRY(CommandOf(*params, &command, &context));
  if (const auto* alloc = std::get_if<AllocCommand>(&command)) params->alloc.dptr = alloc->params.dptr;
  return NewNode(out, graph, before, count, data, std::move(command), context);
}
CUresult cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                        CUgraphNodeParams* params) {
  return cuGraphAddNode_v2(out, graph, before, nullptr, count, params);
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* params) {
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_KERNEL;
  p.kernel = *params;
  return cuGraphAddNode(out, graph, before, count, &p);
}
CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const CUDA_KERNEL_NODE_PARAMS wide = Widen(*params);
  return cuGraphAddKernelNode_v2(out, graph, before, count, &wide);
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_MEMCPY3D* params, CUcontext context) {
  US_CUDA_TRY(NodeContext(&context));
  CopyCommand copy;
  US_CUDA_TRY(CopyOf(params, &copy));
  return NewNode(out, graph, before, count, nullptr, std::move(copy), context);
}
CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context) {
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(NodeContext(&context));
  US_CUDA_TRY(CheckMemsetNode(*params));
  return NewNode(out, graph, before, count, nullptr, MemsetCommand{*params}, context);
}
CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                            const CUDA_HOST_NODE_PARAMS* params) {
  US_CUDA_REQUIRE(params != nullptr && params->fn != nullptr, CUDA_ERROR_INVALID_VALUE);
  return NewNode(out, graph, before, count, nullptr,
                 HostCommand{params->fn, params->userData, nullptr, nullptr}, nullptr);
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                                  CUgraph child) {
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_GRAPH;
  p.graph.graph = child;
  return cuGraphAddNode(out, graph, before, count, &p);
}
CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count) {
  return NewNode(out, graph, before, count, nullptr, EmptyCommand{}, nullptr);
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                                   CUevent event) {
  US_CUDA_REQUIRE(event != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(D().events.Has(event), CUDA_ERROR_INVALID_HANDLE);
  return NewNode(out, graph, before, count, nullptr, RecordCommand{event, nullptr}, event->context);
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                                 CUevent event) {
  US_CUDA_REQUIRE(event != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(D().events.Has(event), CUDA_ERROR_INVALID_HANDLE);
  return NewNode(out, graph, before, count, nullptr, WaitCommand{event, nullptr}, event->context);
}
CUresult cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  p.alloc = *params;
  US_CUDA_TRY(cuGraphAddNode(out, graph, before, count, &p));
  params->dptr = p.alloc.dptr;
  return CUDA_SUCCESS;
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                               CUdeviceptr address) {
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(address != 0, CUDA_ERROR_INVALID_VALUE);
  for (const auto& n : graph->nodes)
    if (const auto* other = std::get_if<FreeCommand>(&n->command))
      US_CUDA_REQUIRE(other->address != address, CUDA_ERROR_INVALID_VALUE);
  return NewNode(out, graph, before, count, nullptr, FreeCommand{address}, nullptr);
}
CUresult cuGraphDestroyNode(CUgraphNode handle) {
  Node* const node = FindNode(D(), handle);
  US_CUDA_REQUIRE(node != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && node->type != CU_GRAPH_NODE_TYPE_MEM_FREE,
                  CUDA_ERROR_NOT_SUPPORTED);
  RemoveNode(node);
  return CUDA_SUCCESS;
}

// --- parameters ---

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* out) {
  Node* node = nullptr;
  KernelCommand* kernel = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &kernel));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  const emu::ptx::LaunchConfig& c = kernel->config;
  node->param_pointers.clear();
  for (const uint32_t offset : kernel->function->module->program->param_offsets(*kernel->function->bound))
    node->param_pointers.push_back(kernel->config.params.data() + offset);
  *out = {kernel->function,
          c.grid.x,
          c.grid.y,
          c.grid.z,
          c.block.x,
          c.block.y,
          c.block.z,
          c.dynamic_shared_bytes,
          node->param_pointers.data(),
          nullptr,
          nullptr,
          node->context};
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1* out) {
  CUDA_KERNEL_NODE_PARAMS wide{};
  US_CUDA_TRY(cuGraphKernelNodeGetParams_v2(handle, &wide));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::memcpy(out, &wide, sizeof *out);
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS* params) {
  Node* node = nullptr;
  KernelCommand* kernel = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &kernel));
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  KernelCommand made;
  US_CUDA_TRY(KernelOf(*params, node->attributes, &made));
  *kernel = std::move(made);
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const CUDA_KERNEL_NODE_PARAMS wide = Widen(*params);
  return cuGraphKernelNodeSetParams_v2(handle, &wide);
}
namespace {

// The launch attributes that a kernel node has.
bool IsNodeAttribute(int id) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return true;
    default:
      return false;
  }
}

}  // namespace

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue* value) {
  Node* node = nullptr;
  KernelCommand* kernel = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &kernel));
  US_CUDA_REQUIRE(value != nullptr && IsNodeAttribute(id), CUDA_ERROR_INVALID_VALUE);
  const auto it = node->attributes.find(id);
  *value = it == node->attributes.end() ? CUkernelNodeAttrValue{} : it->second;
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue* value) {
  Node* node = nullptr;
  KernelCommand* kernel = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &kernel));
  US_CUDA_REQUIRE(value != nullptr && IsNodeAttribute(id), CUDA_ERROR_INVALID_VALUE);
  std::map<int, CUlaunchAttributeValue> attributes = node->attributes;
  attributes[id] = *value;
  CUDA_KERNEL_NODE_PARAMS params{};
  US_CUDA_TRY(cuGraphKernelNodeGetParams_v2(handle, &params));
  KernelCommand made;
  US_CUDA_TRY(KernelOf(params, attributes, &made));
  *kernel = std::move(made);
  node->attributes = std::move(attributes);
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  Node *a = nullptr, *b = nullptr;
  KernelCommand *ka = nullptr, *kb = nullptr;
  US_CUDA_TRY(NodeOf(to, &a, &ka));
  US_CUDA_TRY(NodeOf(from, &b, &kb));
  const auto attributes = b->attributes;
  for (const auto& [id, value] : attributes) US_CUDA_TRY(cuGraphKernelNodeSetAttribute(to, id, &value));
  return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* out) {
  return ReadNode<CopyCommand>(handle, out, [](const CopyCommand& c) { return To3D(c.copy); });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D* params) {
  Node* node = nullptr;
  CopyCommand* copy = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &copy));
  CopyCommand made;
  US_CUDA_TRY(CopyOf(params, &made));
  *copy = std::move(made);
  return CUDA_SUCCESS;
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* out) {
  return ReadNode<MemsetCommand>(handle, out, [](const MemsetCommand& c) { return c.set; });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS* params) {
  Node* node = nullptr;
  MemsetCommand* set = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &set));
  US_CUDA_REQUIRE(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(CheckMemsetNode(*params));
  set->set = *params;
  return CUDA_SUCCESS;
}
CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* out) {
  return ReadNode<HostCommand>(
      handle, out, [](const HostCommand& c) { return CUDA_HOST_NODE_PARAMS{c.function, c.data}; });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS* params) {
  Node* node = nullptr;
  HostCommand* host = nullptr;
  US_CUDA_TRY(NodeOf(handle, &node, &host));
  US_CUDA_REQUIRE(params != nullptr && params->fn != nullptr, CUDA_ERROR_INVALID_VALUE);
  *host = HostCommand{params->fn, params->userData, nullptr, nullptr};
  return CUDA_SUCCESS;
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* out) {
  return ReadNode<ChildCommand>(handle, out, [](const ChildCommand& c) { return c.graph; });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent* out) {
  return ReadNode<RecordCommand>(handle, out, [](const RecordCommand& c) { return c.event; });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event) {
  return SetEvent<RecordCommand>(handle, event);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent* out) {
  return ReadNode<WaitCommand>(handle, out, [](const WaitCommand& c) { return c.event; });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event) {
  return SetEvent<WaitCommand>(handle, event);
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  return ReadNode<AllocCommand>(handle, out, [](const AllocCommand& c) { return c.params; });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* out) {
  return ReadNode<FreeCommand>(handle, out, [](const FreeCommand& c) { return c.address; });
}
CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams* params) {
  Node* const node = FindNode(D(), handle);
  US_CUDA_REQUIRE(node != nullptr && params != nullptr && params->type == node->type,
                  CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(node->type != CU_GRAPH_NODE_TYPE_GRAPH && node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
                      node->type != CU_GRAPH_NODE_TYPE_MEM_FREE,
                  CUDA_ERROR_NOT_SUPPORTED);
  Command command;
  Context* context = nullptr;
  US_CUDA_TRY(CommandOf(*params, &command, &context));
  node->command = std::move(command);
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  const Node* node = FindNode(D(), handle);
  US_CUDA_REQUIRE(node != nullptr && type != nullptr, CUDA_ERROR_INVALID_VALUE);
  *type = node->type;
  return CUDA_SUCCESS;
}

// --- edges ---

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  US_CUDA_TRY(CheckGraph(graph));
  std::vector<Node*> all;
  for (const auto& n : graph->nodes) all.push_back(n.get());
  return List(all, out, count);
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  US_CUDA_TRY(CheckGraph(graph));
  std::vector<Node*> all;
  for (const auto& n : graph->nodes)
    if (Before(n.get()).empty()) all.push_back(n.get());
  return List(all, out, count);
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                            size_t* count) {
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(count != nullptr && (from == nullptr) == (to == nullptr), CUDA_ERROR_INVALID_VALUE);
  size_t n = graph->edges.size();
  if (from != nullptr) {
    n = std::min(n, *count);
    for (size_t i = 0; i < n; ++i) {
      from[i] = graph->edges[i].from, to[i] = graph->edges[i].to;
      if (data != nullptr) data[i] = graph->edges[i].data;
    }
  }
  *count = n;
  return CUDA_SUCCESS;
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

namespace {

CUresult Neighbours(CUgraphNode handle, bool after, CUgraphNode* out, CUgraphEdgeData* data, size_t* count) {
  const Node* node = FindNode(D(), handle);
  US_CUDA_REQUIRE(node != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::vector<Node*> all;
  std::vector<CUgraphEdgeData> datas;
  for (const GraphEdge& e : node->graph->edges) {
    if ((after ? e.from : e.to) != node) continue;
    all.push_back(after ? e.to : e.from);
    datas.push_back(e.data);
  }
  if (data != nullptr && count != nullptr && out != nullptr)
    std::copy_n(datas.begin(), std::min(*count, datas.size()), data);
  return List(all, out, count);
}

}  // namespace

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* out, size_t* count) {
  return Neighbours(node, false, out, nullptr, count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data,
                                       size_t* count) {
  return Neighbours(node, false, out, data, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* out, size_t* count) {
  return Neighbours(node, true, out, nullptr, count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data,
                                         size_t* count) {
  return Neighbours(node, true, out, data, count);
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(count == 0 || (from != nullptr && to != nullptr), CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    US_CUDA_REQUIRE(FindNode(D(), from[i]) != nullptr && FindNode(D(), to[i]) != nullptr,
                    CUDA_ERROR_INVALID_VALUE);
    US_CUDA_REQUIRE(AddEdge(graph, from[i], to[i], data == nullptr ? CUgraphEdgeData{} : data[i]),
                    CUDA_ERROR_INVALID_VALUE);
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(count == 0 || (from != nullptr && to != nullptr), CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i)
    US_CUDA_REQUIRE(RemoveEdge(graph, from[i], to[i]), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

// --- objects that graphs keep alive ---

CUresult cuUserObjectCreate(CUuserObject* out, void* data, CUhostFn destroy, unsigned int count,
                            unsigned int flags) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr && destroy != nullptr && count > 0 && flags == 1, CUDA_ERROR_INVALID_VALUE);
  *out = D().user_objects.Make();
  (*out)->destroy = destroy;
  (*out)->data = data;
  (*out)->references = count;
  return CUDA_SUCCESS;
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  US_CUDA_REQUIRE(D().user_objects.Has(object) && count > 0, CUDA_ERROR_INVALID_VALUE);
  object->references += count;
  return CUDA_SUCCESS;
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  US_CUDA_REQUIRE(D().user_objects.Has(object) && count > 0 && count <= object->references,
                  CUDA_ERROR_INVALID_VALUE);
  ReleaseUserObject(D(), object, count);
  return CUDA_SUCCESS;
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(D().user_objects.Has(object) && count > 0 && flags <= CU_GRAPH_USER_OBJECT_MOVE,
                  CUDA_ERROR_INVALID_VALUE);
  if (flags != CU_GRAPH_USER_OBJECT_MOVE) object->references += count;
  graph->user_objects[object] += count;
  return CUDA_SUCCESS;
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  US_CUDA_TRY(CheckGraph(graph));
  const auto it = graph->user_objects.find(object);
  US_CUDA_REQUIRE(it != graph->user_objects.end() && it->second >= count, CUDA_ERROR_INVALID_VALUE);
  it->second -= count;
  if (it->second == 0) graph->user_objects.erase(it);
  ReleaseUserObject(D(), object, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int) {
  static constexpr const char* kNames[] = {"KERNEL",    "MEMCPY",     "MEMSET",       "HOST", "GRAPH",
                                           "EMPTY",     "EVENT_WAIT", "EVENT_RECORD", "",     "",
                                           "MEM_ALLOC", "MEM_FREE",   "BATCH_MEM_OP"};
  US_CUDA_TRY(CheckGraph(graph));
  US_CUDA_REQUIRE(path != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::FILE* const file = std::fopen(path, "w");
  US_CUDA_REQUIRE(file != nullptr, CUDA_ERROR_OPERATING_SYSTEM);
  std::fprintf(file, "digraph graph_%llu {\n", static_cast<unsigned long long>(graph->id));
  for (const auto& n : graph->nodes)
    std::fprintf(file, "  n%llu [label=\"%s\"];\n", static_cast<unsigned long long>(n->id), kNames[n->type]);
  for (const GraphEdge& e : graph->edges)
    std::fprintf(file, "  n%llu -> n%llu;\n", static_cast<unsigned long long>(e.from->id),
                 static_cast<unsigned long long>(e.to->id));
  std::fputs("}\n", file);
  std::fclose(file);
  return CUDA_SUCCESS;
}

}  // namespace calls
}  // namespace understudy::mockgpu::nv
