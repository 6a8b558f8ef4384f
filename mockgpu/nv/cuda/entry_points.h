// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of entry points and of results as data: for cuGetProcAddress, messages and reports.

#include <vector>

#include "mockgpu/nv/cuda/cuda_api.h"

namespace understudy::mockgpu::nv {

struct EntryPoint {
  const char* symbol;
  const char* base;
  int since;  // 12030 is CUDA 12.3
  bool per_thread, refused;
  void* address;
};

const std::vector<EntryPoint>& EntryPoints();
// nullptr for a number that is no result.
const char* ResultName(CUresult result);
const char* ResultText(CUresult result);

}  // namespace understudy::mockgpu::nv
