// SPDX-License-Identifier: Apache-2.0
// Graphs: their making, instantiation, updates and memory.
#include "hw_tests/cuda_driver/kernels.h"
#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

std::string N(const std::string& stem, long long n) { return stem + "." + std::to_string(n); }

CUDA_KERNEL_NODE_PARAMS KernelParams(CUfunction f) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = f;
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  return p;
}

void Making() {
  const CUcontext context = Start();
  CUmodule m = LoadKernels();
  const CUfunction f = Kernel(m, "empty"), w = Kernel(m, "write");
  const CUdeviceptr d = Device(4096);
  char host[256];
  CUgraph g = nullptr, other = nullptr, clone = nullptr;
  CUgraphNode a = nullptr, b = nullptr, c = nullptr, x = nullptr;
  CUevent e = nullptr;
  US_NEED(cuEventCreate(&e, 0));
  Case("create.flags1", cuGraphCreate(&g, 1));
  Case("create.null", cuGraphCreate(nullptr, 0));
  US_NEED(cuGraphCreate(&g, 0));
  US_NEED(cuGraphCreate(&other, 0));
  Case("empty", cuGraphAddEmptyNode(&a, g, nullptr, 0));
  Case("empty.nullOut", cuGraphAddEmptyNode(nullptr, g, nullptr, 0));
  Case("empty.nullGraph", cuGraphAddEmptyNode(&x, nullptr, nullptr, 0));
  Case("empty.nullList", cuGraphAddEmptyNode(&x, g, nullptr, 1));
  US_NEED(cuGraphAddEmptyNode(&b, g, &a, 1));
  US_NEED(cuGraphAddEmptyNode(&c, other, nullptr, 0));
  Case("empty.foreign", cuGraphAddEmptyNode(&x, g, &c, 1));
  CUgraphNode twice[] = {a, a};
  Case("empty.twice", cuGraphAddEmptyNode(&x, g, twice, 2));
  CUgraphNode none[] = {nullptr};
  Case("empty.nullDependency", cuGraphAddEmptyNode(&x, g, none, 1));
  CUDA_KERNEL_NODE_PARAMS p = KernelParams(f);
  Case("kernel", cuGraphAddKernelNode_v2(&x, g, nullptr, 0, &p));
  Case("kernel.null", cuGraphAddKernelNode_v2(&x, g, nullptr, 0, nullptr));
  p.func = nullptr;
  Case("kernel.nullFunction", cuGraphAddKernelNode_v2(&x, g, nullptr, 0, &p));
  p = KernelParams(f);
  p.gridDimX = 0;
  Case("kernel.grid0", cuGraphAddKernelNode_v2(&x, g, nullptr, 0, &p));
  p = KernelParams(f);
  p.blockDimX = 1025;
  Case("kernel.block1025", cuGraphAddKernelNode_v2(&x, g, nullptr, 0, &p));
  p = KernelParams(f);
  p.sharedMemBytes = 50000;
  Case("kernel.shared50000", cuGraphAddKernelNode_v2(&x, g, nullptr, 0, &p));
  p = KernelParams(w);
  Case("kernel.noArguments", cuGraphAddKernelNode_v2(&x, g, nullptr, 0, &p));
  CUDA_MEMSET_NODE_PARAMS s{d, 0, 0, 4, 16, 1};
  Case("memset", cuGraphAddMemsetNode(&x, g, nullptr, 0, &s, context));
  const CUgraphNode memset_node = x;
  Case("memset.null", cuGraphAddMemsetNode(&x, g, nullptr, 0, nullptr, context));
  Case("memset.nullContext", cuGraphAddMemsetNode(&x, g, nullptr, 0, &s, nullptr));
  const auto memset = [&](const char* name, CUDA_MEMSET_NODE_PARAMS q) {
    Case(std::string("memset.") + name, cuGraphAddMemsetNode(&x, g, nullptr, 0, &q, context));
  };
  memset("element3", {d, 0, 0, 3, 16, 1});
  memset("element8", {d, 0, 0, 8, 16, 1});
  memset("width0", {d, 0, 0, 4, 0, 1});
  memset("height0", {d, 0, 0, 4, 16, 0});
  memset("odd", {d + 1, 0, 0, 4, 16, 1});
  memset("zero", {0, 0, 0, 4, 16, 1});
  memset("pitchSmall", {d, 16, 0, 4, 16, 2});
  memset("valueWide", {d, 0, 0x12345, 1, 16, 1});
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = d;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = d + 1024;
  copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
  Case("memcpy", cuGraphAddMemcpyNode(&x, g, nullptr, 0, &copy, context));
  Case("memcpy.null", cuGraphAddMemcpyNode(&x, g, nullptr, 0, nullptr, context));
  Case("memcpy.nullContext", cuGraphAddMemcpyNode(&x, g, nullptr, 0, &copy, nullptr));
  copy.WidthInBytes = 0;
  Case("memcpy.width0", cuGraphAddMemcpyNode(&x, g, nullptr, 0, &copy, context));
  copy.WidthInBytes = 64, copy.srcDevice = 0;
  Case("memcpy.zero", cuGraphAddMemcpyNode(&x, g, nullptr, 0, &copy, context));
  CUDA_HOST_NODE_PARAMS h{[](void*) {}, host};
  Case("host", cuGraphAddHostNode(&x, g, nullptr, 0, &h));
  h.fn = nullptr;
  Case("host.null", cuGraphAddHostNode(&x, g, nullptr, 0, &h));
  Case("host.nullParams", cuGraphAddHostNode(&x, g, nullptr, 0, nullptr));
  Case("record", cuGraphAddEventRecordNode(&x, g, nullptr, 0, e));
  Case("record.null", cuGraphAddEventRecordNode(&x, g, nullptr, 0, nullptr));
  Case("wait", cuGraphAddEventWaitNode(&x, g, nullptr, 0, e));
  Case("wait.null", cuGraphAddEventWaitNode(&x, g, nullptr, 0, nullptr));
  Case("child", cuGraphAddChildGraphNode(&x, g, nullptr, 0, other));
  const CUgraphNode child = x;
  Case("child.null", cuGraphAddChildGraphNode(&x, g, nullptr, 0, nullptr));
  CUgraph inner = nullptr;
  Case("child.get", cuGraphChildGraphNodeGetGraph(child, &inner)).V(inner != other);
  Case("child.get.null", cuGraphChildGraphNodeGetGraph(child, nullptr));
  Case("child.get.wrong", cuGraphChildGraphNodeGetGraph(a, &inner));
  CUDA_MEMSET_NODE_PARAMS got{};
  Case("memset.get", cuGraphMemsetNodeGetParams(memset_node, &got))
      .V(static_cast<long long>(got.width))
      .V(static_cast<long long>(got.pitch))
      .V(got.elementSize);
  Case("memset.get.wrong", cuGraphMemsetNodeGetParams(a, &got));
  Case("memset.get.null", cuGraphMemsetNodeGetParams(memset_node, nullptr));
  CUgraphNodeType type = -1;
  Case("type", cuGraphNodeGetType(memset_node, &type)).V(type);
  Case("type.null", cuGraphNodeGetType(nullptr, &type));
  Case("type.nullOut", cuGraphNodeGetType(a, nullptr));
  size_t count = 0;
  Case("nodes", cuGraphGetNodes(g, nullptr, &count)).V(static_cast<long long>(count));
  CUgraphNode list[64];
  count = 3;
  Case("nodes.3", cuGraphGetNodes(g, list, &count)).V(static_cast<long long>(count));
  count = 64;
  for (auto& n : list) n = a;
  Case("nodes.64", cuGraphGetNodes(g, list, &count)).V(static_cast<long long>(count)).V(list[63] == nullptr);
  Case("nodes.nullCount", cuGraphGetNodes(g, list, nullptr));
  Case("roots", cuGraphGetRootNodes(g, nullptr, &count)).V(static_cast<long long>(count));
  Case("edges", cuGraphGetEdges(g, nullptr, nullptr, &count)).V(static_cast<long long>(count));
  count = 5;
  CUgraphNode from[5], to[5];
  Case("edges.nullFrom", cuGraphGetEdges(g, nullptr, to, &count));
  Case("edges.5", cuGraphGetEdges(g, from, to, &count)).V(static_cast<long long>(count));
  Case("dependencies", cuGraphNodeGetDependencies(b, nullptr, &count)).V(static_cast<long long>(count));
  Case("dependents", cuGraphNodeGetDependentNodes(a, nullptr, &count)).V(static_cast<long long>(count));
  Case("addEdge.again", cuGraphAddDependencies(g, &a, &b, 1));
  Case("addEdge.self", cuGraphAddDependencies(g, &a, &a, 1));
  Case("addEdge.foreign", cuGraphAddDependencies(g, &a, &c, 1));
  Case("addEdge.null", cuGraphAddDependencies(g, nullptr, nullptr, 1));
  Case("addEdge.0", cuGraphAddDependencies(g, nullptr, nullptr, 0));
  Case("removeEdge.absent", cuGraphRemoveDependencies(g, &b, &a, 1));
  Case("removeEdge", cuGraphRemoveDependencies(g, &a, &b, 1));
  Case("addEdge", cuGraphAddDependencies(g, &a, &b, 1));
  Case("addEdge.cycle", cuGraphAddDependencies(g, &b, &a, 1));
  CUgraphExec exec = nullptr;
  Case("instantiate.cycle", cuGraphInstantiateWithFlags(&exec, g, 0));
  CUDA_GRAPH_INSTANTIATE_PARAMS ip{};
  const CUresult cyclic = cuGraphInstantiateWithParams(&exec, g, &ip);
  Case("instantiateWithParams.cycle", cyclic).Always().V(ip.result_out);
  Case("removeEdge.cycle", cuGraphRemoveDependencies(g, &b, &a, 1));
  Case("clone", cuGraphClone(&clone, g));
  Case("clone.null", cuGraphClone(nullptr, g));
  Case("clone.find", cuGraphNodeFindInClone(&x, a, clone)).V(x != a);
  Case("clone.find.foreign", cuGraphNodeFindInClone(&x, c, clone));
  Case("clone.find.notClone", cuGraphNodeFindInClone(&x, a, other));
  Case("destroyNode", cuGraphDestroyNode(b));
  Case("destroyNode.null", cuGraphDestroyNode(nullptr));
  Case("destroyGraph.null", cuGraphDestroy(nullptr));
  Case("destroyGraph.child", cuGraphDestroy(inner));
  Case("destroyGraph", cuGraphDestroy(clone));
  Case("dot.null", cuGraphDebugDotPrint(g, nullptr, 0));
  Case("dot.directory", cuGraphDebugDotPrint(g, "/no/such/folder/file", 0));
  CUuserObject object = nullptr;
  const auto nothing = +[](void*) {};
  Case("object.null", cuUserObjectCreate(nullptr, host, nothing, 1, 1));
  Case("object.nullFunction", cuUserObjectCreate(&object, host, nullptr, 1, 1));
  Case("object.count0", cuUserObjectCreate(&object, host, nothing, 0, 1));
  Case("object.flags0", cuUserObjectCreate(&object, host, nothing, 1, 0));
  Case("object.flags2", cuUserObjectCreate(&object, host, nothing, 1, 2));
  US_NEED(cuUserObjectCreate(&object, host, nothing, 2, 1));
  Case("object.retain0", cuUserObjectRetain(object, 0));
  Case("object.retain", cuUserObjectRetain(object, 1));
  Case("object.release0", cuUserObjectRelease(object, 0));
  Case("object.graph", cuGraphRetainUserObject(g, object, 1, 0));
  Case("object.graph.move", cuGraphRetainUserObject(g, object, 1, 1));
  Case("object.graph.flags2", cuGraphRetainUserObject(g, object, 1, 2));
  Case("object.graph.0", cuGraphRetainUserObject(g, object, 0, 0));
  Case("object.graph.release", cuGraphReleaseUserObject(g, object, 1));
  Case("object.release", cuUserObjectRelease(object, 1));
}

