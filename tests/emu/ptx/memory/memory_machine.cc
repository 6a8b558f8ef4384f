// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/ptx/memory/memory_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>

#include "emu/ptx/parse/parse.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint32_t kRowBytes = 32 * 16;

std::string ModuleText(const std::string& target, const std::string& body) {
  return ".version 8.8\n.target " + target +
         "\n.address_size 64\n"
         ".visible .entry k(.param .b64 p0, .param .b32 p1, .param .align 8 .b8 p2[64]) {\n"
         ".reg .pred %p<8>; .reg .b8 %c<8>; .reg .b16 %h<8>; .reg .b32 %r<64>; .reg .b64 %d<64>;\n"
         ".reg .b128 %q<4>; .reg .f32 %f<8>; .reg .f64 %g<8>;\n"
         ".shared .align 1024 .b8 smem[4096]; .local .align 16 .b8 tmp[64]; .param .align 16 .b8 "
         "call[64];\n" +
         body + "\nret;\n}\n";
}

}  // namespace

struct MemoryMachine::WarpParts {
  Warp warp;
  std::vector<uint64_t> rows, local;
  std::vector<uint8_t> params;
  BoundFunction function;
  Frame frame;
};

MemoryMachine::MemoryMachine(Shape shape) : shape_(shape), translator_(&space_), params_(80) {
  cluster_.num_ctas = static_cast<uint32_t>(shape.ctas);
  struct File {
    const char* prefix;
    int count;
    uint8_t bytes;
  };
  for (const File& file : {File{"%p", 8, 0}, File{"%c", 8, 1}, File{"%h", 8, 2}, File{"%r", 64, 4},
                           File{"%d", 64, 8}, File{"%q", 4, 16}, File{"%f", 8, 4}, File{"%g", 8, 8}})
    for (int i = 0; i < file.count; ++i) {
      Src row;
      row.offset = static_cast<uint32_t>(rows_.size()) * kRowBytes;
      row.bytes = file.bytes;
      registers_[file.prefix + std::to_string(i)] = static_cast<int>(rows_.size());
      rows_.push_back(row);
    }
  row_bytes_ = static_cast<uint32_t>(rows_.size()) * kRowBytes;
  for (int c = 0; c < shape.ctas; ++c) {
    auto cta = std::make_unique<Cta>();
    cta->cluster = &cluster_;
    cta->rank = static_cast<uint32_t>(c);
    cta->shared_bytes = shape.shared_bytes;
    cta->shared_storage.resize(shape.shared_bytes / 8 + 128);
    const auto start = reinterpret_cast<uintptr_t>(cta->shared_storage.data());
    cta->shared = reinterpret_cast<uint8_t*>((start + 1023) & ~uintptr_t{1023});
    for (int i = 0; i < shape.warps; ++i) {
      auto parts = std::make_unique<WarpParts>();
      parts->rows.resize(row_bytes_ / 8);
      parts->local.resize(size_t{shape.local_bytes} * 32 / 8);
      parts->params.resize(64 * 32);
      parts->function.param_bytes = 64;
      parts->frame.function = &parts->function;
      parts->frame.params = parts->params.data();
      Warp& w = parts->warp;
      w.base[0] = reinterpret_cast<uint8_t*>(parts->rows.data());
      w.frame = &parts->frame;
      w.cta = cta.get();
      w.index = static_cast<uint32_t>(i);
      w.lanes = ~0u;
      w.mem = &translator_;
      w.shared = cta->shared;
      w.shared_bytes = cta->shared_bytes;
      w.local = reinterpret_cast<uint8_t*>(parts->local.data());
      w.local_bytes = shape.local_bytes;
      w.fault = &fault_;
      warps_.push_back(std::move(parts));
    }
    cluster_.ctas.push_back(std::move(cta));
  }
}

MemoryMachine::~MemoryMachine() = default;

MemoryMachine::WarpParts& MemoryMachine::current() { return *warps_[selected_]; }

uint8_t* MemoryMachine::Map(uint64_t address, uint64_t bytes, const std::string& label) {
  memory_.push_back(std::make_unique<uint8_t[]>(bytes + 128));
  auto* host =
      reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory_.back().get()) + 127) & ~uintptr_t{127});
  std::memset(host, 0, bytes);
  EXPECT_TRUE(space_.Map(address, bytes, host, Perm::kReadWrite, label).ok());
  return host;
}
uint8_t* MemoryMachine::shared(int cta) { return cluster_.ctas[cta]->shared; }
uint8_t* MemoryMachine::local(int cta, int warp) { return warps_[cta * shape_.warps + warp]->warp.local; }
void MemoryMachine::Select(int cta, int warp) { selected_ = cta * shape_.warps + warp; }

Src MemoryMachine::RowOf(int index) const { return rows_[static_cast<size_t>(index)]; }
void MemoryMachine::Set(const std::string& reg, int lane, uint64_t value) {
  current().warp.SetLane(RowOf(registers_.at(reg)), lane, value);
}
void MemoryMachine::SetAll(const std::string& reg, uint64_t value) {
  for (int lane = 0; lane < 32; ++lane) Set(reg, lane, value);
}
uint64_t MemoryMachine::Get(const std::string& reg, int lane) {
  return current().warp.Lane(RowOf(registers_.at(reg)), lane);
}
uint32_t MemoryMachine::Pred(const std::string& reg) {
  return *current().warp.U32(RowOf(registers_.at(reg)));
}
void MemoryMachine::Set128(const std::string& reg, int lane, uint64_t low, uint64_t high) {
  uint64_t* row = current().warp.Dst64(RowOf(registers_.at(reg)));
  row[lane] = low;
  row[32 + lane] = high;
}
uint64_t MemoryMachine::High(const std::string& reg, int lane) {
  return current().warp.U64(RowOf(registers_.at(reg)))[32 + lane];
}

