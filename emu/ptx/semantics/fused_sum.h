// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sum that is fused with the product that feeds it, as ptxas does (core/contract.h says which): an executor
// beside those of find_exec.h, made when a program is bound.

#include "emu/ptx/core/program.h"
#include "emu/ptx/semantics/find_exec.h"

namespace understudy::emu::ptx {

// Lives as long as the program.
struct FusedSum {
  Inst fma;  // its operands: d, factor, factor, addend
  BoundOperand operands[4];
  Src a, b, addend;   // what the product and the sum name
  uint64_t sign = 0;  // the type's sign bits, of every element of a word
  bool negate_product = false, negate_addend = false, ftz = false;
};

// Copies the factors of a product as it runs, for sums behind instructions that overwrite them.
struct KeptFactors {
  Inst product;
  Src from[2], to[2];
};
ExecResult KeepFactorsExec(Warp& w, const Inst& inst);  // aux[0]: KeptFactors

// Fills `fused` and gives its executor, whose aux[0] is `fused`. `addend`: the sum's operand, 1 or 2.
// `scratch`: 512 bytes of rows that belong to nobody between instructions. fn is null where PTX has no such
// fused instruction.
// `factors`: where the product's two (of a reciprocal twice its one) are read.
Exec MakeFusedSum(const Inst& sum, const Inst& product, const Src* factors, int addend, bool negate_product,
                  bool negate_addend, const ExecContext& context, Src scratch, FusedSum* fused);

}  // namespace understudy::emu::ptx