void Running() {
  const CUcontext context = Start();
  CUmodule m = LoadKernels();
  const CUfunction f = Kernel(m, "empty"), w = Kernel(m, "write");
  const CUdeviceptr d = Device(4096);
  CUgraph g = nullptr, h = nullptr;
  CUgraphExec exec = nullptr, x = nullptr;
  CUgraphNode a = nullptr, b = nullptr, n = nullptr;
  CUstream s = nullptr;
  US_NEED(cuStreamCreate(&s, 0));
  US_NEED(cuGraphCreate(&g, 0));
  Case("instantiate.empty", cuGraphInstantiateWithFlags(&x, g, 0));
  Case("launch.empty", cuGraphLaunch(x, s));
  Case("execDestroy", cuGraphExecDestroy(x));
  for (int flags = 0; flags <= 16; flags = flags == 0 ? 1 : flags * 2) {
    cuuint64_t got = 99;
    const CUresult r = cuGraphInstantiateWithFlags(&x, g, static_cast<unsigned long long>(flags));
    if (r == CUDA_SUCCESS) cuGraphExecGetFlags(x, &got);
    Case(N("instantiate.flags", flags), r).V(static_cast<long long>(got));
    if (r == CUDA_SUCCESS) cuGraphExecDestroy(x);
  }
  Case("instantiate.null", cuGraphInstantiateWithFlags(nullptr, g, 0));
  Case("instantiate.nullGraph", cuGraphInstantiateWithFlags(&x, nullptr, 0));
  Case("instantiateWithParams.null", cuGraphInstantiateWithParams(&x, g, nullptr));
  CUDA_KERNEL_NODE_PARAMS p = KernelParams(w);
  uint32_t v = 7;
  CUdeviceptr at = d;
  void* arguments[] = {&at, &v};
  p.kernelParams = arguments;
  US_NEED(cuGraphAddKernelNode_v2(&a, g, nullptr, 0, &p));
  CUDA_MEMSET_NODE_PARAMS set{d + 256, 0, 5, 4, 16, 1};
  US_NEED(cuGraphAddMemsetNode(&b, g, &a, 1, &set, context));
  Case("instantiate", cuGraphInstantiateWithFlags(&exec, g, 0));
  Case("launch", cuGraphLaunch(exec, s));
  Case("launch.legacy", cuGraphLaunch(exec, nullptr));
  Case("launch.null", cuGraphLaunch(nullptr, s));
  Case("upload", cuGraphUpload(exec, s));
  Case("upload.null", cuGraphUpload(nullptr, s));
  Case("execFlags.null", cuGraphExecGetFlags(exec, nullptr));
  Case("sync", cuStreamSynchronize(s));
  uint32_t word = 0;
  US_NEED(cuMemcpyDtoH_v2(&word, d, 4));
  Fact("launch.wrote", std::to_string(word));
  CUDA_KERNEL_NODE_PARAMS got{};
  Case("kernel.get", cuGraphKernelNodeGetParams_v2(a, &got))
      .V(got.gridDimX)
      .V(got.func == w)
      .V(got.kern == nullptr)
      .V(got.ctx == context)
      .V(got.kernelParams != nullptr)
      .V(got.extra == nullptr);
  Case("kernel.get.null", cuGraphKernelNodeGetParams_v2(a, nullptr));
  Case("kernel.get.wrong", cuGraphKernelNodeGetParams_v2(b, &got));
  CUlaunchAttributeValue value{};
  for (int id = 0; id <= 17; ++id)
    Case(N("kernel.attribute", id), cuGraphKernelNodeGetAttribute(a, id, &value));
  value = {};
  value.priority = -2;
  Case("kernel.setPriority", cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  value = {};
  Case("kernel.getPriority", cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value))
      .V(value.priority);
  Case("kernel.attribute.wrong", cuGraphKernelNodeGetAttribute(b, 8, &value));
  v = 9;
  Case("exec.kernel", cuGraphExecKernelNodeSetParams_v2(exec, a, &p));
  Case("exec.kernel.null", cuGraphExecKernelNodeSetParams_v2(exec, a, nullptr));
  Case("exec.kernel.wrongNode", cuGraphExecKernelNodeSetParams_v2(exec, b, &p));
  CUDA_KERNEL_NODE_PARAMS bad = p;
  bad.blockDimX = 2000;
  Case("exec.kernel.block2000", cuGraphExecKernelNodeSetParams_v2(exec, a, &bad));
  bad = KernelParams(f);
  Case("exec.kernel.otherFunction", cuGraphExecKernelNodeSetParams_v2(exec, a, &bad));
  set.width = 8;
  Case("exec.memset", cuGraphExecMemsetNodeSetParams(exec, b, &set, context));
  set.elementSize = 1;
  Case("exec.memset.element1", cuGraphExecMemsetNodeSetParams(exec, b, &set, context));
  set.height = 2, set.pitch = 256;
  Case("exec.memset.2d", cuGraphExecMemsetNodeSetParams(exec, b, &set, context));
  unsigned enabled = 9;
  Case("enabled", cuGraphNodeGetEnabled(exec, a, &enabled)).V(enabled);
  Case("disable", cuGraphNodeSetEnabled(exec, a, 0));
  Case("enabled.after", cuGraphNodeGetEnabled(exec, a, &enabled)).V(enabled);
  Case("enable.2", cuGraphNodeSetEnabled(exec, a, 2));
  Case("enabled.null", cuGraphNodeGetEnabled(exec, a, nullptr));
  // Updates.
  const auto update = [&](const char* name, CUgraph from) {
    CUgraphExecUpdateResultInfo info{};
    info.result = 99;
    const CUresult r = cuGraphExecUpdate_v2(exec, from, &info);
    Case(std::string("update.") + name, r)
        .Always()
        .V(info.result)
        .V(info.errorNode != nullptr)
        .V(info.errorFromNode != nullptr);
  };
  US_NEED(cuGraphInstantiateWithFlags(&exec, g, 0));
  update("same", g);
  US_NEED(cuGraphCreate(&h, 0));
  update("empty", h);
  p = KernelParams(w);
  p.kernelParams = arguments;
  US_NEED(cuGraphAddKernelNode_v2(&n, h, nullptr, 0, &p));
  update("fewer", h);
  CUgraphNode m2 = nullptr;
  US_NEED(cuGraphAddMemsetNode(&m2, h, nullptr, 0, &set, context));
  update("edgeMissing", h);
  US_NEED(cuGraphDestroy(h));
  US_NEED(cuGraphCreate(&h, 0));
  US_NEED(cuGraphAddKernelNode_v2(&n, h, nullptr, 0, &p));
  US_NEED(cuGraphAddKernelNode_v2(&m2, h, &n, 1, &p));
  update("typeChanged", h);
  US_NEED(cuGraphDestroy(h));
  US_NEED(cuGraphCreate(&h, 0));
  CUDA_KERNEL_NODE_PARAMS q = KernelParams(f);
  set = {d + 256, 0, 5, 4, 16, 1};
  US_NEED(cuGraphAddKernelNode_v2(&n, h, nullptr, 0, &q));
  US_NEED(cuGraphAddMemsetNode(&m2, h, &n, 1, &set, context));
  update("functionChanged", h);
  CUDA_MEMSET_NODE_PARAMS plane{d + 256, 256, 5, 4, 16, 2};
  US_NEED(cuGraphMemsetNodeSetParams(m2, &plane));
  update("memset2d", h);
  update("null", nullptr);
  // Memory of graphs.
  CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
  alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  alloc.bytesize = 4096;
  CUgraph mg = nullptr;
  US_NEED(cuGraphCreate(&mg, 0));
  Case("memory.alloc", cuGraphAddMemAllocNode(&a, mg, nullptr, 0, &alloc)).V(alloc.dptr != 0);
  CUDA_MEM_ALLOC_NODE_PARAMS zero = alloc;
  zero.bytesize = 0;
  Case("memory.alloc.0", cuGraphAddMemAllocNode(&n, mg, nullptr, 0, &zero));
  Case("memory.alloc.null", cuGraphAddMemAllocNode(&n, mg, nullptr, 0, nullptr));
  CUdeviceptr base = 0;
  size_t bytes = 0;
  Case("memory.range.before", cuMemGetAddressRange_v2(&base, &bytes, alloc.dptr));
  Case("memory.free.0", cuGraphAddMemFreeNode(&n, mg, nullptr, 0, 0));
  Case("memory.free.noDependency", cuGraphAddMemFreeNode(&n, mg, nullptr, 0, alloc.dptr));
  Case("memory.free", cuGraphAddMemFreeNode(&n, mg, &a, 1, alloc.dptr));
  Case("memory.free.again", cuGraphAddMemFreeNode(&n, mg, &a, 1, alloc.dptr));
  Case("memory.clone", cuGraphClone(&h, mg));
  Case("memory.destroyNode", cuGraphDestroyNode(a));
  Case("memory.child", cuGraphAddChildGraphNode(&n, g, nullptr, 0, mg));
  Case("memory.instantiate", cuGraphInstantiateWithFlags(&x, mg, 0));
  Case("memory.instantiate.again", cuGraphInstantiateWithFlags(&exec, mg, 0));
  Case("memory.launch", cuGraphLaunch(x, s));
  Case("memory.launch.again", cuGraphLaunch(x, s));
  Case("memory.sync", cuStreamSynchronize(s));
  CUgraph leak = nullptr;
  US_NEED(cuGraphCreate(&leak, 0));
  US_NEED(cuGraphAddMemAllocNode(&a, leak, nullptr, 0, &alloc));
  US_NEED(cuGraphInstantiateWithFlags(&x, leak, 0));
  Case("leak.launch", cuGraphLaunch(x, s));
  Case("leak.launch.again", cuGraphLaunch(x, s));
  Case("leak.sync", cuStreamSynchronize(s));
  Case("leak.copy", cuMemcpyDtoH_v2(&word, alloc.dptr, 4));
  Case("leak.free", cuMemFreeAsync(alloc.dptr, s));
  Case("leak.launch.freed", cuGraphLaunch(x, s));
  Case("leak.free.plain", cuMemFree_v2(alloc.dptr));
  Case("end", cuCtxSynchronize());
}

}  // namespace

const std::vector<NamedSection>& GraphSections() {
  static const auto* const all = new std::vector<NamedSection>{{"graph", Making}, {"graphRun", Running}};
  return *all;
}

}  // namespace understudy::probe
