// SPDX-License-Identifier: Apache-2.0
// Memory of every kind, what pointers say of themselves, copies and fills, pools, virtual memory, tensor
// maps.
#include <cstdlib>

#include "hw_tests/cuda_driver/kernels.h"
#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

std::string N(const std::string& stem, long long n) { return stem + "." + std::to_string(n); }
CUdeviceptr P(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

alignas(65536) char g_host[262144];

void Allocations() {
  Start();
  CUdeviceptr p = 0, base = 0;
  size_t bytes = 0, pitch = 0;
  void* host = nullptr;
  Case("alloc.0", cuMemAlloc_v2(&p, 0));
  Case("alloc.null", cuMemAlloc_v2(nullptr, 256));
  Case("alloc.null.0", cuMemAlloc_v2(nullptr, 0));
  for (const int shift : {40, 47, 50, 62, 63})
    Case(N("alloc.huge", shift), cuMemAlloc_v2(&p, size_t{1} << shift));
  Case("alloc.most", cuMemAlloc_v2(&p, ~size_t{0}));
  for (const size_t n : {1ul, 100ul, 256ul, 512ul, 513ul, 4096ul, 65536ul, 1048576ul, 2097152ul, 2097153ul}) {
    const CUresult r = cuMemAlloc_v2(&p, n);
    cuMemGetAddressRange_v2(&base, &bytes, p);
    Case(N("alloc", static_cast<long long>(n)), r)
        .V(static_cast<long long>(bytes))
        .V(base == p)
        .V(p % 256 == 0)
        .V(p % 512 == 0);
  }
  p = Device(1000);
  Case("range.base", cuMemGetAddressRange_v2(&base, &bytes, p))
      .V(static_cast<long long>(p - base))
      .V(static_cast<long long>(bytes));
  Case("range.middle", cuMemGetAddressRange_v2(&base, &bytes, p + 500))
      .V(static_cast<long long>(p - base))
      .V(static_cast<long long>(bytes));
  Case("range.last", cuMemGetAddressRange_v2(&base, &bytes, p + 999)).V(static_cast<long long>(bytes));
  Case("range.nullBase", cuMemGetAddressRange_v2(nullptr, &bytes, p)).V(static_cast<long long>(bytes));
  Case("range.nullBytes", cuMemGetAddressRange_v2(&base, nullptr, p));
  Case("range.nulls", cuMemGetAddressRange_v2(nullptr, nullptr, p));
  Case("range.0", cuMemGetAddressRange_v2(&base, &bytes, 0));
  Case("range.stack", cuMemGetAddressRange_v2(&base, &bytes, P(&bytes)));
  Case("info.nulls", cuMemGetInfo_v2(nullptr, nullptr));
  size_t free_bytes = 0, total = 0;
  Case("info", cuMemGetInfo_v2(&free_bytes, &total)).V(static_cast<long long>(total)).V(free_bytes < total);
  Case("free.middle", cuMemFree_v2(p + 256));
  Case("free.0", cuMemFree_v2(0));
  Case("free.stack", cuMemFree_v2(P(&bytes)));
  Case("free.low", cuMemFree_v2(64));
  Case("free", cuMemFree_v2(p));
  Case("free.again", cuMemFree_v2(p));
  Case("range.freed", cuMemGetAddressRange_v2(&base, &bytes, p));
  for (const unsigned element : {0u, 1u, 2u, 3u, 4u, 8u, 12u, 16u, 32u})
    Case(N("pitch.element", element), cuMemAllocPitch_v2(&p, &pitch, 100, 4, element))
        .V(static_cast<long long>(pitch));
  for (const size_t width : {0ul, 1ul, 100ul, 511ul, 512ul, 513ul, 1000ul, 4097ul}) {
    Case(N("pitch.width", static_cast<long long>(width)), cuMemAllocPitch_v2(&p, &pitch, width, 3, 4))
        .V(static_cast<long long>(pitch));
    size_t of = 0;
    if (width == 100 && cuMemGetAddressRange_v2(&base, &of, p) == CUDA_SUCCESS)
      Fact("pitch.width.100.range", std::to_string(of));
  }
  Case("pitch.height0", cuMemAllocPitch_v2(&p, &pitch, 100, 0, 4));
  Case("pitch.null", cuMemAllocPitch_v2(nullptr, &pitch, 100, 2, 4));
  Case("pitch.nullPitch", cuMemAllocPitch_v2(&p, nullptr, 100, 2, 4));
  Case("pitch.huge", cuMemAllocPitch_v2(&p, &pitch, size_t{1} << 40, 1 << 20, 4));
  Case("pitch.wide", cuMemAllocPitch_v2(&p, &pitch, size_t{1} << 32, 1, 4));
  // Page-locked host memory.
  for (int flags = 0; flags <= 16; ++flags) {
    unsigned got = 99;
    const CUresult r = cuMemHostAlloc(&host, 4096, static_cast<unsigned>(flags));
    if (r == CUDA_SUCCESS) cuMemHostGetFlags(&got, host);
    Case(N("hostAlloc.flags", flags), r).V(got);
  }
  Case("hostAlloc.0", cuMemHostAlloc(&host, 0, 0));
  Case("hostAlloc.null", cuMemHostAlloc(nullptr, 256, 0));
  Case("hostAlloc.huge", cuMemHostAlloc(&host, size_t{1} << 50, 0));
  Case("allocHost.0", cuMemAllocHost_v2(&host, 0));
  Case("allocHost.null", cuMemAllocHost_v2(nullptr, 256));
  US_NEED(cuMemHostAlloc(&host, 4096, 0));
  char* const h = static_cast<char*>(host);
  unsigned got = 0;
  Case("hostRange", cuMemGetAddressRange_v2(&base, &bytes, P(h)))
      .V(base == P(h))
      .V(static_cast<long long>(bytes));
  Case("hostFlags.middle", cuMemHostGetFlags(&got, h + 100)).V(got);
  Case("hostFlags.null", cuMemHostGetFlags(nullptr, h));
  Case("hostFlags.nullPointer", cuMemHostGetFlags(&got, nullptr));
  Case("hostFlags.stack", cuMemHostGetFlags(&got, &got));
  Case("hostPointer", cuMemHostGetDevicePointer_v2(&p, h, 0)).V(p == P(h));
  Case("hostPointer.middle", cuMemHostGetDevicePointer_v2(&p, h + 12, 0)).V(p == P(h + 12));
  Case("hostPointer.flags1", cuMemHostGetDevicePointer_v2(&p, h, 1));
  Case("hostPointer.null", cuMemHostGetDevicePointer_v2(nullptr, h, 0));
  Case("hostPointer.nullPointer", cuMemHostGetDevicePointer_v2(&p, nullptr, 0));
  Case("hostPointer.stack", cuMemHostGetDevicePointer_v2(&p, &got, 0));
  const CUdeviceptr d = Device(4096);
  Case("hostPointer.device", cuMemHostGetDevicePointer_v2(&p, reinterpret_cast<void*>(d), 0));
  Case("hostFlags.device", cuMemHostGetFlags(&got, reinterpret_cast<void*>(d)));
  Case("freeHost.middle", cuMemFreeHost(h + 64));
  Case("freeHost.device", cuMemFreeHost(reinterpret_cast<void*>(d)));
  Case("free.hostMemory", cuMemFree_v2(P(h)));
  Case("freeHost.stack", cuMemFreeHost(&got));
  Case("freeHost.null", cuMemFreeHost(nullptr));
  Case("freeHost", cuMemFreeHost(h));
  Case("freeHost.again", cuMemFreeHost(h));
  // Registered host memory.
  for (int flags = 0; flags <= 17; ++flags) {
    unsigned now = 99;
    const CUresult r = cuMemHostRegister_v2(g_host, 4096, static_cast<unsigned>(flags));
    if (r == CUDA_SUCCESS) cuMemHostGetFlags(&now, g_host);
    // Two abilities of the card and of what lies behind the memory.
    if ((flags & 12) == 0 || flags >= 16) Case(N("register.flags", flags), r).V(now);
    if (r == CUDA_SUCCESS) US_NEED(cuMemHostUnregister(g_host));
  }
  Case("register.0", cuMemHostRegister_v2(g_host, 0, 0));
  Case("register.null", cuMemHostRegister_v2(nullptr, 4096, 0));
  Case("register.unaligned", cuMemHostRegister_v2(g_host + 100, 1000, 0));
  Case("register.hostPointer.unaligned", cuMemHostGetDevicePointer_v2(&p, g_host + 100, 0))
      .V(p == P(g_host + 100));
  Case("register.hostPointer.before", cuMemHostGetDevicePointer_v2(&p, g_host, 0));
  Case("register.hostPointer.after", cuMemHostGetDevicePointer_v2(&p, g_host + 2000, 0));
  Case("register.samePage", cuMemHostRegister_v2(g_host + 2000, 1000, 0));
  Case("unregister.samePage", cuMemHostUnregister(g_host + 2000));
  Case("unregister.unaligned.base", cuMemHostUnregister(g_host));
  Case("unregister.unaligned", cuMemHostUnregister(g_host + 100));
  Case("register", cuMemHostRegister_v2(g_host, 65536, 0));
  Case("register.again", cuMemHostRegister_v2(g_host, 65536, 0));
  Case("register.inside", cuMemHostRegister_v2(g_host + 4096, 4096, 0));
  Case("register.overlap", cuMemHostRegister_v2(g_host + 32768, 65536, 0));
  Case("register.around", cuMemHostRegister_v2(g_host, 131072, 0));
  Case("registeredRange", cuMemGetAddressRange_v2(&base, &bytes, P(g_host) + 8))
      .V(base == P(g_host))
      .V(static_cast<long long>(bytes));
  Case("unregister.middle", cuMemHostUnregister(g_host + 4096));
  Case("freeHost.registered", cuMemFreeHost(g_host));
  Case("unregister", cuMemHostUnregister(g_host));
  Case("unregister.again", cuMemHostUnregister(g_host));
  Case("unregister.null", cuMemHostUnregister(nullptr));
  Case("unregister.device", cuMemHostUnregister(reinterpret_cast<void*>(d)));
  US_NEED(cuMemHostAlloc(&host, 4096, 0));
  Case("register.hostAlloc", cuMemHostRegister_v2(host, 4096, 0));
  Case("unregister.hostAlloc", cuMemHostUnregister(host));
  // Managed memory.
  for (int flags = 0; flags <= 8; ++flags)
    Case(N("managed.flags", flags), cuMemAllocManaged(&p, 4096, static_cast<unsigned>(flags)));
  Case("managed.0", cuMemAllocManaged(&p, 0, 1));
  Case("managed.null", cuMemAllocManaged(nullptr, 4096, 1));
  US_NEED(cuMemAllocManaged(&p, 8192, CU_MEM_ATTACH_GLOBAL));
  Case("managedRange", cuMemGetAddressRange_v2(&base, &bytes, p + 8))
      .V(base == p)
      .V(static_cast<long long>(bytes));
  CUdeviceptr q = 0;
  Case("managed.hostPointer", cuMemHostGetDevicePointer_v2(&q, reinterpret_cast<void*>(p), 0)).V(q == p);
  Case("managed.hostFlags", cuMemHostGetFlags(&got, reinterpret_cast<void*>(p))).V(got);
  Case("managed.freeHost", cuMemFreeHost(reinterpret_cast<void*>(p)));
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0}, absent{CU_MEM_LOCATION_TYPE_DEVICE, 9},
      cpu{CU_MEM_LOCATION_TYPE_HOST, 0};
  for (int advice = 0; advice <= 7; ++advice) {
    Case(N("advise", advice), cuMemAdvise_v2(p, 4096, advice, here));
    Case(N("advise.absent", advice), cuMemAdvise_v2(p, 4096, advice, absent));
  }
  Case("advise.cpu", cuMemAdvise_v2(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, cpu));
  Case("advise.size0", cuMemAdvise_v2(p, 0, 1, here));
  Case("advise.tooLong", cuMemAdvise_v2(p, 1 << 24, 1, here));
  Case("advise.device", cuMemAdvise_v2(d, 4096, 1, here));
  Case("advise.0", cuMemAdvise_v2(0, 4096, 1, here));
  Case("prefetch", cuMemPrefetchAsync_v2(p, 8192, here, 0, nullptr));
  Case("prefetch.cpu", cuMemPrefetchAsync_v2(p, 8192, cpu, 0, nullptr));
  Case("prefetch.flags1", cuMemPrefetchAsync_v2(p, 8192, here, 1, nullptr));
  Case("prefetch.absent", cuMemPrefetchAsync_v2(p, 8192, absent, 0, nullptr));
  Case("prefetch.size0", cuMemPrefetchAsync_v2(p, 0, here, 0, nullptr));
  Case("prefetch.tooLong", cuMemPrefetchAsync_v2(p, 1 << 24, here, 0, nullptr));
  Case("prefetch.device", cuMemPrefetchAsync_v2(d, 4096, here, 0, nullptr));
  US_NEED(cuCtxSynchronize());
  int n[4] = {77, 77, 77, 77};
  for (int a = 0; a <= 9; ++a) {
    n[0] = 77;
    Case(N("rangeAttribute", a), cuMemRangeGetAttribute(n, 4, a, p, 4096)).V(n[0]);
  }
  Case("rangeAttribute.size3", cuMemRangeGetAttribute(n, 3, 1, p, 4096));
  Case("rangeAttribute.size8", cuMemRangeGetAttribute(n, 8, 1, p, 4096));
  Case("rangeAttribute.accessedBy16", cuMemRangeGetAttribute(n, 16, 3, p, 4096))
      .V(n[0])
      .V(n[1])
      .V(n[2])
      .V(n[3]);
  Case("rangeAttribute.null", cuMemRangeGetAttribute(nullptr, 4, 1, p, 4096));
  Case("rangeAttribute.device", cuMemRangeGetAttribute(n, 4, 1, d, 4096));
  Case("managed.free.middle", cuMemFree_v2(p + 4096));
  Case("managed.free", cuMemFree_v2(p));
}

