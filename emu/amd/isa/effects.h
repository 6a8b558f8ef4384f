// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an instruction reads and writes beside its operands (SCC, VCC, EXEC, M0, FLAT_SCRATCH, MODE), and
// which unit runs it: facts of the ISA manuals' instruction chapters, for the strict checks. Operands are
// Inst's own.

#include <cstdint>

#include "emu/amd/decode/inst.h"

namespace understudy::emu::amd {

// Special registers, as bits.
enum : uint8_t {
  kUsesScc = 1 << 0,
  kUsesVcc = 1 << 1,  // where it is no operand: branches on VCC
  kUsesExec = 1 << 2,
  kUsesM0 = 1 << 3,
  kUsesFlatScratch = 1 << 4,  // s[102:103] of gfx90a
  kUsesMode = 1 << 5,
};

enum class Unit : uint8_t {
  kSalu,    // SOP1 SOP2 SOPC SOPK, and SOPP that computes nothing
  kBranch,  // changes the pc
  kValu,    // vector ALU, matrix instructions included
  kScalarMemory,
  kVmem,  // buffers and images
  kFlat,  // FLAT, GLOBAL, SCRATCH
  kLds,   // DS
  kLdsDirect,
  kExport,
};

struct Effects {
  Unit unit = Unit::kSalu;
  uint8_t reads = 0, writes = 0;
  bool trans = false;   // runs in the transcendental unit
  bool matrix = false;  // MFMA, SMFMAC, WMMA, SWMMAC
  bool dgemm = false;   // an f64 MFMA
  bool xdl = false;     // an MFMA that is not DGEMM and, on gfx942 and later, not f32 (LLVM's IsXDL)
  uint8_t passes = 0;   // of a matrix instruction of CDNA: 4 cycles each; 0 where that is not known
  bool load = false, store = false;  // of memory; both for atomics
};
Effects EffectsOf(const Inst& inst);

}  // namespace understudy::emu::amd
