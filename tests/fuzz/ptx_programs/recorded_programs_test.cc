// SPDX-License-Identifier: Apache-2.0
// Random PTX programs leave on the emulator what they left on an H200, by digests that
// `USE_HW=1 ptx_programs --seeds=0:10800 --digest=...` wrote (driver 580, whose compiler took the text).
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "emu/ptx/conform/backend.h"
#include "fuzz/ptx_programs/generate.h"
#include "fuzz/ptx_programs/run.h"

namespace understudy::ptx_programs {
namespace {

class RecordedPrograms : public ::testing::TestWithParam<int> {};

TEST_P(RecordedPrograms, LeaveWhatAnH200Left) {
  std::ifstream file("tests/data/ptx_programs/h200.txt");
  ASSERT_TRUE(file.good());
  emu::ptx::LaunchOptions options;
  options.instruction_budget = 1 << 24;
  const auto emulator = emu::ptx::conform::MakeEmulator(options);
  int programs = 0, new_texts = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    uint64_t seed = 0;
    std::string kind, text, digest;
    words >> seed >> kind >> text >> digest;
    if (seed % kProgramClasses != static_cast<uint64_t>(GetParam())) continue;
    ++programs;
    const Program program = Generate(seed);
    EXPECT_EQ(ProgramClassName(program.kind), kind);
    // Another text means that the generator has changed: its programs are to be recorded again.
    new_texts += static_cast<uint32_t>(Digest(Text(program))) != std::stoul(text, nullptr, 16) ? 1 : 0;
    if (new_texts > 0) continue;
    const auto data = RunProgram(program, *emulator);
    ASSERT_TRUE(data.ok()) << "seed " << seed << ": " << data.status();
    EXPECT_EQ(static_cast<uint32_t>(Digest(*data)), std::stoul(digest, nullptr, 16)) << "seed " << seed;
  }
  EXPECT_EQ(new_texts, 0);
  EXPECT_EQ(programs, 1200);
}

INSTANTIATE_TEST_SUITE_P(Classes, RecordedPrograms, ::testing::Range(0, kProgramClasses),
                         [](const auto& info) {
                           return std::string(ProgramClassName(static_cast<ProgramClass>(info.param)));
                         });

}  // namespace
}  // namespace understudy::ptx_programs