std::shared_ptr<const Module> MemoryMachine::ParseBody(const std::string& body, std::string* error) {
  ParseResult result = Parse(ModuleText(shape_.target, body));
  *error = result.Text();
  return result.module;
}

Exec MemoryMachine::Find(const std::string& body) {
  std::string error;
  const std::shared_ptr<const Module> module = ParseBody(body, &error);
  EXPECT_NE(module, nullptr) << error;
  if (module == nullptr) return {};
  ExecContext context{module.get(), &module->functions[0]};
  return FindMemoryExec(module->functions[0].body[0], context);
}

ExecResult MemoryMachine::Run(const std::string& body, uint32_t mask) {
  std::string error;
  const std::shared_ptr<const Module> module = ParseBody(body, &error);
  EXPECT_NE(module, nullptr) << error;
  if (module == nullptr) return ExecResult::kFault;
  const Function& function = module->functions[0];
  ExecContext context{module.get(), &function};
  Warp& w = current().warp;
  w.kernel_params = params_.data();
  w.kernel_param_bytes = static_cast<uint32_t>(params_.size());
  ExecResult result = ExecResult::kNext;
  for (const Instruction& text : function.body) {
    if (text.op == Op::kRet) break;
    std::vector<uint64_t> constants;
    std::deque<std::vector<BoundOperand>> lists;
    constants.reserve(64 * 64);
    const auto constant = [&](uint64_t value) {
      Src row;
      row.base = Src::kConstant;
      row.bytes = 8;
      row.offset = static_cast<uint32_t>(constants.size() * 8);
      constants.insert(constants.end(), 32, value);
      return row;
    };
    const auto variable = [&](const Operand& operand, BoundOperand* out) {
      out->scope = operand.scope;
      if (operand.scope == Operand::Scope::kParameter) {
        constexpr uint64_t kOffsets[] = {0, 8, 16};
        out->space = Space::kParam;
        return kOffsets[operand.index];
      }
      out->space = function.variables[static_cast<size_t>(operand.index)].space;
      return uint64_t{0};  // the first of its space
    };
    const auto bind = [&](const auto& self, const Operand& operand) -> BoundOperand {
      BoundOperand bound;
      bound.kind = operand.kind;
      switch (operand.kind) {
        case Operand::Kind::kRegister:
          bound.row = RowOf(registers_.at(function.registers[static_cast<size_t>(operand.index)].name));
          bound.row.negated = operand.negated;
          break;
        case Operand::Kind::kImmediate:
          bound.row = constant(operand.bits);
          break;
        case Operand::Kind::kFloat: {
          uint64_t bits = operand.bits;
          if (!operand.is_f32 && TypeBits(text.type()) == 32)
            bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
          bound.row = constant(bits);
          break;
        }
        case Operand::Kind::kAddress:
          bound.offset = operand.offset;
          if (operand.base_kind == Operand::Base::kRegister)
            bound.row = RowOf(registers_.at(function.registers[static_cast<size_t>(operand.index)].name));
          else if (operand.base_kind == Operand::Base::kVariable)
            bound.row = constant(variable(operand, &bound));
          else
            bound.row = constant(0);
          break;
        case Operand::Kind::kVariable:
          bound.row = constant(variable(operand, &bound));
          bound.offset = operand.offset;
          break;
        case Operand::Kind::kVector:
        case Operand::Kind::kTensor:
        case Operand::Kind::kPredicatePair: {
          std::vector<BoundOperand> list;
          for (const Operand& element : operand.elements) list.push_back(self(self, element));
          lists.push_back(std::move(list));
          bound.elements = lists.back().data();
          bound.num_elements = static_cast<uint16_t>(lists.back().size());
          break;
        }
        default:
          break;
      }
      return bound;
    };
    std::vector<BoundOperand> operands;
    for (const Operand& operand : text.operands) operands.push_back(bind(bind, operand));
    const Exec exec = FindMemoryExec(text, context);
    EXPECT_NE(exec.fn, nullptr) << text.Name() << ": " << exec.note;
    if (exec.fn == nullptr) return ExecResult::kFault;
    Inst inst;
    inst.exec = exec.fn;
    inst.aux[0] = exec.aux[0];
    inst.aux[1] = exec.aux[1];
    inst.operands = operands.data();
    inst.num_operands = static_cast<uint16_t>(operands.size());
    inst.text = &text;
    w.base[1] = reinterpret_cast<uint8_t*>(constants.data());
    w.mask = mask;
    if (text.has_guard) {
      Src guard = RowOf(registers_.at(function.registers[static_cast<size_t>(text.guard)].name));
      guard.negated = text.guard_negated;
      w.mask &= w.Pred(guard);
    }
    fault_ = Fault{};
    result = exec.fn(w, inst);
    if (result == ExecResult::kFault || result == ExecResult::kRetry) return result;
  }
  return result;
}

}  // namespace understudy::emu::ptx
