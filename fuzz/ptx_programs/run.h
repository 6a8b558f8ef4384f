// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs random PTX programs on a backend: the emulator, or a GPU through the driver library. Used by tests,
// the campaign and its binary.

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "emu/ptx/conform/backend.h"
#include "fuzz/ptx_programs/program.h"

namespace understudy::ptx_programs {

// What the kernel leaves, starting from MakeProgramData. Errors are the backend's.
absl::StatusOr<ProgramData> RunProgram(const Program& program, emu::ptx::conform::Backend& backend);

// The program without the statements that `holds` (true of the program itself) does not need, in at most
// `tries` candidates.
Program ReduceProgram(const Program& program, int tries, const std::function<bool(const Program&)>& holds);
// Holds while `got` differs from `want`, or has an error that `want` has not.
Program ReduceProgram(const Program& program, int tries, emu::ptx::conform::Backend& got,
                      emu::ptx::conform::Backend& want);

// A kept program: its launch in the first line, "// seed 7 (warp), grid 2, block 32 1 1, shared 0".
absl::StatusOr<Program> ReadFinding(const std::string& text);

// The same text, each of whose instructions can be dropped by itself. What is left may read registers that
// nothing has set: candidates need the emulator's check of that.
Program OneNodePerLine(const Program& program);

// "" when both sides agree, else the first difference, or the error that one side alone has. Errors on both
// sides count too, as well-defined programs have none.
std::string Disagreement(const Program& program, const absl::StatusOr<ProgramData>& got,
                         const absl::StatusOr<ProgramData>& want);

}  // namespace understudy::ptx_programs
