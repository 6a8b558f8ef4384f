// SPDX-License-Identifier: Apache-2.0
// Initialisation, devices, error texts, entry points by name, contexts, limits, primary contexts, peers.
#include <thread>

#include "hw_tests/cuda_driver/kernels.h"
#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

std::string N(const char* stem, long long n) { return stem + std::string(".") + std::to_string(n); }

// The calls of most families with harmless arguments, to see what a state of the library answers first.
void CallAll(const std::string& prefix) {
  const auto at = [&](const char* name) { return prefix + name; };
  int n = 0;
  size_t bytes = 0;
  unsigned flags = 0;
  unsigned long long id = 0;
  char text[64];
  CUdevprop prop;
  CUcontext context = nullptr;
  CUdevice device = 0;
  CUdeviceptr p = 0;
  void* host = nullptr;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  CUmemoryPool pool = nullptr;
  Case(at("cuDriverGetVersion"), cuDriverGetVersion(&n));
  Case(at("cuDeviceGetCount"), cuDeviceGetCount(&n)).V(n);
  Case(at("cuDeviceGet"), cuDeviceGet(&device, 0));
  Case(at("cuDeviceGetName"), cuDeviceGetName(text, 64, 0));
  Case(at("cuDeviceTotalMem"), cuDeviceTotalMem_v2(&bytes, 0));
  Case(at("cuDeviceGetAttribute"), cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  Case(at("cuDeviceGetProperties"), cuDeviceGetProperties(&prop, 0));
  Case(at("cuDeviceGetDefaultMemPool"), cuDeviceGetDefaultMemPool(&pool, 0));
  Case(at("cuCtxGetCurrent"), cuCtxGetCurrent(&context)).V(context != nullptr);
  Case(at("cuCtxGetDevice"), cuCtxGetDevice(&device));
  Case(at("cuCtxGetFlags"), cuCtxGetFlags(&flags));
  Case(at("cuCtxGetId.null"), cuCtxGetId(nullptr, &id));
  Case(at("cuCtxGetApiVersion.null"), cuCtxGetApiVersion(nullptr, &flags));
  Case(at("cuCtxGetLimit"), cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
  Case(at("cuCtxSetLimit"), cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  Case(at("cuCtxGetCacheConfig"), cuCtxGetCacheConfig(&n));
  Case(at("cuCtxGetStreamPriorityRange"), cuCtxGetStreamPriorityRange(&n, &n));
  Case(at("cuCtxResetPersistingL2Cache"), cuCtxResetPersistingL2Cache());
  Case(at("cuCtxSynchronize"), cuCtxSynchronize());
  Case(at("cuMemGetInfo"), cuMemGetInfo_v2(&bytes, &bytes));
  Case(at("cuMemAlloc"), cuMemAlloc_v2(&p, 256));
  Case(at("cuMemFree.0"), cuMemFree_v2(0));
  Case(at("cuMemAllocAsync"), cuMemAllocAsync(&p, 256, nullptr));
  Case(at("cuMemHostAlloc"), cuMemHostAlloc(&host, 256, 0));
  Case(at("cuMemFreeHost.null"), cuMemFreeHost(nullptr));
  Case(at("cuMemAllocManaged"), cuMemAllocManaged(&p, 256, CU_MEM_ATTACH_GLOBAL));
  Case(at("cuMemsetD8.size0"), cuMemsetD8_v2(0, 0, 0));
  Case(at("cuMemcpyHtoD.size0"), cuMemcpyHtoD_v2(0, text, 0));
  Case(at("cuPointerGetAttribute.host"),
       cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(text)));
  Case(at("cuMemGetAddressRange.host"),
       cuMemGetAddressRange_v2(&p, &bytes, reinterpret_cast<CUdeviceptr>(text)));
  Case(at("cuModuleLoadData"), cuModuleLoadData(&module, kKernels));
  Case(at("cuModuleGetLoadingMode"), cuModuleGetLoadingMode(&n)).V(n);
  Case(at("cuLibraryLoadData"),
       cuLibraryLoadData(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  Case(at("cuStreamCreate"), cuStreamCreate(&stream, 0));
  Case(at("cuStreamSynchronize.0"), cuStreamSynchronize(nullptr));
  Case(at("cuStreamQuery.0"), cuStreamQuery(nullptr));
  Case(at("cuStreamGetFlags.0"), cuStreamGetFlags(nullptr, &flags));
  Case(at("cuEventCreate"), cuEventCreate(&event, 0));
  Case(at("cuGraphCreate"), cuGraphCreate(&graph, 0));
  Case(at("cuCtxPopCurrent"), cuCtxPopCurrent_v2(&context));
}

void BeforeInit() {
  int n = 0;
  void* f = nullptr;
  const char* text = nullptr;
  CUcontext context = nullptr;
  CUdevice device = 0;
  CUdriverProcAddressQueryResult status = -1;
  Case("cuGetErrorName", cuGetErrorName(CUDA_SUCCESS, &text));
  Case("cuGetErrorString", cuGetErrorString(CUDA_SUCCESS, &text));
  Case("cuGetProcAddress", cuGetProcAddress_v2("cuMemAlloc", &f, 13000, 0, &status))
      .V(status)
      .V(f != nullptr);
  CallAll("");
  Case("cuCtxCreate", cuCtxCreate_v2(&context, 0, 0));
  Case("cuCtxCreate.null", cuCtxCreate_v2(nullptr, 0, 0));
  Case("cuCtxDestroy.null", cuCtxDestroy_v2(nullptr));
  Case("cuCtxPushCurrent.null", cuCtxPushCurrent_v2(nullptr));
  Case("cuCtxSetCurrent.null", cuCtxSetCurrent(nullptr));
  Case("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
  Case("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2(0));
  Case("cuDeviceGetByPCIBusId", cuDeviceGetByPCIBusId(&device, "0000:00:00.0"));
  Case("cuLaunchKernel.null", cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  Case("cuEventDestroy.null", cuEventDestroy_v2(nullptr));
  Case("cuStreamDestroy.null", cuStreamDestroy_v2(nullptr));
  Case("cuModuleUnload.null", cuModuleUnload(nullptr));
  Case("cuGraphDestroy.null", cuGraphDestroy(nullptr));
  Case("cuDriverGetVersion.null", cuDriverGetVersion(nullptr));
  Case("cuInit.flags1", cuInit(1));
  Case("cuInit.flags2", cuInit(2));
  Case("cuDeviceGetCount.afterFailedInit", cuDeviceGetCount(&n));
  Case("cuInit", cuInit(0));
  Case("cuInit.again", cuInit(0));
  Case("cuInit.again.flags1", cuInit(1));
}

void NoContext() {
  US_NEED(cuInit(0));
  CallAll("");
  CUcontext context = nullptr;
  Case("cuCtxDestroy.null", cuCtxDestroy_v2(nullptr));
  Case("cuCtxPushCurrent.null", cuCtxPushCurrent_v2(nullptr));
  Case("cuCtxSetCurrent.null", cuCtxSetCurrent(nullptr));
  Case("cuCtxPopCurrent.null", cuCtxPopCurrent_v2(nullptr));
  Case("cuCtxGetCurrent.null", cuCtxGetCurrent(nullptr));
  Case("cuCtxGetDevice.null", cuCtxGetDevice(nullptr));
  Case("cuLaunchKernel.null", cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  Case("cuEventDestroy.null", cuEventDestroy_v2(nullptr));
  Case("cuEventRecord.null", cuEventRecord(nullptr, nullptr));
  Case("cuStreamDestroy.null", cuStreamDestroy_v2(nullptr));
  Case("cuModuleUnload.null", cuModuleUnload(nullptr));
  Case("cuGraphDestroy.null", cuGraphDestroy(nullptr));
  Case("cuCtxAttach", cuCtxAttach(&context, 0));
  Case("cuCtxDetach.null", cuCtxDetach(nullptr));
}

// After the current context was destroyed, by another thread so that it stays current here.
void DestroyedContext() {
  const CUcontext context = Start();
  std::thread([&] { Case("destroyElsewhere", cuCtxDestroy_v2(context)); }).join();
  CallAll("");
}

void ErrorTexts() {
  for (int i = -1; i <= 1000; ++i) {
    const char *name = "untouched", *text = "untouched";
    const CUresult a = cuGetErrorName(static_cast<CUresult>(i), &name);
    const CUresult b = cuGetErrorString(static_cast<CUresult>(i), &text);
    if (a == CUDA_ERROR_INVALID_VALUE && b == CUDA_ERROR_INVALID_VALUE && name == nullptr && text == nullptr)
      continue;
    Fact(std::to_string(i), ResultText(a) + ", " + ResultText(b) + ", " + (name == nullptr ? "null" : name) +
                                ", \"" + (text == nullptr ? "null" : text) + "\"");
  }
}

void Attributes() {
  US_NEED(cuInit(0));
  int n = 0;
  for (int a = -1; a <= 170; ++a) {
    n = -12345;
    Case(N("attribute", a), cuDeviceGetAttribute(&n, static_cast<CUdevice_attribute>(a), 0)).V(n);
  }
  Case("attribute.null", cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  Case("attribute.device9", cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 9));
  Case("attribute.device-1", cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1));
  Case("attribute.device-2", cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -2));
  CUdevprop p{};
  Case("properties", cuDeviceGetProperties(&p, 0))
      .V(p.maxThreadsPerBlock)
      .V(p.maxThreadsDim[0])
      .V(p.maxThreadsDim[1])
      .V(p.maxThreadsDim[2])
      .V(p.maxGridSize[0])
      .V(p.maxGridSize[1])
      .V(p.maxGridSize[2])
      .V(p.sharedMemPerBlock)
      .V(p.totalConstantMemory)
      .V(p.SIMDWidth)
      .V(p.memPitch)
      .V(p.regsPerBlock)
      .V(p.clockRate)
      .V(p.textureAlign);
  Case("properties.null", cuDeviceGetProperties(nullptr, 0));
  Case("properties.device9", cuDeviceGetProperties(&p, 9));
  int major = 0, minor = 0;
  Case("capability", cuDeviceComputeCapability(&major, &minor, 0)).V(major).V(minor);
  Case("capability.null", cuDeviceComputeCapability(nullptr, nullptr, 0));
  CUdevice device = -7;
  Case("get.0", cuDeviceGet(&device, 0)).V(device);
  Case("get.1", cuDeviceGet(&device, 1));
  Case("get.-1", cuDeviceGet(&device, -1));
  Case("get.null", cuDeviceGet(nullptr, 0));
  Case("get.null.bad", cuDeviceGet(nullptr, 7));
  Case("count", cuDeviceGetCount(&n)).V(n);
  Case("count.null", cuDeviceGetCount(nullptr));
  char name[64] = "untouched";
  Case("name", cuDeviceGetName(name, 64, 0)).V(name);
  for (const int length : {1, 2, 7, 11, 12}) {
    std::strcpy(name, "untouched-and-long");
    Case(N("name", length), cuDeviceGetName(name, length, 0)).Always().V(std::string("'") + name + "'");
  }
  Case("name.null", cuDeviceGetName(nullptr, 64, 0));
  Case("name.device9", cuDeviceGetName(name, 64, 9));
  size_t bytes = 0;
  Case("totalMem", cuDeviceTotalMem_v2(&bytes, 0)).V(static_cast<long long>(bytes));
  Case("totalMem.null", cuDeviceTotalMem_v2(nullptr, 0));
  Case("totalMem.device9", cuDeviceTotalMem_v2(&bytes, 9));
  CUuuid uuid{};
  Case("uuid", cuDeviceGetUuid_v2(&uuid, 0));
  Case("uuid.null", cuDeviceGetUuid_v2(nullptr, 0));
  char pci[64] = "";
  Case("pci", cuDeviceGetPCIBusId(pci, 64, 0)).V(static_cast<long long>(std::strlen(pci)));
  for (const int length : {0, 1, 8, 12, 13, 14}) {
    std::memset(pci, 0, sizeof pci);
    Case(N("pci", length), cuDeviceGetPCIBusId(pci, length, 0)).V(static_cast<long long>(std::strlen(pci)));
  }
  Case("pci.null", cuDeviceGetPCIBusId(nullptr, 64, 0));
  cuDeviceGetPCIBusId(pci, 64, 0);
  std::string id = pci;
  Fact("pci.form",
       id.size() >= 12 && id[id.size() - 2] == '.' && id[id.size() - 5] == ':' && id[id.size() - 8] == ':'
           ? "domain:bus:device.function"
           : id);
  Case("byPci", cuDeviceGetByPCIBusId(&device, id.c_str())).V(device);
  Case("byPci.noFunction", cuDeviceGetByPCIBusId(&device, id.substr(0, id.size() - 2).c_str())).V(device);
  Case("byPci.null", cuDeviceGetByPCIBusId(&device, nullptr));
  Case("byPci.nullOut", cuDeviceGetByPCIBusId(nullptr, id.c_str()));
  Case("byPci.empty", cuDeviceGetByPCIBusId(&device, ""));
  Case("byPci.words", cuDeviceGetByPCIBusId(&device, "no such place"));
  Case("byPci.absent", cuDeviceGetByPCIBusId(&device, "00ff:fe:1d.0"));
  Case("canAccessPeer.self", cuDeviceCanAccessPeer(&n, 0, 0)).V(n);
  Case("canAccessPeer.null", cuDeviceCanAccessPeer(nullptr, 0, 0));
  Case("canAccessPeer.device9", cuDeviceCanAccessPeer(&n, 0, 9));
  for (int a = 0; a <= 6; ++a) Case(N("p2p.self", a), cuDeviceGetP2PAttribute(&n, a, 0, 0)).V(n);
  Case("p2p.device9", cuDeviceGetP2PAttribute(&n, 1, 0, 9));
  Case("p2p.null", cuDeviceGetP2PAttribute(nullptr, 1, 0, 0));
}

void ProcAddress() {
  US_NEED(cuInit(0));
  for (const char* name :
       {"cuMemAlloc",         "cuMemAlloc_v2",       "cuStreamBeginCapture", "cuMemcpyHtoD",
        "cuCtxCreate",        "cuGraphInstantiate",  "cuLaunchKernel",       "cuLaunchKernelEx",
        "cuGetProcAddress",   "cuStreamSynchronize", "cuDeviceGet",          "cuEventElapsedTime",
        "cuMemPrefetchAsync", "cuGraphExecUpdate",   "cuNoSuchCall",         "",
        "cudaMalloc",         "cuLaunchKernel_ptsz", "cuCtxSynchronize",     "cuStreamGetCaptureInfo",
        "cuDeviceGetUuid"})
    for (const int version :
         {0, 1000, 2000, 3020, 4000, 7000, 9000, 10000, 11000, 11030, 12000, 12030, 13000, 99000})
      for (const cuuint64_t flags : {0, 2}) {
        if (flags != 0 && version != 13000) continue;
        void* f = &f;
        CUdriverProcAddressQueryResult status = -1;
        const CUresult r = cuGetProcAddress_v2(name, &f, version, flags, &status);
        Case(std::string(name) + "." + std::to_string(version) + (flags == 0 ? "" : ".perThread"), r)
            .Always()
            .V(status)
            .V(f == nullptr ? "null"
               : f == &f    ? "untouched"
                            : "found");
      }
  void* f = nullptr;
  CUdriverProcAddressQueryResult status = -1;
  for (int flags = 0; flags <= 8; ++flags)
    Case(N("flags", flags),
         cuGetProcAddress_v2("cuMemAlloc", &f, 13000, static_cast<cuuint64_t>(flags), &status))
        .V(status);
  Case("null.name", cuGetProcAddress_v2(nullptr, &f, 13000, 0, &status));
  Case("null.out", cuGetProcAddress_v2("cuMemAlloc", nullptr, 13000, 0, &status));
  Case("null.status", cuGetProcAddress_v2("cuMemAlloc", &f, 13000, 0, nullptr));
  Case("null.status.unknown", cuGetProcAddress_v2("cuNoSuchCall", &f, 13000, 0, nullptr))
      .Always()
      .V(f != nullptr);
  Case("null.status.old", cuGetProcAddress_v2("cuLaunchKernelEx", &f, 3000, 0, nullptr))
      .Always()
      .V(f != nullptr);
  Case("v1", cuGetProcAddress("cuMemAlloc", &f, 13000, 0)).V(f != nullptr);
  Case("v1.unknown", cuGetProcAddress("cuNoSuchCall", &f, 13000, 0)).Always().V(f != nullptr);
  Case("v1.null", cuGetProcAddress(nullptr, &f, 13000, 0));
}

void Contexts() {
  US_NEED(cuInit(0));
  CUcontext a = nullptr, b = nullptr, c = nullptr;
  for (const unsigned flags :
       {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 12u, 16u, 32u, 64u, 96u, 128u, 256u, 512u, 0x8000u}) {
    unsigned got = ~0u;
    const CUresult r = cuCtxCreate_v2(&a, flags, 0);
    if (r == CUDA_SUCCESS) cuCtxGetFlags(&got);
    Case(N("create.flags", flags), r).V(got);
    if (r == CUDA_SUCCESS) US_NEED(cuCtxDestroy_v2(a));
  }
  Case("create.null", cuCtxCreate_v2(nullptr, 0, 0));
  Case("create.device9", cuCtxCreate_v2(&a, 0, 9));
  Case("create.device-1", cuCtxCreate_v2(&a, 0, -1));
  Case("create.null.device9", cuCtxCreate_v2(nullptr, 0, 9));
  Case("create.flags3.device9", cuCtxCreate_v2(&a, 3, 9));
  Case("createV4", cuCtxCreate_v4(&a, nullptr, 0, 0));
  unsigned version = 0;
  Case("apiVersion.v4", cuCtxGetApiVersion(a, &version)).V(version);
  Case("destroy.v4", cuCtxDestroy_v2(a));
  Case("createV3", cuCtxCreate_v3(&a, nullptr, 0, 0, 0));
  Case("apiVersion.v3", cuCtxGetApiVersion(a, &version)).V(version);
  Case("destroy.v3", cuCtxDestroy_v2(a));
  // The stack.
  US_NEED(cuCtxCreate_v2(&a, 0, 0));
  Case("apiVersion.v2", cuCtxGetApiVersion(a, &version)).V(version);
  Case("apiVersion.nullOut", cuCtxGetApiVersion(a, nullptr));
  US_NEED(cuCtxCreate_v2(&b, 0, 0));
  const auto which = [&](CUcontext x) {
    return x == nullptr ? "none" : x == a ? "a" : x == b ? "b" : "another";
  };
  const auto current = [&] {
    CUcontext now = nullptr;
    cuCtxGetCurrent(&now);
    return std::string(which(now));
  };
  Fact("stack.afterTwoCreates", current());
  Case("push.a", cuCtxPushCurrent_v2(a)).V(current());
  Case("pop", cuCtxPopCurrent_v2(&c)).V(which(c)).V(current());
  Case("pop.null", cuCtxPopCurrent_v2(nullptr)).V(current());
  Case("pop.last", cuCtxPopCurrent_v2(&c)).V(which(c)).V(current());
  Case("pop.empty", cuCtxPopCurrent_v2(&c));
  Case("setCurrent.b", cuCtxSetCurrent(b)).V(current());
  Case("setCurrent.null", cuCtxSetCurrent(nullptr)).V(current());
  Case("setCurrent.null.again", cuCtxSetCurrent(nullptr)).V(current());
  Case("push.null", cuCtxPushCurrent_v2(nullptr)).V(current());
  Case("pop.afterPushNull", cuCtxPopCurrent_v2(&c)).V(which(c));
  Case("push.a.again", cuCtxPushCurrent_v2(a)).V(current());
  Case("push.b", cuCtxPushCurrent_v2(b)).V(current());
  Case("setCurrent.a", cuCtxSetCurrent(a)).V(current());
  Case("pop.afterSet", cuCtxPopCurrent_v2(&c)).V(which(c)).V(current());
  Case("push.b.again", cuCtxPushCurrent_v2(b)).V(current());
  Case("destroy.below", cuCtxDestroy_v2(a)).V(which(c)).V(current());
  Case("pop.top", cuCtxPopCurrent_v2(&c)).V(which(c));
  Fact("stack.destroyedBelow", current());
  Case("sync.destroyedBelow", cuCtxSynchronize());
  Case("pop.destroyed", cuCtxPopCurrent_v2(&c)).V(which(c));
  Case("pop.nothingLeft", cuCtxPopCurrent_v2(&c));
  US_NEED(cuCtxPushCurrent_v2(b));
  Case("getDevice.nullOut", cuCtxGetDevice(nullptr));
  Case("getFlags.nullOut", cuCtxGetFlags(nullptr));
  unsigned long long id = 0;
  Case("getId.null", cuCtxGetId(nullptr, &id)).V(id != 0);
  Case("getId.nullOut", cuCtxGetId(b, nullptr));
  for (const unsigned flags : {0u, 1u, 3u, 4u, 8u, 16u, 128u, 256u}) {
    unsigned got = ~0u;
    const CUresult r = cuCtxSetFlags(flags);
    cuCtxGetFlags(&got);
    Case(N("setFlags", flags), r).Always().V(got);
  }
  Case("attach.null", cuCtxAttach(nullptr, 0));
  Case("attach.flags1", cuCtxAttach(&c, 1));
  Case("attach", cuCtxAttach(&c, 0)).V(which(c));
  Case("detach", cuCtxDetach(b)).V(current());
  Case("detach.last", cuCtxDetach(b)).V(current());
}

void Limits() {
  Start();
  size_t value = 0;
  for (int limit = -1; limit <= 12; ++limit) {
    value = 0;
    Case(N("get", limit), cuCtxGetLimit(&value, limit)).V(static_cast<long long>(value));
  }
  Case("get.null", cuCtxGetLimit(nullptr, 0));
  Case("get.null.bad", cuCtxGetLimit(nullptr, 77));
  struct {
    int limit;
    size_t value;
  } const sets[] = {
      {0, 0},         {0, 1},        {0, 15},        {0, 16},         {0, 2000},     {0, 4096}, {0, 262144},
      {0, 523712},    {0, 524288},   {0, 1u << 20},  {0, ~size_t{0}}, {1, 0},        {1, 1},    {1, 1000},
      {1, 65536},     {1, 1u << 20}, {1, 100000001}, {2, 0},          {2, 1},        {2, 1000}, {2, 4u << 20},
      {2, 64u << 20}, {3, 0},        {3, 1},         {3, 2},          {3, 24},       {3, 25},   {4, 0},
      {4, 1},         {4, 2048},     {4, 10000},     {5, 0},          {5, 1},        {5, 16},   {5, 32},
      {5, 33},        {5, 64},       {5, 100},       {5, 128},        {5, 129},      {5, 1000}, {6, 0},
      {6, 1},         {6, 1u << 20}, {6, 39321600},  {6, 39321601},   {6, 1u << 30}, {7, 0},    {7, 1},
      {8, 0},         {8, 1},        {9, 0},         {9, 1},          {10, 0},       {11, 0},   {-1, 0}};
  for (const auto& s : sets) {
    value = 0;
    const CUresult r = cuCtxSetLimit(s.limit, s.value);
    cuCtxGetLimit(&value, s.limit);
    Case("set." + std::to_string(s.limit) + "." + std::to_string(s.value), r)
        .Always()
        .V(static_cast<long long>(value));
  }
  int n = -1, m = -1;
  for (int config = -1; config <= 4; ++config) {
    const CUresult r = cuCtxSetCacheConfig(config);
    cuCtxGetCacheConfig(&n);
    Case(N("cacheConfig", config), r).Always().V(n);
  }
  Case("cacheConfig.null", cuCtxGetCacheConfig(nullptr));
  for (int config = -1; config <= 3; ++config) {
    const CUresult r = cuCtxSetSharedMemConfig(config);
    cuCtxGetSharedMemConfig(&n);
    Case(N("sharedConfig", config), r).Always().V(n);
  }
  Case("sharedConfig.null", cuCtxGetSharedMemConfig(nullptr));
  Case("priorities", cuCtxGetStreamPriorityRange(&n, &m)).V(n).V(m);
  Case("priorities.nulls", cuCtxGetStreamPriorityRange(nullptr, nullptr));
  for (const int scope : {0, 1, 100, 200}) Case(N("flushRdma", scope), cuFlushGPUDirectRDMAWrites(0, scope));
  Case("profilerStart", cuProfilerStart());
  Case("profilerStop", cuProfilerStop());
}

void Primary() {
  US_NEED(cuInit(0));
  unsigned flags = 77;
  int active = 77;
  CUcontext p = nullptr, q = nullptr, now = nullptr;
  const auto state = [&](const char* name) {
    flags = 77, active = 77;
    Case(name, cuDevicePrimaryCtxGetState(0, &flags, &active)).V(flags).V(active);
  };
  state("state.first");
  Case("state.nulls", cuDevicePrimaryCtxGetState(0, nullptr, nullptr));
  Case("state.device9", cuDevicePrimaryCtxGetState(9, &flags, &active));
  Case("release.inactive", cuDevicePrimaryCtxRelease_v2(0));
  Case("reset.inactive", cuDevicePrimaryCtxReset_v2(0));
  for (const unsigned f : {1u, 3u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 0u}) {
    const CUresult r = cuDevicePrimaryCtxSetFlags_v2(0, f);
    cuDevicePrimaryCtxGetState(0, &flags, &active);
    Case(N("setFlags.inactive", f), r).Always().V(flags).V(active);
  }
  Case("retain.null", cuDevicePrimaryCtxRetain(nullptr, 0));
  Case("retain.device9", cuDevicePrimaryCtxRetain(&p, 9));
  Case("retain", cuDevicePrimaryCtxRetain(&p, 0));
  Case("current.afterRetain", cuCtxGetCurrent(&now)).V(now == nullptr);
  Case("retain.again", cuDevicePrimaryCtxRetain(&q, 0)).V(p == q);
  state("state.active");
  for (const unsigned f : {1u, 4u, 8u, 3u, 0u}) {
    const CUresult r = cuDevicePrimaryCtxSetFlags_v2(0, f);
    cuDevicePrimaryCtxGetState(0, &flags, &active);
    Case(N("setFlags.active", f), r).Always().V(flags).V(active);
  }
  Case("destroy.primary", cuCtxDestroy_v2(p));
  US_NEED(cuCtxSetCurrent(p));
  Case("apiVersion", cuCtxGetApiVersion(p, &flags)).V(flags);
  CUdeviceptr memory = Device(4096);
  CUcontext of = nullptr;
  Case("attribute.context", cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, memory)).V(of == p);
  Case("release", cuDevicePrimaryCtxRelease_v2(0));
  Case("sync.oneLeft", cuCtxSynchronize());
  Case("release.last", cuDevicePrimaryCtxRelease_v2(0));
  state("state.released");
  Case("current.released", cuCtxGetCurrent(&now))
      .V(now == p         ? "the released one"
         : now == nullptr ? "none"
                          : "another");
  Case("sync.released", cuCtxSynchronize());
  CUdeviceptr more = 0;
  Case("alloc.released", cuMemAlloc_v2(&more, 256));
  Case("free.released", cuMemFree_v2(memory));
  Case("attribute.released", cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  Case("release.tooOften", cuDevicePrimaryCtxRelease_v2(0));
  Case("retain.newLife", cuDevicePrimaryCtxRetain(&q, 0)).V(p == q);
  Case("sync.newLife", cuCtxSynchronize());
  Case("alloc.newLife", cuMemAlloc_v2(&more, 256));
  Case("free.oldMemory", cuMemFree_v2(memory));
  Case("setCurrent.newLife", cuCtxSetCurrent(q));
  Case("alloc.again", cuMemAlloc_v2(&more, 256));
  Case("reset", cuDevicePrimaryCtxReset_v2(0));
  state("state.reset");
  Case("sync.reset", cuCtxSynchronize());
  Case("alloc.reset", cuMemAlloc_v2(&more, 256));
  Case("release.afterReset", cuDevicePrimaryCtxRelease_v2(0));
  state("state.releasedAfterReset");
  Case("reset.device9", cuDevicePrimaryCtxReset_v2(9));
  Case("release.device9", cuDevicePrimaryCtxRelease_v2(9));
  Case("setFlags.device9", cuDevicePrimaryCtxSetFlags_v2(9, 0));
}

void Peers() {
  const CUcontext a = Start();
  CUcontext b = nullptr;
  Case("enable.self", cuCtxEnablePeerAccess(a, 0));
  Case("enable.null", cuCtxEnablePeerAccess(nullptr, 0));
  Case("enable.self.flags1", cuCtxEnablePeerAccess(a, 1));
  Case("disable.self", cuCtxDisablePeerAccess(a));
  Case("disable.null", cuCtxDisablePeerAccess(nullptr));
  US_NEED(cuCtxCreate_v2(&b, 0, 0));
  // Two contexts of one device.
  Case("enable.sameDevice", cuCtxEnablePeerAccess(a, 0));
  Case("disable.sameDevice", cuCtxDisablePeerAccess(a));
  const CUdeviceptr mine = Device(4096);
  US_NEED(cuCtxSetCurrent(a));
  const CUdeviceptr its = Device(4096);
  Case("copyPeer", cuMemcpyPeer(its, a, mine, b, 4096));
  Case("copyPeer.same", cuMemcpyPeer(its, a, its, a, 256));
  Case("copyPeer.wrongContexts", cuMemcpyPeer(its, b, mine, a, 4096));
  Case("copyPeer.null", cuMemcpyPeer(its, nullptr, mine, b, 4096));
  Case("copyPeer.null2", cuMemcpyPeer(its, a, mine, nullptr, 4096));
  Case("copyPeer.size0", cuMemcpyPeer(its, a, mine, b, 0));
  Case("copyPeer.tooLong", cuMemcpyPeer(its, a, mine, b, 64 << 20));
  Case("copyDtoD.otherContext", cuMemcpyDtoD_v2(its, mine, 4096));
  uint32_t word = 0;
  Case("copyDtoH.otherContext", cuMemcpyDtoH_v2(&word, mine, 4));
  Case("memset.otherContext", cuMemsetD8_v2(mine, 0, 4096));
  CUdeviceptr base = 0;
  size_t bytes = 0;
  Case("range.otherContext", cuMemGetAddressRange_v2(&base, &bytes, mine)).V(static_cast<long long>(bytes));
  Case("free.otherContext", cuMemFree_v2(mine));
}

}  // namespace

const std::vector<NamedSection>& BasicSections() {
  static const auto* const all = new std::vector<NamedSection>{
      {"init", BeforeInit},  {"noContext", NoContext}, {"destroyedContext", DestroyedContext},
      {"error", ErrorTexts}, {"device", Attributes},   {"procAddress", ProcAddress},
      {"context", Contexts}, {"limit", Limits},        {"primary", Primary},
      {"peer", Peers},
  };
  return *all;
}

}  // namespace understudy::probe
