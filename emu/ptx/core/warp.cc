// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/warp.h"

#include <utility>

namespace understudy::emu::ptx {

const char* FaultKindName(FaultKind kind) {
  switch (kind) {
#define PTX_FAULT(id, text) \
  case FaultKind::id:       \
    return text;
#include "emu/ptx/core/fault_kinds.inc"
#undef PTX_FAULT
  }
  return "?";
}

ExecResult Warp::Fail(FaultKind kind, int lane, std::string message) {
  fault->kind = kind;
  fault->lane = lane;
  fault->message = std::move(message);
  return ExecResult::kFault;
}

}  // namespace understudy::emu::ptx
