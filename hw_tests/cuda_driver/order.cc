// SPDX-License-Identifier: Apache-2.0
// Streams, events, waits on values, callbacks, captures.
#include <thread>

#include "hw_tests/cuda_driver/kernels.h"
#include "hw_tests/cuda_driver/probe.h"

namespace understudy::probe {
namespace {

std::string N(const std::string& stem, long long n) { return stem + "." + std::to_string(n); }
CUdeviceptr P(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

void Streams() {
  const CUcontext context = Start();
  CUstream s = nullptr;
  unsigned flags = 0;
  int priority = 0;
  for (unsigned f = 0; f <= 4; ++f) {
    flags = 9;
    const CUresult r = cuStreamCreate(&s, f);
    if (r == CUDA_SUCCESS) cuStreamGetFlags(s, &flags);
    Case(N("create", f), r).V(flags);
    if (r == CUDA_SUCCESS) Case(N("destroy", f), cuStreamDestroy_v2(s));
  }
  Case("create.null", cuStreamCreate(nullptr, 0));
  for (int p = -8; p <= 2; ++p) {
    priority = 99;
    const CUresult r = cuStreamCreateWithPriority(&s, 0, p);
    if (r == CUDA_SUCCESS) cuStreamGetPriority(s, &priority);
    Case(N("priority", p), r).V(priority);
    if (r == CUDA_SUCCESS) cuStreamDestroy_v2(s);
  }
  Case("destroy.null", cuStreamDestroy_v2(nullptr));
  Case("destroy.legacy", cuStreamDestroy_v2(CU_STREAM_LEGACY));
  Case("destroy.perThread", cuStreamDestroy_v2(CU_STREAM_PER_THREAD));
  US_NEED(cuStreamCreate(&s, 0));
  const std::pair<const char*, CUstream> streams[] = {
      {"null", nullptr}, {"legacy", CU_STREAM_LEGACY}, {"perThread", CU_STREAM_PER_THREAD}, {"own", s}};
  for (const auto& [name, stream] : streams) {
    const std::string at = std::string(".") + name;
    unsigned long long id = 0;
    CUcontext of = nullptr;
    CUdevice device = -1;
    Case("query" + at, cuStreamQuery(stream));
    Case("sync" + at, cuStreamSynchronize(stream));
    Case("flags" + at, cuStreamGetFlags(stream, &flags)).V(flags);
    Case("getPriority" + at, cuStreamGetPriority(stream, &priority)).V(priority);
    Case("id" + at, cuStreamGetId(stream, &id)).V(id != 0);
    Case("context" + at, cuStreamGetCtx(stream, &of)).V(of == context);
    Case("device" + at, cuStreamGetDevice(stream, &device)).V(device);
    CUstreamCaptureStatus status = -1;
    Case("capturing" + at, cuStreamIsCapturing(stream, &status)).V(status);
  }
  Case("flags.nullOut", cuStreamGetFlags(s, nullptr));
  Case("priority.nullOut", cuStreamGetPriority(s, nullptr));
  Case("id.nullOut", cuStreamGetId(s, nullptr));
  Case("context.nullOut", cuStreamGetCtx(s, nullptr));
  Case("capturing.nullOut", cuStreamIsCapturing(s, nullptr));
  CUstreamAttrValue value{};
  for (int a = -1; a <= 17; ++a) {
    value = {};
    Case(N("attribute", a), cuStreamGetAttribute(s, a, &value))
        .V(a == 3 || a == 8 || a == 10 ? value.priority : 0);
  }
  for (int a = -1; a <= 17; ++a) {
    value = {};
    Case(N("setAttribute.0", a), cuStreamSetAttribute(s, a, &value));
  }
  for (int policy = 0; policy <= 5; ++policy) {
    value = {};
    value.syncPolicy = policy;
    Case(N("setPolicy", policy), cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  }
  for (int p = -7; p <= 1; ++p) {
    value = {};
    value.priority = p;
    const CUresult r = cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    cuStreamGetPriority(s, &priority);
    Case(N("setPriority", p), r).Always().V(priority);
  }
  for (int domain = -1; domain <= 2; ++domain) {
    value = {};
    value.memSyncDomain = domain;
    Case(N("setDomain", domain), cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
  }
  value = {};
  value.accessPolicyWindow.num_bytes = 1 << 30;
  Case("setWindow.huge", cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  value.accessPolicyWindow.num_bytes = 4096;
  value.accessPolicyWindow.hitRatio = 2.0f;
  Case("setWindow.ratio2", cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  value.accessPolicyWindow.hitRatio = 0.5f;
  value.accessPolicyWindow.hitProp = 9;
  Case("setWindow.prop9", cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  CUstream t = nullptr;
  US_NEED(cuStreamCreate(&t, 0));
  Case("copyAttributes", cuStreamCopyAttributes(t, s));
  Case("copyAttributes.self", cuStreamCopyAttributes(s, s));
  // Waits on values in memory.
  const CUdeviceptr d = Device(256);
  void* pinned = nullptr;
  US_NEED(cuMemHostAlloc(&pinned, 4096, 0));
  std::memset(pinned, 0, 4096);
  Case("write32", cuStreamWriteValue32_v2(s, d, 1, 0));
  Case("write32.unaligned", cuStreamWriteValue32_v2(s, d + 2, 1, 0));
  Case("write32.0", cuStreamWriteValue32_v2(s, 0, 1, 0));
  Case("write32.pinned", cuStreamWriteValue32_v2(s, P(pinned), 1, 0));
  Case("write32.stack", cuStreamWriteValue32_v2(s, P(&flags), 1, 0));
  for (unsigned f = 1; f <= 3; ++f) Case(N("write32.flags", f), cuStreamWriteValue32_v2(s, d, 1, f));
  Case("write32.legacy", cuStreamWriteValue32_v2(nullptr, d, 1, 0));
  Case("write64", cuStreamWriteValue64_v2(s, d + 8, 1, 0));
  Case("write64.unaligned", cuStreamWriteValue64_v2(s, d + 4, 1, 0));
  Case("wait32", cuStreamWaitValue32_v2(s, d, 1, 0));
  Case("wait32.unaligned", cuStreamWaitValue32_v2(s, d + 1, 1, 0));
  Case("wait32.0", cuStreamWaitValue32_v2(s, 0, 0, 0));
  Case("wait32.nor", cuStreamWaitValue32_v2(s, d, 0, 3));
  Case("wait32.flags4", cuStreamWaitValue32_v2(s, d, 1, 4));
  Case("wait32.flush", cuStreamWaitValue32_v2(s, d, 1, 1u << 30));
  Case("wait64", cuStreamWaitValue64_v2(s, d + 8, 1, 1));
  Case("values.sync", cuStreamSynchronize(s));
  CUstreamBatchMemOpParams ops[2] = {};
  ops[0].operation = CU_STREAM_MEM_OP_BARRIER;
  Case("batch.barrier", cuStreamBatchMemOp_v2(s, 1, ops, 0));
  Case("batch.0", cuStreamBatchMemOp_v2(s, 0, ops, 0));
  Case("batch.flags1", cuStreamBatchMemOp_v2(s, 1, ops, 1));
  ops[0].operation = 99;
  Case("batch.operation99", cuStreamBatchMemOp_v2(s, 1, ops, 0));
  ops[0].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
  Case("batch.flush", cuStreamBatchMemOp_v2(s, 1, ops, 0));
  static CUstreamBatchMemOpParams many[300];
  for (auto& op : many) {
    op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = d;
  }
  Case("batch.256", cuStreamBatchMemOp_v2(s, 256, many, 0));
  Case("batch.257", cuStreamBatchMemOp_v2(s, 257, many, 0));
  Case("batch.sync", cuStreamSynchronize(s));
  // Callbacks.
  Case("callback.null", cuStreamAddCallback(s, nullptr, nullptr, 0));
  const auto callback =
      +[](CUstream, CUresult status, void* data) { *static_cast<int*>(data) = 1 + static_cast<int>(status); };
  int seen = 0;
  Case("callback.flags1", cuStreamAddCallback(s, callback, &seen, 1));
  Case("callback", cuStreamAddCallback(s, callback, &seen, 0));
  US_NEED(cuStreamSynchronize(s));
  Fact("callback.status", std::to_string(seen - 1));
  Case("hostFunction.null", cuLaunchHostFunc(s, nullptr, nullptr));
  struct Answers {
    CUresult alloc, query, current, sync, count;
  } answers{};
  const auto inside = +[](void* data) {
    auto& a = *static_cast<Answers*>(data);
    CUdeviceptr p = 0;
    CUcontext c = nullptr;
    int n = 0;
    a.alloc = cuMemAlloc_v2(&p, 256);
    a.query = cuStreamQuery(nullptr);
    a.current = cuCtxGetCurrent(&c);
    a.sync = cuCtxSynchronize();
    a.count = cuDeviceGetCount(&n);
  };
  US_NEED(cuLaunchHostFunc(s, inside, &answers));
  US_NEED(cuStreamSynchronize(s));
  Case("inCallback.alloc", answers.alloc);
  Case("inCallback.query", answers.query);
  Case("inCallback.current", answers.current);
  Case("inCallback.sync", answers.sync);
  Case("inCallback.count", answers.count);
  CUdeviceptr managed = 0;
  US_NEED(cuMemAllocManaged(&managed, 4096, 1));
  for (unsigned f = 0; f <= 5; ++f) Case(N("attach", f), cuStreamAttachMemAsync(s, managed, 0, f));
  Case("attach.size100", cuStreamAttachMemAsync(s, managed, 100, 1));
  Case("attach.device", cuStreamAttachMemAsync(s, d, 0, 1));
  Case("attach.0", cuStreamAttachMemAsync(s, 0, 0, 1));
  Case("attach.single.null", cuStreamAttachMemAsync(nullptr, managed, 0, 4));
  Case("end.sync", cuCtxSynchronize());
}

void Events() {
  Start();
  CUevent e = nullptr, f = nullptr, untimed = nullptr;
  float ms = -1;
  for (unsigned flags = 0; flags <= 9; ++flags) {
    if ((flags & 4) != 0 && (flags & 2) != 0) continue;  // between processes: not here
    const CUresult r = cuEventCreate(&e, flags);
    Case(N("create", flags), r);
    if (r == CUDA_SUCCESS) cuEventDestroy_v2(e);
  }
  Case("create.null", cuEventCreate(nullptr, 0));
  US_NEED(cuEventCreate(&e, 0));
  US_NEED(cuEventCreate(&f, 0));
  US_NEED(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  Case("query.unrecorded", cuEventQuery(e));
  Case("sync.unrecorded", cuEventSynchronize(e));
  Case("elapsed.unrecorded", cuEventElapsedTime_v2(&ms, e, f));
  Case("wait.unrecorded", cuStreamWaitEvent(nullptr, e, 0));
  Case("record", cuEventRecord(e, nullptr));
  Case("elapsed.oneUnrecorded", cuEventElapsedTime_v2(&ms, e, f));
  Case("elapsed.oneUnrecorded.swapped", cuEventElapsedTime_v2(&ms, f, e));
  US_NEED(cuEventRecord(f, nullptr));
  US_NEED(cuEventRecord(untimed, nullptr));
  US_NEED(cuCtxSynchronize());
  Case("query", cuEventQuery(e));
  Case("sync", cuEventSynchronize(e));
  Case("elapsed", cuEventElapsedTime_v2(&ms, e, f)).V(ms >= 0);
  Case("elapsed.reversed", cuEventElapsedTime_v2(&ms, f, e)).V(ms <= 0);
  Case("elapsed.self", cuEventElapsedTime_v2(&ms, e, e)).V(ms == 0);
  Case("elapsed.untimed", cuEventElapsedTime_v2(&ms, e, untimed));
  Case("elapsed.untimed.first", cuEventElapsedTime_v2(&ms, untimed, e));
  Case("elapsed.null", cuEventElapsedTime_v2(nullptr, e, f));
  Case("elapsed.nullEvent", cuEventElapsedTime_v2(&ms, nullptr, f));
  Case("elapsed.v1.untimed", cuEventElapsedTime(&ms, e, untimed));
  Case("query.null", cuEventQuery(nullptr));
  Case("sync.null", cuEventSynchronize(nullptr));
  Case("record.null", cuEventRecord(nullptr, nullptr));
  Case("destroy.null", cuEventDestroy_v2(nullptr));
  Case("wait.null", cuStreamWaitEvent(nullptr, nullptr, 0));
  Case("wait.flags1", cuStreamWaitEvent(nullptr, e, 1));
  Case("wait.flags2", cuStreamWaitEvent(nullptr, e, 2));
  for (unsigned flags = 0; flags <= 2; ++flags)
    Case(N("record.flags", flags), cuEventRecordWithFlags(e, nullptr, flags));
  // Of another context.
  CUcontext b = nullptr;
  US_NEED(cuCtxCreate_v2(&b, 0, 0));
  CUevent g = nullptr;
  US_NEED(cuEventCreate(&g, 0));
  Case("otherContext.record", cuEventRecord(e, nullptr));
  Case("otherContext.query", cuEventQuery(e));
  Case("otherContext.wait", cuStreamWaitEvent(nullptr, e, 0));
  US_NEED(cuEventRecord(g, nullptr));
  US_NEED(cuCtxSynchronize());
  Case("otherContext.elapsed", cuEventElapsedTime_v2(&ms, e, g));
  Case("otherContext.destroy", cuEventDestroy_v2(e));
  // Not done yet: the stream waits for a word that nobody has written.
  void* pinned = nullptr;
  US_NEED(cuMemHostAlloc(&pinned, 4096, 0));
  auto* const word = static_cast<volatile uint32_t*>(pinned);
  word[0] = 0;
  CUstream s = nullptr;
  US_NEED(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  Case("blocked.wait", cuStreamWaitValue32_v2(s, P(pinned), 1, CU_STREAM_WAIT_VALUE_EQ));
  Case("blocked.record", cuEventRecord(g, s));
  Case("blocked.query", cuEventQuery(g));
  Case("blocked.streamQuery", cuStreamQuery(s));
  Case("blocked.elapsed", cuEventElapsedTime_v2(&ms, g, g));
  Case("blocked.legacyQuery", cuStreamQuery(nullptr));
  Case("blocked.streamDestroy", cuStreamDestroy_v2(s));
  Case("blocked.eventDestroy", cuEventDestroy_v2(g));
  word[0] = 1;
  Case("blocked.sync", cuCtxSynchronize());
  // The legacy stream waits for blocking streams.
  word[0] = 0;
  US_NEED(cuStreamCreate(&s, 0));
  US_NEED(cuEventCreate(&g, 0));
  US_NEED(cuStreamWaitValue32_v2(s, P(pinned), 1, CU_STREAM_WAIT_VALUE_EQ));
  US_NEED(cuEventRecord(g, nullptr));
  Case("legacy.query", cuStreamQuery(nullptr));
  Case("legacy.eventQuery", cuEventQuery(g));
  word[0] = 1;
  Case("legacy.sync", cuCtxSynchronize());
  Case("legacy.eventQuery.after", cuEventQuery(g));
}

// What each call answers while a stream of this thread captures, and what that does to the capture.
void CaptureCalls(CUstreamCaptureMode mode) {
  Start();
  CUmodule m = LoadKernels();
  const CUfunction f = Kernel(m, "empty");
  const CUdeviceptr d = Device(4096);
  char host[64] = {};
  CUstream s = nullptr, other = nullptr;
  CUevent done = nullptr;
  US_NEED(cuStreamCreate(&s, 0));
  US_NEED(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  US_NEED(cuEventCreate(&done, 0));
  US_NEED(cuEventRecord(done, other));
  US_NEED(cuCtxSynchronize());
  const auto during = [&](const char* name, auto call) {
    US_NEED(cuStreamBeginCapture_v2(s, mode));
    const CUresult r = call();
    CUstreamCaptureStatus status = -1;
    cuStreamIsCapturing(s, &status);
    CUgraph graph = nullptr;
    const CUresult end = cuStreamEndCapture(s, &graph);
    size_t nodes = 0;
    if (graph != nullptr) cuGraphGetNodes(graph, nullptr, &nodes);
    Case(name, r)
        .Always()
        .V("status " + std::to_string(status))
        .V("end " + ResultText(end))
        .V("nodes " + std::to_string(nodes));
    if (graph != nullptr) cuGraphDestroy(graph);
    cuCtxSynchronize();
  };
  CUdeviceptr p = 0;
  void* h = nullptr;
  size_t bytes = 0;
  during("nothing", [&] { return CUDA_SUCCESS; });
  during("launch", [&] { return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr); });
  during("launch.bad", [&] { return cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr); });
  during("launch.legacy", [&] { return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); });
  during("launch.other", [&] { return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr); });
  during("memset", [&] { return cuMemsetD8Async(d, 0, 64, s); });
  during("memset.legacy", [&] { return cuMemsetD8_v2(d, 0, 64); });
  during("memset.bad", [&] { return cuMemsetD8Async(0, 0, 64, s); });
  during("copy", [&] { return cuMemcpyDtoDAsync_v2(d, d + 64, 64, s); });
  during("copy.size0", [&] { return cuMemcpyDtoDAsync_v2(d, d + 64, 0, s); });
  during("copy.pageable", [&] { return cuMemcpyHtoDAsync_v2(d, host, 64, s); });
  during("copy.toPageable", [&] { return cuMemcpyDtoHAsync_v2(host, d, 64, s); });
  during("copy.sync", [&] { return cuMemcpyHtoD_v2(d, host, 64); });
  during("copy.syncDtoD", [&] { return cuMemcpyDtoD_v2(d, d + 64, 64); });
  during("query", [&] { return cuStreamQuery(s); });
  during("query.legacy", [&] { return cuStreamQuery(nullptr); });
  during("query.other", [&] { return cuStreamQuery(other); });
  during("sync", [&] { return cuStreamSynchronize(s); });
  during("sync.legacy", [&] { return cuStreamSynchronize(nullptr); });
  during("sync.other", [&] { return cuStreamSynchronize(other); });
  during("sync.context", [&] { return cuCtxSynchronize(); });
  during("event.query", [&] { return cuEventQuery(done); });
  during("event.sync", [&] { return cuEventSynchronize(done); });
  during("event.wait", [&] { return cuStreamWaitEvent(s, done, 0); });
  during("event.waitExternal", [&] { return cuStreamWaitEvent(s, done, 1); });
  during("event.recordExternal", [&] { return cuEventRecordWithFlags(done, s, 1); });
  during("event.create", [&] {
    CUevent e = nullptr;
    return cuEventCreate(&e, 0);
  });
  during("event.capturedQuery", [&] {
    CUevent e = nullptr;
    cuEventCreate(&e, 0);
    cuEventRecord(e, s);
    return cuEventQuery(e);
  });
  during("event.capturedSync", [&] {
    CUevent e = nullptr;
    cuEventCreate(&e, 0);
    cuEventRecord(e, s);
    return cuEventSynchronize(e);
  });
  during("event.capturedElapsed", [&] {
    CUevent e = nullptr;
    float ms = 0;
    cuEventCreate(&e, 0);
    cuEventRecord(e, s);
    return cuEventElapsedTime_v2(&ms, done, e);
  });
  during("event.capturedLegacyWait", [&] {
    CUevent e = nullptr;
    cuEventCreate(&e, 0);
    cuEventRecord(e, s);
    return cuStreamWaitEvent(nullptr, e, 0);
  });
  during("unjoined", [&] {
    CUevent e = nullptr;
    cuEventCreate(&e, 0);
    cuEventRecord(e, s);
    cuStreamWaitEvent(other, e, 0);
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr);
  });
  during("joinedWithoutWork", [&] {
    CUevent e = nullptr;
    cuEventCreate(&e, 0);
    cuEventRecord(e, s);
    return cuStreamWaitEvent(other, e, 0);
  });
  during("joined", [&] {
    CUevent e = nullptr;
    cuEventCreate(&e, 0);
    cuEventRecord(e, s);
    cuStreamWaitEvent(other, e, 0);
    cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr);
    cuEventRecord(e, other);
    return cuStreamWaitEvent(s, e, 0);
  });
  during("endOnOther", [&] {
    CUevent e = nullptr;
    CUgraph g = nullptr;
    cuEventCreate(&e, 0);
    cuEventRecord(e, s);
    cuStreamWaitEvent(other, e, 0);
    return cuStreamEndCapture(other, &g);
  });
  during("begin.again", [&] { return cuStreamBeginCapture_v2(s, mode); });
  during("end.null", [&] { return cuStreamEndCapture(s, nullptr); });
  during("alloc", [&] { return cuMemAlloc_v2(&p, 256); });
  during("free", [&] {
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuThreadExchangeStreamCaptureMode(&relaxed);
    cuMemAlloc_v2(&p, 256);
    cuThreadExchangeStreamCaptureMode(&relaxed);
    return cuMemFree_v2(p);
  });
  during("free.0", [&] { return cuMemFree_v2(0); });
  during("hostAlloc", [&] { return cuMemHostAlloc(&h, 256, 0); });
  during("managed", [&] { return cuMemAllocManaged(&p, 256, 1); });
  during("hostRegister", [&] {
    static char page[8192];
    const CUresult r = cuMemHostRegister_v2(page, 4096, 0);
    if (r == CUDA_SUCCESS) cuMemHostUnregister(page);
    return r;
  });
  during("allocAsync", [&] {
    const CUresult r = cuMemAllocAsync(&p, 256, s);
    if (r == CUDA_SUCCESS) cuMemFreeAsync(p, s);
    return r;
  });
  during("allocAsync.other", [&] { return cuMemAllocAsync(&p, 256, other); });
  during("memInfo", [&] { return cuMemGetInfo_v2(&bytes, &bytes); });
  during("moduleLoad", [&] {
    CUmodule x = nullptr;
    return cuModuleLoadData(&x, kKernels);
  });
  during("streamCreate", [&] {
    CUstream x = nullptr;
    return cuStreamCreate(&x, 0);
  });
  during("setLimit", [&] { return cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20); });
  during("callback", [&] { return cuStreamAddCallback(s, [](CUstream, CUresult, void*) {}, nullptr, 0); });
  during("hostFunction", [&] { return cuLaunchHostFunc(s, [](void*) {}, nullptr); });
  during("writeValue", [&] { return cuStreamWriteValue32_v2(s, d, 1, 0); });
  during("waitValue", [&] { return cuStreamWaitValue32_v2(s, d, 1, 0); });
  during("setAttribute", [&] {
    CUstreamAttrValue v{};
    v.priority = -1;
    return cuStreamSetAttribute(s, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v);
  });
  during("getFlags", [&] {
    unsigned flags = 0;
    return cuStreamGetFlags(s, &flags);
  });
  during("isCapturing.legacy", [&] {
    CUstreamCaptureStatus status = -1;
    return cuStreamIsCapturing(nullptr, &status);
  });
  during("graphLaunch", [&] {
    CUgraph g = nullptr;
    CUgraphExec x = nullptr;
    cuGraphCreate(&g, 0);
    cuGraphInstantiateWithFlags(&x, g, 0);
    return cuGraphLaunch(x, s);
  });
  during("endElsewhere", [&] {
    CUresult r = CUDA_SUCCESS;
    std::thread([&] {
      CUgraph g = nullptr;
      cuCtxSetCurrent(nullptr);
      r = cuStreamEndCapture(s, &g);
      if (r == CUDA_SUCCESS) cuGraphDestroy(g);
    }).join();
    return r;
  });
  during("allocElsewhere", [&] {
    CUresult r = CUDA_SUCCESS;
    CUcontext c = nullptr;
    cuCtxGetCurrent(&c);
    std::thread([&] {
      cuCtxSetCurrent(c);
      r = cuMemAlloc_v2(&p, 256);
    }).join();
    return r;
  });
  during("streamDestroy.other", [&] { return cuStreamDestroy_v2(other); });
}
void CaptureGlobal() { CaptureCalls(CU_STREAM_CAPTURE_MODE_GLOBAL); }
void CaptureThread() { CaptureCalls(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); }
void CaptureRelaxed() { CaptureCalls(CU_STREAM_CAPTURE_MODE_RELAXED); }

void CaptureRules() {
  Start();
  CUmodule m = LoadKernels();
  const CUfunction f = Kernel(m, "empty");
  CUstream s = nullptr, t = nullptr;
  CUgraph g = nullptr;
  CUevent e = nullptr;
  US_NEED(cuStreamCreate(&s, 0));
  US_NEED(cuStreamCreate(&t, 0));
  US_NEED(cuEventCreate(&e, 0));
  Case("begin.legacy", cuStreamBeginCapture_v2(nullptr, 0));
  Case("begin.legacyHandle", cuStreamBeginCapture_v2(CU_STREAM_LEGACY, 0));
  Case("begin.mode-1", cuStreamBeginCapture_v2(s, -1));
  Case("begin.mode3", cuStreamBeginCapture_v2(s, 3));
  Case("end.notBegun", cuStreamEndCapture(s, &g));
  Case("end.legacy", cuStreamEndCapture(nullptr, &g));
  Case("begin.perThread", cuStreamBeginCapture_v2(CU_STREAM_PER_THREAD, 0));
  Case("end.perThread", cuStreamEndCapture(CU_STREAM_PER_THREAD, &g)).V(g != nullptr);
  CUstreamCaptureStatus status = -1;
  cuuint64_t id = 77;
  const CUgraphNode* after = nullptr;
  size_t count = 77;
  Case("info.notCapturing", cuStreamGetCaptureInfo_v2(s, &status, &id, &g, &after, &count))
      .V(status)
      .V(static_cast<long long>(id))
      .V(static_cast<long long>(count));
  Case("info.null", cuStreamGetCaptureInfo_v2(s, nullptr, &id, &g, &after, &count));
  US_NEED(cuStreamBeginCapture_v2(s, 0));
  Case("info", cuStreamGetCaptureInfo_v2(s, &status, &id, &g, &after, &count))
      .V(status)
      .V(id != 77)
      .V(static_cast<long long>(count))
      .V(g != nullptr);
  US_NEED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr));
  Case("info.one", cuStreamGetCaptureInfo_v2(s, &status, &id, nullptr, &after, &count))
      .V(status)
      .V(static_cast<long long>(count));
  Case("update.flags2", cuStreamUpdateCaptureDependencies(s, nullptr, 0, 2));
  Case("update.null", cuStreamUpdateCaptureDependencies(s, nullptr, 1, 0));
  Case("update.set0", cuStreamUpdateCaptureDependencies(s, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  Case("update.set0.count", cuStreamGetCaptureInfo_v2(s, &status, &id, nullptr, &after, &count))
      .V(static_cast<long long>(count));
  Case("destroyGraph.capturing", cuGraphDestroy(g));
  Case("end", cuStreamEndCapture(s, &g)).V(g != nullptr);
  Case("update.notCapturing", cuStreamUpdateCaptureDependencies(s, nullptr, 0, 0));
  // Two captures that meet.
  US_NEED(cuStreamBeginCapture_v2(s, 0));
  US_NEED(cuStreamBeginCapture_v2(t, 0));
  US_NEED(cuEventRecord(e, s));
  Case("merge", cuStreamWaitEvent(t, e, 0));
  Case("merge.end1", cuStreamEndCapture(s, &g)).Always().V(g != nullptr);
  Case("merge.end2", cuStreamEndCapture(t, &g)).Always().V(g != nullptr);
  // An event that was captured, after the capture's end.
  US_NEED(cuStreamBeginCapture_v2(s, 0));
  US_NEED(cuEventRecord(e, s));
  US_NEED(cuStreamEndCapture(s, &g));
  Case("capturedEvent.query", cuEventQuery(e));
  Case("capturedEvent.sync", cuEventSynchronize(e));
  Case("capturedEvent.wait", cuStreamWaitEvent(t, e, 0));
  Case("capturedEvent.record", cuEventRecord(e, t));
  US_NEED(cuCtxSynchronize());
  Case("capturedEvent.query.again", cuEventQuery(e));
  // After the capture is invalid.
  US_NEED(cuStreamBeginCapture_v2(s, 0));
  Case("invalid.by", cuStreamSynchronize(s));
  Case("invalid.launch", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr));
  Case("invalid.record", cuEventRecord(e, s));
  Case("invalid.isCapturing", cuStreamIsCapturing(s, &status)).V(status);
  Case("invalid.info", cuStreamGetCaptureInfo_v2(s, &status, &id, &g, &after, &count)).V(status);
  g = reinterpret_cast<CUgraph>(1);
  Case("invalid.end", cuStreamEndCapture(s, &g)).Always().V(g == nullptr);
  Case("invalid.launchAfter", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr));
  Case("sync", cuCtxSynchronize());
  // To a graph of the caller's.
  CUgraph mine = nullptr;
  US_NEED(cuGraphCreate(&mine, 0));
  Case("toGraph.null", cuStreamBeginCaptureToGraph(s, nullptr, nullptr, nullptr, 0, 0));
  Case("toGraph", cuStreamBeginCaptureToGraph(s, mine, nullptr, nullptr, 0, 0));
  US_NEED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr));
  Case("toGraph.end", cuStreamEndCapture(s, &g)).V(g == mine);
  CUstreamCaptureMode mode = 3;
  Case("exchange.3", cuThreadExchangeStreamCaptureMode(&mode));
  mode = 1;
  Case("exchange.1", cuThreadExchangeStreamCaptureMode(&mode)).V(mode);
  // Destroyed while it captures.
  US_NEED(cuStreamBeginCapture_v2(s, 0));
  Case("destroy.capturing", cuStreamDestroy_v2(s));
  Case("destroy.capturing.sync", cuCtxSynchronize());
}

}  // namespace

const std::vector<NamedSection>& OrderSections() {
  static const auto* const all = new std::vector<NamedSection>{
      {"stream", Streams},
      {"event", Events},
      {"captureGlobal", CaptureGlobal},
      {"captureThread", CaptureThread},
      {"captureRelaxed", CaptureRelaxed},
      {"captureRule", CaptureRules},
  };
  return *all;
}

}  // namespace understudy::probe
