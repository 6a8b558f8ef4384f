// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/semantics/vector_table.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include "emu/amd/decode/rows.h"
#include "emu/amd/semantics/matrix_table.h"
#include "emu/amd/semantics/semantics.h"
#include "emu/amd/semantics/wave_ops.h"

namespace understudy::emu::amd {
namespace {

constexpr uint8_t kAnyGeneration = 0xff;
constexpr int kIsaCount = static_cast<int>(Isa::kCdna4) + 1;
constexpr size_t kOpcodeCount = static_cast<size_t>(Opcode::kCount);

struct Row {
  Opcode op;
  Opcode same_as;  // kCount: a row of its own
  uint8_t generations;
  SemanticState state;
  const char* note;
  SemanticRow row;  // kCount: no loops
  Signature signature;
  ExecFn wave_op;
};
constexpr Row kRows[] = {
#define SEMANTIC(chapter, opcode, function, state, note) \
  {Opcode::opcode,                                       \
   Opcode::kCount,                                       \
   kAnyGeneration,                                       \
   SemanticState::state,                                 \
   note,                                                 \
   SemanticRow::opcode,                                  \
   SignatureOf<semantic::opcode>(),                      \
   nullptr},
#define SEMANTIC_FOR(chapter, generations, opcode, function, state, note) \
  {Opcode::opcode,                                                        \
   Opcode::kCount,                                                        \
   kGenerations##generations,                                             \
   SemanticState::state,                                                  \
   note,                                                                  \
   SemanticRow::opcode##_##generations,                                   \
   SignatureOf<semantic::opcode##_##generations>(),                       \
   nullptr},
#define SAME(opcode, other)                                                       \
  {Opcode::opcode,      Opcode::other, kAnyGeneration, SemanticState::kExact, "", \
   SemanticRow::kCount, Signature(),   nullptr},
#define WAVE_OP(opcode, function, state, note)                                \
  {Opcode::opcode, Opcode::kCount,      kAnyGeneration, SemanticState::state, \
   note,           SemanticRow::kCount, Signature(),    &function},
#define REFUSED(opcode, reason)                                                  \
  {Opcode::opcode, Opcode::kCount,      kAnyGeneration, SemanticState::kRefused, \
   reason,         SemanticRow::kCount, Signature(),    nullptr},
#include "emu/amd/semantics/semantics.inc"
#undef SEMANTIC
#undef SEMANTIC_FOR
#undef SAME
#undef WAVE_OP
#undef REFUSED
};

struct Table {
  std::array<std::array<VectorEntry, kOpcodeCount>, kIsaCount> entries;
  KernelSet kernels;
};

enum class Arch { kBaseline, kAvx2, kAvx512 };

Arch HostArch() {
#if defined(__x86_64__)
  // US_SEMANTICS_ARCH=baseline or avx2 in the environment keeps to that, so that all can be tested on one
  // host.
  const char* choice = std::getenv("US_SEMANTICS_ARCH");
  const std::string wanted = choice == nullptr ? "" : choice;
  if (wanted == "baseline") return Arch::kBaseline;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Arch::kBaseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 && wanted != "avx2" ? Arch::kAvx512 : Arch::kAvx2;
#else
  return Arch::kBaseline;
#endif
}

#define US_REGISTER_ALL(arch, set)        \
  do {                                    \
    kernels_##arch::RegisterVop1(set);    \
    kernels_##arch::RegisterVop2(set);    \
    kernels_##arch::RegisterVop3(set);    \
    kernels_##arch::RegisterVopc(set);    \
    kernels_##arch::RegisterVop3p(set);   \
    kernels_##arch::RegisterHelpers(set); \
  } while (false)

bool IsHalf(DstKind kind) { return kind == DstKind::kU16 || kind == DstKind::kF16 || kind == DstKind::kBF16; }

// The 16-bit results that keep the other half of their register on gfx9: those of the instructions that gfx9
// added with op_sel. The older ones clear it (CDNA ISA, V_MAC_F16 and the LEGACY forms: "D0 = { 16'0, tmp }";
// LLVM's zeroesHigh16BitsOfDest, which says that it rests on experiments).
bool KeepsOtherHalfOnCdna(Opcode op) {
  switch (op) {
    case Opcode::V_MIN3_F16:
    case Opcode::V_MIN3_I16:
    case Opcode::V_MIN3_U16:
    case Opcode::V_MAX3_F16:
    case Opcode::V_MAX3_I16:
    case Opcode::V_MAX3_U16:
    case Opcode::V_MED3_F16:
    case Opcode::V_MED3_I16:
    case Opcode::V_MED3_U16:
    case Opcode::V_ADD_I16:
    case Opcode::V_SUB_I16:
    case Opcode::V_MAD_F16:
    case Opcode::V_MAD_U16:
    case Opcode::V_MAD_I16:
    case Opcode::V_FMA_F16:
    case Opcode::V_DIV_FIXUP_F16:
    case Opcode::V_BITOP3_B16:
    case Opcode::V_ASHR_PK_I8_I32:
    case Opcode::V_ASHR_PK_U8_I32:
    case Opcode::V_CVT_PK_FP8_F32:
    case Opcode::V_CVT_PK_BF8_F32:
    case Opcode::V_CVT_SR_F16_F32:
    case Opcode::V_CVT_SR_BF16_F32:
      return true;
    default:
      return false;
  }
}

Table* BuildTable() {
  Table* table = new Table;
  KernelSet* set = &table->kernels;
  US_REGISTER_ALL(baseline, set);
  const Arch arch = HostArch();
  if (arch == Arch::kAvx2) US_REGISTER_ALL(avx2, set);
  if (arch == Arch::kAvx512) US_REGISTER_ALL(avx512, set);
  for (int i = 0; i < kIsaCount; ++i) {
    auto& entries = table->entries[static_cast<size_t>(i)];
    const Isa isa = static_cast<Isa>(i);
    for (const Row& row : kRows) {
      VectorEntry& e = entries[static_cast<size_t>(row.op)];
      // The first row that fits counts.
      if (e.known || row.same_as != Opcode::kCount || (row.generations & GenerationBit(isa)) == 0) continue;
      e.known = true;
      e.state = row.state;
      e.note = row.note;
      e.signature = row.signature;
      if (row.row != SemanticRow::kCount) e.kernel = set->kernels[static_cast<size_t>(row.row)];
      e.wave_op = row.wave_op;
    }
    for (const Row& row : kRows) {
      if (row.same_as == Opcode::kCount) continue;
      entries[static_cast<size_t>(row.op)] = entries[static_cast<size_t>(row.same_as)];
    }
    if (!IsCdna(isa)) continue;
    for (size_t op = 0; op < kOpcodeCount; ++op) {
      const Opcode opcode = static_cast<Opcode>(op);
      entries[op].clears_other_half = IsHalf(entries[op].signature.dst) && !KeepsOtherHalfOnCdna(opcode);
      entries[op].writes_exec = std::strncmp(OpcodeName(opcode), "V_CMPX_", 7) == 0;
    }
  }
  return table;
}

const Table& TheTable() {
  static const Table* const table = BuildTable();
  return *table;
}

bool IsVectorAlu(Encoding encoding) {
  const std::string name = EncodingName(encoding);
  return name.rfind("VOP", 0) == 0 || name == "VINTERP" || name == "LDSDIR" || name == "VDSDIR";
}

}  // namespace

const VectorEntry& VectorEntryOf(Isa isa, Opcode op) {
  return TheTable().entries[static_cast<size_t>(isa)][static_cast<size_t>(op)];
}
const KernelSet& HostKernels() { return TheTable().kernels; }

CoverageReport VectorCoverage(Isa isa) {
  CoverageReport report;
  std::array<bool, kOpcodeCount> seen = {};
  for (const decode::Row& row : decode::TableOf(isa).rows()) {
    if (row.rdna35 && isa == Isa::kRdna3) continue;
    bool& done = seen[static_cast<size_t>(row.op)];
    if (done || !IsVectorAlu(row.enc)) continue;
    done = true;
    VectorEntry e = VectorEntryOf(isa, row.op);
    if (IsMatrixOpcode(row.op)) {
      const MatrixStateRow matrix = MatrixState(isa, row.op);
      e.known = true;
      e.state = matrix.state;
      e.note = matrix.note;
    }
    report.rows.push_back({row.op, e.state, e.known ? e.note : "not implemented"});
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
  return report;
}

}  // namespace understudy::emu::amd
