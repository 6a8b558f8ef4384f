// SPDX-License-Identifier: Apache-2.0
// What Inst says about single instructions of CDNA (values from the CDNA2 and CDNA3 ISA manuals and the
// shared list of cases), and that the decoder never reads past the bytes it was given.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "emu/amd/decode/inst.h"
#include "emu/amd/decode/rows.h"
#include "emu/amd/disasm/disasm.h"
#include "tests/emu/amd/decode/cdna_words.h"

namespace understudy::emu::amd {
namespace {

Inst Must(std::vector<uint32_t> words, Isa isa = Isa::kCdna3) {
  auto inst = Decode(isa, reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4);
  EXPECT_TRUE(inst.ok()) << inst.status();
  EXPECT_EQ(inst.ok() ? inst->size : 0, words.size() * 4);
  return inst.ok() ? *inst : Inst();
}

std::string Refusal(std::vector<uint32_t> words, Isa isa = Isa::kCdna3) {
  auto inst = Decode(isa, reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4);
  EXPECT_FALSE(inst.ok()) << Text(*inst);
  return inst.ok() ? "" : std::string(inst.status().ToString());
}

TEST(CdnaDecode, MfmaMixesFilesAndWidths) {
  Inst i = Must({0xd3cd000a, 0x0c1a0902});
  EXPECT_EQ(Text(i), "v_mfma_f32_16x16x16_f16 v[10:13], a[2:3], v[4:5], v[6:9]");
  EXPECT_EQ(i.op, Opcode::V_MFMA_F32_16X16X16_F16);
  EXPECT_EQ(i.dst[0].kind, Operand::Kind::kVgpr);
  EXPECT_EQ(i.dst[0].reg, 10);
  EXPECT_EQ(i.dst[0].dwords, 4);
  EXPECT_EQ(i.src[0].kind, Operand::Kind::kAgpr);
  EXPECT_EQ(i.src[0].reg, 2);
  EXPECT_EQ(i.src[0].dwords, 2);
  EXPECT_EQ(i.src[1].kind, Operand::Kind::kVgpr);
  EXPECT_EQ(i.src[2].dwords, 4);
}

TEST(CdnaDecode, OperandNumbersAreThoseOfCdna) {
  EXPECT_EQ(Must({0xbefc0080}).dst[0].reg, kRegM0);  // s_mov_b32 m0, 0: code 124
  EXPECT_NE(Refusal({0xbefd0080}).find("operand 125 is not a scalar register"), std::string::npos);
  Inst scratch = Must({0xbe800066});  // s_mov_b32 s0, flat_scratch_lo
  EXPECT_EQ(scratch.src[0].reg, 102);
  EXPECT_EQ(Text(scratch), "s_mov_b32 s0, flat_scratch_lo");
  EXPECT_EQ(Text(Must({0xbe800168})), "s_mov_b64 s[0:1], xnack_mask");
  EXPECT_EQ(Must({0x7e0002fe}).src[0].kind, Operand::Kind::kLdsDirect);
  EXPECT_EQ(Must({0xbe8000eb}).src[0].kind, Operand::Kind::kSharedBase);
  EXPECT_EQ(Must({0xbe8000fb}).src[0].kind, Operand::Kind::kVccz);
  EXPECT_EQ(Must({0xbe8000fc}).src[0].kind, Operand::Kind::kExecz);
  EXPECT_EQ(Must({0xbe8000fd}).src[0].kind, Operand::Kind::kScc);
}

TEST(CdnaDecode, LiteralEqualToASelectorNumberIsAValue) {
  for (uint32_t code : {0xe7u, 0xf2u, 0xffu, 0xe9u, 0xfau, 0xf9u}) {
    Inst i = Must({0x7e0002ff, code});  // v_mov_b32 v0, literal
    EXPECT_EQ(i.src[0].kind, Operand::Kind::kLiteral);
    EXPECT_EQ(i.src[0].imm, code);
    EXPECT_FALSE(i.sdwa.present);
  }
}

// MC 22 prints these as the operand whose code the constant equals.
TEST(CdnaDecode, ConstantOfMadmkEqualToASelectorNumberIsAValue) {
  for (uint32_t code : {0xbbu, 0xf2u, 0xe7u, 0xffu}) {
    Inst i = Must({0x2e000501, code}, Isa::kCdna2);
    EXPECT_EQ(i.op, Opcode::V_MADMK_F32);
    EXPECT_EQ(i.src[1].kind, Operand::Kind::kLiteral);
    EXPECT_EQ(i.src[1].imm, code);
  }
  EXPECT_EQ(Text(Must({0x2e000501, 0xbb}, Isa::kCdna2)), "v_madmk_f32 v0, v1, 0xbb, v2");
}

TEST(CdnaDecode, SdwaSelectsExtendsAndKeeps) {
  // v_or_b32_sdwa v0, sext(v1), v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:BYTE_3
  Inst i = Must({0x280004f9, 0x030d1201});
  EXPECT_EQ(i.op, Opcode::V_OR_B32);
  ASSERT_TRUE(i.sdwa.present);
  EXPECT_EQ(i.sdwa.dst_sel, 2);
  EXPECT_EQ(i.sdwa.dst_unused, 2);
  EXPECT_EQ(i.sdwa.src_sel[0], 5);
  EXPECT_EQ(i.sdwa.src_sel[1], 3);
  EXPECT_TRUE(i.sdwa.sext[0]);
  EXPECT_FALSE(i.sdwa.sext[1]);
  Inst scalar = Must({0x280004f9, 0x06861601});  // src0 is s1
  EXPECT_TRUE(scalar.src[0].is_sgpr());
  EXPECT_EQ(scalar.src[0].reg, 1);
}

TEST(CdnaDecode, CmpxWritesMaskAndExec) {
  Inst e32 = Must({0x7db40501});  // v_cmpx_eq_u32_e32 vcc, v1, v2
  EXPECT_EQ(e32.op, Opcode::V_CMPX_EQ_U32);
  ASSERT_EQ(e32.n_dst, 2);
  EXPECT_EQ(e32.dst[0].reg, kRegVccLo);
  EXPECT_EQ(e32.dst[1].reg, kRegExecLo);
  Inst e64 = Must({0xd0da0004, 0x00020501});
  EXPECT_EQ(e64.dst[0].reg, 4);
  EXPECT_EQ(e64.dst[1].reg, kRegExecLo);
}

TEST(CdnaDecode, CarriesNameVcc) {
  Inst add = Must({0x32000501});  // v_add_co_u32_e32 v0, vcc, v1, v2
  ASSERT_EQ(add.n_dst, 2);
  EXPECT_EQ(add.dst[1].reg, kRegVccLo);
  EXPECT_EQ(add.n_src, 2);
  Inst addc = Must({0x38000501});
  EXPECT_EQ(addc.op, Opcode::V_ADDC_CO_U32);
  EXPECT_EQ(addc.src[2].reg, kRegVccLo);
}

TEST(CdnaDecode, OneFunctionIsOneOpcodeUnderEverySpelling) {
  Inst gfx90a = Must({0xd3c08000, 0x04020501}, Isa::kCdna2);
  Inst gfx942 = Must({0xd3c08000, 0x04020501}, Isa::kCdna3);
  EXPECT_EQ(gfx90a.op, gfx942.op);
  EXPECT_EQ(Mnemonic(gfx90a), "v_mfma_f32_32x32x1f32");
  EXPECT_EQ(Mnemonic(gfx942), "v_mfma_f32_32x32x1_2b_f32");
  // gfx90a's _1k forms are gfx942's bf16 matrices under another number.
  EXPECT_EQ(Must({0xd3e30000, 0x04120904}, Isa::kCdna2).op, Must({0xd3dd0000, 0x04120904}, Isa::kCdna3).op);
}

TEST(CdnaDecode, GenerationsKeepTheirOpcodes) {
  EXPECT_NE(Refusal({0xd1c10000, 0x04120501}).find("no such opcode"), std::string::npos);  // v_mad_f32
  EXPECT_EQ(Must({0xd1c10000, 0x04120501}, Isa::kCdna2).op, Opcode::V_MAD_F32);
  EXPECT_EQ(Must({0xd3be0000, 0x04120904}).op, Opcode::V_MFMA_F32_16X16X8_XF32);
  Refusal({0xd3be0000, 0x04120904}, Isa::kCdna4);
  EXPECT_EQ(Must({0x2e000501, 0x3f800000}, Isa::kCdna2).op, Opcode::V_MADMK_F32);
  EXPECT_EQ(Must({0x2e000501, 0x3f800000}).op, Opcode::V_FMAMK_F32);
}

TEST(CdnaDecode, TuplesOfVectorRegistersAreEven) {
  EXPECT_NE(Refusal({0xd2800001, 0x00020902}).find("must be even"), std::string::npos);  // v_add_f64 v[1:2]
  EXPECT_NE(Refusal({0xd2800000, 0x00020903}).find("must be even"), std::string::npos);
}

TEST(CdnaDecode, LoadsMayFillAgprsAndLds) {
  Inst ds = Must({0xda6c0000, 0x05000001});  // ds_read_b32 a5, v1
  EXPECT_EQ(ds.dst[0].kind, Operand::Kind::kAgpr);
  EXPECT_EQ(ds.src[0].kind, Operand::Kind::kVgpr);
  Inst lds = Must({0xe0510000, 0x80020400});  // buffer_load_dword off, s[8:11], 0 lds
  EXPECT_TRUE(lds.lds);
  EXPECT_EQ(lds.n_dst, 0);
}

TEST(CdnaDecode, ScaledMatrixIsOneInstructionOfSixteenBytes) {
  std::vector<uint32_t> words = {0xd3ac0000, 0x00020904, 0xd3ad0800, 0x04121108};
  for (int i = 0; i < 2; ++i) words[1] |= 0x100, words[3] |= 0x100;
  words[1] |= 1u << 17, words[3] |= 1u << 17 | 1u << 26;
  Inst i = Must(words, Isa::kCdna4);
  EXPECT_EQ(i.op, Opcode::V_MFMA_SCALE_F32_16X16X128_F8F6F4);
  EXPECT_EQ(i.size, 16);
  EXPECT_EQ(i.src[0].dwords, 8);
  EXPECT_EQ(i.src[3].reg, 4);
  EXPECT_EQ(i.n_src, 5);
}

TEST(CdnaDecode, ErrorsNameTheBytesAndTheReason) {
  EXPECT_EQ(Refusal({0xd1c10000, 0x04120501}),
            "INVALID_ARGUMENT: cdna3 VOP3 opcode 449, words d1c10000 04120501: no such opcode");
  EXPECT_EQ(
      Refusal({0xd1c10000}, Isa::kCdna2),
      "OUT_OF_RANGE: cdna2 VOP3 opcode 449 (V_MAD_F32), words d1c10000: the instruction needs 8 bytes, 4 are "
      "there");
}

// The bytes end at a page that may not be read.
TEST(CdnaDecode, NeverReadsPastItsInput) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<uint8_t*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  std::mt19937_64 rng(7);
  int decoded = 0, short_of = 0;
  for (Isa isa : {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    for (const decode::Row& row : decode::TableOf(isa).rows()) {
      for (int i = 0; i < 24; ++i) {
        Words words;
        DrawCdnaWords(row, rng, words);
        size_t n = i % 17;
        uint8_t* at = pages + page - n;
        std::memcpy(at, words, n);
        Inst inst;
        absl::Status status = DecodeInto(isa, at, n, &inst);
        decoded += status.ok();
        if (status.ok()) {
          EXPECT_LE(inst.size, n);
        }
        short_of += absl::IsOutOfRange(status);
      }
    }
  }
  EXPECT_GT(decoded, 5000);
  EXPECT_GT(short_of, 5000);
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace understudy::emu::amd
