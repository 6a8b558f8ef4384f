// SPDX-License-Identifier: Apache-2.0
// C text against REF, bit for bit: random kernels and variables on this machine and on AArch64, RISC-V and
// Hexagon; and what becomes of kernels that crash, hang or do not compile.
#include "src/runtime/clang/clang_device.h"

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

class ClangDeviceTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto device = ClangDevice::Open(GetParam());
    if (absl::IsNotFound(device.status())) GTEST_SKIP() << device.status();
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *device;
  }
  bool IsHost() const { return GetParam().empty(); }
  std::shared_ptr<ClangDevice> device_;
};

TEST_P(ClangDeviceTest, RandomKernelsEqualRef) {
  const auto refuses = [](const absl::Status& status, const ChoiceList&) {
    if (GetParam() != "hexagon" || !absl::IsUnimplemented(status)) return false;
    EXPECT_NE(status.message().find("f64"), std::string::npos) << status;
    return true;
  };
  SuiteCounts counts;
  test::RandomKernelsEqualRef(*device_, {.count = IsHost() ? 30u : 14u, .refuses = refuses}, &counts);
  std::printf("%d compared, %d refused\n", counts.compared, counts.refused);
  EXPECT_GT(counts.compared, counts.refused);
}

// The polynomials are the same everywhere, to the bit.
TEST_P(ClangDeviceTest, TranscendentalsEqualTheCpus) {
  CpuDevice cpu;
  const ChoiceList none;
  const auto [first, end] = RandomSeeds(IsHost() ? 12 : 5);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 104729, {.transcendental = true});
    const auto expected = RunKernel(cpu, k, &none);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << " CPU: " << expected.status();
    const auto got = RunKernel(*device_, k, &none);
    if (GetParam() == "hexagon" && absl::IsUnimplemented(got.status())) continue;
    ASSERT_TRUE(got.ok()) << "seed " << seed << ": " << got.status() << "\n" << uop::Print(k.kernel);
    ASSERT_EQ(Difference(k.dtypes[0], *expected, *got), "") << "seed " << seed << "\n"
                                                            << uop::Print(k.kernel);
  }
}

// out[i] = in[i] * n + n for i < n, 16-bit integers, with `n` a variable of several launches.
TEST_P(ClangDeviceTest, VariablesArriveAndAreChecked) {
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
    EXPECT_GT(info.device_ns, 0u);
  }
  EXPECT_EQ(device_->Launch(**program, {a, b}, {41}, nullptr).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->Launch(**program, {a}, {1}, nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Launch(**program, {a, b}, {}, nullptr).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(device_->Free(a).ok());
  ASSERT_TRUE(device_->Free(b).ok());
}

TEST_P(ClangDeviceTest, TheCompilersMessageIsInTheError) {
  const auto program = device_->CompileText("broken", "void broken(void) { return undeclared_name; }");
  ASSERT_EQ(program.status().code(), absl::StatusCode::kInternal);
  EXPECT_NE(std::string(program.status().message()).find("undeclared_name"), std::string::npos);
}

constexpr char kTypes[] =
    "typedef signed char i8;\ntypedef unsigned char u8;\ntypedef int i32;\ntypedef unsigned int u32;\n"
    "typedef long long i64;\ntypedef unsigned long long u64;\ntypedef float f32;\n";

TEST_P(ClangDeviceTest, AGuestThatCrashesOrHangsIsAnErrorAndLeavesItsBuffers) {
  if (IsHost()) GTEST_SKIP() << "kernels of this machine run in this process";
  const auto quick = ClangDevice::Open(ClangDevice::Options{.processor = GetParam(), .run_seconds = 2});
  ASSERT_TRUE(quick.ok()) << quick.status();
  const std::string head =
      std::string(kTypes) + "void k(void* const* b, const i64* v, i64 w) { *(u8*)b[0] = 1; ";
  const struct {
    const char* body;
    absl::StatusCode code;
    const char* words;
  } cases[] = {{"*(volatile int*)64 = 1; }", absl::StatusCode::kAborted, "signal"},
               {"for (volatile int i = 0;; ++i) {} }", absl::StatusCode::kDeadlineExceeded, "2 s"},
               {"}", absl::StatusCode::kOk, ""}};
  const Allocation a = *(*quick)->Allocate(4);
  for (const auto& c : cases) {
    const auto program = (*quick)->CompileText("k", head + c.body);
    ASSERT_TRUE(program.ok()) << program.status();
    uint8_t byte = 7;
    ASSERT_TRUE((*quick)->CopyIn(a, &byte, 1).ok());
    const absl::Status ran = (*quick)->Launch(**program, {a});
    EXPECT_EQ(ran.code(), c.code) << ran;
    EXPECT_NE(std::string(ran.message()).find(c.words), std::string::npos) << ran;
    ASSERT_TRUE((*quick)->CopyOut(&byte, a, 1).ok());
    EXPECT_EQ(byte, ran.ok() ? 1 : 7);
  }
  ASSERT_TRUE((*quick)->Free(a).ok());
}

TEST(ClangDevice, UnknownProcessorsAreRefused) {
  EXPECT_EQ(ClangDevice::Open("z80").status().code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Processors, ClangDeviceTest, ::testing::Values("", "aarch64", "riscv64", "hexagon"),
                         [](const auto& info) { return info.param.empty() ? "host" : info.param; });

}  // namespace
}  // namespace understudy::test
