// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gives turns to the groups of a warp, the warps of a CTA and the CTAs of a cluster. Used by RunLaunch, which
// gives turns to clusters.

#include <cstdint>

#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/launch_state.h"

namespace understudy::emu::ptx {

enum class Turn : uint8_t {
  kDone,   // every thread has exited
  kMore,   // the turn is over
  kStuck,  // nothing in the cluster can go on by itself
  kFault,
};

// Makes the cluster `ordinal` of the launch ready to run.
bool StartCluster(Cluster& cluster, Launch& launch, uint64_t ordinal);
Turn RunCluster(Cluster& cluster, uint64_t instructions);
// The fault of a cluster in which nothing can go on.
LaunchFault HangReport(Cluster& cluster, const Launch& launch);
LaunchFault FaultReport(const WarpState& warp, const Fault& fault, const Launch& launch);

}  // namespace understudy::emu::ptx
