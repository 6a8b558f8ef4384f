// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one compute dispatch, given the registers that the command processor would have programmed.
// Used by the mock command processor, the conformance runner and benchmarks. It never touches host memory
// outside its AddressSpace.
//
// On one thread it is deterministic: the same registers and memory give the same run. On several, workgroups
// are spread over them and each is executed exactly as on one: the same instructions in the same order of its
// waves, with the same clock. So memory ends up the same if workgroups do not communicate, or only through
// atomics whose order does not matter (integer sums, minima...); the final state, and a fault (that of the
// lowest workgroup that has one), are the same too. What may differ: the order of atomics (and so their
// returned values and float sums), HW_ID and which part of scratch a wave gets, after a fault the memory that
// later workgroups wrote and Stats, the pc of a hang.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emu/amd/check/options.h"
#include "emu/amd/core/wave_state.h"
#include "emu/amd/isa/opcode.h"
#include "emu/memory/address_space.h"

namespace understudy::emu::amd {

class ProgramCache;

// COMPUTE_* registers by the hardware layout of the dispatch's generation (GC 9, 11, 12 register headers).
// kernel_descriptor.h makes them from a code object's kernel descriptor.
struct DispatchRegs {
  uint64_t pgm_addr = 0;  // byte address (COMPUTE_PGM_HI:LO << 8)
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint32_t user_data[16] = {};
  uint32_t num_thread[3] = {1, 1, 1};  // bits 15:0 full, 31:16 partial
  // Workgroups, or work-items with USE_THREAD_DIMENSIONS; an end bound when `start` is in use.
  uint32_t dim[3] = {1, 1, 1};
  uint32_t start[3] = {0, 0, 0};
  uint32_t initiator = 0;     // kPartialTgEn, kForceStartAt000, kUseThreadDimensions, kCsW32En
  uint64_t scratch_base = 0;  // byte address (COMPUTE_DISPATCH_SCRATCH_BASE << 8)
  uint32_t tmpring_size = 0;  // WAVES 11:0, WAVESIZE from bit 12 in 256-byte units (CDNA: KiB)
};
constexpr uint32_t kPartialTgEn = 1u << 1;
constexpr uint32_t kForceStartAt000 = 1u << 2;
constexpr uint32_t kUseThreadDimensions = 1u << 5;
constexpr uint32_t kCsW32En = 1u << 15;

struct WaveFault {
  FaultKind kind = FaultKind::kNone;
  uint64_t pc = 0;
  std::string text;  // disassembly of the instruction at pc, where it decodes
  int workgroup[3] = {0, 0, 0};
  int wave = 0;   // in its workgroup
  int lane = -1;  // -1: not one lane
  uint64_t exec = 0;
  MemoryFault memory;   // for kMemory
  std::string message;  // one sentence with all of the above
};

class Dispatch {
 public:
  struct Options {
    uint32_t max_lds_bytes = 0;  // 0: what the generation has (64 KiB; 160 KiB on CDNA4)
    // rsrc2 counts blocks of LDS: 0, or the exact size for per-byte bounds.
    uint32_t exact_lds_bytes = 0;
    uint32_t vgpr_fill = 0;  // VGPRs, SGPRs and LDS words that the hardware leaves undefined start with this
    uint64_t instruction_budget = uint64_t{1} << 40;  // wave instructions before the dispatch is a hang
    // SH_MEM_BASES as the kernel driver programs them (kfd_flat_memory.c).
    uint64_t shared_aperture = uint64_t{1} << 48;
    uint64_t private_aperture = uint64_t{2} << 48;
    uint32_t max_resident_workgroups = 64;
    uint32_t threads = 1;         // host threads; 0: one a core. Checks run on one thread.
    uint32_t shader_engines = 1;  // TMPRING_SIZE.WAVES counts per shader engine
    // The first-level trap handler that s_trap enters, and its memory (TBA, TMA): byte addresses, multiples
    // of 256. Without one s_trap is a fault. Faults (memory, illegal instructions) never enter it.
    uint64_t trap_handler = 0, trap_memory = 0;
    uint32_t doorbell = 0;             // what MSG_GET_DOORBELL and MSG_RTN_GET_DOORBELL answer
    uint32_t dynamic_vgpr_block = 16;  // RDNA4: registers of a block for s_alloc_vgpr, 16 or 32
    // Decoded programs, shared between dispatches; the dispatch makes its own when null.
    ProgramCache* program_cache = nullptr;
    CheckOptions checks;  // strict mode; a dispatch with a check on runs on one host thread
  };
  enum class State : uint8_t { kRunning, kDone, kFault };
  struct Stats {
    uint64_t wave_instructions = 0, waves = 0, workgroups = 0;  // executed; started; finished
    // Global and constant memory as waves accessed it; private memory and LDS are not counted.
    Traffic memory;
  };

  Dispatch(Isa isa, const DispatchRegs& regs, AddressSpace* memory, const Options& options);
  ~Dispatch();
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  // Runs at most `max_instructions` wave instructions. After kFault the dispatch stays dead.
  State Step(uint64_t max_instructions);
  State state() const;
  const WaveFault& fault() const;
  const Stats& stats() const;
  // What the strict checks found, in the order of execution.
  const std::vector<CheckReport>& reports() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace understudy::emu::amd
