// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory instructions that are more than a load, store or atomic of each lane: transfers between memory and
// LDS, block and transposing loads, cache operations. Found through FindFlatExec and FindDsExec.

#include <cstdint>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// nullptr where the instruction is not one of these (or is refused).
ExecFn FindFlatMoveExec(const Inst& inst);
ExecFn FindDsTransposeExec(const Inst& inst);

// The lane and the element of its own load that element `element` of lane `lane` comes from, in a transposing
// load: lanes in groups of `group`, `elements` of them a lane; a group's loads, one after the other, are rows
// of `group` elements, and lane i of the group receives column i.
struct TransposeSource {
  int lane, element;
};
constexpr TransposeSource TransposedFrom(int lane, int element, int group, int elements) {
  const int first = lane / group * group, column = lane % group;
  const int lanes_per_row = group / elements;
  return {first + element * lanes_per_row + column / elements, column % elements};
}

// LDS address of lane 0's dword in a transfer from memory to LDS: M0 and the instruction's offset.
uint32_t LdsTransferBase(const Inst& inst, const WaveState& wave);

}  // namespace understudy::emu::amd
