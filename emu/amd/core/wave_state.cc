// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/core/wave_state.h"

#include <utility>

namespace understudy::emu::amd {

const char* FaultKindName(FaultKind kind) {
  switch (kind) {
#define WAVE_FAULT(name, text) \
  case FaultKind::name:        \
    return text;
#include "emu/amd/core/fault_kinds.inc"
  }
  return "?";
}

void WaveState::CountRegisters() {
  registers = PackRegisters(num_vgprs, num_agprs, num_sgprs, !(IsCdna(isa) && (mode & kModeVskip) != 0));
}

ExecResult RaiseFault(WaveState& wave, FaultKind kind, int lane, std::string message) {
  PendingFault& fault = *wave.fault;
  fault.kind = kind;
  fault.lane = lane;
  fault.memory = MemoryFault();
  fault.message = std::move(message);
  return ExecResult::kFault;
}

ExecResult RaiseMemoryFault(WaveState& wave, uint64_t address, uint64_t size, Access access, int lane) {
  MemoryFault memory = wave.mem->Explain(address, size, access);
  RaiseFault(wave, FaultKind::kMemory, lane, memory.Message());
  wave.fault->memory = std::move(memory);
  return ExecResult::kFault;
}

ExecResult RaiseMisaligned(WaveState& wave, uint64_t address, uint64_t size, Access access, int lane) {
  MemoryFault memory = wave.mem->Explain(address, size, access);
  memory.kind = MemoryFaultKind::kMisaligned;
  memory.access = access;
  memory.address = address;
  memory.size = size;
  RaiseFault(wave, FaultKind::kMemory, lane, memory.Message());
  wave.fault->memory = std::move(memory);
  return ExecResult::kFault;
}

}  // namespace understudy::emu::amd
