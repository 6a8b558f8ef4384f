// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device for any AMD processor that the compiler has a target for: kernels are compiled to code objects and
// run on the instruction emulator, without driver, queues or packets. For tests of code generation and for
// searches that count instructions.

#include <memory>
#include <string>

#include "src/runtime/host/host_device.h"
#include "src/schedule/target.h"

namespace understudy {

class EmulatedDevice : public HostDevice {
 public:
  enum class Compiler {
    kLlvm,  // the one in the library
    kHip,   // clang-22 in PATH, of HIP C++ text
  };
  // Aborts when the compiler has no such target.
  explicit EmulatedDevice(const std::string& isa, Compiler compiler = Compiler::kLlvm);

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  bool loads_compiled() const override { return compiler_ == Compiler::kLlvm; }
  absl::StatusOr<std::unique_ptr<Program>> Load(CompiledKernel&& compiled) override;
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;

 private:
  std::string name_;
  Compiler compiler_;
  Target target_;
};

}  // namespace understudy
