// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the checks of one launch put what they find: one report a pair of instructions, bounded, and a fault
// where the check is set to fail.

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "emu/ptx/core/launch.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/core/warp.h"

namespace understudy::emu::ptx {

struct WarpState;

// A thread at an instruction, kept for later reports.
struct ThreadAt {
  const Inst* inst = nullptr;
  uint32_t cta = 0;  // Cta::ordinal
  uint16_t thread = 0;
};

class ReportSink {
 public:
  explicit ReportSink(Launch& launch) : launch_(launch), checks_(launch.options.checks) {}

  // A finding at the instruction that `warp` executes. `what` is the register, address or barrier, `problem`
  // the end of the sentence "<place>: ...". kFault when the check fails.
  ExecResult Add(CheckKind kind, CheckSeverity severity, WarpState& warp, const Inst& inst, int lane,
                 const std::string& what, const std::string& problem, const ThreadAt* other = nullptr);
  // A finding when a CTA has ended: there is no instruction to fault at.
  void AddAtEnd(CheckKind kind, CheckSeverity severity, WarpState& warp, const Inst* inst,
                const std::string& what, const std::string& problem);

  const std::vector<CheckReport>& reports() const { return reports_; }
  const LaunchFault& fault() const { return fault_; }
  // "line 12 'st.shared.u32 [%r1], %r2;' by thread (3,0,0) of CTA (0,0,0)".
  std::string Describe(const ThreadAt& at) const;

 private:
  // The function that the instruction is in, and where.
  const BoundFunction* FunctionOf(const Inst& inst, uint32_t* pc) const;
  bool Count(CheckKind kind, CheckSeverity severity, const Inst* inst, const Inst* other, size_t* index);
  void Fill(CheckKind kind, CheckSeverity severity, WarpState& warp, const Inst* inst, int lane,
            const std::string& what, const std::string& problem, const ThreadAt* other,
            CheckReport* report) const;

  Launch& launch_;
  const Checks checks_;
  std::vector<CheckReport> reports_;
  LaunchFault fault_;
  std::map<std::tuple<int, int, const Inst*, const Inst*>, size_t> seen_;
};

}  // namespace understudy::emu::ptx
