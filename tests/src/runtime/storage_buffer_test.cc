// SPDX-License-Identifier: Apache-2.0
// Views, host views, mappings, external memory and the cache of freed ranges, over host memory that is
// limited and keeps a record of what is asked of it.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "src/runtime/buffer.h"
#include "src/runtime/host/host_device.h"

namespace understudy {
namespace {

using Log = std::vector<std::string>;

class LoggingDevice : public HostDevice {
 public:
  LoggingDevice(std::string name, Log* log, size_t capacity = SIZE_MAX)
      : name_(std::move(name)), log_(log), capacity_(capacity) {}
  const std::string& name() const override { return name_; }
  const Target& target() const override { std::abort(); }
  absl::StatusOr<Allocation> Allocate(size_t bytes) override {
    if (bytes > capacity_ - used_) return absl::ResourceExhaustedError("no room");
    auto a = HostDevice::Allocate(bytes);
    if (a.ok()) used_ += bytes;
    Note("allocate");
    return a;
  }
  absl::Status Free(const Allocation& a) override {
    Note("free");
    used_ -= a.bytes;
    return HostDevice::Free(a);
  }
  absl::StatusOr<Allocation> MapFrom(Device& owner, const Allocation& a) override {
    Note("map");
    return HostDevice::MapFrom(owner, a);
  }
  absl::Status Unmap(const Allocation& a) override {
    Note("unmap");
    return HostDevice::Unmap(a);
  }
  absl::Status Synchronize() override {
    Note("wait");
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef&, const ChoiceList*) override {
    return absl::UnimplementedError("no compiler");
  }
  absl::Status Launch(Program&, absl::Span<const Allocation>, absl::Span<const int64_t>,
                      LaunchInfo*) override {
    return absl::UnimplementedError("no launches");
  }
  size_t used() const { return used_; }

 private:
  void Note(const std::string& what) { log_->push_back(name_ + " " + what); }
  std::string name_;
  Log* log_;
  size_t capacity_, used_ = 0;
};

TEST(StorageBuffer, AViewsAddressIsTheBasesPlusItsOffset) {
  Log log;
  Buffer base(std::make_shared<LoggingDevice>("D0", &log), 16);
  ASSERT_TRUE(base.CopyIn("0123456789abcdef", 16).ok());
  auto view = base.View(4, 8);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)->Get()->address, base.Get()->address + 4);
  auto host = (*view)->MapToHost();
  ASSERT_TRUE(host.ok());
  EXPECT_EQ(host->size(), 8u);
  host->data()[0] = 'X';
  char out[16];
  ASSERT_TRUE(base.CopyOut(out, 16).ok());
  EXPECT_EQ(std::string(out, 16), "0123X56789abcdef");
}

TEST(StorageBuffer, TheLastHostViewFreesTheAllocation) {
  Log log;
  const auto device = std::make_shared<LoggingDevice>("D0", &log);
  auto base = std::make_unique<Buffer>(device, 8);
  ASSERT_TRUE(base->CopyIn("abcdefgh", 8).ok());
  auto view = *base->View(2, 4);
  auto inner = *view->View(1, 2);
  auto first = std::make_unique<HostView>(*inner->MapToHost());
  auto second = std::make_unique<HostView>(*first);
  base.reset();
  view.reset();
  inner.reset();
  first.reset();
  EXPECT_EQ(device->used(), 8u);
  EXPECT_EQ(std::memcmp(second->data(), "de", 2), 0);
  second.reset();
  EXPECT_EQ(device->used(), 0u);
}

