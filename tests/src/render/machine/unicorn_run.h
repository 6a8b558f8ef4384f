// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a kernel's machine code under Unicorn, an emulator that is not ours: its memory holds the code without
// permission to write, each buffer between pages that nothing may touch, and a stack.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/render/machine/machine_code.h"

namespace understudy::test {

enum class Isa { kX86, kA64 };

// `buffers` by position are copied in and out. Every workgroup runs in order. Aborted carries Unicorn's word,
// the offset in the code, and what the calling convention wanted kept and was not.
absl::Status RunUnderUnicorn(Isa isa, const machine::MachineKernel& kernel,
                             std::vector<std::vector<uint8_t>>* buffers,
                             const std::vector<int64_t>& vars = {});

}  // namespace understudy::test
