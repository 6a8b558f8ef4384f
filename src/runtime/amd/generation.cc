// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/generation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/runtime/amd/memory.h"

namespace understudy::amd {
namespace {

// ACQUIRE_MEM, CP_COHER_CNTL of GFX9 (Linux amdgpu, soc15d.h; which of them: gfx_v9_0_emit_mem_sync).
constexpr uint32_t kTcWb = 1u << 18, kTcl1 = 1u << 22, kTc = 1u << 23, kShKcache = 1u << 27,
                   kShIcache = 1u << 29;
// RELEASE_MEM of GFX9 (soc15d.h; which of them: gfx_v9_0_ring_emit_fence).
constexpr uint32_t kEopTcWb = 1u << 15, kEopTcl1 = 1u << 16, kEopTc = 1u << 17, kEopTcMd = 1u << 21;

constexpr pm4::Layout kPm4Gfx9 = {
    .acquire = pm4::Layout::Acquire::kCoherCntl,
    .acquire_shader = kTcl1 | kShKcache,
    .acquire_l2 = kTc | kTcWb | kShIcache,
    .release_caches = kEopTcl1 | kEopTc | kEopTcWb | kEopTcMd,
    .pgm_rsrc3 = 0x22d,
};

// ACQUIRE_MEM, GCR_CNTL of GFX10 and later (nvd.h).
constexpr uint32_t kGliInv = 1u << 0, kGlmWb = 1u << 4, kGlmInv = 1u << 5, kGlkWb = 1u << 6,
                   kGlkInv = 1u << 7, kGlvInv = 1u << 8, kGl1Inv = 1u << 9, kGl2Inv = 1u << 14,
                   kGl2Wb = 1u << 15;
// RELEASE_MEM of GFX10 and later (nvd.h).
constexpr uint32_t kReleaseGlmWb = 1u << 12, kReleaseGlmInv = 1u << 13, kReleaseGlvInv = 1u << 14,
                   kReleaseGl1Inv = 1u << 15, kReleaseGl2Inv = 1u << 20, kReleaseGl2Wb = 1u << 21,
                   kReleaseSeq = 1u << 22;

constexpr pm4::Layout kPm4Gfx11 = {
    .acquire = pm4::Layout::Acquire::kGcrCntl,
    .acquire_shader = kGlmWb | kGlmInv | kGlkWb | kGlkInv | kGlvInv | kGl1Inv,
    .acquire_l2 = kGliInv | kGl2Inv | kGl2Wb,
    .release_caches = kReleaseGlmWb | kReleaseGlmInv | kReleaseGlvInv | kReleaseGl1Inv | kReleaseGl2Inv |
                      kReleaseGl2Wb | kReleaseSeq,
    .pgm_rsrc3 = 0x228,
};

// Half of what the count field holds (22 bits, SDMA 4; 30 bits later): a power of two below keeps every
// chunk's addresses as aligned as the first. Fences of SDMA 5 and later say that the memory is uncached.
constexpr sdma::Layout kSdma4 = {.max_copy = uint64_t{1} << 21, .fence = 0};
constexpr sdma::Layout kSdma6 = {.max_copy = uint64_t{1} << 29, .fence = 3u << 16};

// COMPUTE_TMPRING_SIZE: WAVES 11:0, WAVESIZE from bit 12 on with 13 bits of KiB (GFX9), 15 (GFX11) or 18
// (GFX12) of 256 bytes.
constexpr Generation kGfx90a = {
    .pm4 = kPm4Gfx9,
    .sdma = kSdma4,
    .scratch = {.architected = false, .unit = 1024, .max_units = 0x1fff, .waves_per_engine = false},
    .has_wave32 = false,
    .rsrc1 = 0,
    .control_stack_bytes = 8,
    .waves_per_cu = 40,
    .waves_per_engine = 512,
};
constexpr Generation kGfx94 = [] {
  Generation g = kGfx90a;
  g.scratch.architected = true;
  return g;
}();
constexpr Generation kGfx11 = {
    .pm4 = kPm4Gfx11,
    .sdma = kSdma6,
    .scratch = {.architected = true, .unit = 256, .max_units = 0x7fff, .waves_per_engine = true},
    .has_wave32 = true,
    // PRIV: without it waves of GFX11 hang at context save when no trap handler is installed (tinygrad's
    // ops_amd.py and ROCr's kfdtest set it for that reason).
    .rsrc1 = 1u << 20,
    .control_stack_bytes = 12,
    .waves_per_cu = 32,
    .waves_per_engine = 0,
};
constexpr Generation kGfx12 = [] {
  Generation g = kGfx11;
  g.scratch.max_units = 0x3ffff;
  g.rsrc1 = 0;
  return g;
}();

constexpr struct {
  uint32_t version;
  const Generation* layout;
  uint32_t vgpr_bytes_per_cu, lds_granule;
} kProcessors[] = {
#define AMD_PROCESSOR(version, layout, vgprs, granule) {version, &layout, vgprs, granule},
#include "src/runtime/amd/generations.inc"
};

}  // namespace

absl::StatusOr<Generation> GenerationOf(const GpuNode& node) {
  const auto xccs = node.properties.find("num_xcc");
  if (xccs != node.properties.end() && xccs->second > 1) {
    return absl::UnimplementedError(
        absl::StrCat(node.isa(), " with num_xcc ", xccs->second,
                     ": a PM4 queue runs on one XCC, and queues that spread over several (AQL) are not "
                     "written; expected a card in CPX mode, one XCC a GPU"));
  }
  std::string known;
  for (const auto& p : kProcessors) {
    if (p.version == node.gfx_target_version) {
      Generation generation = *p.layout;
      generation.vgpr_bytes_per_cu = p.vgpr_bytes_per_cu;
      generation.lds_granule = p.lds_granule;
      return generation;
    }
    GpuNode named;
    named.gfx_target_version = p.version;
    absl::StrAppend(&known, known.empty() ? "" : ", ", named.isa());
  }
  return absl::UnimplementedError(absl::StrCat(node.isa(), " (gfx_target_version ", node.gfx_target_version,
                                               "): packets are written for ", known));
}

SaveArea SaveAreaOf(const Generation& g, const GpuNode& node) {
  constexpr uint64_t kSgprs = 0x4000, kHwRegs = 0x1000, kHeader = 40, kDebugBytes = 32, kOldLds = 64 << 10;
  const uint64_t cus = node.cu_count();
  uint64_t waves = cus * g.waves_per_cu;
  if (g.waves_per_engine != 0) waves = std::min(waves, uint64_t{node.shader_engines()} * g.waves_per_engine);
  const uint64_t lds = std::max(uint64_t{node.lds_size_in_kb} << 10, kOldLds);
  const auto page = [](uint64_t n) { return static_cast<uint32_t>(AlignUp(n, GpuMemory::kPage)); };
  SaveArea s;
  s.control_stack = page(kHeader + waves * g.control_stack_bytes + 8);
  s.save_restore = page(cus * (g.vgpr_bytes_per_cu + kSgprs + lds + kHwRegs)) + s.control_stack;
  s.total = page(s.save_restore + AlignUp(waves * kDebugBytes, 64));
  return s;
}

}  // namespace understudy::amd
