// SPDX-License-Identifier: Apache-2.0
#pragma once
// Devices over C text: kernels become C (src/render/c_text.h), clang-22 compiles them, and they run in this
// process ("C") or as programs of another processor under QEMU's user mode ("C:aarch64", "C:riscv64",
// "C:hexagon"). For checking the C text and other processors' arithmetic, not for speed. Compile is thread
// safe.
//
// A guest is a static program without a C library; it sees a shared file with the launch's buffers, and a
// guest that crashes or does not end is an error of its launch.

#include <memory>
#include <string>

#include "src/runtime/host/host_device.h"
#include "src/runtime/process/process.h"
#include "src/schedule/target.h"

namespace understudy {

class ClangDevice : public HostDevice {
 public:
  struct Options {
    std::string processor;  // "" (this machine), "aarch64", "riscv64" (rv64gc) or "hexagon" (v67)
    double compile_seconds = 60, run_seconds = 60;
  };
  // NotFound names the compiler or emulator that is not installed; InvalidArgument lists the processors.
  static absl::StatusOr<std::shared_ptr<ClangDevice>> Open(Options options);
  static absl::StatusOr<std::shared_ptr<ClangDevice>> Open(const std::string& processor = "");

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  // Unimplemented as RenderC, and on Hexagon names f64 operations that the processor lacks; Internal carries
  // the compiler's message.
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  // InvalidArgument when buffers or variables are missing or a variable is outside its limits. Accesses are
  // not checked: in this process the kernel must be right. Of a guest, Aborted names the signal and
  // DeadlineExceeded the time; its buffers keep their contents then.
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;

  // Compiles and runs C text in place of a kernel's: what tests of faults need. `text` defines `name` as
  // RenderC's kC does, with one written buffer of bytes.
  absl::StatusOr<std::unique_ptr<Program>> CompileText(const std::string& name, const std::string& text);

 private:
  ClangDevice(Options options, TemporaryFolder folder) : options_(options), folder_(std::move(folder)) {}
  absl::StatusOr<std::unique_ptr<Program>> Build(struct RenderedText rendered);

  const Options options_;
  const TemporaryFolder folder_;
  std::string name_, clang_, emulator_;
  Target target_;
};

}  // namespace understudy
