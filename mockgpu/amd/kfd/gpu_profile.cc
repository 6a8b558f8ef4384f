// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/gpu_profile.h"

namespace understudy::mockgpu::amd {

GpuProfile Gfx1100() {
  GpuProfile p;
  p.name = "gfx1100";
  p.marketing_name = "Radeon RX 7900 XTX";
  p.gfx_target_version = 110000;
  p.vendor_id = 0x1002;
  p.device_id = 0x744c;
  p.pci_revision = 0xc8;
  p.location_id = 0x0300;
  p.domain = 0;
  p.unique_id = 0x4d6f636b31313030;
  p.simd_count = 192;
  p.max_waves_per_simd = 16;
  p.array_count = 12;
  p.simd_arrays_per_engine = 2;
  p.cu_per_simd_array = 8;
  p.simd_per_cu = 2;
  p.wave_front_size = 32;
  p.lds_size_kb = 64;
  p.gds_size_kb = 0;
  p.num_gws = 64;
  p.max_slots_scratch_cu = 32;
  p.max_engine_clk_mhz = 2482;
  p.mem_clk_mhz = 1249;
  p.mem_width_bits = 384;
  p.vram_bytes = 25753026560;
  p.sdma_engines = 2;
  p.sdma_queues_per_engine = 6;
  p.cp_queues = 8;
  p.mec_fw_version = 2140;
  p.sdma_fw_version = 20;
  p.capability = 671588992;
  p.debug_prop = 1495;
  p.simd_id_base = 2147488032;
  p.gpu_counter_khz = 100000;
  p.ip_blocks = {
      // GC, SDMA, NBIF, HDP, OSSSYS, MMHUB, MP0, MP1, VCN (hardware ids of discovery.h)
      {11, 1, 11, 0, 0}, {42, 2, 6, 0, 0},   {108, 1, 4, 3, 0}, {41, 1, 6, 0, 0}, {40, 1, 6, 0, 0},
      {34, 1, 3, 0, 0},  {255, 1, 13, 0, 0}, {1, 1, 13, 0, 0},  {12, 2, 4, 0, 0},
  };
  p.caches = {
      {96, 1, 32, 64, 1 | 8, 1},     // vector L0, one a compute unit
      {48, 1, 32, 64, 2 | 8, 2},     // instruction, one a work-group processor
      {48, 1, 16, 64, 1 | 8, 2},     // scalar
      {12, 2, 256, 64, 1 | 8, 8},    // L1, one a shader array
      {1, 2, 6144, 128, 1 | 8, 96},  // L2
      {1, 3, 98304, 64, 1 | 8, 96},  // Infinity Cache
  };
  return p;
}

}  // namespace understudy::mockgpu::amd
