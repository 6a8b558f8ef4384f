// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a lane's bytes in memory become VGPR contents and back: sign extension, 16-bit halves, several dwords.
// Shared by LDS, flat and buffer instructions; knows nothing of addresses.

#include <cstdint>
#include <cstring>

#include "emu/amd/core/access_log.h"
#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

enum class LoadForm : uint8_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kB32,
  kB64,
  kB96,
  kB128,
  // Into one half of the register; the other half is kept.
  kD16U8,
  kD16I8,
  kD16B16,
  kD16HiU8,
  kD16HiI8,
  kD16HiB16,
};
enum class StoreForm : uint8_t { kB8, kB16, kB32, kB64, kB96, kB128, kD16HiB8, kD16HiB16 };

constexpr int FormBytes(LoadForm form) {
  switch (form) {
    case LoadForm::kU16:
    case LoadForm::kI16:
    case LoadForm::kD16B16:
    case LoadForm::kD16HiB16:
      return 2;
    case LoadForm::kB32:
      return 4;
    case LoadForm::kB64:
      return 8;
    case LoadForm::kB96:
      return 12;
    case LoadForm::kB128:
      return 16;
    default:
      return 1;
  }
}
constexpr int FormBytes(StoreForm form) {
  switch (form) {
    case StoreForm::kB16:
    case StoreForm::kD16HiB16:
      return 2;
    case StoreForm::kB32:
      return 4;
    case StoreForm::kB64:
      return 8;
    case StoreForm::kB96:
      return 12;
    case StoreForm::kB128:
      return 16;
    default:
      return 1;
  }
}

template <class T>
T LoadAs(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// `reg` points at the lane's word of the first destination register; the next register is `stride` words on.
template <LoadForm kForm>
inline void PutLane(uint32_t* reg, int stride, const uint8_t* bytes) {
  if constexpr (kForm == LoadForm::kU8) {
    *reg = *bytes;
  } else if constexpr (kForm == LoadForm::kI8) {
    *reg = static_cast<uint32_t>(int32_t{LoadAs<int8_t>(bytes)});
  } else if constexpr (kForm == LoadForm::kU16) {
    *reg = LoadAs<uint16_t>(bytes);
  } else if constexpr (kForm == LoadForm::kI16) {
    *reg = static_cast<uint32_t>(int32_t{LoadAs<int16_t>(bytes)});
  } else if constexpr (FormBytes(kForm) >= 4) {
    for (int i = 0; i < FormBytes(kForm) / 4; ++i) reg[i * stride] = LoadAs<uint32_t>(bytes + 4 * i);
  } else {
    constexpr bool kHigh =
        kForm == LoadForm::kD16HiU8 || kForm == LoadForm::kD16HiI8 || kForm == LoadForm::kD16HiB16;
    uint32_t half;
    if constexpr (kForm == LoadForm::kD16B16 || kForm == LoadForm::kD16HiB16) {
      half = LoadAs<uint16_t>(bytes);
    } else if constexpr (kForm == LoadForm::kD16U8 || kForm == LoadForm::kD16HiU8) {
      half = *bytes;
    } else {
      half = static_cast<uint32_t>(int32_t{LoadAs<int8_t>(bytes)}) & 0xffffu;
    }
    *reg = kHigh ? (*reg & 0xffffu) | half << 16 : (*reg & 0xffff0000u) | half;
  }
}

template <StoreForm kForm>
inline void GetLane(const uint32_t* reg, int stride, uint8_t* bytes) {
  if constexpr (FormBytes(kForm) >= 4) {
    for (int i = 0; i < FormBytes(kForm) / 4; ++i) std::memcpy(bytes + 4 * i, reg + i * stride, 4);
  } else {
    constexpr bool kHigh = kForm == StoreForm::kD16HiB8 || kForm == StoreForm::kD16HiB16;
    const uint32_t value = kHigh ? *reg >> 16 : *reg;
    std::memcpy(bytes, &value, FormBytes(kForm));
  }
}

// A 32- or 64-bit value spread over one or two registers.
template <class T>
inline T GetValue(const uint32_t* reg, int stride) {
  if constexpr (sizeof(T) == 4) {
    return *reg;
  } else {
    return reg[0] | uint64_t{reg[stride]} << 32;
  }
}
template <class T>
inline void PutValue(uint32_t* reg, int stride, T value) {
  reg[0] = static_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 8) reg[stride] = static_cast<uint32_t>(value >> 32);
}

// Calls fn(lane) for every lane of the mask, in ascending order: the order in which lanes' memory operations
// of one instruction take effect.
template <class Fn>
inline void ForEachLane(uint64_t mask, Fn&& fn) {
  while (mask != 0) {
    fn(__builtin_ctzll(mask));
    mask &= mask - 1;
  }
}

// For strict checks: one lane's access to global memory that goes past AccessGlobal.
inline void LogGlobalAccess(WaveState& wave, Access access, int lane, uint64_t address, uint64_t bytes) {
  if (wave.access_log != nullptr) [[unlikely]] {
    wave.access_log->Add(MemorySpace::kGlobal, access, lane, address, static_cast<uint32_t>(bytes));
  }
}

// True for an operand that lives in lanes: a VGPR or, on CDNA, an AGPR.
inline bool InLanes(const Operand& operand) {
  return operand.kind == Operand::Kind::kVgpr || operand.kind == Operand::Kind::kAgpr;
}

// The rows of such an operand.
inline uint32_t* Row(WaveState& wave, const Operand& operand) {
  return operand.kind == Operand::Kind::kAgpr ? wave.Agpr(operand.reg) : wave.Vgpr(operand.reg);
}

}  // namespace understudy::emu::amd
