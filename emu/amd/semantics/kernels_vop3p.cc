// SPDX-License-Identifier: Apache-2.0
// The lane loops of chapter VOP3P of semantics.inc for one host instruction set (US_SEMANTICS_ARCH).
#define US_ROW_VOP1(opcode)
#define US_ROW_VOP2(opcode)
#define US_ROW_VOP3(opcode)
#define US_ROW_VOPC(opcode)
#define US_ROW_VOP3P(opcode) US_ROW(opcode)
#define US_REGISTER RegisterVop3p
#include "emu/amd/semantics/kernels_chapter.inc"
