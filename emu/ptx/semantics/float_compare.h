// SPDX-License-Identifier: Apache-2.0
#pragma once
// Executors of setp, set and testp on floats. Used by float_find.cc alone.

#include <string>

#include "emu/ptx/semantics/float_kernels.h"
#include "emu/ptx/semantics/lane_rows.h"

namespace understudy::emu::ptx {

// Which relations of a and b make a comparison true.
enum Relation : uint32_t { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };
// 0 where there is no such comparison of floats: "lt", "neu", "nan".
uint32_t RelationsOf(const std::string& name);

// aux[0]: relations | BoolOp << 4 | FloatType << 8 | ftz << 12; set also: how true looks << 16.
enum class TrueValue : uint8_t {
  kMask16,
  kMask32,
  kOneF16,
  kOneBf16,
  kOneF32,
  kMaskPair,
  kOneF16Pair,
  kOneBf16Pair
};
ExecResult SetPredicate(Warp& w, const Inst& inst);
ExecResult SetRegister(Warp& w, const Inst& inst);

// aux[0]: the class; aux[1]: 1 for f64.
enum class FloatClass : uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
ExecResult TestProperty(Warp& w, const Inst& inst);

}  // namespace understudy::emu::ptx
