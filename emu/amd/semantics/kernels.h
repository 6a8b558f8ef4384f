// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compiled lane loops, once for each host instruction set, and the lane-array helpers compiled with them.
// Chosen at run time by vector_table.cc; nothing else calls them.

#include <cstdint>

#include "emu/amd/semantics/lane_arrays.h"
#include "emu/amd/semantics/semantic_rows.h"

namespace understudy::emu::amd {

struct LaneKernel {
  LaneFn host_like = nullptr;  // FpMode::IsHostLike()
  LaneFn directed = nullptr;   // any MODE
};

struct KernelSet {
  LaneKernel kernels[static_cast<int>(SemanticRow::kCount)];
  // dst[lane] = value[lane] where `exec` has the lane's bit.
  void (*store_masked)(uint32_t* dst, const uint32_t* value, uint64_t exec, int lanes);
  // out[lane] = the lane's bit of `mask`.
  void (*expand_mask)(uint64_t mask, uint32_t* out, int lanes);
  // The inverse; lanes hold 0 or 1.
  uint64_t (*pack_mask)(const uint32_t* lanes_in, int lanes);
};

// One registration function a chapter and instruction set (kernels_*.cc), filling only its own rows.
#define US_DECLARE_KERNELS(arch)           \
  namespace kernels_##arch {               \
    void RegisterVop1(KernelSet * set);    \
    void RegisterVop2(KernelSet * set);    \
    void RegisterVop3(KernelSet * set);    \
    void RegisterVopc(KernelSet * set);    \
    void RegisterVop3p(KernelSet * set);   \
    void RegisterHelpers(KernelSet * set); \
  }
US_DECLARE_KERNELS(baseline)
US_DECLARE_KERNELS(avx2)
US_DECLARE_KERNELS(avx512)
#undef US_DECLARE_KERNELS

}  // namespace understudy::emu::amd
