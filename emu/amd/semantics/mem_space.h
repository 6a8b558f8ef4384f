// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses of FLAT, GLOBAL and SCRATCH instructions and the walk over their lanes. Used by the plain loads,
// stores and atomics (mem_flat.cc) and by the transfers that go past the lanes (mem_flat_moves.cc).

#include "emu/amd/semantics/mem_access.h"
#include "emu/amd/semantics/mem_forms.h"
#include "emu/amd/semantics/scalar_operands.h"

namespace understudy::emu::amd {

enum class Space { kFlat, kGlobal, kScratch };

constexpr uint64_t kApertureBytes = uint64_t{1} << 32;

inline bool HasSaddr(const Inst& inst) {
  return inst.src[2].kind != Operand::Kind::kNone && inst.src[2].reg != kNull;
}

// 64-bit addresses: vaddr64 + offset, saddr64 + vaddr32 + offset, or saddr64 + 4 * lane + offset (addtid
// forms).
inline void GlobalAddresses(const Inst& inst, WaveState& wave, uint64_t* address) {
  const int lanes = wave.wave_size;
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(inst.offset));
  if (inst.src[0].kind == Operand::Kind::kNone) {
    const uint64_t base = (HasSaddr(inst) ? ReadScalar64(inst.src[2], wave) : 0) + offset;
    for (int lane = 0; lane < lanes; ++lane) address[lane] = base + 4 * static_cast<uint64_t>(lane);
    return;
  }
  const uint32_t* low = Row(wave, inst.src[0]);
  if (HasSaddr(inst)) {
    const uint64_t base = ReadScalar64(inst.src[2], wave) + offset;
    for (int lane = 0; lane < lanes; ++lane) address[lane] = base + low[lane];
  } else {
    const uint32_t* high = low + lanes;
    for (int lane = 0; lane < lanes; ++lane)
      address[lane] = (low[lane] | uint64_t{high[lane]} << 32) + offset;
  }
}

// Private offsets: any of vaddr32 and saddr32, plus the immediate.
inline void ScratchOffsets(const Inst& inst, WaveState& wave, uint32_t* offset) {
  const uint32_t base =
      (HasSaddr(inst) ? ReadScalar32(inst.src[2], wave) : 0) + static_cast<uint32_t>(inst.offset);
  const uint32_t* vaddr = inst.src[0].kind == Operand::Kind::kNone ? nullptr : Row(wave, inst.src[0]);
  for (int lane = 0; lane < wave.wave_size; ++lane)
    offset[lane] = base + (vaddr == nullptr ? 0 : vaddr[lane]);
}

template <int kBytes, Access kAccess, class Fn>
ExecResult AccessFlat(WaveState& wave, uint64_t mask, const uint64_t* address, Fn&& fn) {
  uint64_t lds = 0, scratch = 0;
  ForEachLane(mask, [&](int lane) {
    lds |= uint64_t{address[lane] - wave.shared_aperture < kApertureBytes} << lane;
    scratch |= uint64_t{address[lane] - wave.private_aperture < kApertureBytes} << lane;
  });
  if ((lds | scratch) != 0) {
    ForEachLane(lds, [&](int lane) {
      AccessLds<kBytes, kAccess>(wave, lane, static_cast<uint32_t>(address[lane] - wave.shared_aperture), fn);
    });
    uint32_t offset[kMaxLanes];
    ForEachLane(scratch, [&](int lane) {
      offset[lane] = static_cast<uint32_t>(address[lane] - wave.private_aperture);
    });
    const ExecResult result = AccessPrivate<kBytes, kAccess>(wave, scratch, offset, fn);
    if (result != ExecResult::kNext) return result;
  }
  return AccessGlobal<kBytes, kAccess>(wave, mask & ~(lds | scratch), address, fn);
}

template <Space kSpace, int kBytes, Access kAccess, class Fn>
ExecResult AccessSpace(const Inst& inst, WaveState& wave, Fn&& fn) {
  if constexpr (kSpace == Space::kScratch) {
    uint32_t offset[kMaxLanes];
    ScratchOffsets(inst, wave, offset);
    return AccessPrivate<kBytes, kAccess>(wave, wave.exec(), offset, fn);
  } else {
    uint64_t address[kMaxLanes];
    GlobalAddresses(inst, wave, address);
    if constexpr (kAccess == Access::kAtomic) {
      for (uint64_t mask = wave.exec(); mask != 0; mask &= mask - 1) {
        const int lane = __builtin_ctzll(mask);
        if (address[lane] % kBytes != 0) return RaiseMisaligned(wave, address[lane], kBytes, kAccess, lane);
      }
    }
    if constexpr (kSpace == Space::kFlat) {
      return AccessFlat<kBytes, kAccess>(wave, wave.exec(), address, fn);
    } else {
      return AccessGlobal<kBytes, kAccess>(wave, wave.exec(), address, fn);
    }
  }
}

}  // namespace understudy::emu::amd
