// SPDX-License-Identifier: Apache-2.0
#pragma once
// What differs between processors in what the driver writes: packets, registers, scratch, the sizes of a
// queue. Chosen once, when a GPU is opened; everything else asks the value and never the processor's name.

#include <cstdint>

#include "absl/status/statusor.h"
#include "src/runtime/amd/pm4.h"
#include "src/runtime/amd/sdma.h"
#include "src/runtime/amd/topology.h"

namespace understudy::amd {

// The private memory of waves: COMPUTE_TMPRING_SIZE and how code finds it.
struct ScratchLayout {
  // The address comes with the wave (COMPUTE_DISPATCH_SCRATCH_BASE); else code makes it from user SGPRs and
  // the wave's offset (LLVM AMDGPUUsage, "Flat Scratch").
  bool architected;
  uint32_t unit;          // bytes of a unit of WAVESIZE
  uint32_t max_units;     // what WAVESIZE holds
  bool waves_per_engine;  // WAVES counts those of one shader engine, else all
};

struct Generation {
  pm4::Layout pm4;
  sdma::Layout sdma;
  ScratchLayout scratch;
  bool has_wave32;
  uint32_t rsrc1;                           // bits of COMPUTE_PGM_RSRC1 that the driver adds to the code's
  uint32_t control_stack_bytes;             // a wave's, in the save area
  uint32_t waves_per_cu, waves_per_engine;  // what bounds the waves of the save area; 0: engines do not
  // Of the processor, from generations.inc.
  uint32_t vgpr_bytes_per_cu = 0;
  uint32_t lds_granule = 0;
};

// Unimplemented names a processor that is not in generations.inc, and a partition of several XCCs.
absl::StatusOr<Generation> GenerationOf(const GpuNode& node);

// The area in which the kernel driver keeps the waves of a compute queue that it takes off the GPU. The
// kernel refuses queues of other sizes (Linux, kfd_queue.c, kfd_queue_ctx_save_restore_size).
struct SaveArea {
  uint32_t control_stack = 0;  // ctl_stack_size
  uint32_t save_restore = 0;   // ctx_save_restore_size, the control stack included
  uint32_t total = 0;          // with the debugger's part: what is allocated
};
SaveArea SaveAreaOf(const Generation& generation, const GpuNode& node);

}  // namespace understudy::amd
