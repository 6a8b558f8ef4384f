// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compiles kernels at run time with the clang of this machine, in child processes with a time limit: as code
// objects for a target, and as a shared object for the host. Used by the program fuzzer; tests compile when
// they are built.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fuzz/amd_programs/host_run.h"

namespace understudy::programs {

struct CompileTarget {
  std::string target;  // "gfx1100"
  int level = 0;       // of optimisation
  int wave_size = 32;
};

class Compiler {
 public:
  // $UNDERSTUDY_CLANG, or clang-22 in $PATH; NotFound says so. Makes a folder of its own for its files, which
  // it removes at its end.
  static absl::StatusOr<std::unique_ptr<Compiler>> Create();
  ~Compiler();

  double seconds_per_kernel = 10;  // DeadlineExceeded beyond

  // `text` without support.h, which is put before it. Aborted with the compiler's last words when it fails.
  absl::StatusOr<std::string> ForDevice(const std::string& text, int kernels, const CompileTarget& target);

  // The kernels of the text as functions of this process.
  class HostObject {
   public:
    ~HostObject();
    HostKernelFn Find(const std::string& name) const;  // null if there is none

   private:
    friend class Compiler;
    void* handle_ = nullptr;
  };
  absl::StatusOr<std::unique_ptr<HostObject>> ForHost(const std::string& text, int kernels);

 private:
  Compiler() = default;
  absl::Status Run(const std::vector<std::string>& arguments, double seconds);
  std::string Source(const std::string& text);

  std::string clang_, folder_;
  int host_objects_ = 0;
};

}  // namespace understudy::programs
