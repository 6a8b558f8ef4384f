// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which wait counters an instruction increments, and in which order its results come back: what a program's
// waits have to cover. Asked once per decoded instruction by the strict checks; it counts nothing itself.

#include <cstdint>

#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// The counters of all generations. RDNA3 has VM, VS, LGKM and EXP; CDNA VM (stores too), LGKM and EXP; RDNA4
// the last six and EXP.
enum class WaitCounter : uint8_t { kVm, kVs, kLgkm, kExp, kLoad, kStore, kDs, kKm, kSample, kBvh };
inline constexpr int kNumWaitCounters = 10;

// "vmcnt", "loadcnt".
const char* WaitCounterName(WaitCounter counter);

// Results of one stream come back in the order of issue, unless the stream is unordered. Results of two
// streams that share a counter come in any order: a wait that must cover one of them while others are
// outstanding has to be 0.
enum class ReturnStream : uint8_t {
  kVectorMemory,  // buffer, global, scratch, image loads (and on CDNA stores), each other in order
  kSample,        // image sampling and gather
  kRayTracing,
  kFlat,   // unordered: may be LDS or memory
  kStore,  // unordered among themselves as far as a program may rely on it; their counter only reaches 0
  kLds,
  kScalarMemory,  // unordered
  kMessage,       // s_sendmsg, s_sendmsg_rtn, s_get_barrier_state: unordered with scalar memory
  kGds,
  kExport,
  kLdsDirect,  // parameter and direct loads
};
constexpr bool IsOrdered(ReturnStream stream) {
  return stream != ReturnStream::kFlat && stream != ReturnStream::kScalarMemory &&
         stream != ReturnStream::kStore;
}

struct WaitEvent {
  WaitCounter counter = WaitCounter::kVm;
  ReturnStream stream = ReturnStream::kVectorMemory;
  uint8_t increment = 1;
};

// At most two: a FLAT instruction counts as vector memory and as LDS until it has found out which it is.
struct WaitClass {
  uint8_t count = 0;
  WaitEvent events[2];

  bool Increments(WaitCounter counter) const {
    for (int i = 0; i < count; ++i) {
      if (events[i].counter == counter) return true;
    }
    return false;
  }
};

// Sources: RDNA3 ISA 4.4 and RDNA4 ISA 5.6 ("S_WAITCNT", data dependency resolution), CDNA3 ISA 4.4; where
// they are silent (cache operations), what LLVM's SIInsertWaitcnts counts.
WaitClass WaitClassOf(const Inst& inst);

}  // namespace understudy::emu::amd
