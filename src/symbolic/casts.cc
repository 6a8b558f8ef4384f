// SPDX-License-Identifier: Apache-2.0
// Chains of casts whose first step keeps every value (or, between integers, keeps the bits that count).
#include "src/base/float_format.h"
#include "src/symbolic/rule_lists.h"
#include "src/uop/build.h"

namespace understudy::symbolic {
namespace {

using namespace uop;  // NOLINT: the rule language

// Bits of integer magnitude that a float format holds exactly.
int Precision(DType t) { return FormatOf(t).man_bits + 1; }

// Every value of `a` is a value of `b`, so that CAST a -> b loses nothing (a NaN stays a NaN).
bool Holds(DType b, DType a, const WideInterval& range) {
  if (a == b || a.IsBool()) return true;
  if (b.IsBool()) return !a.IsFloat() && range.lo >= 0 && range.hi <= 1;
  if (a.IsFloat()) {
    if (!b.IsFloat()) return false;
    // Infinity and the sign of zero have to survive too: f8 fnuz types have neither, f8e4m3 no infinity.
    const bool wide = b == dtypes::kFloat64 || b == dtypes::kFloat32;
    if (b == dtypes::kFloat64) return true;
    if (wide) return a != dtypes::kFloat64;
    return b == dtypes::kFloat16 && a.BitWidth() == 8;
  }
  if (b.IsInt()) {
    const WideInterval limits = TypeLimits(b);
    return limits.lo <= range.lo && range.hi <= limits.hi;
  }
  if (b.BitWidth() < 32) return false;  // overflow of the narrow floats is not worth a case
  const __int128 exact = __int128{1} << Precision(b);
  return -exact <= range.lo && range.hi <= exact;
}

UOpRef CastCast(const Match& m) {
  const UOpRef x = m["x"], inner = m["inner"];
  const DType a = x->dtype().Element(), b = inner->dtype().Element(), c = m.root()->dtype().Element();
  WideInterval range{0, 0};
  if (!a.IsFloat()) range = BoundsOf(m) != nullptr ? BoundsOf(m)->Wide(x) : TypeLimits(a);
  // Integers lose high bits only, which a narrower last type does not have either.
  const bool low_bits_only = a.IsInt() && b.IsInt() && c.IsInt() && b.BitWidth() >= c.BitWidth();
  if (!low_bits_only && !Holds(b, a, range)) return nullptr;
  // Float to integer saturates where integer to integer wraps.
  if (a.IsInt() && b.IsFloat() && c.IsInt()) {
    const WideInterval limits = TypeLimits(c);
    if (range.lo < limits.lo || range.hi > limits.hi) return nullptr;
  }
  return Cast(x, m.root()->dtype());
}

UOpRef CastSame(const Match& m) { return m["x"]->dtype() == m.root()->dtype() ? m["x"] : nullptr; }

UOpRef TruncOfInteger(const Match& m) {
  const UOpRef x = m["x"];
  return x->dtype().IsInt() || x->dtype().IsBool() ? m["inner"] : nullptr;
}

}  // namespace

std::vector<Rule> CastRules() {
  const Pattern x = Wild("x");
  return {
      R("cast-same", OpPattern(Op::kCast, {x}), kAllTypes, "a cast to the type that the value has", CastSame),
      R("cast-cast", OpPattern(Op::kCast, {OpPattern(Op::kCast, {x}).As("inner")}), kAllTypes,
        "the first cast keeps every value, or all bits that the last keeps", CastCast),
      R("bitcast-same", OpPattern(Op::kBitcast, {x}), kAllTypes, "a bitcast to the type that the value has",
        CastSame),
      R("bitcast-bitcast", OpPattern(Op::kBitcast, {OpPattern(Op::kBitcast, {x})}), kAllTypes,
        "one bitcast does",
        [](const Match& m) {
          const UOpRef v = m["x"];
          // A NaN's payload lives through integers but not through float values.
          const bool ints = !v->dtype().IsFloat() && !m.root()->src(0)->dtype().IsFloat();
          return ints ? Bitcast(v, m.root()->dtype()) : nullptr;
        }),
      R("trunc-of-integer", OpPattern(Op::kTrunc, {OpPattern(Op::kCast, {x}).As("inner")}), kFloats,
        "an integer as a float has no fraction", TruncOfInteger),
  };
}

}  // namespace understudy::symbolic
