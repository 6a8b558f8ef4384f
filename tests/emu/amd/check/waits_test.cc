// SPDX-License-Identifier: Apache-2.0
// A missing, misplaced or too weak wait is reported with both instructions and the register; the right wait
// is not.

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

struct Found {
  std::vector<CheckReport> reports;
  std::vector<uint32_t> out;
};

// Runs one wave with buffers in (s[0:1], words 100, 101, ...) and out (s[2:3]); v1 = 4 * lane.
Found RunWith(CheckMode mode, const std::string& body, Isa isa = Isa::kRdna3, int wave_size = 32) {
  KernelRunner runner(wave_size, isa);
  const int in = runner.AddBuffer(256), out = runner.AddBuffer(256);
  for (uint32_t i = 0; i < 256; ++i) runner.Buffer(in)[i] = 100 + i;
  runner.regs.rsrc2 |= 4u << 15;  // 2 KiB of LDS
  runner.options.checks.waits = mode;
  runner.Program("v_lshlrev_b32 v1, 2, v0\n" + body + "\ns_endpgm");
  auto dispatch = runner.Start();
  dispatch->Step(1000);
  EXPECT_NE(dispatch->state(), Dispatch::State::kRunning);
  // An address made of poison is caught by memory.
  if (mode == CheckMode::kWarn && dispatch->fault().kind != FaultKind::kMemory) {
    EXPECT_EQ(dispatch->state(), Dispatch::State::kDone) << dispatch->fault().message;
  }
  return {dispatch->reports(), runner.Buffer(out)};
}

struct Case {
  const char* name;
  const char* body;
  // "" where nothing is reported; else "earlier instruction|later instruction|register|counter".
  const char* report;
};

std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == '|') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void Check(const Case& c, Isa isa, int wave_size) {
  SCOPED_TRACE(c.name);
  const Found found = RunWith(CheckMode::kWarn, c.body, isa, wave_size);
  if (*c.report == '\0') {
    EXPECT_TRUE(found.reports.empty()) << found.reports[0].message;
    return;
  }
  ASSERT_EQ(found.reports.size(), 1u) << (found.reports.empty() ? "" : found.reports.back().message);
  const CheckReport& report = found.reports[0];
  const std::vector<std::string> want = Parts(c.report);
  EXPECT_EQ(report.other_text.substr(0, want[0].size()), want[0]);
  EXPECT_EQ(report.text.substr(0, want[1].size()), want[1]);
  EXPECT_EQ(report.what, want[2]);
  EXPECT_TRUE(absl::StrContains(report.message.c_str(), want[3].c_str())) << report.message;
  EXPECT_LT(report.other_pc, report.pc);
}

