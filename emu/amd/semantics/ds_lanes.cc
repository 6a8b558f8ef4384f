// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/ds_lanes.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/amd/semantics/mem_access.h"
#include "emu/amd/semantics/mem_moves.h"
#include "src/base/bits.h"

namespace understudy::emu::amd {
namespace {

// ds_swizzle patterns, by offset (RDNA3 ISA, DS_SWIZZLE_B32).
constexpr uint32_t kSwizzleFft = 0xe000, kSwizzleRotate = 0xc000, kSwizzleQuad = 0x8000;

uint32_t Reverse5(uint32_t v) {
  uint32_t r = 0;
  for (int i = 0; i < 5; ++i) r |= ((v >> i) & 1) << (4 - i);
  return r;
}

// The lane within its group of 32 that lane `i` (0..31) reads.
uint32_t SwizzleSource(uint32_t pattern, uint32_t i) {
  if (pattern >= kSwizzleFft) {
    const uint32_t mask = pattern & 31;
    return (Reverse5(i) >> __builtin_popcount(mask)) | (i & mask);
  }
  if (pattern >= kSwizzleRotate) {
    const uint32_t mask = pattern & 31, amount = (pattern >> 5) & 31;
    const uint32_t rotated = (pattern >> 10 & 1) != 0 ? i - amount : i + amount;
    return ((i & mask) | (rotated & ~mask)) & 31;
  }
  if (pattern >= kSwizzleQuad) return (i & ~3u) | ((pattern >> (2 * (i & 3))) & 3);
  return (((i & pattern) | (pattern >> 5)) ^ (pattern >> 10)) & 31;
}

ExecResult Swizzle(const Inst& inst, WaveState& wave) {
  const uint64_t exec = wave.exec();
  const uint32_t* in = Row(wave, inst.src[0]);
  uint32_t* out = Row(wave, inst.dst[0]);
  uint32_t result[kMaxLanes];
  ForEachLane(exec, [&](int lane) {
    const uint32_t source =
        (static_cast<uint32_t>(lane) & 32) | SwizzleSource(static_cast<uint32_t>(inst.offset), lane & 31);
    result[lane] = (exec >> source & 1) != 0 ? in[source] : 0;
  });
  ForEachLane(exec, [&](int lane) { out[lane] = result[lane]; });
  return ExecResult::kNext;
}

// The lane that an address names. The permutes reach the whole wave on CDNA and RDNA4; on RDNA3 a wave64 runs
// them as two halves of 32 lanes (LLVM's supportsWaveWideBPermute).
uint32_t PermuteLane(const WaveState& wave, int lane, uint32_t address, int32_t offset) {
  const uint32_t named = (address + static_cast<uint32_t>(offset)) / 4;
  const bool halves = wave.isa == Isa::kRdna3 || wave.isa == Isa::kRdna35;
  if (halves) return (static_cast<uint32_t>(lane) & 32) | (named & 31);
  return named & static_cast<uint32_t>(wave.wave_size - 1);
}

// Pushes: the highest lane that names a destination wins; lanes that none names get zero.
ExecResult Permute(const Inst& inst, WaveState& wave) {
  const uint64_t exec = wave.exec();
  const uint32_t* address = Row(wave, inst.src[0]);
  const uint32_t* data = Row(wave, inst.src[1]);
  uint32_t* out = Row(wave, inst.dst[0]);
  uint32_t result[kMaxLanes] = {};
  ForEachLane(exec,
              [&](int lane) { result[PermuteLane(wave, lane, address[lane], inst.offset)] = data[lane]; });
  ForEachLane(exec, [&](int lane) { out[lane] = result[lane]; });
  return ExecResult::kNext;
}

// Pulls; an inactive source lane gives zero, or its value in the form that fetches inactive lanes.
template <bool kFetchInactive>
ExecResult BPermute(const Inst& inst, WaveState& wave) {
  const uint64_t exec = wave.exec();
  const uint64_t readable = kFetchInactive ? wave.lane_mask : exec;
  const uint32_t* address = Row(wave, inst.src[0]);
  const uint32_t* data = Row(wave, inst.src[1]);
  uint32_t* out = Row(wave, inst.dst[0]);
  uint32_t result[kMaxLanes];
  ForEachLane(exec, [&](int lane) {
    const uint32_t source = PermuteLane(wave, lane, address[lane], inst.offset);
    result[lane] = (readable >> source & 1) != 0 ? data[source] : 0;
  });
  ForEachLane(exec, [&](int lane) { out[lane] = result[lane]; });
  return ExecResult::kNext;
}

uint32_t M0Address(const Inst& inst, const WaveState& wave) {
  return (wave.sgpr[kM0] & 0xffffu) + static_cast<uint32_t>(inst.offset);
}

ExecResult LoadAddTid(const Inst& inst, WaveState& wave) {
  uint32_t* out = Row(wave, inst.dst[0]);
  ForEachLane(wave.exec(), [&](int lane) {
    AccessLds<4, Access::kRead>(wave, lane, M0Address(inst, wave) + 4 * static_cast<uint32_t>(lane),
                                [=](int l, const uint8_t* bytes) { std::memcpy(out + l, bytes, 4); });
  });
  return ExecResult::kNext;
}

ExecResult StoreAddTid(const Inst& inst, WaveState& wave) {
  const uint32_t* data = Row(wave, inst.src[1]);
  ForEachLane(wave.exec(), [&](int lane) {
    AccessLds<4, Access::kWrite>(wave, lane, M0Address(inst, wave) + 4 * static_cast<uint32_t>(lane),
                                 [=](int l, uint8_t* bytes) { std::memcpy(bytes, data + l, 4); });
  });
  return ExecResult::kNext;
}

// One counter for the whole wave: the number of active lanes is added or subtracted, every active lane gets
// the old value.
template <bool kAppend>
ExecResult Count(const Inst& inst, WaveState& wave) {
  const uint64_t exec = wave.exec();
  if (exec == 0) return ExecResult::kNext;
  const uint32_t at = M0Address(inst, wave);
  const int lane = __builtin_ctzll(exec);
  if (at % 4 != 0) return RaiseMisalignedLds(wave, at, 4, lane);
  const uint32_t active = static_cast<uint32_t>(__builtin_popcountll(exec));
  uint32_t old = 0;
  AccessLds<4, Access::kAtomic>(wave, lane, at, [&](int, uint8_t* bytes) {
    old = LoadLE<uint32_t>(bytes);
    StoreLE<uint32_t>(bytes, kAppend ? old + active : old - active);
  });
  uint32_t* out = Row(wave, inst.dst[0]);
  ForEachLane(exec, [&](int l) { out[l] = old; });
  return ExecResult::kNext;
}

}  // namespace

ExecResult RaiseMisalignedLds(WaveState& wave, uint32_t at, uint64_t size, int lane) {
  MemoryFault memory;
  memory.kind = MemoryFaultKind::kMisaligned;
  memory.access = Access::kAtomic;
  memory.address = at;
  memory.size = size;
  RaiseFault(wave, FaultKind::kMemory, lane,
             absl::StrFormat("atomic of %d bytes at LDS offset 0x%x: misaligned", size, at));
  wave.fault->memory = memory;
  return ExecResult::kFault;
}

ExecFn FindDsLaneExec(const Inst& inst) {
  switch (inst.op) {
    case Opcode::DS_SWIZZLE_B32:
      return &Swizzle;
    case Opcode::DS_PERMUTE_B32:
      return &Permute;
    case Opcode::DS_BPERMUTE_B32:
      return &BPermute<false>;
    case Opcode::DS_BPERMUTE_FI_B32:
      return &BPermute<true>;
    case Opcode::DS_LOAD_ADDTID_B32:
    case Opcode::DS_READ_ADDTID_B32:
      return &LoadAddTid;
    case Opcode::DS_STORE_ADDTID_B32:
    case Opcode::DS_WRITE_ADDTID_B32:
      return &StoreAddTid;
    case Opcode::DS_APPEND:
      return &Count<true>;
    case Opcode::DS_CONSUME:
      return &Count<false>;
    default:
      return FindDsTransposeExec(inst);
  }
}

}  // namespace understudy::emu::amd
