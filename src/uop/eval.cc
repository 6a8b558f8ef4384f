// SPDX-License-Identifier: Apache-2.0
#include "src/uop/eval.h"

#include <bit>
#include <cmath>
#include <limits>

#include "src/base/status.h"

namespace understudy::uop {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// a + b rounded to odd: rounding the result once more to a format of fewer than 52 bits gives what one
// rounding of the exact sum would (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
double AddToOdd(double a, double b) {
  const double s = a + b;
  if (!std::isfinite(s)) return s;
  const double bb = s - a;
  const double err = (a - (s - bb)) + (b - bb);
  if (err == 0) return s;
  auto bits = std::bit_cast<uint64_t>(s);
  if ((bits & 1) == 0) {
    // The exact sum lies beside s, on the side that err points to: step to the odd neighbour there.
    const bool away = (err > 0) == (s > 0);
    bits = away ? bits + 1 : bits - 1;
  }
  return std::bit_cast<double>(bits);
}

double Maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double Minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
T Transcendental(Op op, T x) {
  switch (op) {
    case Op::kExp2:
      return std::exp2(x);
    case Op::kLog2:
      return std::log2(x);
    case Op::kCos:
      return std::cos(x);
    default:
      return std::sin(x);
  }
}

// The exact result, or one from which rounding to `t` gives the correctly rounded result. Double arithmetic
// carries 53 >= 2 p + 2 bits for every t of p <= 24 bits, for which rounding +, *, / and sqrt twice is
// innocuous (Figueroa, "When is double rounding innocuous?", 1995); results in t's subnormal range are exact
// sums or products in double.
double FloatAlu(Op op, DType t, absl::Span<const ConstValue> args) {
  const double a = std::get<double>(args[0]);
  const double b = args.size() > 1 ? std::get<double>(args[1]) : 0;
  switch (op) {
    case Op::kNeg:
      return -a;
    case Op::kSqrt:
      return std::sqrt(a);
    case Op::kTrunc:
      return std::trunc(a);
    case Op::kRecip:
      return 1.0 / a;
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin:
    case Op::kCos:
      if (t == dtypes::kFloat64) return static_cast<double>(Transcendental<long double>(op, a));
      return Transcendental<double>(op, a);
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kFDiv:
      return a / b;
    case Op::kMax:
      return Maximum(a, b);
    case Op::kMin:
      return Minimum(a, b);
    case Op::kMulAcc: {
      const double c = std::get<double>(args[2]);
      if (t == dtypes::kFloat64) return std::fma(a, b, c);
      return AddToOdd(a * b, c);  // the product of two values of at most 24 bits is exact in double
    }
    default:
      US_CHECK(false) << OpName(op) << " on " << t.Name();
      return 0;
  }
}

bool FloatCompare(Op op, double a, double b) {
  switch (op) {
    case Op::kCmpLt:
      return a < b;
    case Op::kCmpEq:
      return a == b;
    default:
      return a != b;
  }
}

// Division by zero is settled before. `T` is int64_t or uint64_t.
template <class T>
T Divide(Op op, T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1)
      return op == Op::kIDiv || op == Op::kFloorDiv ? static_cast<T>(0 - static_cast<uint64_t>(a)) : 0;
  }
  const T q = a / b, r = a % b;
  const bool down = r != 0 && ((r < 0) != (b < 0));
  switch (op) {
    case Op::kIDiv:
      return q;
    case Op::kIMod:
      return r;
    case Op::kFloorDiv:
      return q - (down ? 1 : 0);
    default:
      return r + (down ? b : 0);
  }
}

