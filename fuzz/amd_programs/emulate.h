// SPDX-License-Identifier: Apache-2.0
#pragma once
// A code object in an address space of its own, and launches of its kernels on the emulator: what a compiled
// program needs of a runtime (arguments, dispatch packet, scratch), and no driver. Used by the program fuzzer
// and by tests that run compilers' and other people's kernels. Deterministic.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/amd/core/dispatch.h"
#include "emu/amd/core/program_cache.h"
#include "emu/memory/address_space.h"
#include "fuzz/amd_programs/host_run.h"
#include "src/runtime/amd/code_object.h"

namespace understudy::programs {

struct LaunchGrid {
  uint32_t groups[3] = {1, 1, 1};
  uint32_t group[3] = {1, 1, 1};  // work-items
  uint32_t dynamic_lds = 0;
};

class EmulatedObject {
 public:
  // Loads the file and decodes nothing yet. InvalidArgument or Unimplemented as CodeObject::Parse, or when
  // the processor is none that the emulator has.
  static absl::StatusOr<std::unique_ptr<EmulatedObject>> Load(absl::Span<const uint8_t> file);

  const amd::CodeObject& code() const { return code_; }
  emu::AddressSpace& memory() { return memory_; }
  // What the launches decoded and executed.
  const emu::amd::ProgramCache& programs() const { return cache_; }

  // Runs a kernel to its end. `arguments` are the explicit ones, laid out as the metadata says; hidden ones
  // are filled in, zero where they name a service that a plain kernel never calls. Aborted names the fault.
  absl::Status Launch(const std::string& kernel, const LaunchGrid& grid,
                      const std::vector<uint8_t>& arguments, emu::amd::Dispatch::Stats* stats = nullptr);

  // Runs a kernel of the shape of support.h on `data`.
  absl::Status RunProgram(const std::string& kernel, const uint32_t group[3], ProgramData* data,
                          emu::amd::Dispatch::Stats* stats = nullptr);
  absl::StatusOr<int> WaveSize(const std::string& kernel) const;

  uint64_t instruction_budget = 50'000'000;
  // Strict mode of the launches, and what all of them found.
  emu::amd::CheckOptions checks;
  std::vector<emu::amd::CheckReport> reports;

 private:
  EmulatedObject(amd::CodeObject code, emu::amd::Isa isa);

  amd::CodeObject code_;
  emu::amd::Isa isa_;
  emu::AddressSpace memory_;
  emu::amd::ProgramCache cache_;
  std::vector<uint8_t> image_, kernarg_, packet_, scratch_;
};

}  // namespace understudy::programs
