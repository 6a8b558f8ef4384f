// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs an OpenCL C kernel that clang compiled for the host: every work item of a group is a fiber, and a
// barrier switches to the next one. This is the oracle that the demo compares the emulated GPU with. Groups
// run one after another, so a kernel's local variables (globals in the host object) belong to one group at a
// time.

#include <array>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace understudy::demo {

// Calls `work_item` once for each work item of a grid of `groups` groups of `local` items, each at most 3-D.
// Errors when a barrier is reached by some items of a group and never by others.
absl::Status RunOnHost(std::array<uint32_t, 3> groups, std::array<uint32_t, 3> local,
                       const std::function<void()>& work_item);

}  // namespace understudy::demo
