// SPDX-License-Identifier: Apache-2.0
// Files as buffers and tensors: contents reach other devices and come back unchanged, at any offset; what is
// missing, too short, read only or no file is refused by name.
#include "src/runtime/disk/disk_device.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>

#include "src/base/file.h"
#include "src/render/render.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/null/null_device.h"
#include "src/runtime/ref/ref_device.h"

namespace understudy {
namespace {

class Disk : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("TEST_TMPDIR");
    std::string name = std::string(folder == nullptr ? "/tmp" : folder) + "/disk-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  std::string Write(const std::string& name, size_t bytes) {
    std::string data(bytes, 0);
    for (size_t i = 0; i < bytes; ++i) data[i] = Byte(i);
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(WriteFile(path, data).ok());
    return path;
  }
  static char Byte(size_t i) { return static_cast<char>(i * 131 + i / 253); }

  std::string folder_;
  std::shared_ptr<DiskDevice> disk_ = std::make_shared<DiskDevice>();
};

// Memory that the host does not see, so that copies go through it piece by piece.
class HiddenDevice : public CpuDevice {
 public:
  absl::StatusOr<void*> HostPointer(const Allocation&) override { return absl::UnimplementedError("hidden"); }
};

TEST_F(Disk, AFileReachesOtherDevicesAndComesBack) {
  constexpr size_t kBytes = (size_t{33} << 20) + 77;  // more than two pieces, and a rest
  const std::string path = Write("in", kBytes);
  const auto file = disk_->OpenFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ((*file)->bytes(), kBytes);
  for (const std::shared_ptr<Device>& device :
       {std::shared_ptr<Device>(std::make_shared<CpuDevice>()),
        std::shared_ptr<Device>(std::make_shared<HiddenDevice>()), std::shared_ptr<Device>(disk_)}) {
    Buffer memory(device, kBytes);
    ASSERT_TRUE(CopyBuffer(memory, **file).ok());
    const std::string back = folder_ + "/back-" + device->name();
    unlink(back.c_str());
    const auto out = disk_->CreateFile(back, kBytes);
    ASSERT_TRUE(out.ok()) << out.status();
    const absl::Status copied = CopyBuffer(**out, memory);
    ASSERT_TRUE(copied.ok()) << copied;
    EXPECT_TRUE(*ReadFile(back) == *ReadFile(path)) << device->name();
    EXPECT_EQ(disk_->CreateFile(back, 1).status().code(), absl::StatusCode::kAlreadyExists);
  }
}

