// SPDX-License-Identifier: Apache-2.0
// OpenCL C on PoCL against REF, bit for bit: random kernels with random choices (workgroups, vectors,
// reductions through local memory where their order cannot matter), variables, ranges at any offset, and
// errors.
#include "src/runtime/opencl/opencl_device.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/device_suite.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT

class OpenClTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // PoCL writes what it compiles.
    if (const char* folder = std::getenv("TEST_TMPDIR")) setenv("POCL_CACHE_DIR", folder, 0);
    // One device for all tests: PoCL keeps its threads.
    static auto* const device = new absl::StatusOr<std::shared_ptr<OpenClDevice>>(OpenClDevice::Open());
    if (absl::IsNotFound(device->status())) GTEST_SKIP() << device->status();
    ASSERT_TRUE(device->ok()) << device->status();
    device_ = **device;
  }
  std::shared_ptr<OpenClDevice> device_;
  RefDevice ref_;
};

TEST_F(OpenClTest, RandomKernelsEqualRef) {
  SuiteCounts counts;
  // OpenCL's vectors end at 16 lanes.
  const auto wide = [](const absl::Status& status, const ChoiceList& choices) {
    const std::string how = ChoicesText(choices);
    return absl::IsUnimplemented(status) && how.find("vectorize(") != std::string::npos &&
           how.find(",32)", how.find("vectorize(")) != std::string::npos;
  };
  test::RandomKernelsEqualRef(*device_, {.count = 25, .groups = true, .refuses = wide}, &counts);
  std::printf("%d groups\n", counts.groups);
}

TEST_F(OpenClTest, AGroupReducesThroughLocalMemory) {
  const UOpRef i = uop::Range(6, 0, AxisKind::kGlobal), r = uop::Range(512, 1, AxisKind::kReduce);
  const UOpRef in = uop::Load(uop::IndexOf(uop::Param(dtypes::kInt32, 1), i * 512 + r));
  RandomKernel k;
  k.dtypes = {dtypes::kInt32, dtypes::kInt32};
  k.bytes = {std::vector<uint8_t>(24), std::vector<uint8_t>(6 * 512 * 4)};
  for (size_t b = 0; b < k.bytes[1].size(); ++b) k.bytes[1][b] = static_cast<uint8_t>(b * 37 + b / 251);
  k.kernel = uop::Sink(
      {uop::Store(uop::IndexOf(uop::Param(dtypes::kInt32, 0), i), uop::Reduce(Op::kAdd, in, {r}), {i})},
      "sum");
  const ChoiceList choices = {{ChoiceKind::kGroup, 0, 64}};
  const auto expected = RunKernel(ref_, k, nullptr), got = RunKernel(*device_, k, &choices);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*expected, *got);
  const auto program = device_->Compile(k.kernel, &choices);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_NE((*program)->text().find("__local"), std::string::npos) << (*program)->text();
}

// out[i] = in[i] + n for i < n, with ranges of one allocation at offsets that the device aligns and others.
TEST_F(OpenClTest, VariablesRangesAndTimes) {
  const UOpRef n = uop::Var("n", 1, 16, dtypes::kInt32), i = uop::Range(16, 0, AxisKind::kGlobal);
  const UOpRef in = uop::Load(uop::IndexOf(uop::Param(dtypes::kInt32, 1), i));
  const UOpRef kernel = uop::Sink(
      {uop::Store(uop::IndexOf(uop::Param(dtypes::kInt32, 0), i, uop::CmpLt(i, uop::Cast(n, dtypes::kIndex))),
                  in + n, {i})},
      "vars");
  const auto program = device_->Compile(kernel, nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto all = device_->Allocate(4096);
  ASSERT_TRUE(all.ok()) << all.status();
  std::vector<int32_t> memory(1024);
  for (const size_t from : {size_t{0}, size_t{4}, size_t{1024}}) {
    for (const size_t to : {size_t{2048}, size_t{2052}, size_t{3900}}) {
      std::iota(memory.begin(), memory.end(), 100);
      ASSERT_TRUE(device_->CopyIn(*all, memory.data(), 4096).ok());
      LaunchInfo info;
      const absl::Status ran =
          device_->Launch(**program, {all->Slice(to, 64), all->Slice(from, 64)}, {11}, &info);
      ASSERT_TRUE(ran.ok()) << ran;
      EXPECT_GT(info.begin_ns, 0u);
      std::vector<int32_t> want = memory, got(1024);
      for (int j = 0; j < 11; ++j) want[to / 4 + j] = memory[from / 4 + j] + 11;
      ASSERT_TRUE(device_->CopyOut(got.data(), *all, 4096).ok());
      EXPECT_EQ(got, want) << from << " " << to;
    }
  }
  EXPECT_EQ(device_->Launch(**program, {*all, *all}, {17}, nullptr).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->Launch(**program, {*all}, {1}, nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Launch(**program, {all->Slice(4, 64), all->Slice(32, 64)}, {1}, nullptr).code(),
            absl::StatusCode::kUnimplemented);
  ASSERT_TRUE(device_->Free(*all).ok());
}

TEST_F(OpenClTest, CopiesStayInsideTheirRanges) {
  const Allocation a = *device_->Allocate(100), b = *device_->Allocate(50);
  std::vector<uint8_t> bytes(100), got(50);
  std::iota(bytes.begin(), bytes.end(), 0);
  ASSERT_TRUE(device_->CopyIn(a, bytes.data(), 100).ok());
  ASSERT_TRUE(device_->CopyWithin(b.Slice(7, 20), a.Slice(33, 20), 20).ok());
  ASSERT_TRUE(device_->CopyOut(got.data(), b.Slice(7, 20), 20).ok());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(got[i], 33 + i);
  EXPECT_EQ(device_->CopyIn(b, bytes.data(), 51).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->CopyOut(got.data(), Allocation{b.base + 40, 20, b.base}, 20).code(),
            absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(device_->Free(a).ok());
  EXPECT_EQ(device_->Free(a).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->CopyIn(a, bytes.data(), 1).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->Allocate(size_t{1} << 50).status().code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(device_->Free(b).ok());
}

TEST_F(OpenClTest, TheBuildLogIsInTheError) {
  const auto program =
      device_->CompileText("broken", "__kernel void broken(__global uchar* p) { *p = undeclared_name; }");
  ASSERT_EQ(program.status().code(), absl::StatusCode::kInternal);
  EXPECT_NE(std::string(program.status().message()).find("undeclared_name"), std::string::npos)
      << program.status();
}

TEST_F(OpenClTest, TheTargetIsTheDevices) {
  EXPECT_GE(device_->target().max_workgroup, 1);
  EXPECT_LE(device_->target().max_workgroup, 256);
  EXPECT_GT(device_->target().local_bytes, 0);
  EXPECT_FALSE(device_->description().empty());
  EXPECT_EQ(OpenClDevice::Open(1000).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace understudy::test
