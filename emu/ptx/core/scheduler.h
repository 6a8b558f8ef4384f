// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gives turns to the groups of a warp, the warps of a CTA and the CTAs of a cluster. Used by RunLaunch, which
// gives turns to clusters.

#include <cstdint>

#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/fault_report.h"
#include "emu/ptx/core/launch_state.h"

namespace understudy::emu::ptx {

// Numbers drawn from a seed (SplitMix64), the same on every host.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // 0 .. bound - 1.
  uint32_t Below(uint32_t bound) {
    state_ += 0x9e37'79b9'7f4a'7c15;
    uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
    return static_cast<uint32_t>((z ^ z >> 31) % bound);
  }

 private:
  uint64_t state_;
};

enum class Turn : uint8_t {
  kDone,   // every thread has exited
  kMore,   // the turn is over
  kStuck,  // nothing in the cluster can go on by itself
  kFault,
};

// Makes the cluster `ordinal` of the launch ready to run.
bool StartCluster(Cluster& cluster, Launch& launch, uint64_t ordinal);
// With `random` the warps and their groups take short turns in an order drawn from it.
Turn RunCluster(Cluster& cluster, uint64_t instructions, Random* random);

}  // namespace understudy::emu::ptx
