// SPDX-License-Identifier: Apache-2.0
// Bytes of instructions: Intel SDM volume 2, chapter 2 (prefixes, ModRM, SIB, VEX).
#include "src/base/status.h"
#include "src/render/x86_64/ops.h"

namespace understudy::x86_64 {
namespace {

using machine::Inst;
using machine::kNoReg;
using machine::kVectorBase;
using machine::Operand;
using machine::Reg;

int Number(Reg r) {
  US_CHECK(machine::IsReal(r)) << "a virtual register in code";
  return static_cast<int>(r < kVectorBase ? r : r - kVectorBase);
}
int Number(const Operand& o) {
  US_CHECK(o.IsReg()) << "expected a register";
  return Number(o.reg);
}

class Writer {
 public:
  Writer(const Inst& inst, const Layout& layout, std::vector<uint8_t>* out)
      : inst_(inst), info_(InfoOf(inst.op)), layout_(layout), out_(*out) {}

  void Byte(uint64_t b) { out_.push_back(static_cast<uint8_t>(b)); }
  void Int(int64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) Byte(static_cast<uint64_t>(v) >> (8 * i));
  }

  // Prefixes, opcode and ModRM of an instruction whose operands are `reg` (or an extension), `vvvv` and `rm`;
  // `tail` bytes of immediates follow.
  void Opcode(int opcode, int reg, int vvvv, const Operand& rm, bool w, int tail) {
    Operand memory = rm;
    if (rm.kind == Operand::Kind::kSlot)
      memory = Operand::Mem(kRsp, kNoReg, 1, layout_.slot_offsets[rm.slot] + rm.imm, rm.bytes);
    const bool b = memory.IsReg() ? Number(memory) >= 8
                                  : memory.kind == Operand::Kind::kMem && memory.reg != kNoReg &&
                                        Number(memory.reg) >= 8;
    const bool x = memory.kind == Operand::Kind::kMem && memory.index != kNoReg && Number(memory.index) >= 8;
    const bool r = reg >= 8;
    if (inst_.flags & Inst::kVex) {
      const int pp = info_.prefix == 0 ? 0 : info_.prefix == 0x66 ? 1 : info_.prefix == 0xf3 ? 2 : 3;
      const int tail_byte = (~vvvv & 15) << 3 | (inst_.bytes == 32 ? 4 : 0) | pp;
      if (!x && !b && !w && info_.map == 1) {
        Byte(0xc5);
        Byte((r ? 0 : 0x80) | tail_byte);
      } else {
        Byte(0xc4);
        Byte((r ? 0 : 0x80) | (x ? 0 : 0x40) | (b ? 0 : 0x20) | info_.map);
        Byte((w ? 0x80 : 0) | tail_byte);
      }
    } else {
      if (inst_.bytes == 2 && info_.form == Form::kMR) Byte(0x66);
      if (info_.prefix != 0) Byte(info_.prefix);
      const int rex = (w ? 8 : 0) | (r ? 4 : 0) | (x ? 2 : 0) | (b ? 1 : 0);
      if (rex != 0 || LowByteNeedsRex(reg, memory)) Byte(0x40 | rex);
      if (info_.map >= 1) Byte(0x0f);
      if (info_.map == 2) Byte(0x38);
      if (info_.map == 3) Byte(0x3a);
    }
    Byte(opcode);
    ModRm(reg & 7, memory, tail);
  }

 private:
  // SPL, BPL, SIL and DIL.
  bool LowByteNeedsRex(int reg, const Operand& rm) const {
    const auto low = [](int n) { return n >= 4 && n < 8; };
    switch (info_.form) {
      case Form::kSet:
        return low(Number(rm));
      case Form::kMR:
        return inst_.bytes == 1 && low(reg);
      case Form::kRM:
        return rm.IsReg() && rm.bytes == 1 && low(Number(rm));
      default:
        return false;
    }
  }

