// SPDX-License-Identifier: Apache-2.0
// PTX of random kernels with random choices, and CUDA C++ text compiled by clang, run on the PTX emulator:
// bit for bit as REF; tensor cores give exact products.
#include "src/render/ptx.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "src/codegen/choices.h"
#include "src/runtime/process/process.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/product_kernel.h"
#include "tests/src/codegen/random_kernel.h"
#include "tools/rig/ptx_device.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT

class PtxKernels : public ::testing::TestWithParam<PtxDevice::Compiler> {
 protected:
  void SetUp() override {
    if (GetParam() == PtxDevice::Compiler::kPtx) return;
    const auto clang = FindProgram("clang-22");
    if (!clang.ok()) GTEST_SKIP() << clang.status();
  }
  PtxDevice device_{"sm_90", GetParam()};
  RefDevice ref_;
};

TEST_P(PtxKernels, RandomKernelsEqualRef) {
  const auto [first, end] = RandomSeeds(GetParam() == PtxDevice::Compiler::kPtx ? 150 : 15);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 7919);
    const ChoiceList choices = RandomChoices(k.kernel, device_.target(), seed, 3, !OrderMatters(k.kernel));
    const auto expected = RunKernel(ref_, k, nullptr);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << " REF: " << expected.status();
    const auto got = RunKernel(device_, k, &choices);
    ASSERT_TRUE(got.ok()) << "seed " << seed << " choices " << ChoicesText(choices) << ": " << got.status()
                          << "\n"
                          << uop::Print(k.kernel);
    ASSERT_EQ(Difference(k.dtypes[0], *expected, *got), "")
        << "seed " << seed << " choices " << ChoicesText(choices) << "\n"
        << uop::Print(k.kernel);
  }
}

// out[i] = sum of in[i][r] over 128 r, times n: a group of 32 work-items with a barrier, and a variable.
TEST_P(PtxKernels, GroupsAndVariables) {
  const UOpRef i = uop::Range(5, 0, AxisKind::kGlobal), r = uop::Range(128, 1, AxisKind::kReduce);
  const UOpRef n = uop::Var("n", 1, 100, dtypes::kInt32);
  const UOpRef in = uop::Load(uop::IndexOf(uop::Param(dtypes::kInt32, 1), i * 128 + r));
  const UOpRef kernel = uop::Sink(
      {uop::Store(uop::IndexOf(uop::Param(dtypes::kInt32, 0), i), uop::Reduce(Op::kAdd, in, {r}) * n, {i})},
      "sum");
  const ChoiceList choices = {{ChoiceKind::kGroup, 0, 32}};
  const auto program = device_.Compile(kernel, &choices);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_NE((*program)->text().find("shared"), std::string::npos) << (*program)->text();
  std::vector<int32_t> input(640), want(5), got(5);
  for (int k = 0; k < 640; ++k) {
    input[k] = k * k - 7 * k;
    want[k / 128] += input[k] * 13;
  }
  const Allocation a = *device_.Allocate(20), b = *device_.Allocate(2560);
  ASSERT_TRUE(device_.CopyIn(b, input.data(), 2560).ok());
  const absl::Status ran = device_.Launch(**program, {a, b}, {13}, nullptr);
  ASSERT_TRUE(ran.ok()) << ran;
  ASSERT_TRUE(device_.CopyOut(got.data(), a, 20).ok());
  EXPECT_EQ(got, want);
  ASSERT_TRUE(device_.Free(a).ok());
  ASSERT_TRUE(device_.Free(b).ok());
}

INSTANTIATE_TEST_SUITE_P(Compilers, PtxKernels,
                         ::testing::Values(PtxDevice::Compiler::kPtx, PtxDevice::Compiler::kCuda),
                         [](const auto& info) {
                           return info.param == PtxDevice::Compiler::kPtx ? "Ptx" : "CudaText";
                         });

TEST(PtxTensorCores, EveryCoreGivesExactProducts) {
  PtxDevice device("sm_90");
  RefDevice ref;
  ASSERT_EQ(device.target().tensor_cores.size(), 7u);
  const auto same = [](const UOpRef& x) { return x; };
  const ChoiceList none;
  for (size_t i = 0; i < device.target().tensor_cores.size(); ++i) {
    const TensorCore& core = device.target().tensor_cores[i];
    const std::string tc = "tc(0," + std::to_string(i) + ")";
    const ProductSize one = {core.m, core.n, core.k}, several = {2 * core.m, 3 * core.n, 2 * core.k};
    const std::pair<ProductSize, std::string> cases[] = {
        {one, tc},
        {several, tc},
        {several, tc + " upcast(0,2) unroll(0,2)"},
        {several, tc + " local(0,2) upcast(1,3)"},
        // The other use: rows and columns change places. (With 16 rows for 8 columns both must divide.)
        {{3 * core.n * 2, 2 * core.m, 2 * core.k}, "tc(1," + std::to_string(i) + ") unroll(0,2)"},
    };
    for (const auto& [size, text] : cases) {
      SCOPED_TRACE(core.name + " " + text);
      const RandomKernel k = MakeProduct(size, core.in, core.out, core.in.IsUnsigned(), same, same);
      const auto expected = RunKernel(ref, k, &none);
      ASSERT_TRUE(expected.ok()) << expected.status();
      const auto choices = ParseChoices(text);
      ASSERT_TRUE(choices.ok()) << choices.status();
      const auto got = RunKernel(device, k, &*choices);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "") << uop::Print(k.kernel);
    }
  }
}

TEST(NvidiaTargets, OthersAreNamed) {
  for (const char* text : {"sm_60", "sm_", "90", "sm_90x", "gfx1100", ""})
    EXPECT_EQ(NvidiaTarget(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_TRUE(NvidiaTarget("sm_90a").ok());
  EXPECT_TRUE(NvidiaTarget("sm_75")->tensor_cores.empty());
}

}  // namespace
}  // namespace understudy::test
