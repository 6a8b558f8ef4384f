// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element types: what a UOp computes in and what a buffer holds. Used by every stage of the compiler.
// The list lives in dtypes.inc; this file never converts values (see const_value.h).

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "src/base/float_format.h"

namespace understudy {

enum class Scalar : uint8_t {
#define DTYPE(enumerator, text, kind, bits, format) enumerator,
#include "src/dtype/dtypes.inc"
#undef DTYPE
};

inline constexpr int kNumScalars = 0
#define DTYPE(enumerator, text, kind, bits, format) +1
#include "src/dtype/dtypes.inc"
#undef DTYPE
    ;

// Where a pointer-typed node points; kNone for plain values.
enum class AddrSpace : uint8_t { kNone, kGlobal, kLocal, kReg };

// A scalar type, a lane count (vectors inside kernels only) and, for buffers inside kernels, an address
// space.
struct DType {
  Scalar scalar = Scalar::kVoid;
  uint16_t lanes = 1;
  AddrSpace space = AddrSpace::kNone;

  constexpr DType() = default;
  constexpr DType(Scalar s, int l = 1, AddrSpace a = AddrSpace::kNone)  // NOLINT: a Scalar is a DType
      : scalar(s), lanes(static_cast<uint16_t>(l)), space(a) {}

  friend constexpr bool operator==(const DType&, const DType&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const DType& t) {
    return H::combine(std::move(h), t.scalar, t.lanes, t.space);
  }

  bool IsVoid() const { return scalar == Scalar::kVoid; }
  bool IsBool() const { return scalar == Scalar::kBool; }
  // Signed and unsigned integers and index; not bool.
  bool IsInt() const;
  // True for i8..i64 and index.
  bool IsSigned() const;
  bool IsUnsigned() const { return IsInt() && !IsSigned(); }
  bool IsFloat() const;
  bool IsPointer() const { return space != AddrSpace::kNone; }
  // Bits and bytes of one lane as stored in memory (bool is one byte).
  int BitWidth() const;
  int ScalarBytes() const { return BitWidth() / 8; }
  // Bytes of all lanes.
  int SizeBytes() const { return ScalarBytes() * lanes; }

  DType Element() const { return DType(scalar); }
  DType WithLanes(int n) const { return DType(scalar, n, space); }
  DType WithSpace(AddrSpace a) const { return DType(scalar, lanes, a); }

  // "f32", "f32x4", "f32*global", "f32x4*local".
  std::string Name() const;
};

// Inverse of DType::Name(). InvalidArgument names the text.
absl::StatusOr<DType> ParseDType(const std::string& text);

// The bit layout of a floating-point type; US_CHECKs IsFloat().
const FloatFormat& FormatOf(DType t);

// The smallest type to which both convert, as PyTorch promotes: bool < unsigned < signed < float, the wider
// of two of a kind; a signed and an unsigned integer meet in the next wider signed type (u64 with signed:
// f32's place is taken by i64, as wrapping is defined); two different 8-bit floats meet in f16 (which holds
// every value of each), so bf16 meets f16 and the 8-bit floats in f32 (anything lower would not be
// associative); an integer with a float gives that float. Commutative, associative and idempotent.
DType Promote(DType a, DType b);

// The type in which SUM and PROD accumulate and answer: bool and integers narrower than 64 bits give i64
// (signed, bool) or u64 (unsigned) as PyTorch does for signed; floats keep their type as result but
// accumulate in AccType.
DType SumResultType(DType t);

// The type in which a float reduction accumulates before one final rounding: f32 for every narrower float.
DType AccType(DType t);

namespace dtypes {
inline constexpr DType kVoid{Scalar::kVoid}, kBool{Scalar::kBool}, kInt8{Scalar::kInt8},
    kUInt8{Scalar::kUInt8}, kInt16{Scalar::kInt16}, kUInt16{Scalar::kUInt16}, kInt32{Scalar::kInt32},
    kUInt32{Scalar::kUInt32}, kInt64{Scalar::kInt64}, kUInt64{Scalar::kUInt64},
    kFloat8E4M3{Scalar::kFloat8E4M3}, kFloat8E5M2{Scalar::kFloat8E5M2},
    kFloat8E4M3Fnuz{Scalar::kFloat8E4M3Fnuz}, kFloat8E5M2Fnuz{Scalar::kFloat8E5M2Fnuz},
    kFloat16{Scalar::kFloat16}, kBFloat16{Scalar::kBFloat16}, kFloat32{Scalar::kFloat32},
    kFloat64{Scalar::kFloat64}, kIndex{Scalar::kIndex};
}  // namespace dtypes

}  // namespace understudy

template <>
struct std::hash<understudy::DType> {
  size_t operator()(const understudy::DType& t) const {
    return static_cast<size_t>(t.scalar) | static_cast<size_t>(t.lanes) << 8 |
           static_cast<size_t>(t.space) << 24;
  }
};
