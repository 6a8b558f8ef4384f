// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/ptx/mma/matrix_machine.h"

#include <sstream>

namespace understudy::emu::ptx {

MatrixMachine::MatrixMachine(const std::string& name, const std::vector<Arg>& args, int warps) {
  std::istringstream parts(name);
  std::string part;
  std::getline(parts, part, '.');
  if (!FindOp(part, &text_.op)) return;
  while (std::getline(parts, part, '.')) {
    text_.modifiers.push_back(part);
    Type type;
    if (FindType(part, &type)) text_.types.push_back(type);
  }
  uint32_t bytes = 0;
  const auto row = [&](int bits) {
    Src src;
    src.offset = bytes;
    src.bytes = static_cast<uint8_t>(bits == 1 ? 0 : bits / 8);
    bytes += 32 * 8;
    return src;
  };
  for (const Arg& arg : args) {
    Operand operand;
    BoundOperand bound;
    if (arg.is_constant) {
      operand.kind = bound.kind = Operand::Kind::kImmediate;
      operand.bits = static_cast<uint64_t>(arg.constant);
      bound.row = row(32);
    } else if (arg.count == 0) {
      operand.kind = bound.kind = Operand::Kind::kRegister;
      bound.row = row(arg.bits);
    } else {
      operand.kind = bound.kind = Operand::Kind::kVector;
      operand.elements.resize(arg.count);
      elements_.emplace_back(arg.count);
      for (BoundOperand& element : elements_.back()) {
        element.kind = Operand::Kind::kRegister;
        element.row = row(arg.bits);
      }
      for (Operand& element : operand.elements) element.kind = Operand::Kind::kRegister;
      bound.elements = elements_.back().data();
      bound.num_elements = static_cast<uint16_t>(arg.count);
    }
    text_.operands.push_back(operand);
    operands_.push_back(bound);
  }
  rows_.assign(warps, std::vector<uint64_t>(bytes / 8));
  exec_ = FindMatrixExec(text_, {});
  inst_.exec = exec_.fn;
  inst_.num_operands = static_cast<uint16_t>(operands_.size());
  inst_.operands = operands_.data();
  inst_.aux[0] = exec_.aux[0];
  inst_.aux[1] = exec_.aux[1];
  inst_.text = &text_;
}

const Src& MatrixMachine::RowOf(int arg, int reg) const {
  const BoundOperand& operand = operands_[arg];
  return operand.kind == Operand::Kind::kVector ? operand.elements[reg].row : operand.row;
}

void MatrixMachine::Set(int arg, int reg, int lane, uint64_t value) {
  Warp warp;
  warp.base[Src::kFrame] = reinterpret_cast<uint8_t*>(rows_[lane / 32].data());
  warp.SetLane(RowOf(arg, reg), lane % 32, value);
}

uint64_t MatrixMachine::Get(int arg, int reg, int lane) const {
  Warp warp;
  warp.base[Src::kFrame] = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(rows_[lane / 32].data()));
  return warp.Lane(RowOf(arg, reg), lane % 32);
}

std::string MatrixMachine::Run(uint32_t mask) {
  if (exec_.fn == nullptr) return "refused: " + exec_.note;
  for (size_t i = 0; i < rows_.size(); ++i) {
    Warp warp;
    warp.base[Src::kFrame] = reinterpret_cast<uint8_t*>(rows_[i].data());
    warp.mask = mask;
    warp.lanes = ~0u;
    warp.index = static_cast<uint32_t>(i);
    warp.shared = shared_.data();
    warp.shared_bytes = static_cast<uint32_t>(shared_.size());
    warp.fault = &fault_;
    if (exec_.fn(warp, inst_) != ExecResult::kNext) return fault_.message;
  }
  return "";
}

}  // namespace understudy::emu::ptx
