// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of OpenCL 1.2 that OpenClDevice calls, found in libOpenCL.so.1 when the first device opens,
// so that nothing links against it. Names, numbers and signatures are those of the Khronos specification.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace understudy::opencl {

using Platform = struct PlatformTag*;
using DeviceId = struct DeviceTag*;
using Context = struct ContextTag*;
using Queue = struct QueueTag*;
using Memory = struct MemoryTag*;
using Code = struct ProgramTag*;
using Kernel = struct KernelTag*;
using Event = struct EventTag*;

constexpr int32_t kSuccess = 0, kDeviceNotFound = -1, kBuildFailure = -11;
constexpr int32_t kMemoryFailure = -4, kOutOfResources = -5, kOutOfHostMemory = -6, kBadBufferSize = -61;
constexpr uint64_t kAllDevices = 0xffffffff;
constexpr uint32_t kMaxWorkGroup = 0x1004, kMaxWorkItemSizes = 0x1005, kSingleConfig = 0x101b,
                   kDoubleConfig = 0x1032, kBaseAlign = 0x1019 /* bits */, kLocalMemory = 0x1023,
                   kDeviceName = 0x102b, kAddressBits = 0x100d;
constexpr uint64_t kFpDenorm = 1, kFpInfNan = 2, kFpRoundToNearest = 4, kFpFma = 32, kFpDivideSqrt = 128;
constexpr uint64_t kMemReadWrite = 1, kQueueProfiling = 2;
constexpr uint32_t kBufferRegion = 0x1220, kBuildLog = 0x1183, kStart = 0x1282, kEnd = 0x1283,
                   kKernelWorkGroup = 0x11b0;

struct Region {
  size_t origin, size;
};

// The functions, one a line: result, name, arguments.
#define US_OPENCL_FUNCTIONS(F)                                                                              \
  F(int32_t, clGetPlatformIDs, (uint32_t, Platform*, uint32_t*))                                            \
  F(int32_t, clGetDeviceIDs, (Platform, uint64_t, uint32_t, DeviceId*, uint32_t*))                          \
  F(int32_t, clGetDeviceInfo, (DeviceId, uint32_t, size_t, void*, size_t*))                                 \
  F(Context, clCreateContext,                                                                               \
    (const intptr_t*, uint32_t, const DeviceId*, void (*)(const char*, const void*, size_t, void*), void*,  \
     int32_t*))                                                                                             \
  F(int32_t, clReleaseContext, (Context))                                                                   \
  F(Queue, clCreateCommandQueue, (Context, DeviceId, uint64_t, int32_t*))                                   \
  F(int32_t, clReleaseCommandQueue, (Queue))                                                                \
  F(int32_t, clFinish, (Queue))                                                                             \
  F(Memory, clCreateBuffer, (Context, uint64_t, size_t, void*, int32_t*))                                   \
  F(Memory, clCreateSubBuffer, (Memory, uint64_t, uint32_t, const void*, int32_t*))                         \
  F(int32_t, clReleaseMemObject, (Memory))                                                                  \
  F(int32_t, clEnqueueReadBuffer,                                                                           \
    (Queue, Memory, uint32_t, size_t, size_t, void*, uint32_t, const Event*, Event*))                       \
  F(int32_t, clEnqueueWriteBuffer,                                                                          \
    (Queue, Memory, uint32_t, size_t, size_t, const void*, uint32_t, const Event*, Event*))                 \
  F(int32_t, clEnqueueCopyBuffer,                                                                           \
    (Queue, Memory, Memory, size_t, size_t, size_t, uint32_t, const Event*, Event*))                        \
  F(Code, clCreateProgramWithSource, (Context, uint32_t, const char**, const size_t*, int32_t*))            \
  F(int32_t, clBuildProgram, (Code, uint32_t, const DeviceId*, const char*, void (*)(Code, void*), void*))  \
  F(int32_t, clGetProgramBuildInfo, (Code, DeviceId, uint32_t, size_t, void*, size_t*))                     \
  F(int32_t, clReleaseProgram, (Code))                                                                      \
  F(Kernel, clCreateKernel, (Code, const char*, int32_t*))                                                  \
  F(int32_t, clReleaseKernel, (Kernel))                                                                     \
  F(int32_t, clSetKernelArg, (Kernel, uint32_t, size_t, const void*))                                       \
  F(int32_t, clGetKernelWorkGroupInfo, (Kernel, DeviceId, uint32_t, size_t, void*, size_t*))                \
  F(int32_t, clEnqueueNDRangeKernel,                                                                        \
    (Queue, Kernel, uint32_t, const size_t*, const size_t*, const size_t*, uint32_t, const Event*, Event*)) \
  F(int32_t, clGetEventProfilingInfo, (Event, uint32_t, size_t, void*, size_t*))                            \
  F(int32_t, clReleaseEvent, (Event))

struct Api {
#define US_OPENCL_MEMBER(result, name, args) result(*name) args = nullptr;
  US_OPENCL_FUNCTIONS(US_OPENCL_MEMBER)
#undef US_OPENCL_MEMBER

  // Loaded once a process. NotFound carries the loader's message.
  static absl::StatusOr<const Api*> Load();
};

// "clBuildProgram: error -11".
std::string ErrorText(const char* function, int32_t error);

}  // namespace understudy::opencl
