// SPDX-License-Identifier: Apache-2.0
// Scalar instructions on every generation that has them: values, SCC and EXEC against formulas, and for those
// that only speak to the hardware, that nothing a program can see has changed.

#include <gtest/gtest.h>

#include "tests/emu/amd/exact/bench.h"

namespace understudy::emu::amd::exact {
namespace {

uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
int32_t Signed(uint64_t v) { return static_cast<int32_t>(v); }
void Put32(Scalars& s, uint64_t v) { s.d = (s.d & ~uint64_t{0xffffffff}) | Low(v); }
void Logic32(Scalars& s, uint64_t v) { Put32(s, v), s.scc = Low(v) != 0; }
void Logic64(Scalars& s, uint64_t v) { s.d = v, s.scc = v != 0; }

// A name may differ between generations ("RDNA/CDNA"). Operands are those of bench.h.
struct Scalar {
  Encoding enc;
  const char *name, *cdna_name, *operands;
  void (*formula)(Scalars& s);
};

// clang-format off: a row an instruction.
constexpr const char *k32 = "s40, s16, s18", *k64 = "s[40:41], s[16:17], s[18:19]", *kUnary32 = "s40, s16", *kUnary64 = "s[40:41], s[16:17]";
const Scalar kScalars[] = {
    {Encoding::SOP2, "S_NAND_B32", nullptr, k32, [](Scalars& s) { Logic32(s, ~(s.a & s.b)); }},
    {Encoding::SOP2, "S_NAND_B64", nullptr, k64, [](Scalars& s) { Logic64(s, ~(s.a & s.b)); }},
    {Encoding::SOP2, "S_NOR_B32", nullptr, k32, [](Scalars& s) { Logic32(s, ~(s.a | s.b)); }},
    {Encoding::SOP2, "S_NOR_B64", nullptr, k64, [](Scalars& s) { Logic64(s, ~(s.a | s.b)); }},
    {Encoding::SOP2, "S_XNOR_B32", nullptr, k32, [](Scalars& s) { Logic32(s, ~(s.a ^ s.b)); }},
    {Encoding::SOP2, "S_XNOR_B64", nullptr, k64, [](Scalars& s) { Logic64(s, ~(s.a ^ s.b)); }},
    {Encoding::SOP2, "S_AND_B32", nullptr, k32, [](Scalars& s) { Logic32(s, s.a & s.b); }},
    {Encoding::SOP2, "S_AND_B64", nullptr, k64, [](Scalars& s) { Logic64(s, s.a & s.b); }},
    {Encoding::SOP2, "S_OR_B32", nullptr, k32, [](Scalars& s) { Logic32(s, s.a | s.b); }},
    {Encoding::SOP2, "S_OR_B64", nullptr, k64, [](Scalars& s) { Logic64(s, s.a | s.b); }},
    {Encoding::SOP2, "S_XOR_B32", nullptr, k32, [](Scalars& s) { Logic32(s, s.a ^ s.b); }},
    {Encoding::SOP2, "S_XOR_B64", nullptr, k64, [](Scalars& s) { Logic64(s, s.a ^ s.b); }},
    {Encoding::SOP2, "S_AND_NOT1_B32", "S_ANDN2_B32", k32, [](Scalars& s) { Logic32(s, s.a & ~s.b); }},
    {Encoding::SOP2, "S_AND_NOT1_B64", "S_ANDN2_B64", k64, [](Scalars& s) { Logic64(s, s.a & ~s.b); }},
    {Encoding::SOP2, "S_OR_NOT1_B32", "S_ORN2_B32", k32, [](Scalars& s) { Logic32(s, s.a | ~s.b); }},
    {Encoding::SOP2, "S_OR_NOT1_B64", "S_ORN2_B64", k64, [](Scalars& s) { Logic64(s, s.a | ~s.b); }},
    {Encoding::SOP2, "S_LSHL1_ADD_U32", nullptr, k32, [](Scalars& s) { const uint64_t r = uint64_t{Low(s.a)} * 2 + Low(s.b); Put32(s, r); s.scc = r >> 32 != 0; }},
    {Encoding::SOP2, "S_LSHL2_ADD_U32", nullptr, k32, [](Scalars& s) { const uint64_t r = uint64_t{Low(s.a)} * 4 + Low(s.b); Put32(s, r); s.scc = r >> 32 != 0; }},
    {Encoding::SOP2, "S_LSHL3_ADD_U32", nullptr, k32, [](Scalars& s) { const uint64_t r = uint64_t{Low(s.a)} * 8 + Low(s.b); Put32(s, r); s.scc = r >> 32 != 0; }},
    {Encoding::SOP2, "S_LSHL4_ADD_U32", nullptr, k32, [](Scalars& s) { const uint64_t r = uint64_t{Low(s.a)} * 16 + Low(s.b); Put32(s, r); s.scc = r >> 32 != 0; }},

    {Encoding::SOPC, "S_CMP_EQ_I32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Signed(s.a) == Signed(s.b); }},
    {Encoding::SOPC, "S_CMP_LG_I32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Signed(s.a) != Signed(s.b); }},
    {Encoding::SOPC, "S_CMP_GT_I32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Signed(s.a) > Signed(s.b); }},
    {Encoding::SOPC, "S_CMP_GE_I32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Signed(s.a) >= Signed(s.b); }},
    {Encoding::SOPC, "S_CMP_LT_I32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Signed(s.a) < Signed(s.b); }},
    {Encoding::SOPC, "S_CMP_LE_I32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Signed(s.a) <= Signed(s.b); }},
    {Encoding::SOPC, "S_CMP_EQ_U32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Low(s.a) == Low(s.b); }},
    {Encoding::SOPC, "S_CMP_LG_U32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Low(s.a) != Low(s.b); }},
    {Encoding::SOPC, "S_CMP_GT_U32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Low(s.a) > Low(s.b); }},
    {Encoding::SOPC, "S_CMP_GE_U32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Low(s.a) >= Low(s.b); }},
    {Encoding::SOPC, "S_CMP_LT_U32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Low(s.a) < Low(s.b); }},
    {Encoding::SOPC, "S_CMP_LE_U32", nullptr, "s16, s18", [](Scalars& s) { s.scc = Low(s.a) <= Low(s.b); }},
    {Encoding::SOPC, "S_CMP_EQ_U64", nullptr, "s[16:17], s[18:19]", [](Scalars& s) { s.scc = s.a == s.b; }},
    {Encoding::SOPC, "S_CMP_LG_U64", nullptr, "s[16:17], s[18:19]", [](Scalars& s) { s.scc = s.a != s.b; }},
    {Encoding::SOPC, "S_BITCMP0_B32", nullptr, "s16, s18", [](Scalars& s) { s.scc = (s.a >> (s.b % 32) & 1) == 0; }},
    {Encoding::SOPC, "S_BITCMP1_B32", nullptr, "s16, s18", [](Scalars& s) { s.scc = (s.a >> (s.b % 32) & 1) != 0; }},
    {Encoding::SOPC, "S_BITCMP0_B64", nullptr, "s[16:17], s18", [](Scalars& s) { s.scc = (s.a >> (s.b % 64) & 1) == 0; }},
    {Encoding::SOPC, "S_BITCMP1_B64", nullptr, "s[16:17], s18", [](Scalars& s) { s.scc = (s.a >> (s.b % 64) & 1) != 0; }},

    {Encoding::SOPK, "S_CMPK_EQ_I32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Signed(s.d) == -1; }},
    {Encoding::SOPK, "S_CMPK_LG_I32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Signed(s.d) != -1; }},
    {Encoding::SOPK, "S_CMPK_GT_I32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Signed(s.d) > -1; }},
    {Encoding::SOPK, "S_CMPK_GE_I32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Signed(s.d) >= -1; }},
    {Encoding::SOPK, "S_CMPK_LT_I32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Signed(s.d) < -1; }},
    {Encoding::SOPK, "S_CMPK_LE_I32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Signed(s.d) <= -1; }},
    {Encoding::SOPK, "S_CMPK_EQ_U32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Low(s.d) == 0xffff; }},
    {Encoding::SOPK, "S_CMPK_LG_U32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Low(s.d) != 0xffff; }},
    {Encoding::SOPK, "S_CMPK_GT_U32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Low(s.d) > 0xffff; }},
    {Encoding::SOPK, "S_CMPK_GE_U32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Low(s.d) >= 0xffff; }},
    {Encoding::SOPK, "S_CMPK_LT_U32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Low(s.d) < 0xffff; }},
    {Encoding::SOPK, "S_CMPK_LE_U32", nullptr, "s40, 0xffff", [](Scalars& s) { s.scc = Low(s.d) <= 0xffff; }},

    {Encoding::SOP1, "S_BITSET0_B32", nullptr, kUnary32, [](Scalars& s) { Put32(s, s.d & ~(uint64_t{1} << (s.a % 32))); }},
    {Encoding::SOP1, "S_BITSET1_B32", nullptr, kUnary32, [](Scalars& s) { Put32(s, s.d | uint64_t{1} << (s.a % 32)); }},
    {Encoding::SOP1, "S_BITSET0_B64", nullptr, "s[40:41], s16", [](Scalars& s) { s.d &= ~(uint64_t{1} << (s.a % 64)); }},
    {Encoding::SOP1, "S_BITSET1_B64", nullptr, "s[40:41], s16", [](Scalars& s) { s.d |= uint64_t{1} << (s.a % 64); }},
    {Encoding::SOP1, "S_NOT_B32", nullptr, kUnary32, [](Scalars& s) { Logic32(s, ~s.a); }},
    {Encoding::SOP1, "S_NOT_B64", nullptr, kUnary64, [](Scalars& s) { Logic64(s, ~s.a); }},
};

// What EXEC becomes of the source and the old EXEC; RDNA's name, CDNA's name.
struct ExecLogic {
  const char *rdna, *cdna;
  uint64_t (*value)(uint64_t source, uint64_t exec);
  bool write_new;  // the destination gets the new EXEC (WREXEC), not the old one
};
const ExecLogic kExecLogic[] = {
    {"S_AND_SAVEEXEC", "S_AND_SAVEEXEC", [](uint64_t a, uint64_t e) { return a & e; }, false},
    {"S_OR_SAVEEXEC", "S_OR_SAVEEXEC", [](uint64_t a, uint64_t e) { return a | e; }, false},
    {"S_XOR_SAVEEXEC", "S_XOR_SAVEEXEC", [](uint64_t a, uint64_t e) { return a ^ e; }, false},
    {"S_NAND_SAVEEXEC", "S_NAND_SAVEEXEC", [](uint64_t a, uint64_t e) { return ~(a & e); }, false},
    {"S_NOR_SAVEEXEC", "S_NOR_SAVEEXEC", [](uint64_t a, uint64_t e) { return ~(a | e); }, false},
    {"S_XNOR_SAVEEXEC", "S_XNOR_SAVEEXEC", [](uint64_t a, uint64_t e) { return ~(a ^ e); }, false},
    {"S_AND_NOT0_SAVEEXEC", "S_ANDN1_SAVEEXEC", [](uint64_t a, uint64_t e) { return ~a & e; }, false},
    {"S_OR_NOT0_SAVEEXEC", "S_ORN1_SAVEEXEC", [](uint64_t a, uint64_t e) { return ~a | e; }, false},
    {"S_AND_NOT1_SAVEEXEC", "S_ANDN2_SAVEEXEC", [](uint64_t a, uint64_t e) { return a & ~e; }, false},
    {"S_OR_NOT1_SAVEEXEC", "S_ORN2_SAVEEXEC", [](uint64_t a, uint64_t e) { return a | ~e; }, false},
    {"S_AND_NOT0_WREXEC", "S_ANDN1_WREXEC", [](uint64_t a, uint64_t e) { return ~a & e; }, true},
    {"S_AND_NOT1_WREXEC", "S_ANDN2_WREXEC", [](uint64_t a, uint64_t e) { return a & ~e; }, true},
};

// Nothing that a program can see changes: no register, no mask, no memory, and the next instruction follows.
// Debug branches are not taken, for there is no debugger; an event that is waited for has come.
struct Quiet {
  Encoding enc;
  const char *name, *operands;
};
const Quiet kQuiet[] = {
    {Encoding::SOPP, "S_NOP", "3"},
    {Encoding::SOPP, "S_SLEEP", "2"},
    {Encoding::SOP1, "S_SLEEP_VAR", "s16"},
    {Encoding::SOPP, "S_SETPRIO", "3"},
    {Encoding::SOPP, "S_WAKEUP", ""},
    {Encoding::SOPP, "S_INCPERFLEVEL", "3"},
    {Encoding::SOPP, "S_DECPERFLEVEL", "3"},
    {Encoding::SOPP, "S_TTRACEDATA", ""},
    {Encoding::SOPP, "S_TTRACEDATA_IMM", "7"},
    {Encoding::SOPP, "S_CLAUSE", "1\nv_nop\nv_nop"},
    {Encoding::SOPP, "S_DELAY_ALU", "instid0(VALU_DEP_1)"},
    {Encoding::SOPP, "S_WAIT_IDLE", ""},
    {Encoding::SOPP, "S_WAIT_EVENT", "0"},
    {Encoding::SOPP, "S_WAITCNT_DEPCTR", "0xfffe"},
    {Encoding::SOPP, "S_WAIT_ALU", "0xfffe"},
    {Encoding::SOPP, "S_WAIT_LOADCNT", "0"},
    {Encoding::SOPP, "S_WAIT_STORECNT", "0"},
    {Encoding::SOPP, "S_WAIT_SAMPLECNT", "0"},
    {Encoding::SOPP, "S_WAIT_BVHCNT", "0"},
    {Encoding::SOPP, "S_WAIT_EXPCNT", "0"},
    {Encoding::SOPP, "S_WAIT_DSCNT", "0"},
    {Encoding::SOPP, "S_WAIT_KMCNT", "0"},
    {Encoding::SOPP, "S_WAIT_LOADCNT_DSCNT", "0"},
    {Encoding::SOPP, "S_WAIT_STORECNT_DSCNT", "0"},
    {Encoding::SOPK, "S_WAITCNT_VSCNT", "null, 0"},
    {Encoding::SOPK, "S_WAITCNT_VMCNT", "null, 0"},
    {Encoding::SOPK, "S_WAITCNT_EXPCNT", "null, 0"},
    {Encoding::SOPK, "S_WAITCNT_LGKMCNT", "null, 0"},
    {Encoding::SOPK, "S_VERSION", "0x2006"},
    {Encoding::SOPP, "S_SENDMSG", "sendmsg(MSG_INTERRUPT)"},
    {Encoding::SOPP, "S_CBRANCH_CDBGSYS", "2\ns_mov_b32 s40, 0\ns_mov_b32 s40, s23\ns_mov_b32 s40, s22"},
    {Encoding::SOPP, "S_CBRANCH_CDBGUSER", "2\ns_mov_b32 s40, 0\ns_mov_b32 s40, s23\ns_mov_b32 s40, s22"},
    {Encoding::SOPP, "S_CBRANCH_CDBGSYS_OR_USER", "2\ns_mov_b32 s40, 0\ns_mov_b32 s40, s23\ns_mov_b32 s40, s22"},
    {Encoding::SOPP, "S_CBRANCH_CDBGSYS_AND_USER", "2\ns_mov_b32 s40, 0\ns_mov_b32 s40, s23\ns_mov_b32 s40, s22"},
    {Encoding::VOP1, "V_NOP", ""},
    {Encoding::VOP1, "V_PIPEFLUSH", ""},
    {Encoding::VOP1, "V_CLREXCP", ""},
    {Encoding::VOP3, "V_NOP", ""},
    {Encoding::VOP3, "V_PIPEFLUSH", ""},
    {Encoding::VOP3, "V_CLREXCP", ""},
};

// Moves through M0: the relative register is s16, s18 or s20, or s40 and s42.
struct Relative {
  const char *name, *text;
  void (*formula)(Scalars& s);
};
const Relative kRelative[] = {
    {"S_MOVRELS_B32", "s_mov_b32 m0, 3\ns_movrels_b32 s40, s16", [](Scalars& s) { Put32(s, s.b >> 32), s.m0 = 3; }},
    {"S_MOVRELS_B32", "s_mov_b32 m0, 0\ns_movrels_b32 s40, s16", [](Scalars& s) { Put32(s, s.a), s.m0 = 0; }},
    {"S_MOVRELS_B64", "s_mov_b32 m0, 4\ns_movrels_b64 s[40:41], s[16:17]", [](Scalars& s) { s.d = s.c, s.m0 = 4; }},
    {"S_MOVRELS_B64", "s_mov_b32 m0, 2\ns_movrels_b64 s[40:41], s[16:17]", [](Scalars& s) { s.d = s.b, s.m0 = 2; }},
    {"S_MOVRELD_B32", "s_mov_b32 m0, 9\ns_movreld_b32 s32, s16", [](Scalars& s) { s.d = Low(s.d) | s.a << 32, s.m0 = 9; }},
    {"S_MOVRELD_B64", "s_mov_b32 m0, 8\ns_movreld_b64 s[32:33], s[18:19]", [](Scalars& s) { s.d = s.b, s.m0 = 8; }},
    {"S_MOVRELSD_2_B32", "s_mov_b32 m0, 0x00090003\ns_movrelsd_2_b32 s32, s16", [](Scalars& s) { s.d = Low(s.d) | (s.b >> 32) << 32, s.m0 = 0x00090003; }},
};
// clang-format on

class ScalarAlu : public testing::TestWithParam<Isa> {
 protected:
  Isa isa() const { return GetParam(); }
};

TEST_P(ScalarAlu, Formulas) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    for (const Scalar& row : kScalars) {
      const char* name = IsCdna(isa()) && row.cdna_name != nullptr ? row.cdna_name : row.name;
      if (bench.Find(row.enc, name) == nullptr) continue;
      Case c;
      c.text = LowerCase(name) + " " + row.operands;
      c.scalar = [&row](Scalars& s) { row.formula(s); };
      bench.Add(std::move(c));
    }
    bench.Run(400);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ScalarAlu, ExecMasks) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    for (const ExecLogic& row : kExecLogic) {
      for (const int bits : {32, 64}) {
        const std::string name =
            std::string(IsCdna(isa()) ? row.cdna : row.rdna) + "_B" + std::to_string(bits);
        // The 64-bit forms in waves of 32 lanes would write lanes that do not exist.
        if (bits == 64 && wave_size == 32) continue;
        if (bench.Find(Encoding::SOP1, name) == nullptr) continue;
        Case c;
        c.text = LowerCase(name.c_str()) + (bits == 32 ? " s40, s16" : " s[40:41], s[16:17]");
        c.scalar = [&row, bits](Scalars& s) {
          const uint64_t mask = bits == 64 ? ~uint64_t{0} : 0xffffffff;
          const uint64_t before = s.exec & mask, after = row.value(s.a, before) & mask;
          s.exec = (s.exec & ~mask) | after;
          s.d = (s.d & ~mask) | (row.write_new ? after : before);
          s.scc = after != 0;
        };
        bench.Add(std::move(c));
      }
    }
    bench.Run(400);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ScalarAlu, WhatOnlyTheHardwareSees) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    for (const Quiet& row : kQuiet) {
      const decode::Row* found = bench.Find(row.enc, row.name);
      if (found == nullptr) continue;
      Case c;
      c.text = LowerCase(row.name) +
               (found->e32_suffix   ? "_e32 "
                : found->e64_suffix ? "_e64 "
                                    : " ") +
               row.operands;
      bench.Add(std::move(c));
    }
    bench.Run(12);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ScalarAlu, RelativeMoves) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    for (const Relative& row : kRelative) {
      if (bench.Find(Encoding::SOP1, row.name) == nullptr) continue;
      Case c;
      c.text = row.text;
      c.scalar = row.formula;
      bench.Add(std::move(c));
    }
    bench.Run(60);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, ScalarAlu, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd::exact
