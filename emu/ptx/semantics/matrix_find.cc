// SPDX-License-Identifier: Apache-2.0
// Which matrix instructions there are and who executes them.
#include "emu/ptx/semantics/find_exec.h"
#include "emu/ptx/semantics/matrix_plan.h"

namespace understudy::emu::ptx {

namespace {

// Rows are read and written at the width that the plan says: registers of another would lead past them. Empty
// when all are right.
std::string CheckWidths(const Instruction& inst, const ExecContext& context, const MatrixPlan& plan) {
  if (context.function == nullptr) return "";
  const auto check = [&](const Operand& operand, int bits, const char* name) -> std::string {
    const int given = context.OperandBits(operand);
    if (given == 0 || given == bits) return "";
    return std::string(name) + " is a register of " + std::to_string(given) + " bits, expected " +
           std::to_string(bits);
  };
  const auto check_all = [&](size_t index, int bits, const char* name) {
    if (index >= inst.operands.size()) return std::string(name) + " is missing";
    const Operand& operand = inst.operands[index];
    if (operand.kind != Operand::Kind::kVector) return check(operand, bits, name);
    for (const Operand& element : operand.elements) {
      const std::string wrong = check(element, bits, name);
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  };
  const auto width = [](Type type) { return type == Type::kF64 ? 64 : 32; };
  std::string wrong = check_all(0, width(plan.d_type), "D");
  if (inst.op == Op::kWgmma) {
    if (wrong.empty())
      wrong = check_all(1, plan.a_in_registers ? 32 : 64, plan.a_in_registers ? "A" : "A's descriptor");
    if (wrong.empty()) wrong = check_all(2, 64, "B's descriptor");
    if (wrong.empty() && plan.sparse) wrong = check_all(3, 32, "the metadata");
    if (wrong.empty()) wrong = check_all(plan.sparse ? 5 : 3, 1, "scale-d");
    return wrong;
  }
  if (wrong.empty()) wrong = check_all(1, width(plan.a_type), "A");
  if (wrong.empty()) wrong = check_all(2, width(plan.b_type), "B");
  if (wrong.empty()) wrong = check_all(3, width(plan.c_type), "C");
  if (wrong.empty() && plan.sparse) wrong = check_all(4, 32, "the metadata");
  return wrong;
}

}  // namespace

Exec FindMatrixExec(const Instruction& inst, const ExecContext& context) {
  const bool product = inst.op == Op::kMma || (inst.op == Op::kWmma && inst.Has("mma")) ||
                       (inst.op == Op::kWgmma && inst.Has("mma_async"));
  if (product) {
    std::string reason;
    const MatrixPlan* plan = FindMatrixPlan(inst, &reason);
    if (plan != nullptr) reason = CheckWidths(inst, context, *plan);
    if (!reason.empty()) return Refused(inst, reason);
    return Exact(inst.op == Op::kWgmma ? ExecuteWgmma : ExecuteMma, reinterpret_cast<uint64_t>(plan));
  }
  if (inst.op == Op::kTcgen05)
    return Refused(inst, "tensor memory and its matrix unit are sm_100's; sm_90 is what is emulated");
  if (inst.op == Op::kWgmma) return Exact(ExecuteWgmmaSync);
  return {};
}

}  // namespace understudy::emu::ptx
