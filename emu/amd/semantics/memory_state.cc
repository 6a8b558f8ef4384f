// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/memory_state.h"

#include <cstring>

#include "emu/amd/semantics/find_exec.h"

namespace understudy::emu::amd {
namespace {

struct Remark {
  const char* part;  // of the mnemonic
  const char* text;
};

// The first that fits is the reason.
constexpr Remark kRefusals[] = {
    {"_BVH", "ray tracing is not modelled"},
    {"IMAGE_SAMPLE", "image sampling is not modelled"},
    {"IMAGE_GATHER4", "image sampling is not modelled"},
    {"IMAGE_GET_LOD", "image sampling is not modelled"},
    {"IMAGE_MSAA", "images with several samples are not modelled"},
    {"IMAGE_ATOMIC", "DMASK does not count the registers of the atomic's data"},
    {"_GWS_", "global wave sync is not modelled"},
    {"DS_ORDERED_COUNT", "ordered append belongs to the graphics pipeline"},
    {"_GS_REG_", "ordered append belongs to the graphics pipeline"},
    {"_ORDERED_ADD_", "ordered addition belongs to the graphics pipeline"},
    {"GLOBAL_LOAD_TR_B64", "how lanes exchange its 8-bit elements is not published"},
    {"GLOBAL_", "reserved in this encoding"},
};

constexpr Remark kApproximate[] = {
    {"_TR_B",
     "the exchange of elements is as published kernels use it and as it was measured; the manual has no "
     "formula"},
    {"_D16_FORMAT_",
     "conversion between 32 and 16 bits rounds to nearest even, which the manual does not state"},
    {"_FORMAT_D16_",
     "conversion between 32 and 16 bits rounds to nearest even, which the manual does not state"},
    {"_D16_HI_FORMAT_",
     "conversion between 32 and 16 bits rounds to nearest even, which the manual does not state"},
    {"BUFFER_STORE_FORMAT_", "rounds to nearest even; integers that do not fit keep their low bits"},
    {"IMAGE_STORE",
     "rounds to nearest even; integers that do not fit keep their low bits; linear images without levels"},
    {"_PCK", "a texel's bytes as they are; the manual has no formula; linear images without levels"},
    {"IMAGE_", "linear images without levels; other layouts are refused when they are met"},
    {"S_SCRATCH_", "the register offset is scaled by 64 lanes, from the manual's text alone"},
    {"S_MEMTIME", "counts wave instructions, not time"},
    {"S_MEMREALTIME", "counts wave instructions, not time"},
};

const char* Find(const Remark* remarks, int n, const char* name) {
  for (int i = 0; i < n; ++i) {
    if (std::strstr(name, remarks[i].part) != nullptr) return remarks[i].text;
  }
  return "";
}

}  // namespace

bool IsMemoryEncoding(Encoding enc) {
  switch (enc) {
    case Encoding::SMEM:
    case Encoding::DS:
    case Encoding::FLAT:
    case Encoding::GLOBAL:
    case Encoding::SCRATCH:
    case Encoding::VFLAT:
    case Encoding::VGLOBAL:
    case Encoding::VSCRATCH:
    case Encoding::MUBUF:
    case Encoding::MTBUF:
    case Encoding::VBUFFER:
    case Encoding::MIMG:
    case Encoding::VIMAGE:
    case Encoding::VSAMPLE:
      return true;
    default:
      return false;
  }
}

std::string MemoryRefusal(const Inst& inst) {
  if (inst.enc == Encoding::DS && inst.gds) return "global data share is not modelled";
  if (inst.lds) return "this load does not go to LDS";
  return Find(kRefusals, static_cast<int>(sizeof(kRefusals) / sizeof(kRefusals[0])), OpcodeName(inst.op));
}

OpState MemoryState(Isa isa, Opcode op, Encoding enc) {
  // An instruction with the operands that make the opcode legal.
  Inst inst;
  inst.isa = isa;
  inst.op = op;
  inst.enc = enc;
  inst.dst[0].kind = inst.src[1].kind = Operand::Kind::kVgpr;
  inst.src[2].kind = Operand::Kind::kSgpr;
  const char* name = OpcodeName(op);
  inst.dmask = std::strstr(name, "CMPSWAP") != nullptr ? 3 : 1;
  const bool global_name = std::strncmp(name, "GLOBAL_", 7) == 0;
  const bool reserved = global_name && (enc == Encoding::FLAT || enc == Encoding::VFLAT);
  std::string refusal;
  OpState state;
  if (reserved || FindExec(inst, &refusal) == nullptr) {
    state.note = reserved ? "reserved in this encoding" : MemoryRefusal(inst);
    return state;
  }
  state.note = Find(kApproximate, static_cast<int>(sizeof(kApproximate) / sizeof(kApproximate[0])), name);
  state.state = state.note.empty() ? SemanticState::kExact : SemanticState::kApproximate;
  return state;
}

}  // namespace understudy::emu::amd
