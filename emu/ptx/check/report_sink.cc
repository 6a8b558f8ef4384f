// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/check/report_sink.h"

#include "absl/strings/str_format.h"
#include "emu/ptx/core/cta.h"
#include "emu/ptx/core/fault_report.h"

namespace understudy::emu::ptx {
namespace {

Dim3 Split(uint64_t linear, Dim3 size) {
  return Dim3{static_cast<uint32_t>(linear % size.x), static_cast<uint32_t>(linear / size.x % size.y),
              static_cast<uint32_t>(linear / size.x / size.y)};
}

}  // namespace

const BoundFunction* ReportSink::FunctionOf(const Inst& inst, uint32_t* pc) const {
  for (const BoundFunction& function : launch_.program->functions()) {
    if (function.code.empty() || &inst < function.code.data() ||
        &inst >= function.code.data() + function.code.size())
      continue;
    *pc = static_cast<uint32_t>(&inst - function.code.data());
    return &function;
  }
  return nullptr;
}

std::string ReportSink::Describe(const ThreadAt& at) const {
  uint32_t pc = 0;
  const BoundFunction* function = FunctionOf(*at.inst, &pc);
  if (function == nullptr || at.inst->text == nullptr) return "another instruction";
  const Module& module = launch_.program->module();
  const int line = at.inst->text->location.line;
  const std::string text = module.SourceLine(line);
  const Dim3 thread = Split(at.thread, launch_.config.block), cta = Split(at.cta, launch_.config.grid);
  std::string who = at.thread < launch_.threads_per_cta
                        ? absl::StrFormat("thread (%d,%d,%d)", thread.x, thread.y, thread.z)
                        : std::string("an asynchronous copy");
  return absl::StrFormat("line %d '%s' by %s of CTA (%d,%d,%d)", line,
                         text.empty() ? at.inst->text->Name() : text, who, cta.x, cta.y, cta.z);
}

bool ReportSink::Count(CheckKind kind, CheckSeverity severity, const Inst* inst, const Inst* other,
                       size_t* index) {
  const auto [it, fresh] =
      seen_.try_emplace({static_cast<int>(kind), static_cast<int>(severity), inst, other}, reports_.size());
  *index = it->second;
  if (!fresh && it->second < reports_.size()) ++reports_[it->second].count;
  if (fresh && reports_.size() >= checks_.max_reports) it->second = ~size_t{0};
  return fresh && reports_.size() < checks_.max_reports;
}

void ReportSink::Fill(CheckKind kind, CheckSeverity severity, WarpState& warp, const Inst* inst, int lane,
                      const std::string& what, const std::string& problem, const ThreadAt* other,
                      CheckReport* report) const {
  report->kind = kind;
  report->severity = severity;
  report->check = CheckKindName(kind);
  report->what = what;
  uint32_t pc = warp.pc;
  const BoundFunction* function = inst != nullptr ? FunctionOf(*inst, &pc) : nullptr;
  if (function == nullptr) function = warp.frame != nullptr ? warp.frame->function : launch_.kernel;
  SetPlace(warp, launch_, *function, pc, lane, &report->where);
  report->where.kind = FaultKind::kCheck;
  report->message = absl::StrFormat("%s: %s; %s", report->check, problem, PlaceText(report->where, launch_));
  report->where.message = report->message;
  if (other == nullptr || other->inst == nullptr || other->inst->text == nullptr) return;
  LaunchFault& place = report->other;
  const BoundFunction* first = FunctionOf(*other->inst, &place.pc);
  if (first == nullptr) return;
  place.kernel = launch_.kernel->text->name;
  place.function = first->text->name;
  place.location = other->inst->text->location;
  place.text = launch_.program->module().SourceLine(place.location.line);
  place.cta = Split(other->cta, launch_.config.grid);
  place.warp = other->thread / kWarpSize;
  place.lane = other->thread % kWarpSize;
  place.thread = Split(other->thread, launch_.config.block);
}

ExecResult ReportSink::Add(CheckKind kind, CheckSeverity severity, WarpState& warp, const Inst& inst,
                           int lane, const std::string& what, const std::string& problem,
                           const ThreadAt* other) {
  size_t index = 0;
  // A warp-synchronous instruction whose operands were gathered stands for the one at the warp's place.
  const Inst* at = &inst;
  uint32_t pc = 0;
  if (FunctionOf(inst, &pc) == nullptr && warp.frame != nullptr) at = &warp.frame->function->code[warp.pc];
  const bool fresh = Count(kind, severity, at, other != nullptr ? other->inst : nullptr, &index);
  if (fresh) {
    reports_.emplace_back();
    Fill(kind, severity, warp, at, lane, what, problem, other, &reports_.back());
  }
  if (severity == CheckSeverity::kWarning || checks_.level(kind) != CheckLevel::kFail)
    return ExecResult::kNext;
  return warp.Fail(FaultKind::kCheck, lane, std::string(CheckKindName(kind)) + ": " + problem);
}

void ReportSink::AddAtEnd(CheckKind kind, CheckSeverity severity, WarpState& warp, const Inst* inst,
                          const std::string& what, const std::string& problem) {
  size_t index = 0;
  CheckReport report;
  const bool fresh = Count(kind, severity, inst, nullptr, &index);
  if (!fresh && fault_.kind != FaultKind::kNone) return;
  Fill(kind, severity, warp, inst, -1, what, problem, nullptr, &report);
  if (fresh) reports_.push_back(report);
  if (severity == CheckSeverity::kError && checks_.level(kind) == CheckLevel::kFail &&
      fault_.kind == FaultKind::kNone)
    fault_ = report.where;
}

}  // namespace understudy::emu::ptx
