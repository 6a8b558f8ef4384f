// SPDX-License-Identifier: Apache-2.0
// SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.

#include "absl/strings/str_format.h"
#include "emu/amd/disasm/text_writer.h"

namespace understudy::emu::amd::disasm {

std::string ScalarText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  switch (inst.enc) {
    case Encoding::SOPP: {
      switch (inst.op) {
        case Opcode::S_WAIT_IDLE:
        case Opcode::S_CODE_END:
        case Opcode::S_ENDPGM_SAVED:
        case Opcode::S_ENDPGM_ORDERED_PS_DONE:
        case Opcode::S_WAKEUP:
        case Opcode::S_TTRACEDATA:
        case Opcode::S_ICACHE_INV:
        case Opcode::S_BARRIER:
        case Opcode::S_BARRIER_LEAVE:
          return w.Take();
        default:
          break;
      }
      std::string immediate = ImmediateText(inst);
      if (!immediate.empty()) w.Operand(immediate);
      return w.Take();
    }
    case Encoding::SOPK:
      if (inst.op == Opcode::S_SETREG_B32 || inst.op == Opcode::S_SETREG_IMM32_B32) {
        w.Operand(ImmediateText(inst));
        w.Operand(inst.op == Opcode::S_SETREG_B32 ? OperandText(inst.src[0], options)
                                                  : NumberText(inst.lit32));
        return w.Take();
      }
      if (inst.n_dst) {
        w.Operand(OperandText(inst.dst[0], options));
      } else if (inst.n_src) {
        w.Operand(OperandText(inst.src[0], options));
      }
      w.Operand(ImmediateText(inst));
      return w.Take();
    default:
      break;
  }
  if (inst.n_dst) w.Operand(OperandText(inst.dst[0], options));
  if (inst.op == Opcode::S_SENDMSG_RTN_B32 || inst.op == Opcode::S_SENDMSG_RTN_B64) {
    w.Operand(ImmediateText(inst));
    return w.Take();
  }
  for (int i = 0; i < NamedSources(inst); ++i) {
    Operand o = inst.src[i];
    if (o.bits == 16 && o.type != DataType::F16)
      o.bits = 32, o.type = DataType::B32;  // integers read a whole word
    w.Operand(IsFmaConstant(inst, i) ? Hex(inst.lit32) : OperandText(o, options));
  }
  return w.Take();
}

namespace {

// Prefetches: base (unless PC-relative), offset, soffset, length code.
std::string PrefetchText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  if (inst.src[0].kind != Operand::Kind::kNone) w.Operand(OperandText(inst.src[0], options));
  w.Operand(Hex(inst.offset));
  w.Operand(inst.src[1].kind == Operand::Kind::kNone ? "null" : OperandText(inst.src[1], options));
  w.Operand(absl::StrCat(inst.simm));
  return w.Take();
}

bool IsPrefetch(Opcode op) {
  switch (op) {
    case Opcode::S_PREFETCH_INST:
    case Opcode::S_PREFETCH_INST_PC_REL:
    case Opcode::S_PREFETCH_DATA:
    case Opcode::S_PREFETCH_DATA_PC_REL:
    case Opcode::S_BUFFER_PREFETCH_DATA:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string SmemText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  if (inst.n_src == 0) return w.Take();
  if (IsPrefetch(inst.op)) return PrefetchText(inst, options);
  w.Operand(inst.n_dst        ? OperandText(inst.dst[0], options)
            : inst.simm <= 64 ? absl::StrCat(inst.simm)
                              : Hex(inst.simm));
  w.Operand(OperandText(inst.src[0], options));
  bool soffset = inst.src[1].kind != Operand::Kind::kNone;
  if (soffset) {
    w.Operand(OperandText(inst.src[1], options));
    if (inst.offset != 0 || inst.isa == Isa::kRdna4) w.Modifier(absl::StrCat("offset:", Hex(inst.offset)));
  } else {
    w.Operand(inst.offset == 0 && inst.isa != Isa::kRdna4 ? "null" : Hex(inst.offset));
  }
  if (inst.isa == Isa::kRdna4) {
    w.Append(CachePolicyText(inst));
    return w.Take();
  }
  w.Flag(inst.glc, "glc");
  w.Flag(inst.dlc, "dlc");
  return w.Take();
}

}  // namespace understudy::emu::amd::disasm
