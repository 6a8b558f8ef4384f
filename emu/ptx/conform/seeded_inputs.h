// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inputs of seeded matrix samples, made again from their seed: the same stream as tools/hw/record_mma.py.
// Runs nothing.

#include <cstdint>
#include <vector>

#include "emu/ptx/conform/vectors.h"

namespace understudy::emu::ptx::conform {

struct SeededInputs {
  std::vector<uint64_t> a, b, c;   // [register * lanes + lane]; a warpgroup's c is what d holds before
  std::vector<uint64_t> metadata;  // a lane; empty where dense
  std::vector<uint64_t> shared;    // 32-bit words: a warpgroup's a in the first half, b in the second
};
SeededInputs InputsOf(const Seeded& seeded, int index);

}  // namespace understudy::emu::ptx::conform
