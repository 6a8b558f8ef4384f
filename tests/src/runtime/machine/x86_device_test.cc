// SPDX-License-Identifier: Apache-2.0
// x86-64 code of our own against REF, bit for bit, on this machine: random kernels with and without choices,
// with all registers and with so few that most values are spilled; variables; what is refused.
#include "src/runtime/machine/x86_device.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "src/runtime/cpu/cpu_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/device_suite.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

class X86DeviceTest : public ::testing::TestWithParam<X86Device::Level> {
 protected:
  void SetUp() override {
    const auto device = X86Device::Open(GetParam());
    if (absl::IsUnimplemented(device.status())) GTEST_SKIP() << device.status();
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *device;
  }
  // A kernel may be refused for want of a fused multiply-add of f64 only.
  bool Refused(const absl::Status& status) {
    return GetParam() == X86Device::Level::kV2 && absl::IsUnimplemented(status) &&
           status.message().find("MULACC of f64") != std::string::npos;
  }
  void CompareWithRef(uint64_t count, uint64_t factor) {
    SuiteCounts counts;
    test::RandomKernelsEqualRef(
        *device_,
        {.count = count,
         .factor = factor,
         .refuses = [this](const absl::Status& status, const ChoiceList&) { return Refused(status); }},
        &counts);
    std::printf("%d compared, %d refused\n", counts.compared, counts.refused);
    EXPECT_GT(counts.compared, counts.refused);
  }
  std::shared_ptr<X86Device> device_;
};

TEST_P(X86DeviceTest, RandomKernelsEqualRef) { CompareWithRef(60, 7919); }

// The least that the instructions themselves need: a division and an address besides.
TEST_P(X86DeviceTest, RandomKernelsEqualRefWithFewRegisters) {
  device_->set_options({.registers = {.most_general = 6, .most_vector = 4}, .check = true});
  CompareWithRef(40, 104729);
}

TEST_P(X86DeviceTest, TranscendentalsEqualTheCpus) {
  CpuDevice cpu;
  const ChoiceList none;
  const auto [first, end] = RandomSeeds(10);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 104729, {.transcendental = true});
    const auto expected = RunKernel(cpu, k, &none);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << " CPU: " << expected.status();
    const auto got = RunKernel(*device_, k, &none);
    if (Refused(got.status())) continue;
    ASSERT_TRUE(got.ok()) << "seed " << seed << ": " << got.status() << "\n" << uop::Print(k.kernel);
    ASSERT_EQ(Difference(k.dtypes[0], *expected, *got), "") << "seed " << seed << "\n"
                                                            << uop::Print(k.kernel);
  }
}

// out[i] = in[i] * n + n for i < n, 16-bit integers, with `n` a variable of several launches.
TEST_P(X86DeviceTest, VariablesArriveAndAreChecked) {
  const UOpRef n = uop::Var("n", 1, 40, dtypes::kInt32), i = uop::Range(40, 0, AxisKind::kGlobal);
  const UOpRef in = uop::Load(uop::IndexOf(uop::Param(dtypes::kInt16, 1), i));
  const UOpRef value = uop::Add(uop::Mul(in, uop::Cast(n, dtypes::kInt16)), uop::Cast(n, dtypes::kInt16));
  const UOpRef valid = uop::CmpLt(i, uop::Cast(n, dtypes::kIndex));
  const UOpRef kernel =
      uop::Sink({uop::Store(uop::IndexOf(uop::Param(dtypes::kInt16, 0), i, valid), value, {i})}, "vars");
  const auto program = device_->Compile(kernel, nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<int16_t> input(40);
  for (int k = 0; k < 40; ++k) input[k] = static_cast<int16_t>(k * 1000 - 20000);
  const Allocation a = *device_->Allocate(80), b = *device_->Allocate(80);
  ASSERT_TRUE(device_->CopyIn(b, input.data(), 80).ok());
  for (const int64_t value_of_n : {1, 7, 40}) {
    const std::vector<int16_t> before(40, -1);
    std::vector<int16_t> got(40);
    ASSERT_TRUE(device_->CopyIn(a, before.data(), 80).ok());
    LaunchInfo info;
    const absl::Status ran = device_->Launch(**program, {a, b}, {value_of_n}, &info);
    ASSERT_TRUE(ran.ok()) << ran;
    ASSERT_TRUE(device_->CopyOut(got.data(), a, 80).ok());
    for (int k = 0; k < 40; ++k)
      ASSERT_EQ(got[k], k < value_of_n ? static_cast<int16_t>(input[k] * value_of_n + value_of_n) : -1)
          << value_of_n << " " << k;
  }
  EXPECT_EQ(device_->Launch(**program, {a, b}, {41}, nullptr).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->Launch(**program, {a}, {1}, nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Launch(**program, {a, b}, {}, nullptr).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(device_->Free(a).ok());
  ASSERT_TRUE(device_->Free(b).ok());
}

TEST(X86Device, ARefusalNamesOpAndType) {
  const auto v2 = X86Device::Open(X86Device::Level::kV2);
  if (!v2.ok()) GTEST_SKIP() << v2.status();
  const UOpRef i = uop::Range(8, 0, AxisKind::kGlobal);
  const UOpRef x = uop::Load(uop::IndexOf(uop::Param(dtypes::kFloat64, 1), i));
  const UOpRef kernel = uop::Sink(
      {uop::Store(uop::IndexOf(uop::Param(dtypes::kFloat64, 0), i), uop::MulAcc(x, x, x), {i})}, "fused");
  const ChoiceList none;
  const auto program = (*v2)->Compile(kernel, &none);
  EXPECT_EQ(program.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(std::string(program.status().message()),
            "kernel fused: x86-64 code has no MULACC of f64 from f64");
}

INSTANTIATE_TEST_SUITE_P(Levels, X86DeviceTest,
                         ::testing::Values(X86Device::Level::kV2, X86Device::Level::kV3),
                         [](const auto& info) { return info.param == X86Device::Level::kV2 ? "v2" : "v3"; });

}  // namespace
}  // namespace understudy::test
