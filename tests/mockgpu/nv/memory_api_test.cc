// SPDX-License-Identifier: Apache-2.0
// Memory of every kind: what copies move, what is refused with which error, what is known of a pointer.
#include <cstring>
#include <numeric>

#include "tests/mockgpu/nv/api_test_base.h"

namespace understudy::test {
namespace {

using MemoryApi = CudaApiTest;

TEST_F(MemoryApi, MemoryRunsOutAndComesBack) {
  size_t before = 0, after = 0, total = 0;
  CU_OK(cuMemGetInfo_v2(&before, &total));
  CUdeviceptr p = 0, q = 0;
  CU_IS(cuMemAlloc_v2(&p, total), CUDA_ERROR_OUT_OF_MEMORY);
  CU_IS(cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemAlloc_v2(&p, 1 << 30));
  CU_OK(cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(before - after, size_t{1} << 30);
  CU_IS(cuMemFree_v2(p + 256), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemAlloc_v2(&q, 100));
  EXPECT_EQ(q % 256, 0u);
  CU_OK(cuMemFree_v2(p));
  CU_OK(cuMemFree_v2(q));
  CU_OK(cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(before, after);
  CU_IS(cuMemFree_v2(0), CUDA_SUCCESS);
}

TEST_F(MemoryApi, CopiesPastTheEndAreRefused) {
  CUdeviceptr p = 0;
  CU_OK(cuMemAlloc_v2(&p, 100));
  char bytes[200] = {};
  CU_IS(cuMemcpyHtoD_v2(p, bytes, 100), CUDA_SUCCESS);
  CU_IS(cuMemcpyHtoD_v2(p, bytes, 101), CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuMemcpyHtoD_v2(p + 1, bytes, 100), CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuMemcpyDtoH_v2(bytes, p + 50, 51), CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuMemcpyDtoH_v2(nullptr, p, 4), CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuMemsetD8_v2(p, 1, 101), CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuMemsetD32_v2(p + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuMemcpyDtoH_v2(bytes, 0x12345, 4), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree_v2(p));
  CU_IS(cuMemcpyDtoH_v2(bytes, p, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryApi, RowsCopyWithTheirPitches) {
  CUdeviceptr p = 0;
  size_t pitch = 0;
  CU_OK(cuMemAllocPitch_v2(&p, &pitch, 20, 3, 4));
  EXPECT_GE(pitch, 20u);
  uint8_t in[3][24], out[3][20] = {};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 24; ++c) in[r][c] = static_cast<uint8_t>(r * 24 + c);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = in;
  copy.srcPitch = 24;
  copy.srcXInBytes = 2;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = p;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 20;
  copy.Height = 3;
  CU_OK(cuMemcpy2D_v2(&copy));
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = p;
  back.srcPitch = pitch;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = out;
  back.dstPitch = 20;
  back.WidthInBytes = 20;
  back.Height = 3;
  CU_OK(cuMemcpy2D_v2(&back));
  for (int r = 0; r < 3; ++r) EXPECT_EQ(std::memcmp(out[r], in[r] + 2, 20), 0) << r;
  back.dstPitch = 19;
  CU_IS(cuMemcpy2D_v2(&back), CUDA_ERROR_INVALID_VALUE);
  back.dstPitch = 20;
  back.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  CU_IS(cuMemcpy2D_v2(&back), CUDA_ERROR_INVALID_VALUE);
  back.dstArray = reinterpret_cast<CUarray>(out);
  CU_IS(cuMemcpy2D_v2(&back), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(MemoryApi, FillsHaveTheirWidths) {
  CUdeviceptr p = 0;
  CU_OK(cuMemAlloc_v2(&p, 64));
  CU_OK(cuMemsetD32_v2(p, 0x01020304, 16));
  CU_OK(cuMemsetD16_v2(p + 4, 0xabcd, 2));
  CU_OK(cuMemsetD8_v2(p + 9, 0x77, 2));
  CU_OK(cuMemsetD2D32_v2(p + 32, 16, 5, 1, 2));
  const std::vector<uint32_t> words = Words(p, 16);
  const std::vector<uint32_t> expected = {
      0x01020304, 0xabcdabcd, 0x01777704, 0x01020304, 0x01020304, 0x01020304, 0x01020304, 0x01020304,
      5,          0x01020304, 0x01020304, 0x01020304, 5,          0x01020304, 0x01020304, 0x01020304};
  EXPECT_EQ(words, expected);
}

TEST_F(MemoryApi, PointersAreKnown) {
  CUdeviceptr p = 0, managed = 0;
  void* host = nullptr;
  CU_OK(cuMemAlloc_v2(&p, 1000));
  CU_OK(cuMemHostAlloc(&host, 1000, 0));
  CU_OK(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
  uint32_t type = 0, is_managed = 9;
  int ordinal = -9;
  CUcontext context = nullptr;
  CU_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 999));
  EXPECT_EQ(type, uint32_t{CU_MEMORYTYPE_DEVICE});
  CU_OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p));
  EXPECT_EQ(context, context_);
  CU_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
  EXPECT_EQ(ordinal, 0);
  const auto h = reinterpret_cast<CUdeviceptr>(host);
  CU_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, h));
  EXPECT_EQ(type, uint32_t{CU_MEMORYTYPE_HOST});
  CU_OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
  EXPECT_EQ(is_managed, 1u);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  CU_OK(cuMemGetAddressRange_v2(&base, &bytes, p + 500));
  EXPECT_EQ(base, p);
  EXPECT_EQ(bytes, 1000u);
  CU_IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 1000), CUDA_ERROR_INVALID_VALUE);
  // Many at once never fail for an unknown pointer.
  CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* where[] = {&type, &ordinal};
  CU_OK(cuPointerGetAttributes(2, what, where, 0x777));
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, CU_DEVICE_INVALID);
  // Managed and pinned memory is the host's too.
  std::memset(host, 3, 1000);
  std::memset(reinterpret_cast<void*>(managed), 4, 1000);
  CU_OK(cuMemcpyDtoD_v2(p, managed, 4));
  EXPECT_EQ(Words(p, 1)[0], 0x04040404u);
  CU_OK(cuMemcpyDtoD_v2(p, h, 4));
  EXPECT_EQ(Words(p, 1)[0], 0x03030303u);
  CU_OK(cuMemFreeHost(host));
  CU_IS(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryApi, HostMemoryIsRegisteredOnce) {
  std::vector<char> bytes(8192);
  CU_OK(cuMemHostRegister_v2(bytes.data(), bytes.size(), 0));
  CU_IS(cuMemHostRegister_v2(bytes.data() + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CUdeviceptr p = 0;
  CU_OK(cuMemHostGetDevicePointer_v2(&p, bytes.data(), 0));
  CU_OK(cuMemHostUnregister(bytes.data()));
  CU_IS(cuMemHostUnregister(bytes.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(MemoryApi, PoolsCountWhatTheyGive) {
  CUmemoryPool pool = nullptr;
  CU_OK(cuDeviceGetDefaultMemPool(&pool, 0));
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr p = 0;
  CU_OK(cuMemAllocAsync(&p, 1 << 20, stream));
  cuuint64_t used = 0;
  CU_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 1u << 20);
  CU_OK(cuMemsetD32Async(p, 7, 16, stream));
  CU_OK(cuMemFreeAsync(p, stream));
  CU_OK(cuStreamSynchronize(stream));
  CU_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 0u);
  CU_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
  EXPECT_EQ(used, 1u << 20);
  CU_IS(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryApi, VirtualMemoryMapsTheSameBytesTwice) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t unit = 0;
  CU_OK(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUmemGenericAllocationHandle handle = 0;
  CU_IS(cuMemCreate(&handle, unit + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemCreate(&handle, unit, &prop, 0));
  CUdeviceptr va = 0;
  CU_OK(cuMemAddressReserve(&va, 2 * unit, 0, 0, 0));
  CU_OK(cuMemMap(va, unit, 0, handle, 0));
  CU_IS(cuMemMap(va, unit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemMap(va + unit, unit, 0, handle, 0));
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CU_OK(cuMemSetAccess(va, 2 * unit, &access, 1));
  CU_OK(cuMemsetD32_v2(va + 8, 42, 1));
  EXPECT_EQ(Words(va + unit + 8, 1)[0], 42u);
  // A copy crosses the mappings' border.
  CU_OK(cuMemsetD32_v2(va + unit - 4, 5, 1));
  const std::vector<uint32_t> across = Words(va + unit - 4, 4);
  EXPECT_EQ(across[0], 5u);
  EXPECT_EQ(across[3], 42u);
  CU_OK(cuMemRelease(handle));
  CU_IS(cuMemAddressFree(va, 2 * unit), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemUnmap(va, 2 * unit));
  CU_OK(cuMemAddressFree(va, 2 * unit));
}

}  // namespace
}  // namespace understudy::test
