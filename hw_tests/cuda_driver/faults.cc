// SPDX-License-Identifier: Apache-2.0
// Faulting kernels: their codes, what the context answers afterwards, and how a program recovers. And handles
// that were destroyed: each in a process of its own, since a library may well crash on them.
#include "hw_tests/cuda_driver/kernels.h"
#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

CUdeviceptr P(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

// One kernel a fault; parameter: a good address.
constexpr char kFaults[] = R"(.version 8.0
.target sm_90
.address_size 64
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 text[2] = {65, 0};
.visible .entry load_null(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u64 %rd2, 0; ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1; ret; }
.visible .entry store_null(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; mov.u64 %rd2, 16; mov.u32 %r1, 1; st.global.u32 [%rd2], %r1; ret; }
.visible .entry load_far(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u64 %rd2, 0x123456789000; ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1; ret; }
.visible .entry store_end(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; add.u64 %rd2, %rd1, 0x10000000000; mov.u32 %r1, 1; st.global.u32 [%rd2], %r1; ret; }
.visible .entry atomic_null(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; mov.u64 %rd2, 0; mov.u32 %r1, 1; atom.global.add.u32 %r2, [%rd2], %r1; ret; }
.visible .entry misaligned_load(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+2]; st.global.u32 [%rd1], %r1; ret; }
.visible .entry misaligned_store(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u64 %rd2, 5; st.global.u64 [%rd1+4], %rd2; ret; }
.visible .entry misaligned_atomic(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u32 %r1, 1; atom.global.add.u32 %r2, [%rd1+2], %r1; ret; }
.visible .entry misaligned_shared(.param .u64 p)
{ .shared .align 16 .b8 s[64]; .reg .b64 %rd<3>; .reg .b32 %r<4>; ld.param.u64 %rd1, [p]; mov.u32 %r3, %tid.x; mov.u32 %r1, s; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, 2; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1], %r2; ret; }
.visible .entry shared_beyond(.param .u64 p)
{ .shared .align 16 .b8 s[64]; .reg .b64 %rd<3>; .reg .b32 %r<4>; ld.param.u64 %rd1, [p]; mov.u32 %r3, %tid.x; mov.u32 %r1, s; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, 0x100000; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1], %r2; ret; }
.visible .entry local_beyond(.param .u64 p)
{ .local .align 16 .b8 s[64]; .reg .b64 %rd<3>; .reg .b32 %r<4>; ld.param.u64 %rd1, [p]; mov.u32 %r3, %tid.x; mov.u32 %r1, s; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, 0x1000000; st.local.u32 [%r1], %r3; ld.local.u32 %r2, [%r1]; st.global.u32 [%rd1], %r2; ret; }
.visible .entry trap(.param .u64 p) { trap; ret; }
.visible .entry brkpt(.param .u64 p) { brkpt; ret; }
.visible .entry assertion(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1; mov.u32 %r1, 7; mov.u64 %rd2, 1;
{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], %r1; st.param.b64 [d], %rd1; st.param.b64 [e], %rd2;
call.uni __assertfail, (a, b, c, d, e); } ret; }
.func (.param .b32 r) recurse(.param .b32 n)
{ .local .align 16 .b8 s[4096]; .reg .b64 %rd<3>; .reg .b32 %r<6>; .reg .pred %p<2>; ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 1020; cvt.u64.u32 %rd1, %r2; mov.u64 %rd2, s; add.u64 %rd2, %rd2, %rd1; st.local.u32 [%rd2], %r1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; add.u32 %r3, %r1, -1;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call.uni (b), recurse, (a); ld.param.b32 %r4, [b]; }
ld.local.u32 %r5, [%rd2]; add.u32 %r1, %r4, %r5; DONE: st.param.b32 [r], %r1; ret; }
.visible .entry stack_overflow(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p];
{ .param .b32 a; .param .b32 b; mov.u32 %r1, 1000000; st.param.b32 [a], %r1; call.uni (b), recurse, (a); ld.param.b32 %r2, [b]; }
st.global.u32 [%rd1], %r2; ret; }
.visible .entry generic_window(.param .u64 p)
{ .shared .align 16 .b8 s[64]; .reg .b64 %rd<4>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; mov.u32 %r1, 1; st.global.u32 [%rd2], %r1; ret; }
.visible .entry atomic_local(.param .u64 p)
{ .local .align 16 .b8 s[64]; .reg .b64 %rd<4>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u64 %rd2, s; cvta.local.u64 %rd2, %rd2; mov.u32 %r1, 1; atom.add.u32 %r2, [%rd2], %r1; st.global.u32 [%rd1], %r2; ret; }
.visible .entry fine(.param .u64 p)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u32 %r1, 77; st.global.u32 [%rd1], %r1; ret; }
)";