constexpr Case kRdna3Cases[] = {
    {"a global load is waited for", R"(
      global_load_b32 v2, v1, s[0:1]
      s_waitcnt vmcnt(0)
      v_add_nc_u32 v3, v2, v2)",
     ""},
    {"a global load is not waited for", R"(
      global_load_b32 v2, v1, s[0:1]
      v_add_nc_u32 v3, v2, v2)",
     "global_load_b32|v_add_nc_u32|v2|vmcnt"},
    {"the wrong counter", R"(
      global_load_b32 v2, v1, s[0:1]
      s_waitcnt lgkmcnt(0)
      s_waitcnt_vscnt null, 0x0
      v_add_nc_u32 v3, v2, v2)",
     "global_load_b32|v_add_nc_u32|v2|vmcnt"},
    {"loads return in order: one may be left", R"(
      global_load_b32 v2, v1, s[0:1]
      global_load_b32 v3, v1, s[0:1] offset:4
      s_waitcnt vmcnt(1)
      v_mov_b32 v4, v2
      s_waitcnt vmcnt(0)
      v_mov_b32 v5, v3)",
     ""},
    {"the one that is left is not used", R"(
      global_load_b32 v2, v1, s[0:1]
      global_load_b32 v3, v1, s[0:1] offset:4
      s_waitcnt vmcnt(1)
      v_mov_b32 v4, v3)",
     "global_load_b32 v3|v_mov_b32|v3|vmcnt"},
    {"stores do not count in vmcnt", R"(
      global_load_b32 v2, v1, s[0:1]
      global_store_b32 v1, v1, s[2:3]
      s_waitcnt vmcnt(1)
      v_mov_b32 v4, v2)",
     "global_load_b32|v_mov_b32|v2|vmcnt"},
    {"scalar loads return in any order: only 0 covers one", R"(
      s_load_b32 s4, s[0:1], 0x0
      s_load_b32 s5, s[0:1], 0x4
      s_waitcnt lgkmcnt(1)
      s_mov_b32 s6, s4)",
     "s_load_b32 s4|s_mov_b32|s4|lgkmcnt"},
    {"a scalar load is waited for", R"(
      s_load_b64 s[4:5], s[0:1], 0x0
      s_waitcnt lgkmcnt(0)
      s_add_u32 s6, s4, s5)",
     ""},
    {"the second register of a scalar load", R"(
      s_load_b64 s[4:5], s[0:1], 0x0
      s_mov_b32 s6, s5)",
     "s_load_b64|s_mov_b32|s5|lgkmcnt"},
    {"LDS returns in order, beside scalar loads too", R"(
      ds_load_b32 v2, v1
      s_load_b32 s4, s[0:1], 0x0
      ds_load_b32 v3, v1 offset:4
      s_waitcnt lgkmcnt(1)
      v_mov_b32 v4, v2
      s_waitcnt lgkmcnt(0)
      v_mov_b32 v4, s4)",
     ""},
    {"but the scalar load between them is not covered", R"(
      ds_load_b32 v2, v1
      s_load_b32 s4, s[0:1], 0x0
      ds_load_b32 v3, v1 offset:4
      s_waitcnt lgkmcnt(1)
      v_mov_b32 v4, s4
      s_waitcnt lgkmcnt(0))",
     "s_load_b32|v_mov_b32|s4|lgkmcnt"},
    {"FLAT needs both counters", R"(
      v_mov_b32 v3, s1
      v_add_co_u32 v2, vcc_lo, v1, s0
      flat_load_b32 v4, v[2:3]
      s_waitcnt vmcnt(0)
      v_mov_b32 v5, v4)",
     "flat_load_b32|v_mov_b32|v4|vmcnt and lgkmcnt"},
    {"FLAT with both", R"(
      v_mov_b32 v3, s1
      v_add_co_u32 v2, vcc_lo, v1, s0
      flat_load_b32 v4, v[2:3]
      s_waitcnt vmcnt(0) lgkmcnt(0)
      v_mov_b32 v5, v4)",
     ""},
    {"an atomic that returns is a load", R"(
      v_mov_b32 v3, 1
      global_atomic_add_u32 v2, v1, v3, s[2:3] glc
      v_mov_b32 v4, v2)",
     "global_atomic_add_u32|v_mov_b32|v2|vmcnt"},
    {"one that does not return gives nothing to wait for", R"(
      v_mov_b32 v3, 1
      global_atomic_add_u32 v1, v3, s[2:3]
      v_mov_b32 v4, v3)",
     ""},
    {"a pending destination is overwritten", R"(
      global_load_b32 v2, v1, s[0:1]
      v_mov_b32 v2, 0)",
     "global_load_b32|v_mov_b32|v2|vmcnt"},
    {"by a later load of the same kind it may be", R"(
      global_load_b32 v2, v1, s[0:1]
      global_load_b32 v2, v1, s[0:1] offset:4
      s_waitcnt vmcnt(0)
      v_mov_b32 v3, v2)",
     ""},
    {"by a load of another kind it may not", R"(
      global_load_b32 v2, v1, s[0:1]
      ds_load_b32 v2, v1
      s_waitcnt vmcnt(0) lgkmcnt(0))",
     "global_load_b32|ds_load_b32|v2|vmcnt"},
    {"an address may be overwritten at once", R"(
      global_load_b32 v2, v1, s[0:1]
      v_mov_b32 v1, 0)",
     ""},
    {"the address of a load comes from a load", R"(
      s_load_b64 s[4:5], s[0:1], 0x0
      s_load_b32 s6, s[4:5], 0x0)",
     "s_load_b64|s_load_b32|s4|lgkmcnt"},
    {"other lanes' registers are free", R"(
      s_mov_b32 exec_hi, 0
      s_mov_b32 exec_lo, 1
      global_load_b32 v2, v1, s[0:1]
      s_mov_b32 exec_lo, 2
      v_mov_b32 v2, 5
      s_mov_b32 exec_lo, -1
      s_waitcnt vmcnt(0))",
     ""},
    {"the end of the program waits by itself", "global_load_b32 v2, v1, s[0:1]", ""},
    {"halves: both loads are pending", R"(
      global_load_d16_b16 v2, v1, s[0:1]
      global_load_d16_hi_b16 v2, v1, s[0:1] offset:4
      s_waitcnt vmcnt(1)
      v_mov_b32 v3, v2)",
     "global_load_d16_hi_b16|v_mov_b32|v2|vmcnt"},
    {"a message's reply", R"(
      s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_REALTIME)
      s_mov_b32 s6, s4)",
     "s_sendmsg_rtn_b64|s_mov_b32|s4|lgkmcnt"},
    {"a branch on what is not there", R"(
      s_load_b64 vcc, s[0:1], 0x0
      s_cbranch_vccz l
      l:)",
     "s_load_b64|s_cbranch_vccz|vcc_lo|lgkmcnt"},
};

