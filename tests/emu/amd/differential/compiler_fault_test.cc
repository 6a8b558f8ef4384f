// SPDX-License-Identifier: Apache-2.0
// Faults of the compiler that random programs found are the compiler's, not the emulator's: not optimised,
// the kernels agree with the host on every target; optimised, they differ at most in the items and words that
// the fault explains. structurizecfg_fault_test.sh has the fault without any emulator.

#include <gtest/gtest.h>

#include <string>

#include "fuzz/amd_programs/emulate.h"
#include "fuzz/amd_programs/host_run.h"
#include "src/base/file.h"

extern "C" const HostKernelFn kHostSwitchKeepsVector, kHostEitherWayFree;

namespace understudy::programs {
namespace {

constexpr uint32_t kDataSeed = 7, kGroup[3] = {kProgramGroup, 1, 1};

struct Kernel {
  const char* name;
  HostKernelFn host;
  // Whether the fault loses a word of an item, of whose words `want` are the right ones.
  bool (*lost)(const uint32_t* want, size_t word);
};
const Kernel kKernels[] = {
    {"SwitchKeepsVector", kHostSwitchKeepsVector,
     [](const uint32_t* want, size_t word) { return want[5] >= 4 && word >= 1 && word <= 4; }},
    {"EitherWayFree", kHostEitherWayFree,
     [](const uint32_t* want, size_t word) { return want[2] == 0 && want[3] == 0 && word == 1; }},
};

ProgramData Host(const Kernel& kernel, int wave_size) {
  ProgramData data = MakeProgramData(kDataSeed);
  const absl::Status status = RunOnHost(kernel.host, wave_size, &data);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return data;
}

ProgramData Emulated(const Kernel& kernel, const std::string& path) {
  ProgramData data = MakeProgramData(kDataSeed);
  const auto file = ReadFile("tests/emu/amd/differential/" + path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  if (!file.ok()) return data;
  auto object = EmulatedObject::Load({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
  EXPECT_TRUE(object.ok()) << object.status().ToString();
  if (!object.ok()) return data;
  const absl::Status status = (*object)->RunProgram(kernel.name, kGroup, &data);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return data;
}

struct Build {
  const char* target;
  int wave_size;
};
const Build kBuilds[] = {
#define BUILD(target, wave) {#target, wave},
#include "tests/emu/amd/differential/compiler_fault_builds.inc"
};

class CompilerFault : public testing::TestWithParam<Build> {
 protected:
  std::string File(const char* kind) const {
    return std::string("fault_") + kind + "_" + GetParam().target + "_w" +
           std::to_string(GetParam().wave_size) + ".hsaco";
  }
};

TEST_P(CompilerFault, NotOptimisedTheKernelsAgreeWithTheHost) {
  for (const Kernel& kernel : kKernels) {
    EXPECT_EQ(FirstDifference(Emulated(kernel, File("avoided")), Host(kernel, GetParam().wave_size)), "")
        << kernel.name;
  }
}

TEST_P(CompilerFault, DiffersWhereTheFaultSaysOnly) {
  for (const Kernel& kernel : kKernels) {
    const ProgramData got = Emulated(kernel, File("plain")), want = Host(kernel, GetParam().wave_size);
    int lost = 0;
    for (size_t item = 0; item < kProgramItems; ++item) {
      const size_t at = item * kProgramOutWords;
      for (size_t word = 0; word < kProgramOutWords; ++word) {
        if (kernel.lost(&want.out[at], word)) {
          lost += got.out[at + word] != want.out[at + word];
        } else {
          EXPECT_EQ(got.out[at + word], want.out[at + word])
              << kernel.name << ", item " << item << ", word " << word;
        }
      }
    }
    EXPECT_EQ(got.mem, want.mem);
    // None with a compiler that is corrected: then docs/limits.md and this kernel have served.
    RecordProperty(std::string("words_lost_of_") + kernel.name, lost);
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, CompilerFault, testing::ValuesIn(kBuilds), [](const auto& info) {
  return std::string(info.param.target) + "Wave" + std::to_string(info.param.wave_size);
});

}  // namespace
}  // namespace understudy::programs
