// SPDX-License-Identifier: Apache-2.0
#pragma once
// An engine over one device of any kind, for tests that run the same programs on each.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/runtime/engine.h"

namespace understudy::test {

// A device, and what has to be done with it in the end.
struct OpenedDevice {
  std::shared_ptr<Device> device;
  std::function<absl::Status()> close = [] { return absl::OkStatus(); };
};

// REF, CPU, X86, A64, C (clang), OPENCL (PoCL), AMD (a gfx1100), the name of an AMD GPU that the mock machine
// has (gfx942), or CUDA. NotFound where what the device runs on (QEMU, a compiler, an OpenCL platform) is
// absent.
absl::StatusOr<OpenedDevice> OpenDevice(const std::string& kind);

struct AnyDevice {
  std::string name;  // of the device, for tensors
  std::unique_ptr<Engine> engine;
  std::function<absl::Status()> close = [] { return absl::OkStatus(); };
};

// An engine over it alone.
absl::StatusOr<AnyDevice> OpenAnyDevice(const std::string& kind, EngineOptions options = {});

}  // namespace understudy::test
