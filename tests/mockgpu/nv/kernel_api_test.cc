// SPDX-License-Identifier: Apache-2.0
// Launches: arguments in both forms, limits and their errors, variables of modules, graphs, and faults that
// stop a context until a new one is made.
#include <cstring>

#include "tests/mockgpu/nv/api_test_base.h"

namespace understudy::test {
namespace {

constexpr char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 out, .param .u32 add)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r6, [add];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.global.u32 %r5, [factor];
  mad.lo.s32 %r7, %r4, %r5, %r6;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7;
  ret;
}
.visible .entry shared_words()
{
  .shared .align 4 .b8 words[1024];
  .reg .b32 %r<2>;
  mov.u32 %r1, 1;
  st.shared.u32 [words], %r1;
  ret;
}
.visible .entry bounded() .maxntid 64, 1, 1
{
  ret;
}
)";

class KernelApi : public CudaApiTest {
 protected:
  void SetUp() override {
    CudaApiTest::SetUp();
    CU_OK(cuModuleLoadData(&module_, kPtx));
    CU_OK(cuModuleGetFunction(&scale_, module_, "scale"));
    CU_OK(cuMemAlloc_v2(&out_, 256));
  }
  CUresult Scale(CUdeviceptr out, uint32_t add, unsigned grid = 2, unsigned block = 32,
                 CUstream stream = nullptr) {
    void* params[] = {&out, &add};
    return cuLaunchKernel(scale_, grid, 1, 1, block, 1, 1, 0, stream, params, nullptr);
  }
  CUmodule module_ = nullptr;
  CUfunction scale_ = nullptr;
  CUdeviceptr out_ = 0;
};