void Fault(const char* name) {
  const CUcontext context = Start();
  CUmodule m = nullptr;
  US_NEED(cuModuleLoadData(&m, kFaults));
  const CUfunction f = Kernel(m, name), fine = Kernel(m, "fine");
  CUdeviceptr d = Device(4096);
  CUstream s = nullptr;
  CUevent e = nullptr, before = nullptr;
  CUgraph g = nullptr;
  void* pinned = nullptr;
  US_NEED(cuMemHostAlloc(&pinned, 4096, 0));
  US_NEED(cuStreamCreate(&s, 0));
  US_NEED(cuEventCreate(&e, 0));
  US_NEED(cuEventCreate(&before, 0));
  US_NEED(cuEventRecord(before, s));
  US_NEED(cuStreamSynchronize(s));
  void* arguments[] = {&d};
  Case("launch", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr));
  Case("sync", cuStreamSynchronize(s));
  // A fault may be none of the hardware's.
  if (cuCtxSynchronize() == CUDA_SUCCESS) {
    Fact("outcome", "no fault");
    return;
  }
  Case("sync.again", cuStreamSynchronize(s));
  Case("sync.context", cuCtxSynchronize());
  Case("query", cuStreamQuery(s));
  Case("query.legacy", cuStreamQuery(nullptr));
  Case("event.query", cuEventQuery(before));
  Case("event.sync", cuEventSynchronize(before));
  Case("event.query.unrecorded", cuEventQuery(e));
  Case("event.record", cuEventRecord(e, s));
  Case("event.create", cuEventCreate(&e, 0));
  Case("launch.again", cuLaunchKernel(fine, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr));
  CUdeviceptr p = 0;
  void* h = nullptr;
  size_t bytes = 0;
  int n = 0;
  unsigned flags = 0;
  uint32_t word = 0;
  char text[64];
  CUcontext c = nullptr;
  CUdevice device = 0;
  CUmodule other = nullptr;
  CUstream t = nullptr;
  CUgraphExec exec = nullptr;
  unsigned long long id = 0;
  Case("alloc", cuMemAlloc_v2(&p, 256));
  Case("allocAsync", cuMemAllocAsync(&p, 256, s));
  Case("hostAlloc", cuMemHostAlloc(&h, 256, 0));
  Case("managed", cuMemAllocManaged(&p, 256, 1));
  Case("memInfo", cuMemGetInfo_v2(&bytes, &bytes));
  Case("copy.htod", cuMemcpyHtoD_v2(d, &word, 4));
  Case("copy.dtoh", cuMemcpyDtoH_v2(&word, d, 4));
  Case("copy.size0", cuMemcpyDtoH_v2(&word, d, 0));
  Case("memset", cuMemsetD8_v2(d, 0, 4));
  Case("range", cuMemGetAddressRange_v2(&p, &bytes, d));
  Case("pointer.type", cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
  Case("hostPointer", cuMemHostGetDevicePointer_v2(&p, pinned, 0));
  Case("module.load", cuModuleLoadData(&other, kKernels));
  Case("module.function", cuModuleGetFunction(const_cast<CUfunction*>(&f), m, name));
  Case("module.global", cuModuleGetGlobal_v2(&p, &bytes, m, "text"));
  Case("function.attribute", cuFuncGetAttribute(&n, 0, f));
  Case("occupancy", cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 32, 0));
  Case("stream.create", cuStreamCreate(&t, 0));
  Case("stream.flags", cuStreamGetFlags(s, &flags));
  Case("stream.context", cuStreamGetCtx(s, &c));
  Case("stream.wait", cuStreamWaitEvent(s, before, 0));
  Case("context.current", cuCtxGetCurrent(&c));
  Case("context.device", cuCtxGetDevice(&device));
  Case("context.flags", cuCtxGetFlags(&flags));
  Case("context.id", cuCtxGetId(context, &id));
  Case("context.limit", cuCtxGetLimit(&bytes, 0));
  Case("context.setLimit", cuCtxSetLimit(0, 1024));
  Case("context.apiVersion", cuCtxGetApiVersion(context, &flags));
  Case("context.cacheConfig", cuCtxGetCacheConfig(&n));
  Case("context.priorities", cuCtxGetStreamPriorityRange(&n, &n));
  Case("context.push", cuCtxPushCurrent_v2(context));
  Case("context.pop", cuCtxPopCurrent_v2(&c));
  Case("context.setCurrent", cuCtxSetCurrent(context));
  Case("device.attribute", cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
  Case("device.name", cuDeviceGetName(text, 64, 0));
  Case("device.totalMem", cuDeviceTotalMem_v2(&bytes, 0));
  Case("graph.create", cuGraphCreate(&g, 0));
  Case("graph.instantiate", cuGraphInstantiateWithFlags(&exec, g, 0));
  Case("capture.begin", cuStreamBeginCapture_v2(s, 0));
  Case("hostFunction", cuLaunchHostFunc(s, [](void*) {}, nullptr));
  Case("free.host", cuMemFreeHost(pinned));
  Case("free", cuMemFree_v2(d));
  Case("event.destroy", cuEventDestroy_v2(before));
  Case("stream.destroy", cuStreamDestroy_v2(s));
  Case("module.unload", cuModuleUnload(m));
  // A second context beside the broken one, then one after it is gone.
  CUcontext second = nullptr;
  Case("second.create", cuCtxCreate_v2(&second, 0, 0));
  Case("second.alloc", cuMemAlloc_v2(&p, 256));
  Case("second.sync", cuCtxSynchronize());
  Case("destroy", cuCtxDestroy_v2(context));
  Case("second.sync.afterDestroy", cuCtxSynchronize());
  CUcontext third = nullptr;
  const CUresult made = cuCtxCreate_v2(&third, 0, 0);
  Case("third.create", made);
  if (made != CUDA_SUCCESS) return;
  Case("third.alloc", cuMemAlloc_v2(&p, 256));
  CUmodule again = nullptr;
  CUfunction k = nullptr;
  Case("third.load", cuModuleLoadData(&again, kFaults));
  cuModuleGetFunction(&k, again, "fine");
  void* more[] = {&p};
  Case("third.launch",
       k == nullptr ? CUDA_ERROR_NOT_FOUND : cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, more, nullptr));
  Case("third.sync", cuCtxSynchronize());
  Case("third.copy", cuMemcpyDtoH_v2(&word, p, 4)).V(word);
}

