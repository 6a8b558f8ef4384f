// SPDX-License-Identifier: Apache-2.0
#pragma once
// One lane's atomic operation on host memory, in the interpreter's reading of mem_atomics.h. Global memory is
// shared with workgroups on other host threads and needs host atomics; LDS belongs to one workgroup, which
// one thread runs.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "emu/amd/isa/opcode.h"
#include "emu/amd/semantics/builder.h"
#include "emu/amd/semantics/mem_atomics.h"

namespace understudy::emu::amd {

using AtomicMath = LaneMath<false>;

// Memory pipelines outside the ALU round to nearest even and keep denormals, whatever MODE says; gfx90a's
// flushes those of f32 (LLVM uses its instructions only where a program allows that).
inline AtomicMath MemoryAtomicMath(Isa isa) {
  FpMode mode;
  mode.flush_in32 = mode.flush_out32 = isa == Isa::kCdna2;
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
