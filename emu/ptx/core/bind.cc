// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/bind.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "emu/ptx/core/contract.h"
#include "emu/ptx/core/operand_width.h"
#include "emu/ptx/core/postdominators.h"
#include "emu/ptx/core/special_registers.h"
#include "emu/ptx/core/wrappers.h"
#include "emu/ptx/semantics/find_exec.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::emu::ptx {
namespace {

using Builtin = BoundFunction::Builtin;

Builtin FindBuiltin(const std::string& name) {
  if (name == "vprintf") return Builtin::kVprintf;
  if (name == "malloc") return Builtin::kMalloc;
  if (name == "free") return Builtin::kFree;
  if (name == "__assertfail") return Builtin::kAssertFail;
  return Builtin::kNone;
}

// Instructions that all lanes of a member mask execute together.
bool IsWarpSynchronous(const Instruction& inst, int16_t* member_mask) {
  *member_mask = -1;
  switch (inst.op) {
    case Op::kMma:
    case Op::kWmma:
    case Op::kLdmatrix:
    case Op::kStmatrix:
    case Op::kMovmatrix:
    case Op::kWgmma:
      return true;
    case Op::kShfl:
      *member_mask = 4;
      break;
    case Op::kVote:
    case Op::kMatch:
    case Op::kRedux:
      *member_mask = 2;
      break;
    case Op::kElect:
      *member_mask = 1;
      break;
    case Op::kBar:
    case Op::kBarrier:
      *member_mask = 0;
      return inst.Has("warp");
    default:
      return false;
  }
  return inst.Has("sync");
}

bool HasDestination(const Instruction& inst) {
  return inst.op != Op::kBar && inst.op != Op::kBarrier && inst.op != Op::kStmatrix &&
         !inst.operands.empty() && !(inst.op == Op::kWmma && inst.Has("store"));
}

class FunctionBinder {
 public:
  FunctionBinder(Program::Impl* program, const SymbolAddresses& addresses, BoundFunction* function)
      : program_(*program), addresses_(addresses), bound_(*function), text_(*function->text) {}

  absl::Status Run() {
    if (text_.is_declaration) return absl::OkStatus();
    PlaceRows();
    std::vector<Flow> flow;
    for (size_t i = 0; i < text_.body.size(); ++i) {
      Inst inst;
      absl::Status status = BindInstruction(text_.body[i], &inst);
      if (!status.ok())
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s:%d: %s", program_.module->name, text_.body[i].location.line, std::string(status.message())));
      bound_.code.push_back(inst);
      flow.push_back(FlowOf(text_.body[i]));
    }
    Inst end;
    end.exec = EndExec;
    bound_.code.push_back(end);
    Flow leave;
    leave.falls_through = false;
    leave.leaves = true;
    flow.push_back(leave);
    if (program_.options.contract) Contract(flow);
    const std::vector<uint32_t> points = ReconvergencePoints(flow);
    for (size_t i = 0; i < points.size(); ++i) bound_.code[i].reconverge = points[i];
    bound_.frame_bytes = static_cast<uint32_t>(AlignUp(used_, 64));
    bound_.local_bytes = static_cast<uint32_t>(AlignUp(local_end_, 16));
    return absl::OkStatus();
  }

 private:
  // Predicates together, then rows by width.
  void PlaceRows() {
    // Sinks: 512 bytes that nobody reads.
    used_ = 512;
    bound_.registers.resize(text_.registers.size());
    const auto place = [&](bool predicates) {
      for (size_t i = 0; i < text_.registers.size(); ++i) {
        Src& row = bound_.registers[i];
        row.bytes = RowBytes(text_.registers[i].type);
        if ((row.bytes == 0) != predicates) continue;
        row.offset = used_;
        used_ += row.bytes == 0 ? 4 : row.bytes <= 4 ? 128 : row.bytes == 8 ? 256 : 512;
      }
    };
    place(true);
    used_ = static_cast<uint32_t>(AlignUp(used_, 64));
    place(false);
    uint64_t param_end = 0;
    if (!text_.is_entry) {
      bound_.parameter_offsets = PlaceVariables(text_.parameters, Space::kParam, &param_end);
      bound_.return_offsets = PlaceVariables(text_.returns, Space::kParam, &param_end);
    } else {
      uint64_t block_end = 0;
      bound_.parameter_offsets = PlaceVariables(text_.parameters, Space::kParam, &block_end);
    }
    bound_.variable_offsets = PlaceVariables(text_.variables, Space::kParam, &param_end);
    const std::vector<int64_t> locals = PlaceVariables(text_.variables, Space::kLocal, &local_end_);
    for (size_t i = 0; i < locals.size(); ++i) {
      if (locals[i] >= 0) bound_.variable_offsets[i] = locals[i];
      const auto it = program_.shared.offsets.find({bound_.index, static_cast<int>(i)});
      if (it != program_.shared.offsets.end()) bound_.variable_offsets[i] = static_cast<int64_t>(it->second);
    }
    bound_.param_bytes = static_cast<uint32_t>(AlignUp(param_end, 16));
  }