TEST_F(KernelApi, ArgumentsComeAsPointersOrPacked) {
  CU_OK(Scale(out_, 100));
  std::vector<uint32_t> words = Words(out_, 64);
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(words[i], 3 * i + 100) << i;
  struct {
    CUdeviceptr out;
    uint32_t add;
  } packed{out_, 7};
  size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CU_OK(cuLaunchKernel(scale_, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  words = Words(out_, 32);
  for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(words[i], 3 * i + 7) << i;
  bytes = 16;
  CU_IS(cuLaunchKernel(scale_, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra),
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  CU_IS(cuLaunchKernel(scale_, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(KernelApi, VariablesOfTheModuleAreMemory) {
  CUdeviceptr factor = 0;
  size_t bytes = 0;
  CU_OK(cuModuleGetGlobal_v2(&factor, &bytes, module_, "factor"));
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(Words(factor, 1)[0], 3u);
  CU_OK(cuMemsetD32_v2(factor, 5, 1));
  CU_OK(Scale(out_, 0, 1));
  EXPECT_EQ(Words(out_, 2)[1], 5u);
  CU_IS(cuModuleGetGlobal_v2(&factor, &bytes, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
  CUfunction f = nullptr;
  CU_IS(cuModuleGetFunction(&f, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(KernelApi, WrongShapesAreRefusedBeforeTheyRun) {
  CU_IS(Scale(out_, 0, 0), CUDA_ERROR_INVALID_VALUE);
  CU_IS(Scale(out_, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CU_IS(Scale(out_, 0, 1, 1025), CUDA_ERROR_INVALID_VALUE);
  CUfunction bounded = nullptr, shared = nullptr;
  CU_OK(cuModuleGetFunction(&bounded, module_, "bounded"));
  CU_OK(cuModuleGetFunction(&shared, module_, "shared_words"));
  CU_IS(cuLaunchKernel(bounded, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  CU_IS(cuLaunchKernel(bounded, 1, 1, 1, 65, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  // 48 KiB in all without asking, the device's most when asked.
  const unsigned rest = 48 * 1024 - 1024;
  CU_IS(cuLaunchKernel(shared, 1, 1, 1, 1, 1, 1, rest, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  CU_IS(cuLaunchKernel(shared, 1, 1, 1, 1, 1, 1, rest + 1, nullptr, nullptr, nullptr),
        CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 1024));
  CU_IS(cuLaunchKernel(shared, 1, 1, 1, 1, 1, 1, 232448 - 1024, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  CU_IS(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448),
        CUDA_ERROR_INVALID_VALUE);
  CU_IS(cuLaunchCooperativeKernel(scale_, 1 << 20, 1, 1, 32, 1, 1, 0, nullptr, nullptr),
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CU_OK(cuCtxSynchronize());
}

TEST_F(KernelApi, AttributesAndOccupancy) {
  int value = 0;
  CUfunction shared = nullptr;
  CU_OK(cuModuleGetFunction(&shared, module_, "shared_words"));
  CU_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, shared));
  EXPECT_EQ(value, 1024);
  CU_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, shared));
  EXPECT_EQ(value, 80);
  CU_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, shared));
  EXPECT_EQ(value, 90);
  size_t offset = 0, bytes = 0;
  CU_OK(cuFuncGetParamInfo(scale_, 1, &offset, &bytes));
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(bytes, 4u);
  CU_IS(cuFuncGetParamInfo(scale_, 2, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
  // 2048 threads and 32 blocks a multiprocessor.
  int blocks = 0;
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale_, 1024, 0));
  EXPECT_EQ(blocks, 2);
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale_, 32, 0));
  EXPECT_EQ(blocks, 32);
}

TEST_F(KernelApi, KernelNodesTakeOtherArguments) {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  uint32_t add = 1;
  void* params[] = {&out_, &add};
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = scale_;
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
  p.blockDimX = 32;
  p.kernelParams = params;
  CU_OK(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &p));
  add = 50;  // taken when the node was made
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  CU_OK(cuGraphLaunch(exec, nullptr));
  EXPECT_EQ(Words(out_, 1)[0], 1u);
  CU_OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &p));
  CU_OK(cuGraphLaunch(exec, nullptr));
  EXPECT_EQ(Words(out_, 1)[0], 50u);
}

TEST_F(KernelApi, AFaultStopsTheContextUntilANewOneIsMade) {
  CU_OK(Scale(out_ + 4096, 0));  // past the end of the allocation
  CU_IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr p = 0;
  uint32_t word = 0;
  CU_IS(cuMemAlloc_v2(&p, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  CU_IS(cuMemcpyDtoH_v2(&word, out_, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  CU_IS(Scale(out_, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  CU_IS(cuMemFree_v2(out_), CUDA_ERROR_ILLEGAL_ADDRESS);
  // Other contexts of the process go on, and a new one works.
  CU_OK(cuCtxDestroy_v2(context_));
  CU_OK(cuCtxCreate_v2(&context_, 0, device_));
  CU_OK(cuModuleLoadData(&module_, kPtx));
  CU_OK(cuModuleGetFunction(&scale_, module_, "scale"));
  CU_OK(cuMemAlloc_v2(&out_, 256));
  CU_OK(Scale(out_, 9));
  EXPECT_EQ(Words(out_, 2)[1], 12u);
}

TEST_F(KernelApi, PeersAreReachedWhenAccessIsEnabled) {
  CUcontext peer = nullptr;
  CUdeviceptr there = 0;
  CU_OK(cuCtxCreate_v2(&peer, 0, 1));
  CU_OK(cuMemAlloc_v2(&there, 256));
  CU_OK(cuCtxSetCurrent(context_));
  CU_OK(cuCtxEnablePeerAccess(peer, 0));
  CU_OK(Scale(there, 5));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(Words(there, 2)[1], 8u);
  CU_OK(cuCtxDisablePeerAccess(peer));
  CU_OK(Scale(there, 5));
  CU_IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CU_OK(cuCtxDestroy_v2(peer));
}

// ptxas spills what a block of the size that the kernel promises could not hold: 65,536 registers in all.
TEST_F(KernelApi, RegistersFitTheBlockThatTheTextNames) {
  const auto live = [](const std::string& directive) {
    std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry wide(.param .u64 out) " + directive +
        " {\n.reg .b64 %p;\n.reg .b32 %r<100>;\nld.param.u64 %p, [out];\n";
    for (int i = 0; i < 100; ++i)
      text += "ld.global.u32 %r" + std::to_string(i) + ", [%p+" + std::to_string(4 * i) + "];\n";
    for (int i = 1; i < 100; ++i) text += "add.u32 %r0, %r0, %r" + std::to_string(i) + ";\n";
    return text + "st.global.u32 [%p], %r0;\nret;\n}\n";
  };
  for (const auto& [directive, most] : {std::pair{"", 255},
                                        {".maxntid 1024, 1, 1", 64},
                                        {".reqntid 16, 32, 1", 128},
                                        std::pair{".reqntid 288, 1, 1", 168}}) {
    CUmodule module = nullptr;
    CUfunction wide = nullptr;
    CU_OK(cuModuleLoadData(&module, live(directive).c_str()));
    CU_OK(cuModuleGetFunction(&wide, module, "wide"));
    int registers = 0, threads = 0;
    CU_OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, wide));
    CU_OK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, wide));
    EXPECT_LE(registers, most) << directive;
    EXPECT_GT(registers, 32) << directive;
    EXPECT_GE(threads, most == 64 ? 1024 : most == 128 ? 512 : most == 168 ? 288 : 256) << directive;
    CU_OK(cuModuleUnload(module));
  }
}

}  // namespace
}  // namespace understudy::test
