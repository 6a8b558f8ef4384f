// SPDX-License-Identifier: Apache-2.0
#pragma once
// One lane's atomic operation on host memory, in the interpreter's reading of mem_atomics.h. Global memory is
// shared with workgroups on other host threads and needs host atomics; LDS belongs to one workgroup, which
// one thread runs.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/semantics/builder.h"
#include "emu/amd/semantics/mem_atomics.h"

namespace understudy::emu::amd {

using AtomicMath = LaneMath<false>;

// Memory pipelines outside the ALU round to nearest even. Additions of f32 flush denormals on RDNA3 and
// gfx90a, and RDNA3's minimum, maximum and compare follow MODE's bit for inputs (RDNA3 ISA 13.2); all others
// keep denormals (RDNA4 ISA 13.2; gfx942 and gfx950 by LLVM's memory-atomic-fadd-f32-denormal-support,
// against their manual's table).
template <class Op>
AtomicMath MemoryAtomicMath(const WaveState& wave) {
  const bool rdna3 = wave.isa == Isa::kRdna3 || wave.isa == Isa::kRdna35;
  FpMode mode;
  if constexpr (std::is_same_v<Op, atomic::FAdd>) {
    mode.flush_in32 = mode.flush_out32 = rdna3 || wave.isa == Isa::kCdna2;
  } else if (rdna3) {
    const FpMode own = FpMode::FromModeRegister(wave.mode);
    mode.flush_in32 = own.flush_in32;
    mode.flush_in16_64 = own.flush_in16_64;
  }
  return AtomicMath(mode);
}

// LDS follows the wave's denormal mode and rounds to nearest even; its f64 adder keeps denormals.
template <class Op, class T>
AtomicMath LdsAtomicMath(const WaveState& wave) {
  FpMode mode = FpMode::FromModeRegister(wave.mode);
  mode.round32 = mode.round16_64 = Round::kNearestEven;
  if constexpr (std::is_same_v<Op, atomic::FAdd> && sizeof(T) == 8)
    mode.flush_in16_64 = mode.flush_out16_64 = false;
  return AtomicMath(mode);
}

// For host memory that is not aligned to the value (a caller may back GPU pages with any bytes it likes).
inline std::mutex& MisalignedHostAtomics() {
  static std::mutex mutex;
  return mutex;
}

// Replaces the value at `bytes` and returns the old one.
template <class Op, class T>
inline T ApplyAtomic(AtomicMath& math, uint8_t* bytes, T data, T data2) {
  T old;
  std::memcpy(&old, bytes, sizeof(T));
  const T now = Op::New(math, old, data, data2);
  std::memcpy(bytes, &now, sizeof(T));
  return old;
}

// The same, at once for all host threads.
template <class Op, class T>
inline T ApplyAtomicShared(AtomicMath& math, uint8_t* bytes, T data, T data2) {
  if (reinterpret_cast<uintptr_t>(bytes) % sizeof(T) != 0) [[unlikely]] {
    const std::lock_guard<std::mutex> lock(MisalignedHostAtomics());
    return ApplyAtomic<Op, T>(math, bytes, data, data2);
  }
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(bytes));
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, Op::New(math, old, data, data2), std::memory_order_acq_rel,
                                     std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace understudy::emu::amd
