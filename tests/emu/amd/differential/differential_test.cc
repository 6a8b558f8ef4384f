// SPDX-License-Identifier: Apache-2.0
// Kernels that clang compiled for every target, at several optimisation levels and in both wave sizes,
// against the same C text compiled for the host: decoding, control flow, calls, private memory, apertures,
// LDS, atomics and arithmetic together.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fuzz/amd_programs/emulate.h"
#include "fuzz/amd_programs/host_run.h"
#include "src/base/file.h"
#include "tests/emu/amd/differential/host_kernels.h"
#include "tests/emu/amd/evidence/evidence.h"

namespace understudy::programs {
namespace {

struct Build {
  const char* target;
  int level, wave_size;
  uint32_t group[3];
};

const Build kBuilds[] = {
#define BUILD(target, level, wave, x, y, z) {#target, level, wave, {x, y, z}},
#include "tests/emu/amd/differential/builds.inc"
};

constexpr uint32_t kDataSeed = 7;

// The host's results for a wave size, computed once a process.
const std::vector<ProgramData>& HostResults(int wave_size) {
  static std::map<int, std::vector<ProgramData>> results;
  std::vector<ProgramData>& list = results[wave_size];
  for (int k = static_cast<int>(list.size()); k < kHostKernelCount; ++k) {
    list.push_back(MakeProgramData(kDataSeed));
    const absl::Status status = RunOnHost(kHostKernels[k].run, wave_size, &list.back());
    EXPECT_TRUE(status.ok()) << kHostKernels[k].name << " on the host: " << status.ToString();
  }
  return list;
}

class Differential : public testing::TestWithParam<Build> {};

TEST_P(Differential, AgreesWithTheHost) {
  const Build& build = GetParam();
  const std::string path = "tests/emu/amd/differential/kernels_" + std::string(build.target) + "_O" +
                           std::to_string(build.level) + "_w" + std::to_string(build.wave_size) + ".hsaco";
  const auto file = ReadFile(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  auto object = EmulatedObject::Load({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
  ASSERT_TRUE(object.ok()) << path << ": " << object.status().ToString();
  ASSERT_EQ((*object)->code().isa(), build.target);
  const std::vector<ProgramData>& want = HostResults(build.wave_size);
  for (int k = 0; k < kHostKernelCount; ++k) {
    const char* name = kHostKernels[k].name;
    ASSERT_EQ((*object)->WaveSize(name).value_or(0), build.wave_size) << name;
    ProgramData got = MakeProgramData(kDataSeed);
    const absl::Status status = (*object)->RunProgram(name, build.group, &got);
    EXPECT_TRUE(status.ok()) << status.ToString();
    if (!status.ok()) continue;
    const std::string difference = FirstDifference(got, want[static_cast<size_t>(k)]);
    EXPECT_EQ(difference, "") << name;
  }
  emu::amd::RecordExecuted((*object)->programs());
}

INSTANTIATE_TEST_SUITE_P(Builds, Differential, testing::ValuesIn(kBuilds), [](const auto& info) {
  return std::string(info.param.target) + "O" + std::to_string(info.param.level) + "Wave" +
         std::to_string(info.param.wave_size);
});

}  // namespace
}  // namespace understudy::programs
