// SPDX-License-Identifier: Apache-2.0
// Chapter "Video" of integer_kernels.inc for one host instruction set (US_SEMANTICS_ARCH).
#include "emu/ptx/semantics/video_semantics.h"

#define US_ROW_Arithmetic(...)
#define US_ROW_Compare(...)
#define US_ROW_Bits(...)
#define US_ROW_Video US_ROW
#define US_REGISTER RegisterVideo
#include "emu/ptx/semantics/integer_kernels_chapter.inc"
