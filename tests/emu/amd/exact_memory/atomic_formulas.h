// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each atomic memory operation leaves in memory, written from the ISA manuals' formulas in plain host
// arithmetic. Shared by the tests of vector memory, LDS, images and scalar memory; knows nothing of the
// emulator.

#include <cstdint>
#include <functional>
#include <string>

namespace understudy::emu::amd {

struct AtomicFormula {
  // The operation's names in all generations and encodings, each between spaces.
  const char* names;
  int bytes;     // 0: integers of the width that the encoding says
  int operands;  // values of data
  // Which values to try: 'i' any bits, 'n' floats with NaNs, infinities, denormals and zeros of both signs,
  // 'a' the same for sums, 'h' pairs of f16, 'b' pairs of bf16.
  char values;
  // From the old value and the data, of `bits` bits; `flush`: denormal operands count as zeros.
  std::function<uint64_t(uint64_t old, uint64_t data, uint64_t data2, int bits, bool flush)> result;
};

// By the part of the mnemonic after the encoding's prefix ("ADD_U32", "SMIN_X2"); nullptr where none is
// published.
const AtomicFormula* FindAtomicFormula(const std::string& name);

// The k-th value to try.
uint64_t AtomicValue(const AtomicFormula& formula, int bits, uint32_t k);

// False for operands whose result the manuals leave open.
bool IsDefined(const AtomicFormula& formula, int bits, bool flush, uint64_t old, uint64_t data,
               uint64_t data2);

}  // namespace understudy::emu::amd
