// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of the driver API share: a context of the first device for each test, and results by name.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "mockgpu/nv/cuda/cuda_api.h"

inline void PrintTo(CUresult result, std::ostream* out) {
  const char* name = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS) name = "no result";
  *out << name << " (" << static_cast<int>(result) << ")";
}

#define CU_OK(call) ASSERT_EQ(call, CUDA_SUCCESS) << #call
#define CU_IS(call, result) EXPECT_EQ(call, result) << #call

namespace understudy::test {

class CudaApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CU_OK(cuInit(0));
    CU_OK(cuDeviceGet(&device_, 0));
    CU_OK(cuCtxCreate_v2(&context_, 0, device_));
  }
  void TearDown() override {
    if (context_ == nullptr) return;
    CU_IS(cuCtxDestroy_v2(context_), CUDA_SUCCESS);
  }
  std::vector<uint32_t> Words(CUdeviceptr from, size_t count) {
    std::vector<uint32_t> out(count, 0xdeadbeef);
    EXPECT_EQ(cuMemcpyDtoH_v2(out.data(), from, count * 4), CUDA_SUCCESS);
    return out;
  }
  CUdevice device_ = -1;
  CUcontext context_ = nullptr;
};

}  // namespace understudy::test
