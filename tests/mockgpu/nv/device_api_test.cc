// SPDX-License-Identifier: Apache-2.0
// Devices are the cards of their profiles, errors have the names and texts of the real library, entry points
// are found by name and version, contexts stack and limits hold.
#include <cstring>
#include <set>

#include "tests/mockgpu/nv/api_test_base.h"

namespace understudy::test {
namespace {

using DeviceApi = CudaApiTest;

int Attribute(CUdevice device, CUdevice_attribute attribute) {
  int value = -1;
  EXPECT_EQ(cuDeviceGetAttribute(&value, attribute, device), CUDA_SUCCESS);
  return value;
}

TEST_F(DeviceApi, CardsAreThoseOfTheirProfiles) {
  int count = 0;
  CU_OK(cuDeviceGetCount(&count));
  ASSERT_EQ(count, 4);
  const struct {
    const char* name;
    int sms, major, minor, shared_optin;
  } cards[] = {{"NVIDIA H200", 132, 9, 0, 232448},
               {"NVIDIA H200", 132, 9, 0, 232448},
               {"NVIDIA A100-SXM4-80GB", 108, 8, 0, 166912},
               {"NVIDIA GeForce RTX 4090", 128, 8, 9, 101376}};
  std::set<std::string> buses, uuids;
  for (int d = 0; d < count; ++d) {
    char text[100];
    CU_OK(cuDeviceGetName(text, sizeof text, d));
    EXPECT_STREQ(text, cards[d].name);
    EXPECT_EQ(Attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), cards[d].sms);
    EXPECT_EQ(Attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), cards[d].shared_optin);
    EXPECT_EQ(Attribute(d, CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    int major = 0, minor = 0;
    CU_OK(cuDeviceComputeCapability(&major, &minor, d));
    EXPECT_EQ(major, cards[d].major);
    EXPECT_EQ(minor, cards[d].minor);
    CU_OK(cuDeviceGetPCIBusId(text, sizeof text, d));
    buses.insert(text);
    CUdevice found = -1;
    CU_OK(cuDeviceGetByPCIBusId(&found, text));
    EXPECT_EQ(found, d);
    CUuuid uuid;
    CU_OK(cuDeviceGetUuid_v2(&uuid, d));
    uuids.insert(std::string(uuid.bytes, 16));
  }
  EXPECT_EQ(buses.size(), 4u);
  EXPECT_EQ(uuids.size(), 4u);
  int value = 0;
  CU_IS(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(100000), 0), CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 4), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DeviceApi, PeersAreEqualCardsWithLinks) {
  int can = -1;
  CU_OK(cuDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  CU_OK(cuDeviceCanAccessPeer(&can, 0, 2));
  EXPECT_EQ(can, 0);
  CU_OK(cuDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  CUcontext peer = nullptr, far = nullptr;
  CU_OK(cuCtxCreate_v2(&peer, 0, 1));
  CU_OK(cuCtxCreate_v2(&far, 0, 2));
  CU_OK(cuCtxSetCurrent(context_));
  CU_IS(cuCtxEnablePeerAccess(peer, 0), CUDA_SUCCESS);
  CU_IS(cuCtxEnablePeerAccess(peer, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  CU_IS(cuCtxEnablePeerAccess(far, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  CU_IS(cuCtxDisablePeerAccess(peer), CUDA_SUCCESS);
  CU_IS(cuCtxDisablePeerAccess(peer), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CU_OK(cuCtxDestroy_v2(peer));
  CU_OK(cuCtxDestroy_v2(far));
}

TEST_F(DeviceApi, ErrorsHaveNamesAndTexts) {
  const char* text = nullptr;
  CU_OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  CU_OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  CU_IS(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST_F(DeviceApi, EntryPointsAreFoundByNameVersionAndStream) {
  void* f = nullptr;
  CUdriverProcAddressQueryResult status = -1;
  CU_OK(cuGetProcAddress_v2("cuMemAlloc", &f, 12000, 0, &status));
  EXPECT_EQ(f, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  CU_OK(cuGetProcAddress_v2("cuMemcpyHtoDAsync", &f, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                            &status));
  EXPECT_EQ(f, reinterpret_cast<void*>(&cuMemcpyHtoDAsync_v2_ptsz));
  CU_OK(cuGetProcAddress_v2("cuStreamGetCaptureInfo", &f, 11030, 0, &status));
  EXPECT_EQ(f, reinterpret_cast<void*>(&cuStreamGetCaptureInfo_v2));
  CU_OK(cuGetProcAddress_v2("cuLaunchKernelEx", &f, 11000, 0, &status));
  EXPECT_EQ(f, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CU_OK(cuGetProcAddress_v2("cuNothing", &f, 12000, 0, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CU_IS(cuGetProcAddress("cuNothing", &f, 12000, 0), CUDA_ERROR_NOT_FOUND);
}

TEST_F(DeviceApi, ContextsStack) {
  CUcontext second = nullptr, now = nullptr;
  CU_OK(cuCtxCreate_v2(&second, CU_CTX_SCHED_SPIN, 1));
  CU_OK(cuCtxGetCurrent(&now));
  EXPECT_EQ(now, second);
  CUdevice device = -1;
  CU_OK(cuCtxGetDevice(&device));
  EXPECT_EQ(device, 1);
  CU_OK(cuCtxPopCurrent_v2(&now));
  EXPECT_EQ(now, second);
  CU_OK(cuCtxGetCurrent(&now));
  EXPECT_EQ(now, context_);
  CU_OK(cuCtxDestroy_v2(second));
  CU_IS(cuCtxDestroy_v2(second), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  // A card's driver takes it, and says what it is when it is used.
  CU_OK(cuCtxPushCurrent_v2(second));
  CU_IS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CU_OK(cuCtxPopCurrent_v2(nullptr));
  CUcontext bad = nullptr;
  CU_IS(cuCtxCreate_v2(&bad, 3, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DeviceApi, ThePrimaryContextIsCounted) {
  CUcontext a = nullptr, b = nullptr;
  CU_IS(cuDevicePrimaryCtxRelease_v2(2), CUDA_ERROR_INVALID_CONTEXT);
  CU_OK(cuDevicePrimaryCtxRetain(&a, 2));
  CU_OK(cuDevicePrimaryCtxRetain(&b, 2));
  EXPECT_EQ(a, b);
  CU_IS(cuCtxDestroy_v2(a), CUDA_ERROR_INVALID_CONTEXT);
  unsigned flags = 0;
  int active = 0;
  CU_OK(cuDevicePrimaryCtxRelease_v2(2));
  CU_OK(cuDevicePrimaryCtxGetState(2, &flags, &active));
  EXPECT_EQ(active, 1);
  CU_OK(cuDevicePrimaryCtxRelease_v2(2));
  CU_OK(cuDevicePrimaryCtxGetState(2, &flags, &active));
  EXPECT_EQ(active, 0);
}

TEST_F(DeviceApi, LimitsAreKept) {
  size_t value = 0;
  CU_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 1024u);
  CU_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 5000));
  CU_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 5000u);
  CU_IS(cuCtxSetLimit(12345, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DeviceApi, RefusedCallsSaySo) {
  CU_IS(cuTexObjectCreate(), CUDA_ERROR_NOT_SUPPORTED);
  CU_IS(cuIpcGetMemHandle(), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace understudy::test
