// SPDX-License-Identifier: Apache-2.0
// With UNDERSTUDY_CUDA_RUN=late work runs when it is waited for: a kernel may wait for what its own host
// thread writes after the launch, and streams, events and callbacks keep their order.
#include "tests/mockgpu/nv/api_test_base.h"

namespace understudy::test {
namespace {

// Waits for flag[0] to be its second argument, then counts in out[0].
constexpr char kWait[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry wait(.param .u64 flag, .param .u32 want, .param .u64 out)
{
  .reg .b64 %rd<3>; .reg .b32 %r<5>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [flag];
  ld.param.u32 %r1, [want];
  ld.param.u64 %rd2, [out];
AGAIN:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.ne.u32 %p1, %r2, %r1;
  @%p1 bra AGAIN;
  ld.global.u32 %r3, [%rd2];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd2], %r3;
  ret;
}
)";

class LateApi : public CudaApiTest {
 protected:
  void SetUp() override {
    CudaApiTest::SetUp();
    CU_OK(cuModuleLoadData(&module_, kWait));
    CU_OK(cuModuleGetFunction(&wait_, module_, "wait"));
    void* host = nullptr;
    CU_OK(cuMemHostAlloc(&host, 4096, 0));
    flag_ = static_cast<volatile uint32_t*>(host);
    CU_OK(cuMemAlloc_v2(&out_, 4096));
    CU_OK(cuMemsetD8_v2(out_, 0, 4096));
    CU_OK(cuCtxSynchronize());
    flag_[0] = 0;
  }
  CUresult Launch(uint32_t want, CUstream stream) {
    CUdeviceptr flag = reinterpret_cast<CUdeviceptr>(const_cast<uint32_t*>(flag_));
    void* arguments[] = {&flag, &want, &out_};
    return cuLaunchKernel(wait_, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  }
  CUmodule module_ = nullptr;
  CUfunction wait_ = nullptr;
  volatile uint32_t* flag_ = nullptr;
  CUdeviceptr out_ = 0;
};

TEST_F(LateApi, AKernelMayWaitForItsOwnThread) {
  CU_OK(Launch(5, nullptr));
  flag_[0] = 5;  // after the launch
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(Words(out_, 1)[0], 1u);
}

TEST_F(LateApi, CopiesAndEventsComeAfterWhatTheyFollow) {
  CUstream s = nullptr, t = nullptr;
  CUevent e = nullptr;
  CU_OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  CU_OK(cuEventCreate(&e, 0));
  CU_OK(Launch(7, s));
  CU_OK(cuEventRecord(e, s));
  CU_OK(cuStreamWaitEvent(t, e, 0));
  uint32_t seen = 99;
  flag_[0] = 7;
  CU_OK(cuMemcpyDtoHAsync_v2(&seen, out_, 4, t));
  CU_OK(cuStreamSynchronize(t));
  EXPECT_EQ(seen, 1u);
  CU_OK(cuEventQuery(e));
  // Pageable memory is the caller's again when the call returns.
  uint32_t word = 41;
  CU_OK(Launch(8, s));
  CU_OK(cuMemcpyHtoDAsync_v2(out_ + 8, &word, 4, s));
  word = 0;
  flag_[0] = 8;
  CU_OK(cuStreamSynchronize(s));
  EXPECT_EQ(Words(out_ + 8, 1)[0], 41u);
  CU_OK(cuEventDestroy_v2(e));
  CU_OK(cuStreamDestroy_v2(s));
  CU_OK(cuStreamDestroy_v2(t));
}

TEST_F(LateApi, TheLegacyStreamAndCallbacksKeepTheirOrder) {
  CUstream s = nullptr;
  CU_OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
  struct Order {
    volatile uint32_t* flag;
    int calls;
  } order{flag_, 0};
  // The callback before the kernel lets it go; the legacy stream's fill comes after both.
  CU_OK(cuLaunchHostFunc(
      s,
      [](void* data) {
        auto* const o = static_cast<Order*>(data);
        o->flag[0] = 3;
        ++o->calls;
      },
      &order));
  CU_OK(Launch(3, s));
  CU_OK(cuMemcpyDtoDAsync_v2(out_ + 16, out_, 4, nullptr));
  EXPECT_EQ(order.calls, 0);
  CU_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(order.calls, 1);
  EXPECT_EQ(Words(out_ + 16, 1)[0], 1u);
  CU_OK(cuStreamDestroy_v2(s));
}

TEST_F(LateApi, FreesWaitForWorkThatWasGiven) {
  CUdeviceptr p = 0;
  CU_OK(cuMemAlloc_v2(&p, 4096));
  CU_OK(cuMemsetD32_v2(p, 6, 1024));
  CU_OK(cuMemcpyDtoDAsync_v2(out_, p, 4096, nullptr));
  CU_OK(cuMemFree_v2(p));
  EXPECT_EQ(Words(out_, 1024)[1023], 6u);
}

TEST_F(LateApi, MemoryIsFreedOnce) {
  CUdeviceptr p = 0;
  CU_OK(cuMemAllocAsync(&p, 4096, nullptr));
  CU_OK(cuMemFreeAsync(p, nullptr));
  CU_IS(cuMemFreeAsync(p, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuCtxSynchronize());
}

}  // namespace
}  // namespace understudy::test
