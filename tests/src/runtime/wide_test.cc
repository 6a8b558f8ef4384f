// SPDX-License-Identifier: Apache-2.0
// Elements past 2^31: a memory of 4 GiB of which a few pages exist is read, reduced and written through
// views, by indices of 64 bits, on REF, the CPU and the emulated GPUs; smaller kernels keep 32.
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
#include "tests/src/schedule/any_device.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRows = (int64_t{1} << 16) + 1, kColumns = int64_t{1} << 16;  // of bytes: 2^32 and a row
constexpr int64_t kBytes = kRows * kColumns;
constexpr int64_t kPast31 = int64_t{1} << 31;

// A tensor of kRows x kColumns bytes that lies in `buffer`.
Tensor Bytes(std::unique_ptr<Buffer> buffer, DType type = dtypes::kUInt8) {
  const std::string device = buffer->device().name();
  const UOpRef node = uop::NewBuffer(type, kBytes, device);
  node->arg_as<BufferArg>().slot->impl = std::move(buffer);
  return Tensor(uop::Reshape(node, {kRows, kColumns}), device);
}

class WideTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    memory_ =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
    if (std::string(GetParam()) == "CPU")
      device = std::make_shared<CpuDevice>();
    else
      device = std::make_shared<RefDevice>("REF");
    DeviceRegistry devices;
    devices.Register(device);
    engine = std::make_unique<Engine>(devices);
    x = OfType(dtypes::kUInt8);
  }
  Tensor OfType(DType type) {
    auto buffer = Buffer::External(device, memory_, kBytes);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return Bytes(*std::move(buffer), type);
  }
  void TearDown() override {
    x = Tensor();
    engine.reset();
    munmap(memory_, kBytes);
  }
  uint8_t& At(int64_t i) { return static_cast<uint8_t*>(memory_)[i]; }

  std::shared_ptr<Device> device;
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

TEST_P(WideTest, StoresPast32BitsLandWhereTheyBelong) {
  const int64_t row = kPast31 / kColumns;
  const auto values = [&](std::vector<uint8_t> v, Shape shape) {
    return Tensor::FromData<uint8_t>(v, std::move(shape), device->name());
  };
  // A part of a row past 2^31, from contents past 2^32; the last row.
  At((kRows - 1) * kColumns + 20) = 30, At((kRows - 1) * kColumns + 21) = 31;
  Tensor source = x.Shrink({{kRows - 1, kRows}, {20, 22}}) + 1;
  absl::Status status = engine->Realize(source);
  ASSERT_TRUE(status.ok()) << status;
  x.AssignView(x.Shrink({{row, row + 1}, {10, 12}}), source);
  status = engine->Realize(x);
  ASSERT_TRUE(status.ok()) << status;
  x.AssignIndex({kRows - 1, Slice{5, 8}}, values({1, 2, 3}, {3}));
  status = engine->Realize(x);
  ASSERT_TRUE(status.ok()) << status;
  // One element of every 1024th row, on both sides of 2^31.
  x.AssignIndex({Slice{0, kRows - 1, 1024}, 40}, values(std::vector<uint8_t>(64, 7), {64}));
  status = engine->Realize(x);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(At(kPast31 + 10), 31);
  EXPECT_EQ(At(kPast31 + 11), 32);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(At((kRows - 1) * kColumns + 5 + i), i + 1);
  for (int64_t r = 0; r < kRows - 1; r += 1024) EXPECT_EQ(At(r * kColumns + 40), 7) << r;
  // Where an index of 32 bits would have ended.
  for (const int64_t at : {int64_t{5}, int64_t{10}, int64_t{11}, kPast31 + 5, kPast31 + 20})
    EXPECT_EQ(At(at), 0) << at;
  // By a variable, one kernel for all places.
  const Variable which("row", 0, kRows - 1);
  const int64_t before = engine->stats().kernels_compiled;
  for (const int64_t at : {int64_t{3}, row + 1, kRows - 1}) {
    AssignNarrow(x, 0, which.Bind(at), values({static_cast<uint8_t>(at % 200 + 1)}, {1, 1}));
    status = engine->Realize(x);
    ASSERT_TRUE(status.ok()) << status;
    for (const int64_t column : {int64_t{0}, kColumns - 1})
      EXPECT_EQ(At(at * kColumns + column), at % 200 + 1) << at;
  }
  EXPECT_LE(engine->stats().kernels_compiled, before + 1);
  EXPECT_EQ(At(4 * kColumns), 0);
}

