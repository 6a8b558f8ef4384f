// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "A64": kernels as AArch64 code of our own (src/render/aarch64), run as programs under
// qemu-aarch64. For checking that code with whole tensor programs on any machine, not for speed. Compile is
// thread safe.
//
// A program is an ELF file that this device writes itself: a start, the kernel and its constants. A guest
// that crashes or does not end is an error of its launch.

#include <memory>
#include <string>

#include "src/render/machine/machine_code.h"
#include "src/runtime/host/host_device.h"
#include "src/runtime/process/process.h"
#include "src/schedule/target.h"

namespace understudy {

class A64Device : public HostDevice {
 public:
  // NotFound when qemu-aarch64 is not installed.
  static absl::StatusOr<std::shared_ptr<A64Device>> Open(double run_seconds = 60);

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  // InvalidArgument when buffers or variables are missing or a variable is outside its limits. Aborted names
  // the guest's signal and DeadlineExceeded its time; its buffers keep their contents then.
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;

  void set_options(const machine::MachineOptions& options) { options_ = options; }

 private:
  A64Device(TemporaryFolder folder, std::string emulator, double run_seconds);

  const std::string name_ = "A64";
  const Target target_;
  const TemporaryFolder folder_;
  const std::string emulator_;
  const double run_seconds_;
  machine::MachineOptions options_;
};

}  // namespace understudy
