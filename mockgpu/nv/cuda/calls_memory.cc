// SPDX-License-Identifier: Apache-2.0
// Device, host and managed memory, and what is known of a pointer.
#include <cstring>

#include "mockgpu/nv/cuda/memory_calls.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::nv::calls {
namespace {

Driver& D() { return Driver::Get(); }

CUresult FindManaged(CUdeviceptr address, size_t bytes, Range** out) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  Range* const range = D().FindRange(address);
  US_CUDA_REQUIRE(range != nullptr && range->kind == RangeKind::kManaged && bytes != 0 &&
                      bytes <= range->bytes - (address - range->va),
                  CUDA_ERROR_INVALID_VALUE);
  *out = range;
  return CUDA_SUCCESS;
}

bool ValidLocation(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return location.id >= 0 && static_cast<size_t>(location.id) < D().devices.size();
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return true;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return location.id == 0;
    default:
      return false;
  }
}

CUmemLocation LocationOf(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

// Of devices and host nodes; the host as such has none.
int IdOf(const CUmemLocation& l) {
  return l.type == CU_MEM_LOCATION_TYPE_DEVICE || l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ? l.id : -1;
}

int LegacyLocation(const CUmemLocation& l) {
  if (l.type == CU_MEM_LOCATION_TYPE_INVALID) return CU_DEVICE_INVALID;
  return l.type == CU_MEM_LOCATION_TYPE_DEVICE ? l.id : CU_DEVICE_CPU;
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  if (free_bytes != nullptr) *free_bytes = D().FreeBytes(*context->device);
  if (total != nullptr) *total = context->device->profile->memory_bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_TRY(D().CheckNotCapturing(context));
  US_CUDA_REQUIRE(out != nullptr && bytes != 0, CUDA_ERROR_INVALID_VALUE);
  Range* range = nullptr;
  US_CUDA_TRY(D().Allocate(context, bytes, RangeKind::kDevice, 0, &range));
  *out = range->va;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                            unsigned int element) {
  US_CUDA_REQUIRE(out != nullptr && pitch != nullptr && width != 0 && height != 0, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(element == 4 || element == 8 || element == 16, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(width < uint64_t{1} << 40 && height < uint64_t{1} << 40, CUDA_ERROR_OUT_OF_MEMORY);
  const size_t row = AlignUp(width, size_t{512});
  US_CUDA_REQUIRE(row <= (uint64_t{1} << 46) / height, CUDA_ERROR_OUT_OF_MEMORY);
  US_CUDA_TRY(cuMemAlloc_v2(out, row * height));
  *pitch = row;
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  Context* context = nullptr;
  // Nothing is freed without a context too.
  if (address == 0 && D().initialized && Driver::Stack().empty()) return CUDA_SUCCESS;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_TRY(D().CheckNotCapturing(context));
  if (address == 0) return CUDA_SUCCESS;
  Range* range = D().FindRange(address);
  US_CUDA_REQUIRE(range != nullptr && range->va == address && !range->freeing, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(range->kind == RangeKind::kDevice || range->kind == RangeKind::kManaged ||
                      range->kind == RangeKind::kPool,
                  CUDA_ERROR_INVALID_VALUE);
  // Work that may use the memory comes first.
  Context* const owner = range->context == nullptr ? context : range->context;
  if (owner->error == CUDA_SUCCESS && !D().Idle(*owner)) {
    US_CUDA_TRY(D().Wait(owner, nullptr));
    range = D().FindRange(address);
    US_CUDA_REQUIRE(range != nullptr, CUDA_ERROR_INVALID_VALUE);
  }
  return D().Release(range);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  const Range* range = D().FindRange(address);
  US_CUDA_REQUIRE(range != nullptr, CUDA_ERROR_NOT_FOUND);
  if (base != nullptr) *base = range->va;
  if (bytes != nullptr) *bytes = range->bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned int flags) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_TRY(D().CheckNotCapturing(context));
  US_CUDA_REQUIRE(out != nullptr && (flags & ~7u) == 0, CUDA_ERROR_INVALID_VALUE);
  if (bytes == 0) {
    *out = nullptr;
    return CUDA_SUCCESS;
  }
  Range* range = nullptr;
  // With unified addresses all host memory is portable and mapped; the flags say the latter.
  US_CUDA_TRY(D().AllocateHost(context, bytes, RangeKind::kHost,
                               (flags & ~unsigned{CU_MEMHOSTALLOC_PORTABLE}) | CU_MEMHOSTALLOC_DEVICEMAP,
                               &range));
  *out = reinterpret_cast<void*>(range->va);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void** out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

CUresult cuMemFreeHost(void* p) {
  Context* context = nullptr;
  if (p == nullptr && D().initialized && Driver::Stack().empty()) return CUDA_SUCCESS;
  US_CUDA_TRY(D().Current(&context));
  if (p == nullptr) return CUDA_SUCCESS;
  const auto address = reinterpret_cast<uint64_t>(p);
  const Range* range = D().FindRange(address);
  US_CUDA_REQUIRE(range != nullptr && range->va == address && range->kind == RangeKind::kHost,
                  CUDA_ERROR_INVALID_VALUE);
  if (!D().Idle(*context)) US_CUDA_TRY(D().Wait(context, nullptr));
  Range* const now = D().FindRange(address);
  US_CUDA_REQUIRE(now != nullptr, CUDA_ERROR_INVALID_VALUE);
  return D().Release(now);
}

CUresult cuMemHostRegister_v2(void* p, size_t bytes, unsigned int flags) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_TRY(D().CheckNotCapturing(context));
  US_CUDA_REQUIRE(p != nullptr && bytes != 0 && (flags & ~15u) == 0, CUDA_ERROR_INVALID_VALUE);
  // Memory that the library allocated is page-locked as it is.
  const Range* const known = D().FindRange(reinterpret_cast<uint64_t>(p));
  US_CUDA_REQUIRE(known == nullptr || known->kind == RangeKind::kRegistered, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE((flags & (CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY)) == 0,
                  CUDA_ERROR_NOT_SUPPORTED);
  return D().RegisterHost(context, p, bytes, flags | CU_MEMHOSTREGISTER_DEVICEMAP);
}

CUresult cuMemHostUnregister(void* p) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  const auto address = reinterpret_cast<uint64_t>(p);
  US_CUDA_REQUIRE(p != nullptr, CUDA_ERROR_INVALID_VALUE);
  Range* const range = D().FindRange(address);
  US_CUDA_REQUIRE(range != nullptr, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  US_CUDA_REQUIRE(range->va == address && range->kind == RangeKind::kRegistered, CUDA_ERROR_INVALID_VALUE);
  return D().Release(range);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* p, unsigned int flags) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(out != nullptr && p != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  const Range* range = D().FindRange(reinterpret_cast<uint64_t>(p));
  US_CUDA_REQUIRE(
      range != nullptr && (range->kind == RangeKind::kHost || range->kind == RangeKind::kRegistered),
      CUDA_ERROR_INVALID_VALUE);
  *out = reinterpret_cast<uint64_t>(p);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* p) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_REQUIRE(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
  const Range* range = D().FindRange(reinterpret_cast<uint64_t>(p));
  US_CUDA_REQUIRE(
      range != nullptr && (range->kind == RangeKind::kHost || range->kind == RangeKind::kManaged ||
                           range->kind == RangeKind::kRegistered),
      CUDA_ERROR_INVALID_VALUE);
  *flags = range->kind == RangeKind::kManaged ? unsigned{CU_MEMHOSTALLOC_DEVICEMAP} : range->flags;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned int flags) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  US_CUDA_TRY(D().CheckNotCapturing(context));
  US_CUDA_REQUIRE(
      out != nullptr && bytes != 0 && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST),
      CUDA_ERROR_INVALID_VALUE);
  Range* range = nullptr;
  US_CUDA_TRY(D().AllocateHost(context, bytes, RangeKind::kManaged, flags, &range));
  *out = range->va;
  return CUDA_SUCCESS;
}

// --- managed memory's advice: remembered, and without effect on what is computed ---

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  Range* range = nullptr;
  US_CUDA_TRY(FindManaged(address, bytes, &range));
  const bool located = advice >= CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
  US_CUDA_REQUIRE(!located || advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION || ValidLocation(location),
                  CUDA_ERROR_INVALID_VALUE);
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      range->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      range->preferred = location;
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      range->preferred = {CU_MEM_LOCATION_TYPE_INVALID, -1};
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      range->accessed_by.insert(LegacyLocation(location));
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      range->accessed_by.erase(LegacyLocation(location));
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(address, bytes, advice, LocationOf(device));
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
                               CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(ValidLocation(location), CUDA_ERROR_INVALID_DEVICE);
  Range* range = nullptr;
  US_CUDA_TRY(FindManaged(address, bytes, &range));
  range->prefetched = location;
  return CUDA_SUCCESS;
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(address, bytes, LocationOf(device), 0, stream);
}
CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                 CUmemLocation* locations, size_t* indices, size_t num_locations,
                                 unsigned long long flags, CUstream stream) {
  US_CUDA_REQUIRE(flags == 0 && addresses != nullptr && sizes != nullptr && locations != nullptr &&
                      indices != nullptr && num_locations > 0 && num_locations <= count,
                  CUDA_ERROR_INVALID_VALUE);
  // Location i holds from indices[i] on.
  size_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    while (place + 1 < num_locations && indices[place + 1] <= i) ++place;
    US_CUDA_TRY(cuMemPrefetchAsync_v2(addresses[i], sizes[i], locations[place], 0, stream));
  }
  return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr address,
                                size_t bytes) {
  Range* range = nullptr;
  US_CUDA_TRY(FindManaged(address, bytes, &range));
  US_CUDA_REQUIRE(
      data != nullptr &&
          (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? size >= 4 && size % 4 == 0 : size == 4),
      CUDA_ERROR_INVALID_VALUE);
  int* const out = static_cast<int*>(data);
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      *out = range->read_mostly;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      *out = LegacyLocation(range->preferred);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      size_t i = 0;
      for (const int device : range->accessed_by)
        if (i < size / 4) out[i++] = device;
      for (; i < size / 4; ++i) out[i] = CU_DEVICE_INVALID;
      return CUDA_SUCCESS;
    }
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      *out = LegacyLocation(range->prefetched);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      *out = range->preferred.type;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      *out = IdOf(range->preferred);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      *out = range->prefetched.type;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      *out = IdOf(range->prefetched);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes, size_t count,
                                 CUdeviceptr address, size_t bytes) {
  US_CUDA_REQUIRE(data != nullptr && sizes != nullptr && attributes != nullptr && count > 0,
                  CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i)
    US_CUDA_TRY(cuMemRangeGetAttribute(data[i], sizes[i], attributes[i], address, bytes));
  return CUDA_SUCCESS;
}

