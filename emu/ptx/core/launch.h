// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one kernel launch of a bound program over an AddressSpace. Used by the mock driver, conformance, tests
// and benchmarks. On one host thread it is deterministic: same program, memory, options and seed give the
// same run.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/memory/address_space.h"
#include "emu/ptx/check/options.h"
#include "emu/ptx/core/program.h"

namespace understudy::emu::ptx {

class GlobalMemory;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

// Numbers of the device that special registers and limits show.
struct DeviceTraits {
  uint32_t sm_count = 132;
  uint32_t max_shared_per_block = 227 * 1024;
  uint32_t clock_khz = 1980000;
  uint32_t compute_major = 9, compute_minor = 0;
};

struct LaunchConfig {
  Dim3 grid, block, cluster;
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint8_t> params;          // the kernel's parameter block
  bool cooperative = false;             // every CTA is resident
  uint32_t local_bytes_per_thread = 0;  // stack limit (cuCtxSetLimit); 0: 64 KiB
  uint64_t grid_workspace = 0;    // %envreg1:%envreg2 of a cooperative launch: where its grid barrier lives
  uint64_t graph_exec = 0;        // %current_graph_exec
  bool explicit_cluster = false;  // %is_explicit_cluster; set as well where `cluster` is not 1
};

struct LaunchOptions {
  DeviceTraits device;
  Checks checks;
  uint64_t instruction_budget = uint64_t{1} << 40;  // warp instructions before the launch counts as hung
  uint64_t seed = 0;     // 0: in order; else blocks, warps and groups of lanes take turns at random by it
  uint32_t threads = 1;  // host threads; checks, cooperative launches and seeds run on one
  std::function<void(const std::string&)> print;  // vprintf's text; stdout when empty
  // The device heap of malloc/free (device_heap.h), in memory mapped in the AddressSpace. Without one malloc
  // gives 0.
  std::function<uint64_t(uint64_t bytes)> allocate;
  std::function<absl::Status(uint64_t address)> release;  // an error is a fault
  // What of global memory was ever written, kept by the caller across launches (check/global_memory.h); with
  // it and Checks::uninit_global fresh memory counts as uninitialised.
  GlobalMemory* global_memory = nullptr;
  uint64_t time_ns = 0;  // where %globaltimer begins: virtual nanoseconds since the device was made
  uint64_t grid_id = 1;  // %gridid: the number of the launch, which is never 0 on a GPU
};

struct LaunchFault {
  FaultKind kind = FaultKind::kNone;
  std::string kernel, function;
  uint32_t pc = 0;    // instruction index in `function`
  Location location;  // in the module's text
  std::string text;   // the instruction
  Dim3 cta{0, 0, 0};
  int warp = -1, lane = -1;
  Dim3 thread{0, 0, 0};  // of `lane`, or of the warp's first lane
  MemoryFault memory;
  std::string message;  // one sentence with all of the above; for a hang both program points
};

enum class CheckSeverity : uint8_t {
  kWarning,  // may be meant: two threads write the same value; never fails a launch
  kError,
};

// One finding: the instruction that is wrong, and the earlier one that it is wrong about (its line 0: none).
struct CheckReport {
  CheckKind kind = CheckKind::kUninit;
  CheckSeverity severity = CheckSeverity::kError;
  std::string check;    // the kind's name
  std::string message;  // one sentence with all of the below
  LaunchFault where, other;
  std::string what;    // "%r7", "shared byte 0x40", "barrier 1"
  uint64_t count = 1;  // how often this pair of instructions was found
};

struct LaunchStats {
  uint64_t warp_instructions = 0, warps = 0, ctas = 0;
};

struct LaunchResult {
  LaunchFault fault;  // kind kNone: all right
  LaunchStats stats;
  std::vector<CheckReport> reports;
  bool ok() const { return fault.kind == FaultKind::kNone; }
};

// A wrong configuration (grid, block, cluster, shared memory, parameters of the wrong size) is
// InvalidArgument; a fault of the program is a result.
absl::StatusOr<LaunchResult> RunLaunch(const Program& program, const BoundFunction& kernel,
                                       const LaunchConfig& config, AddressSpace* memory,
                                       const LaunchOptions& options = {});

}  // namespace understudy::emu::ptx
