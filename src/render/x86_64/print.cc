// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/render/x86_64/ops.h"

namespace understudy::x86_64 {
namespace {

using machine::Inst;
using machine::kNoReg;
using machine::kVectorBase;
using machine::Operand;
using machine::Reg;

std::string RegText(Reg r, int bytes) {
  if (machine::IsVirtual(r)) return absl::StrCat("%", r - machine::kFirstVirtual);
  if (r == kNoReg) return "%none";
  if (r >= kVectorBase) return absl::StrCat(bytes == 32 ? "ymm" : "xmm", r - kVectorBase);
  static constexpr const char* kNames[4][8] = {{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"},
                                               {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"},
                                               {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"},
                                               {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"}};
  const int size = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  if (r < 8) return kNames[size][r];
  static constexpr const char* kSuffix[] = {"b", "w", "d", ""};
  return absl::StrCat("r", r, kSuffix[size]);
}

std::string Disp(int64_t v, bool first) {
  if (first) return absl::StrCat(v);
  return v < 0 ? absl::StrCat(" - ", -v) : absl::StrCat(" + ", v);
}

std::string OperandText(const Inst& inst, const Operand& o, const Layout* layout, int64_t next) {
  const char* size = o.bytes == 1    ? "byte ptr "
                     : o.bytes == 2  ? "word ptr "
                     : o.bytes == 4  ? "dword ptr "
                     : o.bytes == 8  ? "qword ptr "
                     : o.bytes == 16 ? "xmmword ptr "
                                     : "ymmword ptr ";
  if (inst.op == kLea) size = "";
  switch (o.kind) {
    case Operand::Kind::kReg:
      return RegText(o.reg, o.bytes);
    case Operand::Kind::kImm:
      return absl::StrCat(o.imm);
    case Operand::Kind::kBlock:
      return absl::StrCat(".L", o.imm);
    case Operand::Kind::kSlot:
      if (layout == nullptr) return absl::StrCat(size, "[slot ", o.slot, "]");
      {
        const int64_t at = layout->slot_offsets[o.slot] + o.imm;
        return absl::StrCat(size, "[rsp", at == 0 ? "" : Disp(at, false), "]");
      }
    case Operand::Kind::kPool: {
      if (layout == nullptr) return absl::StrCat(size, "[pool ", o.imm, "]");
      const int64_t at = layout->pool_offset + o.imm - next;
      return absl::StrCat(size, "[rip", at == 0 ? "" : Disp(at, false), "]");
    }
    case Operand::Kind::kMem: {
      std::string text = absl::StrCat(size, "[", RegText(o.reg, 8));
      if (o.index != kNoReg)
        absl::StrAppend(&text, " + ", o.scale > 1 ? absl::StrCat(static_cast<int>(o.scale), "*") : "",
                        RegText(o.index, 8));
      if (o.imm != 0) text += Disp(o.imm, false);
      return text + "]";
    }
    default:
      return "?";
  }
}

const char* CondText(machine::Cond c) {
  static constexpr const char* kNames[] = {"e", "ne", "l", "le", "g", "ge", "b", "be", "a", "ae"};
  return kNames[static_cast<int>(c)];
}

}  // namespace

const OpInfo& InfoOf(uint16_t op) {
  static constexpr OpInfo kInfos[] = {
#define OP(name, mnemonic, form, prefix, map, opcode, extension, w) \
  {mnemonic, Form::k##form, prefix, map, opcode, extension, w},
#include "src/render/x86_64/ops.inc"
  };
  US_CHECK(op < kNumOps) << "opcode " << op;
  return kInfos[op];
}

int ConditionCode(machine::Cond c) {
  constexpr int kCodes[] = {4, 5, 0xc, 0xe, 0xf, 0xd, 2, 6, 7, 3};
  return kCodes[static_cast<int>(c)];
}

std::string Text(const Inst& inst, const Layout* layout, int64_t next_offset) {
  const OpInfo& info = InfoOf(inst.op);
  std::string name = info.mnemonic;
  const bool vex = inst.flags & Inst::kVex;
  int shown = inst.count;
  int imm = -1;  // an operand that the name says already
  switch (info.form) {
    case Form::kSet:
    case Form::kCmov:
      name += CondText(inst.cond);
      break;
    case Form::kJump:
      if (inst.op == kJcc) name += CondText(inst.cond);
      break;
    case Form::kDivide:
      shown = 1;
      break;
    case Form::kHidden:
      shown = 0;
      break;
    case Form::kShiftCl: {
      return absl::StrCat(name, "\t", OperandText(inst, inst.ops[0], layout, next_offset), ", cl");
    }
    case Form::kCompare: {
      static constexpr const char* kNames[] = {"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord"};
      imm = shown - 1;
      name = absl::StrCat("cmp", kNames[inst.ops[imm].imm & 7], name);
      --shown;
      break;
    }
    case Form::kMovImm:
      if (inst.ops[0].bytes == 8 && (inst.ops[1].imm < INT32_MIN || inst.ops[1].imm > INT32_MAX))
        name = "movabs";
      break;
    default:
      break;
  }
  // Shifts by one have an opcode of their own, which says so.
  if (info.form == Form::kShiftImm && inst.ops[1].imm == 1) shown = 1;
  if (vex) name = "v" + name;
  std::string text = name;
  for (int i = 0; i < shown; ++i) {
    text += i == 0 ? "\t" : ", ";
    const Operand& o = inst.ops[i];
    // MC shows four bytes of a 32-bit operation without a sign, one byte with it.
    const bool four = o.kind == Operand::Kind::kImm && inst.ops[0].bytes == 4 &&
                      (info.form == Form::kMovImm || ((info.form == Form::kMI || info.form == Form::kRMI) &&
                                                      (o.imm < -128 || o.imm > 127)));
    if (four) {
      absl::StrAppend(&text, static_cast<uint32_t>(o.imm));
    } else {
      text += OperandText(inst, o, layout, next_offset);
    }
  }
  if (info.form == Form::kZero) {
    const std::string r = OperandText(inst, inst.ops[0], layout, next_offset);
    text = absl::StrCat(text, ", ", r, vex ? ", " + r : "");
  }
  return text;
}

}  // namespace understudy::x86_64
