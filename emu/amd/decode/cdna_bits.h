// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the CDNA decoder and the CDNA encoder share: which bits an opcode uses, and the families of matrix
// instructions. Internal to emu/amd/decode.

#include <cstdint>

#include "emu/amd/decode/rows.h"

namespace understudy::emu::amd::decode {

// Bits of the first 64 bits of an instruction, found by flipping each (emu/amd/isa/probe_cdna.py).
struct CdnaBits {
  uint64_t used = 0, ignored = 0, required = 0;
};
// By layout; `plain` is that of the 64-bit encodings, `dpp` and `sdwa` those of VOP1, VOP2 and VOPC.
struct CdnaRowBits {
  CdnaBits plain, dpp, sdwa;
};
// `row` is one of TableOf(isa).rows().
const CdnaRowBits& CdnaBitsOf(Isa isa, const Row& row);

constexpr uint64_t BitMask(int hi, int lo) { return ((hi - lo == 63 ? 0 : 1ull << (hi - lo + 1)) - 1) << lo; }

// CDNA's operand code of M0; Inst says kRegM0.
inline constexpr uint32_t kCdnaM0 = 124;
// MFMA, SMFMAC and their scaled forms by the opcode's name.
bool IsMfma(Opcode op);
bool IsSmfmac(Opcode op);
// MFMA whose A and B hold FP8, FP6 or FP4 as cbsz and blgp say, in 8, 6 or 4 registers.
bool IsF8f6f4(Opcode op);
int F8f6f4Dwords(uint32_t format);

}  // namespace understudy::emu::amd::decode