// --- pointers ---

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(data != nullptr, CUDA_ERROR_INVALID_VALUE);
  const Range* range = D().FindRange(address);
  US_CUDA_REQUIRE(range != nullptr, CUDA_ERROR_INVALID_VALUE);
  const bool on_host = range->device == nullptr && range->kind != RangeKind::kVirtual;
  const auto number = [&](auto value) {
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      // Memory of pools and virtual memory belongs to no context.
      return number(range->context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return number(on_host && range->kind != RangeKind::kManaged ? uint32_t{CU_MEMORYTYPE_HOST}
                                                                  : uint32_t{CU_MEMORYTYPE_DEVICE});
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return number(address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      US_CUDA_REQUIRE(on_host, CUDA_ERROR_INVALID_VALUE);
      return number(address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return number(static_cast<uint32_t>(range->sync_memops || range->kind == RangeKind::kManaged));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return number(range->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return number(static_cast<uint32_t>(range->kind == RangeKind::kManaged));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return number(range->device != nullptr    ? range->device->index
                    : range->context != nullptr ? range->context->device->index
                                                : CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return number(uint32_t{0});
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return number(range->va);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return number(range->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return number(uint32_t{1});
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return number(uint64_t{0});
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: {
      Context* context = nullptr;
      US_CUDA_TRY(D().Current(&context));
      return number(static_cast<uint32_t>(D().PermOf(*context, *range)));
    }
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return number(range->pool);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return number(range->id);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(count > 0 && attributes != nullptr && data != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (unsigned i = 0; i < count; ++i) {
    US_CUDA_REQUIRE(attributes[i] >= CU_POINTER_ATTRIBUTE_CONTEXT &&
                        attributes[i] <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE,
                    CUDA_ERROR_INVALID_VALUE);
    const CUresult result = cuPointerGetAttribute(data[i], attributes[i], address);
    if (result == CUDA_SUCCESS) continue;
    // A pointer that is not known, or lacks the attribute, has zeros here.
    size_t bytes = 8;
    switch (attributes[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      case CU_POINTER_ATTRIBUTE_MAPPED:
      case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        bytes = 4;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        continue;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: {
        const int none = CU_DEVICE_INVALID;
        std::memcpy(data[i], &none, sizeof none);
        continue;
      }
      default:
        break;
    }
    std::memset(data[i], 0, bytes);
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  Context* context = nullptr;
  US_CUDA_TRY(D().Current(&context));
  Range* const range = D().FindRange(address);
  US_CUDA_REQUIRE(value != nullptr && range != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                  CUDA_ERROR_INVALID_VALUE);
  uint32_t flag = 0;
  std::memcpy(&flag, value, sizeof flag);
  range->sync_memops = flag != 0;
  return CUDA_SUCCESS;
}

}  // namespace understudy::mockgpu::nv::calls
