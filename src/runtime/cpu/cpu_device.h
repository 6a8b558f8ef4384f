// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "CPU": kernels compiled by LLVM for this machine and run on its threads. Memory is the process's
// own. Compile is thread safe; a program may run in several threads at once.

#include <memory>
#include <mutex>

#include "src/runtime/cpu/worker_pool.h"
#include "src/runtime/host/host_device.h"
#include "src/schedule/target.h"

namespace understudy {

class CpuDevice : public HostDevice {
 public:
  // `name`: several devices of this kind may live in one registry ("CPU:0", "CPU:1").
  explicit CpuDevice(std::string name = "CPU");
  // For this machine but with other abilities: what a lesser processor would be given.
  explicit CpuDevice(Target target) : name_("CPU"), target_(std::move(target)) {}
  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  bool loads_compiled() const override { return true; }
  absl::StatusOr<std::unique_ptr<Program>> Load(CompiledKernel&& compiled) override;
  // InvalidArgument when buffers or variables are missing or a variable is outside its limits. Accesses are
  // not checked: the kernel must be right.
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;
  // Pointers are looked up when they change; a replay allocates nothing.
  absl::StatusOr<std::unique_ptr<CommandGraph>> MakeGraph(GraphPlan plan) override;

 private:
  friend class CpuGraph;
  WorkerPool& pool();

  std::string name_;
  Target target_;
  std::once_flag make_pool_;
  std::unique_ptr<WorkerPool> pool_;  // from the first kernel on that has several workgroups
};

}  // namespace understudy
