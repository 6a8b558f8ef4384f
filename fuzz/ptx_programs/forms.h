// SPDX-License-Identifier: Apache-2.0
#pragma once
// The PTX instructions that compute registers from registers, one mnemonic with its operands' kinds each:
// what the statements of random programs are drawn from. Only forms of sm_90 whose result the PTX manual or
// an H200's recorded answers settle for every bit pattern.

#include <string>
#include <vector>

namespace understudy::ptx_programs {

enum class FormGroup { kInteger, kBits, kCompare, kSelect, kFloat, kDouble, kHalf, kApproximate, kConvert };

struct Form {
  FormGroup group;
  std::string name;  // "add.u32"
  // Destination, then sources, a letter each:
  //   h r l     16, 32, 64 bits           p  predicate
  //   f d       32, 64 bits that a floating-point register may hold
  //   N n m     16, 32, 64 bits, never 0
  //   s         a shift amount, any 32 bits    k  0 to 31
  //   i         an immediate byte
  std::string operands;
  bool immediates = false;  // sources may be integer constants
};

// Every form, in a fixed order.
const std::vector<Form>& AllForms();
// Those of one group.
const std::vector<const Form*>& FormsOf(FormGroup group);

}  // namespace understudy::ptx_programs
