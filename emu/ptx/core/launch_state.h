// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all warps of one launch share: the program, the configuration, the device. Read-only while it runs
// except for the counters and what the mutex guards.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "emu/ptx/core/launch.h"
#include "emu/ptx/core/program.h"

namespace understudy::emu::ptx {

class Observer;  // check/observer.h

struct Launch {
  const Program* program = nullptr;
  const BoundFunction* kernel = nullptr;
  LaunchConfig config;
  LaunchOptions options;
  AddressSpace* memory = nullptr;
  Dim3 clusters;  // of the grid
  bool explicit_cluster = false;
  uint32_t threads_per_cta = 0, warps_per_cta = 0, ctas_per_cluster = 0;
  uint32_t static_shared = 0;         // bytes, module-scope .shared included
  uint32_t dynamic_shared_base = 0;   // offset of extern __shared__ memory
  uint32_t shared_bytes = 0;          // of a CTA
  uint32_t local_bytes = 0;           // a lane
  std::atomic<uint64_t> executed{0};  // warp instructions of finished turns, all host threads: the clock
  Observer* observer = nullptr;       // the checks, where any is on
  std::mutex host_mutex;              // print, allocate, release
};

}  // namespace understudy::emu::ptx
