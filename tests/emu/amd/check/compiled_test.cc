// SPDX-License-Identifier: Apache-2.0
// What clang compiles passes every strict check: the kernels of the differential tests, and those of
// kernels.c for every target.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "fuzz/amd_programs/emulate.h"
#include "fuzz/amd_programs/host_run.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "tests/emu/amd/differential/host_kernels.h"

namespace understudy::programs {
namespace {

using emu::amd::CheckMode;
using emu::amd::CheckReport;

std::unique_ptr<EmulatedObject> Load(const std::string& path) {
  const auto file = ReadFile(path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  if (!file.ok()) return nullptr;
  auto object = EmulatedObject::Load({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
  EXPECT_TRUE(object.ok()) << path << ": " << object.status().ToString();
  if (!object.ok()) return nullptr;
  (*object)->checks.waits = (*object)->checks.hazards = CheckMode::kWarn;
  (*object)->checks.uninit = (*object)->checks.races = CheckMode::kWarn;
  return *std::move(object);
}

// What clang 22 really gets wrong.
struct Known {
  const char* kernel;
  emu::amd::CheckKind check;
  const char* text;        // how the instruction begins
  const char* other_text;  // and the earlier one
};
const Known kKnown[] = {
    // At -O1 the release fence before the barrier of the last loop has no s_waitcnt lgkmcnt(0), although the
    // store at
    // the end of the loop is in flight when the loop comes round to it.
    {"SumReduction", emu::amd::CheckKind::kRaces, "ds_load_b32", "ds_store_b32"},
};

void ExpectClean(const std::string& kernel, EmulatedObject* object) {
  for (const CheckReport& report : object->reports) {
    bool known = false;
    for (const Known& k : kKnown) {
      known |= kernel == k.kernel && report.check == k.check && report.text.rfind(k.text, 0) == 0 &&
               report.other_text.rfind(k.other_text, 0) == 0;
    }
    if (!known) ADD_FAILURE() << kernel << ": " << report.message;
  }
  object->reports.clear();
}

struct Build {
  const char* target;
  int level, wave_size;
};

class Differential : public testing::TestWithParam<Build> {};

TEST_P(Differential, Clean) {
  const Build& b = GetParam();
  const std::string path = "tests/emu/amd/differential/kernels_" + std::string(b.target) + "_O" +
                           std::to_string(b.level) + "_w" + std::to_string(b.wave_size) + ".hsaco";
  const auto object = Load(path);
  ASSERT_NE(object, nullptr);
  const uint32_t flat[3] = {128, 1, 1}, block[3] = {16, 4, 2};
  for (int k = 0; k < kHostKernelCount; ++k) {
    // Random kernels change with their seed; what the checks say of them is not known beforehand.
    if (std::string(kHostKernels[k].name).rfind("Random", 0) == 0) continue;
    ProgramData data = MakeProgramData(7);
    const absl::Status status = object->RunProgram(kHostKernels[k].name, b.level == 1 ? block : flat, &data);
    EXPECT_TRUE(status.ok()) << status.ToString();
    ExpectClean(kHostKernels[k].name, object.get());
  }
}

std::string NameOf(const testing::TestParamInfo<Build>& info) {
  return std::string(info.param.target) + "O" + std::to_string(info.param.level) + "Wave" +
         std::to_string(info.param.wave_size);
}

INSTANTIATE_TEST_SUITE_P(Builds, Differential,
                         testing::Values(Build{"gfx1100", 1, 64}, Build{"gfx1100", 2, 32},
                                         Build{"gfx1100", 3, 32}, Build{"gfx1100", 3, 64}),
                         NameOf);

class Own : public testing::TestWithParam<Build> {};

TEST_P(Own, Clean) {
  const Build& b = GetParam();
  const auto object = Load("tests/emu/amd/check/kernels_" + std::string(b.target) + "_O" +
                           std::to_string(b.level) + ".hsaco");
  ASSERT_NE(object, nullptr);
  constexpr uint64_t kIn = 0x7e0000000000, kOut = 0x7e0001000000;
  for (const amd::KernelSymbol& kernel : object->code().kernels()) {
    std::vector<uint32_t> in(4096), out(8192);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>(i * 2654435761u >> 7);
    const auto map = [&](uint64_t va, std::vector<uint32_t>& words) {
      US_CHECK_OK(object->memory().Map(va, words.size() * 4, reinterpret_cast<uint8_t*>(words.data()),
                                       emu::Perm::kReadWrite, "buffer"));
    };
    map(kIn, in);
    map(kOut, out);
    std::vector<uint8_t> arguments(16);
    std::memcpy(arguments.data(), &kIn, 8);
    std::memcpy(arguments.data() + 8, &kOut, 8);
    LaunchGrid grid;
    grid.group[0] = 128;
    grid.groups[0] = 3;
    const absl::Status status = object->Launch(kernel.name, grid, arguments);
    EXPECT_TRUE(status.ok()) << status.ToString();
    ExpectClean(kernel.name, object.get());
    US_CHECK_OK(object->memory().Unmap(kIn, in.size() * 4));
    US_CHECK_OK(object->memory().Unmap(kOut, out.size() * 4));
  }
}

std::vector<Build> OwnBuilds() {
  std::vector<Build> builds;
  for (const char* target : {"gfx1100", "gfx1150", "gfx1200", "gfx90a", "gfx942", "gfx950"}) {
    for (int level : {0, 1, 3}) builds.push_back({target, level, 0});
  }
  return builds;
}

INSTANTIATE_TEST_SUITE_P(Builds, Own, testing::ValuesIn(OwnBuilds()), NameOf);

}  // namespace
}  // namespace understudy::programs