TEST(StorageBuffer, ReallocationUnderALiveViewIsSeenByIt) {
  Log log;
  const auto one = std::make_shared<LoggingDevice>("D0", &log),
             two = std::make_shared<LoggingDevice>("D1", &log);
  Buffer base(one, 8);
  ASSERT_TRUE(base.CopyIn("abcdefgh", 8).ok());
  auto view = *base.View(4, 4);
  ASSERT_TRUE(view->GetOn(*two).ok());
  EXPECT_EQ(view->mappings(), 1u);
  ASSERT_TRUE(base.Deallocate().ok());
  EXPECT_FALSE(view->allocated());
  EXPECT_EQ(one->used(), 0u);
  EXPECT_EQ(view->mappings(), 0u);
  EXPECT_EQ(log, (Log{"D0 allocate", "D1 map", "D1 wait", "D1 unmap", "D0 free"}));
  char out[4];
  EXPECT_EQ(view->CopyOut(out, 4).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(base.CopyIn("ABCDEFGH", 8).ok());
  ASSERT_TRUE(view->CopyOut(out, 4).ok());
  EXPECT_EQ(std::string(out, 4), "EFGH");
  EXPECT_EQ(view->Get()->address, base.Get()->address + 4);
  EXPECT_EQ(view->mappings(), 0u);
}

TEST(StorageBuffer, AHostViewKeepsTheOldMemoryAcrossReallocation) {
  Log log;
  const auto device = std::make_shared<LoggingDevice>("D0", &log);
  Buffer base(device, 4);
  ASSERT_TRUE(base.CopyIn("abcd", 4).ok());
  auto old = std::make_unique<HostView>(*base.MapToHost());
  ASSERT_TRUE(base.Deallocate().ok());
  ASSERT_TRUE(base.CopyIn("wxyz", 4).ok());
  EXPECT_EQ(std::memcmp(old->data(), "abcd", 4), 0);
  EXPECT_EQ(device->used(), 8u);
  old.reset();
  EXPECT_EQ(device->used(), 4u);
}

TEST(StorageBuffer, IsMappedIntoAnotherDeviceOnceAndUnmappedWhenThatIsIdle) {
  Log log;
  const auto one = std::make_shared<LoggingDevice>("D0", &log),
             two = std::make_shared<LoggingDevice>("D1", &log);
  {
    Buffer base(one, 8);
    auto view = *base.View(4, 4);
    const auto a = view->GetOn(*two), b = view->GetOn(*two), whole = base.GetOn(*two);
    ASSERT_TRUE(a.ok() && b.ok() && whole.ok());
    EXPECT_EQ(a->address, b->address);
    EXPECT_EQ(a->address, whole->address + 4);
    EXPECT_EQ(base.mappings(), 1u);
    // What the other device writes there is the buffer's.
    ASSERT_TRUE(two->CopyIn(*a, "wxyz", 4).ok());
    char out[4];
    ASSERT_TRUE(view->CopyOut(out, 4).ok());
    EXPECT_EQ(std::string(out, 4), "wxyz");
    // On its own device a buffer needs no mapping.
    ASSERT_TRUE(view->GetOn(*one).ok());
    EXPECT_EQ(base.mappings(), 1u);
  }
  EXPECT_EQ(log, (Log{"D0 allocate", "D1 map", "D1 wait", "D1 unmap", "D0 free"}));
}

TEST(StorageBuffer, ExternalMemoryIsNeitherFreedNorCached) {
  Log log;
  const auto device = std::make_shared<LoggingDevice>("D0", &log);
  device->set_cache_limit(1 << 20);
  char mine[8] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
  {
    auto buffer = Buffer::External(device, mine, 8);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ((*buffer)->Get()->address, reinterpret_cast<uint64_t>(mine));
    auto view = *(*buffer)->View(2, 2);
    ASSERT_TRUE(view->CopyIn("XY", 2).ok());
    EXPECT_EQ((*buffer)->Deallocate().message(), "deallocating 8 bytes of external memory on D0");
  }
  EXPECT_EQ(std::string(mine, 8), "abXYefgh");
  EXPECT_EQ(device->memory_use().cached, 0u);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(
      device
          ->CopyIn(Allocation{reinterpret_cast<uint64_t>(mine), 8, reinterpret_cast<uint64_t>(mine)}, mine, 8)
          .code(),
      absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(Buffer::External(device, nullptr, 8).ok());
}

TEST(StorageCache, HandsOutWhatWasFreedAndDropsTheOldestPastItsLimit) {
  Log log;
  const auto device = std::make_shared<LoggingDevice>("D0", &log);
  device->set_cache_limit(300);
  uint64_t first;
  {
    Buffer a(device, 100);
    first = a.Get()->address;
  }
  EXPECT_EQ(device->memory_use().cached, 100u);
  {
    Buffer a(device, 100), other(device, 120), third(device, 140);
    EXPECT_EQ(a.Get()->address, first);
    ASSERT_TRUE(other.Get().ok());
    ASSERT_TRUE(third.Get().ok());
  }
  // Freed in reverse order: 140, 120, then 100, which puts the first of them out.
  EXPECT_EQ(device->memory_use().cached, 220u);
  EXPECT_EQ(log, (Log{"D0 allocate", "D0 allocate", "D0 allocate", "D0 free"}));
  device->set_cache_limit(0);
  EXPECT_EQ(device->used(), 0u);
}

TEST(StorageCache, IsEmptiedBeforeMemoryHasRunOut) {
  Log log;
  const auto device = std::make_shared<LoggingDevice>("D0", &log, 1000);
  device->set_cache_limit(1000);
  Buffer kept(device, 300), twin(device, 300);
  ASSERT_TRUE(kept.Get().ok());
  ASSERT_TRUE(twin.Get().ok());
  {
    Buffer freed(device, 400);
    ASSERT_TRUE(freed.Get().ok());
  }
  EXPECT_EQ(device->used(), 1000u);
  Buffer fits(device, 350);
  EXPECT_TRUE(fits.Get().ok());
  EXPECT_EQ(device->memory_use().cached, 0u);
  Buffer large(device, 60);
  const absl::Status s = large.Get().status();
  EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(s.message(), "allocating 60 bytes on D0: no room; 950 bytes in use (2 x 300, 1 x 350), 0 cached");
  EXPECT_FALSE(large.allocated());
}

}  // namespace
}  // namespace understudy
