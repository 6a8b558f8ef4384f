// SPDX-License-Identifier: Apache-2.0
// Images that are refused: with which error, and with what text for the person who reads the log.
#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/mockgpu/nv/api_test_base.h"

namespace understudy::test {
namespace {

class ModuleApi : public CudaApiTest {
 protected:
  CUresult Load(const void* image) {
    char log[2000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    const CUresult result = cuModuleLoadDataEx(&module_, image, 2, options, values);
    log_ = log;
    if (image != nullptr) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(values[1]), log_.size());
    }
    return result;
  }
  static std::string Read(const std::string& name) {
    std::ifstream in("tests/data/nv_fatbin/" + name, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  CUmodule module_ = nullptr;
  std::string log_;
};

TEST_F(ModuleApi, WrongPtxIsNamedWithItsPlace) {
  CU_IS(Load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  frob.u32 %r1, %r2;\n  "
             "ret;\n}\n"),
        CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(log_.find("ptxas application ptx input, line 6; error"), std::string::npos) << log_;
  EXPECT_NE(log_.find("frob"), std::string::npos) << log_;
  EXPECT_NE(log_.find("aborted due to errors"), std::string::npos) << log_;
}

TEST_F(ModuleApi, TargetsAndVersionsMustFit) {
  CU_IS(Load(".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"),
        CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(log_.find("sm_100"), std::string::npos) << log_;
}

TEST_F(ModuleApi, MachineCodeIsRefusedWithWhatToDo) {
  CU_IS(Load(Read("machine_code.fatbin").data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(log_.find("machine code sm_90"), std::string::npos) << log_;
  EXPECT_NE(log_.find("code=compute_NN"), std::string::npos) << log_;
  CU_IS(Load("\x7f"
             "ELF"),
        CUDA_ERROR_NO_BINARY_FOR_GPU);
  CU_IS(Load("no image"), CUDA_ERROR_INVALID_IMAGE);
  CU_IS(Load(nullptr), CUDA_ERROR_INVALID_VALUE);
  std::string damaged = Read("zstd.fatbin");
  damaged[16 + 80 + 8] = static_cast<char>(damaged[16 + 80 + 8] ^ 0x55);
  CU_IS(Load(damaged.data()), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(log_.find("zstd"), std::string::npos) << log_;
}

TEST_F(ModuleApi, FilesMustExist) {
  CU_IS(cuModuleLoad(&module_, "no such file"), CUDA_ERROR_FILE_NOT_FOUND);
  CUlibrary library = nullptr;
  CU_IS(cuLibraryLoadFromFile(&library, "no such file", nullptr, nullptr, 0, nullptr, nullptr, 0),
        CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(ModuleApi, LibrariesKnowTheirKernelsWithoutAContext) {
  const std::string image = Read("lz4.fatbin");
  CUlibrary library = nullptr;
  CU_OK(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  CU_OK(cuLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 1u);
  CUkernel kernel = nullptr;
  CU_OK(cuLibraryGetKernel(&kernel, library, "iota"));
  const char* name = nullptr;
  CU_OK(cuKernelGetName(&name, kernel));
  EXPECT_STREQ(name, "iota");
  CU_IS(cuLibraryGetKernel(&kernel, library, "iotb"), CUDA_ERROR_NOT_FOUND);
  CU_OK(cuLibraryUnload(library));
  CU_IS(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ModuleApi, TheLinkerTakesPtx) {
  CUlinkState link = nullptr;
  CU_OK(cuLinkCreate_v2(0, nullptr, nullptr, &link));
  std::string ptx = Read("iota.ptx");
  CU_OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, ptx.data(), ptx.size(), "iota", 0, nullptr, nullptr));
  void* image = nullptr;
  size_t bytes = 0;
  CU_OK(cuLinkComplete(link, &image, &bytes));
  EXPECT_EQ(std::strlen(static_cast<const char*>(image)) + 1, bytes);
  CU_OK(cuLinkDestroy(link));
}

}  // namespace
}  // namespace understudy::test
