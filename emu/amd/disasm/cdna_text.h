// SPDX-License-Identifier: Apache-2.0
#pragma once
// The assembly text of CDNA as LLVM MC writes it for gfx90a, gfx942 and gfx950. Internal to emu/amd/disasm,
// which calls it for every instruction of those generations.

#include <string>

#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd::disasm {

// The immediates of SOPP, SOPK and s_set_gpr_idx_on in words.
std::string CdnaImmediateText(const Inst& inst);
// The offset of ds_swizzle_b32 in words: "swizzle(QUAD_PERM,0,1,2,3)".
std::string SwizzleText(uint32_t offset);

}  // namespace understudy::emu::amd::disasm
