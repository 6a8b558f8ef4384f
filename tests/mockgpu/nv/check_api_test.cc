// SPDX-License-Identifier: Apache-2.0
// The driver library's checks, from the environment: findings go to stderr, fresh device memory counts as
// uninitialised until a copy, a fill or a kernel has written it.
#include <cstdint>

#include "tests/mockgpu/nv/api_test_base.h"

namespace understudy::test {
namespace {

constexpr char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry move(.param .u64 to, .param .u64 from)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [to];
  ld.param.u64 %d2, [from];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.s64 %d1, %d1, %d3;
  add.s64 %d2, %d2, %d3;
  ld.global.u32 %r2, [%d2];
  st.global.u32 [%d1], %r2;
  ret;
}
.visible .entry race(.param .u64 to)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [to];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%d1], %r1;
  ret;
}
)";

class CheckApi : public CudaApiTest {
 protected:
  void SetUp() override {
    CudaApiTest::SetUp();
    CU_OK(cuModuleLoadData(&module_, kPtx));
    CU_OK(cuModuleGetFunction(&move_, module_, "move"));
    CU_OK(cuMemAlloc_v2(&a_, 128));
    CU_OK(cuMemAlloc_v2(&b_, 128));
  }
  // What a launch prints.
  std::string Move(CUdeviceptr to, CUdeviceptr from) {
    void* params[] = {&to, &from};
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cuLaunchKernel(move_, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    return ::testing::internal::GetCapturedStderr();
  }
  CUmodule module_ = nullptr;
  CUfunction move_ = nullptr;
  CUdeviceptr a_ = 0, b_ = 0;
};

TEST_F(CheckApi, FreshMemoryIsUninitialised) {
  const std::string text = Move(b_, a_);
  EXPECT_NE(text.find("cuda: check: error: uninit: the value stored to global memory is uninitialised"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("'ld.global.u32 %r2, [%d2];'"), std::string::npos) << text;
}

TEST_F(CheckApi, FillsCopiesAndKernelsInitialise) {
  CUdeviceptr c = 0;
  CU_OK(cuMemAlloc_v2(&c, 128));
  CU_OK(cuMemsetD32_v2(a_, 5, 32));
  EXPECT_EQ(Move(b_, a_), "");
  EXPECT_EQ(Move(c, b_), "");
  uint32_t words[32] = {};
  CUdeviceptr d = 0, e = 0;
  CU_OK(cuMemAlloc_v2(&d, 128));
  CU_OK(cuMemAlloc_v2(&e, 128));
  CU_OK(cuMemcpyHtoD_v2(d, words, 64));
  EXPECT_NE(Move(b_, d), "");  // only half of it
  // A copy carries along what is missing.
  CU_OK(cuMemcpyDtoD_v2(e, d, 128));
  EXPECT_NE(Move(b_, e), "");
  CU_OK(cuMemcpyHtoD_v2(d, words, 128));
  EXPECT_EQ(Move(b_, d), "");
}

TEST_F(CheckApi, MemoryThatIsFreedAndGivenAgainIsFresh) {
  CU_OK(cuMemsetD32_v2(a_, 5, 32));
  CU_OK(cuMemFree_v2(a_));
  CU_OK(cuMemAlloc_v2(&a_, 128));
  EXPECT_NE(Move(b_, a_), "");
}

TEST_F(CheckApi, RacesAreReportedAndTheLaunchGoesOn) {
  CUfunction race = nullptr;
  CU_OK(cuModuleGetFunction(&race, module_, "race"));
  void* params[] = {&a_};
  ::testing::internal::CaptureStderr();
  CU_OK(cuLaunchKernel(race, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr));
  CU_OK(cuCtxSynchronize());
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("cuda: check: error: races: write (after write) of address 0x"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace understudy::test
