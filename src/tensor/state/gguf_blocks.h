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

}  // namespace understudy::state
