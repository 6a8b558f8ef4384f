// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/tensor_map.h"

#include <algorithm>
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

bool Interleaved(const TensorMap& map) { return map.interleave != TensorInterleave::kNone; }

// Bytes that dimension 0 is counted by: an element or, of an interleaved layout, a slice.
uint32_t UnitBytes(const TensorMap& map) {
  return map.interleave == TensorInterleave::k16B   ? 16
         : map.interleave == TensorInterleave::k32B ? 32
                                                    : static_cast<uint32_t>(map.stride[0]);
}

// Elements that a box covers in one dimension.
uint32_t BoxCount(const TensorMap& map, int i) {
  // Without interleave the contiguous dimension has no stride.
  if (i == 0 && !Interleaved(map)) return map.box[0];
  if (Interleaved(map) && i == map.rank - 2) return 1;
  return (map.box[i] + map.element_stride[i] - 1) / map.element_stride[i];
}

uint32_t SwizzleSpan(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::kNone  ? 0
         : swizzle == TensorSwizzle::k32B ? 32
         : swizzle == TensorSwizzle::k64B ? 64
                                          : 128;
}

// Units of a row (of a pixel).
uint32_t RowUnits(const TensorMap& map) {
  if (map.mode == TensorMode::kTiled) return BoxCount(map, 0);
  return Interleaved(map) ? 1 : map.channels;
}

// From one row (or pixel) of a box to the next in shared memory: a shorter row leaves the rest of its
// swizzle's span as it is, but for slices, which are packed.
uint32_t RowPitch(const TensorMap& map) {
  const uint32_t bytes = RowUnits(map) * UnitBytes(map);
  return Interleaved(map) ? bytes : std::max(bytes, SwizzleSpan(map.swizzle));
}

// Where a row lies but for dimension 0: `below` where a coordinate is negative.
struct Row {
  uint64_t address = 0;
  bool inside = true, below = false;
  void Add(const TensorMap& map, int dimension, int64_t at, uint64_t stride) {
    inside = inside && at >= 0 && static_cast<uint64_t>(at) < map.dim[dimension];
    below = below || at < 0;
    address += static_cast<uint64_t>(at) * stride;
  }
};

// Emits the row of `count` units, `step` apart from `first` on in dimension 0, at `offset` in the box, cut
// where the tensor ends.
template <class Fn>
void WalkRow(const TensorMap& map, uint32_t offset, const Row& row, int64_t first, uint32_t count,
             uint32_t step, Fn&& run) {
  const int64_t unit = UnitBytes(map), size = static_cast<int64_t>(map.dim[0]);
  const auto emit = [&](int64_t from, int64_t to, bool inside) {
    if (from >= to) return;
    TensorRun piece;
    piece.offset = offset;
    piece.bytes = static_cast<uint32_t>((to - from) * unit);
    piece.outside = !inside;
    piece.below = row.below || from < 0;
    piece.address = inside ? row.address + static_cast<uint64_t>(from * unit) : 0;
    run(piece);
    offset += piece.bytes;
  };
  if (step != 1) {
    for (uint32_t i = 0; i < count; ++i) {
      const int64_t at = first + int64_t{i} * step;
      emit(at, at + 1, row.inside && at >= 0 && at < size);
    }
    return;
  }
  const int64_t end = first + count;
  const int64_t low = std::clamp<int64_t>(0, first, end), high = std::clamp<int64_t>(size, low, end);
  emit(first, low, false);
  emit(low, high, row.inside);
  emit(high, end, false);
}

void WalkTiled(const TensorMap& map, const int32_t* c, const std::function<void(const TensorRun&)>& run) {
  uint32_t counts[kMaxTensorRank] = {1, 1, 1, 1, 1};
  for (int i = 0; i < map.rank; ++i) counts[i] = BoxCount(map, i);
  uint32_t offset = 0;
  uint32_t index[kMaxTensorRank] = {};
  const uint32_t pitch = RowPitch(map), step = Interleaved(map) ? map.element_stride[0] : 1;
  for (;;) {
    Row row;
    row.address = map.address;
    for (int i = 1; i < map.rank; ++i)
      row.Add(map, i, int64_t{c[i]} + int64_t{index[i]} * map.element_stride[i], map.stride[i]);
    WalkRow(map, offset, row, c[0], counts[0], step, run);
    offset += pitch;
    int i = 1;
    while (i < map.rank && ++index[i] == counts[i]) index[i++] = 0;
    if (i >= map.rank) return;
  }
}

