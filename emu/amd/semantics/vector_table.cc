// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/vector_table.h"

#include <array>
#include <cstdlib>

#include "emu/amd/semantics/semantics.h"
#include "emu/amd/semantics/wave_ops.h"

namespace understudy::emu::amd {
namespace {

struct Row {
  Opcode op;
  SemanticState state;
  const char* note;
  Signature signature;
  ExecFn wave_op;
};
constexpr Row kRows[] = {
#define SEMANTIC(chapter, opcode, function, state, note) \
  {Opcode::opcode, SemanticState::state, note, SignatureOf<semantic::opcode>(), nullptr},
#define WAVE_OP(opcode, function, state, note) \
  {Opcode::opcode, SemanticState::state, note, Signature(), &function},
#define REFUSED(opcode, reason) {Opcode::opcode, SemanticState::kRefused, reason, Signature(), nullptr},
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef WAVE_OP
#undef REFUSED
};

struct Table {
  std::array<VectorEntry, static_cast<size_t>(Opcode::kCount)> entries;
  KernelSet kernels;
};

bool HostHasAvx2() {
#if defined(__x86_64__)
  // US_SEMANTICS_ARCH=baseline in the environment keeps to the baseline, so that both can be tested on one
  // host.
  const char* choice = std::getenv("US_SEMANTICS_ARCH");
  if (choice != nullptr && std::string(choice) == "baseline") return false;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

Table* BuildTable() {
  Table* table = new Table;
  KernelSet* set = &table->kernels;
  kernels_baseline::RegisterVop1(set);
  kernels_baseline::RegisterVop2(set);
  kernels_baseline::RegisterVop3(set);
  kernels_baseline::RegisterVopc(set);
  kernels_baseline::RegisterVop3p(set);
  kernels_baseline::RegisterHelpers(set);
  if (HostHasAvx2()) {
    kernels_avx2::RegisterVop1(set);
    kernels_avx2::RegisterVop2(set);
    kernels_avx2::RegisterVop3(set);
    kernels_avx2::RegisterVopc(set);
    kernels_avx2::RegisterVop3p(set);
    kernels_avx2::RegisterHelpers(set);
  }
  for (const Row& row : kRows) {
    VectorEntry& e = table->entries[static_cast<size_t>(row.op)];
    e.known = true;
    e.state = row.state;
    e.note = row.note;
    e.signature = row.signature;
    e.kernel = set->kernels[static_cast<size_t>(row.op)];
    e.wave_op = row.wave_op;
  }
  return table;
}

const Table& TheTable() {
  static const Table* const table = BuildTable();
  return *table;
}

struct IsaRow {
  Encoding encoding;
  Opcode op;
};
#define AMD_INSN(encoding, number, opcode, ...) {Encoding::encoding, Opcode::opcode},
constexpr IsaRow kRdna3[] = {
#include "emu/amd/isa/rdna3.inc"
};
constexpr IsaRow kRdna4[] = {
#include "emu/amd/isa/rdna4.inc"
};
constexpr IsaRow kCdna4[] = {
#include "emu/amd/isa/cdna4.inc"
};
#undef AMD_INSN

bool IsVectorAlu(Encoding encoding) {
  const std::string name = EncodingName(encoding);
  return name.rfind("VOP", 0) == 0 || name == "VINTERP" || name == "LDSDIR";
}

}  // namespace

const VectorEntry& VectorEntryOf(Opcode op) { return TheTable().entries[static_cast<size_t>(op)]; }
const KernelSet& HostKernels() { return TheTable().kernels; }

CoverageReport VectorCoverage(Isa isa) {
  CoverageReport report;
  std::array<bool, static_cast<size_t>(Opcode::kCount)> seen = {};
  const auto add = [&](const IsaRow* begin, const IsaRow* end) {
    for (const IsaRow* row = begin; row != end; ++row) {
      bool& done = seen[static_cast<size_t>(row->op)];
      if (done || !IsVectorAlu(row->encoding)) continue;
      done = true;
      const VectorEntry& e = VectorEntryOf(row->op);
      report.rows.push_back({row->op, e.state, e.known ? e.note : "not implemented"});
      if (!e.known) {
        ++report.missing;
      } else if (e.state == SemanticState::kExact) {
        ++report.exact;
      } else if (e.state == SemanticState::kApproximate) {
        ++report.approximate;
      } else {
        ++report.refused;
      }
    }
  };
  if (isa == Isa::kRdna3) add(std::begin(kRdna3), std::end(kRdna3));
  if (isa == Isa::kRdna4) add(std::begin(kRdna4), std::end(kRdna4));
  if (isa == Isa::kCdna4) add(std::begin(kCdna4), std::end(kCdna4));
  return report;
}

}  // namespace understudy::emu::amd
