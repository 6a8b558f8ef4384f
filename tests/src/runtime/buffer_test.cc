// SPDX-License-Identifier: Apache-2.0
// Buffers over a device that counts: memory is taken when first needed and given back with the last view.
#include "src/runtime/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace understudy {
namespace {

// Host memory that remembers what is allocated.
class CountingDevice : public Device {
 public:
  explicit CountingDevice(std::string name = "COUNT") : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  const Target& target() const override { std::abort(); }
  absl::StatusOr<Allocation> Allocate(size_t bytes) override {
    if (refuse) return absl::ResourceExhaustedError("none left");
    ++allocations;
    const auto p = reinterpret_cast<uint64_t>(new uint8_t[bytes]);
    live[p] = bytes;
    return Allocation{p, bytes, p};
  }
  absl::Status Free(const Allocation& a) override {
    if (live.erase(a.base) == 0) return absl::InvalidArgumentError("not allocated");
    delete[] reinterpret_cast<uint8_t*>(a.base);
    return absl::OkStatus();
  }
  absl::Status CopyIn(const Allocation& dst, const void* src, size_t n) override {
    std::memcpy(reinterpret_cast<void*>(dst.address), src, n);
    return absl::OkStatus();
  }
  absl::Status CopyOut(void* dst, const Allocation& src, size_t n) override {
    std::memcpy(dst, reinterpret_cast<void*>(src.address), n);
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef&, const ChoiceList*) override {
    return absl::UnimplementedError("no compiler");
  }
  absl::Status Launch(Program&, absl::Span<const Allocation>, absl::Span<const int64_t>,
                      LaunchInfo*) override {
    return absl::UnimplementedError("no launches");
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }

  bool refuse = false;
  int allocations = 0;
  std::map<uint64_t, size_t> live;

 private:
  std::string name_;
};

TEST(Buffer, IsAllocatedWhenFirstNeeded) {
  const auto device = std::make_shared<CountingDevice>();
  {
    Buffer buffer(device, 100);
    EXPECT_EQ(device->allocations, 0);
    EXPECT_EQ(buffer.CopyOut(nullptr, 100).message(),
              "copying out of a buffer of 100 bytes on COUNT that was never written");
    ASSERT_TRUE(buffer.Get().ok());
    ASSERT_TRUE(buffer.Get().ok());
    EXPECT_EQ(device->allocations, 1);
  }
  EXPECT_TRUE(device->live.empty());
  {
    Buffer never(device, 100);
  }
  EXPECT_EQ(device->allocations, 1);
}

TEST(Buffer, TheLastViewKeepsTheMemory) {
  const auto device = std::make_shared<CountingDevice>();
  auto whole = std::make_unique<Buffer>(device, 8);
  ASSERT_TRUE(whole->CopyIn("abcdefgh", 8).ok());
  auto middle = whole->View(2, 4);
  ASSERT_TRUE(middle.ok());
  auto inner = (*middle)->View(1, 2);
  ASSERT_TRUE(inner.ok());
  EXPECT_TRUE((*inner)->SharesMemoryWith(*whole));
  whole.reset();
  middle->reset();
  EXPECT_EQ(device->live.size(), 1u);
  char out[2];
  ASSERT_TRUE((*inner)->CopyOut(out, 2).ok());
  EXPECT_EQ(std::string(out, 2), "de");
  inner->reset();
  EXPECT_TRUE(device->live.empty());
}

TEST(Buffer, AViewAllocatesTheWhole) {
  const auto device = std::make_shared<CountingDevice>();
  Buffer whole(device, 64);
  auto view = whole.View(16, 8);
  ASSERT_TRUE(view.ok());
  const auto at = (*view)->Get();
  ASSERT_TRUE(at.ok());
  EXPECT_TRUE(whole.allocated());
  EXPECT_EQ(device->live.begin()->second, 64u);
  EXPECT_EQ(at->address, device->live.begin()->first + 16);
  EXPECT_EQ(at->bytes, 8u);
  EXPECT_EQ(at->base, device->live.begin()->first);
}

TEST(Buffer, ViewsThatDoNotFitAreRefused) {
  Buffer whole(std::make_shared<CountingDevice>(), 10);
  EXPECT_EQ(whole.View(8, 3).status().message(), "view of 3 bytes at offset 8 in a buffer of 10 bytes");
  EXPECT_EQ(whole.View(11, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(whole.View(1, SIZE_MAX).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(whole.View(10, 0).ok());
}

TEST(Buffer, CopiesWithinAndBetweenDevices) {
  const auto one = std::make_shared<CountingDevice>("ONE"), two = std::make_shared<CountingDevice>("TWO");
  Buffer a(one, 4), b(one, 4), c(two, 4), small(two, 3);
  ASSERT_TRUE(a.CopyIn("wxyz", 4).ok());
  ASSERT_TRUE(CopyBuffer(b, a).ok());
  ASSERT_TRUE(CopyBuffer(c, b).ok());
  char out[4];
  ASSERT_TRUE(c.CopyOut(out, 4).ok());
  EXPECT_EQ(std::string(out, 4), "wxyz");
  EXPECT_EQ(CopyBuffer(small, a).message(), "copying a buffer of 4 bytes to one of 3 bytes");
  Buffer never(one, 4);
  EXPECT_EQ(CopyBuffer(b, never).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(a.CopyIn("x", 1).message(), "copying 1 bytes into a buffer of 4");
}

TEST(Buffer, EmptyBuffersNeedNoMemory) {
  const auto device = std::make_shared<CountingDevice>();
  device->refuse = true;
  Buffer a(device, 0), b(device, 0), full(device, 1);
  EXPECT_TRUE(a.CopyIn(nullptr, 0).ok());
  EXPECT_TRUE(a.CopyOut(nullptr, 0).ok());
  EXPECT_TRUE(CopyBuffer(a, b).ok());
  EXPECT_TRUE(a.Get().ok());
  EXPECT_EQ(full.Get().status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(full.allocated());
}

TEST(DeviceRegistry, FindsByNameAndListsNames) {
  DeviceRegistry registry;
  EXPECT_EQ(registry.Find("X").status().message(), "no device 'X'; there are: ");
  const auto one = std::make_shared<CountingDevice>("ONE");
  registry.Register(one);
  registry.Register(std::make_shared<CountingDevice>("TWO"));
  EXPECT_EQ(*registry.Find("ONE"), one);
  EXPECT_EQ(registry.Find("X").status().message(), "no device 'X'; there are: ONE, TWO");
  const auto again = std::make_shared<CountingDevice>("ONE");
  registry.Register(again);
  EXPECT_EQ(*registry.Find("ONE"), again);
}

}  // namespace
}  // namespace understudy
