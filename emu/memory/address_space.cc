// SPDX-License-Identifier: Apache-2.0
#include "emu/memory/address_space.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"

namespace understudy::emu {
namespace {

// Enough to name the culprit of a use after free without growing with the run.
constexpr size_t kRememberedFrees = 64;

std::string Describe(const std::string& label, uint64_t base, uint64_t size) {
  return absl::StrFormat("'%s' [0x%x, 0x%x)", label, base, base + size);
}

}  // namespace

const char* AccessName(Access access) {
  switch (access) {
    case Access::kRead:
      return "read";
    case Access::kWrite:
      return "write";
    case Access::kAtomic:
      return "atomic";
    case Access::kExecute:
      return "instruction fetch";
  }
  return "?";
}

const char* MemoryFaultKindName(MemoryFaultKind kind) {
  switch (kind) {
#define MEMORY_FAULT(name, text) \
  case MemoryFaultKind::name:    \
    return text;
#include "emu/memory/fault_kinds.inc"
  }
  return "?";
}

std::string MemoryFault::Message() const {
  std::string text = absl::StrFormat("%s of %d byte%s at 0x%x: %s", AccessName(access), size,
                                     size == 1 ? "" : "s", address, MemoryFaultKindName(kind));
  if (was_freed)
    absl::StrAppendFormat(&text, "; inside %s, which was freed",
                          Describe(freed_label, freed_base, freed_size));
  if (!has_nearest) return text + (was_freed ? "" : "; nothing is mapped");
  const std::string nearest = Describe(nearest_label, nearest_base, nearest_size);
  if (inside) {
    absl::StrAppendFormat(&text, "; in %s at offset 0x%x", nearest, address - nearest_base);
  } else if (distance >= 0) {
    absl::StrAppendFormat(&text, "; %d bytes past the end of %s", distance, nearest);
  } else {
    absl::StrAppendFormat(&text, "; %d bytes before the start of %s", -distance, nearest);
  }
  return text;
}

size_t AddressSpace::LowerBound(uint64_t va) const {
  return std::partition_point(regions_.begin(), regions_.end(),
                              [va](const Region& r) { return r.end <= va; }) -
         regions_.begin();
}

absl::Status AddressSpace::Map(uint64_t va, uint64_t size, uint8_t* host, Perm perm, std::string label) {
  if (size == 0 || va + size < va) {
    return absl::InvalidArgumentError(
        absl::StrFormat("map '%s': range at 0x%x of 0x%x bytes is empty or wraps", label, va, size));
  }
  if (host == nullptr)
    return absl::InvalidArgumentError(absl::StrFormat("map '%s': no backing memory", label));
  const size_t at = LowerBound(va);
  if (at < regions_.size() && regions_[at].begin < va + size) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "map '%s': [0x%x, 0x%x) overlaps %s", label, va, va + size,
        Describe(regions_[at].label, regions_[at].begin, regions_[at].end - regions_[at].begin)));
  }
  Region region;
  region.begin = region.allocation_base = va;
  region.end = va + size;
  region.allocation_size = size;
  region.host = host;
  region.perm = perm;
  region.label = std::move(label);
  regions_.insert(regions_.begin() + at, std::move(region));
  ++generation_;
  return absl::OkStatus();
}

void AddressSpace::SplitAt(uint64_t va) {
  const size_t at = LowerBound(va);
  if (at == regions_.size() || regions_[at].begin >= va) return;
  Region upper = regions_[at];
  upper.host += va - upper.begin;
  upper.begin = va;
  regions_[at].end = va;
  regions_.insert(regions_.begin() + at + 1, std::move(upper));
}

absl::Status AddressSpace::Unmap(uint64_t va, uint64_t size) {
  const size_t probe = LowerBound(va);
  if (size == 0 || va + size < va || probe == regions_.size() || regions_[probe].begin >= va + size) {
    return absl::NotFoundError(absl::StrFormat("unmap: nothing is mapped in 0x%x bytes at 0x%x", size, va));
  }
  SplitAt(va);
  SplitAt(va + size);
  const size_t first = LowerBound(va);
  size_t last = first;
  while (last < regions_.size() && regions_[last].begin < va + size) {
    freed_.push_front(std::move(regions_[last]));
    ++last;
  }
  while (freed_.size() > kRememberedFrees) freed_.pop_back();
  regions_.erase(regions_.begin() + first, regions_.begin() + last);
  ++generation_;
  return absl::OkStatus();
}

absl::Status AddressSpace::Protect(uint64_t va, uint64_t size, Perm perm) {
  uint64_t covered = va;
  for (size_t i = LowerBound(va); i < regions_.size() && covered < va + size && regions_[i].begin <= covered;
       ++i) {
    covered = regions_[i].end;
  }
  if (size == 0 || va + size < va || covered < va + size) {
    return absl::NotFoundError(absl::StrFormat("protect: 0x%x bytes at 0x%x are not all mapped", size, va));
  }
  SplitAt(va);
  SplitAt(va + size);
  for (size_t i = LowerBound(va); i < regions_.size() && regions_[i].begin < va + size; ++i)
    regions_[i].perm = perm;
  ++generation_;
  return absl::OkStatus();
}

