// SPDX-License-Identifier: Apache-2.0
// Integers, memory, jumps.
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/render/aarch64/emitter.h"

namespace understudy::aarch64 {

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

Inst Make(Op op, int bytes) {
  Inst i;
  i.op = op;
  i.bytes = static_cast<uint8_t>(bytes);
  return i;
}
int64_t Narrow(int bits, int64_t v) { return bits == 32 ? static_cast<int32_t>(v) : v; }
bool FitsCompare(int64_t v) { return v > -4096 && v < 4096; }

}  // namespace

const std::vector<Reg>& A64Processor::Allocatable(RegClass c) const {
  // What a caller keeps comes first; X16 to X18 are the platform's, X29 and X30 stay as they are.
  static const std::vector<Reg> kGeneral = [] {
    std::vector<Reg> all;
    for (Reg i = 0; i < 16; ++i) all.push_back(i);
    for (Reg i = 19; i < 29; ++i) all.push_back(i);
    return all;
  }();
  static const std::vector<Reg> kVector = [] {
    std::vector<Reg> all;
    for (Reg i = 0; i < 8; ++i) all.push_back(kVectorBase + i);
    for (Reg i = 16; i < 32; ++i) all.push_back(kVectorBase + i);
    for (Reg i = 8; i < 16; ++i) all.push_back(kVectorBase + i);
    return all;
  }();
  return c == RegClass::kGeneral ? kGeneral : kVector;
}
Inst A64Processor::Move(RegClass c, int bytes, Reg to, Reg from) const {
  Inst i = Make(c == RegClass::kGeneral ? kMovOp : kMovVOp, bytes);
  i.flags = Inst::kMove;
  i.Add(Operand::Def(to, bytes));
  i.Add(Operand::Use(from, bytes));
  return i;
}
Inst A64Processor::Reload(RegClass c, int bytes, Reg to, const Operand& from) const {
  Inst i = Make(c == RegClass::kGeneral ? kLdrXOp : kLdrQOp, bytes);
  i.Add(Operand::Def(to, bytes));
  i.Add(from);
  return i;
}
Inst A64Processor::Spill(RegClass c, int bytes, const Operand& to, Reg from) const {
  Inst i = Make(c == RegClass::kGeneral ? kStrXOp : kStrQOp, bytes);
  i.Add(to);
  i.Add(Operand::Use(from, bytes));
  return i;
}

void A64Emitter::Begin() {
  for (Reg* r : {&buffers_, &vars_, &workgroup_}) *r = f_.NewReg(RegClass::kGeneral, 8);
  AppendToEntry(processor_.Move(RegClass::kGeneral, 8, buffers_, 0));
  AppendToEntry(processor_.Move(RegClass::kGeneral, 8, vars_, 1));
  AppendToEntry(processor_.Move(RegClass::kGeneral, 8, workgroup_, 2));
}
Reg A64Emitter::Buffer(int64_t position) {
  US_CHECK(position < 4096) << "buffer " << position;
  const Reg r = General();
  Inst i = Make(kLdrXOp, 8);
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Mem(buffers_, kNoReg, 1, 8 * position, 8));
  AppendToEntry(i);
  return r;
}
Reg A64Emitter::Variable(int64_t number) {
  US_CHECK(number < 4096) << "variable " << number;
  const Reg r = General();
  Inst i = Make(kLdrXOp, 8);
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Mem(vars_, kNoReg, 1, 8 * number, 8));
  AppendToEntry(i);
  return r;
}
void A64Emitter::Return() { Append(Make(kRetOp, 8)); }

Reg A64Emitter::IntConst(int bits, int64_t value) {
  const Reg r = General();
  value = Narrow(bits, value);
  Inst i;
  if (IsMovImm(bits, value)) {
    i = Make(kMovImmOp, bits / 8);
    i.Add(Operand::Def(r, bits / 8));
    i.Add(Operand::Imm(value));
  } else {
    const uint64_t data = static_cast<uint64_t>(value) & LowMask(bits);
    i = Make(kLiteralXOp, 8);
    i.Add(Operand::Def(r, 8));
    i.Add(Operand::Pool(PoolConstant(&data, 8), 8));
  }
  i.flags |= Inst::kRemake;
  Append(i);
  return r;
}

Reg A64Emitter::General3(Op op, int bits, Reg a, Reg b) {
  const Reg r = General();
  Inst i = Make(op, bits / 8);
  i.Add(Operand::Def(r, bits / 8));
  i.Add(Operand::Use(a, bits / 8));
  i.Add(Operand::Use(b, bits / 8));
  Append(i);
  return r;
}
Reg A64Emitter::General2Imm(Op op, int bits, Reg a, int64_t imm) {
  const Reg r = General();
  Inst i = Make(op, bits / 8);
  i.Add(Operand::Def(r, bits / 8));
  i.Add(Operand::Use(a, bits / 8));
  i.Add(Operand::Imm(imm));
  Append(i);
  return r;
}
Reg A64Emitter::AddConst(int bits, Reg a, int64_t v) {
  if (v == 0) return a;
  if (v > -4096 && v < 4096) return General2Imm(v < 0 ? kSubImmOp : kAddImmOp, bits, a, v < 0 ? -v : v);
  return General3(kAddOp, bits, a, IntConst(bits, v));
}