  void ModRm(int reg, const Operand& rm, int tail) {
    if (rm.IsReg()) {
      Byte(0xc0 | reg << 3 | (Number(rm) & 7));
      return;
    }
    if (rm.kind == Operand::Kind::kPool) {
      Byte(reg << 3 | 5);
      const int64_t end = static_cast<int64_t>(out_.size()) + 4 + tail;
      Int(layout_.pool_offset + rm.imm - end, 4);
      return;
    }
    US_CHECK(rm.kind == Operand::Kind::kMem && rm.reg != kNoReg) << "an operand that is no memory";
    const int base = Number(rm.reg) & 7;
    const bool sib = rm.index != kNoReg || base == 4;
    // RBP and R13 have no form without displacement.
    const int mod = rm.imm == 0 && base != 5 ? 0 : rm.imm >= -128 && rm.imm < 128 ? 1 : 2;
    Byte(mod << 6 | reg << 3 | (sib ? 4 : base));
    if (sib) {
      const int scale = rm.scale == 8 ? 3 : rm.scale == 4 ? 2 : rm.scale == 2 ? 1 : 0;
      const int index = rm.index == kNoReg ? 4 : Number(rm.index) & 7;
      Byte(scale << 6 | index << 3 | base);
    }
    if (mod == 1) Int(rm.imm, 1);
    if (mod == 2) Int(rm.imm, 4);
  }

  const Inst& inst_;
  const OpInfo& info_;
  const Layout& layout_;
  std::vector<uint8_t>& out_;
};

bool FitsByte(int64_t v) { return v >= -128 && v < 128; }

}  // namespace

