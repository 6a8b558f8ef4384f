// SPDX-License-Identifier: Apache-2.0
// Undefined registers and LDS are reported where they decide an address, a branch, EXEC or a stored value,
// and nowhere before that.

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

std::vector<CheckReport> Undefined(const std::string& body) {
  KernelRunner runner;
  runner.AddBuffer(256);
  runner.regs.rsrc2 |= 4u << 15;  // 2 KiB of LDS
  runner.ReserveScratch(64, 1);
  runner.options.checks.uninit = CheckMode::kWarn;
  runner.Program("v_lshlrev_b32 v1, 2, v0\n" + body + "\ns_endpgm");
  auto dispatch = runner.Start();
  dispatch->Step(10000);
  // An undefined address may fault.
  EXPECT_TRUE(dispatch->state() == Dispatch::State::kDone || dispatch->fault().kind == FaultKind::kMemory)
      << dispatch->fault().message;
  return dispatch->reports();
}

struct Case {
  const char* name;
  const char* body;
  const char* report;  // "instruction|register|what depends on it", "" for none
};

constexpr Case kCases[] = {
    {"a stored value", "global_store_b32 v1, v9, s[0:1]", "global_store_b32|v9|the stored value"},
    {"an address", "global_load_b32 v2, v9, s[0:1]", "global_load_b32|v9|the address"},
    {"a scalar address", "s_load_b32 s4, s[20:21], 0x0", "s_load_b32|s20|the address"},
    {"an LDS address", "ds_load_b32 v2, v9", "ds_load_b32|v9|the address"},
    {"a branch on SCC", "s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 l\nl:", "s_cbranch_scc1|scc|the branch"},
    {"SCC itself", "s_cbranch_scc1 l\nl:", "s_cbranch_scc1|scc|the branch"},
    {"a branch on VCC",
     "v_cmp_eq_u32 vcc_lo, 0, v9\ns_cbranch_vccz l\nl:", "s_cbranch_vccz|vcc_lo|the branch"},
    {"EXEC", "v_cmpx_eq_u32 0, v9", "v_cmpx_eq_u32|exec_lo|EXEC"},
    {"EXEC through a mask", "v_cmp_eq_u32 s4, 0, v9\ns_and_saveexec_b32 s5, s4",
     "s_and_saveexec_b32|exec_lo|EXEC"},
    {"arithmetic carries it",
     "v_add_nc_u32 v2, v1, v9\nv_mul_f32 v3, v2, v2\nglobal_store_b32 v1, v3, s[0:1]",
     "global_store_b32|v3|the stored value"},
    {"copies and sums are no uses", "v_mov_b32 v2, v9\nv_add_f32 v3, v9, v9\nv_cmp_eq_u32 vcc_lo, v2, v9",
     ""},
    {"bits that a mask removes", "v_and_b32 v2, 0, v9\nglobal_store_b32 v1, v2, s[0:1]", ""},
    {"bits that are shifted out",
     "v_mov_b16 v9.l, 1\nv_lshlrev_b32 v2, 16, v9\nglobal_store_b32 v1, v2, s[0:1]", ""},
    {"bits that are not", "v_mov_b16 v9.l, 1\nv_lshlrev_b32 v2, 8, v9\nglobal_store_b32 v1, v2, s[0:1]",
     "global_store_b32|v2|the stored value"},
    {"the defined half", "v_mov_b16 v9.l, 1\nglobal_store_b16 v1, v9, s[0:1]", ""},
    {"a register with itself",
     "v_xor_b32 v2, v9, v9\nv_sub_nc_u32 v3, v9, v9\nv_add_nc_u32 v2, v2, v3\n"
     "global_store_b32 v1, v2, s[0:1]",
     ""},
    {"the value that is not selected",
     "v_cmp_gt_u32 vcc_lo, 64, v0\nv_cndmask_b32 v2, v9, v1, vcc_lo\n"
     "global_store_b32 v1, v2, s[0:1]",
     ""},
    {"the one that is",
     "v_cmp_gt_u32 vcc_lo, 16, v0\nv_cndmask_b32 v2, v9, v1, vcc_lo\n"
     "global_store_b32 v1, v2, s[0:1]",
     "global_store_b32|v2|the stored value"},
    {"inactive lanes may be undefined",
     "s_mov_b32 exec_lo, 3\nv_mov_b32 v2, 5\nglobal_store_b32 v1, v2, s[0:1]", ""},
    {"lanes that were inactive when it was written",
     "s_mov_b32 exec_lo, 3\nv_mov_b32 v2, 5\ns_mov_b32 exec_lo, 7\n"
     "global_store_b32 v1, v2, s[0:1]",
     "global_store_b32|v2|the stored value"},
    {"a lane that was written",
     "v_writelane_b32 v9, s0, 3\nv_readlane_b32 s4, v9, 3\ns_cmp_eq_u32 s4, 0\n"
     "s_cbranch_scc1 l\nl:",
     ""},
    {"a lane that was not",
     "v_writelane_b32 v9, s0, 3\nv_readlane_b32 s4, v9, 4\ns_cmp_eq_u32 s4, 0\n"
     "s_cbranch_scc1 l\nl:",
     "s_cbranch_scc1|scc|the branch"},
    {"DPP from a lane that has a value",
     "s_mov_b32 exec_lo, 0x55555555\nv_mov_b32 v9, 1\ns_mov_b32 exec_lo, -1\n"
     "v_mov_b32_dpp v2, v9 quad_perm:[0,0,2,2] row_mask:0xf bank_mask:0xf\nglobal_store_b32 v1, v2, s[0:1]",
     ""},
    {"DPP from one that has none",
     "s_mov_b32 exec_lo, 0x55555555\nv_mov_b32 v9, 1\ns_mov_b32 exec_lo, -1\n"
     "v_mov_b32_dpp v2, v9 quad_perm:[1,0,2,2] row_mask:0xf bank_mask:0xf\nglobal_store_b32 v1, v2, s[0:1]",
     "global_store_b32|v2|the stored value"},
    {"LDS that was written", "ds_store_b32 v1, v0\nds_load_b32 v2, v1\nglobal_store_b32 v1, v2, s[0:1]", ""},
    {"LDS that was not", "ds_load_b32 v2, v1\nglobal_store_b32 v1, v2, s[0:1]",
     "global_store_b32|v2|the stored value"},
    {"LDS that was given an undefined value",
     "ds_store_b32 v1, v9\nds_load_b32 v2, v1\n"
     "global_store_b32 v1, v2, s[0:1]",
     "global_store_b32|v2|the stored value"},
    {"one byte of LDS",
     "v_mov_b32 v2, 0\nds_store_b8 v1, v2\nds_load_u8 v2, v1\nglobal_store_b32 v1, v2, s[0:1]", ""},
    {"four bytes of which one was written",
     "v_mov_b32 v2, 0\nds_store_b8 v1, v2\nds_load_b32 v2, v1\n"
     "global_store_b32 v1, v2, s[0:1]",
     "global_store_b32|v2|the stored value"},
    {"a permutation of lanes",
     "v_mov_b32 v2, v0\nds_bpermute_b32 v3, v1, v2\nglobal_store_b32 v1, v3, s[0:1]", ""},
    {"private memory",
     "scratch_store_b32 off, v0, off offset:4\nscratch_load_b32 v2, off, off offset:4\n"
     "global_store_b32 v1, v2, s[0:1]",
     ""},
    {"private memory that was not written",
     "scratch_store_b32 off, v0, off offset:4\n"
     "scratch_load_b32 v2, off, off offset:8\nglobal_store_b32 v1, v2, s[0:1]",
     "global_store_b32|v2|the stored value"},
    {"memory is defined", "global_load_b32 v2, v1, s[0:1]\nglobal_store_b32 v1, v2, s[0:1]", ""},
    {"launch state is defined", "v_add_nc_u32 v2, s0, v0\nglobal_store_b32 v1, v2, s[0:1]", ""},
};

TEST(Undefined, PlantedAndClean) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const std::vector<CheckReport> reports = Undefined(c.body);
    if (*c.report == '\0') {
      EXPECT_TRUE(reports.empty()) << reports[0].message;
      continue;
    }
    ASSERT_EQ(reports.size(), 1u);
    const std::string want = c.report;
    const size_t bar = want.find('|'), second = want.find('|', bar + 1);
    EXPECT_EQ(reports[0].text.substr(0, bar), want.substr(0, bar));
    EXPECT_EQ(reports[0].what, want.substr(bar + 1, second - bar - 1));
    EXPECT_TRUE(
        absl::StrContains(reports[0].message.c_str(), (want.substr(second + 1) + " depends on").c_str()))
        << reports[0].message;
  }
}

TEST(Undefined, FailNamesTheFault) {
  KernelRunner runner;
  runner.AddBuffer(64);
  runner.options.checks.uninit = CheckMode::kFail;
  runner.Program("v_lshlrev_b32 v1, 2, v0\nglobal_store_b32 v1, v9, s[0:1]\ns_endpgm");
  EXPECT_EQ(runner.RunToFault().kind, FaultKind::kCheckUninit);
}

}  // namespace
}  // namespace understudy::emu::amd
