// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory accesses of one instruction, lane by lane, as the executors of memory instructions make them.
// Filled only for strict checks (WaveState::access_log is null otherwise), which read and clear it after each
// instruction.

#include <cstdint>
#include <vector>

#include "emu/memory/address_space.h"

namespace understudy::emu::amd {

enum class MemorySpace : uint8_t { kGlobal, kPrivate, kLds };

struct AccessLog {
  struct Entry {
    MemorySpace space;
    Access access;
    int16_t lane;  // -1: the whole wave (scalar loads)
    uint32_t bytes;
    uint64_t
        address;  // kPrivate: the offset within the lane's memory; kLds: the offset within the workgroup's
  };
  std::vector<Entry> entries;

  void Add(MemorySpace space, Access access, int lane, uint64_t address, uint32_t bytes) {
    entries.push_back({space, access, static_cast<int16_t>(lane), bytes, address});
  }
  template <class Address>
  void AddLanes(MemorySpace space, Access access, uint64_t mask, const Address* address, uint64_t offset,
                uint32_t bytes) {
    for (; mask != 0; mask &= mask - 1) {
      const int lane = __builtin_ctzll(mask);
      Add(space, access, lane, uint64_t{address[lane]} + offset, bytes);
    }
  }
};

}  // namespace understudy::emu::amd