TEST_P(WideTest, FloatsOfEightBitsPast32Bits) {
  Tensor y = OfType(dtypes::kFloat8E4M3);
  const int64_t row = kPast31 / kColumns;
  const Tensor values = Tensor::FromData<float>({1, -2, 0.5}, {1, 3}, device->name());
  y.AssignView(y.Shrink({{row, row + 1}, {7, 10}}), values.Cast(dtypes::kFloat8E4M3));
  ASSERT_TRUE(engine->Realize(y).ok());
  EXPECT_EQ(At(kPast31 + 7), 0x38);
  EXPECT_EQ(At(kPast31 + 8), 0xC0);
  EXPECT_EQ(At(kPast31 + 9), 0x30);
  EXPECT_EQ(At(7), 0);
  Tensor back = y.Shrink({{row, row + 1}, {7, 10}}).Cast(dtypes::kFloat32);
  const auto got = engine->Data<float>(back);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(*got, ElementsAre(1, -2, 0.5));
}

// The emulated GPUs' memory is sparse as well.
class WideGpu : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, WideGpu, testing::Values("AMD", "CUDA"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(WideGpu, LoadsAndStoresPast32Bits) {
  auto opened = test::OpenAnyDevice(GetParam());
  ASSERT_TRUE(opened.ok()) << opened.status();
  Engine& engine = *opened->engine;
  const auto device = engine.devices().Find(opened->name);
  ASSERT_TRUE(device.ok()) << device.status();
  auto memory = std::make_unique<Buffer>(*device, kBytes);
  Buffer& buffer = *memory;
  ASSERT_TRUE(buffer.Get().ok());
  const auto put = [&](int64_t at, std::vector<uint8_t> bytes) {
    const auto view = buffer.View(at, bytes.size());
    ASSERT_TRUE(view.ok() && (*view)->CopyIn(bytes.data(), bytes.size()).ok());
  };
  const auto at = [&](int64_t place) {
    uint8_t byte = 0xEE;
    const auto view = buffer.View(place, 1);
    EXPECT_TRUE(view.ok() && (*view)->CopyOut(&byte, 1).ok());
    return static_cast<int>(byte);
  };
  const int64_t row = kPast31 / kColumns, last = (kRows - 1) * kColumns;
  // Places that an index of 32 bits would reach.
  for (const int64_t place : {int64_t{10}, int64_t{20}, kPast31 + 20}) put(place, {90, 91, 92});
  put(kPast31 + 10, {0, 0, 0});
  put(last + 10, {0, 0, 0});
  put(last + 20, {30, 31, 32});
  Tensor x = Bytes(std::move(memory));
  Tensor source = x.Shrink({{kRows - 1, kRows}, {20, 23}}).Clone() + 1;
  ASSERT_TRUE(engine.Realize(source).ok());
  for (const int64_t r : {row, kRows - 1}) {
    x.AssignView(x.Shrink({{r, r + 1}, {10, 13}}), source * (r == row ? 1 : 2));
    const absl::Status status = engine.Realize(x);
    ASSERT_TRUE(status.ok()) << status;
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(at(kPast31 + 10 + i), 31 + i);
    EXPECT_EQ(at(last + 10 + i), 62 + 2 * i);
    EXPECT_EQ(at(10 + i), 90 + i);
    EXPECT_EQ(at(kPast31 + 20 + i), 90 + i);
  }
  x = Tensor();
  EXPECT_TRUE(opened->close().ok());
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
