// SPDX-License-Identifier: Apache-2.0
#pragma once
// A launch's arguments, checked as the driver checks them, made into a command: for launches and graph nodes.

#include "mockgpu/nv/cuda/module.h"

namespace understudy::mockgpu::nv {

struct LaunchArguments {
  CUfunction function = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared = 0;
  void **params = nullptr, **extra = nullptr;
  const CUlaunchAttribute* attributes = nullptr;
  unsigned num_attributes = 0;
  bool cooperative = false;
};

// INVALID_VALUE, INVALID_HANDLE, LAUNCH_OUT_OF_RESOURCES, COOPERATIVE_LAUNCH_TOO_LARGE, INVALID_CLUSTER_SIZE,
// NOT_SUPPORTED.
CUresult MakeLaunch(Driver& driver, const LaunchArguments& arguments, KernelCommand* out);
// Blocks of `threads` that one multiprocessor holds at a time.
int ActiveBlocks(const Function& f, const Device& device, int threads, size_t dynamic_shared);

}  // namespace understudy::mockgpu::nv
