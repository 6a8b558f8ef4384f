// SPDX-License-Identifier: Apache-2.0
// Every memory opcode that a decoder knows has a state, and those that are refused a reason.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "emu/amd/decode/rows.h"
#include "emu/amd/isa/wait_class.h"
#include "emu/amd/semantics/memory_state.h"

namespace understudy::emu::amd {
namespace {

TEST(MemoryStates, EveryOpcodeOfEveryGenerationHasAState) {
  for (const Isa isa : kAllIsas) {
    int exact = 0, approximate = 0, refused = 0, unexpected = 0;
    for (const decode::Row& row : decode::TableOf(isa).rows()) {
      if (!IsMemoryEncoding(row.enc)) continue;
      const OpState state = MemoryState(isa, row.op, row.enc);
      exact += state.state == SemanticState::kExact;
      approximate += state.state == SemanticState::kApproximate;
      if (state.state != SemanticState::kRefused) continue;
      ++refused;
      EXPECT_FALSE(state.note.empty()) << IsaName(isa) << " " << OpcodeName(row.op);
      // Graphics, ray tracing, GDS's companions and what has no operands; nothing else may be refused.
      const bool known = state.note.find("sampling") != std::string::npos ||
                         state.note.find("ray tracing") != std::string::npos ||
                         state.note.find("graphics") != std::string::npos ||
                         state.note.find("wave sync") != std::string::npos ||
                         state.note.find("samples") != std::string::npos ||
                         state.note.find("reserved") != std::string::npos ||
                         row.op == Opcode::GLOBAL_LOAD_TR_B64;
      if (!known) {
        ++unexpected;
        ADD_FAILURE() << IsaName(isa) << " " << OpcodeName(row.op) << " (" << EncodingName(row.enc)
                      << "): " << state.note;
      }
    }
    std::printf("%s: %d exact, %d approximate, %d refused\n", IsaName(isa), exact, approximate, refused);
    EXPECT_GT(exact, 300) << IsaName(isa);
    EXPECT_EQ(unexpected, 0);
  }
}

TEST(MemoryStates, RefusedOpcodesHaveTheirReason) {
  const auto note = [](Isa isa, Opcode op, Encoding enc) {
    const OpState state = MemoryState(isa, op, enc);
    EXPECT_EQ(state.state, SemanticState::kRefused) << OpcodeName(op);
    return state.note;
  };
  EXPECT_EQ(note(Isa::kRdna3, Opcode::IMAGE_SAMPLE, Encoding::MIMG), "image sampling is not modelled");
  EXPECT_EQ(note(Isa::kRdna3, Opcode::DS_GWS_INIT, Encoding::DS), "global wave sync is not modelled");
  EXPECT_EQ(note(Isa::kRdna4, Opcode::DS_BVH_STACK_PUSH4_POP1_RTN_B32, Encoding::DS),
            "ray tracing is not modelled");
  EXPECT_EQ(note(Isa::kRdna3, Opcode::GLOBAL_LOAD_ADDTID_B32, Encoding::FLAT), "reserved in this encoding");
  EXPECT_EQ(MemoryState(Isa::kRdna4, Opcode::GLOBAL_LOAD_B128, Encoding::VGLOBAL).state,
            SemanticState::kExact);
  EXPECT_EQ(MemoryState(Isa::kCdna4, Opcode::DS_READ_B64_TR_B8, Encoding::DS).state,
            SemanticState::kApproximate);
}

// What each counter counts, as the manuals' tables say (RDNA3 ISA 4.4, RDNA4 ISA 5.6, CDNA3 ISA 4.4).
TEST(WaitClasses, CountersFollowTheGeneration) {
  const auto classes = [](Isa isa, Encoding enc, Opcode op, bool result) {
    Inst inst;
    inst.isa = isa;
    inst.enc = enc;
    inst.op = op;
    if (result) inst.dst[0].kind = Operand::Kind::kVgpr;
    std::string text;
    const WaitClass wait = WaitClassOf(inst);
    for (int i = 0; i < wait.count; ++i)
      text += std::string(i == 0 ? "" : "+") + WaitCounterName(wait.events[i].counter);
    return text;
  };
  using E = Encoding;
  EXPECT_EQ(classes(Isa::kRdna3, E::GLOBAL, Opcode::GLOBAL_LOAD_B32, true), "vmcnt");
  EXPECT_EQ(classes(Isa::kRdna3, E::GLOBAL, Opcode::GLOBAL_STORE_B32, false), "vscnt");
  EXPECT_EQ(classes(Isa::kRdna3, E::GLOBAL, Opcode::GLOBAL_ATOMIC_ADD_U32, false), "vscnt");
  EXPECT_EQ(classes(Isa::kRdna3, E::GLOBAL, Opcode::GLOBAL_ATOMIC_ADD_U32, true), "vmcnt");
  EXPECT_EQ(classes(Isa::kRdna3, E::FLAT, Opcode::FLAT_LOAD_B32, true), "vmcnt+lgkmcnt");
  EXPECT_EQ(classes(Isa::kRdna3, E::FLAT, Opcode::FLAT_STORE_B32, false), "vscnt+lgkmcnt");
  EXPECT_EQ(classes(Isa::kRdna3, E::DS, Opcode::DS_LOAD_B32, true), "lgkmcnt");
  EXPECT_EQ(classes(Isa::kRdna3, E::SMEM, Opcode::S_LOAD_B32, false), "lgkmcnt");
  EXPECT_EQ(classes(Isa::kRdna3, E::MUBUF, Opcode::BUFFER_GL0_INV, false), "");
  EXPECT_EQ(classes(Isa::kRdna4, E::VGLOBAL, Opcode::GLOBAL_LOAD_B32, true), "loadcnt");
  EXPECT_EQ(classes(Isa::kRdna4, E::VGLOBAL, Opcode::GLOBAL_STORE_B32, false), "storecnt");
  EXPECT_EQ(classes(Isa::kRdna4, E::VFLAT, Opcode::FLAT_LOAD_B32, true), "loadcnt+dscnt");
  EXPECT_EQ(classes(Isa::kRdna4, E::DS, Opcode::DS_STORE_B32, false), "dscnt");
  EXPECT_EQ(classes(Isa::kRdna4, E::SMEM, Opcode::S_LOAD_B32, false), "kmcnt");
  EXPECT_EQ(classes(Isa::kRdna4, E::SMEM, Opcode::S_PREFETCH_DATA, false), "");
  EXPECT_EQ(classes(Isa::kRdna4, E::VSAMPLE, Opcode::IMAGE_SAMPLE, true), "samplecnt");
  EXPECT_EQ(classes(Isa::kRdna4, E::VIMAGE, Opcode::IMAGE_BVH_INTERSECT_RAY, true), "bvhcnt");
  EXPECT_EQ(classes(Isa::kRdna4, E::VGLOBAL, Opcode::GLOBAL_INV, false), "loadcnt");
  EXPECT_EQ(classes(Isa::kRdna4, E::VGLOBAL, Opcode::GLOBAL_WB, false), "storecnt");
  EXPECT_EQ(classes(Isa::kCdna3, E::GLOBAL, Opcode::GLOBAL_STORE_DWORD, false), "vmcnt");
  EXPECT_EQ(classes(Isa::kCdna3, E::FLAT, Opcode::FLAT_STORE_DWORD, false), "vmcnt+lgkmcnt");
  EXPECT_EQ(classes(Isa::kCdna3, E::GLOBAL, Opcode::GLOBAL_LOAD_LDS_DWORD, false), "vmcnt");
  EXPECT_EQ(classes(Isa::kCdna3, E::MUBUF, Opcode::BUFFER_WBL2, false), "vmcnt");
}

}  // namespace
}  // namespace understudy::emu::amd
