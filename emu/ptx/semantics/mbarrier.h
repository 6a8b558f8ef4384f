// SPDX-License-Identifier: Apache-2.0
#pragma once
// The 64-bit mbarrier object in shared memory: its fields, and what arrivals and transactions do to it. The
// layout is ours (PTX calls it opaque): programs see it only through mbarrier instructions, and the state
// that an arrive returns is the object as it was before.
//
// Source: PTX ISA 8.8, "mbarrier".

#include <cstdint>

namespace understudy::emu::ptx {

struct Mbarrier {
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;
  static constexpr int32_t kMaxTx = (1 << 20) - 1;
  // bits 0..19 pending arrivals, 20..39 expected arrivals of a phase, 40..60 bytes still to come (signed),
  // 62 set in every valid object, 63 parity of the current phase.
  uint32_t pending = 0, expected = 0;
  int32_t tx = 0;
  bool valid = false, parity = false;

  static Mbarrier Unpack(uint64_t word) {
    Mbarrier b;
    b.pending = word & kMaxCount;
    b.expected = word >> 20 & kMaxCount;
    b.tx = static_cast<int32_t>(static_cast<int64_t>(word << 3) >> 43);
    b.valid = (word >> 62 & 1) != 0;
    b.parity = (word >> 63 & 1) != 0;
    return b;
  }
  uint64_t Pack() const {
    return uint64_t{pending} | uint64_t{expected} << 20 |
           (static_cast<uint64_t>(static_cast<uint32_t>(tx)) & 0x1fffff) << 40 | uint64_t{valid} << 62 |
           uint64_t{parity} << 63;
  }
  // Ends the phase when nobody and nothing is awaited any more.
  void Settle() {
    if (pending != 0 || tx != 0) return;
    pending = expected;
    parity = !parity;
  }
};

}  // namespace understudy::emu::ptx
