// SPDX-License-Identifier: Apache-2.0
#pragma once
// A random PTX module with one kernel, its launch, and what the kernel reads and writes. Made by generate.h,
// run by emulate.h and, on a card, by hw_tests. Plain data.
//
// The kernel `k(in, out, mem)` reads kInWords words, has kOutWords words of `out` for each thread (the first
// kScratchWords are its scratch), and all threads share kMemWords words of `mem`, where only atomics go whose
// result does not depend on their order.

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/program_tree/node.h"

namespace understudy::ptx_programs {

using programs::Node;

constexpr uint32_t kInWords = 1024, kOutWords = 48, kScratchWords = 16, kMemWords = 512;

// What a program is mainly made of. Its seed says so: seed % kProgramClasses.
enum class ProgramClass { kStraight, kFloats, kDivergent, kCalls, kShared, kAtomics, kWarp, kMatrix, kMixed };
constexpr int kProgramClasses = 9;
const char* ProgramClassName(ProgramClass c);

struct Program {
  uint64_t seed = 0;
  ProgramClass kind = ProgramClass::kStraight;
  uint32_t grid = 1, block[3] = {32, 1, 1};
  uint32_t dynamic_shared = 0;  // bytes
  std::vector<Node> nodes;      // of the module, without its header

  uint32_t threads() const { return block[0] * block[1] * block[2]; }  // of a CTA
  uint32_t out_words() const { return grid * threads() * kOutWords; }
};

// The module's text.
std::string Text(const Program& program);

// The contents of `in`, `out` and `mem` before the launch. A quarter of the words are values at which
// arithmetic changes its ways (zeros, infinities, NaNs, denormals, limits).
struct ProgramData {
  std::vector<uint32_t> in, out, mem;
};
ProgramData MakeProgramData(const Program& program);

// 64 bits of FNV-1a.
uint64_t Digest(const std::string& text);
// Of what a launch left in `out` and `mem`.
uint64_t Digest(const ProgramData& data);

// Where two runs differ first ("out: CTA 0, thread 3, word 17: 0x.. instead of 0x.."), or "" when nowhere.
std::string FirstDifference(const Program& program, const ProgramData& got, const ProgramData& want);

}  // namespace understudy::ptx_programs
