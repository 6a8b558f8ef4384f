// SPDX-License-Identifier: Apache-2.0
// Matrix instructions from assembly text on: LLVM MC's encodings decode to operands of the right sizes that
// an executor takes, and small matrix products run as programs on every generation.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

#include "emu/amd/semantics/find_exec.h"
#include "emu/amd/semantics/matrix_table.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/core/kernel_runner.h"
#include "tests/emu/amd/matrix/matrix_machine.h"

namespace understudy::emu::amd {
namespace {

using testing::MatrixName;

std::string Mnemonic(Isa isa, Opcode op) {
#define AMD_SPELLING(of, opcode, text) \
  if (isa == Isa::of && op == Opcode::opcode) return text;
#include "emu/amd/isa/cdna_spellings.inc"
#undef AMD_SPELLING
  std::string name = OpcodeName(op);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

std::string Range(char file, int first, int count) {
  return count == 1 ? file + std::to_string(first)
                    : file + std::string("[") + std::to_string(first) + ":" +
                          std::to_string(first + count - 1) + "]";
}

// Registers of a matrix whose elements the lanes share.
int Registers(int elements, int bits, int lanes) { return std::max(1, elements * bits / (lanes * 32)); }

TEST(Assembly, EveryInstructionDecodesToOperandsOfItsSizeAndBinds) {
  for (const MatrixOp& op : AllMatrixOps()) {
    const MatrixName name = testing::ParseMatrixName(op.op, op.isa);
    const bool cdna = IsCdna(op.isa), rdna3 = op.isa == Isa::kRdna3 || op.isa == Isa::kRdna35;
    for (int wave_size : {32, 64}) {
      if (cdna && wave_size == 32) continue;
      for (int formats = 0; formats < (name.a == "F8F6F4" ? 25 : 1); ++formats) {
        const int a_bits = testing::BitsOfType(name.a, formats / 5),
                  b_bits = testing::BitsOfType(name.b, formats % 5);
        const int d_bits = name.d == "F64" ? 64 : name.d == "F16" || name.d == "BF16" ? 16 : 32;
        const int stored_k = name.sparse ? name.k / 2 : name.k;
        const int a =
            rdna3 ? stored_k * a_bits / 32 : Registers(name.m * stored_k * name.blocks, a_bits, wave_size);
        const int b =
            rdna3 ? name.k * b_bits / 32 : Registers(name.n * name.k * name.blocks, b_bits, wave_size);
        // RDNA3's 16-bit results use half of each register.
        const int d =
            Registers(name.m * name.n * name.blocks, rdna3 ? std::max(32, d_bits) : d_bits, wave_size);
        std::string text = Mnemonic(op.isa, op.op) + " " + Range(cdna ? 'a' : 'v', 100, d) + ", " +
                           Range('v', 8, a) + ", " + Range(cdna ? 'a' : 'v', 32, b) + ", ";
        text += name.sparse ? "v5" : Range(cdna ? 'a' : 'v', 64, d);
        if (op.form == MatrixForm::kScaled) text += ", v6, v7 op_sel:[1,0] op_sel_hi:[0,1]";
        if (formats != 0)
          text += " cbsz:" + std::to_string(formats / 5) + " blgp:" + std::to_string(formats % 5);
        const auto code =
            Assemble(IsaTarget(op.isa), text, !cdna && wave_size == 64 ? "+wavefrontsize64" : "");
        ASSERT_TRUE(code.ok()) << text << ": " << code.status().ToString();
        absl::StatusOr<Inst> inst = Decode(op.isa, code->data(), code->size());
        ASSERT_TRUE(inst.ok()) << text << ": " << inst.status().ToString();
        ASSERT_TRUE(ResolveWaveSize(wave_size, &*inst).ok()) << text;
        EXPECT_EQ(inst->op, op.op) << text;
        EXPECT_EQ(inst->size, code->size()) << text;
        EXPECT_EQ(inst->src[0].dwords, a) << text;
        EXPECT_EQ(inst->src[1].dwords, b) << text;
        EXPECT_EQ(inst->dst[0].dwords, d) << text;
        EXPECT_EQ(inst->src[name.sparse ? 3 : 2].dwords, d) << text;
        EXPECT_EQ(inst->src[name.sparse ? 3 : 2].reg, name.sparse ? 100 : 64) << text;
        if (op.form == MatrixForm::kScaled) {
          EXPECT_EQ(inst->src[3].reg, 6) << text;
          EXPECT_EQ(inst->src[4].reg, 7) << text;
          EXPECT_EQ(inst->op_sel & 3, 1) << text;
          EXPECT_EQ(inst->op_sel_hi & 3, 2) << text;
        }
        std::string refusal;
        EXPECT_NE(FindExec(*inst, &refusal), nullptr) << text << ": " << refusal;
      }
    }
  }
}

// D = A * B over K = 32, with A and the transposed B in rows of 32 halves, D in rows of M floats.
struct Program {
  Isa isa;
  int wave_size, m;
  const char* text;
};

constexpr const char* kCdna = R"(
    v_and_b32 v1, 31, v0
    v_lshrrev_b32 v2, 5, v0
    v_lshlrev_b32 v3, 6, v1
    v_lshlrev_b32 v4, 3, v2
    v_add_u32 v3, v3, v4
    .irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    v_accvgpr_write_b32 a\r, 0
    .endr
    .irp k,0,1,2,3
    global_load_dwordx2 v[6:7], v3, s[0:1] offset:16*\k
    global_load_dwordx2 v[8:9], v3, s[2:3] offset:16*\k
    s_waitcnt vmcnt(0)
    MFMA a[0:15], v[6:7], v[8:9], a[0:15]
    .endr
    v_lshlrev_b32 v5, 9, v2
    v_lshlrev_b32 v4, 2, v1
    v_add_u32 v5, v5, v4
    s_nop 15
    .irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    v_accvgpr_read_b32 v10, a\r
    global_store_dword v5, v10, s[4:5] offset:((\r/4)*8+\r%4)*128
    .endr
    s_endpgm)";

constexpr const char* kRdna4Text = R"(
    v_and_b32 v1, 15, v0
    v_lshrrev_b32 v2, 4, v0
    v_lshlrev_b32 v3, 6, v1
    v_lshlrev_b32 v4, 3, v2
    v_add_nc_u32 v3, v3, v4
    .irp r,40,41,42,43,44,45,46,47
    v_mov_b32 v\r, 0
    .endr
    .irp k,0,1
    global_load_b64 v[8:9], v3, s[0:1] offset:32*\k
    global_load_b64 v[10:11], v3, s[0:1] offset:32*\k+16
    global_load_b64 v[12:13], v3, s[2:3] offset:32*\k
    global_load_b64 v[14:15], v3, s[2:3] offset:32*\k+16
    s_wait_loadcnt 0
    v_wmma_f32_16x16x16_f16 v[40:47], v[8:11], v[12:15], v[40:47]
    .endr
    v_lshlrev_b32 v5, 9, v2
    v_lshlrev_b32 v4, 2, v1
    v_add_nc_u32 v5, v5, v4
    .irp r,40,41,42,43,44,45,46,47
    global_store_b32 v5, v\r, s[4:5] offset:(\r-40)*64
    .endr
    s_endpgm)";

constexpr const char* kRdna3Text = R"(
    v_and_b32 v1, 15, v0
    v_lshrrev_b32 v2, 4, v0
    v_lshlrev_b32 v3, 6, v1
    .irp r,40,41,42,43,44,45,46,47
    v_mov_b32 v\r, 0
    .endr
    .irp k,0,1
    global_load_b128 v[8:11], v3, s[0:1] offset:32*\k
    global_load_b128 v[12:15], v3, s[0:1] offset:32*\k+16
    global_load_b128 v[16:19], v3, s[2:3] offset:32*\k
    global_load_b128 v[20:23], v3, s[2:3] offset:32*\k+16
    s_waitcnt vmcnt(0)
    v_wmma_f32_16x16x16_f16 v[40:47], v[8:15], v[16:23], v[40:47]
    .endr
    v_lshlrev_b32 v5, 6, v2
    v_lshlrev_b32 v4, 2, v1
    v_add_nc_u32 v5, v5, v4
    .irp r,40,41,42,43,44,45,46,47
    global_store_b32 v5, v\r, s[4:5] offset:(\r-40)*128
    .endr
    s_endpgm)";

