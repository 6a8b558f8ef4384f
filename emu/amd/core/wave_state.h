// SPDX-License-Identifier: Apache-2.0
#pragma once
// The architectural state of one wave, and the type of the function that executes one decoded
// instruction on it. Semantics read and write this; the dispatch loop in dispatch.h owns it. It holds no
// pointers to freed memory between instructions and allocates nothing while a wave runs.

#include <cstdint>
#include <string>

#include "emu/amd/isa/opcode.h"
#include "emu/memory/address_space.h"

namespace understudy::emu::amd {

struct Inst;
struct AccessLog;

enum class FaultKind : uint8_t {
#define WAVE_FAULT(name, text) name,
#include "emu/amd/core/fault_kinds.inc"
};
const char* FaultKindName(FaultKind kind);

// Scalar registers by their operand encoding (RDNA3 ISA, "Scalar ALU operands").
constexpr int kSgprCount = 106;
constexpr int kFlatScratchLo =
    102;  // CDNA: FLAT_SCRATCH 102/103, XNACK_MASK 104/105 are not general registers
constexpr int kVccLo = 106, kVccHi = 107;
constexpr int kTtmp0 = 108;
constexpr int kNull = 124;
constexpr int kM0 = 125;
constexpr int kExecLo = 126, kExecHi = 127;

constexpr int kAgprBase = 256;  // AGPR 0 in the register storage

// MODE register fields (RDNA3 ISA, "MODE register").
constexpr uint32_t kModeRoundF32Shift = 0,
                   kModeRoundF16F64Shift = 2;  // 0 nearest even, 1 up, 2 down, 3 to zero
constexpr uint32_t kModeDenormF32Shift = 4,
                   kModeDenormF16F64Shift = 6;  // bit 0: keep inputs, bit 1: keep outputs
constexpr uint32_t kModeDx10Clamp = 1u << 8;
constexpr uint32_t kModeIeee = 1u << 9;
constexpr uint32_t kModeFp16Ovfl = 1u << 23;
// CDNA: VGPR numbers are indexed by M0 while set (s_set_gpr_idx_on; Vega ISA, "VGPR Indexing"). M0 7:0 is the
// index, M0 15:12 says which operands it is added to: bit 12 src0, 13 src1, 14 src2, 15 the destination.
constexpr uint32_t kModeGprIdxEn = 1u << 27;
constexpr uint32_t kModeVskip = 1u << 28;  // CDNA: vector instructions are not executed
constexpr uint32_t kModeCspShift = 29;     // CDNA: entries on the stack of s_cbranch_g_fork

// What the dispatch loop does after an instruction.
enum class ExecResult : uint8_t {
  kNext,       // pc advances by the instruction's size
  kBranch,     // the instruction has set pc
  kBarrier,    // pc advances; the wave waits for its workgroup
  kEnd,        // the wave is done
  kYield,      // pc advances; another wave may run (s_sleep)
  kFlushCode,  // pc advances; decoded instructions are dropped (s_icache_inv)
  kFault,      // fault says why; pc stays at the instruction
  kWait,  // pc stays at the instruction, which runs again after an event of the workgroup (a split barrier)
};

// Filled by the semantics that return kFault.
struct PendingFault {
  FaultKind kind = FaultKind::kNone;
  int lane = -1;  // the first lane concerned, or -1 for the whole wave
  MemoryFault memory;
  std::string message;
};

// Hardware registers, trap handler and barriers (hw_state.h): what only scalar control instructions touch.
struct WaveHw;

struct WaveState {
  // Indexed by operand encoding: s0-s105, VCC 106/107, TTMP 108-123, NULL 124 (stays 0), M0 125, EXEC
  // 126/127.
  alignas(64) uint32_t sgpr[128];
  uint64_t pc;  // of the instruction being executed
  bool scc;
  uint32_t mode, status, trapsts;

  Isa isa;
  int wave_size;       // 32 or 64
  uint64_t lane_mask;  // wave_size ones
  // VGPRs allocated to this wave; the storage behind `vgpr` always holds 256, and on CDNA 512: AGPR r is
  // register 256 + r there, of which num_agprs are allocated.
  uint32_t num_vgprs, num_agprs;
  uint32_t* vgpr;      // [register * wave_size + lane], 64-byte aligned
  uint32_t num_sgprs;  // s0 .. s(num_sgprs - 1) are this wave's; 106 on RDNA, at most 102 on CDNA
  uint64_t registers;  // CountRegisters()

