// SPDX-License-Identifier: Apache-2.0
#include "src/dtype/dtype.h"

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {
namespace {

enum class Kind : uint8_t { V, B, I, U, F, X };

struct Row {
  const char* text;
  Kind kind;
  int bits;
  const char* format;
};

constexpr Row kRows[] = {
#define DTYPE(enumerator, text, kind, bits, format) {text, Kind::kind, bits, format},
#include "src/dtype/dtypes.inc"
#undef DTYPE
};

const Row& RowOf(Scalar s) { return kRows[static_cast<int>(s)]; }

DType SignedOfWidth(int bits) {
  return bits <= 8    ? dtypes::kInt8
         : bits <= 16 ? dtypes::kInt16
         : bits <= 32 ? dtypes::kInt32
                      : dtypes::kInt64;
}

const char* SpaceName(AddrSpace s) {
  switch (s) {
    case AddrSpace::kNone:
      return "";
    case AddrSpace::kGlobal:
      return "*global";
    case AddrSpace::kLocal:
      return "*local";
    case AddrSpace::kReg:
      return "*reg";
  }
  return "";
}

}  // namespace

bool DType::IsInt() const {
  const Kind k = RowOf(scalar).kind;
  return k == Kind::I || k == Kind::U || k == Kind::X;
}
bool DType::IsSigned() const {
  const Kind k = RowOf(scalar).kind;
  return k == Kind::I || k == Kind::X;
}
bool DType::IsFloat() const { return RowOf(scalar).kind == Kind::F; }
int DType::BitWidth() const { return RowOf(scalar).bits; }

std::string DType::Name() const {
  std::string name = RowOf(scalar).text;
  if (lanes != 1) absl::StrAppend(&name, "x", lanes);
  return name + SpaceName(space);
}

absl::StatusOr<DType> ParseDType(const std::string& text) {
  std::string rest = text;
  DType t;
  for (AddrSpace s : {AddrSpace::kGlobal, AddrSpace::kLocal, AddrSpace::kReg}) {
    const std::string suffix = SpaceName(s);
    if (rest.size() > suffix.size() &&
        rest.compare(rest.size() - suffix.size(), suffix.size(), suffix) == 0) {
      t.space = s;
      rest.resize(rest.size() - suffix.size());
      break;
    }
  }
  // No scalar's name holds an 'x' followed by a digit, except as the lane count.
  const size_t x = rest.find_last_of('x');
  if (x != std::string::npos && x + 1 < rest.size() &&
      rest.find_first_not_of("0123456789", x + 1) == std::string::npos) {
    const std::string digits = rest.substr(x + 1);
    const int lanes = digits.size() <= 4 ? std::stoi(digits) : 0;
    if (lanes < 1 || lanes > 4096) {
      return absl::InvalidArgumentError(
          absl::StrCat("data type '", text, "': lane count ", digits, ", expected 1 to 4096"));
    }
    t.lanes = static_cast<uint16_t>(lanes);
    rest.resize(x);
  }
  for (int i = 0; i < kNumScalars; ++i) {
    if (rest == kRows[i].text) {
      t.scalar = static_cast<Scalar>(i);
      return t;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("data type '", text, "': no scalar type named '", rest, "'"));
}

const FloatFormat& FormatOf(DType t) {
  US_CHECK(t.IsFloat()) << t.Name() << " has no float format";
  static const FloatFormat* const kFormats[] = {
#define DTYPE(enumerator, text, kind, bits, format) FindFloatFormat(format),
#include "src/dtype/dtypes.inc"
#undef DTYPE
  };
  return *kFormats[static_cast<int>(t.scalar)];
}

DType Promote(DType a, DType b) {
  US_CHECK(!a.IsPointer() && !b.IsPointer() && a.lanes == b.lanes) << a.Name() << " and " << b.Name();
  const int lanes = a.lanes;
  const auto scalar = [](DType x, DType y) -> DType {
    if (x == y) return x;
    if (x.IsVoid()) return y;
    if (y.IsVoid()) return x;
    if (x.IsFloat() != y.IsFloat()) return x.IsFloat() ? x : y;
    if (x.IsFloat()) {
      const bool has_bf16 = x == dtypes::kBFloat16 || y == dtypes::kBFloat16;
      if (has_bf16 && x.BitWidth() + y.BitWidth() == 24) return dtypes::kFloat32;
      if (x.BitWidth() != y.BitWidth()) return x.BitWidth() > y.BitWidth() ? x : y;
      return x.BitWidth() == 8 ? dtypes::kFloat16 : dtypes::kFloat32;
    }
    if (x.IsBool()) return y;
    if (y.IsBool()) return x;
    if (x == dtypes::kIndex || y == dtypes::kIndex) return dtypes::kIndex;
    if (x.IsSigned() == y.IsSigned()) return x.BitWidth() > y.BitWidth() ? x : y;
    const DType s = x.IsSigned() ? x : y, u = x.IsSigned() ? y : x;
    return s.BitWidth() > u.BitWidth() ? s : SignedOfWidth(u.BitWidth() * 2);
  };
  return DType(scalar(a.Element(), b.Element()).scalar, lanes);
}

DType SumResultType(DType t) {
  if (t.IsBool() || (t.IsInt() && t.IsSigned() && t != dtypes::kIndex)) return dtypes::kInt64;
  if (t.IsUnsigned()) return dtypes::kUInt64;
  return t;
}

DType AccType(DType t) { return t.IsFloat() && t.BitWidth() < 32 ? dtypes::kFloat32 : t; }

}  // namespace understudy
