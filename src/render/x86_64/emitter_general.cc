// SPDX-License-Identifier: Apache-2.0
// Integers, memory, jumps.
#include <limits>

#include "src/base/bits.h"
#include "src/render/x86_64/emitter.h"

namespace understudy::x86_64 {

using machine::Address;
using machine::Cond;
using machine::Condition;
using machine::Inst;
using machine::IntArg;
using machine::kNoReg;
using machine::kVectorBase;
using machine::Operand;
using machine::Reg;
using machine::RegClass;

namespace {

bool FitsInt32(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }
// As an immediate of a 32-bit instruction.
int64_t Immediate(int bits, int64_t v) { return bits == 32 ? static_cast<int32_t>(v) : v; }

}  // namespace

const std::vector<Reg>& X86Processor::Allocatable(RegClass c) const {
  // What a caller keeps comes first.
  static const std::vector<Reg> kGeneral = {0, 1, 2, 6, 7, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15};
  static const std::vector<Reg> kVector = [] {
    std::vector<Reg> all;
    for (Reg i = 0; i < 16; ++i) all.push_back(kVectorBase + i);
    return all;
  }();
  return c == RegClass::kGeneral ? kGeneral : kVector;
}

Inst X86Processor::Move(RegClass c, int bytes, Reg to, Reg from) const {
  Inst i;
  i.op = c == RegClass::kGeneral ? kMov : kMovaps;
  i.bytes = static_cast<uint8_t>(bytes);
  i.flags = Inst::kMove | (c == RegClass::kVector && avx2_ ? Inst::kVex : 0);
  i.Add(Operand::Def(to, bytes));
  i.Add(Operand::Use(from, bytes));
  return i;
}
Inst X86Processor::Reload(RegClass c, int bytes, Reg to, const Operand& from) const {
  Inst i;
  i.op = c == RegClass::kGeneral ? kMov : bytes == 32 ? kMovups : kMovaps;
  i.bytes = static_cast<uint8_t>(bytes);
  if (c == RegClass::kVector && avx2_) i.flags = Inst::kVex;
  i.Add(Operand::Def(to, bytes));
  i.Add(from);
  return i;
}
Inst X86Processor::Spill(RegClass c, int bytes, const Operand& to, Reg from) const {
  Inst i;
  i.op = c == RegClass::kGeneral ? kMov : bytes == 32 ? kMovupsStore : kMovapsStore;
  i.bytes = static_cast<uint8_t>(bytes);
  if (c == RegClass::kVector && avx2_) i.flags = Inst::kVex;
  i.Add(to);
  i.Add(Operand::Use(from, bytes));
  return i;
}
bool X86Processor::MayBeMemory(const Inst& inst, int i) const {
  if (inst.ops[i].role != machine::Role::kUse) return false;
  const bool vex = inst.flags & Inst::kVex;
  switch (InfoOf(inst.op).form) {
    case Form::kMR:
      return i == 1 && inst.op != kMov && inst.op != kTest && inst.ops[0].IsReg();
    case Form::kRM:
      return i == 1 && inst.op == kImul;
    case Form::kCmov:
      return i == 1;
    case Form::kV3:
      // These two have a register only, or another meaning, for memory.
      return i == (vex ? 2 : 1) && inst.op != kMovlhps && inst.op != kCvtsi2ss && inst.op != kCvtsi2sd &&
             inst.ops[i].reg >= kVectorBase;
    case Form::kV3One:
    case Form::kV3OneImm:
    case Form::kCompare:
      return i == (vex ? 2 : 1);
    default:
      return false;
  }
}

Inst X86Emitter::Make(Op op, int bytes) const {
  Inst i;
  i.op = op;
  i.bytes = static_cast<uint8_t>(bytes);
  const Form form = InfoOf(op).form;
  const bool vector = form == Form::kZero || (form >= Form::kV2 && form <= Form::kV4);
  if (vector && avx2_) i.flags = Inst::kVex;
  return i;
}

void X86Emitter::Begin() {
  buffers_ = f_.NewReg(RegClass::kGeneral, 8);
  vars_ = f_.NewReg(RegClass::kGeneral, 8);
  workgroup_ = f_.NewReg(RegClass::kGeneral, 8);
  AppendToEntry(processor_.Move(RegClass::kGeneral, 8, buffers_, kRdi));
  AppendToEntry(processor_.Move(RegClass::kGeneral, 8, vars_, kRsi));
  AppendToEntry(processor_.Move(RegClass::kGeneral, 8, workgroup_, kRdx));
}
Reg X86Emitter::Buffer(int64_t position) {
  const Reg r = General();
  Inst i = Make(kMov, 8);
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Mem(buffers_, kNoReg, 1, 8 * position, 8));
  AppendToEntry(i);
  return r;
}
Reg X86Emitter::Variable(int64_t number) {
  const Reg r = General();
  Inst i = Make(kMov, 8);
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Mem(vars_, kNoReg, 1, 8 * number, 8));
  AppendToEntry(i);
  return r;
}
void X86Emitter::Return() { Append(Make(kRet, 8)); }

