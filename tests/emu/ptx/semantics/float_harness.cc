// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/ptx/semantics/float_harness.h"

#include <algorithm>

namespace understudy::emu::ptx {

Src FloatHarness::AddRow(int bits) {
  Src s;
  s.offset = used_;
  s.bytes = static_cast<uint8_t>(bits == 1 ? 0 : bits / 8);
  used_ += 256;
  return s;
}

FloatHarness::FloatHarness(const std::string& name, const std::vector<int>& registers) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    words.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  text_.modifiers.assign(words.begin() + 1, words.end());
  for (const std::string& m : text_.modifiers) {
    Type type;
    if (FindType(m, &type)) text_.types.push_back(type);
  }
  memory_.resize(16 * 32);
  elements_.resize(registers.size());
  for (size_t i = 0; i < registers.size(); ++i) {
    Operand operand;
    BoundOperand bound;
    if (registers[i] < 0 || (i == 0 && registers[i] == 2)) {
      const bool pair = registers[i] == 2;
      const int count = pair ? 2 : -registers[i];
      operand.kind = bound.kind = pair ? Operand::Kind::kPredicatePair : Operand::Kind::kVector;
      for (int k = 0; k < count; ++k) {
        BoundOperand element;
        element.kind = Operand::Kind::kRegister;
        element.row = AddRow(pair ? 1 : 32);
        elements_[i].push_back(element);
        if (i > 0) flat_sources_.push_back(element.row);
      }
      bound.elements = elements_[i].data();
      bound.num_elements = static_cast<uint16_t>(count);
    } else {
      operand.kind = bound.kind = Operand::Kind::kRegister;
      operand.index = static_cast<int>(function_.registers.size());
      const int bits = registers[i];
      function_.registers.push_back({"%x", bits == 1    ? Type::kPred
                                           : bits == 8  ? Type::kB8
                                           : bits == 16 ? Type::kB16
                                           : bits == 32 ? Type::kB32
                                                        : Type::kB64});
      bound.row = AddRow(bits);
      if (i > 0) flat_sources_.push_back(bound.row);
    }
    text_.operands.push_back(operand);
    operands_.push_back(bound);
  }
  if (!FindOp(words[0], &text_.op)) return;
  ExecContext context;
  context.function = &function_;
  exec_ = FindFloatExec(text_, context);
  inst_.exec = exec_.fn;
  inst_.num_operands = static_cast<uint16_t>(operands_.size());
  inst_.operands = operands_.data();
  inst_.aux[0] = exec_.aux[0];
  inst_.aux[1] = exec_.aux[1];
  inst_.text = &text_;
  warp_.base[0] = reinterpret_cast<uint8_t*>(memory_.data());
  warp_.fault = &fault_;
}

void FloatHarness::Fill(const std::vector<std::vector<uint64_t>>& sources) {
  const size_t lanes = sources.empty() ? 32 : sources[0].size();
  warp_.mask = lanes >= 32 ? ~0u : (1u << lanes) - 1;
  for (size_t i = 0; i < flat_sources_.size(); ++i)
    for (size_t lane = 0; lane < lanes; ++lane)
      warp_.SetLane(flat_sources_[i], static_cast<int>(lane), sources[i][lane]);
}

std::vector<uint64_t> FloatHarness::Run(const std::vector<std::vector<uint64_t>>& sources, uint64_t before) {
  Fill(sources);
  for (int lane = 0; lane < kWarpSize; ++lane) warp_.SetLane(operands_[0].row, lane, before);
  exec_.fn(warp_, inst_);
  std::vector<uint64_t> out;
  for (int lane = 0; lane < kWarpSize; ++lane) out.push_back(warp_.Lane(operands_[0].row, lane));
  return out;
}

void FloatHarness::RunPair(const std::vector<std::vector<uint64_t>>& sources, uint32_t* p, uint32_t* q) {
  Fill(sources);
  exec_.fn(warp_, inst_);
  *p = *warp_.Dst32(elements_[0][0].row);
  *q = *warp_.Dst32(elements_[0][1].row);
}

}  // namespace understudy::emu::ptx
