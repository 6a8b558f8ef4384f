// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of the CUDA driver API that CudaDevice calls, found in libcuda.so.1 when the first device
// opens, so that nothing links against it. Names, numbers and signatures are those of the public API of
// CUDA 12.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace understudy::cuda {

using Address = unsigned long long;
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Graph = struct GraphTag*;
using Node = struct NodeTag*;
using GraphExec = struct GraphExecTag*;

constexpr int kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101, kNotSupported = 801,
              kPeerAlreadyEnabled = 704;
// Errors from here to kLastSticky stop the context for good.
constexpr int kFirstSticky = 700, kLastSticky = 721;
constexpr int kMaxThreads = 1, kMaxSharedPerBlock = 8, kMajor = 75, kMinor = 76;
constexpr int kErrorLog = 5, kErrorLogBytes = 6;
constexpr unsigned kNonBlocking = 1;

struct KernelNode {
  Function function = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared = 0;
  void** params = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  Context context = nullptr;
};

// The functions, one a line: symbol, arguments. All return an error number.
#define US_CUDA_FUNCTIONS(F)                                                                                 \
  F(cuInit, (unsigned))                                                                                      \
  F(cuGetErrorName, (int, const char**))                                                                     \
  F(cuGetErrorString, (int, const char**))                                                                   \
  F(cuDeviceGetCount, (int*))                                                                                \
  F(cuDeviceGet, (int*, int))                                                                                \
  F(cuDeviceGetName, (char*, int, int))                                                                      \
  F(cuDeviceGetAttribute, (int*, int, int))                                                                  \
  F(cuDeviceCanAccessPeer, (int*, int, int))                                                                 \
  F(cuCtxCreate_v2, (Context*, unsigned, int))                                                               \
  F(cuCtxDestroy_v2, (Context))                                                                              \
  F(cuCtxSetCurrent, (Context))                                                                              \
  F(cuCtxEnablePeerAccess, (Context, unsigned))                                                              \
  F(cuStreamCreate, (Stream*, unsigned))                                                                     \
  F(cuStreamSynchronize, (Stream))                                                                           \
  F(cuStreamWaitEvent, (Stream, Event, unsigned))                                                            \
  F(cuEventCreate, (Event*, unsigned))                                                                       \
  F(cuEventRecord, (Event, Stream))                                                                          \
  F(cuEventSynchronize, (Event))                                                                             \
  F(cuEventElapsedTime, (float*, Event, Event))                                                              \
  F(cuMemAlloc_v2, (Address*, size_t))                                                                       \
  F(cuMemFree_v2, (Address))                                                                                 \
  F(cuMemcpyHtoDAsync_v2, (Address, const void*, size_t, Stream))                                            \
  F(cuMemcpyDtoHAsync_v2, (void*, Address, size_t, Stream))                                                  \
  F(cuMemcpyDtoDAsync_v2, (Address, Address, size_t, Stream))                                                \
  F(cuModuleLoadDataEx, (Module*, const void*, unsigned, const int*, void**))                                \
  F(cuModuleUnload, (Module))                                                                                \
  F(cuModuleGetFunction, (Function*, Module, const char*))                                                   \
  F(cuLaunchKernel, (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
                     void**, void**))                                                                        \
  F(cuGraphCreate, (Graph*, unsigned))                                                                       \
  F(cuGraphDestroy, (Graph))                                                                                 \
  F(cuGraphAddKernelNode_v2, (Node*, Graph, const Node*, size_t, const KernelNode*))                         \
  F(cuGraphInstantiateWithFlags, (GraphExec*, Graph, unsigned long long))                                    \
  F(cuGraphExecKernelNodeSetParams_v2, (GraphExec, Node, const KernelNode*))                                 \
  F(cuGraphExecDestroy, (GraphExec))                                                                         \
  F(cuGraphLaunch, (GraphExec, Stream))

struct Api {
#define US_CUDA_MEMBER(name, args) int(*name) args = nullptr;
  US_CUDA_FUNCTIONS(US_CUDA_MEMBER)
#undef US_CUDA_MEMBER

  // From `library`, or where that is empty from $UNDERSTUDY_LIBCUDA, or from "libcuda.so.1" as the loader
  // finds it. Loaded once for each name. NotFound carries the loader's message; FailedPrecondition cuInit's
  // error.
  static absl::StatusOr<const Api*> Load(const std::string& library = "");

  // "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"; ResourceExhausted, Unimplemented, Aborted for
  // errors that stop the context, else Internal.
  absl::Status Check(const char* function, int error) const;
};

}  // namespace understudy::cuda