TEST_F(Disk, TensorsOfAFileAreComputedWithElsewhere) {
  std::string data(3, 'x');  // at an odd offset
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), -7.5f);
  data.append(reinterpret_cast<const char*>(values.data()), 96);
  const std::string path = folder_ + "/t";
  ASSERT_TRUE(WriteFile(path, data).ok());
  DeviceRegistry devices;
  devices.Register(std::make_shared<CpuDevice>());
  devices.Register(std::make_shared<RefDevice>());
  devices.Register(disk_);
  Engine engine(devices);
  for (const char* device : {"CPU", "REF"}) {
    const auto t = disk_->OpenTensor(path, dtypes::kFloat32, {4, 6}, 3);
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->device(), "DISK");
    Tensor twice = t->To(device) * 2, sum = t->To(device).Sum({1});
    const auto got = engine.Data<float>(twice);
    ASSERT_TRUE(got.ok()) << got.status();
    for (int i = 0; i < 24; ++i) EXPECT_EQ((*got)[i], values[i] * 2);
    const auto rows = engine.Data<float>(sum);
    ASSERT_TRUE(rows.ok()) << rows.status();
    for (int r = 0; r < 4; ++r)
      EXPECT_EQ((*rows)[r], std::accumulate(values.begin() + 6 * r, values.begin() + 6 * r + 6, 0.0f));
  }
  // A computed tensor stored on DISK is there.
  Tensor kept = (Tensor::FromData<float>(values, {24}) + 1).To("DISK");
  const auto bytes = engine.Data<float>(kept);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  for (int i = 0; i < 24; ++i) EXPECT_EQ((*bytes)[i], values[i] + 1);
  // Computing there is refused.
  Tensor wrong = *disk_->OpenTensor(path, dtypes::kFloat32, {24}, 3) + 1;
  const auto refused = engine.Data<float>(wrong);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented) << refused.status();
  EXPECT_NE(std::string(refused.status().message()).find("DISK runs no kernels"), std::string::npos);
  EXPECT_EQ(disk_->OpenTensor(path, dtypes::kFloat32, {25}, 3).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(disk_->OpenTensor(path, dtypes::kFloat32, {1}, 100).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(disk_->OpenTensor(path, dtypes::kFloat32, {int64_t{1} << 62}, 0).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(disk_->OpenTensor(path, dtypes::kFloat32, {-1}, 0).ok());
  EXPECT_TRUE(disk_->OpenTensor(path, dtypes::kFloat32, {0}, 99).ok());
}

TEST_F(Disk, WritesGoToTheFileInPlace) {
  const std::string path = Write("rw", 100);
  const uint8_t words[4] = {9, 8, 7, 6};
  {
    const auto file = disk_->OpenFile(path, DiskDevice::Mode::kReadWrite);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto view = (*file)->View(50, 4);
    ASSERT_TRUE(view.ok());
    ASSERT_TRUE((*view)->CopyIn(words, 4).ok());
  }
  const std::string now = *ReadFile(path);
  ASSERT_EQ(now.size(), 100u);
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ(now[i], i >= 50 && i < 54 ? static_cast<char>(words[i - 50]) : Byte(i)) << i;
  const auto file = disk_->OpenFile(path);
  EXPECT_EQ((*file)->CopyIn(now.data(), 100).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(*ReadFile(path), now);
}

TEST_F(Disk, WhatIsNoFileIsRefused) {
  EXPECT_EQ(disk_->OpenFile(folder_ + "/none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(disk_->OpenFile(folder_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(disk_->OpenFile(folder_, DiskDevice::Mode::kReadWrite).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(disk_->OpenFile(folder_ + "/pipe").status().code(), absl::StatusCode::kInvalidArgument);
  const std::string path = Write("short", 100);
  const auto file = disk_->OpenFile(path);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(truncate(path.c_str(), 40), 0);
  std::vector<uint8_t> bytes(100);
  EXPECT_EQ((*file)->CopyOut(bytes.data(), 100).code(), absl::StatusCode::kDataLoss);
  const auto empty = disk_->OpenFile(Write("empty", 0));
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ((*empty)->bytes(), 0u);
  EXPECT_EQ(disk_->Wrap(bytes.data(), 100).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(disk_->Free(Allocation{1, 1, 1}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Null, CountsWhatAMatrixProductCosts) {
  DeviceRegistry devices;
  const auto null = std::make_shared<NullDevice>(Gfx1100Target());
  devices.Register(null);
  Engine engine(devices);
  const TensorOptions on{.dtype = dtypes::kFloat32, .device = "NULL"};
  Tensor a = Tensor::FromData<float>(std::vector<float>(8 * 16), {8, 16}, "NULL"),
         b = Tensor::FromData<float>(std::vector<float>(16 * 32), {16, 32}, "NULL");
  Tensor c = a.Matmul(b);
  const absl::Status done = engine.Realize(c);
  ASSERT_TRUE(done.ok()) << done;
  // 8 * 32 * 16 multiplications and as many additions; each buffer once.
  EXPECT_EQ(null->stats().kernels, 1) << null->stats().Text();
  EXPECT_EQ(null->stats().flops, 2 * 8 * 32 * 16) << null->stats().Text();
  EXPECT_EQ(null->stats().bytes_read, 4 * (8 * 16 + 16 * 32)) << null->stats().Text();
  EXPECT_EQ(null->stats().bytes_written, 4 * 8 * 32) << null->stats().Text();
  EXPECT_EQ(null->stats().copies, 2) << null->stats().Text();
  null->ResetStats();
  // A part of a buffer is a part; integers are no flops.
  Tensor d = Tensor::FromData<float>(std::vector<float>(100), {100}, "NULL").Index({Slice{10, 30}}).Sqrt();
  Tensor e = Tensor::FromData<int32_t>(std::vector<int32_t>(10), {10}, "NULL") * 3;
  ASSERT_TRUE(engine.Realize(d).ok());
  ASSERT_TRUE(engine.Realize(e).ok());
  EXPECT_EQ(null->stats().kernels, 2) << null->stats().Text();
  EXPECT_EQ(null->stats().flops, 20) << null->stats().Text();
  EXPECT_EQ(null->stats().bytes_read, 80 + 40) << null->stats().Text();
}

}  // namespace
}  // namespace understudy
