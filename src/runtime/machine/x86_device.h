// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "X86": kernels as x86-64 code of our own (src/render/x86_64), run in this process on this
// machine's processor. Compiles in a fraction of the time that LLVM takes. Compile is thread safe; a program
// may run in several threads at once.
//
// Code lies in pages of its own that are never writable and executable at once.

#include <memory>
#include <string>

#include "src/render/machine/machine_code.h"
#include "src/runtime/host/host_device.h"
#include "src/schedule/target.h"

namespace understudy {

class X86Device : public HostDevice {
 public:
  enum class Level { kBest, kV2, kV3 };  // kBest: what this processor has
  // Unimplemented on other processors, or when this one lacks the level.
  static absl::StatusOr<std::shared_ptr<X86Device>> Open(Level level = Level::kBest);

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  // InvalidArgument when buffers or variables are missing or a variable is outside its limits. Accesses are
  // not checked: the kernel must be right.
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;

  // What Compile passes to the renderer: tests force few registers.
  void set_options(const machine::MachineOptions& options) { options_ = options; }

 private:
  explicit X86Device(bool avx2);
  const std::string name_ = "X86";
  const Target target_;
  machine::MachineOptions options_;
};

}  // namespace understudy
