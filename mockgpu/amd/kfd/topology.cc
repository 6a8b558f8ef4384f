// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/topology.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr char kRoot[] = "/sys/devices/virtual/kfd/kfd";
constexpr uint32_t kHostCores = 16;
constexpr uint64_t kHostMemoryBytes = uint64_t{64} << 30;
constexpr uint32_t kHostClockMhz = 4000;

using Properties = std::vector<std::pair<const char*, uint64_t>>;

std::string Text(const Properties& properties) {
  std::string out;
  for (const auto& [name, value] : properties) absl::StrAppend(&out, name, " ", value, "\n");
  return out;
}

std::string CacheText(const GpuProfile& gpu, const CacheKind& kind, uint32_t index) {
  const uint32_t first = index * kind.compute_units_each;
  std::string out = Text({{"processor_id_low", gpu.simd_id_base + first},
                          {"level", kind.level},
                          {"size", kind.size_kb},
                          {"cache_line_size", kind.line_bytes},
                          {"cache_lines_per_tag", 1},
                          {"association", 0},
                          {"latency", 0},
                          {"type", kind.type}});
  // One bit a compute unit that shares the cache, in whole words.
  absl::StrAppend(&out, "sibling_map ");
  const uint32_t bits = (gpu.compute_units() + 31) / 32 * 32;
  for (uint32_t cu = 0; cu < bits; ++cu) {
    out += cu >= first && cu < first + kind.compute_units_each ? '1' : '0';
    out += cu + 1 < bits ? ',' : '\n';
  }
  return out;
}

// type 2 is PCIe, 11 is XGMI (kfd_crat.h).
std::string LinkText(uint32_t from, uint32_t to) {
  return Text({{"type", 2},
               {"version_major", 0},
               {"version_minor", 0},
               {"node_from", from},
               {"node_to", to},
               {"weight", from == 0 || to == 0 ? 20u : 40u},
               {"min_latency", 0},
               {"max_latency", 0},
               {"min_bandwidth", 312},
               {"max_bandwidth", 16000},
               {"recommended_transfer_size", 0},
               {"flags", 1}});
}

void AddCpuNode(VirtualFiles& files, size_t gpus) {
  const std::string node = absl::StrCat(kRoot, "/topology/nodes/0");
  files.AddFile(node + "/gpu_id", "0\n");
  files.AddFile(node + "/name", "\n");
  files.AddFile(node + "/properties", Text({{"cpu_cores_count", kHostCores},
                                            {"simd_count", 0},
                                            {"mem_banks_count", 1},
                                            {"caches_count", 0},
                                            {"io_links_count", gpus},
                                            {"p2p_links_count", 0},
                                            {"cpu_core_id_base", 0},
                                            {"simd_id_base", 0},
                                            {"max_waves_per_simd", 0},
                                            {"lds_size_in_kb", 0},
                                            {"gds_size_in_kb", 0},
                                            {"num_gws", 0},
                                            {"wave_front_size", 0},
                                            {"array_count", 0},
                                            {"simd_arrays_per_engine", 0},
                                            {"cu_per_simd_array", 0},
                                            {"simd_per_cu", 0},
                                            {"max_slots_scratch_cu", 0},
                                            {"gfx_target_version", 0},
                                            {"vendor_id", 0},
                                            {"device_id", 0},
                                            {"location_id", 0},
                                            {"domain", 0},
                                            {"drm_render_minor", 0},
                                            {"hive_id", 0},
                                            {"num_sdma_engines", 0},
                                            {"num_sdma_xgmi_engines", 0},
                                            {"num_sdma_queues_per_engine", 0},
                                            {"num_cp_queues", 0},
                                            {"max_engine_clk_ccompute", kHostClockMhz}}));
  files.AddFile(node + "/mem_banks/0/properties", Text({{"heap_type", 0},
                                                        {"size_in_bytes", kHostMemoryBytes},
                                                        {"flags", 0},
                                                        {"width", 64},
                                                        {"mem_clk_max", 3200}}));
  for (size_t i = 0; i < gpus; ++i) {
    files.AddFile(absl::StrCat(node, "/io_links/", i, "/properties"),
                  LinkText(0, static_cast<uint32_t>(i + 1)));
  }
}

