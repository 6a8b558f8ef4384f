// SPDX-License-Identifier: Apache-2.0
#pragma once
// Faults, hangs and the findings of checks as places in the program and sentences. Used where a launch ends;
// it decides nothing.

#include <cstdint>
#include <string>

#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/launch_state.h"

namespace understudy::emu::ptx {

// Fills in where `lane` (-1: the warp's first) of a warp is: everything but kind and message.
void SetPlace(const WarpState& warp, const Launch& launch, const BoundFunction& function, uint32_t pc,
              int lane, LaunchFault* fault);
// "module:12: 'ld.global.u32 %r1, [%rd1];' in kernel (instruction 7), CTA (0,0,0), warp 0, thread (3,0,0)".
std::string PlaceText(const LaunchFault& fault, const Launch& launch);
// The fault of a cluster in which nothing can go on.
LaunchFault HangReport(Cluster& cluster, const Launch& launch);
LaunchFault FaultReport(const WarpState& warp, const Fault& fault, const Launch& launch);

}  // namespace understudy::emu::ptx
