// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device for NVIDIA's compute capabilities: kernels become PTX and run on the PTX emulator, without driver
// or library. For tests of code generation and for searches that count instructions.

#include <memory>
#include <string>

#include "src/runtime/host/host_device.h"
#include "src/schedule/target.h"

namespace understudy {

class PtxDevice : public HostDevice {
 public:
  enum class Compiler {
    kPtx,   // the renderer of PTX
    kCuda,  // clang-22 in PATH, of CUDA C++ text
  };
  // Aborts when the compiler has no such target ("sm_90").
  explicit PtxDevice(const std::string& isa, Compiler compiler = Compiler::kPtx);

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;

 private:
  std::string name_;
  Compiler compiler_;
  Target target_;
};

}  // namespace understudy
