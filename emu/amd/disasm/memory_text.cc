// SPDX-License-Identifier: Apache-2.0
// DS, FLAT, buffers, images, LDS-direct and exports.

#include <cstring>
#include <iterator>

#include "absl/strings/str_format.h"
#include "emu/amd/disasm/text_writer.h"

namespace understudy::emu::amd::disasm {
namespace {

bool NameHas(const Inst& inst, const char* part) { return std::strstr(OpcodeName(inst.op), part) != nullptr; }

bool TwoOffsets(const Inst& inst) { return NameHas(inst, "2ADDR"); }

constexpr uint8_t kFormat8Unorm = 1;  // the default, which the text leaves out

std::string FormatText(uint8_t format) {
  static constexpr const char* kNames[] = {
#define AMD_BUFFER_FORMAT(number, name) #name,
#include "emu/amd/isa/buffer_formats.inc"
#undef AMD_BUFFER_FORMAT
  };
  if (format >= std::size(kNames)) return absl::StrCat("format:", format);
  return absl::StrCat("format:[BUF_FMT_", kNames[format], "]");
}

std::string ExpTarget(uint32_t t) {
  if (t <= 7) return absl::StrCat("mrt", t);
  if (t == 8) return "mrtz";
  if (t >= 12 && t <= 16) return absl::StrCat("pos", t - 12);
  if (t == 20) return "prim";
  if (t == 21) return "dual_src_blend0";
  if (t == 22) return "dual_src_blend1";
  return absl::StrCat("invalid_target_", t);
}

// glc, slc and dlc, or RDNA4's policy.
void CacheBits(const Inst& inst, Writer* w) {
  if (inst.isa == Isa::kRdna4) {
    w->Append(CachePolicyText(inst));
    return;
  }
  w->Flag(inst.glc, "glc");
  w->Flag(inst.slc, "slc");
  w->Flag(inst.dlc, "dlc");
}

}  // namespace

// The temporal hint's meaning depends on what the instruction does (RDNA4 ISA manual, "Memory scopes and
// temporal hints").
std::string CachePolicyText(const Inst& inst) {
  static constexpr const char* kScopes[] = {"", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS"};
  constexpr uint8_t kDev = 2, kSys = 3, kReturn = 1, kNt = 2, kCascade = 4;
  const uint8_t th = inst.th;
  std::string out;
  if (th != 0 && NameHas(inst, "_ATOMIC_")) {
    out = " th:TH_ATOMIC_";
    if ((th & kCascade) != 0 && inst.scope >= kDev) {
      out += (th & kNt) != 0 ? "CASCADE_NT" : "CASCADE_RT";
    } else if ((th & kCascade) != 0) {
      absl::StrAppend(&out, Hex(th));
    } else if ((th & kNt) != 0) {
      out += (th & kReturn) != 0 ? "NT_RETURN" : "NT";
    } else {
      out += "RETURN";
    }
  } else if (th != 0) {
    static constexpr const char* kHints[] = {"", "NT", "HT", "", "NT_RT", "RT_NT", "NT_HT", "NT_WB"};
    bool store = NameHas(inst, "_STORE");
    if (th == 7 && !store) {
      out = " th:0x7";
    } else {
      const char* hint = th != 3 ? kHints[th] : inst.scope == kSys ? "BYPASS" : store ? "WB" : "LU";
      out = absl::StrCat(" th:", store ? "TH_STORE_" : "TH_LOAD_", hint);
    }
  }
  absl::StrAppend(&out, kScopes[inst.scope]);
  if (inst.nv) out += " nv";
  return out;
}

std::string LdsdirText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  w.Operand(OperandText(inst.dst[0], options));
  if (inst.op == Opcode::LDS_PARAM_LOAD || inst.op == Opcode::DS_PARAM_LOAD)
    w.Operand(absl::StrCat("attr", inst.attr, ".", std::string(1, "xyzw"[inst.attr_chan])));
  if (inst.enc == Encoding::VDSDIR) {
    w.Modifier(absl::StrCat("wait_va_vdst:", inst.wait_vdst));
    w.Modifier(absl::StrCat("wait_vm_vsrc:", inst.wait_vm_vsrc));
  } else {
    w.Modifier(absl::StrCat("wait_vdst:", inst.wait_vdst));
  }
  return w.Take();
}

std::string ExpText(const Inst& inst, const TextOptions& options) {
  Writer w(inst.enc == Encoding::VEXPORT ? "export" : "exp");
  w.Operand(ExpTarget(inst.exp_target));
  std::string out = w.Take();
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&out, i ? ", " : " ", inst.exp_en >> i & 1 ? OperandText(inst.src[i], options) : "off");
  }
  if (inst.exp_done) out += " done";
  if (inst.exp_row) out += " row_en";
  return out;
}

