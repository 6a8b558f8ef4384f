// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where LLVM MC's own text does not say all of an instruction, or says another: the bytes that it assembles
// from that text are then not those that were disassembled. Rows with reasons, for the tests of encoders.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

struct EncodeCase {
  Inst inst;
  std::string text;           // MC's
  std::vector<uint8_t> ours;  // Encode(inst)
};

// Whether a row covers the difference between ours and MC's bytes. Notes that it was needed.
bool IsEncodeException(const EncodeCase& c, const std::vector<uint8_t>& mc);

// Names of the rows that covered nothing in this process.
std::set<std::string> UnmetEncodeExceptions();

}  // namespace understudy::emu::amd
