// SPDX-License-Identifier: Apache-2.0
// Chapter "Bits" of integer_kernels.inc for one host instruction set (US_SEMANTICS_ARCH).
#include "emu/ptx/semantics/integer_bit_semantics.h"

#define US_ROW_Arithmetic(...)
#define US_ROW_Compare(...)
#define US_ROW_Bits US_ROW
#define US_ROW_Video(...)
#define US_REGISTER RegisterBits
#include "emu/ptx/semantics/integer_kernels_chapter.inc"
