// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a kernel given as PTX text runs: on the emulator of this process, or on a GPU through the driver
// library that is loaded at run time. Used by conformance, the recorder and the hardware tests. A backend
// knows nothing of vectors and compares nothing.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/ptx/core/launch.h"
#include "emu/ptx/semantics/tensor_map.h"

namespace understudy::emu::ptx::conform {

// A parameter: a buffer, whose bytes a run replaces by what the kernel leaves, a scalar, or a tensor map that
// the backend encodes.
struct Param {
  bool is_buffer = false;
  std::vector<uint8_t> bytes;  // of a scalar: at most 8, little endian
  bool is_tensor_map = false;
  TensorMap map = {};  // its address counts from the beginning of buffer `of`
  size_t of = 0;       // a parameter's number
  static Param Buffer(std::vector<uint8_t> bytes) { return {true, std::move(bytes)}; }
  static Param Scalar(uint64_t value) {
    Param param;
    for (int i = 0; i < 8; ++i) param.bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return param;
  }
};

struct Launch {
  std::string ptx, entry;
  Dim3 grid, block;
  uint32_t shared_bytes = 0;  // dynamic
  std::vector<Param> params;  // parameters that the entry has beyond these are 0
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;  // "emulator", "NVIDIA H200, driver API 13.0"
  virtual bool is_hardware() const = 0;
  // Unimplemented: an instruction that the emulator refuses. InvalidArgument: the text is not accepted, with
  // the parser's or the driver's message. Aborted: the kernel faulted. Buffers are only replaced on success.
  virtual absl::Status Run(Launch* launch) = 0;
  // Loads a module and forgets it: errors as of Run, of each of its instructions.
  virtual absl::Status Load(const std::string& ptx) = 0;
};

std::unique_ptr<Backend> MakeEmulator(const LaunchOptions& options = {});
// The first GPU of `library`, or where that is empty of $UNDERSTUDY_LIBCUDA, or of "libcuda.so.1". NotFound:
// no such library, or no GPU. `optimisation` is the level of the driver's compiler, 0 to 4; negative: its own
// choice. A launch's `ptx` may be a cubin's bytes too.
absl::StatusOr<std::unique_ptr<Backend>> OpenDriver(const std::string& library = "", int optimisation = -1);

// The GPU with USE_HW=1, else the emulator.
absl::StatusOr<std::unique_ptr<Backend>> ChosenBackend();

}  // namespace understudy::emu::ptx::conform
