// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a compiled semantic works on: one array of `lanes` 32-bit words for each dword of each operand.
// Sources may point straight into the register file; destinations never do.

#include <cstdint>

#include "emu/amd/semantics/fp_mode.h"

namespace understudy::emu::amd {

struct LaneArrays {
  const uint32_t* src[4][4];  // [source][dword]
  uint32_t* dst[4];           // [dword]
  uint32_t* mask;             // 0 or 1 a lane
  FpMode mode;
  bool saturate;        // integer CLAMP
  uint8_t signs;        // bit i: source i is signed (iu8, iu4)
  uint8_t selects;      // op_sel, for the instructions that ask for its bits
  uint8_t truth_table;  // of V_BITOP3
  int lanes;            // 32 or 64
};

using LaneFn = void (*)(const LaneArrays&);

}  // namespace understudy::emu::amd
