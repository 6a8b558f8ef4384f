// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory accesses of one instruction, lane by lane, as the executors resolve their addresses. Filled only
// for checks (Warp::log is null otherwise), which read and clear it after each instruction.

#include <cstdint>
#include <cstring>
#include <vector>

#include "emu/memory/address_space.h"

namespace understudy::emu::ptx {

struct Cta;

enum class LoggedSpace : uint8_t { kGlobal, kShared, kLocal, kEntryParam, kFrameParam };

struct AccessLog {
  struct Entry {
    LoggedSpace space;
    Access access;
    int16_t lane;
    uint32_t bytes;
    uint64_t address;  // kGlobal: generic; others: the offset in the CTA's, the lane's or the call's memory
    const uint8_t* host;  // of `address`
    Cta* cta;             // kShared: whose
    uint64_t old[2];      // of writes: what the first 16 bytes held before
  };
  std::vector<Entry> entries;
  bool keep_old = false;

  void Add(LoggedSpace space, Access access, int lane, uint64_t address, uint32_t bytes, const uint8_t* host,
           Cta* cta) {
    Entry entry{space, access, static_cast<int16_t>(lane), bytes, address, host, cta, {0, 0}};
    if (keep_old && access != Access::kRead) std::memcpy(entry.old, host, bytes < 16 ? bytes : 16);
    entries.push_back(entry);
  }
};

}  // namespace understudy::emu::ptx
