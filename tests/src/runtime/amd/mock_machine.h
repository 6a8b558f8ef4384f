// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the driver's tests share: a mock machine, a GPU opened on it, and the kernels of kernels/basic.cl, for
// each GPU that the mock has. The driver sees os::Syscalls only; the tests look at both sides.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mockgpu/amd/mock_kernel.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/runtime/amd/gpu.h"

namespace understudy::amd {

inline std::vector<uint8_t> ReadBytes(const std::string& path) {
  const auto text = ReadFile(path);
  US_CHECK_OK(text);
  return {text->begin(), text->end()};
}

// Those of kernels/BUILD.bazel: gfx1100's have no suffix.
inline std::vector<uint8_t> BasicKernels(const std::string& name = "basic_v5",
                                         const std::string& gpu = "gfx1100") {
  const std::string suffix = gpu == "gfx1100" ? "" : "_" + gpu;
  return ReadBytes("tests/src/runtime/amd/kernels/" + name + suffix + ".hsaco");
}

inline std::unique_ptr<mockgpu::MockKernel> NewMachine(mockgpu::MockKernel::Options options = {}) {
  options.log_events = false;
  auto machine = mockgpu::MockKernel::Create(std::move(options));
  US_CHECK_OK(machine);
  return *std::move(machine);
}

// A machine, a GPU and the kernels. The parameter is the name of the GPU's profile.
class GpuTest : public testing::TestWithParam<std::string> {
 protected:
  std::vector<uint8_t> Kernels(const std::string& name = "basic_v5") const {
    return BasicKernels(name, GetParam());
  }
  void Open(const GpuOptions& options = {}, mockgpu::MockKernel::Options machine = {}) {
    gpu_.reset();
    machine.profiles = {mockgpu::amd::ProfileOf(GetParam())};
    machine_ = NewMachine(std::move(machine));
    auto gpu = AmdGpu::Open(*machine_, 0, options);
    ASSERT_TRUE(gpu.ok()) << gpu.status();
    gpu_ = *std::move(gpu);
    const auto code = gpu_->Load(Kernels());
    ASSERT_TRUE(code.ok()) << code.status();
    code_ = *code;
  }
  // Nothing may be left in the machine once the GPU is closed, but the page of events, which the kernel keeps
  // for as long as the process lives.
  void TearDown() override {
    if (gpu_ != nullptr) {
      const absl::Status closed = gpu_->Close();
      EXPECT_TRUE(closed.ok()) << closed;
    }
    gpu_.reset();
    if (machine_ != nullptr) {
      const mockgpu::MockResources left = machine_->Resources();
      EXPECT_EQ(left.allocations, 1u);
      EXPECT_EQ(left.queues, 0u);
      EXPECT_EQ(left.events, 0u);
      EXPECT_EQ(left.descriptors, 0u);
    }
  }
  LoadedKernel Kernel(const std::string& name) {
    const auto kernel = code_->Kernel(name);
    US_CHECK_OK(kernel);
    return *kernel;
  }
  GpuBuffer New(size_t bytes, const MemoryOptions& options = {}) {
    const auto buffer = gpu_->Allocate(bytes, MemoryKind::kVram, options);
    US_CHECK_OK(buffer);
    return *buffer;
  }
  template <class T>
  GpuBuffer Upload(const std::vector<T>& values) {
    const GpuBuffer buffer = New(values.size() * sizeof(T));
    US_CHECK_OK(gpu_->CopyIn(buffer.va, values.data(), values.size() * sizeof(T)));
    return buffer;
  }
  template <class T>
  std::vector<T> Download(const GpuBuffer& buffer, size_t n) {
    std::vector<T> out(n);
    const absl::Status s = gpu_->CopyOut(out.data(), buffer.va, n * sizeof(T));
    EXPECT_TRUE(s.ok()) << s;
    return out;
  }

  std::unique_ptr<mockgpu::MockKernel> machine_;
  std::unique_ptr<AmdGpu> gpu_;
  const LoadedCode* code_ = nullptr;
};

inline std::vector<std::string> EveryGpu() {
  std::vector<std::string> names;
  for (const mockgpu::amd::GpuProfile& profile : mockgpu::amd::AllProfiles()) names.push_back(profile.name);
  return names;
}
#define US_FOR_EVERY_GPU(fixture)                                        \
  INSTANTIATE_TEST_SUITE_P(Gpus, fixture, testing::ValuesIn(EveryGpu()), \
                           [](const auto& info) { return info.param; })

}  // namespace understudy::amd