void AddGpuNode(VirtualFiles& files, const GpuProfile& gpu, size_t index, size_t gpus) {
  const std::string node = absl::StrCat(kRoot, "/topology/nodes/", index + 1);
  uint32_t caches = 0;
  for (const CacheKind& kind : gpu.caches) {
    for (uint32_t i = 0; i < kind.count; ++i) {
      files.AddFile(absl::StrCat(node, "/caches/", caches++, "/properties"), CacheText(gpu, kind, i));
    }
  }
  files.AddFile(node + "/gpu_id", absl::StrCat(GpuIdOf(index), "\n"));
  files.AddFile(node + "/name", "ip discovery\n");
  files.AddFile(node + "/properties", Text({{"cpu_cores_count", 0},
                                            {"simd_count", gpu.simd_count},
                                            {"mem_banks_count", 1},
                                            {"caches_count", caches},
                                            {"io_links_count", 1},
                                            {"p2p_links_count", gpus - 1},
                                            {"cpu_core_id_base", 0},
                                            {"simd_id_base", gpu.simd_id_base},
                                            {"max_waves_per_simd", gpu.max_waves_per_simd},
                                            {"lds_size_in_kb", gpu.lds_size_kb},
                                            {"gds_size_in_kb", gpu.gds_size_kb},
                                            {"num_gws", gpu.num_gws},
                                            {"wave_front_size", gpu.wave_front_size},
                                            {"array_count", gpu.array_count},
                                            {"simd_arrays_per_engine", gpu.simd_arrays_per_engine},
                                            {"cu_per_simd_array", gpu.cu_per_simd_array},
                                            {"simd_per_cu", gpu.simd_per_cu},
                                            {"max_slots_scratch_cu", gpu.max_slots_scratch_cu},
                                            {"gfx_target_version", gpu.gfx_target_version},
                                            {"vendor_id", gpu.vendor_id},
                                            {"device_id", gpu.device_id},
                                            {"location_id", gpu.location_id + (index << 8)},
                                            {"domain", gpu.domain},
                                            {"drm_render_minor", kFirstRenderMinor + index},
                                            {"hive_id", 0},
                                            {"num_sdma_engines", gpu.sdma_engines},
                                            {"num_sdma_xgmi_engines", gpu.sdma_xgmi_engines},
                                            {"num_sdma_queues_per_engine", gpu.sdma_queues_per_engine},
                                            {"num_cp_queues", gpu.cp_queues},
                                            {"max_engine_clk_fcompute", gpu.max_engine_clk_mhz},
                                            {"local_mem_size", 0},
                                            {"fw_version", gpu.mec_fw_version},
                                            {"capability", gpu.capability},
                                            {"debug_prop", gpu.debug_prop},
                                            {"sdma_fw_version", gpu.sdma_fw_version},
                                            {"unique_id", gpu.unique_id + index},
                                            {"num_xcc", gpu.num_xcc},
                                            {"max_engine_clk_ccompute", kHostClockMhz}}));
  // Heap type 1: all of the memory is visible to the host (large BAR).
  files.AddFile(node + "/mem_banks/0/properties", Text({{"heap_type", 1},
                                                        {"size_in_bytes", gpu.vram_bytes},
                                                        {"flags", 0},
                                                        {"width", gpu.mem_width_bits},
                                                        {"mem_clk_max", gpu.mem_clk_mhz}}));
  files.AddFile(node + "/io_links/0/properties", LinkText(static_cast<uint32_t>(index + 1), 0));
  size_t peer_link = 0;
  for (size_t peer = 0; peer < gpus; ++peer) {
    if (peer == index) continue;
    files.AddFile(absl::StrCat(node, "/p2p_links/", peer_link++, "/properties"),
                  LinkText(static_cast<uint32_t>(index + 1), static_cast<uint32_t>(peer + 1)));
  }
}

void AddPciDevice(VirtualFiles& files, const GpuProfile& gpu, size_t index) {
  const uint32_t minor = kFirstRenderMinor + static_cast<uint32_t>(index);
  const std::string slot = absl::StrFormat("%04x:%02x:%02x.%x", gpu.domain, (gpu.location_id >> 8) + index,
                                           gpu.location_id >> 3 & 31, gpu.location_id & 7);
  const std::string device = absl::StrCat("/sys/devices/pci0000:00/", slot);
  files.AddFile(device + "/vendor", absl::StrFormat("0x%04x\n", gpu.vendor_id));
  files.AddFile(device + "/device", absl::StrFormat("0x%04x\n", gpu.device_id));
  files.AddFile(device + "/revision", absl::StrFormat("0x%02x\n", gpu.pci_revision));
  files.AddFile(device + "/class", "0x030000\n");
  files.AddFile(device + "/unique_id", absl::StrFormat("%016x\n", gpu.unique_id + index));
  files.AddFile(device + "/mem_info_vram_total", absl::StrCat(gpu.vram_bytes, "\n"));
  files.AddFile(device + "/power_dpm_force_performance_level", "auto\n");
  for (const IpBlock& block : gpu.ip_blocks) {
    for (uint32_t instance = 0; instance < block.instances; ++instance) {
      const std::string path = absl::StrCat(device, "/ip_discovery/die/0/", block.hw_id, "/", instance);
      files.AddFile(path + "/hw_id", absl::StrCat(block.hw_id, "\n"));
      files.AddFile(path + "/num_instance", absl::StrCat(instance, "\n"));
      files.AddFile(path + "/major", absl::StrCat(block.major, "\n"));
      files.AddFile(path + "/minor", absl::StrCat(block.minor, "\n"));
      files.AddFile(path + "/revision", absl::StrCat(block.revision, "\n"));
      files.AddFile(path + "/harvest", "0x0\n");
    }
  }
  const std::string node = absl::StrCat("renderD", minor);
  files.AddFile(absl::StrCat(device, "/drm/", node, "/dev"), absl::StrCat("226:", minor, "\n"));
  files.AddSymlink(absl::StrCat(device, "/drm/", node, "/device"), absl::StrCat("../../../", slot));
  files.AddSymlink(absl::StrCat("/sys/class/drm/", node),
                   absl::StrCat("../../devices/pci0000:00/", slot, "/drm/", node));
  files.AddDevice(absl::StrCat("/dev/dri/", node));
}

}  // namespace

uint32_t GpuIdOf(size_t index) { return 0x5a31 + static_cast<uint32_t>(index) * 0x111; }

VirtualFiles BuildTopology(const std::vector<GpuProfile>& profiles) {
  VirtualFiles files;
  files.AddFile(absl::StrCat(kRoot, "/topology/generation_id"), "2\n");
  files.AddFile(absl::StrCat(kRoot, "/topology/system_properties"),
                Text({{"platform_oem", 0}, {"platform_id", 0}, {"platform_rev", 0}}));
  files.AddSymlink("/sys/class/kfd/kfd", "../../devices/virtual/kfd/kfd");
  files.AddDevice("/dev/kfd");
  AddCpuNode(files, profiles.size());
  for (size_t i = 0; i < profiles.size(); ++i) {
    AddGpuNode(files, profiles[i], i, profiles.size());
    AddPciDevice(files, profiles[i], i);
  }
  return files;
}

}  // namespace understudy::mockgpu::amd