TEST(Waits, Rdna3) {
  for (const Case& c : kRdna3Cases) Check(c, Isa::kRdna3, 32);
}

TEST(Waits, Rdna3Wave64) {
  for (const Case& c : kRdna3Cases) {
    if (!absl::StrContains(c.body, "vcc_lo,")) Check(c, Isa::kRdna3, 64);
  }
}

constexpr Case kCdnaCases[] = {
    {"a load is waited for", "global_load_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v2", ""},
    {"a load is not waited for", "global_load_dword v2, v1, s[0:1]\nv_mov_b32 v3, v2",
     "global_load_dword|v_mov_b32|v2|vmcnt"},
    {"stores count in vmcnt too", R"(
      global_load_dword v2, v1, s[0:1]
      global_store_dword v1, v1, s[2:3]
      s_waitcnt vmcnt(1)
      v_mov_b32 v4, v2)",
     ""},
    {"the high bits of vmcnt", "global_load_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(16)\nv_mov_b32 v3, v2",
     "global_load_dword|v_mov_b32|v2|vmcnt"},
    {"FLAT returns in any order", R"(
      v_mov_b32 v3, s1
      v_add_co_u32 v2, vcc, v1, s0
      flat_load_dword v4, v[2:3]
      global_load_dword v5, v1, s[0:1]
      s_waitcnt vmcnt(1) lgkmcnt(0)
      v_mov_b32 v6, v4)",
     "flat_load_dword|v_mov_b32|v4|vmcnt and lgkmcnt"},
    {"an accumulation register", "global_load_dword a2, v1, s[0:1]\nv_accvgpr_read_b32 v3, a2",
     "global_load_dword|v_accvgpr_read|a2|vmcnt"},
    {"the same, waited for",
     "global_load_dword a2, v1, s[0:1]\ns_waitcnt vmcnt(0)\nv_accvgpr_read_b32 v3, a2", ""},
    {"memory to LDS", R"(
      s_mov_b32 m0, 0
      s_nop 1
      buffer_load_dword v1, s[4:7], 0 offen lds
      ds_read_b32 v2, v1
      s_waitcnt vmcnt(0) lgkmcnt(0))",
     "buffer_load_dword|ds_read_b32|LDS byte 0x0|vmcnt"},
    {"memory to LDS, waited for", R"(
      s_mov_b32 m0, 0
      s_nop 1
      buffer_load_dword v1, s[4:7], 0 offen lds
      s_waitcnt vmcnt(0)
      ds_read_b32 v2, v1
      s_waitcnt lgkmcnt(0))",
     ""},
};

TEST(Waits, Cdna) {
  for (Isa isa : {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    SCOPED_TRACE(IsaName(isa));
    for (const Case& c : kCdnaCases) {
      // A descriptor of the input buffer: 1 KiB, no stride.
      Case with = c;
      const std::string body =
          std::string("s_mov_b32 s4, s0\ns_mov_b32 s5, s1\ns_movk_i32 s6, 0x400\ns_mov_b32 s7, 0x20000\n") +
          c.body;
      with.body = body.c_str();
      Check(with, isa, 64);
    }
  }
}

constexpr Case kRdna4Cases[] = {
    {"loadcnt", "global_load_b32 v2, v1, s[0:1]\ns_wait_loadcnt 0x0\nv_mov_b32 v3, v2", ""},
    {"dscnt covers no load from memory", "global_load_b32 v2, v1, s[0:1]\ns_wait_dscnt 0x0\nv_mov_b32 v3, v2",
     "global_load_b32|v_mov_b32|v2|loadcnt"},
    {"kmcnt", "s_load_b32 s4, s[0:1], 0x0\ns_wait_kmcnt 0x0\ns_mov_b32 s5, s4", ""},
    {"dscnt covers no scalar load", "s_load_b32 s4, s[0:1], 0x0\ns_wait_dscnt 0x0\ns_mov_b32 s5, s4",
     "s_load_b32|s_mov_b32|s4|kmcnt"},
    {"one of two LDS loads", "ds_load_b32 v2, v1\nds_load_b32 v3, v1\ns_wait_dscnt 0x1\nv_mov_b32 v4, v2",
     ""},
    {"both counters in one instruction", R"(
      global_load_b32 v2, v1, s[0:1]
      ds_load_b32 v3, v1
      s_wait_loadcnt_dscnt 0x0
      v_add_nc_u32 v4, v2, v3)",
     ""},
    {"each has its own limit", R"(
      global_load_b32 v2, v1, s[0:1]
      ds_load_b32 v3, v1
      s_wait_loadcnt_dscnt 0x1
      v_mov_b32 v4, v3)",
     "ds_load_b32|v_mov_b32|v3|dscnt"},
    {"the other one's is 0", R"(
      global_load_b32 v2, v1, s[0:1]
      ds_load_b32 v3, v1
      s_wait_loadcnt_dscnt 0x1
      v_mov_b32 v4, v2)",
     ""},
    {"s_wait_idle",
     "s_load_b32 s4, s[0:1], 0x0\nglobal_load_b32 v2, v1, s[0:1]\ns_wait_idle\nv_add_nc_u32 v3, v2, s4", ""},
};

