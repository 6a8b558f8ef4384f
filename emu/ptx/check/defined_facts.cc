// SPDX-License-Identifier: Apache-2.0
// Which rule of defined.h an instruction follows, and which of its operands must be defined.
#include "emu/ptx/check/defined.h"

namespace understudy::emu::ptx {
namespace {

using Rule = DefinedFacts::Rule;
using Kind = Operand::Kind;

bool IsRegister(const BoundOperand& operand) {
  return operand.kind == Kind::kRegister && operand.row.base == Src::kFrame && !operand.row.sink;
}

void AddRows(const BoundOperand& operand, std::vector<Src>* rows) {
  if (operand.num_elements != 0) {
    for (int i = 0; i < operand.num_elements; ++i) AddRows(operand.elements[i], rows);
    return;
  }
  if (!IsRegister(operand)) return;
  rows->push_back(operand.row);
  rows->back().negated = false;
}

bool HasResult(const Instruction& text) {
  switch (text.op) {
    case Op::kSt:
    case Op::kRed:
    case Op::kBra:
    case Op::kBrx:
    case Op::kCall:
    case Op::kRet:
    case Op::kExit:
    case Op::kTrap:
    case Op::kBrkpt:
    case Op::kFence:
    case Op::kMembar:
    case Op::kCp:
    case Op::kPrefetch:
    case Op::kPrefetchu:
    case Op::kDiscard:
    case Op::kApplypriority:
    case Op::kStmatrix:
    case Op::kNanosleep:
    case Op::kPmevent:
    case Op::kSetmaxnreg:
    case Op::kGriddepcontrol:
    case Op::kStackrestore:
    case Op::kTensormap:
      return false;
    case Op::kBar:
    case Op::kBarrier:
      return text.Has("red");
    case Op::kWmma:
      return !text.Has("store");
    case Op::kMbarrier:
      return !(text.Has("init") || text.Has("inval") ||
               ((text.Has("expect_tx") || text.Has("complete_tx")) && !text.Has("arrive") &&
                !text.Has("arrive_drop")));
    case Op::kWgmma:
      return text.Has("mma_async");
    default:
      return true;
  }
}

bool IsInteger(Type type) {
  return !IsFloat(type) && type != Type::kPred && type != Type::kU16x2 && type != Type::kS16x2 &&
         (TypeBits(type) == 8 || TypeBits(type) == 16 || TypeBits(type) == 32 || TypeBits(type) == 64);
}

bool SameRegister(const Inst& inst, int a, int b) {
  return inst.num_operands > b && IsRegister(inst.op(a)) && IsRegister(inst.op(b)) &&
         inst.src(a).offset == inst.src(b).offset;
}

// The rule, and for kRoute the control operands.
Rule RuleOf(const Inst& inst, DefinedFacts* facts) {
  const Instruction& text = *inst.text;
  const Type type = text.type();
  const bool plain_integer = IsInteger(type) && !text.Has("sat");
  switch (text.op) {
    case Op::kMov:
    case Op::kBrev:
    case Op::kMovmatrix:
      return Rule::kRoute;
    case Op::kCvt:
      return text.types.size() == 2 && plain_integer && IsInteger(text.types[1]) ? Rule::kRoute : Rule::kAny;
    case Op::kShl:
    case Op::kShr:
    case Op::kSzext:
      facts->control = {2};
      return Rule::kRoute;
    case Op::kBfe:
      facts->control = {2, 3};
      return Rule::kRoute;
    case Op::kShf:
    case Op::kPrmt:
      facts->control = {3};
      return Rule::kRoute;
    case Op::kBfi:
      facts->control = {3, 4};
      return Rule::kRoute;
    case Op::kShfl:
      facts->control = {2, 3};
      return Rule::kShuffle;
    case Op::kSelp:
      return Rule::kSelect;
    case Op::kAnd:
      facts->table = 0x88;
      return Rule::kTable;
    case Op::kOr:
      facts->table = 0xee;
      return Rule::kTable;
    case Op::kXor:
      facts->table = 0x66;
      return SameRegister(inst, 1, 2) ? Rule::kNothing : Rule::kTable;
    case Op::kNot:
      facts->table = 0x55;
      return Rule::kTable;
    case Op::kLop3:
      if (inst.op(0).num_elements != 0 || text.operands.size() < 5 ||
          text.operands[4].kind != Kind::kImmediate)
        return Rule::kAny;
      // lop3 numbers a as the high bit of the index; here the first source is the low one.
      for (int i = 0; i < 8; ++i) {
        const int index = (i & 1) << 2 | (i & 2) | (i & 4) >> 2;
        facts->table |= static_cast<uint8_t>((text.operands[4].bits >> index & 1) << i);
      }
      return Rule::kTable;
    case Op::kSub:
    case Op::kAdd:
      if (text.Has("cc")) return Rule::kCarry;
      if (!plain_integer) return Rule::kAny;
      return text.op == Op::kSub && SameRegister(inst, 1, 2) ? Rule::kNothing : Rule::kSum;
    case Op::kAddc:
    case Op::kSubc:
    case Op::kMadc:
      return Rule::kCarry;
    case Op::kMad:
      if (text.Has("cc")) return Rule::kCarry;
      return plain_integer && !text.Has("hi") ? Rule::kSum : Rule::kAny;
    case Op::kMul:
      return plain_integer && !text.Has("hi") ? Rule::kSum : Rule::kAny;
    case Op::kNeg:
      return plain_integer ? Rule::kSum : Rule::kAny;
    case Op::kVote:
      return text.Has("ballot") ? Rule::kBallot : Rule::kVote;
    case Op::kMatch:
    case Op::kRedux:
      return Rule::kWarp;
    case Op::kElect:
    case Op::kActivemask:
    case Op::kCreatepolicy:
    case Op::kAlloca:
    case Op::kStacksave:
      return Rule::kNothing;
    case Op::kMma:
      return Rule::kMatrix;
    case Op::kWgmma:
      return Rule::kWgmma;
    case Op::kWmma:
      return text.Has("load") ? Rule::kLoadWmma : text.Has("store") ? Rule::kStoreWmma : Rule::kMatrix;
    case Op::kLdmatrix:
      return Rule::kLoadMatrix;
    case Op::kStmatrix:
      return Rule::kStoreMatrix;
    case Op::kLd:
    case Op::kLdu:
      return Rule::kLoad;
    case Op::kSt:
      return text.Has("bulk") ? Rule::kWritten : text.Has("async") ? Rule::kCopy : Rule::kStore;
    case Op::kRed:
      return text.Has("async") ? Rule::kCopy : Rule::kAtomic;
    case Op::kAtom:
      return Rule::kAtomic;
    case Op::kCp:
      return Rule::kCopy;
    case Op::kMbarrier:
      return text.Has("pending_count") ? Rule::kAny : Rule::kWritten;
    case Op::kTensormap:
      return Rule::kWritten;
    case Op::kBar:
    case Op::kBarrier:
      return text.Has("red") ? Rule::kWarp : Rule::kNothing;
    case Op::kCall:
      return Rule::kCall;
    case Op::kRet:
      return Rule::kReturn;
    default:
      return Rule::kAny;
  }
}

// Whether running for a lane or not is seen outside of its registers.
bool GuardDecides(const Instruction& text) {
  switch (text.op) {
    case Op::kBra:
    case Op::kBrx:
    case Op::kCall:
    case Op::kRet:
    case Op::kExit:
    case Op::kTrap:
    case Op::kSt:
    case Op::kRed:
    case Op::kAtom:
    case Op::kBar:
    case Op::kBarrier:
    case Op::kCp:
    case Op::kMbarrier:
    case Op::kDiscard:
    case Op::kTensormap:
    case Op::kShfl:
    case Op::kVote:
    case Op::kMatch:
    case Op::kRedux:
    case Op::kElect:
      return true;
    default:
      return false;
  }
}

void AddUses(const BoundOperand& operand, int index, const char* what, DefinedFacts* facts) {
  std::vector<Src> rows;
  AddRows(operand, &rows);
  for (const Src& row : rows) facts->uses.push_back({row, index, what});
}

void AddUses(const Inst& inst, DefinedFacts* facts) {
  const Instruction& text = *inst.text;
  for (int i = 0; i < inst.num_operands; ++i) {
    const BoundOperand& operand = inst.op(i);
    if (operand.kind == Kind::kAddress) {
      if (operand.row.base == Src::kFrame &&
          text.operands[static_cast<size_t>(i)].base_kind == Operand::Base::kRegister)
        facts->uses.push_back({operand.row, i, "the address"});
    } else if (operand.kind == Kind::kTensor) {
      if (operand.elements[0].row.base == Src::kFrame)
        facts->uses.push_back({operand.elements[0].row, i, "the address"});
      AddUses(operand.elements[1], i, "a coordinate", facts);
    }
  }
  const auto use = [&](int i, const char* what) {
    if (i < inst.num_operands) AddUses(inst.op(i), i, what, facts);
  };
  if (inst.member_mask >= 0 && inst.wrapped != nullptr) use(inst.member_mask, "the member mask");
  switch (text.op) {
    case Op::kBrx:
      use(0, "the branch's index");
      break;
    case Op::kCall:
      for (int i = 0; i < inst.num_operands; ++i)
        if (inst.op(i).kind == Kind::kRegister) use(i, "the function called");
      break;
    case Op::kBar:
    case Op::kBarrier:
      if (text.Has("warp") || text.Has("cluster")) break;
      for (int i = text.Has("red") ? 1 : 0; i < inst.num_operands - (text.Has("red") ? 1 : 0); ++i)
        use(i, "the barrier");
      break;
    case Op::kMbarrier:
      for (int i = HasResult(text) ? 2 : 1; i < inst.num_operands; ++i) use(i, "a count or phase");
      break;
    case Op::kCp:
      for (int i = 2; i < inst.num_operands; ++i) use(i, "a size or mask");
      break;
    case Op::kAlloca:
    case Op::kStackrestore:
      use(text.op == Op::kAlloca ? 1 : 0, "the size");
      break;
    default:
      break;
  }
}

// Operands for running the executor on undefined bits: registers stay where they are (in the shadow rows),
// whatever has no undefined bits is row 0 of the scratch rows, control operand k row k + 1.
void RedirectOperands(const Inst& inst, DefinedFacts* facts) {
  facts->operands.assign(inst.operands, inst.operands + inst.num_operands);
  const auto redirect = [&](BoundOperand& operand) {
    operand.row.negated = false;
    if (operand.row.base == Src::kFrame && (operand.kind == Kind::kRegister || operand.kind == Kind::kSink))
      return;
    operand.row.base = Src::kSpecialRow;
    operand.row.offset = 0;
  };
  for (int i = 0; i < inst.num_operands; ++i) {
    BoundOperand& operand = facts->operands[static_cast<size_t>(i)];
    bool control = false;
    for (size_t k = 0; k < facts->control.size(); ++k) {
      if (facts->control[k] != i) continue;
      control = true;
      operand.row.base = Src::kSpecialRow;
      operand.row.offset = static_cast<uint32_t>(512 * (k + 1));
    }
    if (control) continue;
    if (operand.num_elements == 0) {
      redirect(operand);
      continue;
    }
    std::vector<BoundOperand>& nested =
        facts->nested.emplace_back(operand.elements, operand.elements + operand.num_elements);
    for (BoundOperand& element : nested) redirect(element);
  }
  // `nested` has grown for the last time.
  size_t next = 0;
  for (BoundOperand& operand : facts->operands)
    if (operand.num_elements != 0) operand.elements = facts->nested[next++].data();
}

}  // namespace

std::unique_ptr<DefinedFacts> FindDefinedFacts(const Inst& inst) {
  auto facts = std::make_unique<DefinedFacts>();
  if (inst.text == nullptr) {
    facts->rule = Rule::kReturn;
    return facts;
  }
  const Instruction& text = *inst.text;
  facts->rule = RuleOf(inst, facts.get());
  facts->guard_decides = GuardDecides(text);
  const bool result = HasResult(text) && inst.num_operands > 0;
  if (result) AddRows(inst.op(0), &facts->dests);
  for (int i = result ? 1 : 0; i < inst.num_operands; ++i)
    if (text.op != Op::kCall) AddRows(inst.op(i), &facts->sources);
  facts->reads_carry = text.op == Op::kAddc || text.op == Op::kSubc || text.op == Op::kMadc;
  facts->writes_carry = text.Has("cc");
  AddUses(inst, facts.get());
  if (facts->rule == Rule::kRoute || facts->rule == Rule::kShuffle) {
    if (text.op == Op::kShfl && inst.num_operands > 4) facts->control = {2, 3, 4};
    for (int control : facts->control)
      if (control >= inst.num_operands || inst.op(control).num_elements != 0) facts->rule = Rule::kAny;
    if (facts->rule != Rule::kAny) RedirectOperands(inst, facts.get());
  }
  return facts;
}

}  // namespace understudy::emu::ptx
