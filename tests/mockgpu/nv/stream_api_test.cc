// SPDX-License-Identifier: Apache-2.0
// Order of work: within a stream, between blocking streams and the legacy stream, through events, and around
// work that waits for a value in memory. Every test that blocks a stream first sees that its work has not
// run.
#include <atomic>
#include <thread>

#include "tests/mockgpu/nv/api_test_base.h"

namespace understudy::test {
namespace {

class StreamApi : public CudaApiTest {
 protected:
  void SetUp() override {
    CudaApiTest::SetUp();
    void *flag = nullptr, *out = nullptr;
    CU_OK(cuMemHostAlloc(&flag, 64, 0));
    CU_OK(cuMemHostAlloc(&out, 64, 0));
    flag_ = static_cast<uint32_t*>(flag);
    out_ = static_cast<uint32_t*>(out);
    *flag_ = 0;
    for (int i = 0; i < 16; ++i) out_[i] = 0;
  }
  CUdeviceptr Flag() const { return reinterpret_cast<CUdeviceptr>(flag_); }
  CUdeviceptr Out(int i) const { return reinterpret_cast<CUdeviceptr>(out_ + i); }
  CUstream Make(unsigned flags) {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, flags), CUDA_SUCCESS);
    return stream;
  }
  // The stream does nothing until the flag is 1.
  void Block(CUstream stream) { CU_OK(cuStreamWaitValue32_v2(stream, Flag(), 1, CU_STREAM_WAIT_VALUE_GEQ)); }
  volatile uint32_t* flag_ = nullptr;
  volatile uint32_t* out_ = nullptr;
};

TEST_F(StreamApi, WorkWaitsForItsStream) {
  CUstream s = Make(CU_STREAM_NON_BLOCKING);
  Block(s);
  CU_OK(cuMemsetD32Async(Out(0), 5, 1, s));
  CU_IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(out_[0], 0u);
  // Another stream is free.
  CUstream other = Make(CU_STREAM_NON_BLOCKING);
  CU_OK(cuMemsetD32Async(Out(1), 6, 1, other));
  CU_IS(cuStreamQuery(other), CUDA_SUCCESS);
  EXPECT_EQ(out_[1], 6u);
  *flag_ = 1;
  CU_OK(cuStreamSynchronize(s));
  EXPECT_EQ(out_[0], 5u);
}

TEST_F(StreamApi, AnotherThreadMayLetWorkGoOn) {
  CUstream s = Make(CU_STREAM_NON_BLOCKING);
  Block(s);
  CU_OK(cuMemsetD32Async(Out(0), 5, 1, s));
  std::thread helper([&] { *flag_ = 1; });
  CU_OK(cuStreamSynchronize(s));
  helper.join();
  EXPECT_EQ(out_[0], 5u);
}

