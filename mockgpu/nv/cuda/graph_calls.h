// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands of graph nodes from the parameters that callers give, checked.

#include "mockgpu/nv/cuda/driver.h"

namespace understudy::mockgpu::nv {

CUresult NewNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* before, size_t count,
                 const CUgraphEdgeData* data, Command command, Context* context);
CUresult KernelOf(const CUDA_KERNEL_NODE_PARAMS& params,
                  const std::map<int, CUlaunchAttributeValue>& attributes, KernelCommand* out);
CUresult CheckMemsetNode(const CUDA_MEMSET_NODE_PARAMS& set);
CUresult CopyOf(const CUDA_MEMCPY3D* params, CopyCommand* out);
CUresult CommandOf(const CUgraphNodeParams& params, Command* out, Context** context);

}  // namespace understudy::mockgpu::nv
