// SPDX-License-Identifier: Apache-2.0
#pragma once
// semantics.inc as a table indexed by generation and opcode: signature, state, note, compiled loops. Used by
// operand staging, dispatch and the coverage report. Built once; read-only afterwards.

#include <string>
#include <vector>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/isa/opcode.h"
#include "emu/amd/semantics/builder.h"
#include "emu/amd/semantics/kernels.h"
#include "emu/amd/semantics/signature.h"

namespace understudy::emu::amd {

struct VectorEntry {
  bool known = false;  // a row of semantics.inc
  SemanticState state = SemanticState::kRefused;
  const char* note = "";
  Signature signature;       // per-lane semantics only
  LaneKernel kernel;         // per-lane semantics only
  ExecFn wave_op = nullptr;  // whole-wave semantics only
  // CDNA: a 16-bit result clears the other half of its register, a V_CMPX writes its mask to EXEC and to its
  // operand.
  bool clears_other_half = false, writes_exec = false;
};

const VectorEntry& VectorEntryOf(Isa isa, Opcode op);
// The helpers compiled for this host.
const KernelSet& HostKernels();

// One row of the coverage report.
struct CoverageRow {
  Opcode op;
  SemanticState state;
  std::string note;  // the bound, or why it is refused
};
struct CoverageReport {
  std::vector<CoverageRow> rows;
  int exact = 0, approximate = 0, refused = 0,
      missing = 0;  // missing: in the ISA tables, not in semantics.inc
};
// Every vector ALU mnemonic of `isa` (VOP*, VINTERP, LDSDIR). Rows for missing ones are refused with "not
// implemented".
CoverageReport VectorCoverage(Isa isa);

}  // namespace understudy::emu::amd
