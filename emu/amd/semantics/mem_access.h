// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lanes' accesses to global, private and LDS memory: one range check a wave where all lanes fall into one
// mapping, else one a lane. Used by flat, scratch and buffer instructions. A lane outside the mask touches
// nothing.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/amd/core/access_log.h"
#include "emu/amd/core/wave_state.h"
#include "emu/amd/semantics/mem_forms.h"

namespace understudy::emu::amd {

constexpr int kMaxLanes = 64;

// Counts one instruction's access of kBytes a lane, all at `low` to `high` + kBytes.
template <int kBytes>
void CountTraffic(Traffic& traffic, uint64_t mask, const uint64_t* address, uint64_t low, uint64_t high) {
  constexpr int kShift = Traffic::kLineShift;
  ++traffic.accesses;
  traffic.bytes += static_cast<uint64_t>(__builtin_popcountll(mask)) * kBytes;
  const uint64_t first = low >> kShift;
  if (((high + kBytes - 1) >> kShift) - first < 64) {
    uint64_t touched = 0;
    ForEachLane(mask, [&](int lane) {
      touched |= uint64_t{1} << ((address[lane] >> kShift) - first);
      touched |= uint64_t{1} << (((address[lane] + kBytes - 1) >> kShift) - first);
    });
    traffic.lines += static_cast<uint64_t>(__builtin_popcountll(touched));
    return;
  }
  // Far apart: the distinct lines, of at most two a lane.
  uint64_t lines[2 * kMaxLanes];
  int n = 0;
  ForEachLane(mask, [&](int lane) {
    lines[n++] = address[lane] >> kShift;
    lines[n++] = (address[lane] + kBytes - 1) >> kShift;
  });
  std::sort(lines, lines + n);
  traffic.lines += static_cast<uint64_t>(std::unique(lines, lines + n) - lines);
}

// Calls fn(lane, bytes) for each lane of the mask with kBytes of its memory: read before the call unless the
// access is a write, written back after it unless the access is a read.
template <int kBytes, Access kAccess, class Fn>
ExecResult AccessGlobal(WaveState& wave, uint64_t mask, const uint64_t* address, Fn&& fn) {
  if (mask == 0) return ExecResult::kNext;
  if (wave.access_log != nullptr) [[unlikely]] {
    wave.access_log->AddLanes(MemorySpace::kGlobal, kAccess, mask, address, 0, kBytes);
  }
  // All lanes, one after the other: what most kernels do, and what the host can vectorise.
  if (mask == wave.lane_mask) {
    const int lanes = wave.wave_size;
    uint64_t scattered = 0;
    for (int lane = 0; lane < lanes; ++lane)
      scattered |= address[lane] ^ (address[0] + kBytes * static_cast<uint64_t>(lane));
    if (scattered == 0) {
      if (uint8_t* host = wave.mem->Translate(address[0], kBytes * static_cast<uint64_t>(lanes), kAccess)) {
        wave.mem->traffic.Add(address[0], kBytes * static_cast<uint64_t>(lanes));
        for (int lane = 0; lane < lanes; ++lane) fn(lane, host + kBytes * lane);
        return ExecResult::kNext;
      }
    }
  }
  uint64_t low = ~uint64_t{0}, high = 0;
  ForEachLane(mask, [&](int lane) {
    low = std::min(low, address[lane]);
    high = std::max(high, address[lane]);
  });
  CountTraffic<kBytes>(wave.mem->traffic, mask, address, low, high);
  const uint64_t span = high - low + kBytes;
  if (span >= kBytes) {
    if (uint8_t* host = wave.mem->Translate(low, span, kAccess)) {
      ForEachLane(mask, [&](int lane) { fn(lane, host + (address[lane] - low)); });
      return ExecResult::kNext;
    }
  }
  for (; mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    if (uint8_t* host = wave.mem->Translate(address[lane], kBytes, kAccess)) {
      fn(lane, host);
      continue;
    }
    // Across two adjacent mappings, or a fault.
    uint8_t bounce[kBytes] = {};
    const bool reads = kAccess != Access::kWrite, writes = kAccess != Access::kRead;
    if (wave.mem->Explain(address[lane], kBytes, kAccess).kind != MemoryFaultKind::kNone) {
      return RaiseMemoryFault(wave, address[lane], kBytes, kAccess, lane);
    }
    if (reads) wave.mem->Read(address[lane], bounce, kBytes);
    fn(lane, bounce);
    if (writes) wave.mem->Write(address[lane], bounce, kBytes);
  }
  return ExecResult::kNext;
}

inline ExecResult RaiseNoScratch(WaveState& wave, uint32_t offset, uint64_t size, Access access, int lane) {
  MemoryFault memory;
  memory.kind = MemoryFaultKind::kNoScratch;
  memory.access = access;
  memory.address = offset;
  memory.size = size;
  RaiseFault(wave, FaultKind::kMemory, lane,
             absl::StrFormat("%s of %d bytes at private offset 0x%x: the dispatch reserved %d bytes a lane",
                             AccessName(access), size, offset, wave.scratch_bytes_per_lane));
  wave.fault->memory = memory;
  return ExecResult::kFault;
}

// Private memory is interleaved by dwords: dword d of lane l lies at base + (d * wave_size + l) * 4.
template <int kBytes, Access kAccess, class Fn>
ExecResult AccessPrivate(WaveState& wave, uint64_t mask, const uint32_t* offset, Fn&& fn) {
  if (mask == 0) return ExecResult::kNext;
  if (wave.access_log != nullptr) [[unlikely]] {
    wave.access_log->AddLanes(MemorySpace::kPrivate, kAccess, mask, offset, 0, kBytes);
  }
  const uint32_t lane_bytes = wave.scratch_bytes_per_lane;
  const uint64_t window = uint64_t{lane_bytes} * wave.wave_size;
  const uint64_t scratch = wave.FlatScratchBase();
  uint8_t* base = window == 0 ? nullptr : wave.mem->Translate(scratch, window, kAccess);
  const int row = wave.wave_size * 4;
  for (; mask != 0; mask &= mask - 1) {
    const int lane = __builtin_ctzll(mask);
    const uint32_t at = offset[lane];
    if (at > lane_bytes || kBytes > lane_bytes - at) return RaiseNoScratch(wave, at, kBytes, kAccess, lane);
    if (base == nullptr) {
      const uint64_t first = scratch + (uint64_t{at / 4} * wave.wave_size + lane) * 4;
      if (wave.mem->Explain(first, 4, kAccess).kind == MemoryFaultKind::kNone) {
        return RaiseMemoryFault(wave, scratch, window, kAccess, lane);
      }
      return RaiseMemoryFault(wave, first, 4, kAccess, lane);
    }
    const auto byte_at = [&](uint32_t b) { return base + uint64_t{b / 4} * row + lane * 4 + b % 4; };
    if (kBytes <= 4 && at % 4 + kBytes <= 4) {
      fn(lane, byte_at(at));
      continue;
    }
    uint8_t bounce[kBytes] = {};
    const bool words = kBytes % 4 == 0 && at % 4 == 0;
    if (kAccess != Access::kWrite) {
      if (words) {
        for (uint32_t i = 0; i < kBytes; i += 4)
          std::memcpy(bounce + i, byte_at(at + i), std::min<size_t>(4, kBytes));
      } else {
        for (uint32_t i = 0; i < kBytes; ++i) bounce[i] = *byte_at(at + i);
      }
    }
    fn(lane, bounce);
    if (kAccess != Access::kRead) {
      if (words) {
        for (uint32_t i = 0; i < kBytes; i += 4)
          std::memcpy(byte_at(at + i), bounce + i, std::min<size_t>(4, kBytes));
      } else {
        for (uint32_t i = 0; i < kBytes; ++i) *byte_at(at + i) = bounce[i];
      }
    }
  }
  return ExecResult::kNext;
}

// LDS is bounded per byte: bytes out of range read as zero and are not written. An atomic that is not wholly
// in range does nothing.
template <int kBytes, Access kAccess, class Fn>
void AccessLds(WaveState& wave, int lane, uint32_t at, Fn&& fn) {
  if (wave.access_log != nullptr) [[unlikely]] {
    wave.access_log->Add(MemorySpace::kLds, kAccess, lane, at, kBytes);
  }
  const uint32_t size = wave.lds_bytes;
  if (at < size && kBytes <= size - at) [[likely]] {
    fn(lane, wave.lds + at);
    return;
  }
  uint8_t bounce[kBytes] = {};
  if (kAccess == Access::kRead) {
    for (uint32_t i = 0; i < kBytes; ++i) {
      if (uint64_t{at} + i < size) bounce[i] = wave.lds[at + i];
    }
  }
  fn(lane, bounce);
  if (kAccess == Access::kWrite) {
    for (uint32_t i = 0; i < kBytes; ++i) {
      if (uint64_t{at} + i < size) wave.lds[at + i] = bounce[i];
    }
  }
}

// The same for the lanes of a mask, with one check where all of them are in range.
template <int kBytes, Access kAccess, class Fn>
void AccessLdsLanes(WaveState& wave, uint64_t mask, const uint32_t* address, uint32_t offset, Fn&& fn) {
  const uint32_t size = wave.lds_bytes;
  const int lanes = wave.wave_size;
  uint32_t highest = 0;
  for (int lane = 0; lane < lanes; ++lane) highest = std::max(highest, address[lane]);
  // Inactive lanes are looked at too: what they hold can only lead to the careful path.
  if (uint64_t{highest} + offset + kBytes <= size) {
    if (wave.access_log != nullptr) [[unlikely]] {
      wave.access_log->AddLanes(MemorySpace::kLds, kAccess, mask, address, offset, kBytes);
    }
    uint8_t* base = wave.lds + offset;
    if (mask == wave.lane_mask) {
      for (int lane = 0; lane < lanes; ++lane) fn(lane, base + address[lane]);
    } else {
      ForEachLane(mask, [&](int lane) { fn(lane, base + address[lane]); });
    }
    return;
  }
  ForEachLane(mask, [&](int lane) { AccessLds<kBytes, kAccess>(wave, lane, address[lane] + offset, fn); });
}

}  // namespace understudy::emu::amd
