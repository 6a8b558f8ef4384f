// SPDX-License-Identifier: Apache-2.0
#pragma once
// Formulas over nodes of one dtype and shape, written as arithmetic: a number takes the type and shape of the
// value it meets. For the files that implement Tensor; nothing outside src/tensor includes this.

#include <utility>

#include "src/tensor/internal.h"
#include "src/uop/build.h"

namespace understudy::tensor_internal {

struct Value {
  UOpRef u;
  Value() = default;
  Value(UOpRef node) : u(std::move(node)) {}    // NOLINT: a node is a value
  operator const UOpRef&() const { return u; }  // NOLINT
  DType dtype() const { return u->dtype(); }
  // A constant like this value.
  Value Like(double v) const {
    const ConstValue c = dtype().IsFloat() ? ConstValue(v) : ConstValue(static_cast<int64_t>(v));
    return Constant(dtype(), c, u->shape());
  }
  Value LikeInt(int64_t v) const {
    if (dtype().IsFloat()) return Like(static_cast<double>(v));
    return Constant(dtype(), ConstValue(v), u->shape());
  }
};

#define UNDERSTUDY_VALUE_OPERATOR(symbol, function)                                                  \
  inline Value operator symbol(const Value& a, const Value& b) { return Value(function(a.u, b.u)); } \
  inline Value operator symbol(const Value& a, double b) { return a symbol a.Like(b); }              \
  inline Value operator symbol(double a, const Value& b) { return b.Like(a) symbol b; }
UNDERSTUDY_VALUE_OPERATOR(+, uop::Add)
UNDERSTUDY_VALUE_OPERATOR(-, uop::Sub)
UNDERSTUDY_VALUE_OPERATOR(*, uop::Mul)
UNDERSTUDY_VALUE_OPERATOR(/, uop::FDiv)
UNDERSTUDY_VALUE_OPERATOR(<, uop::CmpLt)
UNDERSTUDY_VALUE_OPERATOR(==, uop::CmpEq)
UNDERSTUDY_VALUE_OPERATOR(!=, uop::CmpNe)
#undef UNDERSTUDY_VALUE_OPERATOR
inline Value operator>(const Value& a, const Value& b) { return b < a; }
inline Value operator>(const Value& a, double b) { return a.Like(b) < a; }
inline Value operator-(const Value& a) { return Value(uop::Neg(a.u)); }
inline Value operator&(const Value& a, const Value& b) { return Value(uop::And(a.u, b.u)); }
inline Value operator|(const Value& a, const Value& b) { return Value(uop::Or(a.u, b.u)); }
inline Value operator^(const Value& a, const Value& b) { return Value(uop::Xor(a.u, b.u)); }

inline Value Not(const Value& c) { return Value(uop::CmpEq(c.u, c.LikeInt(0).u)); }
inline Value Max(const Value& a, const Value& b) { return Value(uop::Max(a.u, b.u)); }
inline Value Max(const Value& a, double b) { return Max(a, a.Like(b)); }
inline Value Min(const Value& a, const Value& b) { return Value(uop::Min(a.u, b.u)); }
inline Value Min(const Value& a, double b) { return Min(a, a.Like(b)); }
// Clears the sign of a zero too; a NaN stays.
inline Value Abs(const Value& x) { return Max(x, -x); }
inline Value Select(const Value& c, const Value& a, const Value& b) {
  return Value(uop::Where(c.u, a.u, b.u));
}
inline Value Select(const Value& c, double a, const Value& b) { return Select(c, b.Like(a), b); }
inline Value Select(const Value& c, const Value& a, double b) { return Select(c, a, a.Like(b)); }
// a * b + c, rounded once.
inline Value Fma(const Value& a, const Value& b, const Value& c) { return Value(uop::MulAcc(a.u, b.u, c.u)); }
inline Value Fma(const Value& a, double b, const Value& c) { return Fma(a, a.Like(b), c); }
inline Value Fma(const Value& a, const Value& b, double c) { return Fma(a, b, a.Like(c)); }

}  // namespace understudy::tensor_internal
