// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a kernel that was compiled for the host: every work-item of a group is a fiber, a barrier switches to
// the next one, groups run one after another. This is the oracle of the compiled programs; it knows nothing
// of the emulator.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fuzz/amd_programs/host_item.h"

namespace understudy::programs {

// What a kernel reads and writes. `in` and the first contents of `mem` are the same for every kernel.
struct ProgramData {
  std::vector<uint32_t> in, out, mem;
};

// Words from a fixed seed, a quarter of them values at which arithmetic changes its ways (zeros, infinities,
// NaNs, denormals, limits), and zeroed output.
ProgramData MakeProgramData(uint32_t seed);

// FailedPrecondition when some items of a group wait at a barrier that others never reach.
absl::Status RunOnHost(HostKernelFn kernel, int wave_size, ProgramData* data);

// Where two runs differ first ("out: item 3, word 2: 0x.. instead of 0x.."), or "" when nowhere.
std::string FirstDifference(const ProgramData& got, const ProgramData& want);

}  // namespace understudy::programs
