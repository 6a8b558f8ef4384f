// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the entry points of copies, memory and graphs share: checks of arguments and the making of commands.

#include "mockgpu/nv/cuda/driver.h"

namespace understudy::mockgpu::nv {

inline uint64_t CopyBase(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host) : device;
}

// A copy of `bytes` from one address to another, whatever they are.
CopyCommand LinearCopy(uint64_t dst, uint64_t src, uint64_t bytes);
CUDA_MEMCPY3D_PEER From2D(const CUDA_MEMCPY2D& c);
CUDA_MEMCPY3D_PEER From3D(const CUDA_MEMCPY3D& c);
CUDA_MEMCPY3D To3D(const CUDA_MEMCPY3D_PEER& c);
// INVALID_VALUE, NOT_SUPPORTED (arrays), INVALID_CONTEXT.
CUresult CheckCopy(Driver& driver, const CUDA_MEMCPY3D_PEER& copy);
CUresult CheckMemset(Driver& driver, const CUDA_MEMSET_NODE_PARAMS& set);

// Memory of a graph's allocation node: its address is chosen with the node, the bytes come with the launch.
CUresult MaterializeGraphMemory(Driver& driver, Context* context, const CUDA_MEM_ALLOC_NODE_PARAMS& params);
CUresult AllocateFromPool(Driver& driver, MemoryPool* pool, size_t bytes, uint64_t va, CUdeviceptr* out);

}  // namespace understudy::mockgpu::nv
