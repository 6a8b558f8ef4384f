// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files in which Linux describes a machine's GPUs: the KFD topology, the DRM render nodes and the table
// of hardware blocks. Formats are those of kfd_topology.c and amdgpu_discovery.c; the numbers are the
// profiles'.

#include <cstdint>
#include <vector>

#include "mockgpu/amd/kfd/gpu_profile.h"
#include "mockgpu/amd/kfd/virtual_files.h"

namespace understudy::mockgpu::amd {

// GPU `index` is topology node index + 1 (node 0 is the CPU) and render node 128 + index.
constexpr uint32_t kFirstRenderMinor = 128;
// KFD's id of a GPU: 16 bits, unique in the machine, never 0.
uint32_t GpuIdOf(size_t index);

VirtualFiles BuildTopology(const std::vector<GpuProfile>& profiles);

}  // namespace understudy::mockgpu::amd
