// SPDX-License-Identifier: Apache-2.0
// CAST, CAST_LIKE and BIT_CAST, with the types that are held in wider ones.
#include <cmath>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

// The nearest value of a 2-exponent-bit, 1-mantissa-bit float, ties to even; beyond 6 it saturates. x: f32.
Tensor RoundE2M1(const Tensor& x) {
  const Tensor a = x.Abs();
  // Steps of 1/2 below 2, of 1 below 4, of 2 above.
  const Tensor y = Where(a < 2, understudy::Round(a * 2) * 0.5,
                         Where(a < 4, understudy::Round(a), understudy::Round(a * 0.5) * 2));
  // The type has no NaN: the suite has -0 in its place.
  return understudy::Where(x.IsNan(), -0.0, Copysign(y.Minimum(6), x));
}

// Integers keep their low bits. What the type cannot hold of floats is 0 (ONNX leaves it open; the suite's
// answer).
Tensor ToNarrowInteger(const Tensor& x, ElemType to) {
  const DType held = HeldIn(to);
  const int bits = RawBits(to);
  if (x.dtype().IsFloat()) {
    const double high = std::ldexp(1.0, held.IsSigned() ? bits - 1 : bits) - 1,
                 low = held.IsSigned() ? -high - 1 : 0;
    const Tensor t = x.Trunc();
    return understudy::Where(LogicalAnd(t >= low, t <= high), t, 0).Cast(held);
  }
  const Tensor i = x.Cast(dtypes::kInt32);
  if (held.IsUnsigned()) return i.BitAnd((1 << bits) - 1).Cast(held);
  return i.Shl(32 - bits).Shr(32 - bits).Cast(held);
}

// A power of two: the exponent of |x| rounded as `mode` says. x: f32.
Tensor RoundE8M0(NodeContext& c, const Tensor& x, bool saturate, const std::string& mode) {
  const Tensor bits = x.Bitcast(dtypes::kInt32).BitAnd(0x7fffffff);
  const Tensor mantissa = bits.BitAnd(0x7fffff);
  Tensor exponent = bits.Shr(23);
  if (mode == "up") {
    exponent = Where(mantissa > 0, exponent + 1, exponent);
  } else if (mode == "nearest") {
    exponent = Where(mantissa >= 0x400000, exponent + 1, exponent);
  } else if (mode != "down") {
    c.Bad("round_mode '", mode, "', expected up, down or nearest");
  }
  // Exponent field e holds 2^(e - 127); 255 is NaN. As f32, e of 0 is a denormal.
  const Tensor nan = saturate ? x.IsNan() : LogicalOr(x.IsNan(), understudy::IsInf(x));
  const Tensor over = exponent >= 255;
  exponent = exponent.Minimum(254);
  const Tensor normal = exponent.Shl(23).Bitcast(dtypes::kFloat32);
  Tensor y = Where(exponent > 0, normal, static_cast<double>(std::ldexp(1.0f, -127)));
  if (!saturate) y = Where(over, NAN, y);
  return Where(nan, NAN, y);
}

bool IsFloat8(ElemType t) { return t >= ElemType::kFloat8E4M3Fn && t <= ElemType::kFloat8E5M2Fnuz; }

}  // namespace

Tensor CastTo(NodeContext& c, const Tensor& x, ElemType to, bool saturate, const std::string& round_mode) {
  const DType held = HeldIn(to);
  if (held.IsVoid()) {
    c.Refuse("a cast to ", ElemTypeName(to));
    return Tensor(c.status());
  }
  switch (to) {
    case ElemType::kUInt4:
    case ElemType::kInt4:
    case ElemType::kUInt2:
    case ElemType::kInt2:
      return ToNarrowInteger(x, to);
    case ElemType::kFloat4E2M1:
      return RoundE2M1(x.Cast(dtypes::kFloat32)).Cast(held);
    case ElemType::kFloat8E8M0:
      return RoundE8M0(c, x.Cast(dtypes::kFloat32), saturate, round_mode);
    default:
      break;
  }
  if (IsFloat8(to) && saturate && x.dtype() != held) {
    const double most = std::get<double>(MaxValue(held));
    // A NaN passes the comparisons.
    const Tensor f = x.dtype().IsFloat() ? x : x.Cast(dtypes::kFloat32);
    return Where(f > most, most, Where(f < -most, -most, f)).Cast(held);
  }
  return x.Cast(held);
}

void Cast(NodeContext& c) {
  const auto to = static_cast<ElemType>(c.Int("to", 0));
  c.Out(0, CastTo(c, c.In(0), to, c.Int("saturate", 1) != 0, c.Text("round_mode", "up")), to);
}

void CastLike(NodeContext& c) {
  const ElemType to = c.TypeOf(1);
  c.Out(0, CastTo(c, c.In(0), to, c.Int("saturate", 1) != 0, c.Text("round_mode", "up")), to);
}

void BitCast(NodeContext& c) {
  const auto to = static_cast<ElemType>(c.Int("to", 0));
  const ElemType from = c.TypeOf(0);
  if (RawBits(to) == 0 || RawBits(to) != RawBits(from)) {
    return c.Bad("from ", ElemTypeName(from), " to ", ElemTypeName(to), ": different widths");
  }
  if (HeldIn(from).BitWidth() != RawBits(from) || HeldIn(to).BitWidth() != RawBits(to)) {
    return c.Refuse("a bit cast from ", ElemTypeName(from), " to ", ElemTypeName(to));
  }
  Tensor x = c.In(0);
  if (from == to) return c.Out(0, x, to);
  if (x.dtype().IsBool()) x = x.Cast(dtypes::kUInt8);  // stored as 0 or 1
  if (to == ElemType::kBool) return c.Out(0, x.Bitcast(dtypes::kUInt8).Ne(0), to);
  c.Out(0, x.Bitcast(HeldIn(to)), to);
}

}  // namespace understudy::onnx::ops
