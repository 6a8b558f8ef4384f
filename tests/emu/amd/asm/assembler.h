// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembles AMD machine code with LLVM MC, so that emulator tests read as assembly and rest on an independent
// encoder. For tests and benchmarks only.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy::emu::amd {

// The .text bytes of `source`, with branches to labels resolved. `cpu` is a gfx name; `features` in LLVM's
// form
// ("+wavefrontsize64"). The error carries LLVM's diagnostics.
absl::StatusOr<std::vector<uint8_t>> Assemble(const std::string& cpu, const std::string& source,
                                              const std::string& features = "");

// Assembles each line apart: its bytes, or no bytes where LLVM refuses it (with a diagnostic of its own).
absl::StatusOr<std::vector<std::vector<uint8_t>>> AssembleLines(const std::string& cpu,
                                                                const std::vector<std::string>& lines,
                                                                const std::string& features = "");

}  // namespace understudy::emu::amd
