// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/check/report_sink.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace understudy::emu::amd::check {
namespace {

constexpr FaultKind kFaults[kCheckKinds] = {FaultKind::kCheckWaits, FaultKind::kCheckHazards,
                                            FaultKind::kCheckUninit, FaultKind::kCheckRaces};

}  // namespace

ExecResult ReportSink::Add(CheckKind check, WaveState& wave, const Facts& facts, const Facts* other,
                           int other_wave, int lane, const std::string& what, const std::string& problem) {
  const bool fails = options_.mode(check) == CheckMode::kFail;
  const uint64_t other_pc = other == nullptr ? 0 : other->pc;
  const bool fresh = seen_.insert({static_cast<int>(check), facts.pc, other_pc}).second;
  if (fresh && reports_.size() < options_.max_reports) {
    CheckReport report;
    report.check = check;
    report.pc = facts.pc;
    report.text = facts.Text();
    report.other_pc = other_pc;
    if (other != nullptr) report.other_text = other->Text();
    std::copy(std::begin(wave.workgroup), std::end(wave.workgroup), report.workgroup);
    report.wave = wave.wave_in_group;
    report.other_wave = other_wave;
    report.lane = lane;
    report.what = what;
    report.message = absl::StrFormat(
        "%s at pc 0x%x (%s) in workgroup (%d,%d,%d) wave %d", FaultKindName(kFaults[static_cast<int>(check)]),
        facts.pc, report.text, report.workgroup[0], report.workgroup[1], report.workgroup[2], report.wave);
    if (lane >= 0) absl::StrAppendFormat(&report.message, " lane %d", lane);
    absl::StrAppendFormat(&report.message, ": %s", problem);
    reports_.push_back(std::move(report));
  }
  if (!fails) return ExecResult::kNext;
  return RaiseFault(wave, kFaults[static_cast<int>(check)], lane, problem);
}

}  // namespace understudy::emu::amd::check
