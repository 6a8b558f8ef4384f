// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/tensor_map.h"

#include <cstring>

#include "absl/strings/str_format.h"
#include "emu/ptx/semantics/convert_narrow.h"

namespace understudy::emu::ptx {
namespace {

constexpr uint32_t kMagic = 0x504d5455;  // "UTMP"

template <class T>
void Put(uint8_t* out, int at, T value) {
  std::memcpy(out + at, &value, sizeof(T));
}
template <class T>
T Get(const uint8_t* in, int at) {
  T value;
  std::memcpy(&value, in + at, sizeof(T));
  return value;
}

absl::Status Bad(const std::string& what) { return absl::InvalidArgumentError("tensor map: " + what); }

}  // namespace

int TensorElementBytes(TensorDataType type) {
  switch (type) {
    case TensorDataType::kU8:
      return 1;
    case TensorDataType::kU16:
    case TensorDataType::kF16:
    case TensorDataType::kBf16:
      return 2;
    case TensorDataType::kU64:
    case TensorDataType::kS64:
    case TensorDataType::kF64:
      return 8;
    case TensorDataType::k16U4Align8:
    case TensorDataType::k16U4Align16:
    case TensorDataType::k16U6Align16:
      return 0;
    default:
      return 4;
  }
}

int TensorElementBits(TensorDataType type) {
  return type == TensorDataType::k16U6Align16  ? 6
         : type >= TensorDataType::k16U4Align8 ? 4
                                               : 8 * TensorElementBytes(type);
}

Type TensorElementType(TensorDataType type) {
  switch (type) {
    case TensorDataType::kU8:
      return Type::kU8;
    case TensorDataType::kU16:
      return Type::kU16;
    case TensorDataType::kU32:
      return Type::kU32;
    case TensorDataType::kS32:
      return Type::kS32;
    case TensorDataType::kU64:
      return Type::kU64;
    case TensorDataType::kS64:
      return Type::kS64;
    case TensorDataType::kF16:
      return Type::kF16;
    case TensorDataType::kF32:
    case TensorDataType::kF32Ftz:
    case TensorDataType::kTf32:
    case TensorDataType::kTf32Ftz:
      return Type::kF32;
    case TensorDataType::kF64:
      return Type::kF64;
    case TensorDataType::kBf16:
      return Type::kBf16;
    default:
      return Type::kNone;
  }
}

bool LoadsTf32(TensorDataType type) {
  return type == TensorDataType::kTf32 || type == TensorDataType::kTf32Ftz;
}
bool AddsFlush(TensorDataType type) {
  return type == TensorDataType::kF32Ftz || type == TensorDataType::kTf32Ftz;
}
uint32_t TensorTf32(uint32_t bits) { return Tf32FromSingle(bits, Round::kNearestEven, false, false); }

namespace {

// What elements of 4 and 6 bits ask for beyond other types. Source: cuda.h, cuTensorMapEncodeTiled and its
// kin.
absl::Status CheckPacked(const TensorMap& map) {
  const uint32_t row = map.mode == TensorMode::kTiled ? map.box[0] : map.channels;
  const uint64_t multiple = IsPadded(map.type) ? kPaddedRow : 2;
  if (map.dim[0] % multiple != 0)
    return Bad(
        absl::StrFormat("dimension 0 has %d elements, expected a multiple of %d", map.dim[0], multiple));
  if (!IsPadded(map.type)) return absl::OkStatus();
  if (row != kPaddedRow)
    return Bad(
        absl::StrFormat("%d elements in the inner dimension of the box, expected %d", row, kPaddedRow));
  const bool six = map.type == TensorDataType::k16U6Align16;
  if (Interleaved(map)) {
    if (six) return Bad("interleaved elements of 6 bits");
    return absl::UnimplementedError("tensor map: interleaved padded elements of 4 bits are not emulated");
  }
  if (map.swizzle != TensorSwizzle::kNone && map.swizzle != TensorSwizzle::k128B &&
      map.swizzle != TensorSwizzle::k128BAtom32B && !(six && map.swizzle == TensorSwizzle::k128BAtom64B))
    return Bad(absl::StrFormat("swizzle %d of padded elements of %d bits", static_cast<int>(map.swizzle),
                               six ? 6 : 4));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTensorMap(const TensorMap& map) {
  const bool im2col = map.mode != TensorMode::kTiled;
  if (map.rank < (im2col ? 3 : 1) || map.rank > kMaxTensorRank)
    return Bad(absl::StrFormat("rank %d, expected %d..5", map.rank, im2col ? 3 : 1));
  if (map.type > TensorDataType::k16U6Align16)
    return Bad(absl::StrFormat("data type %d, expected 0..15", static_cast<int>(map.type)));
  if (map.interleave > TensorInterleave::k32B)
    return Bad(absl::StrFormat("interleave %d, expected 0..2", static_cast<int>(map.interleave)));
  if (map.swizzle > TensorSwizzle::k128BAtom64B)
    return Bad(absl::StrFormat("swizzle %d, expected 0..6", static_cast<int>(map.swizzle)));
  if (map.fill > TensorFill::kNan)
    return Bad(absl::StrFormat("out-of-bound fill %d, expected 0..1", static_cast<int>(map.fill)));
  if (map.l2_promotion > 3) return Bad(absl::StrFormat("L2 promotion %d, expected 0..3", map.l2_promotion));
  if (Interleaved(map) && map.rank < 3)
    return Bad(absl::StrFormat("rank %d of an interleaved layout, expected 3..5", map.rank));
  if (IsWide(map.mode)) {
    // PTX ISA 8.8, "Interleave layout" and "im2col::w and im2col::w::128 modes"; cuda.h.
    if (Interleaved(map)) return Bad("an interleaved layout in a wide im2col mode");
    if (map.swizzle != TensorSwizzle::k64B && map.swizzle != TensorSwizzle::k128B &&
        map.swizzle != TensorSwizzle::k128BAtom32B)
      return Bad(absl::StrFormat("swizzle %d in a wide im2col mode, expected 2, 3 or 4",
                                 static_cast<int>(map.swizzle)));
  }
  const uint64_t bits = static_cast<uint64_t>(TensorElementBits(map.type));
  const uint64_t alignment = map.interleave == TensorInterleave::k32B || IsPadded(map.type) ? 32 : 16;
  if (map.address % alignment != 0)
    return Bad(absl::StrFormat("global address 0x%x is not a multiple of %d", map.address, alignment));
  for (int i = 0; i < map.rank; ++i) {
    if (map.dim[i] == 0 || map.dim[i] > uint64_t{1} << 32)
      return Bad(absl::StrFormat("dimension %d has %d elements, expected 1..2^32", i, map.dim[i]));
    if (i > 0 && (map.stride[i] % alignment != 0 || map.stride[i] >= uint64_t{1} << 40))
      return Bad(absl::StrFormat("stride %d of dimension %d, expected a multiple of %d below 2^40",
                                 map.stride[i], i, alignment));
    if (map.element_stride[i] == 0 || map.element_stride[i] > 8)
      return Bad(
          absl::StrFormat("element stride %d of dimension %d, expected 1..8", map.element_stride[i], i));
    if (!im2col && (map.box[i] == 0 || map.box[i] > 256))
      return Bad(absl::StrFormat("box %d in dimension %d, expected 1..256", map.box[i], i));
  }
  if (map.fill == TensorFill::kNan && !IsFloat(TensorElementType(map.type)))
    return Bad("NaN fill of a data type that is not floating point");
  if (TensorElementBytes(map.type) == 0) {
    const absl::Status packed = CheckPacked(map);
    if (!packed.ok()) return packed;
  }
  uint64_t inner_bits = map.box[0] * bits;
  if (im2col) {
    const int dims = IsWide(map.mode) ? 1 : map.rank - 2;
    const int32_t limit = dims == 1 ? 32768 : dims == 2 ? 128 : 16;
    for (int i = 0; i < dims; ++i)
      for (const int32_t corner : {map.lower[i], map.upper[i]})
        if (corner < -limit || corner >= limit)
          return Bad(absl::StrFormat("pixel box corner %d, expected %d..%d", corner, -limit, limit - 1));
    if (map.channels == 0 || map.channels > 256)
      return Bad(absl::StrFormat("%d channels per pixel, expected 1..256", map.channels));
    if (map.mode != TensorMode::kIm2colW128 && (map.pixels == 0 || map.pixels > 1024))
      return Bad(absl::StrFormat("%d pixels per column, expected 1..1024", map.pixels));
    inner_bits = map.channels * bits;
  }
  const uint64_t inner = inner_bits / 8;
  if (inner_bits % 128 != 0)
    return Bad(
        absl::StrFormat("the inner dimension of the box has %d bytes, expected a multiple of 16", inner));
  const uint32_t span = SwizzleSpan(map.swizzle);
  if (span != 0 && inner > span && !Interleaved(map))
    return Bad(absl::StrFormat("the inner dimension of the box has %d bytes, more than the swizzle's %d",
                               inner, span));
  return absl::OkStatus();
}

void WriteTensorMapFields(const TensorMap& map, uint8_t* out) {
  std::memset(out, 0, kTensorMapBytes);
  Put(out, 0, kMagic);
  out[4] = static_cast<uint8_t>(map.mode);
  out[5] = static_cast<uint8_t>(map.rank);
  out[6] = static_cast<uint8_t>(map.type);
  out[7] = static_cast<uint8_t>(map.interleave);
  out[8] = static_cast<uint8_t>(map.swizzle);
  out[9] = map.l2_promotion;
  out[10] = static_cast<uint8_t>(map.fill);
  Put(out, 12, static_cast<uint16_t>(map.channels));
  Put(out, 14, static_cast<uint16_t>(map.pixels));
  Put(out, 16, map.address);
  for (int i = 0; i < kMaxTensorRank; ++i) {
    Put(out, 24 + 4 * i, static_cast<uint32_t>(map.dim[i] - 1));
    Put(out, 44 + 2 * i, static_cast<uint16_t>(map.box[i]));
    out[54 + i] = static_cast<uint8_t>(map.element_stride[i]);
    if (i > 0) Put(out, 64 + 8 * (i - 1), map.stride[i]);
  }
  for (int i = 0; i < 3; ++i) {
    Put(out, 96 + 2 * i, static_cast<int16_t>(map.lower[i]));
    Put(out, 102 + 2 * i, static_cast<int16_t>(map.upper[i]));
  }
}

absl::Status EncodeTensorMap(const TensorMap& map, uint8_t* out) {
  absl::Status status = CheckTensorMap(map);
  if (status.ok()) WriteTensorMapFields(map, out);
  return status;
}

absl::StatusOr<TensorMap> ReadTensorMapFields(const uint8_t* in) {
  if (Get<uint32_t>(in, 0) != kMagic)
    return Bad(
        absl::StrFormat("the 128 bytes begin with 0x%08x, which no tensor map does", Get<uint32_t>(in, 0)));
  TensorMap map;
  if (in[4] > static_cast<uint8_t>(TensorMode::kIm2colW128)) return Bad(absl::StrFormat("mode %d", in[4]));
  map.mode = static_cast<TensorMode>(in[4]);
  map.rank = in[5];
  map.type = static_cast<TensorDataType>(in[6]);
  map.interleave = static_cast<TensorInterleave>(in[7]);
  map.swizzle = static_cast<TensorSwizzle>(in[8]);
  map.l2_promotion = in[9];
  map.fill = static_cast<TensorFill>(in[10]);
  map.channels = Get<uint16_t>(in, 12);
  map.pixels = Get<uint16_t>(in, 14);
  map.address = Get<uint64_t>(in, 16);
  map.stride[0] = static_cast<uint64_t>(TensorElementBytes(map.type));
  for (int i = 0; i < kMaxTensorRank; ++i) {
    map.dim[i] = uint64_t{Get<uint32_t>(in, 24 + 4 * i)} + 1;
    map.box[i] = Get<uint16_t>(in, 44 + 2 * i);
    map.element_stride[i] = in[54 + i];
    if (i > 0) map.stride[i] = Get<uint64_t>(in, 64 + 8 * (i - 1));
  }
  for (int i = 0; i < 3; ++i) {
    map.lower[i] = Get<int16_t>(in, 96 + 2 * i);
    map.upper[i] = Get<int16_t>(in, 102 + 2 * i);
  }
  return map;
}

absl::StatusOr<TensorMap> DecodeTensorMap(const uint8_t* bytes) {
  absl::StatusOr<TensorMap> map = ReadTensorMapFields(bytes);
  if (!map.ok()) return map;
  const absl::Status status = CheckTensorMap(*map);
  if (!status.ok()) return status;
  return map;
}

uint32_t SwizzleSpan(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::kNone  ? 0
         : swizzle == TensorSwizzle::k32B ? 32
         : swizzle == TensorSwizzle::k64B ? 64
                                          : 128;
}

}  // namespace understudy::emu::ptx
