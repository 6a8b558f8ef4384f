// SPDX-License-Identifier: Apache-2.0
// Whole programs of any bytes on every generation: a dispatch ends, is still running when its steps are used
// up, or faults with a message; it never crashes, hangs, or touches memory that is not mapped. What faults is
// replaced by s_nop and run again, so that what comes after it is reached.
//
// Input: byte 0 the generation; byte 1 wave32 (bit 0), a trap handler (bit 1), two threads (bit 2), scratch
// (bit 3), dynamic VGPRs (bit 4), strict mode with warnings (bit 5) or faults (bit 6); byte 2 MODE; byte 3
// work-items less one; then the program.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "emu/amd/core/dispatch.h"
#include "emu/amd/core/kernel_descriptor.h"
#include "emu/amd/decode/inst.h"
#include "emu/memory/address_space.h"

namespace {

using namespace understudy::emu;
using namespace understudy::emu::amd;

constexpr uint64_t kProgramVa = 0x10000, kBufferVa = 0, kScratchVa = 0x40000;
constexpr uint64_t kSteps = 4000;

void Require(bool holds) {
  if (!holds) std::abort();
}

void Map(AddressSpace& memory, uint64_t va, std::vector<uint8_t>& bytes, Perm perm) {
  Require(memory.Map(va, bytes.size(), bytes.data(), perm, "fuzz").ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8) return 0;
  const Isa isa = kAllIsas[data[0] % std::size(kAllIsas)];
  const uint8_t flags = data[1];
  const bool wave32 = IsRdna(isa) && (flags & 1) != 0;
  const int wave_size = wave32 ? 32 : 64;
  std::vector<uint8_t> program(data + 4, data + std::min<size_t>(size, 4096));
  const uint32_t end = IsCdna(isa) ? 0xbf810000 : 0xbfb00000;
  program.resize((program.size() + 3) / 4 * 4);
  for (int i = 0; i < 4; ++i) {
    program.insert(program.end(), reinterpret_cast<const uint8_t*>(&end),
                   reinterpret_cast<const uint8_t*>(&end) + 4);
  }
  std::vector<uint8_t> buffer(8192), scratch(uint64_t{8} * ScratchWaveBytes(isa, 64, wave_size));
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<uint8_t>(i * 7);
  AddressSpace memory;
  Map(memory, kProgramVa, program, Perm::kReadExec);
  Map(memory, kBufferVa, buffer, Perm::kReadWrite);
  Map(memory, kScratchVa, scratch, Perm::kReadWrite);

  DispatchRegs regs;
  regs.pgm_addr = kProgramVa;
  regs.rsrc1 = (wave32 ? 31u : 63u) | uint32_t{data[2]} << 12;
  if (IsCdna(isa)) {
    regs.rsrc1 |= 13u << 6;
    regs.rsrc3 = 63;
  }
  regs.rsrc2 = 16u << 1 | 7u << 7 | 2u << 11 | 2u << 15;
  if ((flags & 8) != 0) regs.rsrc2 |= 1;
  if (isa == Isa::kRdna4 && wave32 && (flags & 16) != 0) regs.rsrc2 |= 1u << 6;
  regs.num_thread[0] = 1 + data[3];
  regs.dim[0] = 2;
  regs.initiator = wave32 ? kCsW32En : 0;
  regs.scratch_base = kScratchVa;
  regs.tmpring_size = TmpringSize(isa, 8, ScratchWaveBytes(isa, 64, wave_size));
  for (uint32_t i = 0; i < 16; ++i) regs.user_data[i] = i % 2 == 0 ? 64 * i : 0;
  Dispatch::Options options;
  options.instruction_budget = kSteps;
  options.vgpr_fill = 0x40;
  if ((flags & 2) != 0) options.trap_handler = kProgramVa;
  if ((flags & 4) != 0) options.threads = 2;
  if ((flags & 0x60) != 0) {
    const CheckMode mode = (flags & 0x40) != 0 ? CheckMode::kFail : CheckMode::kWarn;
    options.checks.waits = options.checks.hazards = options.checks.uninit = options.checks.races = mode;
    options.checks.races_between_groups = true;
  }

  for (int attempt = 0; attempt < 24; ++attempt) {
    Dispatch dispatch(isa, regs, &memory, options);
    for (int step = 0; step < 3 && dispatch.Step(kSteps / 2) == Dispatch::State::kRunning; ++step) {
    }
    Require(dispatch.stats().wave_instructions <= kSteps);
    if (dispatch.state() != Dispatch::State::kFault) break;
    const WaveFault& fault = dispatch.fault();
    Require(fault.kind != FaultKind::kNone && !fault.message.empty());
    const uint64_t at = fault.pc - kProgramVa;
    if (fault.kind == FaultKind::kHang || fault.kind == FaultKind::kBadDispatch || at + 4 > program.size())
      break;
    Inst inst;
    size_t bytes = 4;
    if (DecodeInto(isa, &program[at], program.size() - at, &inst).ok()) bytes = inst.size;
    constexpr uint32_t kNop = 0xbf800000;
    for (size_t i = 0; i < bytes; i += 4) std::memcpy(&program[at + i], &kNop, 4);
  }
  return 0;
}
