// SPDX-License-Identifier: Apache-2.0
#pragma once
// Notes which instructions a test executed, so that the coverage report can say which oracles stand behind an
// opcode. A test target that compares with an oracle names it in its environment (EVIDENCE = "vector",
// "exact", "program", "solver" or "mc"); what its passing tests executed is printed when it ends, and
// tools/evidence.py reads the logs. Without the variable nothing is noted, and nothing that a failing test
// executed counts.

#include "emu/amd/core/program_cache.h"
#include "emu/amd/isa/opcode.h"

namespace understudy::emu::amd {

// Thread-safe. Outside of a test (in a static initialiser, say) it has no effect.
void RecordExecuted(Isa isa, Opcode op);
// Every instruction that the cache has bound to an executor, which is: every one that was executed.
void RecordExecuted(const ProgramCache& cache);

}  // namespace understudy::emu::amd
