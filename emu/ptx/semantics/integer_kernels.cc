// SPDX-License-Identifier: Apache-2.0
// Chapter "Arithmetic" of integer_kernels.inc for one host instruction set (US_SEMANTICS_ARCH).
#include "emu/ptx/semantics/integer_semantics.h"

#define US_ROW_Arithmetic US_ROW
#define US_ROW_Compare(...)
#define US_ROW_Bits(...)
#define US_ROW_Video(...)
#define US_REGISTER RegisterArithmetic
#include "emu/ptx/semantics/integer_kernels_chapter.inc"
