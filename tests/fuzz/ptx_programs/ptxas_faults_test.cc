// SPDX-License-Identifier: Apache-2.0
// Programs that ptxas compiles wrongly for an H200, which is why the generator of random programs avoids what
// they do: the emulator leaves what the PTX manual says and the card leaves without optimisation.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "emu/ptx/conform/backend.h"
#include "fuzz/ptx_programs/avoided.h"
#include "fuzz/ptx_programs/run.h"
#include "src/base/file.h"

namespace understudy::ptx_programs {
namespace {

const char kFolder[] = "tests/data/ptx_programs/ptxas_faults/";

struct Row {
  std::string plain, optimised;  // digests of what the card left; "-": not recorded
};

// "mad_hi_repeated 4bd5ac59 a3857407": without optimisation, and with the driver's own level.
std::map<std::string, Row> Rows() {
  std::map<std::string, Row> rows;
  std::ifstream file(std::string(kFolder) + "h200.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    Row row;
    words >> name >> row.plain >> row.optimised;
    rows[name] = row;
  }
  return rows;
}

absl::StatusOr<ProgramData> OnEmulator(const std::string& name, Program* program) {
  const absl::StatusOr<std::string> text = ReadFile(kFolder + name + ".ptx");
  if (!text.ok()) return text.status();
  const absl::StatusOr<Program> read = ReadFinding(*text);
  if (!read.ok()) return read.status();
  *program = *read;
  // Nothing undefined, on which the two might differ.
  emu::ptx::LaunchOptions options;
  std::string error;
  EXPECT_TRUE(options.checks.Parse("all:fail", &error)) << error;
  return RunProgram(*program, *emu::ptx::conform::MakeEmulator(options));
}

TEST(PtxasFaults, EachHasAProgramAndEveryProgramIsListed) {
  const auto rows = Rows();
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".ptx") continue;
    ++files;
    EXPECT_EQ(rows.count(entry.path().stem().string()), 1u) << entry.path();
  }
  EXPECT_EQ(files, rows.size());
  EXPECT_GE(AvoidedConstructs().size(), 19u);
  for (const Avoided& avoided : AvoidedConstructs())
    EXPECT_EQ(rows.count(avoided.fault), 1u) << avoided.fault;
}

TEST(PtxasFaults, TheEmulatorLeavesWhatTheCardLeavesWithoutOptimisation) {
  const auto rows = Rows();
  int optimised = 0;
  for (const auto& [name, row] : rows) {
    Program program;
    const auto data = OnEmulator(name, &program);
    ASSERT_TRUE(data.ok()) << name << ": " << data.status();
    if (row.plain == "-") continue;
    // What is wrong at every level has a twin that hides from the compiler what it must not use.
    const auto hidden = rows.find(name + "_hidden");
    const std::string& right = hidden == rows.end() ? row.plain : hidden->second.optimised;
    const uint32_t digest = static_cast<uint32_t>(Digest(*data));
    EXPECT_EQ(digest, std::stoul(right, nullptr, 16)) << name;
    if (row.optimised == "-" || name.find("_hidden") != std::string::npos) continue;
    EXPECT_NE(digest, std::stoul(row.optimised, nullptr, 16)) << name << " is no fault";
    ++optimised;
  }
  EXPECT_GE(optimised, 18);
}

// No card ran it, as the compiler ends with a fault: its division is never reached.
TEST(PtxasFaults, WhatEndsTheCompilerRuns) {
  Program program;
  const auto data = OnEmulator("compiler_dies", &program);
  ASSERT_TRUE(data.ok()) << data.status();
  for (size_t thread = 0; thread < 32; ++thread)
    for (size_t word = 0; word < 2; ++word)
      EXPECT_EQ(data->out[thread * kOutWords + word], data->in[thread * 16 + 2 + word]) << thread;
}

}  // namespace
}  // namespace understudy::ptx_programs
