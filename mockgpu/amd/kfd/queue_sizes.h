// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sizes that a compute queue of a GPU must be created with: what the kernel driver computes once a node
// and compares with each CREATE_QUEUE (Linux, kfd_queue.c: kfd_queue_ctx_save_restore_size and
// kfd_queue_acquire_buffers).

#include <cstdint>

#include "mockgpu/amd/kfd/gpu_profile.h"

namespace understudy::mockgpu::amd {

struct QueueSizes {
  uint32_t control_stack = 0;  // ctl_stack_size
  uint32_t save_area = 0;      // ctx_save_restore_size
  uint64_t save_memory = 0;    // mapped at ctx_save_restore_address: with the debugger's part, for every XCC
  uint32_t end_of_pipe = 4096;
};

QueueSizes QueueSizesOf(const GpuProfile& gpu);

}  // namespace understudy::mockgpu::amd
