// SPDX-License-Identifier: Apache-2.0
// The elements of a TensorProto: raw bytes or one of the typed lists, unpacked where several share a byte.
#include <bit>
#include <cmath>

#include "src/base/half.h"
#include "src/tensor/onnx/proto.h"
#include "src/tensor/state/named_tensor.h"

namespace understudy::onnx {

std::string ElemTypeName(ElemType t) {
  switch (t) {
#define X(id, number, text, bits, held) \
  case ElemType::k##id:                 \
    return text;
    UNDERSTUDY_ONNX_TYPES(X)
#undef X
    default:
      return absl::StrCat("type ", static_cast<int32_t>(t));
  }
}

DType HeldIn(ElemType t) {
  switch (t) {
#define X(id, number, text, bits, held) \
  case ElemType::k##id:                 \
    return dtypes::held;
    UNDERSTUDY_ONNX_TYPES(X)
#undef X
    default:
      return dtypes::kVoid;
  }
}

int RawBits(ElemType t) {
  switch (t) {
#define X(id, number, text, bits, held) \
  case ElemType::k##id:                 \
    return bits;
    UNDERSTUDY_ONNX_TYPES(X)
#undef X
    default:
      return 0;
  }
}

ElemType ElemTypeOf(DType t) {
  // The first row with that type: narrower ones that borrow it come later in the list.
#define X(id, number, text, bits, held) \
  if (t == dtypes::held && bits == t.BitWidth()) return ElemType::k##id;
  if (!t.IsVoid()) {
    UNDERSTUDY_ONNX_TYPES(X)
  }
#undef X
  return ElemType::kUndefined;
}

namespace {

// Value of a 2-exponent-bit, 1-mantissa-bit float.
float DecodeE2M1(uint32_t v) {
  static constexpr float kMagnitude[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return (v & 8) ? -kMagnitude[v & 7] : kMagnitude[v & 7];
}
// A power of two with bias 127; 255 is NaN.
float DecodeE8M0(uint32_t v) {
  return v == 255 ? std::nanf("") : std::ldexp(1.0f, static_cast<int>(v) - 127);
}

template <class T>
void Put(std::vector<uint8_t>& out, size_t i, T v) {
  std::memcpy(out.data() + i * sizeof(T), &v, sizeof(T));
}

// `pattern`: the element's bits, right-aligned.
void PutNarrow(ElemType t, std::vector<uint8_t>& out, size_t i, uint32_t pattern) {
  switch (t) {
    case ElemType::kUInt4:
      out[i] = pattern & 15;
      return;
    case ElemType::kInt4:
      out[i] = static_cast<uint8_t>(static_cast<int32_t>(pattern << 28) >> 28);
      return;
    case ElemType::kUInt2:
      out[i] = pattern & 3;
      return;
    case ElemType::kInt2:
      out[i] = static_cast<uint8_t>(static_cast<int32_t>(pattern << 30) >> 30);
      return;
    case ElemType::kFloat4E2M1:
      Put(out, i, FloatToHalf(DecodeE2M1(pattern)));
      return;
    default:
      Put(out, i, DecodeE8M0(pattern & 255));
      return;  // kFloat8E8M0
  }
}

bool IsNarrow(ElemType t) { return RawBits(t) < 8 || t == ElemType::kFloat8E8M0; }

}  // namespace

absl::StatusOr<std::vector<uint8_t>> Elements(const TensorProto& t, std::optional<Bytes> external) {
  const std::string what = absl::StrCat("onnx: tensor '", t.name, "'");
  const auto bad = [&](const auto&... a) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", a...));
  };
  const ElemType type = t.type();
  const DType held = HeldIn(type);
  if (held.IsVoid()) {
    return absl::UnimplementedError(
        absl::StrCat(what, ": elements of ", ElemTypeName(type), " are not read"));
  }
  US_ASSIGN_OR_RETURN(const int64_t count, state::CheckedElements(what, t.dims));
  const auto n = static_cast<uint64_t>(count);
  const int bits = RawBits(type);
  std::optional<Bytes> raw = t.raw;
  if (t.external) {
    if (!external) return bad("its elements are in another file, which was not given");
    raw = external;
  }
  if (raw) {
    if (n > (uint64_t{1} << 60)) return bad(n, " elements");
    const uint64_t want = (n * bits + 7) / 8;
    if (raw->size() != want) {
      return bad(raw->size(), " bytes, expected ", want, " for ", n, " elements of ", ElemTypeName(type));
    }
    if (!IsNarrow(type)) return std::vector<uint8_t>(raw->begin(), raw->end());
    std::vector<uint8_t> out(n * held.SizeBytes());
    for (size_t i = 0; i < n; ++i) {
      const size_t bit = i * bits;
      PutNarrow(type, out, i, static_cast<uint32_t>((*raw)[bit / 8] >> (bit % 8)));
    }
    return out;
  }
  // Typed lists hold one element an entry, but for types below 8 bits, which are packed as in raw data.
  const auto check = [&](size_t have, uint64_t want, const char* list) {
    return have == want ? absl::OkStatus()
                        : bad(list, " has ", have, " entries, expected ", want, " for ", ElemTypeName(type));
  };
  std::vector<uint8_t> out;
  switch (type) {
    case ElemType::kFloat:
      US_RETURN_IF_ERROR(check(t.floats.size(), n, "float_data"));
      out.resize(n * 4);
      for (size_t i = 0; i < n; ++i) Put(out, i, t.floats[i]);
      return out;
    case ElemType::kDouble:
      US_RETURN_IF_ERROR(check(t.doubles.size(), n, "double_data"));
      out.resize(n * 8);
      for (size_t i = 0; i < n; ++i) Put(out, i, t.doubles[i]);
      return out;
    case ElemType::kInt64:
      US_RETURN_IF_ERROR(check(t.int64s.size(), n, "int64_data"));
      out.resize(n * 8);
      for (size_t i = 0; i < n; ++i) Put(out, i, t.int64s[i]);
      return out;
    case ElemType::kUInt32:
    case ElemType::kUInt64:
      US_RETURN_IF_ERROR(check(t.uint64s.size(), n, "uint64_data"));
      out.resize(n * held.SizeBytes());
      for (size_t i = 0; i < n; ++i)
        std::memcpy(out.data() + i * held.SizeBytes(), &t.uint64s[i], held.SizeBytes());
      return out;
    default:
      break;
  }
  if (bits < 8) {
    const uint64_t per_byte = 8 / bits;
    US_RETURN_IF_ERROR(check(t.int32s.size(), (n + per_byte - 1) / per_byte, "int32_data"));
    out.resize(n * held.SizeBytes());
    for (size_t i = 0; i < n; ++i) {
      PutNarrow(type, out, i, static_cast<uint32_t>(t.int32s[i / per_byte]) >> (i % per_byte * bits));
    }
    return out;
  }
  US_RETURN_IF_ERROR(check(t.int32s.size(), n, "int32_data"));
  out.resize(n * held.SizeBytes());
  for (size_t i = 0; i < n; ++i) {
    if (IsNarrow(type))
      PutNarrow(type, out, i, static_cast<uint32_t>(t.int32s[i]));
    else if (type == ElemType::kBool)
      out[i] = t.int32s[i] != 0;
    else
      std::memcpy(out.data() + i * held.SizeBytes(), &t.int32s[i], held.SizeBytes());
  }
  return out;
}

}  // namespace understudy::onnx