// The result before it wraps to the type's width. Values are sign- or zero-extended to 64 bits.
int64_t IntAlu(Op op, DType t, absl::Span<const ConstValue> args) {
  const int64_t a = std::get<int64_t>(args[0]);
  const int64_t b = args.size() > 1 ? std::get<int64_t>(args[1]) : 0;
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const bool is_signed = t.IsSigned();
  const bool less = is_signed ? a < b : ua < ub;
  switch (op) {
    case Op::kNeg:
      return static_cast<int64_t>(0 - ua);
    case Op::kAdd:
      return static_cast<int64_t>(ua + ub);
    case Op::kSub:
      return static_cast<int64_t>(ua - ub);
    case Op::kMul:
      return static_cast<int64_t>(ua * ub);
    case Op::kMulAcc:
      return static_cast<int64_t>(ua * ub + static_cast<uint64_t>(std::get<int64_t>(args[2])));
    case Op::kIDiv:
    case Op::kFloorDiv:
      if (b == 0) return 0;
      return is_signed ? Divide<int64_t>(op, a, b) : static_cast<int64_t>(Divide<uint64_t>(op, ua, ub));
    case Op::kIMod:
    case Op::kFloorMod:
      if (b == 0) return a;
      return is_signed ? Divide<int64_t>(op, a, b) : static_cast<int64_t>(Divide<uint64_t>(op, ua, ub));
    case Op::kMax:
      return less ? b : a;
    case Op::kMin:
      return less ? a : b;
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    case Op::kShl:
      return ub >= static_cast<uint64_t>(t.BitWidth()) ? 0 : static_cast<int64_t>(ua << ub);
    case Op::kShr:
      if (ub >= static_cast<uint64_t>(t.BitWidth())) return is_signed && a < 0 ? -1 : 0;
      return is_signed ? a >> ub : static_cast<int64_t>(ua >> ub);
    case Op::kCmpLt:
      return less;
    case Op::kCmpEq:
      return a == b;
    case Op::kCmpNe:
      return a != b;
    default:
      US_CHECK(false) << OpName(op) << " on " << t.Name();
      return 0;
  }
}

}  // namespace

ConstValue EvalAlu(Op op, DType operand, absl::Span<const ConstValue> args) {
  const DType t = operand.Element();
  US_CHECK(IsAlu(op) && static_cast<int>(args.size()) == OpArity(op))
      << OpName(op) << " of " << args.size() << " values";
  if (op == Op::kWhere) return std::get<int64_t>(args[0]) ? args[1] : args[2];
  if (IsComparison(op)) {
    if (t.IsFloat()) return int64_t{FloatCompare(op, std::get<double>(args[0]), std::get<double>(args[1]))};
    return IntAlu(op, t, args);
  }
  if (t.IsFloat()) return Canonical(t, FloatAlu(op, t, args));
  return Canonical(t, IntAlu(op, t, args));
}

ConstValue IdentityOf(Op op, DType type) {
  const DType t = type.Element();
  if (op == Op::kAdd || op == Op::kMul) return Canonical(t, ConstValue(int64_t{op == Op::kMul}));
  US_CHECK(op == Op::kMax || op == Op::kMin) << "a reduction by " << OpName(op);
  const bool max = op == Op::kMax;
  if (t.IsFloat() && FormatOf(t).has_inf) {
    const double inf = std::numeric_limits<double>::infinity();
    return max ? -inf : inf;
  }
  return max ? MinValue(t) : MaxValue(t);
}

ConstValue EvalNode(const UOp& node, absl::Span<const ConstValue> args) {
  US_CHECK(IsAlu(node.op()) && args.size() == node.num_src())
      << OpName(node.op()) << " of " << args.size() << " values";
  const DType from = node.src(node.num_src() - 1)->dtype();
  switch (node.op()) {
    case Op::kCast:
      return CastConst(from.Element(), node.dtype().Element(), args[0]);
    case Op::kBitcast:
      US_CHECK(from.lanes == node.dtype().lanes)
          << "BITCAST from " << from.Name() << " to " << node.dtype().Name();
      return FromBits(node.dtype().Element(), ToBits(from.Element(), args[0]));
    default:
      return EvalAlu(node.op(), from, args);
  }
}

}  // namespace understudy::uop
