// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which sums of a function ptxas fuses with a product that feeds them. PTX lets it: add, sub and mul without
// a rounding modifier "may be optimized aggressively". Used once, when a program is bound; it changes nothing
// itself.

#include <vector>

#include "emu/ptx/core/postdominators.h"
#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

struct Contraction {
  int sum = -1, product = -1;  // instructions; the sum becomes +-(a * b) +- addend, rounded once
  int addend = 2;              // the sum's operand that is added: 1 or 2
  bool negate_product = false, negate_addend = false;
  bool keep_factors = false;  // a factor is written between product and sum: its old value is meant
};

// In order of `sum`. `flow`: of each instruction of the body. The rule is ptxas 13.0's as seen in
// its machine code for sm_90 (docs/special-functions.md): a product of mul, div.full, div.approx or
// rcp.approx that only reaches sums of its own type and flushing mode in its own basic block (through neg and
// mov too) is fused into all of them; of a sum of two such products the one with fewer uses is, else the
// first.
std::vector<Contraction> FindContractions(const Function& function, const std::vector<Flow>& flow);

}  // namespace understudy::emu::ptx
