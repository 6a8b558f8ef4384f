// SPDX-License-Identifier: Apache-2.0
#pragma once
// One test kernel for every generation: assembly written with RDNA3's mnemonics is respelled for another
// generation where only the name of an instruction differs. For tests; it knows the mnemonics that they use,
// not all.

#include <string>

#include "emu/amd/isa/opcode.h"

namespace understudy::emu::amd {

// `text` with every mnemonic as `isa` spells it. "$wgx", "$wgy" and "$wgz" become the SGPRs of the workgroup
// id, which follow `user_sgprs` when x, y and z are all enabled (on RDNA4 they are copied there from TTMPs,
// SCC is lost).
// "$exec", "$vcc": the mask register of a wave of `wave_size` lanes.
std::string Respell(Isa isa, int wave_size, int user_sgprs, const std::string& text);

}  // namespace understudy::emu::amd
