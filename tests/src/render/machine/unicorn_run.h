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

// Called before each instruction, and once behind the last, with its offset in the code. `read` gives a real
// register's value: 8 bytes of a general one, 16 of a vector.
using ReadRegister = std::function<void(machine::Reg, uint8_t* out)>;
using Watcher = std::function<void(int64_t offset, const ReadRegister& read)>;

// `buffers` by position are copied in and out. Every workgroup runs in order. Aborted carries Unicorn's word,
// the offset in the code, and what the calling convention wanted kept and was not.
absl::Status RunUnderUnicorn(Isa isa, const machine::MachineKernel& kernel,
                             std::vector<std::vector<uint8_t>>* buffers,
                             const std::vector<int64_t>& vars = {}, const Watcher& watch = nullptr);

}  // namespace understudy::test