Reg X86Emitter::IntConst(int bits, int64_t value) {
  const Reg r = General();
  const bool low = bits == 32 || (value >= 0 && value <= int64_t{UINT32_MAX});
  Inst i = Make(kMovImm, low ? 4 : 8);
  i.flags |= Inst::kRemake;
  i.Add(Operand::Def(r, low ? 4 : 8));
  i.Add(Operand::Imm(low ? Immediate(32, value) : value));
  Append(i);
  return r;
}

Reg X86Emitter::General2(Op op, int bits, Reg a, Reg b) {
  const Reg r = Copy(a);
  Inst i = Make(op, bits / 8);
  i.Add(Operand::UseDef(r, bits / 8));
  i.Add(Operand::Use(b, bits / 8));
  Append(i);
  return r;
}
Reg X86Emitter::General2Imm(Op op, int bits, Reg a, int64_t imm) {
  const Reg r = Copy(a);
  Inst i = Make(op, bits / 8);
  i.Add(Operand::UseDef(r, bits / 8));
  i.Add(Operand::Imm(imm));
  Append(i);
  return r;
}
Reg X86Emitter::LeaOf(int bits, Reg base, Reg index, int scale, int64_t disp) {
  const Reg r = General();
  Inst i = Make(kLea, bits / 8);
  i.Add(Operand::Def(r, bits / 8));
  i.Add(Operand::Mem(base, index, scale, disp, 8));
  Append(i);
  return r;
}

Reg X86Emitter::IntBinary(understudy::Op op, bool is_signed, int bits, Reg a, IntArg b) {
  using O = understudy::Op;
  const int64_t imm = b.IsConst() ? Immediate(bits, b.value) : 0;
  const bool fits = b.IsConst() && FitsInt32(imm);
  if (b.IsConst() && !fits) b = IntArg::Of(IntConst(bits, imm));
  const auto power = [&]() -> int {
    const uint64_t v = bits == 32 ? static_cast<uint32_t>(imm) : static_cast<uint64_t>(imm);
    return fits && IsPow2(v) ? __builtin_ctzll(v) : -1;
  };
  switch (op) {
    case O::kAdd:
      return fits ? LeaOf(bits, a, kNoReg, 1, imm) : LeaOf(bits, a, b.reg, 1, 0);
    case O::kSub:
      if (fits && imm != INT32_MIN) return LeaOf(bits, a, kNoReg, 1, -imm);
      return fits ? General2Imm(kSubImm, bits, a, imm) : General2(kSub, bits, a, b.reg);
    case O::kMul:
      if (const int shift = power(); shift >= 0) return shift == 0 ? a : General2Imm(kShlImm, bits, a, shift);
      if (fits) {
        const Reg r = General();
        Inst i = Make(kImulImm, bits / 8);
        i.Add(Operand::Def(r, bits / 8));
        i.Add(Operand::Use(a, bits / 8));
        i.Add(Operand::Imm(imm));
        Append(i);
        return r;
      }
      return General2(kImul, bits, a, b.reg);
    case O::kAnd:
      return fits ? General2Imm(kAndImm, bits, a, imm) : General2(kAnd, bits, a, b.reg);
    case O::kOr:
      return fits ? General2Imm(kOrImm, bits, a, imm) : General2(kOr, bits, a, b.reg);
    case O::kXor:
      return fits ? General2Imm(kXorImm, bits, a, imm) : General2(kXor, bits, a, b.reg);
    case O::kShl:
    case O::kShr: {
      const bool left = op == O::kShl;
      if (b.IsConst()) {
        if (imm == 0) return a;
        return General2Imm(left ? kShlImm : is_signed ? kSarImm : kShrImm, bits, a, imm);
      }
      Append(processor_.Move(RegClass::kGeneral, 8, kRcx, b.reg));
      const Reg r = Copy(a);
      Inst i = Make(left ? kShl : is_signed ? kSar : kShr, bits / 8);
      i.Add(Operand::UseDef(r, bits / 8));
      i.Add(Operand::Use(kRcx, 1));
      Append(i);
      return r;
    }
    case O::kIDiv:
    case O::kIMod:
      if (const int shift = is_signed ? -1 : power(); shift >= 0) {
        if (op == O::kIMod) return General2Imm(kAndImm, bits, a, imm - 1);
        return shift == 0 ? a : General2Imm(kShrImm, bits, a, shift);
      }
      return Divide(is_signed, op == O::kIMod, bits, a, b);
    case O::kMin:
    case O::kMax: {
      const bool max = op == O::kMax;
      const Cond c = max ? (is_signed ? Cond::kLt : Cond::kBelow) : (is_signed ? Cond::kGt : Cond::kAbove);
      const Reg other = ToReg(bits, b);
      return Choose({c, bits, a, IntArg::Of(other)}, bits, other, a);
    }
    default:
      US_CHECK(false) << "no integer " << OpName(op);
      return kNoReg;
  }
}

