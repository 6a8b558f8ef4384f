// SPDX-License-Identifier: Apache-2.0
// The text of kernels for NVIDIA: this project's parser takes the PTX of random kernels for several
// processors, and where CUDA's tools are installed ptxas takes it too, and nvcc the CUDA C++.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "emu/ptx/parse/parse.h"
#include "src/base/file.h"
#include "src/render/c_text.h"
#include "src/render/ptx.h"
#include "src/runtime/process/process.h"
#include "src/uop/print.h"
#include "tests/src/codegen/product_kernel.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

// A program of CUDA's, in PATH or where its installer puts it; "" where there is none.
std::string CudaTool(const std::string& name) {
  const auto found = FindProgram(name);
  if (found.ok()) return *found;
  const std::string usual = "/usr/local/cuda/bin/" + name;
  return access(usual.c_str(), X_OK) == 0 ? usual : "";
}

// Kernels one after another in one text, so that a compiler starts once.
struct Texts {
  std::string text;
  int kernels = 0;
};

Texts RandomTexts(const Target& target, uint64_t count,
                  const std::function<std::string(const LinearKernel&)>& render) {
  Texts all;
  const auto [first, end] = RandomSeeds(count);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 4051);
    const ChoiceList choices = RandomChoices(k.kernel, target, seed, 3, false);
    auto linear = LowerKernel(k.kernel, target, &choices);
    EXPECT_TRUE(linear.ok()) << linear.status();
    if (!linear.ok()) continue;
    linear->name = absl::StrCat("random", seed);
    all.text += render(*linear);
    ++all.kernels;
  }
  return all;
}

class PtxText : public ::testing::TestWithParam<const char*> {};

TEST_P(PtxText, ParsersTakeIt) {
  const Target target = *NvidiaTarget(GetParam());
  std::string header;
  const auto render = [&](const LinearKernel& linear) -> std::string {
    const auto kernel = RenderPtx(linear, target);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    if (!kernel.ok()) return "";
    const auto parsed = emu::ptx::Parse(kernel->text);
    EXPECT_NE(parsed.module, nullptr) << parsed.Text() << kernel->text;
    const size_t body = kernel->text.find(".visible");
    header = kernel->text.substr(0, body);
    return kernel->text.substr(body);
  };
  Texts all = RandomTexts(target, 60, render);
  const auto same = [](const UOpRef& x) { return x; };
  for (const TensorCore& core : target.tensor_cores) {
    const ChoiceList choices = {{ChoiceKind::kTensorCore, 0, &core - target.tensor_cores.data()}};
    const RandomKernel k =
        MakeProduct({2 * core.m, 2 * core.n, 2 * core.k}, core.in, core.out, true, same, same);
    auto linear = LowerKernel(k.kernel, target, &choices);
    ASSERT_TRUE(linear.ok()) << linear.status();
    linear->name = absl::StrCat("core", &core - target.tensor_cores.data());
    all.text += render(*linear);
  }
  const std::string ptxas = CudaTool("ptxas");
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas: the text was not given to it";
  const auto folder = TemporaryFolder::Create();
  ASSERT_TRUE(folder.ok());
  const std::string source = folder->path() + "/kernels.ptx";
  ASSERT_TRUE(WriteFile(source, header + all.text).ok());
  const absl::Status ran =
      RunCommand({.argv = {ptxas, absl::StrCat("-arch=", GetParam()), "-O0", "-o", "/dev/null", source}});
  EXPECT_TRUE(ran.ok()) << ran;
}

INSTANTIATE_TEST_SUITE_P(Processors, PtxText, ::testing::Values("sm_75", "sm_80", "sm_90", "sm_100"),
                         [](const auto& info) { return info.param; });

TEST(CudaText, NvccTakesIt) {
  const std::string nvcc = CudaTool("nvcc");
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc";
  const Target target = CTextTarget(CDialect::kCuda);
  const auto folder = TemporaryFolder::Create();
  ASSERT_TRUE(folder.ok());
  const auto [first, end] = RandomSeeds(8);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 4051);
    const ChoiceList choices;  // small kernels: nvcc takes its time with unrolled ones
    const auto linear = LowerKernel(k.kernel, target, &choices);
    ASSERT_TRUE(linear.ok()) << linear.status();
    const auto rendered = RenderC(*linear, CDialect::kCuda);
    ASSERT_TRUE(rendered.ok()) << rendered.status();
    const std::string source = folder->path() + "/kernel.cu";
    ASSERT_TRUE(WriteFile(source, rendered->text).ok());
    const absl::Status ran = RunCommand({.argv = {nvcc, "-arch=sm_90", rendered->flags, "-ptx", "-o",
                                                  folder->path() + "/kernel.ptx", source}});
    ASSERT_TRUE(ran.ok()) << ran << rendered->text;
    const auto ptx = ReadFile(folder->path() + "/kernel.ptx");
    ASSERT_TRUE(ptx.ok());
    const auto parsed = emu::ptx::Parse(*ptx);
    EXPECT_NE(parsed.module, nullptr) << parsed.Text();
  }
}

}  // namespace
}  // namespace understudy::test
