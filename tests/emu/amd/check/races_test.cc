// SPDX-License-Identifier: Apache-2.0
// Accesses of two waves without a barrier between them are reported once, with both instructions; with one
// they are not.

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

// Four waves of 32; v1 = 4 * work-item, v2 = 4 * (127 - work-item), s[0:1] a buffer.
std::vector<CheckReport> Races(const std::string& body, bool between_groups = false) {
  KernelRunner runner;
  runner.AddBuffer(256);
  runner.regs.rsrc2 |= 4u << 15;  // 2 KiB of LDS
  runner.regs.num_thread[0] = 128;
  runner.regs.dim[0] = between_groups ? 2 : 1;
  runner.options.checks.races = CheckMode::kWarn;
  runner.options.checks.races_between_groups = between_groups;
  runner.Program(R"(
    v_lshlrev_b32 v1, 2, v0
    v_sub_nc_u32 v2, 0x1fc, v1
    v_mov_b32 v3, 0
    v_mov_b32 v4, 1
  )" + body + "\ns_endpgm");
  auto dispatch = runner.Start();
  EXPECT_EQ(dispatch->Step(10000), Dispatch::State::kDone) << dispatch->fault().message;
  return dispatch->reports();
}

struct Case {
  const char* name;
  const char* body;
  const char* report;  // "one|the other|words of the message", "" for none
};

constexpr Case kCases[] = {
    {"neighbours through LDS with a barrier", R"(
      ds_store_b32 v1, v4
      s_waitcnt lgkmcnt(0)
      s_barrier
      ds_load_b32 v5, v2)",
     ""},
    {"without a barrier", R"(
      ds_store_b32 v1, v4
      s_waitcnt lgkmcnt(0)
      ds_load_b32 v5, v2)",
     "ds_store_b32|ds_load_b32|LDS byte 0x"},
    {"the barrier does not wait for the store", R"(
      ds_store_b32 v1, v4
      s_barrier
      ds_load_b32 v5, v2)",
     "ds_store_b32|ds_load_b32|LDS byte 0x"},
    {"a store after others have read", R"(
      ds_load_b32 v5, v2
      s_waitcnt lgkmcnt(0)
      ds_store_b32 v1, v4)",
     "ds_load_b32|ds_store_b32|LDS byte 0x"},
    {"reads alone", "ds_load_b32 v5, v2\nds_load_b32 v6, v1", ""},
    {"own words", "ds_store_b32 v1, v4\ns_waitcnt lgkmcnt(0)\nds_load_b32 v5, v1", ""},
    {"two waves write one word", "ds_store_b32 v3, v4", "ds_store_b32|ds_store_b32|overwrites what"},
    {"bytes of one word are apart", "v_lshrrev_b32 v5, 5, v0\nds_store_b8 v5, v4", ""},
    {"atomics", "ds_add_u32 v3, v4\nds_add_rtn_u32 v5, v3, v4", ""},
    {"an atomic and a store", "ds_add_u32 v3, v4\nds_store_b32 v3, v4",
     "ds_store_b32|ds_add_u32|LDS byte 0x0"},
    {"an exchange of two words", "ds_storexchg_2addr_rtn_b32 v[5:6], v3, v4, v4 offset1:1", ""},
    {"global memory", "global_store_b32 v1, v4, s[0:1]\nglobal_load_b32 v5, v2, s[0:1]",
     "global_store_b32|global_load_b32|address 0x10"},
    {"global atomics", "global_atomic_add_u32 v3, v4, s[0:1]", ""},
    {"a scalar load of what another wave stores", R"(
      global_store_b32 v1, v4, s[0:1] offset:128
      s_load_b32 s4, s[0:1], 0x80)",
     "global_store_b32|s_load_b32|address 0x1000080"},
};

TEST(Races, PlantedAndClean) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const std::vector<CheckReport> reports = Races(c.body);
    if (*c.report == '\0') {
      EXPECT_TRUE(reports.empty()) << reports[0].message;
      continue;
    }
    ASSERT_FALSE(reports.empty());
    const std::string want = c.report;
    const size_t bar = want.find('|'), second = want.find('|', bar + 1);
    const CheckReport& r = reports[0];
    // Which wave comes first is the scheduler's choice.
    const auto pair = [](const std::string& a, const std::string& b) {
      return std::min(a, b) + " " + std::max(a, b);
    };
    const auto mnemonic = [](const std::string& text) { return text.substr(0, text.find(' ')); };
    EXPECT_EQ(pair(mnemonic(r.other_text), mnemonic(r.text)),
              pair(want.substr(0, bar), want.substr(bar + 1, second - bar - 1)))
        << r.message;
    EXPECT_TRUE(absl::StrContains(r.message.c_str(), want.substr(second + 1).c_str())) << r.message;
    EXPECT_NE(r.wave, r.other_wave);
  }
}

TEST(Races, BetweenWorkgroupsOnRequest) {
  const std::string body = "global_store_b32 v1, v4, s[0:1]";
  EXPECT_TRUE(Races(body).empty());
  const std::vector<CheckReport> reports = Races(body, true);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(absl::StrContains(reports[0].message.c_str(), "of another workgroup")) << reports[0].message;
}

TEST(Races, FailNamesTheFault) {
  KernelRunner runner;
  runner.regs.rsrc2 |= 4u << 15;
  runner.regs.num_thread[0] = 64;
  runner.options.checks.races = CheckMode::kFail;
  runner.Program("v_mov_b32 v3, 0\nds_store_b32 v3, v0\ns_endpgm");
  const WaveFault fault = runner.RunToFault();
  EXPECT_EQ(fault.kind, FaultKind::kCheckRaces);
  EXPECT_EQ(fault.pc, KernelRunner::kProgramVa + 4);
}

}  // namespace
}  // namespace understudy::emu::amd
