// SPDX-License-Identifier: Apache-2.0
// AArch64 code of our own as programs under qemu-aarch64 against REF, bit for bit: random kernels,
// transcendentals as the CPU computes them, and variables.
#include "src/runtime/machine/a64_device.h"

#include <gtest/gtest.h>

#include "src/runtime/cpu/cpu_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/device_suite.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

class A64DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto device = A64Device::Open();
    if (absl::IsNotFound(device.status())) GTEST_SKIP() << device.status();
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *device;
  }
  std::shared_ptr<A64Device> device_;
};

TEST_F(A64DeviceTest, RandomKernelsEqualRef) {
  test::RandomKernelsEqualRef(*device_, {.count = 40, .factor = 15485863});
}

TEST_F(A64DeviceTest, TranscendentalsEqualTheCpus) {
  CpuDevice cpu;
  const ChoiceList none;
  const auto [first, end] = RandomSeeds(10);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 104729, {.transcendental = true});
    const auto expected = RunKernel(cpu, k, &none);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << " CPU: " << expected.status();
    const auto got = RunKernel(*device_, k, &none);
    ASSERT_TRUE(got.ok()) << "seed " << seed << ": " << got.status() << "\n" << uop::Print(k.kernel);
    ASSERT_EQ(Difference(k.dtypes[0], *expected, *got), "") << "seed " << seed << "\n"
                                                            << uop::Print(k.kernel);
  }
}

TEST_F(A64DeviceTest, VariablesArriveAndAreChecked) {
  const UOpRef n = uop::Var("n", 1, 40, dtypes::kInt32), i = uop::Range(40, 0, AxisKind::kGlobal);
  const UOpRef valid = uop::CmpLt(i, uop::Cast(n, dtypes::kIndex));
  const UOpRef kernel = uop::Sink(
      {uop::Store(uop::IndexOf(uop::Param(dtypes::kInt16, 0), i, valid), uop::Cast(n, dtypes::kInt16), {i})},
      "vars");
  const auto program = device_->Compile(kernel, nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  const Allocation a = *device_->Allocate(80);
  const std::vector<int16_t> before(40, -1);
  std::vector<int16_t> got(40);
  ASSERT_TRUE(device_->CopyIn(a, before.data(), 80).ok());
  const absl::Status ran = device_->Launch(**program, {a}, {7}, nullptr);
  ASSERT_TRUE(ran.ok()) << ran;
  ASSERT_TRUE(device_->CopyOut(got.data(), a, 80).ok());
  for (int k = 0; k < 40; ++k) EXPECT_EQ(got[k], k < 7 ? 7 : -1) << k;
  EXPECT_EQ(device_->Launch(**program, {a}, {41}, nullptr).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->Launch(**program, {a}, {}, nullptr).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(device_->Free(a).ok());
}

}  // namespace
}  // namespace understudy::test
