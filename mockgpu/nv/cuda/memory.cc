// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "mockgpu/nv/cuda/driver.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::nv {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHeapLimit = 64 * 1024;        // below, the host's heap serves
constexpr uint64_t kSmallAlignment = 512;         // of allocations
constexpr uint64_t kLargeAlignment = 2ull << 20;  // of those of a large page and more

}  // namespace

std::shared_ptr<Backing> Backing::Create(uint64_t bytes, void* at) {
  auto out = std::make_shared<Backing>();
  out->bytes = bytes;
  if (at == nullptr && bytes < kHeapLimit) {
    out->host = static_cast<uint8_t*>(std::aligned_alloc(256, AlignUp(bytes, uint64_t{256})));
    if (out->host == nullptr) return nullptr;
    std::memset(out->host, 0, bytes);
    out->kind_ = Kind::kHeap;
    return out;
  }
  const int fixed = at == nullptr ? 0 : MAP_FIXED_NOREPLACE;
  void* const p = mmap(at, AlignUp(bytes, kPage), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  out->host = static_cast<uint8_t*>(p);
  out->kind_ = Kind::kMapped;
  if (at != nullptr && p != at) return nullptr;
  return out;
}

std::shared_ptr<Backing> Backing::Borrow(void* host, uint64_t bytes) {
  auto out = std::make_shared<Backing>();
  out->host = static_cast<uint8_t*>(host);
  out->bytes = bytes;
  return out;
}

Backing::~Backing() {
  if (kind_ == Kind::kHeap) std::free(host);
  if (kind_ == Kind::kMapped) munmap(host, AlignUp(bytes, kPage));
}

uint64_t Driver::FreeBytes(const Device& device) const {
  // What the driver itself keeps: about as much as a context of a real card.
  constexpr uint64_t kOverhead = 512ull << 20;
  const uint64_t used = device.used_bytes + kOverhead;
  return used >= device.profile->memory_bytes ? 0 : device.profile->memory_bytes - used;
}

// Addresses are not given again while there are new ones: a stale pointer meets nothing.
uint64_t Driver::ReserveAddresses(uint64_t bytes, uint64_t alignment) {
  const uint64_t begin = AlignUp(next_address_, alignment);
  // A gap follows, so that a run past the end of one allocation does not reach the next.
  const uint64_t end = begin + bytes + kSmallAlignment;
  if (begin < next_address_ || end < begin || end > address_end_) {
    // Look for a gap between what lives.
    uint64_t at = AlignUp(address_begin_, alignment);
    const auto skip = [&](uint64_t va, uint64_t size) {
      if (va + size <= at || va >= address_end_) return false;
      if (at + bytes + kSmallAlignment <= va) return true;
      at = AlignUp(va + size + kSmallAlignment, alignment);
      return false;
    };
    std::map<uint64_t, uint64_t> taken;
    for (const auto& [va, range] : ranges) taken[va] = std::max(taken[va], range->bytes);
    for (const auto& [va, r] : reservations) taken[va] = std::max(taken[va], r.bytes);
    for (const auto& [va, size] : taken)
      if (skip(va, size)) return at;
    return at + bytes + kSmallAlignment <= address_end_ ? at : 0;
  }
  next_address_ = end;
  return begin;
}

bool Driver::IsFree(uint64_t va, uint64_t bytes) const {
  if (va < address_begin_ || va + bytes < va || va + bytes > next_address_) return false;
  const auto free_in = [&](const auto& map, const auto& size) {
    auto it = map.upper_bound(va);
    if (it != map.end() && it->first < va + bytes) return false;
    return it == map.begin() || (--it)->first + size(it->second) <= va;
  };
  return free_in(ranges, [](const auto& r) { return r->bytes; }) &&
         free_in(reservations, [](const Reservation& r) { return r.bytes; });
}

bool Driver::MayAccess(const Context& context, const Range& range) const {
  return PermOf(context, range) != emu::Perm::kNone;
}

emu::Perm Driver::PermOf(const Context& context, const Range& range) const {
  switch (range.kind) {
    case RangeKind::kDevice:
    case RangeKind::kModule:
      // All contexts of a device have one address space.
      return range.device == context.device || context.peers.count(range.context) != 0
                 ? emu::Perm::kReadWrite
                 : emu::Perm::kNone;
    case RangeKind::kHost:
    case RangeKind::kManaged:
      return emu::Perm::kReadWrite;
    case RangeKind::kRegistered:
      return range.flags & CU_MEMHOSTREGISTER_READ_ONLY ? emu::Perm::kRead : emu::Perm::kReadWrite;
    case RangeKind::kPool: {
      if (range.device == context.device) return emu::Perm::kReadWrite;
      const auto it = range.pool->access.find(context.device->index);
      if (it == range.pool->access.end()) return emu::Perm::kNone;
      return static_cast<emu::Perm>(it->second);
    }
    case RangeKind::kVirtual: {
      const auto it = range.access.find(context.device->index);
      if (it == range.access.end()) return emu::Perm::kNone;
      return static_cast<emu::Perm>(it->second);
    }
  }
  return emu::Perm::kNone;
}

void Driver::MapRange(Context* context, const Range& range) {
  static constexpr const char* kNames[] = {"memory",  "host memory", "registered host memory",
                                           "managed", "pool memory", "virtual memory",
                                           "variable"};
  const emu::Perm perm = PermOf(*context, range);
  const emu::AddressSpace::Region* const known = context->space.Find(range.va, 1);
  if (perm == emu::Perm::kNone) {
    if (known != nullptr) context->space.Unmap(range.va, range.bytes).IgnoreError();
    return;
  }
  if (known != nullptr) {
    context->space.Protect(range.va, range.bytes, perm).IgnoreError();
    return;
  }
  const absl::Status status =
      context->space.Map(range.va, range.bytes, range.host(range.va), perm,
                         absl::StrCat(kNames[static_cast<int>(range.kind)], " #", range.id));
  if (!status.ok()) Log(std::string(status.message()));
}

Range* Driver::AddRange(Range range) {
  if (range.id == 0) range.id = NextId();
  auto owned = std::make_unique<Range>(std::move(range));
  Range* const out = owned.get();
  ranges[out->va] = std::move(owned);
  for (Context* context : contexts.all()) MapRange(context, *out);
  if (TracksMemory() && (out->kind == RangeKind::kDevice || out->kind == RangeKind::kPool))
    global_memory.Track(out->va, out->bytes);
  return out;
}

void Driver::RemoveRange(Range* range) {
  for (Context* context : contexts.all())
    if (context->space.Find(range->va, 1) != nullptr)
      context->space.Unmap(range->va, range->bytes).IgnoreError();
  if (TracksMemory()) global_memory.Forget(range->va, range->bytes);
  if (range->device != nullptr && range->kind != RangeKind::kVirtual && range->kind != RangeKind::kPool)
    range->device->used_bytes -= range->bytes;
  ranges.erase(range->va);
}

CUresult Driver::Allocate(Context* context, uint64_t bytes, RangeKind kind, unsigned flags, Range** out) {
  US_CUDA_REQUIRE(bytes <= FreeBytes(*context->device), CUDA_ERROR_OUT_OF_MEMORY);
  const uint64_t va =
      ReserveAddresses(bytes, bytes >= kLargeAlignment / 2 ? kLargeAlignment : kSmallAlignment);
  US_CUDA_REQUIRE(va != 0, CUDA_ERROR_OUT_OF_MEMORY);
  Range range;
  range.backing = Backing::Create(bytes);
  US_CUDA_REQUIRE(range.backing != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  range.va = va;
  range.bytes = bytes;
  range.kind = kind;
  range.flags = flags;
  range.device = context->device;
  range.context = context;
  context->device->used_bytes += bytes;
  *out = AddRange(std::move(range));
  return CUDA_SUCCESS;
}

CUresult Driver::AllocateHost(Context* context, uint64_t bytes, RangeKind kind, unsigned flags, Range** out) {
  US_CUDA_REQUIRE(bytes < uint64_t{1} << 44, CUDA_ERROR_OUT_OF_MEMORY);
  if (kind == RangeKind::kManaged)
    US_CUDA_REQUIRE(bytes <= FreeBytes(*context->device), CUDA_ERROR_OUT_OF_MEMORY);
  Range range;
  // Below the windows that the emulator keeps for shared, local and parameter memory.
  for (int attempt = 0; attempt < 16 && range.backing == nullptr; ++attempt) {
    range.backing = Backing::Create(bytes, reinterpret_cast<void*>(next_host_));
    next_host_ = AlignUp(next_host_ + bytes + kPage, kLargeAlignment);
  }
  US_CUDA_REQUIRE(range.backing != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
  range.va = reinterpret_cast<uint64_t>(range.backing->host);
  range.bytes = bytes;
  range.kind = kind;
  range.flags = flags;
  range.context = context;
  *out = AddRange(std::move(range));
  return CUDA_SUCCESS;
}

CUresult Driver::RegisterHost(Context* context, void* host, uint64_t bytes, unsigned flags) {
  const auto va = reinterpret_cast<uint64_t>(host);
  US_CUDA_REQUIRE(va != 0 && bytes != 0 && va + bytes > va, CUDA_ERROR_INVALID_VALUE);
  const auto after = ranges.lower_bound(va);
  if (after != ranges.end() && after->first < va + bytes) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  if (FindRange(va) != nullptr) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  Range range;
  range.backing = Backing::Borrow(host, bytes);
  range.va = va;
  range.bytes = bytes;
  range.kind = RangeKind::kRegistered;
  range.flags = flags;
  range.context = context;
  AddRange(std::move(range));
  return CUDA_SUCCESS;
}

CUresult Driver::Release(Range* range) {
  if (range->pool != nullptr) {
    range->pool->used -= range->bytes;
    range->pool->reserved -= range->bytes;
    range->device->used_bytes -= range->bytes;
    if (range->of_graph) range->device->graph_memory -= range->bytes;
  }
  RemoveRange(range);
  return CUDA_SUCCESS;
}

Range* Driver::FindRange(uint64_t address) {
  auto it = ranges.upper_bound(address);
  if (it == ranges.begin()) return nullptr;
  Range* const range = std::prev(it)->second.get();
  return address - range->va < range->bytes ? range : nullptr;
}

uint8_t* Driver::HostBytes(uint64_t address, uint64_t bytes, bool device_only) {
  if (address == 0) return nullptr;
  Range* const range = FindRange(address);
  if (range == nullptr)
    return device_only || (address >= address_begin_ && address < address_end_)
               ? nullptr
               : reinterpret_cast<uint8_t*>(address);
  if (bytes > range->bytes - (address - range->va)) {
    // Host memory may run past what was registered; device memory ends where it ends.
    if (range->kind != RangeKind::kRegistered) return nullptr;
  }
  return range->host(address);
}

}  // namespace understudy::mockgpu::nv
