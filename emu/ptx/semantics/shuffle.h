// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which lane a lane of shfl reads. Used by the executor and by the check of barriers. PTX ISA 8.8,
// "shfl.sync".

#include <cstdint>

#include "emu/ptx/parse/module.h"

namespace understudy::emu::ptx {

enum class Shuffle : uint8_t { kUp, kDown, kButterfly, kIndex };

inline Shuffle ShuffleOf(const Instruction& inst) {
  if (inst.Has("up")) return Shuffle::kUp;
  if (inst.Has("down")) return Shuffle::kDown;
  return inst.Has("bfly") ? Shuffle::kButterfly : Shuffle::kIndex;
}

struct ShuffleSource {
  int lane = 0;
  bool in_range = false;  // the predicate; else `lane` is the lane itself
};

// `b` and `c` are the lane's operands.
inline ShuffleSource SourceOf(Shuffle mode, int lane, uint32_t b, uint32_t c) {
  const int by = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31);
  const int segment = static_cast<int>(c >> 8 & 31);
  const int limit = (lane & segment) | (clamp & ~segment);
  int from = 0;
  bool in_range = false;
  switch (mode) {
    case Shuffle::kUp:
      from = lane - by;
      in_range = from >= limit;
      break;
    case Shuffle::kDown:
      from = lane + by;
      in_range = from <= limit;
      break;
    case Shuffle::kButterfly:
      from = lane ^ by;
      in_range = from <= limit;
      break;
    case Shuffle::kIndex:
      from = (lane & segment) | (by & ~segment & 31);
      in_range = from <= limit;
      break;
  }
  return {in_range ? from & 31 : lane, in_range};
}

}  // namespace understudy::emu::ptx
