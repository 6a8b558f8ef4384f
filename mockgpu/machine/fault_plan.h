// SPDX-License-Identifier: Apache-2.0
#pragma once
// The hook through which a rehearsal makes things go wrong. The machine asks the plan at each fault point;
// a plan answers from a list written by hand or drawn from a seed. Without a plan nothing is injected.

#include <cstdint>

namespace understudy::mockgpu {

enum class FaultPoint : uint8_t {
#define FAULT_POINT(name, text, detail, effect) name,
#include "mockgpu/machine/fault_points.inc"
};

class FaultPlan {
 public:
  virtual ~FaultPlan() = default;
  // 0 lets the machine go on. `ordinal` counts the questions asked at this point, from 0; what else the
  // arguments and a non-zero answer mean is in fault_points.inc.
  virtual int At(FaultPoint point, uint64_t detail, uint64_t ordinal) = 0;
};

}  // namespace understudy::mockgpu
