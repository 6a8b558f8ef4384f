// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): a random
// number is a function of (seed, counter), so the same seed gives the same bits wherever it is computed. On
// the host for tests and single numbers; as a graph for tensors.

#include <array>
#include <cstdint>

#include "src/tensor/tensor.h"

namespace understudy {

std::array<uint32_t, 2> Threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter);
// The same on u32 tensors, element by element.
std::array<Tensor, 2> Threefry2x32(const std::array<Tensor, 2>& key, const std::array<Tensor, 2>& counter);

// A multiple of 2^-24 in [0, 1): exact in f32.
double RandomUnit(uint64_t seed, uint64_t counter);

}  // namespace understudy
