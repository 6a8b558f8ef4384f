// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/queue/fault_report.h"

namespace understudy::mockgpu::amd {

const char* FaultClassName(FaultClass fault) {
  static constexpr const char* kNames[] = {
#define QUEUE_FAULT(name, text, event) text,
#include "mockgpu/amd/queue/fault_classes.inc"
  };
  return kNames[static_cast<size_t>(fault)];
}

}  // namespace understudy::mockgpu::amd
