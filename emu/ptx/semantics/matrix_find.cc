// SPDX-License-Identifier: Apache-2.0
// Which matrix instructions there are and who executes them.
#include "emu/ptx/semantics/find_exec.h"
#include "emu/ptx/semantics/matrix_plan.h"

namespace understudy::emu::ptx {

Exec FindMatrixExec(const Instruction& inst, const ExecContext&) {
  Exec exec;
  const bool product = inst.op == Op::kMma || (inst.op == Op::kWmma && inst.Has("mma")) ||
                       (inst.op == Op::kWgmma && inst.Has("mma_async"));
  if (product) {
    std::string reason;
    const MatrixPlan* plan = FindMatrixPlan(inst, &reason);
    if (plan == nullptr) {
      exec.note = inst.Name() + ": " + reason;
      return exec;
    }
    exec.fn = inst.op == Op::kWgmma ? ExecuteWgmma : ExecuteMma;
    exec.aux[0] = reinterpret_cast<uint64_t>(plan);
    exec.state = SemanticState::kExact;
  } else if (inst.op == Op::kTcgen05) {
    exec.note = inst.Name() + ": tensor memory and its matrix unit are sm_100's; sm_90 is what is emulated";
  } else if (inst.op == Op::kWgmma) {
    exec.fn = ExecuteWgmmaSync;
    exec.state = SemanticState::kExact;
  }
  return exec;
}

}  // namespace understudy::emu::ptx