// DIV and IDIV divide RDX:RAX.
Reg X86Emitter::Divide(bool is_signed, bool remainder, int bits, Reg a, IntArg b) {
  const Reg divisor = ToReg(bits, b);
  const int bytes = bits / 8;
  Append(processor_.Move(RegClass::kGeneral, 8, kRax, a));
  if (is_signed) {
    Inst sign = Make(bits == 64 ? kCqo : kCdq, bytes);
    sign.Add(Operand::Def(kRdx, bytes));
    sign.Add(Operand::Use(kRax, bytes));
    Append(sign);
  } else {
    Inst zero = Make(kMovImm, 4);
    zero.Add(Operand::Def(kRdx, 4));
    zero.Add(Operand::Imm(0));
    Append(zero);
  }
  Inst i = Make(is_signed ? kIdiv : kDiv, bytes);
  i.Add(Operand::Use(divisor, bytes));
  i.Add(Operand::UseDef(kRax, bytes));
  i.Add(Operand::UseDef(kRdx, bytes));
  Append(i);
  const Reg r = General();
  Append(processor_.Move(RegClass::kGeneral, 8, r, remainder ? kRdx : kRax));
  return r;
}

Reg X86Emitter::IntNeg(int bits, Reg a) {
  const Reg r = Copy(a);
  Inst i = Make(kNeg, bits / 8);
  i.Add(Operand::UseDef(r, bits / 8));
  Append(i);
  return r;
}

Reg X86Emitter::Extend(int from_bits, bool is_signed, Reg a, int to_bits) {
  const Reg r = General();
  Op op = kMov;
  if (from_bits == 8) op = is_signed ? kMovsx8 : kMovzx8;
  if (from_bits == 16) op = is_signed ? kMovsx16 : kMovzx16;
  if (from_bits == 32) op = is_signed ? kMovsxd : kMov;
  // Writing 32 bits clears the others.
  const int to = is_signed ? to_bits / 8 : 4;
  Inst i = Make(op, to);
  i.Add(Operand::Def(r, to));
  i.Add(Operand::Use(a, op == kMov ? 4 : from_bits / 8));
  Append(i);
  return r;
}

void X86Emitter::Flags(const Condition& c) {
  const int bytes = c.bits / 8;
  const int64_t imm = c.b.IsConst() ? Immediate(c.bits, c.b.value) : 0;
  Op op = kCmp;
  Operand b = Operand::Use(c.b.reg, bytes);
  if (c.b.IsConst() && imm == 0) {
    op = kTest;
    b = Operand::Use(c.a, bytes);
  } else if (c.b.IsConst()) {
    US_CHECK(FitsInt32(imm)) << "a comparison with a wide constant";
    op = kCmpImm;
    b = Operand::Imm(imm);
  }
  Inst i = Make(op, bytes);
  i.Add(Operand::Use(c.a, bytes));
  i.Add(b);
  Append(i);
}