TEST_F(StreamApi, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  CUstream blocking = Make(CU_STREAM_DEFAULT), free_stream = Make(CU_STREAM_NON_BLOCKING);
  CUstream later = Make(CU_STREAM_DEFAULT);
  Block(blocking);
  CU_OK(cuMemsetD32Async(Out(0), 1, 1, nullptr));
  CU_OK(cuMemsetD32Async(Out(1), 2, 1, later));
  CU_OK(cuMemsetD32Async(Out(2), 3, 1, free_stream));
  CU_IS(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  CU_IS(cuStreamQuery(later), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(out_[0], 0u);
  EXPECT_EQ(out_[1], 0u);
  EXPECT_EQ(out_[2], 3u);
  *flag_ = 1;
  CU_OK(cuStreamSynchronize(later));
  EXPECT_EQ(out_[0], 1u);
  EXPECT_EQ(out_[1], 2u);
}

TEST_F(StreamApi, ThePerThreadStreamIsNotTheLegacyOne) {
  CUstream free_stream = Make(CU_STREAM_NON_BLOCKING);
  Block(CU_STREAM_PER_THREAD);
  CU_OK(cuMemsetD32Async_ptsz(Out(0), 1, 1, nullptr));
  CU_OK(cuMemsetD32Async(Out(1), 1, 1, free_stream));
  CU_IS(cuStreamQuery_ptsz(nullptr), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(out_[0], 0u);
  EXPECT_EQ(out_[1], 1u);
  // Another thread has one of its own; it blocks on the legacy stream only.
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32Async_ptsz(Out(2), 7, 1, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery_ptsz(nullptr), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(out_[2], 7u);
  *flag_ = 1;
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(out_[0], 1u);
}

TEST_F(StreamApi, EventsOrderStreams) {
  CUstream a = Make(CU_STREAM_NON_BLOCKING), b = Make(CU_STREAM_NON_BLOCKING);
  CUevent event = nullptr;
  CU_OK(cuEventCreate(&event, 0));
  CU_IS(cuEventQuery(event), CUDA_SUCCESS);  // never recorded
  Block(a);
  CU_OK(cuMemsetD32Async(Out(0), 9, 1, a));
  CU_OK(cuEventRecord(event, a));
  CU_OK(cuStreamWaitEvent(b, event, 0));
  CU_OK(cuMemcpyDtoDAsync_v2(Out(1), Out(0), 4, b));
  CU_IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  CU_IS(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
  // Recording again does not change what b waits for.
  CUstream c = Make(CU_STREAM_NON_BLOCKING);
  CU_OK(cuEventRecord(event, c));
  CU_IS(cuEventQuery(event), CUDA_SUCCESS);
  CU_IS(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
  *flag_ = 1;
  CU_OK(cuStreamSynchronize(b));
  EXPECT_EQ(out_[1], 9u);
}

TEST_F(StreamApi, TimesAreThoseOfTheStream) {
  CUstream s = Make(CU_STREAM_NON_BLOCKING);
  CUevent begin = nullptr, end = nullptr, untimed = nullptr;
  CU_OK(cuEventCreate(&begin, 0));
  CU_OK(cuEventCreate(&end, 0));
  CU_OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  CUdeviceptr p = 0;
  CU_OK(cuMemAlloc_v2(&p, 64 << 20));
  float small = 0, large = 0;
  for (const auto& [bytes, ms] : {std::pair{size_t{64}, &small}, {size_t{64} << 20, &large}}) {
    CU_OK(cuEventRecord(begin, s));
    CU_OK(cuMemsetD8Async(p, 0, bytes, s));
    CU_OK(cuEventRecord(end, s));
    CU_OK(cuEventSynchronize(end));
    CU_OK(cuEventElapsedTime_v2(ms, begin, end));
  }
  EXPECT_GT(small, 0);
  EXPECT_GT(large, small);
  CU_OK(cuEventRecord(untimed, s));
  CU_IS(cuEventElapsedTime_v2(&small, begin, untimed), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(cuEventDestroy_v2(untimed));
  CU_IS(cuEventQuery(untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StreamApi, HostFunctionsRunInOrderAndMayNotCall) {
  CUstream s = Make(CU_STREAM_NON_BLOCKING);
  struct Seen {
    volatile uint32_t* out;
    uint32_t before = 99;
    CUresult call = CUDA_SUCCESS, status = CUDA_ERROR_UNKNOWN;
  } seen{out_};
  Block(s);
  CU_OK(cuMemsetD32Async(Out(0), 4, 1, s));
  CU_OK(cuLaunchHostFunc(
      s,
      [](void* data) {
        auto* const me = static_cast<Seen*>(data);
        me->before = me->out[0];
        CUdeviceptr p = 0;
        me->call = cuMemAlloc_v2(&p, 4);
      },
      &seen));
  CU_OK(cuStreamAddCallback(
      s, [](CUstream, CUresult status, void* data) { static_cast<Seen*>(data)->status = status; }, &seen, 0));
  CU_OK(cuMemsetD32Async(Out(0), 8, 1, s));
  EXPECT_EQ(seen.before, 99u);
  *flag_ = 1;
  CU_OK(cuStreamSynchronize(s));
  EXPECT_EQ(seen.before, 4u);
  EXPECT_EQ(seen.call, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(seen.status, CUDA_SUCCESS);
  EXPECT_EQ(out_[0], 8u);
}

TEST_F(StreamApi, ValuesAreWrittenAndWaitedForInEveryWay) {
  CUstream a = Make(CU_STREAM_NON_BLOCKING), b = Make(CU_STREAM_NON_BLOCKING);
  const struct {
    int flags;
    uint32_t wait, blocked, go;
  } ways[] = {{CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 5},
              {CU_STREAM_WAIT_VALUE_GEQ, 0xfffffff0, 0xffffff00, 3},  // cyclic
              {CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5},
              {CU_STREAM_WAIT_VALUE_AND, 6, 9, 2},
              {CU_STREAM_WAIT_VALUE_NOR, 0xffff0000, 0x0000ffff, 0x00000fff}};
  for (const auto& w : ways) {
    *flag_ = w.blocked;
    CU_OK(cuStreamWaitValue32_v2(a, Flag(), w.wait, static_cast<unsigned>(w.flags)));
    CU_IS(cuStreamQuery(a), CUDA_ERROR_NOT_READY) << w.flags;
    CU_OK(cuStreamWriteValue32_v2(b, Flag(), w.go, 0));
    CU_IS(cuStreamQuery(a), CUDA_SUCCESS) << w.flags;
  }
  CU_IS(cuStreamWaitValue32_v2(a, Flag() + 2, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamApi, PageableMemoryIsTakenAtTheCall) {
  CUstream s = Make(CU_STREAM_NON_BLOCKING);
  CUdeviceptr p = 0;
  CU_OK(cuMemAlloc_v2(&p, 4));
  Block(s);
  uint32_t source = 11;
  CU_OK(cuMemcpyHtoDAsync_v2(p, &source, 4, s));
  source = 12;
  *flag_ = 1;
  CU_OK(cuStreamSynchronize(s));
  EXPECT_EQ(Words(p, 1)[0], 11u);
}

TEST_F(StreamApi, HandlesThatAreGoneAreErrors) {
  CUstream s = Make(0);
  CU_OK(cuStreamDestroy_v2(s));
  CU_IS(cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
  CU_IS(cuStreamDestroy_v2(s), CUDA_ERROR_INVALID_HANDLE);
  CU_IS(cuStreamDestroy_v2(nullptr), CUDA_ERROR_INVALID_HANDLE);
  CU_IS(cuStreamCreate(&s, 2), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace understudy::test
