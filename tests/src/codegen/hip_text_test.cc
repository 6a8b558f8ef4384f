// SPDX-License-Identifier: Apache-2.0
// HIP C++ text, compiled by clang without ROCm, run on the instruction emulator: bit for bit as REF on random
// kernels with random choices, and with variables and barriers.
#include <gtest/gtest.h>

#include "src/runtime/process/process.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/emulated_device.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT

class HipText : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto clang = FindProgram("clang-22");
    if (!clang.ok()) GTEST_SKIP() << clang.status();
  }
  EmulatedDevice device_{GetParam(), EmulatedDevice::Compiler::kHip};
  RefDevice ref_;
};

TEST_P(HipText, RandomKernelsEqualRef) {
  const auto [first, end] = RandomSeeds(15);
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
TEST_P(HipText, GroupsAndVariables) {
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

INSTANTIATE_TEST_SUITE_P(Processors, HipText, ::testing::Values("gfx1100", "gfx1200"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace understudy::test
