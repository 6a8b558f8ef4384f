// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a box of a tensor lies in shared memory: which runs of global memory it is made of, in which order and
// swizzle, and what lies outside the tensor. Used by the bulk tensor copies; it moves no data.
//
// Sources: PTX ISA 8.8, "Tensors", "cp.async.bulk.tensor"; CUDA Driver API, "Tensor Map Object Management".

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "emu/ptx/semantics/tensor_map.h"

namespace understudy::emu::ptx {

// What an instruction says beyond its map.
struct TensorBox {
  // As many as the map's rank; of four rows a column and the four rows.
  std::array<int32_t, kMaxTensorRank> at{};
  bool four_rows = false;             // tile::gather4, tile::scatter4
  std::array<uint16_t, 3> offsets{};  // im2col: of W, H, D; wide: of W
  uint32_t halo = 0;                  // wide: pixels that follow the column, or each 32 of its 128
};

// Bytes of one copy: what an mbarrier counts; and what they lie in in shared memory.
uint64_t TensorCopyBytes(const TensorMap& map, const TensorBox& box);
uint64_t TensorSharedBytes(const TensorMap& map, const TensorBox& box);

// What is an illegal instruction: a first coordinate that is no multiple of 16 bytes (measured on an H200) or
// of 128 padded elements, boxes of four rows that the manual does not have, offsets out of its range. Empty:
// none.
std::string TensorBoxError(const TensorMap& map, const TensorBox& box);

// Where the chunk at this shared address goes, and the bytes of a chunk.
uint32_t SwizzleAddress(TensorSwizzle swizzle, uint32_t address);
inline uint32_t SwizzleChunk(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::k128BAtom32BFlip8B ? 8 : 16;
}

// A run of bytes of one copy: where it lies in the box and in global memory (0 with `outside`: the
// fill).
struct TensorRun {
  uint32_t offset = 0;
  uint64_t address = 0;
  uint32_t bytes = 0;  // in global memory; of padded elements 8 or 12 that lie in 16
  bool outside = false;
  bool below = false;  // outside, by a negative coordinate: an H200 faults on storing there
};
// Runs in the order of the box, each within one row.
void WalkTensor(const TensorMap& map, const TensorBox& box, const std::function<void(const TensorRun&)>& run);

}  // namespace understudy::emu::ptx
