// SPDX-License-Identifier: Apache-2.0
#pragma once
// GPU virtual addresses to host memory, with permissions: what waves, copy engines and packet processors
// access memory through. A miss is a modelled fault that names its cause and the nearest allocation,
// never a host crash. It owns no backing memory. Any number of threads may look addresses up at once; whoever
// changes the map (Map, Unmap, Protect) must be alone. Waves look up through a Translator, which remembers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace understudy::emu {

enum class Perm : uint8_t {
  kNone = 0,
  kRead = 1,
  kWrite = 2,
  kReadWrite = 3,
  kExec = 4,
  kReadExec = 5,
  kAll = 7
};
constexpr Perm operator|(Perm a, Perm b) {
  return static_cast<Perm>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
constexpr bool Allows(Perm perm, Perm wanted) {
  return (static_cast<uint8_t>(perm) & static_cast<uint8_t>(wanted)) == static_cast<uint8_t>(wanted);
}

// What an access needs. An atomic reads and writes.
enum class Access : uint8_t { kRead = 1, kWrite = 2, kAtomic = 3, kExecute = 4 };
const char* AccessName(Access access);

enum class MemoryFaultKind : uint8_t {
#define MEMORY_FAULT(name, text) name,
#include "emu/memory/fault_kinds.inc"
};
const char* MemoryFaultKindName(MemoryFaultKind kind);

// Everything a person needs to find a wrong pointer.
struct MemoryFault {
  MemoryFaultKind kind = MemoryFaultKind::kNone;
  Access access = Access::kRead;
  uint64_t address = 0;  // the first byte that could not be accessed
  uint64_t size = 0;     // of the access
  // Nearest live allocation, if any. Unless `inside` it, `distance` is how far the address lies past its
  // end (0 is the first byte after it) or, negative, before its start.
  bool has_nearest = false, inside = false;
  std::string nearest_label;
  uint64_t nearest_base = 0, nearest_size = 0;
  int64_t distance = 0;
  // The allocation that held `address` until it was freed, if that was recent.
  bool was_freed = false;
  std::string freed_label;
  uint64_t freed_base = 0, freed_size = 0;

  // "write of 4 bytes at 0x7f0000001000: unmapped; 16 bytes past the end of 'out' [0x.., 0x..)".
  std::string Message() const;
};

class AddressSpace {
 public:
  struct Region {
    uint64_t begin = 0, end = 0;  // [begin, end)
    uint8_t* host = nullptr;      // of `begin`
    Perm perm = Perm::kNone;
    uint64_t allocation_base = 0,
             allocation_size = 0;  // as mapped, before Protect or a partial Unmap split it
    std::string label;
  };

  // Maps [va, va + size) to `host`, which must outlive the mapping. InvalidArgument for an empty or
  // wrapping range, AlreadyExists (naming the other allocation) where it overlaps a mapping.
  absl::Status Map(uint64_t va, uint64_t size, uint8_t* host, Perm perm, std::string label);
  // Removes what is mapped in the range (splitting mappings at its ends) and remembers it as freed.
  // NotFound when nothing in the range was mapped.
  absl::Status Unmap(uint64_t va, uint64_t size);
  // Changes permissions of the range, all of which must be mapped.
  absl::Status Protect(uint64_t va, uint64_t size, Perm perm);

  // The host address of [va, va + size) when one region holds it all and allows the access, else nullptr.
  uint8_t* Translate(uint64_t va, uint64_t size, Access access) const {
    const Region* region = Find(va, size);
    if (region == nullptr || !Allows(region->perm, static_cast<Perm>(access))) return nullptr;
    return region->host + (va - region->begin);
  }
  // The region that holds all of [va, va + size), whatever it allows, or nullptr. Valid until generation()
  // changes.
  const Region* Find(uint64_t va, uint64_t size) const;

  // Copies across adjacent mappings. False (and nothing copied) when any byte may not be accessed.
  bool Read(uint64_t va, void* out, uint64_t size, Access access = Access::kRead) const;
  bool Write(uint64_t va, const void* data, uint64_t size) const;

  // Why an access fails, or kind kNone if it does not.
  MemoryFault Explain(uint64_t va, uint64_t size, Access access) const;

  // Counts changes of the map, so that caches of translated addresses can tell when to drop.
  uint64_t generation() const { return generation_; }
  const std::vector<Region>& regions() const { return regions_; }

 private:
  // Index of the first region that ends after `va`.
  size_t LowerBound(uint64_t va) const;
  void SplitAt(uint64_t va);
  template <class Fn>
  bool Walk(uint64_t va, uint64_t size, Access access, Fn&& fn) const;

  std::vector<Region> regions_;  // sorted, disjoint
  std::deque<Region> freed_;     // most recent first
  uint64_t generation_ = 0;
};

// What waves have moved: instructions that accessed memory (one a wave), bytes of all their lanes, and lines
// of 128 bytes (a cache line of the L2 on RDNA and CDNA3) that those lanes touched, each once an
// instruction. 32 lanes that load neighbouring dwords touch one line, 32 that load a column touch 32.
struct Traffic {
  static constexpr int kLineShift = 7;
  uint64_t accesses = 0, bytes = 0, lines = 0;

  // One access to [address, address + size).
  void Add(uint64_t address, uint64_t size) {
    ++accesses;
    bytes += size;
    lines += ((address + size - 1) >> kLineShift) - (address >> kLineShift) + 1;
  }
  Traffic& operator+=(const Traffic& more) {
    accesses += more.accesses;
    bytes += more.bytes;
    lines += more.lines;
    return *this;
  }
};

// One user's view of an AddressSpace: the same lookups, through a cache of its own. Each host thread that
// runs waves has one; several may look into one space at the same time.
class Translator {
 public:
  Translator() = default;
  explicit Translator(const AddressSpace* space) : space_(space), generation_(space->generation()) {}

  uint8_t* Translate(uint64_t va, uint64_t size, Access access) {
    const AddressSpace::Region* region = Find(va, size);
    if (region == nullptr || !Allows(region->perm, static_cast<Perm>(access))) return nullptr;
    return region->host + (va - region->begin);
  }
  bool Read(uint64_t va, void* out, uint64_t size, Access access = Access::kRead) {
    return space_->Read(va, out, size, access);
  }
  bool Write(uint64_t va, const void* data, uint64_t size) { return space_->Write(va, data, size); }
  MemoryFault Explain(uint64_t va, uint64_t size, Access access) const {
    return space_->Explain(va, size, access);
  }
  const AddressSpace* space() const { return space_; }

  // Counted by the semantics of memory instructions: looking an address up counts nothing.
  Traffic traffic;

 private:
  // A few recently hit regions, direct-mapped by address: kernels walk several buffers at once.
  static constexpr int kCacheBits = 3;
  struct CacheEntry {
    uint64_t begin = 1, end = 0;
    const AddressSpace::Region* region = nullptr;
  };

  const AddressSpace::Region* Find(uint64_t va, uint64_t size) {
    if (generation_ != space_->generation()) [[unlikely]]
      Forget();
    CacheEntry& entry = cache_[((va >> 16) ^ (va >> 24)) & ((1 << kCacheBits) - 1)];
    if (va >= entry.begin && va < entry.end && size <= entry.end - va) [[likely]]
      return entry.region;
    return FindSlow(va, size, entry);
  }
  const AddressSpace::Region* FindSlow(uint64_t va, uint64_t size, CacheEntry& entry);
  void Forget();

  const AddressSpace* space_ = nullptr;
  uint64_t generation_ = 0;
  std::array<CacheEntry, 1 << kCacheBits> cache_;
};

}  // namespace understudy::emu
