// SPDX-License-Identifier: Apache-2.0
#pragma once
// One type a row that carries its semantic function to templates: the form in which semantics.inc reaches the
// compiled lane loops and the signature reader. Only the files that instantiate semantics include it.

#include "emu/amd/semantics/signature.h"
#include "emu/amd/semantics/vop1.h"
#include "emu/amd/semantics/vop2.h"
#include "emu/amd/semantics/vop3.h"
#include "emu/amd/semantics/vop3_float.h"
#include "emu/amd/semantics/vop3p.h"
#include "emu/amd/semantics/vop_cdna.h"
#include "emu/amd/semantics/vop_minmax.h"
#include "emu/amd/semantics/vop_small_float.h"
#include "emu/amd/semantics/vopc.h"

namespace understudy::emu::amd::semantic {

#define US_SEMANTIC(name, function)   \
  struct name {                       \
    template <class B>                \
    static constexpr void Run(B& b) { \
      function(b);                    \
    }                                 \
  };
#define SEMANTIC(chapter, opcode, function, state, note) US_SEMANTIC(opcode, function)
#define SEMANTIC_FOR(chapter, generations, opcode, function, state, note) \
  US_SEMANTIC(opcode##_##generations, function)
#define SAME(opcode, other)
#define WAVE_OP(opcode, function, state, note)
#define REFUSED(opcode, reason)
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef SEMANTIC_FOR
#undef SAME
#undef US_SEMANTIC
#undef WAVE_OP
#undef REFUSED

}  // namespace understudy::emu::amd::semantic
