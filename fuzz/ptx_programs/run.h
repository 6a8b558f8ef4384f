// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs random PTX programs on a backend: the emulator, or a GPU through the driver library. Used by tests,
// the campaign and its binary.

#include "absl/status/statusor.h"
#include "emu/ptx/conform/backend.h"
#include "fuzz/ptx_programs/program.h"

namespace understudy::ptx_programs {

// What the kernel leaves, starting from MakeProgramData. Errors are the backend's.
absl::StatusOr<ProgramData> RunProgram(const Program& program, emu::ptx::conform::Backend& backend);

// The program without what the difference (or error) of `got` from `want` does not need. `tries` bounds the
// runs on each side.
Program ReduceProgram(const Program& program, int tries, emu::ptx::conform::Backend& got,
                      emu::ptx::conform::Backend& want);

// "" when both sides agree, else the first difference, or the error that one side alone has. Errors on both
// sides count too, as well-defined programs have none.
std::string Disagreement(const Program& program, const absl::StatusOr<ProgramData>& got,
                         const absl::StatusOr<ProgramData>& want);

}  // namespace understudy::ptx_programs
