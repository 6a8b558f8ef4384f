// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/isa/effects.h"

#include <cstdlib>
#include <cstring>

namespace understudy::emu::amd {
namespace {

bool Starts(const char* name, const char* prefix) {
  return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}
bool Has(const char* name, const char* part) { return std::strstr(name, part) != nullptr; }
template <class... Prefix>
bool StartsAny(const char* name, Prefix... prefix) {
  return (Starts(name, prefix) || ...);
}

bool IsFloatScalar(const char* name) { return Has(name, "_F32") || Has(name, "_F16"); }

// SOP1, SOP2, SOPC, SOPK, SOPP: by the name of the operation.
void ScalarEffects(const Inst& inst, const char* name, Effects* e) {
  switch (inst.enc) {
    case Encoding::SOPC:
      if (inst.op == Opcode::S_SET_GPR_IDX_ON || inst.op == Opcode::S_SETVSKIP) {
        e->writes |= kUsesMode | (inst.op == Opcode::S_SET_GPR_IDX_ON ? kUsesM0 : 0);
      } else {
        e->writes |= kUsesScc;
      }
      return;
    case Encoding::SOP2:
      if (StartsAny(name, "S_CSELECT", "S_ADDC_", "S_SUBB_", "S_ADD_CO_CI", "S_SUB_CO_CI"))
        e->reads |= kUsesScc;
      if (!IsFloatScalar(name) && !StartsAny(name, "S_CSELECT", "S_MUL", "S_BFM", "S_PACK", "S_ADD_NC",
                                             "S_SUB_NC", "S_RFE", "S_CBRANCH")) {
        e->writes |= kUsesScc;
      }
      return;
    case Encoding::SOP1:
      if (Starts(name, "S_CMOV_")) e->reads |= kUsesScc;
      if (StartsAny(name, "S_NOT_", "S_WQM_", "S_QUADMASK", "S_BCNT", "S_ABS_", "S_ALLOC_VGPR",
                    "S_BARRIER_SIGNAL_ISFIRST") ||
          Has(name, "SAVEEXEC") || Has(name, "WREXEC")) {
        e->writes |= kUsesScc;
      }
      if (Has(name, "SAVEEXEC") || Has(name, "WREXEC")) {
        e->reads |= kUsesExec;
        e->writes |= kUsesExec;
      }
      if (Starts(name, "S_MOVREL")) e->reads |= kUsesM0;
      if (Starts(name, "S_SET_GPR_IDX_IDX")) e->writes |= kUsesM0;
      if (StartsAny(name, "S_SETPC", "S_SWAPPC", "S_RFE")) e->unit = Unit::kBranch;
      return;
    case Encoding::SOPK:
      if (StartsAny(name, "S_CMPK", "S_ADDK")) e->writes |= kUsesScc;
      if (Starts(name, "S_CMOVK")) e->reads |= kUsesScc;
      if (Starts(name, "S_SETREG")) e->writes |= kUsesMode;
      if (Starts(name, "S_GETREG")) e->reads |= kUsesMode;
      if (StartsAny(name, "S_CALL", "S_CBRANCH")) e->unit = Unit::kBranch;
      return;
    default:
      if (StartsAny(name, "S_BRANCH", "S_CBRANCH")) e->unit = Unit::kBranch;
      if (Starts(name, "S_CBRANCH_SCC")) e->reads |= kUsesScc;
      if (Starts(name, "S_CBRANCH_VCC")) e->reads |= kUsesVcc;
      if (Starts(name, "S_CBRANCH_EXEC")) e->reads |= kUsesExec;
      if (StartsAny(name, "S_SENDMSG", "S_TTRACEDATA")) e->reads |= kUsesM0;
      if (StartsAny(name, "S_ROUND_MODE", "S_DENORM_MODE", "S_SET_GPR_IDX_MODE", "S_SET_GPR_IDX_OFF")) {
        e->writes |= kUsesMode;
      }
      return;
  }
}

// "..._MxNxK<type>" or "..._MxNxK_<type>": the sizes and what follows them.
bool ParseMatrixShape(const char* name, int* m, int* n, int* k, const char** rest) {
  for (const char* p = name; *p != '\0'; ++p) {
    if (*p != '_' || p[1] < '0' || p[1] > '9') continue;
    char* end = nullptr;
    *m = static_cast<int>(std::strtol(p + 1, &end, 10));
    if (*end != 'X') continue;
    *n = static_cast<int>(std::strtol(end + 1, &end, 10));
    if (*end != 'X') continue;
    *k = static_cast<int>(std::strtol(end + 1, &end, 10));
    *rest = *end == '_' ? end + 1 : end;
    return true;
  }
  return false;
}

// Passes of 4 cycles (LLVM SISchedule.td, the models of gfx90a, gfx942 and gfx950).
int MatrixPasses(const Inst& inst, const char* name, bool dgemm) {
  int m = 0, n = 0, k = 0;
  const char* type = "";
  if (!ParseMatrixShape(name, &m, &n, &k, &type)) return 0;
  if (dgemm) return m == 4 ? 4 : inst.isa == Isa::kCdna4 ? 16 : 8;
  if (m == 4) return 2;
  const int slow = m == 32 ? 16 : 8;
  if (inst.isa == Isa::kCdna2) return slow;
  const bool blocks = *type >= '0' && *type <= '9';  // "2B_F16": several results at once
  const bool single =
      Has(name, "_F32") && std::strcmp(name + std::strlen(name) - 4, "_F32") == 0 && !Has(type, "XF32");
  // FP8 or BF8 on one side halves the rate.
  const bool f8 = Has(type, "F8F6F4") && (inst.cbsz < 2 || inst.blgp < 2);
  return blocks || single || f8 ? slow : slow / 2;
}

void VectorEffects(const Inst& inst, const char* name, Effects* e) {
  e->unit = Unit::kValu;
  e->reads |= kUsesExec;
  if (inst.op == Opcode::V_READFIRSTLANE_B32 || Starts(name, "V_READLANE") || Starts(name, "V_WRITELANE")) {
    if (inst.op != Opcode::V_READFIRSTLANE_B32) e->reads &= ~kUsesExec;
  }
  if (Starts(name, "V_MOVREL")) e->reads |= kUsesM0;
  if (Starts(name, "V_CMPX")) e->writes |= kUsesExec;
  e->trans = StartsAny(name, "V_RCP_", "V_RSQ_", "V_SQRT_", "V_EXP_", "V_LOG_", "V_SIN_", "V_COS_",
                       "V_S_RCP_", "V_S_RSQ_", "V_S_SQRT_", "V_S_EXP_", "V_S_LOG_", "V_PRNG_");
  if (StartsAny(name, "V_WMMA", "V_SWMMAC")) e->matrix = true;
  if (StartsAny(name, "V_MFMA", "V_SMFMAC")) {
    e->matrix = true;
    e->dgemm = Starts(name, "V_MFMA_F64");
    int m = 0, n = 0, k = 0;
    const char* type = "";
    const bool shape = ParseMatrixShape(name, &m, &n, &k, &type);
    // Products of f32 ("32X32X2_F32", "4X4X1_16B_F32") are no XDL operations from gfx942 on.
    const size_t length = std::strlen(name);
    const bool f32 = shape && std::strcmp(name + length - 4, "_F32") == 0 && !Has(type, "XF32");
    e->xdl = !e->dgemm && !(inst.isa != Isa::kCdna2 && f32);
    e->passes = static_cast<uint8_t>(MatrixPasses(inst, name, e->dgemm));
  }
}

void MemoryEffects(const Inst& inst, const char* name, Effects* e) {
  const bool has_dst = inst.dst[0].kind != Operand::Kind::kNone;
  const bool atomic = Has(name, "ATOMIC");
  const bool to_lds = inst.lds || Has(name, "_LDS_");
  e->load = has_dst || to_lds || atomic;
  e->store = atomic || (!has_dst && !to_lds);
  if (to_lds) e->reads |= kUsesM0;
}

}  // namespace

Effects EffectsOf(const Inst& inst) {
  Effects e;
  const char* name = OpcodeName(inst.op);
  switch (inst.enc) {
    case Encoding::SOP1:
    case Encoding::SOP2:
    case Encoding::SOPC:
    case Encoding::SOPK:
    case Encoding::SOPP:
      ScalarEffects(inst, name, &e);
      return e;
    case Encoding::SMEM:
      e.unit = Unit::kScalarMemory;
      e.load = inst.dst[0].kind != Operand::Kind::kNone;
      return e;
    case Encoding::DS:
      e.unit = Unit::kLds;
      e.reads |= kUsesExec;
      e.load = inst.dst[0].kind != Operand::Kind::kNone;
      e.store = inst.src[1].kind != Operand::Kind::kNone;
      if (inst.gds || Has(name, "ADDTID") ||
          StartsAny(name, "DS_APPEND", "DS_CONSUME", "DS_GWS", "DS_ORDERED")) {
        e.reads |= kUsesM0;
      }
      return e;
    case Encoding::LDSDIR:
    case Encoding::VDSDIR:
      e.unit = Unit::kLdsDirect;
      e.reads |= kUsesExec | kUsesM0;
      e.load = true;
      return e;
    case Encoding::EXP:
    case Encoding::VEXPORT:
      e.unit = Unit::kExport;
      e.reads |= kUsesExec;
      e.store = true;
      return e;
    case Encoding::FLAT:
    case Encoding::SCRATCH:
      if (inst.isa == Isa::kCdna2) e.reads |= kUsesFlatScratch;
      [[fallthrough]];
    case Encoding::GLOBAL:
    case Encoding::VFLAT:
    case Encoding::VGLOBAL:
    case Encoding::VSCRATCH:
      e.unit = Unit::kFlat;
      e.reads |= kUsesExec;
      MemoryEffects(inst, name, &e);
      return e;
    case Encoding::MUBUF:
    case Encoding::MTBUF:
    case Encoding::MIMG:
    case Encoding::VBUFFER:
    case Encoding::VIMAGE:
    case Encoding::VSAMPLE:
      e.unit = Unit::kVmem;
      e.reads |= kUsesExec;
      MemoryEffects(inst, name, &e);
      return e;
    default:
      VectorEffects(inst, name, &e);
      return e;
  }
}

}  // namespace understudy::emu::amd
