// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/decode/encode_exceptions.h"

#include <algorithm>
#include <cstring>

namespace understudy::emu::amd {
namespace {

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool UsesLiteral(const Inst& inst, int bits) {
  for (const Operand& o : inst.src) {
    if (o.kind == Operand::Kind::kLiteral && o.bits == bits) return true;
  }
  return false;
}

bool HasInlineFloat(const Inst& inst) {
  for (const Operand& o : inst.src) {
    if (o.kind == Operand::Kind::kInlineFloat && (o.bits == 16 || inst.op == Opcode::V_PK_FMAC_F16))
      return true;
  }
  return false;
}

struct EncodeException {
  const char* name;
  const char* reason;
  bool (*covers)(const EncodeCase& c, const std::vector<uint8_t>& mc);
};

const EncodeException kExceptions[] = {
    {"high half of a 16-bit literal",
     "The text has the 16 bits that the operand reads; a program's literal word may hold more.",
     [](const EncodeCase& c, const std::vector<uint8_t>& mc) {
       if (!UsesLiteral(c.inst, 16) || c.inst.lit32 <= 0xffff) return false;
       // The 16 bits may be those of an inline constant.
       return mc.size() + 4 == c.ours.size() ||
              (mc.size() == c.ours.size() && std::equal(mc.begin(), mc.end() - 2, c.ours.begin()));
     }},
    {"literals of doubles that read like inline constants",
     "The text has the upper half, 0x1 for 0x100000000, or 2.0; MC assembles an inline constant.",
     [](const EncodeCase& c, const std::vector<uint8_t>& mc) {
       const uint64_t magnitude = c.inst.lit32 & 0x7fffffff;
       const bool inline_form = c.inst.lit32 <= 64 || magnitude == 0x3fe00000 || magnitude == 0x3ff00000 ||
                                magnitude == 0x40000000 || magnitude == 0x40100000;
       return UsesLiteral(c.inst, 64) && inline_form && mc.size() + 4 == c.ours.size();
     }},
    {"inline floats of 16-bit integers",
     "MC prints their pattern, which it assembles to a literal; v_pk_fmac_f16 it assembles to a literal too.",
     [](const EncodeCase& c, const std::vector<uint8_t>& mc) {
       // In DPP forms there is no room for one, and MC's bytes are not an instruction.
       if (c.inst.dpp.kind != DppInfo::Kind::kNone)
         return HasInlineFloat(c.inst) && c.text.find(" 0x") != std::string::npos;
       return HasInlineFloat(c.inst) && mc.size() == c.ours.size() + 4;
     }},
    {"floats for S_SETREG_IMM32_B32", "MC prints 0.5 for the word 0x3f000000, and assembles 0.",
     [](const EncodeCase& c, const std::vector<uint8_t>&) {
       return c.inst.op == Opcode::S_SETREG_IMM32_B32 && Has(c.text, ".");
     }},
    {"VOP3 forms without a suffix",
     "v_nop, v_pipeflush and v_readfirstlane_b32 have one name in both encodings; MC takes the short one.",
     [](const EncodeCase& c, const std::vector<uint8_t>& mc) {
       return c.inst.enc == Encoding::VOP3 && !c.inst.has_e64_suffix && mc.size() == 4;
     }},
    {"immediates with more bits than their text",
     "Bits that the fields of s_delay_alu, s_waitcnt and s_sendmsg leave free are not in the text.",
     [](const EncodeCase& c, const std::vector<uint8_t>&) {
       return c.inst.op == Opcode::S_DELAY_ALU || c.inst.op == Opcode::S_WAITCNT ||
              c.inst.op == Opcode::S_SENDMSG || c.inst.op == Opcode::S_SENDMSGHALT;
     }},
    {"returning atomics with a cascading hint",
     "TH_ATOMIC_CASCADE_* does not tell bit 0, the return; MC assembles it clear.",
     [](const EncodeCase& c, const std::vector<uint8_t>&) {
       return c.inst.glc && Has(c.text, "TH_ATOMIC_CASCADE_");
     }},
};

std::set<std::string>& Met() {
  static auto* const met = new std::set<std::string>();
  return *met;
}

}  // namespace

bool IsEncodeException(const EncodeCase& c, const std::vector<uint8_t>& mc) {
  for (const EncodeException& row : kExceptions) {
    if (!row.covers(c, mc)) continue;
    Met().insert(row.name);
    return true;
  }
  return false;
}

std::set<std::string> UnmetEncodeExceptions() {
  std::set<std::string> unmet;
  for (const EncodeException& row : kExceptions) {
    if (Met().count(row.name) == 0) unmet.insert(row.name);
  }
  return unmet;
}

}  // namespace understudy::emu::amd