  Flow FlowOf(const Instruction& inst) const {
    Flow flow;
    switch (inst.op) {
      case Op::kBra:
        flow.falls_through = inst.has_guard;
        if (!inst.operands.empty()) flow.targets.push_back(static_cast<uint32_t>(inst.operands[0].index));
        break;
      case Op::kBrx:
        flow.falls_through = inst.has_guard;
        for (int target : BranchTargets(inst)) flow.targets.push_back(static_cast<uint32_t>(target));
        break;
      case Op::kRet:
      case Op::kExit:
      case Op::kTrap:
        flow.falls_through = inst.has_guard;
        flow.leaves = true;
        break;
      case Op::kCall:
        for (const Operand& operand : inst.operands)
          if (operand.kind == Operand::Kind::kFunction &&
              program_.module->functions[static_cast<size_t>(operand.index)].noreturn) {
            flow.falls_through = inst.has_guard;
            flow.leaves = true;
          }
        break;
      default:
        break;
    }
    return flow;
  }

  std::vector<int> BranchTargets(const Instruction& inst) const {
    for (const Operand& operand : inst.operands)
      if (operand.kind == Operand::Kind::kLabel && operand.index >= 0 &&
          static_cast<size_t>(operand.index) < text_.branch_targets.size())
        return text_.branch_targets[static_cast<size_t>(operand.index)];
    return {};
  }

  absl::Status BindInstruction(const Instruction& text, Inst* inst) {
    reads_clock_ = false;
    inst->text = &text;
    if (text.has_guard) {
      inst->has_guard = true;
      inst->guard = bound_.registers[static_cast<size_t>(text.guard)];
      inst->guard.negated = text.guard_negated;
    }
    std::vector<BoundOperand>& operands = program_.operand_storage.emplace_back(text.operands.size());
    for (size_t i = 0; i < text.operands.size(); ++i) {
      Type type = OperandType(text, static_cast<int>(i));
      if (text.op == Op::kMov && text.operands[i].kind == Operand::Kind::kVector)
        type = PartType(type, text.operands[i].elements.size());
      US_RETURN_IF_ERROR(BindOperand(text, text.operands[i], type, &operands[i]));
    }
    inst->operands = operands.data();
    inst->num_operands = static_cast<uint16_t>(operands.size());
    ExecContext context;
    context.module = program_.module.get();
    context.function = &text_;
    const Exec exec = FindExec(text, context);
    inst->exec = exec.fn;
    inst->aux[0] = exec.aux[0];
    inst->aux[1] = exec.aux[1];
    if (exec.fn == nullptr) {
      program_.notes.push_back(exec.note);
      inst->exec = RefusedExec;
      inst->aux[0] = reinterpret_cast<uint64_t>(program_.notes.back().c_str());
      return absl::OkStatus();
    }
    inst->reads_clock = reads_clock_;
    if (IsWarpSynchronous(text, &inst->member_mask)) {
      inst->wrapped = inst->exec;
      inst->exec = WarpSyncExec;
      inst->has_destination = HasDestination(text);
    } else if (reads_clock_) {
      inst->wrapped = inst->exec;
      inst->exec = ReadClockExec;
    }
    if (text.op == Op::kCall) return BindCall(text, operands, inst);
    if (text.op == Op::kBrx) {
      BoundOperand& list = program_.operand_storage.emplace_back(1)[0];
      std::vector<BoundOperand>& targets = program_.operand_storage.emplace_back();
      for (int target : BranchTargets(text)) {
        targets.emplace_back();
        targets.back().kind = Operand::Kind::kLabel;
        targets.back().index = target;
      }
      list.elements = targets.data();
      list.num_elements = static_cast<uint16_t>(targets.size());
      inst->aux[0] = reinterpret_cast<uint64_t>(&list);
    }
    return absl::OkStatus();
  }

