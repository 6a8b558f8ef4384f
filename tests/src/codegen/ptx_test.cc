// SPDX-License-Identifier: Apache-2.0
// PTX of random kernels with random choices, and CUDA C++ text compiled by clang, run on the PTX emulator:
// bit for bit as REF; tensor cores give exact products.
#include "src/render/ptx.h"

#include <gtest/gtest.h>

#include "src/runtime/process/process.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/print.h"
#include "tests/src/codegen/device_suite.h"
#include "tests/src/codegen/product_kernel.h"
#include "tests/src/codegen/random_kernel.h"
#include "tools/rig/ptx_device.h"

namespace understudy::test {
namespace {

class PtxKernels : public ::testing::TestWithParam<PtxDevice::Compiler> {
 protected:
  void SetUp() override {
    if (GetParam() == PtxDevice::Compiler::kPtx) return;
    const auto clang = FindProgram("clang-22");
    if (!clang.ok()) GTEST_SKIP() << clang.status();
  }
  PtxDevice device_{"sm_90", GetParam()};
};

TEST_P(PtxKernels, RandomKernelsEqualRef) {
  test::RandomKernelsEqualRef(
      device_, {.count = GetParam() == PtxDevice::Compiler::kPtx ? 150u : 15u, .groups = true});
}
TEST_P(PtxKernels, GroupsAndVariables) { test::GroupsAndVariables(device_, "shared"); }

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
    for (const auto& [size, text] : ProductCases(core, i)) {
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

TEST(PtxTensorCores, DistinctElementsKeepTheirPlaces) {
  PtxDevice device("sm_90");
  RefDevice ref;
  const ChoiceList none;
  for (size_t i = 0; i < device.target().tensor_cores.size(); ++i) {
    const TensorCore& core = device.target().tensor_cores[i];
    const std::string number = std::to_string(i);
    const std::pair<ProductSize, std::string> cases[] = {
        {{core.m, core.n, core.k}, "tc(0," + number + ")"},
        {{2 * core.n, 2 * core.m, 2 * core.k}, "tc(1," + number + ") unroll(0,2)"},
    };
    for (const auto& [size, text] : cases) {
      SCOPED_TRACE(core.name + " " + text);
      for (const RandomKernel& k : MakeDistinctProducts(size, core.in, core.out, core.in.IsUnsigned())) {
        const auto expected = RunKernel(ref, k, &none);
        ASSERT_TRUE(expected.ok()) << expected.status();
        const auto choices = ParseChoices(text);
        ASSERT_TRUE(choices.ok()) << choices.status();
        const auto got = RunKernel(device, k, &*choices);
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "");
      }
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
