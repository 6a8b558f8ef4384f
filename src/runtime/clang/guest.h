// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a kernel's C text needs to be a whole program of another processor: flags of the compiler, and C for
// the start, the system calls and the arithmetic that the processor has no instructions for. Used by
// ClangDevice only.
//
// The shared file is descriptor 3: kHeaderWords 64-bit words (magic, bytes in all, buffers, variables,
// workgroups, 1 when done), the variables, the buffers' offsets, the buffers.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/codegen/codegen.h"

namespace understudy::clang_guest {

constexpr uint64_t kMagic = 0x59445453'55474b31;
constexpr int kHeaderWords = 8;
constexpr int kMostBuffers = 64;
enum HeaderWord { kMagicWord, kBytes, kBuffers, kVars, kWorkgroups, kDone };

struct Processor {
  const char* name;
  const char* emulator;
  uint64_t most_bytes;  // of the shared file
  std::vector<std::string> flags;
};
// Null when there is no such processor.
const Processor* FindProcessor(const std::string& name);

// C text that goes behind the kernel's own and defines _start.
std::string RuntimeText(const Processor& processor, const std::string& kernel);

// Unimplemented names an operation that would be a call into a library that is not there.
absl::Status CheckKernel(const Processor& processor, const LinearKernel& kernel);

}  // namespace understudy::clang_guest
