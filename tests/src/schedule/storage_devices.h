// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two devices and an engine over them, for tests of storage: every test runs on pairs of REF and of CPU, and
// on other devices beside a REF.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/tensor.h"
#include "tests/src/schedule/any_device.h"

namespace understudy {

class StorageTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string kind = GetParam();
    d0 = kind + ":0", d1 = kind + ":1";
    if (kind == "CPU") {
      devices_.Register(std::make_shared<CpuDevice>(d0));
      devices_.Register(std::make_shared<CpuDevice>(d1));
    } else if (kind == "REF") {
      devices_.Register(std::make_shared<RefDevice>(d0));
      devices_.Register(std::make_shared<RefDevice>(d1));
    } else {
      auto opened = test::OpenDevice(kind);
      if (absl::IsNotFound(opened.status())) GTEST_SKIP() << opened.status();
      ASSERT_TRUE(opened.ok()) << opened.status();
      d0 = opened->device->name(), d1 = "REF:1";
      close_ = std::move(opened->close);
      devices_.Register(std::move(opened->device));
      devices_.Register(std::make_shared<RefDevice>(d1));
    }
    engine = std::make_unique<Engine>(devices_);
  }
  void TearDown() override {
    engine.reset();
    devices_ = DeviceRegistry();
    EXPECT_TRUE(close_().ok());
  }

  Tensor F32(std::vector<float> data, Shape shape, const std::string& device = "") {
    return Tensor::FromData<float>(data, std::move(shape), device.empty() ? d0 : device);
  }
  Tensor Full(Shape shape, float value, const std::string& device = "") {
    return Tensor::Full(std::move(shape), value, {dtypes::kFloat32, device.empty() ? d0 : device});
  }
  std::vector<float> Get(Tensor t) {
    auto data = engine->Data<float>(t);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.ok() ? *std::move(data) : std::vector<float>();
  }
  absl::Status Realize(std::vector<Tensor> tensors) {
    std::vector<Tensor*> list;
    for (Tensor& t : tensors) list.push_back(&t);
    return engine->Realize(list);
  }
  // Where a realised tensor's storage lies; 0 when it has none.
  static uint64_t Address(const Tensor& t) {
    const UOp* u = t.uop().get();
    while (u->op() == Op::kReshape) u = u->src(0).get();
    if (u->op() != Op::kBuffer) return 0;
    auto* buffer = dynamic_cast<Buffer*>(u->arg_as<BufferArg>().slot->impl.get());
    if (buffer == nullptr) return 0;
    const auto range = buffer->Get();
    return range.ok() ? range->address : 0;
  }

  std::string d0, d1;
  std::unique_ptr<Engine> engine;

 private:
  DeviceRegistry devices_;
  std::function<absl::Status()> close_ = [] { return absl::OkStatus(); };
};

#define UNDERSTUDY_DEVICES(suite, ...)                                   \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::Values(__VA_ARGS__), \
                           [](const auto& info) { return std::string(info.param); })
#define UNDERSTUDY_STORAGE_DEVICES(suite) UNDERSTUDY_DEVICES(suite, "REF", "CPU", "X86", "AMD", "CUDA")
// With those that start a compiler for each kernel.
#define UNDERSTUDY_ALL_DEVICES(suite) \
  UNDERSTUDY_DEVICES(suite, "REF", "CPU", "X86", "C", "OPENCL", "AMD", "CUDA")

}  // namespace understudy