Reg A64Emitter::IntBinary(understudy::Op op, bool is_signed, int bits, Reg a, IntArg b) {
  using O = understudy::Op;
  const int64_t imm = b.IsConst() ? Narrow(bits, b.value) : 0;
  const auto power = [&]() -> int {
    const uint64_t v = static_cast<uint64_t>(imm) & LowMask(bits);
    return b.IsConst() && IsPow2(v) ? __builtin_ctzll(v) : -1;
  };
  switch (op) {
    case O::kAdd:
      return b.IsConst() ? AddConst(bits, a, imm) : General3(kAddOp, bits, a, b.reg);
    case O::kSub:
      if (b.IsConst())
        return AddConst(bits, a, Narrow(bits, static_cast<int64_t>(0 - static_cast<uint64_t>(imm))));
      return General3(kSubOp, bits, a, b.reg);
    case O::kMul:
      if (const int shift = power(); shift >= 0)
        return shift == 0 ? a : General2Imm(kLslImmOp, bits, a, shift);
      return General3(kMulOp, bits, a, ToReg(bits, b));
    case O::kAnd:
      if (b.IsConst() && IsMask(bits, imm)) return General2Imm(kAndMaskOp, bits, a, imm);
      return General3(kAndOp, bits, a, ToReg(bits, b));
    case O::kOr:
      return General3(kOrrOp, bits, a, ToReg(bits, b));
    case O::kXor:
      return General3(kEorOp, bits, a, ToReg(bits, b));
    case O::kShl:
      if (b.IsConst()) return imm == 0 ? a : General2Imm(kLslImmOp, bits, a, imm);
      return General3(kLslOp, bits, a, b.reg);
    case O::kShr:
      if (b.IsConst()) return imm == 0 ? a : General2Imm(is_signed ? kAsrImmOp : kLsrImmOp, bits, a, imm);
      return General3(is_signed ? kAsrOp : kLsrOp, bits, a, b.reg);
    case O::kIDiv:
    case O::kIMod: {
      if (const int shift = is_signed ? -1 : power(); shift >= 0) {
        if (op == O::kIDiv) return shift == 0 ? a : General2Imm(kLsrImmOp, bits, a, shift);
        if (shift == 0) return IntConst(bits, 0);
        return General2Imm(kAndMaskOp, bits, a, imm - 1);
      }
      const Reg divisor = ToReg(bits, b);
      const Reg q = General3(is_signed ? kSdivOp : kUdivOp, bits, a, divisor);
      if (op == O::kIDiv) return q;
      const Reg r = General();
      Inst i = Make(kMsubOp, bits / 8);
      i.Add(Operand::Def(r, bits / 8));
      i.Add(Operand::Use(q, bits / 8));
      i.Add(Operand::Use(divisor, bits / 8));
      i.Add(Operand::Use(a, bits / 8));
      Append(i);
      return r;
    }
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

Reg A64Emitter::IntNeg(int bits, Reg a) {
  const Reg r = General();
  Inst i = Make(kNegOp, bits / 8);
  i.Add(Operand::Def(r, bits / 8));
  i.Add(Operand::Use(a, bits / 8));
  Append(i);
  return r;
}
Reg A64Emitter::Extend(int from_bits, bool is_signed, Reg a, int to_bits) {
  Op op = kMovOp;
  if (from_bits == 8) op = is_signed ? kSxtbOp : kUxtbOp;
  if (from_bits == 16) op = is_signed ? kSxthOp : kUxthOp;
  if (from_bits == 32 && is_signed) op = kSxtwOp;
  const int to = is_signed ? to_bits / 8 : 4;  // writing 32 bits clears the others
  const Reg r = General();
  Inst i = Make(op, to);
  i.Add(Operand::Def(r, to));
  i.Add(Operand::Use(a, 4));
  Append(i);
  return r;
}

void A64Emitter::Flags(const Condition& c) {
  const int bytes = c.bits / 8;
  const int64_t imm = c.b.IsConst() ? Narrow(c.bits, c.b.value) : 0;
  Inst i = Make(!c.b.IsConst() ? kCmpOp : imm < 0 ? kCmnImmOp : kCmpImmOp, bytes);
  i.Add(Operand::Use(c.a, bytes));
  i.Add(c.b.IsConst() ? Operand::Imm(imm < 0 ? -imm : imm) : Operand::Use(c.b.reg, bytes));
  Append(i);
}

namespace {

// Constants that no immediate holds become registers first.
Condition Prepared(A64Emitter& e, Condition c) {
  if (c.b.IsConst() && !FitsCompare(Narrow(c.bits, c.b.value)))
    c.b = IntArg::Of(e.IntConst(c.bits, c.b.value));
  return c;
}

}  // namespace

Reg A64Emitter::Compare(const Condition& condition) {
  const Condition c = Prepared(*this, condition);
  Flags(c);
  const Reg r = General();
  Inst i = Make(kCsetOp, 4);
  i.cond = c.cond;
  i.Add(Operand::Def(r, 4));
  Append(i);
  return r;
}
Reg A64Emitter::Choose(const Condition& condition, int bits, Reg then, Reg otherwise) {
  const Condition c = Prepared(*this, condition);
  Flags(c);
  const Reg r = General();
  Inst i = Make(kCselOp, bits / 8);
  i.cond = c.cond;
  i.Add(Operand::Def(r, bits / 8));
  i.Add(Operand::Use(then, bits / 8));
  i.Add(Operand::Use(otherwise, bits / 8));
  Append(i);
  return r;
}
void A64Emitter::BranchIf(const Condition& condition, int block) {
  const Condition c = Prepared(*this, condition);
  Flags(c);
  Inst i = Make(kBCondOp, 8);
  i.cond = c.cond;
  i.Add(Operand::Block(block));
  Append(i);
}
void A64Emitter::Jump(int block) {
  Inst i = Make(kBOp, 8);
  i.Add(Operand::Block(block));
  Append(i);
}

Reg A64Emitter::Sum(const Address& a) {
  if (a.index == kNoReg) return a.base;
  Reg& r = sums_.try_emplace({block_, a.base, a.index, a.scale}, kNoReg).first->second;
  if (r != kNoReg) return r;
  r = General();
  Inst i = Make(a.scale == 1 ? kAddOp : kAddShiftedOp, 8);
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Use(a.base, 8));
  i.Add(Operand::Use(a.index, 8));
  if (a.scale > 1) i.Add(Operand::Imm(__builtin_ctz(a.scale)));
  Append(i);
  return r;
}
Reg A64Emitter::AddressOf(const Address& a) { return AddConst(64, Sum(a), a.disp); }
Reg A64Emitter::SlotAddress(int slot) {
  // The frame is laid out later: the distance is added by the assembler.
  const Reg r = General();
  Inst i = Make(kAddImmOp, 8);
  i.flags |= Inst::kRemake;
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Slot(slot, 8));
  Append(i);
  return r;
}
Reg A64Emitter::PoolAddress(int64_t offset) {
  const Reg r = General();
  Inst i = Make(kAdrOp, 8);
  i.flags |= Inst::kRemake;
  i.Add(Operand::Def(r, 8));
  i.Add(Operand::Pool(offset, 8));
  Append(i);
  return r;
}

