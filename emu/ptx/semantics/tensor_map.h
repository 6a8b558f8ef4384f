// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensor maps: the 128 bytes that cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make and that
// cp.async.bulk.tensor reads. CUDA calls their contents opaque, so the layout is ours: the mock driver
// encodes and the emulator decodes by this file. How a box lies in shared memory is tensor_walk.h's.
//
// Sources: CUDA Driver API, "Tensor Map Object Management"; PTX ISA 8.8, "Tensors", "tensormap.replace".
//
// The 128 bytes, little endian:
//   0  u32 magic 'UTMP'      4  u8 mode      5  u8 rank      6  u8 data type    7  u8 interleave
//   8  u8 swizzle            9  u8 L2 promotion             10  u8 fill        11  u8 0
//  12  u16 channels per pixel                               14  u16 pixels per column
//  16  u64 address          24  u32 dim - 1 [5]             44  u16 box [5]    54  u8 element stride [5]
//  59  5 bytes 0            64  u64 stride in bytes of dimensions 1..4 [4]     96  i16 lower corner [3]
// 102  i16 upper corner [3] 108  20 bytes 0

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/ptx/isa/isa.h"

namespace understudy::emu::ptx {

constexpr int kTensorMapBytes = 128;
constexpr int kMaxTensorRank = 5;

// Values as CUtensorMapDataType and its siblings have them.
enum class TensorDataType : uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz,
  k16U4Align8,
  k16U4Align16,
  k16U6Align16
};
enum class TensorInterleave : uint8_t { kNone, k16B, k32B };
enum class TensorSwizzle : uint8_t {
  kNone,
  k32B,
  k64B,
  k128B,
  k128BAtom32B,
  k128BAtom32BFlip8B,
  k128BAtom64B
};
enum class TensorFill : uint8_t { kZero, kNan };
// The wide modes of im2col (cuTensorMapEncodeIm2colWide) walk along W only.
enum class TensorMode : uint8_t { kTiled, kIm2col, kIm2colW, kIm2colW128 };
inline bool IsWide(TensorMode mode) { return mode >= TensorMode::kIm2colW; }

struct TensorMap {
  TensorMode mode = TensorMode::kTiled;
  int rank = 1;
  TensorDataType type = TensorDataType::kU8;
  TensorInterleave interleave = TensorInterleave::kNone;
  TensorSwizzle swizzle = TensorSwizzle::kNone;
  uint8_t l2_promotion = 0;
  TensorFill fill = TensorFill::kZero;
  uint64_t address = 0;
  // Elements; dimension 0 is contiguous. An interleaved layout has dimension 0 in slices of 16 or 32 bytes,
  // whatever the type, and the slices of channels as the dimension before the last, of which a box covers one
  // (measured on an H200).
  std::array<uint64_t, kMaxTensorRank> dim{};
  std::array<uint64_t, kMaxTensorRank> stride{};  // bytes; [0] is the element's size
  std::array<uint32_t, kMaxTensorRank> box{};     // tiled
  std::array<uint32_t, kMaxTensorRank> element_stride{1, 1, 1, 1, 1};
  // im2col: bounding box corners of W, H, D (dimensions 1..rank-2; interleaved 0..rank-3; wide: of W),
  // channels and pixels of a copy; an interleaved one copies a slice a pixel.
  std::array<int32_t, 3> lower{}, upper{};
  uint32_t channels = 0, pixels = 0;
};

inline bool Interleaved(const TensorMap& map) { return map.interleave != TensorInterleave::kNone; }

int TensorElementBytes(TensorDataType type);  // 0 for packed types of 4 and 6 bits
int TensorElementBits(TensorDataType type);
// Packed types that lie in shared memory as 16 elements in each 16 bytes: loads leave the rest of them as it
// is, stores of 6-bit elements take the low bits of 16 bytes. 128 elements a row, always.
inline bool IsPadded(TensorDataType type) { return type >= TensorDataType::k16U4Align16; }
constexpr uint32_t kPaddedRow = 128;
// The PTX type that reductions through the map work on.
Type TensorElementType(TensorDataType type);
// TFLOAT32 and TFLOAT32_FTZ round on the way into shared memory, to nearest even, subnormals and infinities
// kept; the _FTZ types make additions in global memory flush. Nothing else converts (measured on an H200).
bool LoadsTf32(TensorDataType type);
bool AddsFlush(TensorDataType type);
uint32_t TensorTf32(uint32_t bits);
// What lies outside the tensor with NaN fill, every 16 bits, whatever the type.
constexpr uint16_t kTensorNan = 0x7ff7;

// What the driver refuses (CUDA_ERROR_INVALID_VALUE) as InvalidArgument naming the parameter, what only the
// emulator does not have as Unimplemented.
absl::Status CheckTensorMap(const TensorMap& map);
// CheckTensorMap, then the 128 bytes.
absl::Status EncodeTensorMap(const TensorMap& map, uint8_t* out);
// InvalidArgument for bytes that are no tensor map. What it gives back has passed CheckTensorMap.
absl::StatusOr<TensorMap> DecodeTensorMap(const uint8_t* bytes);
// Fields without the check of what may be encoded: for tensormap.replace, which changes one at a time.
absl::StatusOr<TensorMap> ReadTensorMapFields(const uint8_t* bytes);
void WriteTensorMapFields(const TensorMap& map, uint8_t* out);

// Bytes within which a swizzle moves chunks; 0: none.
uint32_t SwizzleSpan(TensorSwizzle swizzle);

}  // namespace understudy::emu::ptx
