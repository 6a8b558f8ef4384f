// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels with the checks on, for the tests of each check.

#include <string>
#include <vector>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {

struct Checked {
  LaunchFault fault;
  std::vector<CheckReport> reports;
  std::vector<uint32_t> values;

  // The messages of reports of a severity, one a line.
  std::string Errors(CheckSeverity severity = CheckSeverity::kError) const {
    std::string text;
    for (const CheckReport& report : reports)
      if (report.severity == severity) text += report.message + "\n";
    return text;
  }
};

// A kernel "k" with the usual registers: %r0 is the thread's number in its block, %o the address of `out`, %i
// that of the thread's own word in it. `body` begins on line 11 when `before` has no line.
inline std::string CheckKernel(const std::string& body, const std::string& before = "") {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p, %q, %s;\n.reg .b16 %h<8>;\n.reg .b32 "
         "%r<24>;\n"
         ".reg .f32 %f<16>;\n.reg .b64 %o, %i, %d<16>;\n"
         "ld.param.u64 %o, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %i, %r0, 4;\nadd.s64 %i, %o, %i;\n" +
         body + "\n}\n";
}

struct CheckSetup {
  std::string checks = "all:warn";
  uint32_t threads = 32;
  Dim3 grid = {}, cluster = {};
  uint32_t words = 256;  // of `out`
  uint32_t dynamic_shared = 0;
  uint64_t seed = 0;
};

inline Checked RunChecked(const std::string& ptx, const CheckSetup& setup = {}) {
  Checked checked;
  PtxRunner runner(ptx);
  EXPECT_TRUE(runner.status().ok()) << runner.status();
  if (!runner.status().ok()) return checked;
  std::string error;
  EXPECT_TRUE(runner.options.checks.Parse(setup.checks, &error)) << error;
  runner.options.instruction_budget = 1 << 24;
  runner.options.seed = setup.seed;
  runner.config.cluster = setup.cluster;
  runner.config.dynamic_shared_bytes = setup.dynamic_shared;
  const uint64_t out = runner.Allocate(uint64_t{setup.words} * 4, "out");
  const auto result = runner.Run("k", setup.grid, Dim3{setup.threads}, {out});
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return checked;
  checked.fault = result->fault;
  checked.reports = result->reports;
  checked.values = runner.Values<uint32_t>(out, setup.words);
  return checked;
}

}  // namespace understudy::emu::ptx