Operand A64Emitter::MemoryOf(const Address& a, int bytes) {
  if (a.index != kNoReg && a.disp == 0 && (a.scale == 1 || a.scale == bytes))
    return Operand::Mem(a.base, a.index, a.scale, 0, bytes);
  const Reg base = Sum(a);
  const bool scaled = a.disp >= 0 && a.disp % bytes == 0 && a.disp / bytes < 4096;
  if (scaled || (a.disp >= -256 && a.disp < 256)) return Operand::Mem(base, kNoReg, 1, a.disp, bytes);
  return Operand::Mem(AddConst(64, base, a.disp), kNoReg, 1, 0, bytes);
}
Reg A64Emitter::Load(DType type, const Address& a) {
  const int bytes = type.ScalarBytes();
  const bool is_float = type.IsFloat() && bytes >= 4;
  const Operand memory = MemoryOf(a, bytes);
  const Reg r = is_float ? Vector(16) : General();
  const Op op = is_float     ? (bytes == 4 ? kLdrSOp : kLdrDOp)
                : bytes == 1 ? (type.IsSigned() ? kLdrsbOp : kLdrbOp)
                : bytes == 2 ? (type.IsSigned() ? kLdrshOp : kLdrhOp)
                : bytes == 4 ? kLdrWOp
                             : kLdrXOp;
  Inst i = Make(op, bytes);
  i.Add(Operand::Def(r, is_float ? bytes : bytes == 8 ? 8 : 4));
  i.Add(memory);
  Append(i);
  return r;
}
void A64Emitter::Store(DType type, const Address& a, Reg value) {
  const int bytes = type.ScalarBytes();
  const bool is_float = type.IsFloat() && bytes >= 4;
  const Operand memory = MemoryOf(a, bytes);
  const Op op = is_float     ? (bytes == 4 ? kStrSOp : kStrDOp)
                : bytes == 1 ? kStrbOp
                : bytes == 2 ? kStrhOp
                : bytes == 4 ? kStrWOp
                             : kStrXOp;
  Inst i = Make(op, bytes);
  i.Add(memory);
  i.Add(Operand::Use(value, is_float ? bytes : bytes == 8 ? 8 : 4));
  Append(i);
}
Reg A64Emitter::LoadVector(int bytes, const Address& a) {
  const Operand memory = MemoryOf(a, bytes);
  const Reg r = Vector(bytes);
  Inst i = Make(kLdrQOp, bytes);
  i.Add(Operand::Def(r, bytes));
  i.Add(memory);
  Append(i);
  return r;
}
void A64Emitter::StoreVector(int bytes, const Address& a, Reg value) {
  Inst i = Make(kStrQOp, bytes);
  i.Add(MemoryOf(a, bytes));
  i.Add(Operand::Use(value, bytes));
  Append(i);
}

}  // namespace understudy::aarch64
