// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/decode/cdna_exceptions.h"

#include <cstring>

namespace understudy::emu::amd {
namespace {

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
bool Refused(const Disagreement& d, const char* part) { return d.ours == nullptr && Has(d.refusal, part); }

const McException kExceptions[] = {
    // We refuse what MC takes.
    {"tuple at an odd register",
     "From gfx90a on a tuple of VGPRs or AGPRs starts at an even register (CDNA3 ISA manual, \"VGPR "
     "alignment\"); "
     "MC checks it for some operand classes.",
     [](const Disagreement& d) { return Refused(d, "must be even"); }},
    {"register past the 256th", "MC prints tuples such as v[254:256], which no machine has.",
     [](const Disagreement& d) { return Refused(d, "past the 256th"); }},
    {"scalar operand 125",
     "MC's table of registers is shared by generations: 125 is NULL from GFX10 on and nothing here.",
     [](const Disagreement& d) { return Refused(d, "operand 125 "); }},
    {"later operand codes", "230 and 231 (src_flat_scratch_base) came with GFX12.5.",
     [](const Disagreement& d) { return Refused(d, "operand 230 ") || Refused(d, "operand 231 "); }},
    {"scalar tuple past s101", "MC's tuples run to s105, which are FLAT_SCRATCH and XNACK_MASK here.",
     [](const Disagreement& d) { return Refused(d, " scalar registers starts at operand "); }},
    {"VGPR as lane mask", "MC takes any source where v_cndmask_b32_e64 and the carries read an SGPR pair.",
     [](const Disagreement& d) { return Refused(d, "must be scalar"); }},
    {"constant as address", "S_SETPC, S_SWAPPC, S_RFE and kin read a register; MC takes constants.",
     [](const Disagreement& d) { return Refused(d, "does not fit this operand"); }},
    {"LDS_DIRECT of shifts and SDWA",
     "The specification gives these no LDS operand (OPR_SRC_NOLDS), and SDWA sources are registers.",
     [](const Disagreement& d) { return Refused(d, "cannot be lds_direct"); }},
    {"EXEC as address of a transfer to LDS", "saddr is an SGPR pair; MC lets exec through in the LDS forms.",
     [](const Disagreement& d) { return Refused(d, "is not a register for addresses"); }},
    {"dmask of image atomics",
     "An atomic has one or two components (CMPSWAP two or four); MC prints any dmask.",
     [](const Disagreement& d) { return Refused(d, "does not fit the data of an atomic"); }},
    {"reserved matrix formats", "cbsz and blgp of F8F6F4 end at 4 (FP4); MC reads 5 to 7 as FP4.",
     [](const Disagreement& d) { return Refused(d, "0 to 4 are FP8, BF8, FP6, BF6 and FP4"); }},
    {"v_nop with an extension word", "MC reads a DPP or SDWA word after v_nop.",
     [](const Disagreement& d) { return Refused(d, "has neither a DPP nor an SDWA form"); }},
    {"scaled MFMA with a scalar C",
     "MC gives up on the 16 bytes and reads the first eight as v_mfma_ld_scale_b32.",
     [](const Disagreement& d) { return d.ours == nullptr && Has(d.mc.text, "v_mfma_ld_scale_b32"); }},
    // We take what MC refuses.
    {"S_SET_VALU_COEXEC_MODE", "The CDNA4 specification has it; MC does not.",
     [](const Disagreement& d) { return d.ours != nullptr && d.ours->op == Opcode::S_SET_VALU_COEXEC_MODE; }},
    {"float atomics that return to AGPRs",
     "The acc bit covers data and result of every atomic; for gfx942 MC lacks it where a float atomic "
     "returns.",
     [](const Disagreement& d) {
       return d.ours != nullptr && d.ours->n_dst == 1 && d.ours->dst[0].kind == Operand::Kind::kAgpr &&
              std::strstr(OpcodeName(d.ours->op), "_ATOMIC_") != nullptr;
     }},
};

const McException kTextExceptions[] = {
    {"top bit of a FLAT offset",
     "FLAT ignores bit 12 of its offset (CDNA3 ISA manual, \"FLAT\": 12-bit unsigned, the top bit is "
     "ignored); MC "
     "prints it.",
     [](const Disagreement& d) { return d.ours->enc == Encoding::FLAT && (d.words[0] & 0x1000) != 0; }},
};

template <size_t N>
int First(const McException (&rows)[N], const Disagreement& d) {
  for (size_t i = 0; i < N; ++i) {
    if (rows[i].covers(d)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

std::vector<McException> CdnaExceptions() { return {std::begin(kExceptions), std::end(kExceptions)}; }
std::vector<McException> CdnaTextExceptions() {
  return {std::begin(kTextExceptions), std::end(kTextExceptions)};
}
int FindCdnaException(const Disagreement& d) { return First(kExceptions, d); }
int FindCdnaTextException(const Disagreement& d) { return First(kTextExceptions, d); }

}  // namespace understudy::emu::amd
