// SPDX-License-Identifier: Apache-2.0
#pragma once
// One lane's atomic operation on host memory, in the interpreter's reading of mem_atomics.h. Lanes run one after the
// other and so do waves: no host atomics are needed.

#include <cstdint>
#include <cstring>

#include "emu/amd/semantics/builder.h"
#include "emu/amd/semantics/mem_atomics.h"

namespace understudy::emu::amd {

using AtomicMath = LaneMath<false>;

// Memory pipelines outside the ALU round to nearest even and keep denormals, whatever MODE says.
inline AtomicMath MemoryAtomicMath() { return AtomicMath(FpMode()); }

// Replaces the value at `bytes` and returns the old one.
template <class Op, class T>
inline T ApplyAtomic(AtomicMath& math, uint8_t* bytes, T data, T data2) {
  T old;
  std::memcpy(&old, bytes, sizeof(T));
  const T now = Op::New(math, old, data, data2);
  std::memcpy(bytes, &now, sizeof(T));
  return old;
}

}  // namespace understudy::emu::amd
