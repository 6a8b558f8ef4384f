// SPDX-License-Identifier: Apache-2.0
// Contexts: made, primary, current, their limits and peers.
#include <algorithm>

#include "mockgpu/nv/cuda/driver.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::nv::calls {
namespace {

Driver& D() { return Driver::Get(); }

constexpr unsigned kSchedules[] = {CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD,
                                   CU_CTX_SCHED_BLOCKING_SYNC};

bool ValidFlags(unsigned flags) {
  if ((flags & ~0xffu) != 0) return false;
  for (const unsigned s : kSchedules)
    if ((flags & CU_CTX_SCHED_MASK) == s) return true;
  return false;
}

CUresult Create(CUcontext* out, unsigned flags, CUdevice ordinal, unsigned api_version) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(out != nullptr && ValidFlags(flags), CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(device->error);
  // One bit means both kinds of core dump.
  if (flags & CU_CTX_USER_COREDUMP_ENABLE)
    flags = (flags & ~static_cast<unsigned>(CU_CTX_USER_COREDUMP_ENABLE)) | CU_CTX_COREDUMP_ENABLE;
  *out = D().MakeContext(device, flags);
  (*out)->api_version = api_version;
  Driver::Stack().push_back(*out);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuCtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice device) {
  return Create(out, flags, device, 3020);
}

CUresult cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam* affinity, int count, unsigned int flags,
                        CUdevice device) {
  US_CUDA_REQUIRE(count >= 0, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(affinity == nullptr || count == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  return Create(out, flags, device, 3020);
}

CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* params, unsigned int flags, CUdevice device) {
  if (params != nullptr) {
    US_CUDA_REQUIRE(params->execAffinityParams == nullptr || params->numExecAffinityParams == 0,
                    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    US_CUDA_REQUIRE(params->cigParams == nullptr, CUDA_ERROR_NOT_SUPPORTED);
  }
  return Create(out, flags, device, 3020);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  US_CUDA_REQUIRE(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(!D().IsGrave(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  US_CUDA_REQUIRE(D().contexts.Has(context), CUDA_ERROR_INVALID_CONTEXT);
  US_CUDA_REQUIRE(!context->primary, CUDA_ERROR_INVALID_CONTEXT);
  if (context->error == CUDA_SUCCESS) D().Wait(context, nullptr);
  std::vector<Context*>& stack = Driver::Stack();
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  D().DestroyContext(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext* out, unsigned int flags) {
  US_CUDA_REQUIRE(flags == 0 && out != nullptr, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(D().Current(out));
  ++(*out)->attached;
  return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext context) {
  Context* current = nullptr;
  US_CUDA_TRY(D().Current(&current));
  US_CUDA_REQUIRE(current == context, CUDA_ERROR_INVALID_CONTEXT);
  if (--context->attached > 0) return CUDA_SUCCESS;
  return cuCtxDestroy_v2(context);
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  // One that was destroyed says so when it is used.
  US_CUDA_REQUIRE(D().contexts.Has(context) || D().IsGrave(context), CUDA_ERROR_INVALID_CONTEXT);
  Driver::Stack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  std::vector<Context*>& stack = Driver::Stack();
  US_CUDA_REQUIRE(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT);
  if (out != nullptr) *out = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  std::vector<Context*>& stack = Driver::Stack();
  if (context == nullptr) {
    if (!stack.empty()) stack.pop_back();
    return CUDA_SUCCESS;
  }
  US_CUDA_REQUIRE(D().contexts.Has(context) || D().IsGrave(context), CUDA_ERROR_INVALID_CONTEXT);
  if (stack.empty())
    stack.push_back(context);
  else
    stack.back() = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* out) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = Driver::Stack().empty() ? nullptr : Driver::Stack().back();
  return CUDA_SUCCESS;
}

namespace {

// The context that was given, or the current one, whatever has happened to it: what is asked of it needs no
// working context.
CUresult Any(CUcontext given, Context** out) {
  const CUresult result = D().Check(given, out);
  return *out != nullptr ? CUDA_SUCCESS : result;
}

}  // namespace

CUresult cuCtxGetDevice_v2(CUdevice* out, CUcontext given) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  if (const Driver::Grave* grave = given == nullptr ? D().CurrentGrave() : nullptr) {
    *out = grave->device;
    return CUDA_SUCCESS;
  }
  Context* context = nullptr;
  US_CUDA_TRY(Any(given, &context));
  *out = context->device->index;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* out) { return cuCtxGetDevice_v2(out, nullptr); }

CUresult cuCtxGetFlags(unsigned int* flags) {
  if (const Driver::Grave* grave = D().CurrentGrave(); grave != nullptr && flags != nullptr) {
    *flags = grave->flags;
    return CUDA_SUCCESS;
  }
  Context* context = nullptr;
  US_CUDA_TRY(Any(nullptr, &context));
  US_CUDA_REQUIRE(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(ValidFlags(flags), CUDA_ERROR_INVALID_VALUE);
  // Host memory is always mapped: the bit says nothing here.
  context->flags = flags & ~static_cast<unsigned>(CU_CTX_MAP_HOST);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext given, unsigned long long* id) {
  Context* context = nullptr;
  US_CUDA_TRY(Any(given, &context));
  US_CUDA_REQUIRE(id != nullptr, CUDA_ERROR_INVALID_VALUE);
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext given, unsigned int* version) {
  Context* context = nullptr;
  US_CUDA_TRY(Any(given, &context));
  US_CUDA_REQUIRE(version != nullptr, CUDA_ERROR_INVALID_VALUE);
  *version = context->api_version;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v2(CUcontext given) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Check(given, &context));
  US_CUDA_TRY(D().CheckNotCapturing(context));
  // Whatever the mode: the context has a stream that captures.
  for (const Stream* stream : context->streams) US_CUDA_TRY(Driver::CheckStreamNotCapturing(*stream));
  return D().Wait(context, nullptr);
}
CUresult cuCtxSynchronize() { return cuCtxSynchronize_v2(nullptr); }

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(value != nullptr && limit >= 0 && limit <= CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED,
                  CUDA_ERROR_INVALID_VALUE);
  const auto it = context->limits.find(limit);
  US_CUDA_REQUIRE(it != context->limits.end(), CUDA_ERROR_UNSUPPORTED_LIMIT);
  *value = it->second;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_TRY(D().CheckNotCapturing(context));
  US_CUDA_REQUIRE(limit >= 0 && limit <= CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, CUDA_ERROR_INVALID_VALUE);
  const auto it = context->limits.find(limit);
  US_CUDA_REQUIRE(it != context->limits.end(), CUDA_ERROR_UNSUPPORTED_LIMIT);
  // Minima and units are what an H200 sets when it is asked for less.
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      // 512 KiB of local memory a thread, less what the driver keeps.
      US_CUDA_REQUIRE(value <= 512 * 1024 - 576, CUDA_ERROR_INVALID_VALUE);
      break;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      value = std::max<size_t>(AlignUp(value, size_t{256}), 512 << 10);
      break;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      // Not once a kernel has used the heap.
      US_CUDA_REQUIRE(!context->heap, CUDA_ERROR_INVALID_VALUE);
      value = std::max<size_t>(value, 4 << 20);
      break;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      value = std::max<size_t>(value, 32);
      break;
    case CU_LIMIT_SHMEM_SIZE:
    case CU_LIMIT_CIG_ENABLED:
      return CUDA_ERROR_NOT_PERMITTED;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      US_CUDA_REQUIRE(value <= 128, CUDA_ERROR_INVALID_VALUE);
      break;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
      US_CUDA_REQUIRE(value <= static_cast<size_t>(context->device->Attribute(
                                   CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)),
                      CUDA_ERROR_INVALID_VALUE);
      value = AlignUp(
          value, static_cast<size_t>(std::max(
                     1, context->device->Attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE) / 10)));
      break;
    default:
      break;
  }
  it->second = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(config != nullptr, CUDA_ERROR_INVALID_VALUE);
  *config = context->cache_config;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(config >= 0 && config <= 3, CUDA_ERROR_INVALID_VALUE);
  context->cache_config = config;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(config != nullptr, CUDA_ERROR_INVALID_VALUE);
  // Banks of four bytes since Maxwell, whatever was asked.
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(config >= 0 && config <= 2, CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache() {
  Context* context = nullptr;
  return D().Current(&context);
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(D().contexts.Has(peer), CUDA_ERROR_INVALID_CONTEXT);
  US_CUDA_REQUIRE(peer != context, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  int can = 0;
  US_CUDA_TRY(cuDeviceCanAccessPeer(&can, context->device->index, peer->device->index));
  US_CUDA_REQUIRE(can != 0, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  US_CUDA_REQUIRE(context->peers.insert(peer).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  for (const auto& [va, range] : D().ranges)
    if (range->context == peer) D().MapRange(context, *range);
  return CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(D().contexts.Has(peer), CUDA_ERROR_INVALID_CONTEXT);
  US_CUDA_REQUIRE(context->peers.erase(peer) != 0, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  for (const auto& [va, range] : D().ranges)
    if (range->context == peer) D().MapRange(context, *range);
  return CUDA_SUCCESS;
}

// --- the primary context ---

CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  if (device->primary == nullptr) {
    US_CUDA_TRY(device->error);
    device->primary = D().MakeContext(device, device->primary_flags);
    device->primary->primary = true;
  }
  ++device->primary_references;
  *out = device->primary;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  // A reset leaves the references to their holders.
  US_CUDA_REQUIRE(device->primary_references > 0, CUDA_ERROR_INVALID_CONTEXT);
  if (--device->primary_references > 0 || device->primary == nullptr) return CUDA_SUCCESS;
  if (device->primary->error == CUDA_SUCCESS) D().Wait(device->primary, nullptr);
  D().DestroyContext(device->primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  if (device->primary == nullptr) return CUDA_SUCCESS;
  D().DestroyContext(device->primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(ValidFlags(flags) && (flags & CU_CTX_MAP_HOST) == 0, CUDA_ERROR_INVALID_VALUE);
  device->primary_flags = flags;
  if (device->primary != nullptr) device->primary->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int* flags, int* active) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(flags != nullptr && active != nullptr, CUDA_ERROR_INVALID_VALUE);
  *flags = device->primary_flags;
  *active = device->primary != nullptr;
  return CUDA_SUCCESS;
}

}  // namespace understudy::mockgpu::nv::calls
