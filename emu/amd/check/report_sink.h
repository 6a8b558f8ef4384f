// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the checks of one dispatch put what they find: one report a pair of instructions, bounded, and a
// fault of the wave where the check is set to fail.

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emu/amd/check/facts.h"
#include "emu/amd/check/options.h"
#include "emu/amd/core/wave_state.h"

namespace understudy::emu::amd::check {

class ReportSink {
 public:
  explicit ReportSink(const CheckOptions& options) : options_(options) {}

  // `what` is the register or address, `problem` the end of the sentence "<text> ...". `other` may be null.
  // kFault when the check fails.
  ExecResult Add(CheckKind check, WaveState& wave, const Facts& facts, const Facts* other, int other_wave,
                 int lane, const std::string& what, const std::string& problem);

  const std::vector<CheckReport>& reports() const { return reports_; }

 private:
  const CheckOptions options_;
  std::vector<CheckReport> reports_;
  std::set<std::tuple<int, uint64_t, uint64_t>> seen_;
};

}  // namespace understudy::emu::amd::check
