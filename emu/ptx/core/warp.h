// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an executor sees of a warp: rows of registers, the lanes that execute, memory, and how to fail. The
// core (scheduling, divergence, calls) owns these structures and fills them before an executor runs;
// executors write rows of the lanes in `mask` only and allocate nothing.

#include <cstdint>
#include <string>

#include "emu/memory/address_space.h"
#include "emu/ptx/isa/isa.h"

namespace understudy::emu::ptx {

constexpr int kWarpSize = 32;

struct AccessLog;  // check/access_log.h
struct Inst;
struct Instruction;
struct BoundFunction;
class Program;
struct Cta;     // core/cta.h: shared memory, barriers, cluster
struct Launch;  // core/launch_state.h

enum class FaultKind : uint8_t {
#define PTX_FAULT(id, text) id,
#include "emu/ptx/core/fault_kinds.inc"
#undef PTX_FAULT
};
const char* FaultKindName(FaultKind kind);

enum class ExecResult : uint8_t {
  kNext,     // go on
  kControl,  // the executor has set the group's pc (branches, calls, returns, exits: core's own executors)
  kRetry,  // the group stays at the instruction and is tried again after others have run (a wait that is not
           // over)
  kYield,  // go on, but let others run first (nanosleep, a failed try_wait)
  kFault,  // Fail() has been called
};

// Generic addresses of the windows (not the hardware's: they lie above every allocation of the mock).
constexpr uint64_t kSharedWindow = 0x7fc0'0000'0000, kSharedWindowSize = uint64_t{1} << 32;
constexpr uint64_t kLocalWindow = 0x7fc4'0000'0000, kLocalWindowSize = uint64_t{1} << 32;
constexpr uint64_t kParamWindow = 0x7fc8'0000'0000, kParamWindowSize = uint64_t{1} << 32;
// A shared::cluster address: (CTA rank in the cluster + 1) << 24 | offset; with 0 above bit 24 it is the
// executing CTA's own.
constexpr int kClusterRankShift = 24;

// A row of 32 lanes: `base` chooses the array it lives in, `offset` is in bytes from there.
struct Src {
  enum Base : uint8_t { kFrame = 0, kConstant = 1, kSpecialRow = 2 };
  uint32_t offset = 0;
  uint8_t base = kFrame;
  uint8_t bytes = 4;     // register width: 0 predicate (one uint32_t mask), 1, 2, 4 (a uint32_t row), 8
                         // (uint64_t row), 16 (two)
  bool negated = false;  // of a predicate
  bool sink = false;     // as a destination: `_` (points to a row that nobody reads)
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  int lane = -1;
  MemoryFault memory;
  std::string message;
};

// One call of a function by one group of lanes: its registers and where it returns to.
struct Frame {
  const BoundFunction* function = nullptr;
  uint8_t* rows = nullptr;  // 64-byte aligned; BoundFunction::frame_bytes
  uint8_t* params =
      nullptr;  // .param space of the function (arguments, returns, and the .param variables it declares
                // for its own calls): byte b of lane l is at params + l * BoundFunction::param_bytes + b
  uint64_t local_base = 0;  // of its .local variables in each lane's local memory
  Frame* caller = nullptr;
  uint32_t return_pc = 0;
};

struct Warp {
  // --- what every executor uses ---
  uint8_t* base[3] = {};  // by Src::Base
  uint32_t mask = 0;      // lanes that execute this instruction
  Frame* frame = nullptr;
  uint32_t pc = 0;  // index of the instruction in frame->function->code

  // --- who it is ---
  Cta* cta = nullptr;
  Launch* launch = nullptr;
  uint32_t index = 0;   // warp in its CTA
  uint32_t lanes = 0;   // lanes that exist (the last warp of a CTA may be short)
  uint32_t exited = 0;  // lanes that have exited
  // Static state that a few instructions keep per warp: the carry flag of add.cc .. madc (a mask).
  uint32_t carry = 0;

  // --- memory ---
  Translator* mem = nullptr;  // global and const
  uint8_t* shared = nullptr;  // of the CTA
  uint32_t shared_bytes = 0;
  uint8_t* local = nullptr;  // byte b of lane l at local + l * local_bytes + b
  uint32_t local_bytes = 0;  // per lane
  const uint8_t* kernel_params = nullptr;
  uint32_t kernel_param_bytes = 0;
  void* async = nullptr;  // what the memory family keeps: groups of cp.async, bulk copies and wgmma

  Fault* fault = nullptr;
  AccessLog* log = nullptr;  // checks: where the accesses of an instruction are noted

  const uint32_t* U32(Src s) const { return reinterpret_cast<const uint32_t*>(base[s.base] + s.offset); }
  const uint64_t* U64(Src s) const { return reinterpret_cast<const uint64_t*>(base[s.base] + s.offset); }
  uint32_t* Dst32(Src s) { return reinterpret_cast<uint32_t*>(base[s.base] + s.offset); }
  uint64_t* Dst64(Src s) { return reinterpret_cast<uint64_t*>(base[s.base] + s.offset); }
  // A predicate as a mask, negation applied; bits of lanes that do not exist may be set.
  uint32_t Pred(Src s) const { return *U32(s) ^ (s.negated ? ~0u : 0u); }
  // Writes the lanes in `mask` of a predicate.
  void SetPred(Src s, uint32_t value) {
    uint32_t* p = Dst32(s);
    *p = (*p & ~mask) | (value & mask);
  }
  // One lane of a row of any width up to 64 bits, zero-extended (predicates as 0 or 1): for executors that
  // are not hot.
  uint64_t Lane(Src s, int lane) const {
    if (s.bytes == 0) return Pred(s) >> lane & 1;
    return s.bytes == 8 ? U64(s)[lane] : U32(s)[lane];
  }
  // Writes one lane, cut to the register's width.
  void SetLane(Src s, int lane, uint64_t value) {
    if (s.bytes == 0)
      *Dst32(s) = (*Dst32(s) & ~(1u << lane)) | (static_cast<uint32_t>(value & 1) << lane);
    else if (s.bytes == 8)
      Dst64(s)[lane] = value;
    else
      Dst32(s)[lane] =
          static_cast<uint32_t>(s.bytes == 4 ? value : value & ((uint64_t{1} << 8 * s.bytes) - 1));
  }

  ExecResult Fail(FaultKind kind, int lane, std::string message);
};

using ExecFn = ExecResult (*)(Warp&, const Inst&);

}  // namespace understudy::emu::ptx