TEST(Waits, Rdna4) {
  for (const Case& c : kRdna4Cases) Check(c, Isa::kRdna4, 32);
}

// The value really is not there: what a wrong program computes differs from what memory held.
TEST(Waits, AMissingWaitGivesPoisonAndTheWaitGivesTheValue) {
  const std::string load = "global_load_b32 v2, v1, s[0:1]\n", store = "global_store_b32 v1, v2, s[2:3]\n";
  const Found without = RunWith(CheckMode::kWarn, load + store);
  ASSERT_EQ(without.reports.size(), 1u);
  EXPECT_EQ(without.out[3], 0x7fa5deadu);
  const Found with = RunWith(CheckMode::kWarn, load + "s_waitcnt vmcnt(0)\n" + store);
  EXPECT_TRUE(with.reports.empty());
  EXPECT_EQ(with.out[3], 103u);
  const Found off = RunWith(CheckMode::kOff, load + store);
  EXPECT_TRUE(off.reports.empty());
  EXPECT_EQ(off.out[3], 103u);
}

// A value that arrives after its register was overwritten overwrites it again.
TEST(Waits, ALateResultWins) {
  const Found found = RunWith(CheckMode::kWarn, R"(
    global_load_b32 v2, v1, s[0:1]
    v_mov_b32 v2, 7
    s_waitcnt vmcnt(0)
    global_store_b32 v1, v2, s[2:3])");
  ASSERT_EQ(found.reports.size(), 1u);
  EXPECT_EQ(found.out[5], 105u);
}

TEST(Waits, FailStopsTheDispatchAtTheReader) {
  KernelRunner runner;
  runner.AddBuffer(64);
  runner.options.checks.waits = CheckMode::kFail;
  runner.Program("s_load_b32 s4, s[0:1], 0x0\ns_add_u32 s5, s4, s4\ns_endpgm");
  const WaveFault fault = runner.RunToFault();
  EXPECT_EQ(fault.kind, FaultKind::kCheckWaits);
  EXPECT_EQ(fault.pc, KernelRunner::kProgramVa + 8);
  EXPECT_TRUE(absl::StrContains(
      fault.message.c_str(),
      "missing wait at pc 0x10008 (s_add_u32 s5, s4, s4) in workgroup (0,0,0) wave 0: reads "
      "s4, which 's_load_b32 s4, s[0:1], null' at pc 0x10000 has yet to write"))
      << fault.message;
}

TEST(Options, Parse) {
  CheckOptions options;
  std::string error;
  EXPECT_TRUE(options.Parse("waits:fail,races:warn", &error));
  EXPECT_EQ(options.waits, CheckMode::kFail);
  EXPECT_EQ(options.races, CheckMode::kWarn);
  EXPECT_EQ(options.hazards, CheckMode::kOff);
  EXPECT_TRUE(options.Parse("all:warn", &error));
  EXPECT_EQ(options.uninit, CheckMode::kWarn);
  EXPECT_FALSE(options.Parse("waits", &error));
  EXPECT_FALSE(options.Parse("speed:fail", &error));
  EXPECT_EQ(error, "check 'speed' is unknown, expected waits, hazards, uninit, races or all");
}

}  // namespace
}  // namespace understudy::emu::amd