  // The product keeps its place: what it writes is not read, as FindContractions has it.
  void Contract(const std::vector<Flow>& flow) {
    ExecContext context;
    context.module = program_.module.get();
    context.function = &text_;
    const Src sinks;  // PlaceRows
    for (const Contraction& c : FindContractions(text_, flow)) {
      Inst& sum = bound_.code[static_cast<size_t>(c.sum)];
      const Inst& product = bound_.code[static_cast<size_t>(c.product)];
      // Registers that change while they are read have wrappers of their own.
      if (sum.wrapped != nullptr || product.wrapped != nullptr) continue;
      const Src* const factors = FactorsOf(c.product, c.keep_factors);
      FusedSum& fused = program_.fused_sums.emplace_back();
      const Exec exec = MakeFusedSum(sum, product, factors, c.addend, c.negate_product, c.negate_addend,
                                     context, sinks, &fused);
      if (exec.fn == nullptr) continue;
      sum.exec = exec.fn;
      sum.aux[0] = exec.aux[0];
      sum.aux[1] = exec.aux[1];
    }
  }

  // Rows where a product's factors stand when its sums run.
  const Src* FactorsOf(int product, bool keep) {
    KeptFactors*& kept = factors_[product];
    if (kept != nullptr) return kept->to;
    kept = &program_.kept_factors.emplace_back();
    Inst& inst = bound_.code[static_cast<size_t>(product)];
    kept->product = inst;
    for (int i = 0; i < 2; ++i) {
      kept->from[i] = kept->to[i] = inst.src(i == 0 || inst.num_operands < 3 ? 1 : 2);
      if (!keep) continue;
      kept->to[i] = Src{.offset = used_, .bytes = static_cast<uint8_t>(kept->from[i].bytes == 8 ? 8 : 4)};
      used_ += kept->to[i].bytes == 8 ? 256 : 128;
    }
    if (keep) {
      inst.exec = KeepFactorsExec;
      inst.aux[0] = reinterpret_cast<uint64_t>(kept);
    }
    return kept->to;
  }

  // What one element of {a, b, ...} has of a whole register.
  static Type PartType(Type whole, size_t parts) {
    switch (TypeBits(whole) / static_cast<int>(std::max<size_t>(parts, 1))) {
      case 64:
        return Type::kB64;
      case 32:
        return Type::kB32;
      case 16:
        return Type::kB16;
      case 8:
        return Type::kB8;
      default:
        return whole;
    }
  }