std::string DsText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  if (inst.n_dst) w.Operand(OperandText(inst.dst[0], options));
  for (int i = 0; i < 3; ++i) {
    if (inst.src[i].kind != Operand::Kind::kNone) w.Operand(OperandText(inst.src[i], options));
  }
  if (TwoOffsets(inst)) {
    if (inst.offset0) w.Modifier(absl::StrCat("offset0:", inst.offset0));
    if (inst.offset1) w.Modifier(absl::StrCat("offset1:", inst.offset1));
  } else if (inst.offset) {
    w.Modifier(absl::StrCat("offset:", inst.offset));
  }
  w.Flag(inst.gds, "gds");
  return w.Take();
}

std::string FlatText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  if (inst.op == Opcode::GLOBAL_INV || inst.op == Opcode::GLOBAL_WB || inst.op == Opcode::GLOBAL_WBINV) {
    CacheBits(inst, &w);
    return w.Take();
  }
  bool addtid = NameHas(inst, "ADDTID");
  if (inst.n_dst) w.Operand(OperandText(inst.dst[0], options));
  if (!addtid) w.Operand(OperandText(inst.src[0], options));
  if (inst.src[1].kind != Operand::Kind::kNone) w.Operand(OperandText(inst.src[1], options));
  if (inst.enc != Encoding::FLAT && inst.enc != Encoding::VFLAT) w.Operand(OperandText(inst.src[2], options));
  if (inst.offset) w.Modifier(absl::StrCat("offset:", inst.offset));
  CacheBits(inst, &w);
  return w.Take();
}

std::string BufferText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  if (inst.n_src == 0) return w.Take();
  const Operand& data = inst.src[3].kind != Operand::Kind::kNone ? inst.src[3] : inst.dst[0];
  if (data.kind != Operand::Kind::kNone) w.Operand(OperandText(data, options));
  w.Operand(OperandText(inst.src[0], options));
  w.Operand(OperandText(inst.src[1], options));
  w.Operand(OperandText(inst.src[2], options));
  bool typed = inst.enc == Encoding::MTBUF || NameHas(inst, "TBUFFER_");
  if (typed && inst.format != kFormat8Unorm) w.Modifier(FormatText(inst.format));
  w.Flag(inst.idxen, "idxen");
  w.Flag(inst.offen, "offen");
  if (inst.offset) w.Modifier(absl::StrCat("offset:", inst.offset));
  CacheBits(inst, &w);
  w.Flag(inst.tfe, "tfe");
  return w.Take();
}

std::string ImageText(const Inst& inst, const TextOptions& options) {
  Writer w(Mnemonic(inst));
  bool bvh = NameHas(inst, "_BVH");
  const Operand& data = inst.src[3].kind != Operand::Kind::kNone ? inst.src[3] : inst.dst[0];
  w.Operand(OperandText(data, options));
  if (inst.nsa) {
    std::string list = OperandText(inst.src[0], options);
    for (int i = 0; i < inst.n_nsa; ++i) {
      Operand o = inst.src[0];
      o.reg = inst.nsa_vaddr[i];
      o.dwords = inst.nsa_dwords[i];
      absl::StrAppend(&list, ", ", OperandText(o, options));
    }
    w.Operand(absl::StrCat("[", list, "]"));
  } else {
    w.Operand(OperandText(inst.src[0], options));
  }
  w.Operand(OperandText(inst.src[1], options));
  if (inst.src[2].kind != Operand::Kind::kNone) w.Operand(OperandText(inst.src[2], options));
  if (!bvh) {
    static constexpr const char* kDims[] = {"1D",       "2D",       "3D",      "CUBE",
                                            "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
    if (inst.dmask) w.Modifier(absl::StrFormat("dmask:0x%x", inst.dmask));
    w.Modifier(absl::StrCat("dim:SQ_RSRC_IMG_", kDims[inst.dim]));
    w.Flag(inst.unorm, "unorm");
    CacheBits(inst, &w);
    w.Flag(inst.r128, "r128");
  }
  w.Flag(inst.a16, "a16");
  w.Flag(inst.tfe, "tfe");
  w.Flag(inst.lwe, "lwe");
  w.Flag(inst.d16, "d16");
  return w.Take();
}

}  // namespace understudy::emu::amd::disasm