const AddressSpace::Region* AddressSpace::Find(uint64_t va, uint64_t size) const {
  const size_t at = LowerBound(va);
  if (at == regions_.size()) return nullptr;
  const Region& region = regions_[at];
  if (va < region.begin || size > region.end - va) return nullptr;
  return &region;
}

const AddressSpace::Region* Translator::FindSlow(uint64_t va, uint64_t size, CacheEntry& entry) {
  const AddressSpace::Region* region = space_->Find(va, size);
  if (region != nullptr) entry = {region->begin, region->end, region};
  return region;
}

void Translator::Forget() {
  cache_.fill(CacheEntry());
  generation_ = space_->generation();
}

template <class Fn>
bool AddressSpace::Walk(uint64_t va, uint64_t size, Access access, Fn&& fn) const {
  if (va + size < va) return false;
  uint64_t done = 0;
  for (size_t i = LowerBound(va); done < size; ++i) {
    if (i == regions_.size() || regions_[i].begin > va + done) return false;
    if (!Allows(regions_[i].perm, static_cast<Perm>(access))) return false;
    const uint64_t take = std::min(size - done, regions_[i].end - (va + done));
    fn(regions_[i].host + (va + done - regions_[i].begin), done, take);
    done += take;
  }
  return true;
}

bool AddressSpace::Read(uint64_t va, void* out, uint64_t size, Access access) const {
  if (const uint8_t* host = Translate(va, size, access)) {
    std::memcpy(out, host, size);
    return true;
  }
  if (!Walk(va, size, access, [](uint8_t*, uint64_t, uint64_t) {})) return false;
  return Walk(va, size, access, [out](const uint8_t* host, uint64_t offset, uint64_t n) {
    std::memcpy(static_cast<uint8_t*>(out) + offset, host, n);
  });
}

bool AddressSpace::Write(uint64_t va, const void* data, uint64_t size) const {
  if (uint8_t* host = Translate(va, size, Access::kWrite)) {
    std::memcpy(host, data, size);
    return true;
  }
  if (!Walk(va, size, Access::kWrite, [](uint8_t*, uint64_t, uint64_t) {})) return false;
  return Walk(va, size, Access::kWrite, [data](uint8_t* host, uint64_t offset, uint64_t n) {
    std::memcpy(host, static_cast<const uint8_t*>(data) + offset, n);
  });
}

MemoryFault AddressSpace::Explain(uint64_t va, uint64_t size, Access access) const {
  MemoryFault fault;
  fault.access = access;
  fault.address = va;
  fault.size = size;
  // Walk to the first byte that may not be accessed.
  uint64_t at_va = va, remaining = size;
  size_t at = LowerBound(va);
  const Region* refused = nullptr;
  while (remaining > 0) {
    if (at == regions_.size() || regions_[at].begin > at_va) {
      fault.kind = at_va == va ? MemoryFaultKind::kUnmapped : MemoryFaultKind::kPartial;
      break;
    }
    const Region& region = regions_[at];
    if (!Allows(region.perm, static_cast<Perm>(access))) {
      refused = &region;
      if (access == Access::kExecute) {
        fault.kind = MemoryFaultKind::kNoExecute;
      } else if (!Allows(region.perm, Perm::kRead) && access != Access::kWrite) {
        fault.kind = MemoryFaultKind::kWriteOnly;
      } else {
        fault.kind = MemoryFaultKind::kReadOnly;
      }
      break;
    }
    const uint64_t take = std::min(remaining, region.end - at_va);
    remaining -= take;
    if (remaining == 0) return fault;
    at_va += take;
    ++at;
  }
  if (size == 0) return fault;
  fault.address = at_va;
  const Region* nearest = refused;
  if (nearest == nullptr) {
    uint64_t best = ~uint64_t{0};
    if (at > 0) {
      nearest = &regions_[at - 1];
      best = at_va - nearest->end;
    }
    if (at < regions_.size() && regions_[at].begin - at_va < best) nearest = &regions_[at];
  }
  if (nearest != nullptr) {
    fault.has_nearest = true;
    fault.nearest_label = nearest->label;
    fault.nearest_base = nearest->begin;
    fault.nearest_size = nearest->end - nearest->begin;
    fault.inside = refused != nullptr;
    if (!fault.inside) {
      fault.distance = at_va < nearest->begin ? -static_cast<int64_t>(nearest->begin - at_va)
                                              : static_cast<int64_t>(at_va - nearest->end);
    }
  }
  for (const Region& region : freed_) {
    if (refused != nullptr || at_va < region.begin || at_va >= region.end) continue;
    fault.was_freed = true;
    fault.freed_label = region.label;
    fault.freed_base = region.begin;
    fault.freed_size = region.end - region.begin;
    break;
  }
  return fault;
}

}  // namespace understudy::emu
