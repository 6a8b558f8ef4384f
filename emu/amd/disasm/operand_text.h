// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands, immediates and modifiers as LLVM MC writes them. Internal to emu/amd/disasm.

#include <string>

#include "emu/amd/decode/inst.h"
#include "emu/amd/disasm/disasm.h"

namespace understudy::emu::amd::disasm {

// "v[2:3]", "s5", "vcc_lo", "ttmp[0:3]", "null", "0.5", "-4", "0x1234".
std::string OperandText(const Operand& operand, const TextOptions& options);
// "v5.h": the register of a 16-bit operand with its half.
std::string HalfText(const Operand& operand, bool high, const TextOptions& options);
// Source i with neg and abs around it; `half` prints the selected half of a VGPR.
std::string SourceText(const Inst& inst, int i, bool half, const TextOptions& options);

// "-16", "0.5", "0x1234": a word that is always a literal, by the value it would have as an inline constant.
std::string NumberText(uint32_t word);

// "0x1f" ; "-0x1f" for negative values.
std::string Hex(int64_t value);

// The text of a SOPP/SOPK immediate: "vmcnt(0) expcnt(7) lgkmcnt(63)", "hwreg(HW_REG_MODE, 0, 4)"...
std::string ImmediateText(const Inst& inst);

}  // namespace understudy::emu::amd::disasm
