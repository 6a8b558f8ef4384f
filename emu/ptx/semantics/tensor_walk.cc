// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/tensor_walk.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace understudy::emu::ptx {
namespace {

using Runs = std::function<void(const TensorRun&)>;

// im2col::w::128 follows every so many pixels by the halo.
constexpr uint32_t kWidePixels = 128, kWideGroup = 32;

// Bits that dimension 0 is counted by: an element or, of an interleaved layout, a slice.
uint32_t UnitBits(const TensorMap& map) {
  return map.interleave == TensorInterleave::k16B   ? 128
         : map.interleave == TensorInterleave::k32B ? 256
                                                    : static_cast<uint32_t>(TensorElementBits(map.type));
}

// Elements that a box covers in one dimension.
uint32_t BoxCount(const TensorMap& map, int i) {
  // Without interleave the contiguous dimension has no stride.
  if (i == 0 && !Interleaved(map)) return map.box[0];
  if (Interleaved(map) && i == map.rank - 2) return 1;
  return (map.box[i] + map.element_stride[i] - 1) / map.element_stride[i];
}

// Units of a row (of a pixel).
uint32_t RowUnits(const TensorMap& map) {
  if (map.mode == TensorMode::kTiled) return BoxCount(map, 0);
  return Interleaved(map) ? 1 : map.channels;
}

// Rows, or pixels, of a box.
uint64_t Rows(const TensorMap& map, const TensorBox& box) {
  if (map.mode == TensorMode::kIm2col) return map.pixels;
  if (map.mode == TensorMode::kIm2colW) return uint64_t{map.pixels} + box.halo;
  if (map.mode == TensorMode::kIm2colW128) return kWidePixels + uint64_t{kWidePixels / kWideGroup} * box.halo;
  if (box.four_rows) return 4;
  uint64_t rows = 1;
  for (int i = 1; i < map.rank; ++i) rows *= BoxCount(map, i);
  return rows;
}

// From one row (or pixel) of a box to the next in shared memory: a shorter row leaves the rest of its
// swizzle's span as it is, but for slices, which are packed.
uint32_t RowPitch(const TensorMap& map) {
  if (IsPadded(map.type)) return kPaddedRow;
  const uint32_t bytes = RowUnits(map) * UnitBits(map) / 8;
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
void WalkRow(const TensorMap& map, uint32_t offset, const Row& row, int64_t first, uint32_t count,
             uint32_t step, const Runs& run) {
  const int64_t bits = UnitBits(map), size = static_cast<int64_t>(map.dim[0]);
  const auto emit = [&](int64_t from, int64_t to, bool inside) {
    if (from >= to) return;
    TensorRun piece;
    piece.offset = offset;
    piece.bytes = static_cast<uint32_t>((to - from) * bits / 8);
    piece.outside = !inside;
    piece.below = row.below || from < 0;
    piece.address = inside ? row.address + static_cast<uint64_t>(from * bits / 8) : 0;
    run(piece);
    offset += piece.bytes;
  };
  if (IsPadded(map.type)) {
    // Rows and their starts are multiples of 128 elements, so a row is in the tensor or not.
    for (int64_t at = first; at < first + count; at += 16) {
      const uint32_t next = offset + 16;
      emit(at, at + 16, row.inside && at >= 0 && at < size);
      offset = next;
    }
    return;
  }
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

void WalkTiled(const TensorMap& map, const TensorBox& box, const Runs& run) {
  uint32_t counts[kMaxTensorRank] = {1, 1, 1, 1, 1};
  for (int i = 0; i < map.rank; ++i) counts[i] = BoxCount(map, i);
  uint32_t offset = 0;
  uint32_t index[kMaxTensorRank] = {};
  const uint32_t pitch = RowPitch(map), step = Interleaved(map) ? map.element_stride[0] : 1;
  for (;;) {
    Row row;
    row.address = map.address;
    for (int i = 1; i < map.rank; ++i)
      row.Add(map, i, int64_t{box.at[i]} + int64_t{index[i]} * map.element_stride[i], map.stride[i]);
    WalkRow(map, offset, row, box.at[0], counts[0], step, run);
    offset += pitch;
    int i = 1;
    while (i < map.rank && ++index[i] == counts[i]) index[i++] = 0;
    if (i >= map.rank) return;
  }
}

void WalkFourRows(const TensorMap& map, const TensorBox& box, const Runs& run) {
  for (int i = 0; i < 4; ++i) {
    Row row;
    row.address = map.address;
    row.Add(map, 1, box.at[1 + i], map.stride[1]);
    WalkRow(map, static_cast<uint32_t>(i) * RowPitch(map), row, box.at[0], map.box[0], 1, run);
  }
}

// Pixels in the order W, H, D, N from the start coordinates, each dimension of the image within its bounding
// box [lower, dim - 1 + upper]; the offsets move what is read, not the walk. Dimensions are C, W, H, D, N or,
// interleaved, W, H, D, slices of C, N, of which a pixel has one slice. The wide modes walk W and N only.
struct PixelWalk {
  const TensorMap& map;
  const TensorBox& box;
  const Runs& run;
  int first, end;  // dimensions that the walk goes through before N
  std::array<int64_t, kMaxTensorRank> at{};
  uint32_t done = 0;

  PixelWalk(const TensorMap& map_of, const TensorBox& box_of, const Runs& run_of)
      : map(map_of), box(box_of), run(run_of) {
    first = Interleaved(map) ? 0 : 1;
    end = IsWide(map.mode) ? first + 1 : first + map.rank - 2;
    for (int i = 0; i < map.rank; ++i) at[i] = box.at[i];
  }
  void Emit() {
    Row row;
    row.address = map.address;
    for (int i = 1; i < map.rank; ++i)
      row.Add(map, i, at[i] + (i >= first && i < end ? box.offsets[i - first] : 0), map.stride[i]);
    WalkRow(map, done++ * RowPitch(map), row, at[0] + (first == 0 ? box.offsets[0] : 0), RowUnits(map), 1,
            run);
  }
  void Step() {
    const int images = map.rank - 1;
    int i = first;
    for (; i < end; ++i) {
      at[i] += map.element_stride[i];
      if (at[i] <= static_cast<int64_t>(map.dim[i]) - 1 + map.upper[i - first]) break;
      at[i] = map.lower[i - first];
    }
    if (i == end) at[images] += map.element_stride[images];
  }
  void Run(uint64_t pixels) {
    for (uint64_t i = 0; i < pixels; ++i) {
      Emit();
      Step();
    }
  }
};

void WalkIm2col(const TensorMap& map, const TensorBox& box, const Runs& run) {
  PixelWalk walk(map, box, run);
  if (map.mode != TensorMode::kIm2colW128) return walk.Run(Rows(map, box));
  // The halo of a group is where the walk goes on, and so does the next group.
  for (uint32_t group = 0; group < kWidePixels / kWideGroup; ++group) {
    walk.Run(kWideGroup);
    const std::array<int64_t, kMaxTensorRank> next = walk.at;
    walk.Run(box.halo);
    walk.at = next;
  }
}

}  // namespace

uint64_t TensorCopyBytes(const TensorMap& map, const TensorBox& box) {
  return Rows(map, box) * RowUnits(map) * UnitBits(map) / 8;
}

uint64_t TensorSharedBytes(const TensorMap& map, const TensorBox& box) {
  return Rows(map, box) * RowPitch(map);
}

std::string TensorBoxError(const TensorMap& map, const TensorBox& box) {
  if (box.four_rows) {
    if (map.rank != 2 || map.mode != TensorMode::kTiled) return "four rows of a tensor map that is no matrix";
    if (map.box[1] != 1)
      return absl::StrFormat("four rows by a tensor map whose box has %d rows, expected 1", map.box[1]);
  }
  if (IsWide(map.mode)) {
    const uint32_t most = map.mode == TensorMode::kIm2colW128 ? 31 : 511;
    if (box.halo > most) return absl::StrFormat("a halo of %d pixels, expected at most %d", box.halo, most);
    if (box.offsets[0] > 31) return absl::StrFormat("offset %d of W, expected at most 31", box.offsets[0]);
  }
  if (Interleaved(map)) return "";
  if (IsPadded(map.type)) {
    if (box.at[0] % static_cast<int32_t>(kPaddedRow) == 0) return "";
    return absl::StrFormat("coordinate 0 is %d, expected a multiple of %d", box.at[0], kPaddedRow);
  }
  const int64_t bits = int64_t{box.at[0]} * TensorElementBits(map.type);
  if (bits % 128 == 0) return "";
  return absl::StrFormat("coordinate 0 is %d, at byte %d of a row, expected a multiple of 16", box.at[0],
                         bits / 8);
}

uint32_t SwizzleAddress(TensorSwizzle swizzle, uint32_t address) {
  switch (swizzle) {
    case TensorSwizzle::kNone:
      return address;
    case TensorSwizzle::k32B:
      return address ^ (address >> 3 & 0x10);
    case TensorSwizzle::k64B:
      return address ^ (address >> 3 & 0x30);
    case TensorSwizzle::k128B:
      return address ^ (address >> 3 & 0x70);
    case TensorSwizzle::k128BAtom32B:
      return address ^ (address >> 2 & 0x60);
    case TensorSwizzle::k128BAtom32BFlip8B:
      // Every other line of 128 bytes, from the second on, has the halves of its 16-byte chunks exchanged.
      return address ^ (address >> 2 & 0x60) ^ (address >> 4 & 0x8);
    case TensorSwizzle::k128BAtom64B:
      return address ^ (address >> 1 & 0x40);
  }
  return address;
}

void WalkTensor(const TensorMap& map, const TensorBox& box, const Runs& run) {
  if (map.mode != TensorMode::kTiled)
    WalkIm2col(map, box, run);
  else if (box.four_rows)
    WalkFourRows(map, box, run);
  else
    WalkTiled(map, box, run);
}

}  // namespace understudy::emu::ptx
