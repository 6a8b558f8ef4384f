// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far the result of an instruction can be trusted. Each family of instructions states it for its opcodes; the
// coverage report collects the answers.

#include <cstdint>
#include <string>

namespace understudy::emu::amd {

enum class SemanticState : uint8_t { kExact, kApproximate, kRefused };

struct OpState {
  SemanticState state = SemanticState::kRefused;
  std::string note;  // the bound and what it rests on, or why the instruction is refused
};

}  // namespace understudy::emu::amd
