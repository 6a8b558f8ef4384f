// SPDX-License-Identifier: Apache-2.0
#pragma once
// A GPU as data: the numbers that a real card reports through sysfs, and that the mock machine runs by. One
// profile a card, a file of profiles/; a new card is a new file. Nothing here depends on the emulator or the
// kernel interface.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mockgpu/amd/queue/generations.h"

namespace understudy::mockgpu::amd {

// One row of the ip_discovery table: a hardware block, its instances and their version.
struct IpBlock {
  uint32_t hw_id;
  uint32_t instances;
  uint32_t major, minor, revision;
};

// Caches of one kind: how many, and how many compute units share one.
struct CacheKind {
  uint32_t count;
  uint32_t level;
  uint32_t size_kb, line_bytes;
  uint32_t type;  // 1 data, 2 instruction, 8 of the GPU (kfd_crat.h)
  uint32_t compute_units_each;
};

struct GpuProfile {
  std::string name;             // "gfx1100"
  std::string marketing_name;   // "Radeon RX 7900 XTX"
  uint32_t gfx_target_version;  // 110000: major * 10000 + minor * 100 + stepping
  uint32_t vendor_id, device_id, pci_revision;
  uint32_t location_id, domain = 0;  // PCI bus << 8 | device << 3 | function
  uint64_t unique_id;

  uint32_t simd_count, max_waves_per_simd, array_count, simd_arrays_per_engine, cu_per_simd_array,
      simd_per_cu, num_xcc;
  uint32_t wave_front_size, lds_size_kb, gds_size_kb, num_gws, max_slots_scratch_cu;
  uint32_t max_engine_clk_mhz, mem_clk_mhz, mem_width_bits;
  uint64_t vram_bytes;
  uint32_t sdma_engines, sdma_xgmi_engines, sdma_queues_per_engine, cp_queues;
  uint32_t mec_fw_version, sdma_fw_version, capability;
  uint64_t debug_prop;
  uint32_t simd_id_base;
  uint32_t gpu_counter_khz;  // of timestamps
  std::vector<IpBlock> ip_blocks;
  std::vector<CacheKind> caches;

  uint32_t compute_units() const { return simd_count / simd_per_cu; }
  uint32_t shader_engines() const { return array_count / simd_arrays_per_engine; }
  // Whose packets its engines take; none where the mock has no such engine.
  std::optional<Gc> gc() const;
  std::optional<Sdma> sdma() const;

  static constexpr uint32_t kGcBlock = 11, kSdmaBlock = 42;  // GC_HWID, SDMA0_HWID of discovery.h
};

// Those of profiles.inc.
const std::vector<GpuProfile>& AllProfiles();
// "gfx942,gfx1100": one GPU a name; "" is one gfx1100. NotFound lists the names.
absl::StatusOr<std::vector<GpuProfile>> ParseProfiles(const std::string& words);
// Of a name that exists.
GpuProfile ProfileOf(const std::string& name);

}  // namespace understudy::mockgpu::amd
