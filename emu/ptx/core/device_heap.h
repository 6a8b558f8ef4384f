// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device heap of malloc and free: which blocks of an address range kernels hold. Used by the mock driver
// (one of a context) and by PtxRunner, which map the range. It never touches the memory.
//
// Sources: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations"; an H200
// (tests/data/ptx/special.jsonl.zst): blocks of 16-byte alignment, one for malloc(0) and malloc(-1) too, 0
// for more than there is.

#include <cstdint>
#include <map>
#include <set>

#include "absl/status/status.h"

namespace understudy::emu::ptx {

// What cuCtxGetLimit(CU_LIMIT_MALLOC_HEAP_SIZE) gives unless it is set.
inline constexpr uint64_t kDeviceHeapBytes = 8 * 1024 * 1024;

class DeviceHeap {
 public:
  DeviceHeap() = default;
  // `base`: 16-byte aligned, not 0.
  DeviceHeap(uint64_t base, uint64_t bytes) : base_(base), bytes_(bytes) { gaps_[base] = bytes; }
  // Whether it has a range.
  explicit operator bool() const { return bytes_ != 0; }

  // The lowest place where `bytes` fit, or 0.
  uint64_t Allocate(uint64_t bytes);
  // Of 0, nothing. InvalidArgument names what is freed twice, inside of a block, or was never given.
  absl::Status Free(uint64_t address);

 private:
  uint64_t base_ = 0, bytes_ = 0;
  std::map<uint64_t, uint64_t> gaps_, blocks_;  // address -> bytes
  std::set<uint64_t> freed_;                    // where blocks began that are no more
};

}  // namespace understudy::emu::ptx
