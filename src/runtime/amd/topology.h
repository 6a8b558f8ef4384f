// SPDX-License-Identifier: Apache-2.0
#pragma once
// The GPUs that the kernel driver reports in its sysfs topology (Documentation: kfd_topology.c writes the
// files). Read once when a device is opened; never opens a device node itself.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/runtime/os/syscalls.h"

namespace understudy::amd {

inline constexpr char kTopologyNodes[] = "/sys/devices/virtual/kfd/kfd/topology/nodes";

// One node with compute units. Names and units are those of the sysfs `properties` file.
struct GpuNode {
  int node = 0;  // directory name
  uint32_t gpu_id = 0;
  std::map<std::string, uint64_t> properties;  // all lines as read

  uint32_t gfx_target_version = 0;  // major * 10000 + minor * 100 + stepping
  uint32_t drm_render_minor = 0;
  uint32_t simd_count = 0, simd_per_cu = 0;
  uint32_t array_count = 0, simd_arrays_per_engine = 0;
  uint32_t max_waves_per_simd = 0, max_slots_scratch_cu = 0;
  uint32_t wave_front_size = 0, lds_size_in_kb = 0;

  uint32_t cu_count() const { return simd_count / simd_per_cu; }
  uint32_t shader_engines() const { return array_count / simd_arrays_per_engine; }
  // "gfx1100": minor and stepping in hexadecimal, as LLVM names targets.
  std::string isa() const;
  std::string render_path() const;  // "/dev/dri/renderD128"
};

// Nodes whose gpu_id is not 0, in node order; empty on a machine with CPUs only. NotFound when the topology
// is absent (no kernel driver); InvalidArgument names file, line and what was expected when a file is
// malformed.
absl::StatusOr<std::vector<GpuNode>> ReadTopology(os::Syscalls& sys);

// Exposed for tests: the text of one `properties` file.
absl::StatusOr<std::map<std::string, uint64_t>> ParseProperties(const std::string& text,
                                                                const std::string& path);

}  // namespace understudy::amd
