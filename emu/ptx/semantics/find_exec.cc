// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

Exec FindExec(const Instruction& inst, const ExecContext& context) {
  // Special functions before floats: both know rcp, sqrt and div, of which the first takes the approximate
  // ones.
  constexpr decltype(&FindIntegerExec) kFamilies[] = {FindControlExec,         FindMemoryExec,
                                                      FindSpecialFunctionExec, FindMatrixExec,
                                                      FindIntegerExec,         FindFloatExec};
  for (auto* family : kFamilies) {
    Exec exec = family(inst, context);
    if (exec.fn != nullptr || !exec.note.empty()) return exec;
  }
  Exec refused;
  refused.note = inst.Name() + " is not implemented";
  return refused;
}

}  // namespace understudy::emu::ptx