void Encode(const Inst& inst, const Layout& layout, int64_t target, std::vector<uint8_t>* code) {
  const OpInfo& info = InfoOf(inst.op);
  Writer w(inst, layout, code);
  const auto& ops = inst.ops;
  const bool vex = inst.flags & Inst::kVex;
  bool wide = info.w == 1;
  if (info.w < 0) {
    for (int i = 0; i < inst.count; ++i) {
      // Of a general register; memory has the size of one.
      if (ops[i].IsReg() && ops[i].reg < kVectorBase && ops[i].bytes == 8) wide = true;
    }
    if (inst.op == kCvtsi2ss || inst.op == kCvtsi2sd) wide = ops[inst.count - 1].bytes == 8;
  }
  switch (info.form) {
    case Form::kMR:
      if (ops[1].IsMemory()) {
        w.Opcode(inst.op == kTest ? info.opcode : info.opcode | 2, Number(ops[0]), 0, ops[1], wide, 0);
      } else {
        w.Opcode(inst.bytes == 1 ? info.opcode - 1 : info.opcode, Number(ops[1]), 0, ops[0], wide, 0);
      }
      return;
    case Form::kRM:
      w.Opcode(info.opcode, Number(ops[0]), 0, ops[1], wide, 0);
      return;
    case Form::kRMI: {
      const bool byte = FitsByte(ops[2].imm);
      w.Opcode(byte ? info.opcode | 2 : info.opcode, Number(ops[0]), 0, ops[1], wide, byte ? 1 : 4);
      w.Int(ops[2].imm, byte ? 1 : 4);
      return;
    }
    case Form::kM:
      w.Opcode(info.opcode, info.extension, 0, ops[0], wide, 0);
      return;
    case Form::kDivide:
      w.Opcode(info.opcode, info.extension, 0, ops[0], wide, 0);
      return;
    case Form::kMI: {
      const bool byte = FitsByte(ops[1].imm);
      if (!byte && ops[0].IsReg() && ops[0].reg == kRax) {  // the accumulator's own opcode
        if (wide) w.Byte(0x48);
        w.Byte(info.extension * 8 + 5);
        w.Int(ops[1].imm, 4);
        return;
      }
      w.Opcode(byte ? info.opcode | 2 : info.opcode, info.extension, 0, ops[0], wide, byte ? 1 : 4);
      w.Int(ops[1].imm, byte ? 1 : 4);
      return;
    }
    case Form::kMovImm: {
      const int n = Number(ops[0]);
      const int64_t v = ops[1].imm;
      if (wide && v >= INT32_MIN && v <= INT32_MAX) {
        w.Byte(0x48 | (n >= 8 ? 1 : 0));
        w.Byte(0xc7);
        w.Byte(0xc0 | (n & 7));
        w.Int(v, 4);
        return;
      }
      if (wide || n >= 8) w.Byte(0x40 | (wide ? 8 : 0) | (n >= 8 ? 1 : 0));
      w.Byte(info.opcode | (n & 7));
      w.Int(v, wide ? 8 : 4);
      return;
    }
    case Form::kShiftImm:
      if (ops[1].imm == 1) {
        w.Opcode(0xd1, info.extension, 0, ops[0], wide, 0);
        return;
      }
      w.Opcode(info.opcode, info.extension, 0, ops[0], wide, 1);
      w.Int(ops[1].imm, 1);
      return;
    case Form::kShiftCl:
      w.Opcode(info.opcode, info.extension, 0, ops[0], wide, 0);
      return;
    case Form::kHidden:
      if (vex) {
        w.Byte(0xc5);
        w.Byte(0xf8);
      } else if (wide) {
        w.Byte(0x48);
      }
      w.Byte(info.opcode);
      return;
    case Form::kSet:
      w.Opcode(info.opcode + ConditionCode(inst.cond), 0, 0, ops[0], false, 0);
      return;
    case Form::kCmov:
      w.Opcode(info.opcode + ConditionCode(inst.cond), Number(ops[0]), 0, ops[1], wide, 0);
      return;
    case Form::kJump: {
      const int64_t here = static_cast<int64_t>(code->size());
      const bool conditional = inst.op == kJcc;
      if (target >= 0 && FitsByte(target - here - 2)) {
        w.Byte(conditional ? 0x70 + ConditionCode(inst.cond) : 0xeb);
        w.Int(target - here - 2, 1);
        return;
      }
      if (conditional) w.Byte(0x0f);
      w.Byte(conditional ? info.opcode + ConditionCode(inst.cond) : info.opcode);
      w.Int(target >= 0 ? target - static_cast<int64_t>(code->size()) - 4 : 0, 4);
      return;
    }
    case Form::kPushPop: {
      const int n = Number(ops[0]);
      if (n >= 8) w.Byte(0x41);
      w.Byte(info.opcode | (n & 7));
      return;
    }
    case Form::kZero:
      w.Opcode(info.opcode, Number(ops[0]), vex ? Number(ops[0]) : 0, ops[0], false, 0);
      return;
    case Form::kV2:
      w.Opcode(info.opcode, Number(ops[0]), 0, ops[1], wide, 0);
      return;
    case Form::kV2Imm:
      w.Opcode(info.opcode, Number(ops[0]), 0, ops[1], wide, 1);
      w.Int(ops[2].imm, 1);
      return;
    case Form::kV2Store:
      w.Opcode(info.opcode, Number(ops[1]), 0, ops[0], wide, 0);
      return;
    case Form::kV2StoreImm:
      w.Opcode(info.opcode, Number(ops[1]), 0, ops[0], wide, 1);
      w.Int(ops[2].imm, 1);
      return;
    case Form::kV3:
    case Form::kV3One:
      w.Opcode(info.opcode, Number(ops[0]), vex ? Number(ops[1]) : 0, ops[vex ? 2 : 1], wide, 0);
      return;
    case Form::kV3Imm:
    case Form::kV3OneImm:
    case Form::kCompare:
      w.Opcode(info.opcode, Number(ops[0]), vex ? Number(ops[1]) : 0, ops[vex ? 2 : 1], wide, 1);
      w.Int(ops[vex ? 3 : 2].imm, 1);
      return;
    case Form::kVShift:
      w.Opcode(info.opcode, info.extension, vex ? Number(ops[0]) : 0, ops[vex ? 1 : 0], false, 1);
      w.Int(ops[vex ? 2 : 1].imm, 1);
      return;
    case Form::kV4:
      w.Opcode(info.opcode, Number(ops[0]), Number(ops[1]), ops[2], false, 1);
      w.Int(Number(ops[3]) << 4, 1);
      return;
  }
}

}  // namespace understudy::x86_64
