// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every elementwise op computes, once: constant folding, the REF device, the tests of rules and of
// renderers all call this. Values are canonical for their type before and after (const_value.h). Total: no
// input is an error.
//
// Integers (index counts as i64) wrap. x/0 = 0 and x%0 = x in both conventions, INT_MIN/-1 wraps. A shift
// amount is read as unsigned; past the width SHL gives 0 and SHR 0 or, for signed types, the sign. Floats
// round to nearest even once; NaN results are the quiet positive NaN; MAX and MIN propagate NaN and order -0
// < +0; comparisons with NaN are false but CMPNE. EXP2, LOG2 and SIN are computed in double (f64: long
// double) and rounded to the type.

#include "absl/types/span.h"
#include "src/uop/uop.h"

namespace understudy::uop {

// `operand`: the scalar type of the last source, which for all ops but comparisons is also the result's. Not
// for CAST and BITCAST, which have two types: EvalNode.
ConstValue EvalAlu(Op op, DType operand, absl::Span<const ConstValue> args);

// Where a reduction by ADD, MUL, MAX or MIN starts: what changes nothing. Floats' extremes are infinite where
// the format has infinities.
ConstValue IdentityOf(Op op, DType t);

// The value of an elementwise node (lane by lane alike) for given values of its sources; BITCAST only between
// types of equal width and lanes.
ConstValue EvalNode(const UOp& node, absl::Span<const ConstValue> args);

}  // namespace understudy::uop
