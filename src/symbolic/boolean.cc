// SPDX-License-Identifier: Apache-2.0
// Boolean algebra, negated comparisons, and WHERE on bools. NOT x is written x ^ 1. A negated CMPLT turns
// around on integers only: !(x < c) and c <= x differ for NaN, and the conditions are false where constants
// are floats.
#include "src/symbolic/rule_lists.h"
#include "src/uop/build.h"

namespace understudy::symbolic {

using namespace uop;  // NOLINT: the rule language

std::vector<Rule> BooleanRules() {
  const Pattern x = Wild("x"), y = Wild("y"), z = Wild("z"), c0 = ConstWild("c0"), c1 = ConstWild("c1");
  return {
      R("bool-and-true", x & 1, x, kBools),
      R("bool-or-true", x | 1, 1, kBools),
      R("bool-and-not", x & (x ^ 1), 0, kBools),
      R("bool-or-not", x | (x ^ 1), 1, kBools),
      R("bool-and-or-not", x & ((x ^ 1) | y), x & y, kBools),
      R("bool-or-and-not", x | ((x ^ 1) & y), x | y, kBools),
      R("bool-xor-not", (x ^ 1) ^ y, (x ^ y) ^ 1, kBools),
      R("bool-eq", x == y, (x ^ y) ^ 1, kBools),
      R("bool-ne", x != y, x ^ y, kBools),
      R("bool-lt", x < y, (x ^ 1) & y, kBools),
      R("bool-max", Max(x, y), x | y, kBools),
      R("bool-min", Min(x, y), x & y, kBools),

      R("not-eq", (x == y) ^ 1, x != y, kBools),
      R("not-ne", (x != y) ^ 1, x == y, kBools),
      R("not-lt", (x < c0) ^ 1, (c0 + -1) < x, kBools, If(NoWrap(c0 + -1))),
      R("not-gt", (c0 < x) ^ 1, x < (c0 + 1), kBools, If(NoWrap(c0 + 1))),
      R("and-lt-lt", (x < c0) & (x < c1), x < Min(c0, c1), kBools, If(c0 <= c1 || c1 <= c0)),
      R("or-lt-lt", (x < c0) | (x < c1), x < Max(c0, c1), kBools, If(c0 <= c1 || c1 <= c0)),
      R("and-gt-gt", (c0 < x) & (c1 < x), Max(c0, c1) < x, kBools, If(c0 <= c1 || c1 <= c0)),
      R("or-gt-gt", (c0 < x) | (c1 < x), Min(c0, c1) < x, kBools, If(c0 <= c1 || c1 <= c0)),
      R("and-lt-gt-empty", (x < c0) & (c1 < x), 0, kBools, If(c0 <= c1 + 1)),
      R("or-lt-gt-all", (x < c0) | (c1 < x), 1, kBools, If(c1 < c0)),

      R("where-bool", Where(x, 1, 0), x, kBools),
      R("where-bool-not", Where(x, 0, 1), x ^ 1, kBools),
      R("where-and", Where(x, y, 0), x & y, kBools),
      R("where-or", Where(x, 1, y), x | y, kBools),
      R("where-implies", Where(x, y, 1), (x ^ 1) | y, kBools),
      R("where-and-not", Where(x, 0, y), (x ^ 1) & y, kBools),
      // (z where x else y) compared with a constant that only one branch equals.
      R("where-eq-then", Where(z, c0, c1) == c0, z, kInts, If(c0 != c1)),
      R("where-eq-else", Where(z, c0, c1) == c1, z ^ 1, kInts, If(c0 != c1)),
      R("where-ne-then", Where(z, c0, c1) != c0, z ^ 1, kInts, If(c0 != c1)),
      R("where-ne-else", Where(z, c0, c1) != c1, z, kInts, If(c0 != c1)),
  };
}

}  // namespace understudy::symbolic