template <int kIndex>
void FaultOf();
#define US_FAULT(index, name) \
  template <>                 \
  void FaultOf<index>() {     \
    Fault(name);              \
  }
US_FAULT(0, "load_null")
US_FAULT(1, "store_null")
US_FAULT(2, "load_far")
US_FAULT(3, "store_end")
US_FAULT(4, "atomic_null")
US_FAULT(5, "misaligned_load")
US_FAULT(6, "misaligned_store")
US_FAULT(7, "misaligned_atomic")
US_FAULT(8, "misaligned_shared")
US_FAULT(9, "shared_beyond")
US_FAULT(10, "local_beyond")
US_FAULT(11, "trap")
US_FAULT(12, "brkpt")
US_FAULT(13, "assertion")
US_FAULT(14, "stack_overflow")
US_FAULT(15, "generic_window")
US_FAULT(16, "atomic_local")
US_FAULT(17, "fine")
#undef US_FAULT

// The primary context: reset, and released, after a fault.
void FaultPrimary() {
  US_NEED(cuInit(0));
  CUcontext c = nullptr;
  US_NEED(cuDevicePrimaryCtxRetain(&c, 0));
  US_NEED(cuCtxSetCurrent(c));
  for (const bool reset : {true, false}) {
    const std::string at = reset ? "reset" : "release";
    CUmodule m = nullptr;
    US_NEED(cuModuleLoadData(&m, kFaults));
    CUdeviceptr d = Device(4096);
    void* arguments[] = {&d};
    Case(at + ".launch", cuLaunchKernel(Kernel(m, "trap"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    Case(at + ".sync", cuCtxSynchronize());
    CUcontext again = nullptr;
    Case(at + ".retain", cuDevicePrimaryCtxRetain(&again, 0)).V(again == c);
    unsigned flags = 0;
    int active = -1;
    Case(at + ".state", cuDevicePrimaryCtxGetState(0, &flags, &active)).V(active);
    if (reset) {
      Case(at, cuDevicePrimaryCtxReset_v2(0));
    } else {
      Case(at + ".1", cuDevicePrimaryCtxRelease_v2(0));
      Case(at + ".2", cuDevicePrimaryCtxRelease_v2(0));
      Case(at + ".3", cuDevicePrimaryCtxRelease_v2(0));
    }
    Case(at + ".sync.after", cuCtxSynchronize());
    Case(at + ".retain.after", cuDevicePrimaryCtxRetain(&c, 0));
    Case(at + ".setCurrent.after", cuCtxSetCurrent(c));
    CUdeviceptr p = 0;
    const CUresult alloc = cuMemAlloc_v2(&p, 256);
    Case(at + ".alloc.after", alloc);
    if (alloc != CUDA_SUCCESS) return;
  }
}

// Ways to go on after a fault, each the first thing that a process tries.
CUcontext Trap() {
  const CUcontext context = Start();
  CUmodule m = nullptr;
  US_NEED(cuModuleLoadData(&m, kFaults));
  CUdeviceptr d = Device(4096);
  void* arguments[] = {&d};
  Case("launch", cuLaunchKernel(Kernel(m, "trap"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  Case("sync", cuCtxSynchronize());
  return context;
}
void Alive() {
  CUdeviceptr p = 0;
  uint32_t word = 7;
  Case("alloc", cuMemAlloc_v2(&p, 256));
  Case("copy", cuMemcpyHtoD_v2(p, &word, 4));
  Case("after.sync", cuCtxSynchronize());
}
void RecoverDestroy() {
  const CUcontext context = Trap();
  Case("destroy", cuCtxDestroy_v2(context));
  CUcontext next = nullptr;
  Case("create", cuCtxCreate_v2(&next, 0, 0));
  Alive();
}
void RecoverReset() {
  US_NEED(cuInit(0));
  CUcontext c = nullptr;
  US_NEED(cuDevicePrimaryCtxRetain(&c, 0));
  const CUcontext context = Trap();
  Case("destroy", cuCtxDestroy_v2(context));
  Case("primary.setCurrent", cuCtxSetCurrent(c));
  Case("primary.sync", cuCtxSynchronize());
  Case("reset", cuDevicePrimaryCtxReset_v2(0));
  Case("release", cuDevicePrimaryCtxRelease_v2(0));
  Case("retain", cuDevicePrimaryCtxRetain(&c, 0));
  Case("setCurrent", cuCtxSetCurrent(c));
  Alive();
}
void RecoverOther() {
  CUcontext first = Start(), second = nullptr;
  const CUcontext broken = Trap();
  Case("other.setCurrent", cuCtxSetCurrent(first));
  Alive();
  Case("destroy", cuCtxDestroy_v2(broken));
  Alive();
  Case("create", cuCtxCreate_v2(&second, 0, 0));
}
void RecoverPrimary() {
  US_NEED(cuInit(0));
  CUcontext c = nullptr;
  US_NEED(cuDevicePrimaryCtxRetain(&c, 0));
  US_NEED(cuCtxSetCurrent(c));
  CUmodule m = nullptr;
  US_NEED(cuModuleLoadData(&m, kFaults));
  CUdeviceptr d = Device(4096);
  void* arguments[] = {&d};
  Case("launch", cuLaunchKernel(Kernel(m, "trap"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  Case("sync", cuCtxSynchronize());
  Case("release", cuDevicePrimaryCtxRelease_v2(0));
  Case("retain", cuDevicePrimaryCtxRetain(&c, 0));
  Case("setCurrent", cuCtxSetCurrent(c));
  Alive();
}

// Memory of another context of the same device, and a freed address, in kernels.
void FaultOther() {
  const CUcontext a = Start();
  CUdeviceptr d = Device(4096);
  CUcontext b = nullptr;
  US_NEED(cuCtxCreate_v2(&b, 0, 0));
  CUmodule m = nullptr;
  US_NEED(cuModuleLoadData(&m, kFaults));
  void* arguments[] = {&d};
  Case("otherContextsMemory.launch",
       cuLaunchKernel(Kernel(m, "fine"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  Case("otherContextsMemory.sync", cuCtxSynchronize());
  US_NEED(cuCtxSetCurrent(a));
  Case("owner.sync", cuCtxSynchronize());
  CUdeviceptr p = 0;
  Case("owner.alloc", cuMemAlloc_v2(&p, 256));
}

void FaultFreed() {
  Start();
  CUmodule m = nullptr;
  US_NEED(cuModuleLoadData(&m, kFaults));
  CUdeviceptr d = Device(32 << 20);
  US_NEED(cuMemFree_v2(d));
  void* arguments[] = {&d};
  Case("launch", cuLaunchKernel(Kernel(m, "fine"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  Case("sync", cuCtxSynchronize());
}

// --- destroyed handles ---

void StaleContext() {
  const CUcontext a = Start();
  US_NEED(cuCtxDestroy_v2(a));
  CUcontext now = nullptr;
  Case("current", cuCtxGetCurrent(&now)).V(now == nullptr);
  Case("push", cuCtxPushCurrent_v2(a));
  Case("setCurrent", cuCtxSetCurrent(a));
  unsigned version = 0;
  Case("apiVersion", cuCtxGetApiVersion(a, &version));
  Case("destroy", cuCtxDestroy_v2(a));
}
void StaleStream() {
  Start();
  CUstream s = nullptr;
  unsigned flags = 0;
  US_NEED(cuStreamCreate(&s, 0));
  US_NEED(cuStreamDestroy_v2(s));
  Case("query", cuStreamQuery(s));
  Case("flags", cuStreamGetFlags(s, &flags));
  Case("sync", cuStreamSynchronize(s));
  Case("destroy", cuStreamDestroy_v2(s));
}
void StaleEvent() {
  Start();
  CUevent e = nullptr;
  US_NEED(cuEventCreate(&e, 0));
  US_NEED(cuEventDestroy_v2(e));
  Case("query", cuEventQuery(e));
  Case("record", cuEventRecord(e, nullptr));
  Case("destroy", cuEventDestroy_v2(e));
}
void StaleModule() {
  Start();
  CUmodule m = LoadKernels();
  const CUfunction f = Kernel(m, "empty");
  CUfunction g = nullptr;
  US_NEED(cuModuleUnload(m));
  Case("function", cuModuleGetFunction(&g, m, "empty"));
  Case("launch", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  Case("unload", cuModuleUnload(m));
}
void StaleGraph() {
  Start();
  CUgraph g = nullptr;
  CUgraphExec x = nullptr;
  US_NEED(cuGraphCreate(&g, 0));
  US_NEED(cuGraphInstantiateWithFlags(&x, g, 0));
  US_NEED(cuGraphDestroy(g));
  Case("launch", cuGraphLaunch(x, nullptr));
  Case("destroy", cuGraphDestroy(g));
}
void StaleExec() {
  Start();
  CUgraph g = nullptr;
  CUgraphExec x = nullptr;
  US_NEED(cuGraphCreate(&g, 0));
  US_NEED(cuGraphInstantiateWithFlags(&x, g, 0));
  US_NEED(cuGraphExecDestroy(x));
  Case("launch", cuGraphLaunch(x, nullptr));
  Case("destroy", cuGraphExecDestroy(x));
}
// Handles that never were: addresses of plain memory.
void WildHandles() {
  Start();
  static uint64_t zeros[4096];
  int n = 0;
  Case("stream", cuStreamQuery(reinterpret_cast<CUstream>(zeros)));
  Case("event", cuEventQuery(reinterpret_cast<CUevent>(zeros)));
  Case("context", cuCtxPushCurrent_v2(reinterpret_cast<CUcontext>(zeros)));
  Case("module", cuModuleUnload(reinterpret_cast<CUmodule>(zeros)));
  Case("graph", cuGraphDestroy(reinterpret_cast<CUgraph>(zeros)));
  Case("exec", cuGraphExecDestroy(reinterpret_cast<CUgraphExec>(zeros)));
  Case("pool", cuMemPoolDestroy(reinterpret_cast<CUmemoryPool>(zeros)));
  Case("function", cuFuncGetAttribute(&n, 0, reinterpret_cast<CUfunction>(zeros)));
  (void)P;
}

}  // namespace

const std::vector<NamedSection>& FaultSections() {
  static const auto* const all = new std::vector<NamedSection>{
      {"fault.loadNull", FaultOf<0>},
      {"fault.storeNull", FaultOf<1>},
      {"fault.loadFar", FaultOf<2>},
      {"fault.storeEnd", FaultOf<3>},
      {"fault.atomicNull", FaultOf<4>},
      {"fault.misalignedLoad", FaultOf<5>},
      {"fault.misalignedStore", FaultOf<6>},
      {"fault.misalignedAtomic", FaultOf<7>},
      {"fault.misalignedShared", FaultOf<8>},
      {"fault.sharedBeyond", FaultOf<9>},
      {"fault.localBeyond", FaultOf<10>},
      {"fault.trap", FaultOf<11>},
      {"fault.brkpt", FaultOf<12>},
      {"fault.assertion", FaultOf<13>},
      {"fault.stackOverflow", FaultOf<14>},
      {"fault.genericWindow", FaultOf<15>},
      {"fault.atomicLocal", FaultOf<16>},
      {"fault.none", FaultOf<17>},
      {"fault.primary", FaultPrimary},
      {"fault.otherContext", FaultOther},
      {"fault.freed", FaultFreed},
      {"recover.destroy", RecoverDestroy},
      {"recover.reset", RecoverReset},
      {"recover.other", RecoverOther},
      {"recover.primary", RecoverPrimary},
  };
  return *all;
}

const std::vector<NamedSection>& StaleSections() {
  static const auto* const all = new std::vector<NamedSection>{
      {"stale.context", StaleContext}, {"stale.stream", StaleStream}, {"stale.event", StaleEvent},
      {"stale.module", StaleModule},   {"stale.graph", StaleGraph},   {"stale.exec", StaleExec},
      {"wild", WildHandles},
  };
  return *all;
}

}  // namespace understudy::probe
