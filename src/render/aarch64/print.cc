// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/render/aarch64/ops.h"

namespace understudy::aarch64 {
namespace {

using machine::Inst;
using machine::kNoReg;
using machine::kVectorBase;
using machine::Operand;
using machine::Reg;

std::string RegText(Reg r, int bytes) {
  if (machine::IsVirtual(r)) return absl::StrCat("%", r - machine::kFirstVirtual);
  if (r == kNoReg) return "%none";
  if (r >= kVectorBase)
    return absl::StrCat(bytes == 2 ? "h" : bytes == 4 ? "s" : bytes == 8 ? "d" : "q", r - kVectorBase);
  if (r == kSp) return bytes == 4 ? "wsp" : "sp";
  return absl::StrCat(bytes == 8 ? "x" : "w", r);
}

std::string Offset(int64_t v) { return v == 0 ? "" : absl::StrCat(", #", v); }

std::string OperandText(const Operand& o, const Layout* layout, int64_t offset) {
  switch (o.kind) {
    case Operand::Kind::kReg:
      return RegText(o.reg, o.bytes);
    case Operand::Kind::kImm:
      return absl::StrCat("#", o.imm);
    case Operand::Kind::kBlock:
      return absl::StrCat(".L", o.imm);
    case Operand::Kind::kSlot:
      if (layout == nullptr) return absl::StrCat("[slot ", o.slot, Offset(o.imm), "]");
      return absl::StrCat("[sp", Offset(layout->slot_offsets[o.slot] + o.imm), "]");
    case Operand::Kind::kPool:
      if (layout == nullptr) return absl::StrCat("[pool ", o.imm, "]");
      return absl::StrCat("#", layout->pool_offset + o.imm - offset);
    case Operand::Kind::kMem: {
      std::string text = "[" + RegText(o.reg, 8);
      if (o.index != kNoReg) {
        absl::StrAppend(&text, ", ", RegText(o.index, 8));
        if (o.scale > 1) absl::StrAppend(&text, ", lsl #", __builtin_ctz(o.scale));
      }
      return text + Offset(o.imm) + "]";
    }
    default:
      return "?";
  }
}

}  // namespace

const OpInfo& InfoOf(uint16_t op) {
  static constexpr OpInfo kInfos[] = {
#define OP(name, text, encoding, word, widths) {text, Encoding::k##encoding, word, widths},
#include "src/render/aarch64/ops.inc"
  };
  US_CHECK(op < kNumOps) << "opcode " << op;
  return kInfos[op];
}

std::string Text(const Inst& inst, const Layout* layout, int64_t offset) {
  static constexpr const char* kConditions[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
  const OpInfo& info = InfoOf(inst.op);
  std::string text;
  const char* form = info.text;
  // What MC calls these.
  if (inst.op == kVOrrOp && inst.ops[1].reg == inst.ops[2].reg) form = InfoOf(kMovVOp).text;
  if (inst.op == kAddImmOp && inst.ops[2].imm == 0 && (inst.ops[0].reg == kSp || inst.ops[1].reg == kSp))
    form = InfoOf(kMovOp).text;
  for (const char* p = form; *p != 0; ++p) {
    if (*p != '$') {
      text += *p;
      continue;
    }
    ++p;
    if (*p == 'c') {
      text += kConditions[static_cast<int>(inst.cond)];
    } else if (*p == 'a') {
      text += inst.bytes == 8 ? "2d" : "4s";
    } else if (*p == 't') {
      text += inst.bytes == 8 ? "d" : "s";
    } else {
      const char how = std::isdigit(static_cast<unsigned char>(*p)) ? 0 : *p++;
      const Operand& o = inst.ops[*p - '0'];
      if (how == 'v' && o.IsReg() && machine::IsReal(o.reg)) {
        absl::StrAppend(&text, "v", o.reg - kVectorBase);
      } else if (how == 'w') {
        text += RegText(o.reg, 4);
      } else if (how == 'h') {
        absl::StrAppend(&text, "#0x", absl::Hex(static_cast<uint64_t>(o.imm)));
      } else if (how == 'n') {
        absl::StrAppend(&text, o.imm);
      } else {
        text += OperandText(o, layout, offset);
      }
    }
  }
  // What the unscaled form is called.
  const bool load = info.encoding == Encoding::kMemory, store = info.encoding == Encoding::kStore;
  if (load || store) {
    const Operand& m = inst.ops[load ? 1 : 0];
    const int64_t at = m.kind == Operand::Kind::kSlot
                           ? (layout == nullptr ? 0 : layout->slot_offsets[m.slot] + m.imm)
                       : m.index != kNoReg ? 0
                                           : m.imm;
    const uint32_t size = (info.word & 0x04800000) == 0x04800000 ? 4 : info.word >> 30;
    if (at < 0 || at % (int64_t{1} << size) != 0) text = absl::StrCat(load ? "ldu" : "stu", text.substr(2));
  }
  return text;
}

}  // namespace understudy::aarch64
