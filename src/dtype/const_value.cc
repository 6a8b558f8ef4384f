// SPDX-License-Identifier: Apache-2.0
#include "src/dtype/const_value.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/float_format.h"
#include "src/base/soft_float.h"
#include "src/base/status.h"

namespace understudy {
namespace {

int64_t WrapInt(DType t, int64_t v) {
  if (t.IsBool()) return v != 0;
  const int width = t.BitWidth();
  if (t.IsSigned()) return SignExtend(static_cast<uint64_t>(v), width);
  return static_cast<int64_t>(static_cast<uint64_t>(v) & LowMask(width));
}

double RoundFloat(DType t, double v) {
  if (std::isnan(v)) return std::numeric_limits<double>::quiet_NaN();
  if (t == dtypes::kFloat64) return v;
  if (t == dtypes::kFloat32) return static_cast<float>(v);
  const double rounded = DecodeFloat(FormatOf(t), EncodeFloat(FormatOf(t), v));
  return std::isnan(rounded) ? std::numeric_limits<double>::quiet_NaN() : rounded;
}

int64_t FloatToInt(DType to, double v) {
  if (to.IsBool()) return v != 0;  // NaN is not zero
  const auto bits = std::bit_cast<uint64_t>(v);
  const SoftContext truncate{Rounding::kToZero, DenormMode::kKeep, Overflow::kInf};
  if (to.IsSigned()) return SoftToInt(formats::kF64, bits, to.BitWidth(), truncate);
  return static_cast<int64_t>(SoftToUint(formats::kF64, bits, to.BitWidth(), truncate));
}

}  // namespace

ConstValue Canonical(DType type, ConstValue value) {
  US_CHECK(!type.IsVoid()) << "void has no constants";
  if (type.IsFloat()) {
    if (const auto* i = std::get_if<int64_t>(&value)) return CastConst(dtypes::kInt64, type, *i);
    return RoundFloat(type, std::get<double>(value));
  }
  if (const auto* d = std::get_if<double>(&value)) return FloatToInt(type, *d);
  return WrapInt(type, std::get<int64_t>(value));
}

ConstValue CastConst(DType from, DType to, ConstValue value) {
  US_CHECK(std::holds_alternative<double>(value) == from.IsFloat())
      << "constant does not match " << from.Name();
  if (!to.IsFloat() || from.IsFloat()) return Canonical(to, value);
  const FloatFormat& f = FormatOf(to);
  const int64_t v = std::get<int64_t>(value);
  const double exact =
      DecodeFloat(f, from == dtypes::kUInt64 ? SoftFromUint(f, static_cast<uint64_t>(v)) : SoftFromInt(f, v));
  return std::isnan(exact) ? std::numeric_limits<double>::quiet_NaN() : exact;
}

uint64_t ToBits(DType type, ConstValue value) {
  value = Canonical(type, value);
  if (type.IsFloat()) return EncodeFloat(FormatOf(type), std::get<double>(value));
  return static_cast<uint64_t>(std::get<int64_t>(value)) & LowMask(type.BitWidth());
}

ConstValue FromBits(DType type, uint64_t bits) {
  if (type.IsFloat()) return Canonical(type, DecodeFloat(FormatOf(type), bits));
  return Canonical(type, static_cast<int64_t>(type.IsBool() ? bits & 0xff : bits));
}

ConstValue MinValue(DType type) {
  if (type.IsFloat()) return -std::get<double>(MaxValue(type));
  US_CHECK(type.IsInt() || type.IsBool()) << type.Name() << " has no least value";
  return type.IsSigned() ? SignExtend(uint64_t{1} << (type.BitWidth() - 1), type.BitWidth()) : int64_t{0};
}

ConstValue MaxValue(DType type) {
  if (type.IsFloat()) return DecodeFloat(FormatOf(type), FormatOf(type).max_bits());
  US_CHECK(type.IsInt() || type.IsBool()) << type.Name() << " has no greatest value";
  if (type.IsBool()) return int64_t{1};
  return static_cast<int64_t>(type.IsSigned() ? LowMask(type.BitWidth() - 1) : LowMask(type.BitWidth()));
}

bool SameConst(const ConstValue& a, const ConstValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* i = std::get_if<int64_t>(&a)) return *i == std::get<int64_t>(b);
  const double x = std::get<double>(a), y = std::get<double>(b);
  return (std::isnan(x) && std::isnan(y)) || std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
}

std::string ConstText(DType type, const ConstValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) {
    if (type.IsBool()) return *i ? "true" : "false";
    return type == dtypes::kUInt64 ? absl::StrCat(static_cast<uint64_t>(*i)) : absl::StrCat(*i);
  }
  const double d = std::get<double>(value);
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char text[40];
  std::snprintf(text, sizeof text, "%a", d);
  return text;
}

}  // namespace understudy