  uint8_t* lds;        // of the workgroup
  uint32_t lds_bytes;  // accesses beyond are out of range, per byte

  Translator* mem;  // of the workgroup: no two host threads share one
  // Private memory of this wave: dword d of lane l is at scratch_base + (d * wave_size + l) * 4.
  uint64_t scratch_base;
  uint32_t scratch_bytes_per_lane;
  // Flat addresses in [aperture, aperture + 4 GiB) are LDS and private memory.
  uint64_t shared_aperture, private_aperture;

  uint32_t workgroup[3];
  int wave_in_group, waves_in_group;
  uint32_t wave_slot;  // unique among resident waves
  uint64_t clock;      // instructions of the workgroup so far: s_memtime, SHADER_CYCLES

  PendingFault* fault;
  WaveHw* hw;
  // Where memory instructions write down what they access, for strict checks; null when none is on.
  AccessLog* access_log = nullptr;

  // Where flat and scratch instructions find this wave's private memory. gfx90a's program puts it into
  // FLAT_SCRATCH (s[102:103]) itself; all others start with it (LLVM AMDGPUUsage, "Flat Scratch").
  uint64_t FlatScratchBase() const {
    return isa == Isa::kCdna2 ? sgpr[kFlatScratchLo] | uint64_t{sgpr[kFlatScratchLo + 1]} << 32
                              : scratch_base;
  }
  // After a change of the counts or of MODE.VSKIP.
  void CountRegisters();

  uint64_t exec() const { return (sgpr[kExecLo] | uint64_t{sgpr[kExecHi]} << 32) & lane_mask; }
  uint64_t vcc() const { return (sgpr[kVccLo] | uint64_t{sgpr[kVccHi]} << 32) & lane_mask; }
  // In wave32 the high halves are ordinary storage and stay untouched.
  void set_exec(uint64_t mask) { SetMask(kExecLo, mask); }
  void set_vcc(uint64_t mask) { SetMask(kVccLo, mask); }
  void SetMask(int reg, uint64_t mask) {
    sgpr[reg] = static_cast<uint32_t>(mask);
    if (wave_size == 64 && reg + 1 < 128) sgpr[reg + 1] = static_cast<uint32_t>(mask >> 32);
    sgpr[kNull] = 0;
  }
  // A wave mask held in the scalar register (pair) `reg`.
  uint64_t Mask(int reg) const {
    return wave_size == 64 && reg + 1 < 128 && reg != kNull ? sgpr[reg] | uint64_t{sgpr[reg + 1]} << 32
                                                            : sgpr[reg];
  }
  uint32_t* Agpr(int reg) { return Vgpr(kAgprBase + reg); }
  const uint32_t* Agpr(int reg) const { return Vgpr(kAgprBase + reg); }
  uint32_t* Vgpr(int reg) { return vgpr + static_cast<size_t>(reg) * wave_size; }
  const uint32_t* Vgpr(int reg) const { return vgpr + static_cast<size_t>(reg) * wave_size; }
};

// Register counts side by side, so that one subtraction compares them all: FitsRegisters(have, want) says
// that no count of `want` exceeds that of `have`. `vector` is 1 for a vector instruction, and for a wave that
// executes them (0: CDNA's MODE.VSKIP).
constexpr uint64_t kRegisterGuards =
    uint64_t{1} << 15 | uint64_t{1} << 31 | uint64_t{1} << 47 | uint64_t{1} << 63;
constexpr uint64_t PackRegisters(uint32_t vgprs, uint32_t agprs, uint32_t sgprs, bool vector) {
  return vgprs | uint64_t{agprs} << 16 | uint64_t{sgprs} << 32 | uint64_t{vector} << 48;
}
constexpr bool FitsRegisters(uint64_t have, uint64_t want) {
  return (((have | kRegisterGuards) - want) & kRegisterGuards) == kRegisterGuards;
}

// Executes one instruction for all lanes. The lane loop is inside.
using ExecFn = ExecResult (*)(const Inst&, WaveState&);

// Records the fault and returns kFault, for use as `return Refuse(...)` in semantics.
ExecResult RaiseFault(WaveState& wave, FaultKind kind, int lane, std::string message);
ExecResult RaiseMemoryFault(WaveState& wave, uint64_t address, uint64_t size, Access access, int lane);
ExecResult RaiseMisaligned(WaveState& wave, uint64_t address, uint64_t size, Access access, int lane);

}  // namespace understudy::emu::amd