namespace {

// Constants that no immediate holds become registers first: nothing may come between the flags and their use.
Condition Prepared(X86Emitter& e, Condition c) {
  if (c.b.IsConst() && !FitsInt32(Immediate(c.bits, c.b.value)))
    c.b = IntArg::Of(e.IntConst(c.bits, c.b.value));
  return c;
}

}  // namespace

Reg X86Emitter::Compare(const Condition& condition) {
  const Condition c = Prepared(*this, condition);
  Flags(c);
  const Reg byte = General(), r = General();
  Inst set = Make(kSetcc, 1);
  set.cond = c.cond;
  set.Add(Operand::Def(byte, 1));
  Append(set);
  Inst extend = Make(kMovzx8, 4);
  extend.Add(Operand::Def(r, 4));
  extend.Add(Operand::Use(byte, 1));
  Append(extend);
  return r;
}

Reg X86Emitter::Choose(const Condition& condition, int bits, Reg then, Reg otherwise) {
  const Condition c = Prepared(*this, condition);
  const Reg r = Copy(otherwise);
  Flags(c);
  Inst i = Make(kCmov, bits / 8);
  i.cond = c.cond;
  i.Add(Operand::UseDef(r, bits / 8));
  i.Add(Operand::Use(then, bits / 8));
  Append(i);
  return r;
}

void X86Emitter::BranchIf(const Condition& condition, int block) {
  const Condition c = Prepared(*this, condition);
  Flags(c);
  Inst i = Make(kJcc, 8);
  i.cond = c.cond;
  i.Add(Operand::Block(block));
  Append(i);
}
void X86Emitter::Jump(int block) {
  Inst i = Make(kJmp, 8);
  i.Add(Operand::Block(block));
  Append(i);
}

Reg X86Emitter::AddressOf(const Address& a) { return LeaOf(64, a.base, a.index, a.scale, a.disp); }
Reg X86Emitter::SlotAddress(int slot) {
  const Reg r = General();
  Inst i = Make(kLea, 8);
  i.flags |= Inst::kRemake;
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Slot(slot, 8));
  Append(i);
  return r;
}
Reg X86Emitter::PoolAddress(int64_t offset) {
  const Reg r = General();
  Inst i = Make(kLea, 8);
  i.flags |= Inst::kRemake;
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Pool(offset, 8));
  Append(i);
  return r;
}

Reg X86Emitter::Load(DType type, const Address& a) {
  const int bytes = type.ScalarBytes();
  const Operand memory = Operand::Mem(a.base, a.index, a.scale, a.disp, bytes);
  Reg r;
  Inst i;
  if (type.IsFloat() && bytes >= 4) {
    r = Vector(16);
    i = Make(bytes == 4 ? kMovss : kMovsd, 16);
    i.Add(Operand::Def(r, 16));
  } else {
    r = General();
    const Op op = bytes == 1   ? (type.IsSigned() ? kMovsx8 : kMovzx8)
                  : bytes == 2 ? (type.IsSigned() ? kMovsx16 : kMovzx16)
                               : kMov;
    i = Make(op, bytes == 8 ? 8 : 4);
    i.Add(Operand::Def(r, bytes == 8 ? 8 : 4));
  }
  i.Add(memory);
  Append(i);
  return r;
}
void X86Emitter::Store(DType type, const Address& a, Reg value) {
  const int bytes = type.ScalarBytes();
  const bool is_float = type.IsFloat() && bytes >= 4;
  Inst i = is_float ? Make(bytes == 4 ? kMovssStore : kMovsdStore, 16) : Make(kMov, bytes);
  i.Add(Operand::Mem(a.base, a.index, a.scale, a.disp, bytes));
  i.Add(Operand::Use(value, is_float ? 16 : bytes));
  Append(i);
}
Reg X86Emitter::LoadVector(int bytes, const Address& a) {
  const Reg r = Vector(bytes);
  Inst i = Make(kMovups, bytes);
  i.Add(Operand::Def(r, bytes));
  i.Add(Operand::Mem(a.base, a.index, a.scale, a.disp, bytes));
  Append(i);
  return r;
}
void X86Emitter::StoreVector(int bytes, const Address& a, Reg value) {
  Inst i = Make(kMovupsStore, bytes);
  i.Add(Operand::Mem(a.base, a.index, a.scale, a.disp, bytes));
  i.Add(Operand::Use(value, bytes));
  Append(i);
}

}  // namespace understudy::x86_64