  absl::Status BindOperand(const Instruction& inst, const Operand& operand, Type type, BoundOperand* out) {
    using Kind = Operand::Kind;
    out->kind = operand.kind;
    out->offset = operand.offset;
    out->index = operand.index;
    out->scope = operand.scope;
    switch (operand.kind) {
      case Kind::kRegister:
        out->row = bound_.registers[static_cast<size_t>(operand.index)];
        out->row.negated = operand.negated;
        return absl::OkStatus();
      case Kind::kImmediate:
      case Kind::kFloat:
        out->row = program_.constants.Row(RowBytes(type), ImmediateBits(operand, type));
        out->row.negated = operand.negated;
        return absl::OkStatus();
      case Kind::kSink:
        out->row.bytes = RowBytes(type);
        out->row.sink = true;
        return absl::OkStatus();
      case Kind::kSpecial:
        return BindSpecial(operand, type, out);
      case Kind::kAddress:
        if (operand.base_kind == Operand::Base::kRegister) {
          out->row = bound_.registers[static_cast<size_t>(operand.index)];
          return absl::OkStatus();
        }
        if (operand.base_kind == Operand::Base::kVariable)
          return BindVariable(inst, operand, Type::kU64, 0, out);
        out->row = program_.constants.Row(8, 0);
        return absl::OkStatus();
      case Kind::kVariable:
        out->offset = 0;
        return BindVariable(inst, operand, inst.op == Op::kCall ? Type::kU64 : type, operand.offset, out);
      case Kind::kFunction: {
        out->index = ResolveAlias(*program_.module, operand.index);
        const Function& function = program_.module->functions[static_cast<size_t>(out->index)];
        if (function.is_declaration && FindBuiltin(function.name) == Builtin::kNone)
          return absl::InvalidArgumentError(absl::StrFormat(
              "unresolved extern function '%s': expected a definition in the module or one of "
              "vprintf, malloc, free, __assertfail",
              function.name));
        out->row = program_.constants.Row(RowBytes(type == Type::kNone ? Type::kU64 : type),
                                          kCodeWindow + 16 * (static_cast<uint64_t>(out->index) + 1));
        return absl::OkStatus();
      }
      case Kind::kVector:
      case Kind::kPredicatePair:
      case Kind::kGroup:
      case Kind::kTensor: {
        std::vector<BoundOperand>& elements = program_.operand_storage.emplace_back(operand.elements.size());
        for (size_t i = 0; i < elements.size(); ++i) {
          Type element = type;
          if (operand.kind == Kind::kTensor) element = Type::kU32;
          // The second of d|p (shfl, match, elect) is a predicate.
          if (operand.kind == Kind::kPredicatePair && i == 1) element = Type::kPred;
          US_RETURN_IF_ERROR(BindOperand(inst, operand.elements[i], element, &elements[i]));
        }
        out->elements = elements.data();
        out->num_elements = static_cast<uint16_t>(elements.size());
        return absl::OkStatus();
      }
      case Kind::kLabel:
      case Kind::kPrototype:
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status BindSpecial(const Operand& operand, Type type, BoundOperand* out) {
    constexpr const char* kElements[] = {".x", ".y", ".z", ".w"};
    Special special;
    if (!FindSpecial(operand.special, &special)) {
      if (!FindSpecial(operand.special + ".x", &special))
        return absl::InvalidArgumentError(
            absl::StrFormat("the special register %%%s is not known", operand.special));
      // A whole vector, for mov.v4.
      std::vector<BoundOperand>& elements = program_.operand_storage.emplace_back(4);
      for (size_t i = 0; i < 4; ++i) {
        FindSpecial(operand.special + kElements[i], &special);
        elements[i].kind = Operand::Kind::kSpecial;
        elements[i].row = program_.SpecialRowOf(static_cast<uint16_t>(special), 4, 0);
      }
      out->kind = Operand::Kind::kVector;
      out->elements = elements.data();
      out->num_elements = 4;
      return absl::OkStatus();
    }
    uint8_t bytes = SpecialBits(special) == 1 ? 0 : RowBytes(type);
    if (bytes > 8) bytes = 8;
    if (bytes == 0 && SpecialBits(special) != 1) bytes = 4;
    reads_clock_ = reads_clock_ || IsDynamic(special);
    out->row = program_.SpecialRowOf(static_cast<uint16_t>(special), bytes, 0);
    out->row.negated = operand.negated;
    return absl::OkStatus();
  }

  absl::Status BindVariable(const Instruction& inst, const Operand& operand, Type type, int64_t addend,
                            BoundOperand* out) {
    const size_t index = static_cast<size_t>(operand.index);
    const uint8_t bytes = RowBytes(type);
    const auto constant = [&](uint64_t value) {
      const uint64_t sum = value + static_cast<uint64_t>(addend);
      out->row = program_.constants.Row(bytes, bytes == 8 ? sum : sum & 0xffffffff);
      return absl::OkStatus();
    };
    const auto taken = [&] { return operand.kind == Operand::Kind::kVariable && inst.op != Op::kCall; };
    switch (operand.scope) {
      case Operand::Scope::kParameter:
      case Operand::Scope::kReturn: {
        const bool parameter = operand.scope == Operand::Scope::kParameter;
        const auto& variables = parameter ? text_.parameters : text_.returns;
        const auto& offsets = parameter ? bound_.parameter_offsets : bound_.return_offsets;
        out->space = variables[index].space;
        if (taken() && !text_.is_entry) return SpillParameter(operand, variables[index], bytes, addend, out);
        return constant(static_cast<uint64_t>(offsets[index]));
      }
      case Operand::Scope::kFunctionLocal: {
        const Variable& variable = text_.variables[index];
        out->space = variable.space;
        if (variable.space == Space::kGlobal || variable.space == Space::kConst)
          return Global(text_.name + "." + variable.name, constant);
        return InFrame(variable, bound_.variable_offsets[index], false, bytes, addend, out);
      }
      case Operand::Scope::kModule: {
        const Variable& variable = program_.module->variables[index];
        out->space = variable.space;
        if (variable.space == Space::kLocal)
          return InFrame(variable, program_.module_local_offsets[index], true, bytes, addend, out);
        if (variable.space == Space::kShared) {
          const auto it = program_.shared.offsets.find({-1, operand.index});
          return InFrame(variable,
                         it == program_.shared.offsets.end() ? -1 : static_cast<int64_t>(it->second), true,
                         bytes, addend, out);
        }
        if (variable.space == Space::kTex) return constant(0);
        return Global(variable.name, constant);
      }
    }
    return absl::OkStatus();
  }

  template <class Fn>
  absl::Status Global(const std::string& name, Fn&& constant) {
    const auto it = addresses_.find(name);
    if (it == addresses_.end())
      return absl::InvalidArgumentError(
          absl::StrFormat("the variable '%s' has no address: expected one from the loader", name));
    return constant(it->second);
  }

  // .shared (offset -1: dynamic, or of a function that no kernel reaches), .local and .param of a function.
  absl::Status InFrame(const Variable& variable, int64_t offset, bool module_scope, uint8_t bytes,
                       int64_t addend, BoundOperand* out) {
    if (variable.space == Space::kShared && offset < 0) {
      out->row = program_.SpecialRowOf(static_cast<uint16_t>(Special::kDynamicSharedBase), bytes, addend);
      return absl::OkStatus();
    }
    if (variable.space == Space::kLocal) {
      out->row = LocalRow(bytes, offset + addend, module_scope);
      return absl::OkStatus();
    }
    const uint64_t value = static_cast<uint64_t>(offset + addend);
    out->row = program_.constants.Row(bytes, bytes == 8 ? value : value & 0xffffffff);
    return absl::OkStatus();
  }

  absl::Status SpillParameter(const Operand& operand, const Variable& variable, uint8_t bytes, int64_t addend,
                              BoundOperand* out) {
    const std::pair<int, int> key{static_cast<int>(operand.scope), operand.index};
    const auto [it, fresh] = spilled_.try_emplace(key, 0);
    if (fresh) {
      local_end_ = AlignUp(local_end_, std::max<uint64_t>(variable.alignment, 1));
      it->second = static_cast<int64_t>(local_end_);
      local_end_ += variable.size;
      const auto& offsets =
          operand.scope == Operand::Scope::kParameter ? bound_.parameter_offsets : bound_.return_offsets;
      bound_.spilled_params.push_back({static_cast<uint32_t>(offsets[static_cast<size_t>(operand.index)]),
                                       static_cast<uint32_t>(it->second),
                                       static_cast<uint32_t>(variable.size)});
    }
    out->space = Space::kLocal;
    out->row = LocalRow(bytes, it->second + addend, false);
    return absl::OkStatus();
  }

  Src LocalRow(uint8_t bytes, int64_t offset, bool module_scope) {
    Src src;
    src.bytes = bytes;
    for (const BoundFunction::LocalRow& row : bound_.local_rows) {
      if (row.bytes != bytes || row.offset != offset || row.module_scope != module_scope) continue;
      src.offset = row.row;
      return src;
    }
    used_ = static_cast<uint32_t>(AlignUp(used_, 64));
    src.offset = used_;
    used_ += bytes == 8 ? 256 : 128;
    BoundFunction::LocalRow row;
    row.row = src.offset;
    row.bytes = bytes;
    row.offset = offset;
    row.module_scope = module_scope;
    bound_.local_rows.push_back(row);
    return src;
  }

  absl::Status BindCall(const Instruction& text, const std::vector<BoundOperand>& operands, Inst* inst) {
    CallPlan& plan = program_.calls.emplace_back();
    bool callee = false;
    const auto values = [&](const Operand& group, const BoundOperand& bound,
                            std::vector<CallPlan::Value>* out) {
      for (size_t i = 0; i < group.elements.size(); ++i) {
        const BoundOperand& element = bound.elements[i];
        CallPlan::Value value;
        value.sink = element.kind == Operand::Kind::kSink;
        value.row = element.row;
        if (element.kind == Operand::Kind::kVariable && element.space == Space::kParam && !value.sink) {
          value.in_param = true;
          const size_t index = static_cast<size_t>(element.index);
          const int64_t base = element.scope == Operand::Scope::kParameter ? bound_.parameter_offsets[index]
                               : element.scope == Operand::Scope::kReturn  ? bound_.return_offsets[index]
                                                                           : bound_.variable_offsets[index];
          value.param_offset = static_cast<uint32_t>(base + group.elements[i].offset);
        }
        out->push_back(value);
      }
    };
    for (size_t i = 0; i < text.operands.size(); ++i) {
      switch (text.operands[i].kind) {
        case Operand::Kind::kGroup:
          values(text.operands[i], operands[i], callee ? &plan.arguments : &plan.returns);
          break;
        case Operand::Kind::kFunction:
          plan.callee = operands[i].index;
          callee = true;
          break;
        case Operand::Kind::kRegister:
          plan.target = operands[i].row;
          callee = true;
          break;
        case Operand::Kind::kPrototype:
          plan.prototype = text.operands[i].index;
          break;
        default:
          return absl::InvalidArgumentError("call: expected a function or a register to call");
      }
    }
    inst->aux[0] = reinterpret_cast<uint64_t>(&plan);
    return absl::OkStatus();
  }

  Program::Impl& program_;
  const SymbolAddresses& addresses_;
  BoundFunction& bound_;
  const Function& text_;
  uint32_t used_ = 0;
  uint64_t local_end_ = 0;
  bool reads_clock_ = false;
  std::map<std::pair<int, int>, int64_t> spilled_;
  std::map<int, KeptFactors*> factors_;  // by product
};

}  // namespace

absl::Status Program::Impl::Bind(const SymbolAddresses& addresses) {
  const auto note_constant = [&](const std::string& name, const Variable& variable) {
    const auto it = addresses.find(name);
    if (variable.space == Space::kConst && it != addresses.end())
      constant_variables[it->second] = it->second + std::max<uint64_t>(variable.size, 1);
  };
  for (const Variable& variable : module->variables) note_constant(variable.name, variable);
  for (const Function& function : module->functions)
    for (const Variable& variable : function.variables)
      note_constant(function.name + "." + variable.name, variable);
  const CallGraph graph(*module);
  shared = LayOutShared(*module, graph);
  module_local_offsets = PlaceVariables(module->variables, Space::kLocal, &module_local_bytes);
  module_local_bytes = AlignUp(module_local_bytes, 16);
  functions.resize(module->functions.size());
  for (size_t i = 0; i < functions.size(); ++i) {
    functions[i].text = &module->functions[i];
    functions[i].index = static_cast<int>(i);
    if (functions[i].text->is_declaration) functions[i].builtin = FindBuiltin(functions[i].text->name);
  }
  for (BoundFunction& function : functions)
    US_RETURN_IF_ERROR(FunctionBinder(this, addresses, &function).Run());
  std::vector<uint64_t> frame_bytes;
  for (const BoundFunction& function : functions) frame_bytes.push_back(StackFrameBytes(function));
  for (BoundFunction& function : functions)
    if (function.text->is_entry) function.stack_bytes = StackBytes(graph, function.index, frame_bytes);
  constant_rows = constants.Finish();
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Program>> Program::Build(std::shared_ptr<const Module> module,
                                                              const SymbolAddresses& addresses,
                                                              const BuildOptions& options) {
  std::shared_ptr<Program> program(new Program);
  program->impl_->options = options;
  program->impl_->module = std::move(module);
  US_RETURN_IF_ERROR(program->impl_->Bind(addresses));
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace understudy::emu::ptx
