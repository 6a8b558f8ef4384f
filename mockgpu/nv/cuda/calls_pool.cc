// SPDX-License-Identifier: Apache-2.0
// Memory pools (stream-ordered memory) and virtual memory management.
#include <algorithm>
#include <cstring>

#include "mockgpu/nv/cuda/memory_calls.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::nv {
namespace {

constexpr size_t kGranularity = 2 << 20;
constexpr uint64_t kPoolChunk = 32 << 20;  // in which a pool takes memory from its device

Driver& D() { return Driver::Get(); }

CUresult DeviceOf(const CUmemLocation& location, Device** out) {
  US_CUDA_REQUIRE(location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
  return D().FindDevice(location.id, out);
}

CUresult CheckProp(const CUmemAllocationProp* prop) {
  US_CUDA_REQUIRE(prop != nullptr && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(prop->allocFlags.compressionType <= 1, CUDA_ERROR_INVALID_VALUE);
  for (const unsigned char byte : prop->allocFlags.reserved)
    US_CUDA_REQUIRE(byte == 0, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
  Device* device = nullptr;
  const CUresult result = DeviceOf(prop->location, &device);
  return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_DEVICE : result;
}

}  // namespace

CUresult AllocateFromPool(Driver& driver, MemoryPool* pool, size_t bytes, uint64_t va, CUdeviceptr* out) {
  Device* const device = pool->device;
  US_CUDA_REQUIRE(bytes <= driver.FreeBytes(*device), CUDA_ERROR_OUT_OF_MEMORY);
  US_CUDA_REQUIRE(pool->props.maxSize == 0 || pool->used + bytes <= pool->props.maxSize,
                  CUDA_ERROR_OUT_OF_MEMORY);
  Range range;
  range.va = va != 0 ? va : driver.ReserveAddresses(bytes, 512);
  range.backing = Backing::Create(bytes);
  US_CUDA_REQUIRE(range.va != 0 && range.backing != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  range.bytes = bytes;
  range.kind = RangeKind::kPool;
  range.device = device;
  range.pool = pool;
  device->used_bytes += bytes;
  pool->used += bytes;
  pool->reserved += bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  *out = driver.AddRange(std::move(range))->va;
  return CUDA_SUCCESS;
}

CUresult MaterializeGraphMemory(Driver& driver, Context* context, const CUDA_MEM_ALLOC_NODE_PARAMS& params) {
  // What an earlier launch allocated and nobody freed is there already.
  if (driver.FindRange(params.dptr) != nullptr) return CUDA_SUCCESS;
  Device* device = context->device;
  if (params.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    US_CUDA_TRY(driver.FindDevice(params.poolProps.location.id, &device));
  CUdeviceptr out = 0;
  US_CUDA_TRY(AllocateFromPool(driver, device->default_pool, params.bytesize, params.dptr, &out));
  driver.FindRange(out)->of_graph = true;
  device->graph_memory += params.bytesize;
  device->graph_memory_high = std::max(device->graph_memory_high, device->graph_memory);
  return CUDA_SUCCESS;
}

namespace calls {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = device->default_pool;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetMemPool(CUmemoryPool* out, CUdevice ordinal) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  *out = device->current_pool;
  return CUDA_SUCCESS;
}
CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
  Device* device = nullptr;
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(D().FindDevice(ordinal, &device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(D().pools.Has(pool) && pool->device == device, CUDA_ERROR_INVALID_VALUE);
  device->current_pool = pool;
  return CUDA_SUCCESS;
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  US_CUDA_REQUIRE(location != nullptr && type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(location->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  return cuDeviceGetDefaultMemPool(out, location->id);
}
CUresult cuMemGetMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  US_CUDA_REQUIRE(location != nullptr && type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(location->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  return cuDeviceGetMemPool(out, location->id);
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  US_CUDA_REQUIRE(location != nullptr && type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(location->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  return cuDeviceSetMemPool(location->id, pool);
}

CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* props) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr && props != nullptr && props->allocType == CU_MEM_ALLOCATION_TYPE_PINNED,
                  CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE((props->handleTypes & ~15) == 0 && props->location.type >= CU_MEM_LOCATION_TYPE_DEVICE &&
                      props->location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
                  CUDA_ERROR_INVALID_VALUE);
  for (const unsigned char byte : props->reserved) US_CUDA_REQUIRE(byte == 0, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_REQUIRE(props->handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
  US_CUDA_REQUIRE(props->location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  Device* device = nullptr;
  US_CUDA_REQUIRE(DeviceOf(props->location, &device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
  MemoryPool* const pool = D().pools.Make();
  pool->props = *props;
  pool->device = device;
  *out = pool;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  US_CUDA_REQUIRE(D().pools.Has(pool) && !pool->is_default, CUDA_ERROR_INVALID_VALUE);
  // Allocations outlive the pool; they count for the default one then.
  for (const auto& [va, range] : D().ranges)
    if (range->pool == pool)
      range->pool = pool->device->default_pool, range->pool->used += range->bytes,
      range->pool->reserved += range->bytes;
  if (pool->device->current_pool == pool) pool->device->current_pool = pool->device->default_pool;
  D().pools.Destroy(pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  // Nothing is kept that is not used.
  US_CUDA_REQUIRE(D().pools.Has(pool), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  US_CUDA_REQUIRE(D().pools.Has(pool) && value != nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto number = [&](uint64_t n) {
    std::memcpy(value, &n, sizeof n);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      std::memcpy(value, &pool->reuse[attribute], sizeof(int));
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return number(pool->release_threshold);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return number(AlignUp(pool->reserved, kPoolChunk));
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return number(AlignUp(pool->reserved_high, kPoolChunk));
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return number(pool->used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return number(pool->used_high);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  US_CUDA_REQUIRE(D().pools.Has(pool) && value != nullptr, CUDA_ERROR_INVALID_VALUE);
  uint64_t number = 0;
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      std::memcpy(&pool->reuse[attribute], value, sizeof(int));
      pool->reuse[attribute] = pool->reuse[attribute] != 0;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      std::memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      // High marks can be reset only.
      std::memcpy(&number, value, sizeof number);
      US_CUDA_REQUIRE(number == 0, CUDA_ERROR_INVALID_VALUE);
      (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? pool->used_high : pool->reserved_high) =
          attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? pool->used : pool->reserved;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
  US_CUDA_REQUIRE(D().pools.Has(pool) && map != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    Device* device = nullptr;
    US_CUDA_TRY(DeviceOf(map[i].location, &device));
    if (device == pool->device) {
      // A device's own access is not taken away.
      switch (map[i].flags) {
        case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
          continue;
        case CU_MEM_ACCESS_FLAGS_PROT_NONE:
          return CUDA_ERROR_INVALID_DEVICE;
        case CU_MEM_ACCESS_FLAGS_PROT_READ:
          return CUDA_ERROR_NOT_SUPPORTED;
        default:
          return CUDA_ERROR_INVALID_VALUE;
      }
    }
    int can = 0;
    US_CUDA_TRY(cuDeviceCanAccessPeer(&can, device->index, pool->device->index));
    US_CUDA_REQUIRE(can != 0, CUDA_ERROR_INVALID_DEVICE);
    pool->access[device->index] = map[i].flags;
  }
  for (const auto& [va, range] : D().ranges)
    if (range->pool == pool)
      for (Context* context : D().contexts.all()) D().MapRange(context, *range);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  US_CUDA_REQUIRE(D().pools.Has(pool) && flags != nullptr && location != nullptr, CUDA_ERROR_INVALID_VALUE);
  Device* device = nullptr;
  US_CUDA_REQUIRE(DeviceOf(*location, &device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
  const auto it = pool->access.find(device->index);
  *flags = device == pool->device     ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
           : it == pool->access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE
                                      : it->second;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  US_CUDA_REQUIRE(out != nullptr && D().pools.Has(pool), CUDA_ERROR_INVALID_VALUE);
  if (bytes == 0) {
    *out = 0;
    return CUDA_SUCCESS;
  }
  if (stream->capture != nullptr) {
    AllocCommand alloc;
    alloc.params.poolProps = pool->props;
    alloc.params.bytesize = bytes;
    alloc.params.dptr = *out = D().ReserveAddresses(bytes, 512);
    US_CUDA_REQUIRE(*out != 0, CUDA_ERROR_OUT_OF_MEMORY);
    return D().Submit(stream, alloc);
  }
  US_CUDA_TRY(D().CheckNotCapturing(stream->context));
  // The address is known at once; the order of the stream holds for what uses it.
  return AllocateFromPool(D(), pool, bytes, 0, out);
}

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  return cuMemAllocFromPoolAsync(out, bytes, stream->context->device->current_pool, handle);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  Stream* stream = nullptr;
  US_CUDA_TRY(D().FindStream(handle, &stream));
  if (address == 0) return CUDA_SUCCESS;
  if (stream->capture == nullptr) {
    Range* const range = D().FindRange(address);
    US_CUDA_REQUIRE(range != nullptr && range->va == address && !range->freeing &&
                        (range->kind == RangeKind::kPool || range->kind == RangeKind::kDevice),
                    CUDA_ERROR_INVALID_VALUE);
  }
  US_CUDA_TRY(D().Submit(stream, FreeCommand{address}));
  if (stream->capture == nullptr)
    if (Range* const range = D().FindRange(address); range != nullptr) range->freeing = true;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(value != nullptr && attribute >= 0 && attribute <= CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
                  CUDA_ERROR_INVALID_VALUE);
  const uint64_t values[] = {device->graph_memory, device->graph_memory_high,
                             AlignUp(device->graph_memory, kPoolChunk),
                             AlignUp(device->graph_memory_high, kPoolChunk)};
  std::memcpy(value, &values[attribute], 8);
  return CUDA_SUCCESS;
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
  Device* device = nullptr;
  US_CUDA_TRY(D().FindDevice(ordinal, &device));
  US_CUDA_REQUIRE(value != nullptr && (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                                       attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH),
                  CUDA_ERROR_INVALID_VALUE);
  uint64_t number = 0;
  std::memcpy(&number, value, sizeof number);
  US_CUDA_REQUIRE(number == 0, CUDA_ERROR_INVALID_VALUE);
  device->graph_memory_high = device->graph_memory;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  Device* device = nullptr;
  return D().FindDevice(ordinal, &device);
}

// --- virtual memory ---

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(granularity != nullptr && option >= 0 && option <= 1, CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(CheckProp(prop));
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t bytes, const CUmemAllocationProp* prop,
                     unsigned long long flags) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr && flags == 0 && bytes != 0 && bytes % kGranularity == 0,
                  CUDA_ERROR_INVALID_VALUE);
  US_CUDA_TRY(CheckProp(prop));
  Device* device = nullptr;
  US_CUDA_TRY(DeviceOf(prop->location, &device));
  US_CUDA_REQUIRE(bytes <= D().FreeBytes(*device), CUDA_ERROR_OUT_OF_MEMORY);
  auto memory = std::make_shared<PhysicalMemory>();
  memory->backing = Backing::Create(bytes);
  US_CUDA_REQUIRE(memory->backing != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  memory->prop = *prop;
  memory->device = device;
  memory->bytes = bytes;
  device->used_bytes += bytes;
  *out = D().NextId();
  D().physical[*out] = std::move(memory);
  return CUDA_SUCCESS;
}

namespace {

// Memory goes when neither handle nor mapping is left.
void Unreference(const std::shared_ptr<PhysicalMemory>& memory) {
  if (--memory->references == 0) memory->device->used_bytes -= memory->bytes;
}

}  // namespace

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const auto it = D().physical.find(handle);
  US_CUDA_REQUIRE(it != D().physical.end(), CUDA_ERROR_INVALID_VALUE);
  Unreference(it->second);
  if (--it->second->handles <= 0) {
    it->second->handles = 1;
    D().physical.erase(it);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* out, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(out != nullptr && flags == 0 && bytes != 0 && bytes % kGranularity == 0 &&
                      (alignment & (alignment - 1)) == 0,
                  CUDA_ERROR_INVALID_VALUE);
  uint64_t va = 0;
  if (wanted != 0 && wanted % std::max<uint64_t>(alignment, kGranularity) == 0 && D().IsFree(wanted, bytes))
    va = wanted;
  else
    va = D().ReserveAddresses(bytes, std::max<uint64_t>(alignment, kGranularity));
  US_CUDA_REQUIRE(va != 0, CUDA_ERROR_OUT_OF_MEMORY);
  D().reservations[va] = {va, bytes};
  *out = va;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr va, size_t bytes) {
  const auto it = D().reservations.find(va);
  US_CUDA_REQUIRE(it != D().reservations.end() && it->second.bytes == bytes, CUDA_ERROR_INVALID_VALUE);
  const auto mapped = D().ranges.lower_bound(va);
  US_CUDA_REQUIRE(mapped == D().ranges.end() || mapped->first >= va + bytes, CUDA_ERROR_INVALID_VALUE);
  D().reservations.erase(it);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr va, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  const auto it = D().physical.find(handle);
  US_CUDA_REQUIRE(it != D().physical.end() && flags == 0, CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<PhysicalMemory>& memory = it->second;
  US_CUDA_REQUIRE(bytes != 0 && va % kGranularity == 0, CUDA_ERROR_INVALID_VALUE);
  // Memory is mapped whole, or in whole large pages of it.
  US_CUDA_REQUIRE(bytes % kGranularity == 0 && offset % kGranularity == 0 && offset <= memory->bytes &&
                      bytes <= memory->bytes - offset,
                  CUDA_ERROR_NOT_SUPPORTED);
  auto r = D().reservations.upper_bound(va);
  US_CUDA_REQUIRE(r != D().reservations.begin(), CUDA_ERROR_INVALID_VALUE);
  --r;
  US_CUDA_REQUIRE(va - r->first < r->second.bytes && bytes <= r->second.bytes - (va - r->first),
                  CUDA_ERROR_INVALID_VALUE);
  const auto next = D().ranges.lower_bound(va);
  US_CUDA_REQUIRE((next == D().ranges.end() || next->first >= va + bytes) && D().FindRange(va) == nullptr,
                  CUDA_ERROR_INVALID_VALUE);
  Range range;
  range.va = va;
  range.bytes = bytes;
  range.backing = memory->backing;
  range.backing_offset = offset;
  range.kind = RangeKind::kVirtual;
  range.device = memory->device;
  range.physical = memory;
  ++memory->references;
  D().AddRange(std::move(range));
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr va, size_t bytes) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  // Whole mappings only, without gaps; where nothing is mapped, nothing happens.
  std::vector<Range*> found;
  auto r = D().reservations.upper_bound(va);
  const auto next = D().ranges.lower_bound(va);
  if (bytes != 0 && r != D().reservations.begin() && va - (--r)->first < r->second.bytes &&
      va % kGranularity == 0 && bytes % kGranularity == 0 && D().FindRange(va) == nullptr &&
      (next == D().ranges.end() || next->first >= va + bytes))
    return CUDA_SUCCESS;
  uint64_t at = va;
  while (at < va + bytes) {
    Range* const range = D().FindRange(at);
    US_CUDA_REQUIRE(range != nullptr && range->va == at && range->kind == RangeKind::kVirtual,
                    CUDA_ERROR_INVALID_VALUE);
    found.push_back(range);
    at += range->bytes;
  }
  US_CUDA_REQUIRE(!found.empty() && at == va + bytes, CUDA_ERROR_INVALID_VALUE);
  for (Range* range : found) {
    Unreference(range->physical);
    D().RemoveRange(range);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr va, size_t bytes, const CUmemAccessDesc* access, size_t count) {
  US_CUDA_REQUIRE(D().initialized, CUDA_ERROR_NOT_INITIALIZED);
  US_CUDA_REQUIRE(access != nullptr && count > 0 && bytes != 0, CUDA_ERROR_INVALID_VALUE);
  std::vector<Range*> found;
  uint64_t at = va;
  while (at < va + bytes) {
    Range* const range = D().FindRange(at);
    US_CUDA_REQUIRE(range != nullptr && range->va == at && range->kind == RangeKind::kVirtual,
                    CUDA_ERROR_INVALID_VALUE);
    found.push_back(range);
    at += range->bytes;
  }
  US_CUDA_REQUIRE(at == va + bytes, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    Device* device = nullptr;
    US_CUDA_REQUIRE(DeviceOf(access[i].location, &device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
    US_CUDA_REQUIRE(access[i].flags == 0 || access[i].flags == 1 || access[i].flags == 3,
                    CUDA_ERROR_INVALID_VALUE);
    for (Range* range : found) {
      int can = device == range->device;
      if (!can) US_CUDA_TRY(cuDeviceCanAccessPeer(&can, device->index, range->device->index));
      US_CUDA_REQUIRE(can != 0, CUDA_ERROR_INVALID_DEVICE);
      range->access[device->index] = access[i].flags;
    }
  }
  for (Range* range : found)
    for (Context* context : D().contexts.all()) D().MapRange(context, *range);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr va) {
  US_CUDA_REQUIRE(flags != nullptr && location != nullptr, CUDA_ERROR_INVALID_VALUE);
  const Range* range = D().FindRange(va);
  US_CUDA_REQUIRE(range != nullptr && range->kind == RangeKind::kVirtual, CUDA_ERROR_INVALID_VALUE);
  Device* device = nullptr;
  US_CUDA_TRY(DeviceOf(*location, &device));
  const auto it = range->access.find(device->index);
  *flags = it == range->access.end() ? 0 : static_cast<unsigned long long>(it->second);
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  US_CUDA_REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
  const Range* range = D().FindRange(reinterpret_cast<uint64_t>(address));
  US_CUDA_REQUIRE(range != nullptr && range->physical != nullptr, CUDA_ERROR_INVALID_VALUE);
  ++range->physical->references;
  // The same number while the memory still has one.
  for (const auto& [handle, memory] : D().physical)
    if (memory == range->physical) {
      ++memory->handles;
      *out = handle;
      return CUDA_SUCCESS;
    }
  *out = D().NextId();
  D().physical[*out] = range->physical;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) {
  const auto it = D().physical.find(handle);
  US_CUDA_REQUIRE(prop != nullptr && it != D().physical.end(), CUDA_ERROR_INVALID_VALUE);
  *prop = it->second->prop;
  return CUDA_SUCCESS;
}

}  // namespace calls
}  // namespace understudy::mockgpu::nv