void PointerAttributes() {
  const CUcontext context = Start();
  struct Kind {
    const char* name;
    CUdeviceptr base, at;
  };
  void* host = nullptr;
  CUdeviceptr managed = 0, pool = 0, freed = Device(4096), variable = 0;
  US_NEED(cuMemHostAlloc(&host, 8192, 0));
  US_NEED(cuMemAllocManaged(&managed, 8192, 1));
  US_NEED(cuMemHostRegister_v2(g_host, 8192, 0));
  US_NEED(cuMemAllocAsync(&pool, 8192, nullptr));
  US_NEED(cuCtxSynchronize());
  const CUdeviceptr device = Device(3000);
  CUmodule module = LoadKernels();
  size_t variable_bytes = 0;
  US_NEED(cuModuleGetGlobal_v2(&variable, &variable_bytes, module, "counter"));
  US_NEED(cuMemFree_v2(freed));
  int local = 0;
  const Kind kinds[] = {{"device", device, device},
                        {"deviceMiddle", device, device + 1001},
                        {"host", P(host), P(host)},
                        {"hostMiddle", P(host), P(host) + 100},
                        {"managed", managed, managed + 4},
                        {"registered", P(g_host), P(g_host) + 16},
                        {"pool", pool, pool + 32},
                        {"variable", variable, variable},
                        {"freed", freed, freed},
                        {"stack", P(&local), P(&local)},
                        {"zero", 0, 0}};
  for (const Kind& kind : kinds) {
    for (int a = 0; a <= 22; ++a) {
      if (a == CU_POINTER_ATTRIBUTE_P2P_TOKENS) continue;
      uint64_t answer[8] = {0x7777777777777777};
      const CUresult r = cuPointerGetAttribute(answer, a, kind.at);
      const uint64_t v = answer[0];
      std::string text = std::to_string(v);
      switch (a) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
          text = reinterpret_cast<CUcontext>(v) == context ? "context" : v == 0 ? "null" : "another";
          break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
          text = "base+" + std::to_string(static_cast<int64_t>(v - kind.base));
          break;
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
          text = v <= kind.base ? "at or before" : "after";
          break;
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
          text = v == 0 ? "0" : "some";
          break;
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
          text = v == 0 ? "0" : "some";
          break;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
          break;
        default:  // four bytes, or one
          text = a == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || a == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
                         a == CU_POINTER_ATTRIBUTE_MAPPED || a == 10 || a == 15 || a == 21
                     ? std::to_string(v & 0xff)
                     : std::to_string(static_cast<int32_t>(v));
      }
      Case(N(std::string(kind.name), a), r).V(text);
    }
    CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    uint64_t values[4] = {7, 7, 7, 7};
    void* data[] = {&values[0], &values[1], &values[2], &values[3]};
    Case(std::string(kind.name) + ".list", cuPointerGetAttributes(4, list, data, kind.at))
        .V(values[0] != 0)
        .V(static_cast<int32_t>(values[1]))
        .V(static_cast<int32_t>(values[2]))
        .V(static_cast<long long>(values[3]));
    const uint32_t on = 1;
    Case(std::string(kind.name) + ".setSync",
         cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, kind.at));
  }
  int n = 0;
  Case("null", cuPointerGetAttribute(nullptr, 2, device));
  Case("list.count0", cuPointerGetAttributes(0, nullptr, nullptr, device));
  CUpointer_attribute bad[] = {99};
  void* data[] = {&n};
  Case("list.bad", cuPointerGetAttributes(1, bad, data, device));
  Case("list.null", cuPointerGetAttributes(1, nullptr, data, device));
  Case("set.null", cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
  Case("set.other", cuPointerSetAttribute(&n, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
}

void Copies() {
  Start();
  char host[4096] = {};
  const CUdeviceptr d = Device(4096), e = Device(4096), freed = Device(4096);
  US_NEED(cuMemFree_v2(freed));
  void* pinned = nullptr;
  US_NEED(cuMemHostAlloc(&pinned, 4096, 0));
  Case("htod", cuMemcpyHtoD_v2(d, host, 4096));
  Case("htod.0", cuMemcpyHtoD_v2(d, host, 0));
  Case("htod.0.null", cuMemcpyHtoD_v2(0, nullptr, 0));
  Case("htod.nullSource", cuMemcpyHtoD_v2(d, nullptr, 16));
  Case("htod.nullTarget", cuMemcpyHtoD_v2(0, host, 16));
  Case("htod.freed", cuMemcpyHtoD_v2(freed, host, 16));
  Case("htod.far", cuMemcpyHtoD_v2(d + (uint64_t{1} << 40), host, 16));
  Case("htod.toHost", cuMemcpyHtoD_v2(P(pinned), host, 16));
  Case("htod.toPageable", cuMemcpyHtoD_v2(P(host) + 64, host, 16));
  Case("htod.fromDevice", cuMemcpyHtoD_v2(d, reinterpret_cast<void*>(e), 16));
  Case("dtoh", cuMemcpyDtoH_v2(host, d, 4096));
  Case("dtoh.0", cuMemcpyDtoH_v2(host, d, 0));
  Case("dtoh.nullSource", cuMemcpyDtoH_v2(host, 0, 16));
  Case("dtoh.nullTarget", cuMemcpyDtoH_v2(nullptr, d, 16));
  Case("dtoh.freed", cuMemcpyDtoH_v2(host, freed, 16));
  Case("dtoh.fromHost", cuMemcpyDtoH_v2(host, P(pinned), 16));
  Case("dtoh.fromPageable", cuMemcpyDtoH_v2(host, P(host) + 64, 16));
  Case("dtoh.toDevice", cuMemcpyDtoH_v2(reinterpret_cast<void*>(e), d, 16));
  Case("dtod", cuMemcpyDtoD_v2(e, d, 4096));
  Case("dtod.0", cuMemcpyDtoD_v2(e, d, 0));
  Case("dtod.nullSource", cuMemcpyDtoD_v2(e, 0, 16));
  Case("dtod.nullTarget", cuMemcpyDtoD_v2(0, e, 16));
  Case("dtod.overlap", cuMemcpyDtoD_v2(d, d + 16, 2048));
  Case("dtod.same", cuMemcpyDtoD_v2(d, d, 2048));
  Case("dtod.freed", cuMemcpyDtoD_v2(d, freed, 16));
  Case("dtod.fromPinned", cuMemcpyDtoD_v2(d, P(pinned), 16));
  Case("dtod.fromPageable", cuMemcpyDtoD_v2(d, P(host), 16));
  Case("any.dd", cuMemcpy(e, d, 16));
  Case("any.hh", cuMemcpy(P(host), P(host) + 64, 16));
  Case("any.hd", cuMemcpy(P(host), d, 16));
  Case("any.null", cuMemcpy(0, d, 16));
  Case("any.0", cuMemcpy(0, 0, 0));
  Case("sync", cuCtxSynchronize());
  // Past the end of an allocation that takes whole pages.
  const CUdeviceptr page = Device(2 << 20);
  Case("htod.pastEnd", cuMemcpyHtoD_v2(page + (2 << 20) - 16, host, 4096));
  Case("dtoh.pastEnd", cuMemcpyDtoH_v2(host, page + (2 << 20) - 16, 4096));
  Case("dtod.pastEnd", cuMemcpyDtoD_v2(page + (2 << 20) - 16, d, 4096));
  Case("memset.pastEnd", cuMemsetD8_v2(page + (2 << 20) - 16, 0, 4096));
  Case("htod.smallPastEnd", cuMemcpyHtoD_v2(d + 4000, host, 1024));
  Case("sync.pastEnd", cuCtxSynchronize());
  // Asynchronous.
  CUstream s = nullptr;
  US_NEED(cuStreamCreate(&s, 0));
  Case("async.htod", cuMemcpyHtoDAsync_v2(d, host, 16, s));
  Case("async.htod.null", cuMemcpyHtoDAsync_v2(0, host, 16, s));
  Case("async.htod.nullSource", cuMemcpyHtoDAsync_v2(d, nullptr, 16, s));
  Case("async.dtoh.0", cuMemcpyDtoHAsync_v2(host, 0, 0, s));
  Case("async.dtoh.freed", cuMemcpyDtoHAsync_v2(host, freed, 16, s));
  Case("async.dtod", cuMemcpyDtoDAsync_v2(e, d, 16, s));
  Case("async.any", cuMemcpyAsync(P(host), P(pinned), 16, s));
  Case("async.sync", cuStreamSynchronize(s));
  // Fills.
  Case("d8", cuMemsetD8_v2(d, 1, 4096));
  Case("d8.0", cuMemsetD8_v2(d, 1, 0));
  Case("d8.null", cuMemsetD8_v2(0, 1, 16));
  Case("d8.freed", cuMemsetD8_v2(freed, 1, 16));
  Case("d8.pinned", cuMemsetD8_v2(P(pinned), 1, 16));
  Case("d8.pageable", cuMemsetD8_v2(P(host), 1, 16));
  Case("d16.odd", cuMemsetD16_v2(d + 1, 1, 16));
  Case("d16", cuMemsetD16_v2(d + 2, 1, 16));
  Case("d32.odd", cuMemsetD32_v2(d + 2, 1, 16));
  Case("d32", cuMemsetD32_v2(d + 4, 1, 16));
  Case("d32.odd.0", cuMemsetD32_v2(d + 2, 1, 0));
  Case("2d8", cuMemsetD2D8_v2(d, 64, 1, 16, 4));
  Case("2d8.pitchSmall", cuMemsetD2D8_v2(d, 8, 1, 16, 4));
  Case("2d8.pitchSmall.height1", cuMemsetD2D8_v2(d, 8, 1, 16, 1));
  Case("2d8.pitch0", cuMemsetD2D8_v2(d, 0, 1, 16, 4));
  Case("2d8.width0", cuMemsetD2D8_v2(d, 64, 1, 0, 4));
  Case("2d8.height0", cuMemsetD2D8_v2(d, 64, 1, 16, 0));
  Case("2d16.pitchOdd", cuMemsetD2D16_v2(d, 65, 1, 16, 4));
  Case("2d32.pitchOdd", cuMemsetD2D32_v2(d, 66, 1, 16, 4));
  Case("2d32", cuMemsetD2D32_v2(d, 64, 1, 16, 4));
  Case("2d32.pitchSmall", cuMemsetD2D32_v2(d, 60, 1, 16, 4));
  Case("2d32.odd", cuMemsetD2D32_v2(d + 2, 64, 1, 8, 4));
  Case("fill.sync", cuCtxSynchronize());
}

CUDA_MEMCPY2D Plane(CUdeviceptr dst, const void* src) {
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = src;
  c.srcPitch = 64;
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.dstDevice = dst;
  c.dstPitch = 128;
  c.WidthInBytes = 64;
  c.Height = 4;
  return c;
}

void Copies2D() {
  Start();
  static char host[65536];
  const CUdeviceptr d = Device(65536);
  CUDA_MEMCPY2D c = Plane(d, host);
  const auto with = [&](const char* name, auto change) {
    c = Plane(d, host);
    change(c);
    Case(name, cuMemcpy2D_v2(&c));
    Case(std::string(name) + ".unaligned", cuMemcpy2DUnaligned_v2(&c));
    Case(std::string(name) + ".async", cuMemcpy2DAsync_v2(&c, nullptr));
  };
  with("plain", [](CUDA_MEMCPY2D&) {});
  with("null", [](CUDA_MEMCPY2D& x) { x.srcHost = nullptr; });
  with("nullDevice", [](CUDA_MEMCPY2D& x) { x.dstDevice = 0; });
  with("width0", [](CUDA_MEMCPY2D& x) { x.WidthInBytes = 0; });
  with("height0", [](CUDA_MEMCPY2D& x) { x.Height = 0; });
  with("srcPitchSmall", [](CUDA_MEMCPY2D& x) { x.srcPitch = 32; });
  with("dstPitchSmall", [](CUDA_MEMCPY2D& x) { x.dstPitch = 32; });
  with("srcPitch0", [](CUDA_MEMCPY2D& x) { x.srcPitch = 0; });
  with("dstPitch0", [](CUDA_MEMCPY2D& x) { x.dstPitch = 0; });
  with("srcXBeyond", [](CUDA_MEMCPY2D& x) { x.srcXInBytes = 16; });
  with("dstX", [](CUDA_MEMCPY2D& x) { x.dstXInBytes = 64; });
  with("dstXBeyond", [](CUDA_MEMCPY2D& x) { x.dstXInBytes = 65; });
  with("dstPitchSmall.height1", [](CUDA_MEMCPY2D& x) { x.dstPitch = 32, x.Height = 1; });
  with("type0", [](CUDA_MEMCPY2D& x) { x.srcMemoryType = 0; });
  with("type9", [](CUDA_MEMCPY2D& x) { x.dstMemoryType = 9; });
  with("arrayNull", [](CUDA_MEMCPY2D& x) { x.dstMemoryType = CU_MEMORYTYPE_ARRAY; });
  with("unifiedNull", [](CUDA_MEMCPY2D& x) { x.srcMemoryType = CU_MEMORYTYPE_UNIFIED; });
  with("unified", [&](CUDA_MEMCPY2D& x) { x.srcMemoryType = CU_MEMORYTYPE_UNIFIED, x.srcDevice = P(host); });
  with("pitchHuge", [](CUDA_MEMCPY2D& x) {
    x.dstPitch = uint64_t{1} << 32;
    x.Height = 1;
  });
  with("pitchOdd", [](CUDA_MEMCPY2D& x) { x.dstPitch = 67, x.Height = 2; });
  with("hostAsDevice", [&](CUDA_MEMCPY2D& x) { x.dstDevice = P(host) + 32768; });
  Case("nullStruct", cuMemcpy2D_v2(nullptr));
  Case("nullStruct.async", cuMemcpy2DAsync_v2(nullptr, nullptr));
  CUDA_MEMCPY3D t{};
  const auto box = [&](const char* name, auto change) {
    t = {};
    t.srcMemoryType = CU_MEMORYTYPE_HOST, t.srcHost = host, t.srcPitch = 64, t.srcHeight = 4;
    t.dstMemoryType = CU_MEMORYTYPE_DEVICE, t.dstDevice = d, t.dstPitch = 128, t.dstHeight = 8;
    t.WidthInBytes = 64, t.Height = 4, t.Depth = 3;
    change(t);
    Case(std::string("3d.") + name, cuMemcpy3D_v2(&t));
  };
  box("plain", [](CUDA_MEMCPY3D&) {});
  box("depth0", [](CUDA_MEMCPY3D& x) { x.Depth = 0; });
  box("width0", [](CUDA_MEMCPY3D& x) { x.WidthInBytes = 0; });
  box("srcHeightSmall", [](CUDA_MEMCPY3D& x) { x.srcHeight = 2; });
  box("dstHeightSmall", [](CUDA_MEMCPY3D& x) { x.dstHeight = 2; });
  box("dstHeight0", [](CUDA_MEMCPY3D& x) { x.dstHeight = 0; });
  box("dstPitch0", [](CUDA_MEMCPY3D& x) { x.dstPitch = 0; });
  box("dstPitchSmall", [](CUDA_MEMCPY3D& x) { x.dstPitch = 32; });
  box("lod1", [](CUDA_MEMCPY3D& x) { x.srcLOD = 1; });
  box("reserved", [&](CUDA_MEMCPY3D& x) { x.reserved0 = host; });
  box("nullHost", [](CUDA_MEMCPY3D& x) { x.srcHost = nullptr; });
  box("type0", [](CUDA_MEMCPY3D& x) { x.dstMemoryType = 0; });
  Case("3d.nullStruct", cuMemcpy3D_v2(nullptr));
  Case("sync", cuCtxSynchronize());
}

}  // namespace

const std::vector<NamedSection>& MemorySections() {
  static const auto* const all = new std::vector<NamedSection>{
      {"memory", Allocations}, {"pointer", PointerAttributes}, {"copy", Copies}, {"copy2d", Copies2D}};
  return *all;
}

}  // namespace understudy::probe
