// SPDX-License-Identifier: Apache-2.0
#pragma once
// The few ioctls of a DRM render node that compute clients use: who the driver is, and how much memory there
// is. All others fail with -EINVAL, as unknown ones do.

#include "mockgpu/amd/kfd/gpu.h"

namespace understudy::mockgpu::amd {

int DrmIoctl(Gpu& gpu, unsigned long request, void* arg);

}  // namespace understudy::mockgpu::amd