// Pixels in the order W, H, D, N from the start coordinates, each dimension of the image within its bounding
// box [lower, dim - 1 + upper]; the offsets move what is read, not the walk. Dimensions are C, W, H, D, N or,
// interleaved, W, H, D, slices of C, N, of which a pixel has one slice.
void WalkIm2col(const TensorMap& map, const int32_t* c, const uint16_t* offsets,
                const std::function<void(const TensorRun&)>& run) {
  const bool slices = Interleaved(map);
  const int first = slices ? 0 : 1, end = first + map.rank - 2, images = map.rank - 1;
  int64_t at[kMaxTensorRank] = {};
  for (int i = 0; i < map.rank; ++i) at[i] = c[i];
  const uint32_t pitch = RowPitch(map);
  for (uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    Row row;
    row.address = map.address;
    for (int i = 1; i < map.rank; ++i) {
      const bool moves = i >= first && i < end;
      row.Add(map, i, at[i] + (moves ? offsets[i - first] : 0), map.stride[i]);
    }
    WalkRow(map, pixel * pitch, row, at[0] + (slices ? offsets[0] : 0), RowUnits(map), 1, run);
    int i = first;
    for (; i < end; ++i) {
      at[i] += map.element_stride[i];
      if (at[i] <= static_cast<int64_t>(map.dim[i]) - 1 + map.upper[i - first]) break;
      at[i] = map.lower[i - first];
    }
    if (i == end) at[images] += map.element_stride[images];
  }
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

absl::Status CheckTensorMap(const TensorMap& map) {
  const bool im2col = map.mode == TensorMode::kIm2col;
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
  if (TensorElementBytes(map.type) == 0)
    return absl::UnimplementedError("tensor map: packed elements of 4 and 6 bits are not emulated");
  if (map.swizzle > TensorSwizzle::k128BAtom32B)
    return absl::UnimplementedError(
        "tensor map: the swizzles 128B_ATOM_32B_FLIP_8B and 128B_ATOM_64B are not emulated");
  const uint64_t element = static_cast<uint64_t>(TensorElementBytes(map.type));
  const uint64_t alignment = map.interleave == TensorInterleave::k32B ? 32 : 16;
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
  uint64_t inner = map.box[0] * element;
  if (im2col) {
    const int dims = map.rank - 2;
    const int32_t limit = dims == 1 ? 32768 : dims == 2 ? 128 : 16;
    for (int i = 0; i < dims; ++i)
      for (const int32_t corner : {map.lower[i], map.upper[i]})
        if (corner < -limit || corner >= limit)
          return Bad(absl::StrFormat("pixel box corner %d, expected %d..%d", corner, -limit, limit - 1));
    if (map.channels == 0 || map.channels > 256)
      return Bad(absl::StrFormat("%d channels per pixel, expected 1..256", map.channels));
    if (map.pixels == 0 || map.pixels > 1024)
      return Bad(absl::StrFormat("%d pixels per column, expected 1..1024", map.pixels));
    inner = map.channels * element;
  }
  if (inner % 16 != 0)
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
  if (in[4] > static_cast<uint8_t>(TensorMode::kIm2col)) return Bad(absl::StrFormat("mode %d", in[4]));
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

uint64_t TensorCopyBytes(const TensorMap& map) {
  uint64_t bytes = uint64_t{RowUnits(map)} * UnitBytes(map);
  if (map.mode == TensorMode::kIm2col) return bytes * map.pixels;
  for (int i = 1; i < map.rank; ++i) bytes *= BoxCount(map, i);
  return bytes;
}

uint64_t TensorSharedBytes(const TensorMap& map) {
  uint64_t rows = map.pixels;
  if (map.mode == TensorMode::kTiled) {
    rows = 1;
    for (int i = 1; i < map.rank; ++i) rows *= BoxCount(map, i);
  }
  return rows * RowPitch(map);
}

std::string TensorCoordinateError(const TensorMap& map, const int32_t* coordinates) {
  const int64_t at = int64_t{coordinates[0]} * static_cast<int64_t>(map.stride[0]);
  if (Interleaved(map) || at % 16 == 0) return "";
  return absl::StrFormat("coordinate 0 is %d, at byte %d of a row, expected a multiple of 16", coordinates[0],
                         at);
}

uint32_t SwizzleAddress(TensorSwizzle swizzle, uint32_t address) {
  switch (swizzle) {
    case TensorSwizzle::k32B:
      return address ^ (address >> 3 & 0x10);
    case TensorSwizzle::k64B:
      return address ^ (address >> 3 & 0x30);
    case TensorSwizzle::k128B:
      return address ^ (address >> 3 & 0x70);
    case TensorSwizzle::k128BAtom32B:
      return address ^ (address >> 2 & 0x60);
    default:
      return address;
  }
}

void WalkTensor(const TensorMap& map, const int32_t* coordinates, const uint16_t* offsets,
                const std::function<void(const TensorRun&)>& run) {
  if (map.mode == TensorMode::kIm2col)
    WalkIm2col(map, coordinates, offsets, run);
  else
    WalkTiled(map, coordinates, run);
}

}  // namespace understudy::emu::ptx
