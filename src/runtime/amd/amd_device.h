// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "AMD": an AmdGpu behind the interface that the Engine knows. Kernels are lowered and rendered by
// the compiler, linked in process, and loaded like any other code object. The Syscalls that it was opened
// with decide whether the machine below is real; they must outlive the device and every buffer on it.

#include <functional>
#include <memory>
#include <string>

#include "src/runtime/amd/gpu.h"
#include "src/runtime/device.h"
#include "src/schedule/target.h"

namespace understudy {

class AmdDevice : public Device {
 public:
  // As AmdGpu::Open; Unimplemented when the compiler has no target for the GPU. Several GPUs of one machine
  // get names of their own, "AMD:0", "AMD:1".
  static absl::StatusOr<std::shared_ptr<AmdDevice>> Open(os::Syscalls& sys, int index = 0,
                                                         const amd::GpuOptions& options = {},
                                                         std::string name = "AMD");
  ~AmdDevice() override = default;

  // Totals of what the GPU has executed, from whoever can count it (the mock machine below): with one set,
  // LaunchInfo says what a launch executed.
  struct Executed {
    uint64_t instructions = 0, memory_bytes = 0, memory_lines = 0;
  };
  void set_counter(std::function<Executed()> counter) { counter_ = std::move(counter); }

  // For code objects that our compiler did not make, and for faults: the GPU itself.
  amd::AmdGpu& gpu() { return *gpu_; }

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  absl::StatusOr<Allocation> Allocate(size_t bytes) override;
  absl::Status Free(const Allocation& allocation) override;
  absl::Status CopyIn(const Allocation& dst, const void* src, size_t bytes) override;
  absl::Status CopyOut(void* dst, const Allocation& src, size_t bytes) override;
  absl::Status CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) override;
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  bool loads_compiled() const override { return true; }
  absl::StatusOr<std::unique_ptr<Program>> Load(CompiledKernel&& compiled) override;
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;
  // One indirect buffer; launch by launch where a kernel cannot be in one.
  absl::StatusOr<std::unique_ptr<CommandGraph>> MakeGraph(GraphPlan plan) override;
  absl::Status Synchronize() override { return gpu_->Synchronize(); }
  absl::Status Recover() override { return gpu_->Recover(); }

 private:
  AmdDevice(std::unique_ptr<amd::AmdGpu> gpu, Target target, std::string name)
      : name_(std::move(name)), gpu_(std::move(gpu)), target_(std::move(target)) {}

  const std::string name_;
  std::unique_ptr<amd::AmdGpu> gpu_;
  Target target_;
  std::function<Executed()> counter_;
  std::mutex mutex_;
  std::map<uint64_t, amd::GpuBuffer> buffers_;  // by base; guarded by mutex_
};

}  // namespace understudy
