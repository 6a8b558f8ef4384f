// SPDX-License-Identifier: Apache-2.0
// Identities of arithmetic. On floats only what keeps every bit: x + 0.0 is not x for x = -0.0, but x +
// (-0.0) is.
#include <cmath>

#include "src/symbolic/rule_lists.h"
#include "src/uop/build.h"

namespace understudy::symbolic {
namespace {

using namespace uop;  // NOLINT: the rule language

// x / 2^k is x * 2^-k bit for bit where 2^-k is a value of the type: both round the same exact number.
UOpRef DivideByPowerOfTwo(const Match& m) {
  const UOpRef x = m["x"], c = m["c0"];
  const double d = std::get<double>(c->value());
  int exponent;
  if (d == 0 || !std::isfinite(d) || std::abs(std::frexp(d, &exponent)) != 0.5) return nullptr;
  const double inverse = 1 / d;
  const ConstValue v = Canonical(x->dtype().Element(), inverse);
  if (std::get<double>(v) != inverse || !std::isfinite(inverse)) return nullptr;
  return Mul(x, Const(x->dtype(), v));
}

}  // namespace

std::vector<Rule> IdentityRules() {
  const Pattern x = Wild("x"), y = Wild("y"), z = Wild("z"), c0 = ConstWild("c0"), c1 = ConstWild("c1");
  const TypeMask numbers = kInts | kFloats;
  return {
      R("add-zero", x + 0, x, kInts),
      R("add-neg-zero", x + NegZero(), x, kFloats),
      R("mul-one", x * 1, x, numbers),
      R("mul-zero", x * 0, 0, kInts),
      R("mul-minus-one", x * -1, -x, kFloats),
      R("neg-int", -x, x * -1, kInts),
      R("neg-neg", -(-x), x, kFloats),
      R("neg-factor", (-x) * y, -(x * y), kFloats),
      R("mul-mul", (x * c0) * c1, x * (c0 * c1), kInts),
      R("mul-constant-out", (x * c0) * y, (x * y) * c0, kInts),
      R("mulacc-int", MulAcc(x, y, z), x * y + z, kIndexType),
      R("mulacc-one", MulAcc(x, 1, z), x + z, kFloats),
      R("mulacc-one-left", MulAcc(1, x, z), x + z, kFloats),
      R("mulacc-neg-zero", MulAcc(x, y, NegZero()), x * y, kFloats),
      R("shl-index", x << c0, x * (Pattern(1) << c0), kIndexType),
      R("shr-index", x >> c0, x / (Pattern(1) << c0), kIndexType, If(c0 >= 0 && c0 + 1 < BitsOf(x))),
      R("shift-zero-left", x << 0, x, kInts),
      R("shift-zero-right", x >> 0, x, kInts),

      R("fdiv-one", FDiv(x, 1), x, kFloats),
      R("fdiv-minus-one", FDiv(x, -1), -x, kFloats),
      R("fdiv-power-of-two", FDiv(x, c0), kFloats,
        "x * (1/c0) where c0 and 1/c0 are powers of two of the type", DivideByPowerOfTwo),
      R("trunc-trunc", OpPattern(Op::kTrunc, {OpPattern(Op::kTrunc, {x}).As("t")}), Wild("t"), kFloats),

      R("max-self", Max(x, x), x, kAllTypes),
      R("min-self", Min(x, x), x, kAllTypes),
      R("max-max", Max(Max(x, c0), c1), Max(x, Max(c0, c1)), kIntsAndBools),
      R("min-min", Min(Min(x, c0), c1), Min(x, Min(c0, c1)), kIntsAndBools),
      R("max-again", Max(Max(x, y), y), Max(x, y), kIntsAndBools),
      R("min-again", Min(Min(x, y), y), Min(x, y), kIntsAndBools),
      R("max-of-min", Max(Min(x, y), y), y, kIntsAndBools),
      R("min-of-max", Min(Max(x, y), y), y, kIntsAndBools),
      R("max-by-bounds", Max(x, y), x, kIntsAndBools, If(Hi(y) <= Lo(x))),
      R("min-by-bounds", Min(x, y), x, kIntsAndBools, If(Hi(x) <= Lo(y))),

      R("and-self", x & x, x, kIntsAndBools),
      R("or-self", x | x, x, kIntsAndBools),
      R("xor-self", x ^ x, 0, kIntsAndBools),
      R("and-zero", x & 0, 0, kIntsAndBools),
      R("and-ones", x & -1, x, kInts),
      R("or-zero", x | 0, x, kIntsAndBools),
      R("or-ones", x | -1, -1, kInts),
      R("xor-zero", x ^ 0, x, kIntsAndBools),
      R("and-and", (x & c0) & c1, x & (c0 & c1), kIntsAndBools),
      R("or-or", (x | c0) | c1, x | (c0 | c1), kIntsAndBools),
      R("xor-xor", (x ^ c0) ^ c1, x ^ (c0 ^ c1), kIntsAndBools),
      R("xor-again", (x ^ y) ^ y, x, kIntsAndBools),
      R("and-absorbs", x & (x | y), x, kIntsAndBools),
      R("or-absorbs", x | (x & y), x, kIntsAndBools),

      R("where-same", Where(x, y, y), y, kAllTypes),
      R("where-true", Where(1, x, y), x, kAllTypes),
      R("where-false", Where(0, x, y), y, kAllTypes),
      R("where-not", Where(z ^ 1, x, y), Where(z, y, x), kAllTypes),
      R("where-then-where", Where(z, Where(z, x, Wild("w")), y), Where(z, x, y), kAllTypes),
      R("where-else-where", Where(z, x, Where(z, Wild("w"), y)), Where(z, x, y), kAllTypes),
      R("where-both", Where(z, Where(Wild("w"), x, y), y), Where(z & Wild("w"), x, y), kAllTypes),
      R("where-min", Where(x < y, x, y), Min(x, y), kInts),
      R("where-max", Where(x < y, y, x), Max(x, y), kInts),
  };
}

}  // namespace understudy::symbolic