TEST(Programs, ProductsOfHalvesEqualTheHosts) {
  const Program programs[] = {{Isa::kCdna2, 64, 32, kCdna},      {Isa::kCdna3, 64, 32, kCdna},
                              {Isa::kCdna4, 64, 32, kCdna},      {Isa::kRdna4, 32, 16, kRdna4Text},
                              {Isa::kRdna3, 32, 16, kRdna3Text}, {Isa::kRdna35, 32, 16, kRdna3Text}};
  for (const Program& program : programs) {
    KernelRunner runner(program.wave_size, program.isa);
    const int a = runner.AddBuffer(static_cast<size_t>(program.m * 16)),
              b = runner.AddBuffer(static_cast<size_t>(program.m * 16)),
              d = runner.AddBuffer(static_cast<size_t>(program.m * program.m));
    const auto value = [](int row, int k, int salt) { return (row * 37 + k * 11 + salt) % 61; };
    // Integers up to 60 are halves without rounding: exponent and five fraction bits.
    const auto half = [](int v) -> uint32_t {
      if (v == 0) return 0;
      const int e = static_cast<int>(std::bit_width(static_cast<unsigned>(v))) - 1;
      return static_cast<uint32_t>((e + 15) << 10 | (v << (10 - e) & 0x3ff));
    };
    for (int row = 0; row < program.m; ++row) {
      for (int k = 0; k < 32; k += 2) {
        const size_t at = static_cast<size_t>(row * 16 + k / 2);
        runner.Buffer(a)[at] = half(value(row, k, 3)) | half(value(row, k + 1, 3)) << 16;
        runner.Buffer(b)[at] = half(value(row, k, 7)) | half(value(row, k + 1, 7)) << 16;
      }
    }
    std::string text = program.text;
    const size_t at = text.find("MFMA");
    if (at != std::string::npos) text.replace(at, 4, Mnemonic(program.isa, Opcode::V_MFMA_F32_32X32X8_F16));
    runner.Program(text);
    runner.Run();
    for (int i = 0; i < program.m; ++i) {
      for (int j = 0; j < program.m; ++j) {
        int sum = 0;
        for (int k = 0; k < 32; ++k) sum += value(i, k, 3) * value(j, k, 7);
        ASSERT_EQ(std::bit_cast<float>(runner.Buffer(d)[static_cast<size_t>(i * program.m + j)]),
                  static_cast<float>(sum))
            << IsaName(program.isa) << " D[" << i << "][" << j << "]";
      }
    }
  }
}

}  // namespace
}  // namespace understudy::emu::amd
