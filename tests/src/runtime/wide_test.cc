// SPDX-License-Identifier: Apache-2.0
// Elements past 2^31: a memory of 4 GiB of which a few pages exist is read, reduced and written through
// views, by indices of 64 bits; smaller kernels keep 32.
#include <sys/mman.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/runtime/buffer.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/null/null_device.h"
#include "src/runtime/ref/ref_device.h"
#include "src/schedule/call.h"
#include "src/schedule/schedule.h"
#include "src/tensor/variable.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRows = (int64_t{1} << 16) + 1, kColumns = int64_t{1} << 16;  // of bytes: 2^32 and a row
constexpr int64_t kPast31 = int64_t{1} << 31;

class WideTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    memory_ = mmap(nullptr, kRows * kColumns, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
    std::shared_ptr<Device> device;
    if (std::string(GetParam()) == "CPU")
      device = std::make_shared<CpuDevice>();
    else
      device = std::make_shared<RefDevice>("REF");
    DeviceRegistry devices;
    devices.Register(device);
    engine = std::make_unique<Engine>(devices);
    auto buffer = Buffer::External(device, memory_, kRows * kColumns);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    const UOpRef node = uop::NewBuffer(dtypes::kUInt8, kRows * kColumns, device->name());
    node->arg_as<BufferArg>().slot->impl = *std::move(buffer);
    x = Tensor(uop::Reshape(node, {kRows, kColumns}), device->name());
  }
  void TearDown() override {
    x = Tensor();
    engine.reset();
    munmap(memory_, kRows * kColumns);
  }
  uint8_t& At(int64_t i) { return static_cast<uint8_t*>(memory_)[i]; }

  std::unique_ptr<Engine> engine;
  Tensor x;

 private:
  void* memory_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Devices, WideTest, testing::Values("REF", "CPU"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(WideTest, ViewsPast32BitsAreReadAndReduced) {
  for (int i = 0; i < 4; ++i) At(kPast31 + 10 + i) = static_cast<uint8_t>(i + 1);
  At((kRows - 1) * kColumns + 10) = 40;
  const int64_t row = kPast31 / kColumns;
  Tensor part = x.Shrink({{row, row + 1}, {10, 14}}) * 2;
  const auto got = engine->Data<uint8_t>(part);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(*got, ElementsAre(2, 4, 6, 8));
  // A column: one element of every 64 KiB.
  Tensor sum = x.Shrink({{row, kRows}, {10, 11}}).Cast(dtypes::kInt64).Sum();
  const auto total = engine->Data<int64_t>(sum);
  ASSERT_TRUE(total.ok()) << total.status();
  EXPECT_THAT(*total, ElementsAre(41));
}

TEST_P(WideTest, AVariableReachesPast32Bits) {
  const Variable row("row", 0, kRows - 1);
  for (const int64_t at : {int64_t{0}, kPast31 / kColumns, kRows - 1}) {
    At(at * kColumns + 3) = static_cast<uint8_t>(at % 200 + 7);
    Tensor part = Narrow(x, 0, row.Bind(at), 1).Shrink({{0, 1}, {2, 5}}) + 1;
    const auto got = engine->Data<uint8_t>(part);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_THAT(*got, ElementsAre(1, static_cast<uint8_t>(at % 200 + 8), 1)) << at;
  }
  EXPECT_EQ(engine->stats().kernels_compiled, 1);
}

// Whether an index of the kernel that computes `y` is computed in 64 bits.
bool IsWide(const Tensor& y, const Target& target) {
  const auto call = MakeCall({{y.uop(), "CPU"}});
  EXPECT_TRUE(call.ok()) << call.status();
  const auto schedule = MakeSchedule(*call);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  const auto kernel = LowerKernel(schedule->items.back().kernel, target);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  bool wide = false;
  for (const UOpRef& n : kernel->ops) {
    if (n->op() == Op::kIndex && n->src(0)->op() == Op::kParam) wide |= n->src(1)->dtype() == dtypes::kInt64;
  }
  return wide;
}

TEST(WideKernels, TheWidthOfAnIndexFollowsFromTheMostThatAVariableCanBe) {
  const auto rows = [](int64_t most) {
    const Tensor x = Tensor::FromData<float>(std::vector<float>(1 << 10), {1 << 10});
    return Full({Variable("n", 0, most).Bind(1), 1 << 10}, 1.5) + x;
  };
  for (const char* isa : {"host", "gfx1100", "gfx942"}) {
    const auto target = std::string(isa) == "host" ? absl::StatusOr<Target>(HostTarget()) : AmdTarget(isa);
    ASSERT_TRUE(target.ok());
    EXPECT_FALSE(IsWide(rows(1 << 20), *target)) << isa;
    EXPECT_TRUE(IsWide(rows(1 << 22), *target)) << isa;
  }
}

TEST(WideKernels, AGridPast32BitsIsCountedOnTheNullDevice) {
  DeviceRegistry devices;
  devices.Register(std::make_shared<NullDevice>(Gfx1100Target()));
  Engine engine(devices);
  const Tensor x = Tensor::FromData<float>(std::vector<float>(1 << 10), {1 << 10}, "NULL");
  Tensor y = x.Expand({int64_t{1} << 22, 1 << 10}) + 1;  // 2^32 elements
  const absl::Status status = engine.Realize(y);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace understudy
