// SPDX-License-Identifier: Apache-2.0
#pragma once
// The element types of GGUF as a table, and what the blocks of the quantised ones mean. The formulas are
// those that ggml documents; every multiplication and sum is a single f32 operation, in its order.

#include <cstdint>

#include "src/dtype/dtype.h"

namespace understudy::state {

struct GgufType {
  uint32_t number;
  const char* name;
  int elements, bytes;  // of a block
  DType dtype;          // f32 where `widen` makes it
  // One block: `elements` numbers from `bytes` bytes. Null: stored as dtype already.
  void (*widen)(const uint8_t* block, float* out);
};

// Null when the number is not known.
const GgufType* FindGgufType(uint32_t number);

// Blocks whose elements are points of lattices (IQ), places in lists of levels (IQ4, MXFP4, NVFP4) or three
// values (TQ): gguf_blocks_levels.cc.
void Iq1S(const uint8_t* block, float* out);
void Iq1M(const uint8_t* block, float* out);
void Iq2Xxs(const uint8_t* block, float* out);
void Iq2Xs(const uint8_t* block, float* out);
void Iq2S(const uint8_t* block, float* out);
void Iq3Xxs(const uint8_t* block, float* out);
void Iq3S(const uint8_t* block, float* out);
void Iq4Nl(const uint8_t* block, float* out);
void Iq4Xs(const uint8_t* block, float* out);
void Tq1_0(const uint8_t* block, float* out);
void Tq2_0(const uint8_t* block, float* out);
void Mxfp4(const uint8_t* block, float* out);
void Nvfp4(const uint8_t* block, float* out);

}  // namespace understudy::state
