// SPDX-License-Identifier: Apache-2.0
// What Inst says about single instructions (values from the RDNA3 ISA manual), and that the decoder never
// reads past the bytes it was given.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "emu/amd/decode/inst.h"
#include "emu/amd/decode/rows.h"
#include "tests/emu/amd/decode/random_words.h"

namespace understudy::emu::amd {
namespace {

Inst Must(std::vector<uint32_t> words, Isa isa = Isa::kRdna3) {
  auto inst = Decode(isa, reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4);
  EXPECT_TRUE(inst.ok()) << inst.status();
  EXPECT_EQ(inst.ok() ? inst->size : 0, words.size() * 4);
  return inst.ok() ? *inst : Inst();
}

std::string Refusal(std::vector<uint32_t> words, Isa isa = Isa::kRdna3) {
  auto inst = Decode(isa, reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4);
  EXPECT_FALSE(inst.ok());
  return inst.ok() ? "" : std::string(inst.status().ToString());
}

TEST(Decode, FmacF16E64ReadsItsDestination) {
  Inst i = Must({0xd53600ff, 0x00020501});  // v_fmac_f16_e64 v255, v1, v2
  EXPECT_EQ(i.op, Opcode::V_FMAC_F16);
  EXPECT_EQ(i.enc, Encoding::VOP3);
  EXPECT_EQ(i.dst[0].reg, 255);
  EXPECT_EQ(i.src[0].reg, 1);
  EXPECT_EQ(i.src[1].reg, 2);
  ASSERT_EQ(i.n_src, 3);
  EXPECT_TRUE(i.src[2].implicit);
  EXPECT_EQ(i.src[2].reg, 255);
  EXPECT_EQ(i.src[2].type, DataType::F16);
}

TEST(Decode, CmpxE64WritesExec) {
  Inst i = Must({0xd4ca007e, 0x0001010c});  // v_cmpx_eq_u32_e64 v12, 0
  EXPECT_EQ(i.op, Opcode::V_CMPX_EQ_U32);
  EXPECT_TRUE(i.src[0].is_vgpr());
  EXPECT_EQ(i.src[0].reg, 12);
  EXPECT_EQ(i.src[1].kind, Operand::Kind::kInlineInt);
  EXPECT_EQ(i.src[1].imm, 0u);
  EXPECT_EQ(i.dst[0].reg, kRegExecLo);
  EXPECT_TRUE(i.dst[0].implicit);
}

TEST(Decode, CmpxE64WithDpp8IsTwelveBytes) {
  Inst i = Must({0xd4c20000, 0x000204e9, 0x05397701});  // v_cmpx_eq_i32_e64_dpp v1, v2 dpp8:[7,6,5,4,3,2,1,0]
  EXPECT_EQ(i.op, Opcode::V_CMPX_EQ_I32);
  EXPECT_EQ(i.size, 12);
  EXPECT_EQ(i.dpp.kind, DppInfo::Kind::kDpp8);
  for (int lane = 0; lane < 8; ++lane) EXPECT_EQ(i.dpp.lane_sel[lane], 7 - lane);
  EXPECT_EQ(i.src[0].reg, 1);
  EXPECT_EQ(i.src[1].reg, 2);
}

TEST(Decode, OperandNumbersAreThoseOfRdna3) {
  EXPECT_EQ(Must({0xbe800066}).src[0].reg, 102);                   // s_mov_b32 s0, s102
  EXPECT_EQ(Must({0xbee60085}).dst[0].reg, 102);                   // s_mov_b32 s102, 5
  EXPECT_EQ(Must({0xbefc0080}).dst[0].reg, kRegNull);              // s_mov_b32 null, 0
  EXPECT_EQ(Must({0xbefd0080}).dst[0].reg, kRegM0);                // s_mov_b32 m0, 0
  EXPECT_EQ(Must({0x8c0a04fd}).src[0].kind, Operand::Kind::kScc);  // s_or_b32 s10, src_scc, s4
}

TEST(Decode, LiteralEqualToASelectorNumberIsAValue) {
  for (uint32_t code : {0xe7u, 0xf2u, 0xffu, 0xe9u, 0xfau}) {
    Inst i = Must({0x7e0002ff, code});  // v_mov_b32 v0, literal
    EXPECT_EQ(i.src[0].kind, Operand::Kind::kLiteral);
    EXPECT_EQ(i.src[0].imm, code);
    EXPECT_EQ(i.dpp.kind, DppInfo::Kind::kNone);
  }
}

struct ConstantCase {
  const char* what;
  std::vector<uint32_t> words;
  Operand::Kind kind;
  uint64_t imm;
};

TEST(Decode, ConstantsWidenToTheOperand) {
  const ConstantCase kCases[] = {
      {"f32 1.0", {0x7e0002f2}, Operand::Kind::kInlineFloat, 0x3f800000},
      {"b64 1.0 is a double", {0xbe8001f2}, Operand::Kind::kInlineFloat, 0x3ff0000000000000},
      {"f64 1/(2*pi)", {0x7e0030f8}, Operand::Kind::kInlineFloat, 0x3fc45f306dc9c882},
      {"f32 1/(2*pi)", {0x100002f8}, Operand::Kind::kInlineFloat, 0x3e22f983},
      {"f16 1/(2*pi)", {0x640002f8}, Operand::Kind::kInlineFloat, 0x3118},
      {"f16 -4.0", {0x640002f7}, Operand::Kind::kInlineFloat, 0xc400},
      {"u16 1.0 is a half", {0xd7030000, 0x000202f2}, Operand::Kind::kInlineFloat, 0x3c00},
      {"packed u16 2.0 is a float", {0xcc0a4001, 0x180200f4}, Operand::Kind::kInlineFloat, 0x40000000},
      {"packed f16 2.0 is a half", {0xcc0f4001, 0x180200f4}, Operand::Kind::kInlineFloat, 0x4000},
      {"scalar i16 operand reads a float", {0xbe800ff2}, Operand::Kind::kInlineFloat, 0x3f800000},
      {"-16", {0xbe8000d0}, Operand::Kind::kInlineInt, static_cast<uint64_t>(-16)},
      {"64", {0xbe8000c0}, Operand::Kind::kInlineInt, 64},
      {"f64 literal is the high half", {0x7e0030ff, 0x3ff80000}, Operand::Kind::kLiteral, 0x3ff8000000000000},
      {"u64 literal is zero-extended", {0xbe8001ff, 0x80000000}, Operand::Kind::kLiteral, 0x80000000},
  };
  for (const ConstantCase& c : kCases) {
    Inst i = Must(c.words);
    EXPECT_EQ(i.src[0].kind, c.kind) << c.what;
    EXPECT_EQ(i.src[0].imm, c.imm) << c.what;
  }
  Inst i = Must({0x8b00ff80, 0x80000000});  // s_and_b32 s0, 0, literal
  EXPECT_EQ(i.src[1].imm, 0x80000000u);
  Inst ashr = Must({0x868002ff, 0xfffffff0});  // s_ashr_i64 s[0:1], literal, s2
  EXPECT_EQ(ashr.op, Opcode::S_ASHR_I64);
  EXPECT_EQ(ashr.src[0].imm, 0xfffffffffffffff0u);
}

TEST(Decode, HalvesOfRegistersArriveInOpSel) {
  Inst i = Must({0x65161581});
  EXPECT_EQ(i.op, Opcode::V_ADD_F16);  // v_add_f16_e32 v11.h, v1.h, v10.l
  EXPECT_EQ(i.dst[0].reg, 11);
  EXPECT_EQ(i.src[0].reg, 1);
  EXPECT_EQ(i.src[1].reg, 10);
  EXPECT_EQ(i.op_sel, 0b1001);
  EXPECT_EQ(Must({0xd5320805, 0x00020501}).op_sel, 0b0001);  // v_add_f16_e64 v5.l, v1.h, v2.l
  EXPECT_EQ(Must({0xd5030805, 0x00020501}).op_sel, 0);       // 32-bit operands have no halves
}

TEST(Decode, VopdHalvesAreTheInstructionsTheyName) {
  // v_dual_fmamk_f32 v2, v0, 0x40a00000, v1 :: v_dual_mov_b32 v3, v0
  Inst i =
      Must({0xc8000000 | 2u << 22 | 8u << 17 | 1u << 9 | 0x100, 2u << 24 | 1u << 17 | 0x100, 0x40a00000});
  EXPECT_EQ(i.op, Opcode::V_FMAMK_F32);
  EXPECT_EQ(i.op_y, Opcode::V_MOV_B32);
  Inst x = VopdHalf(i, 0), y = VopdHalf(i, 1);
  ASSERT_EQ(x.n_src, 3);
  EXPECT_EQ(x.src[1].imm, 0x40a00000u);
  EXPECT_EQ(x.src[2].reg, 1);
  EXPECT_EQ(x.dst[0].reg, 2);
  EXPECT_EQ(y.op, Opcode::V_MOV_B32);
  EXPECT_EQ(y.dst[0].reg, 3);
  EXPECT_EQ(y.n_src, 1);
}

TEST(Decode, ImplicitCarriesAreOperands) {
  Inst add = Must({0x40020483});  // v_add_co_ci_u32_e32 v1, vcc_lo, 3, v2, vcc_lo
  EXPECT_EQ(add.op, Opcode::V_ADD_CO_CI_U32);
  ASSERT_EQ(add.n_dst, 2);
  EXPECT_EQ(add.dst[1].reg, kRegVccLo);
  ASSERT_EQ(add.n_src, 3);
  EXPECT_EQ(add.src[2].reg, kRegVccLo);
  Inst cmp = Must({0x7c940501});  // v_cmp_eq_u32_e32 vcc_lo, v1, v2
  EXPECT_EQ(cmp.dst[0].reg, kRegVccLo);
  EXPECT_EQ(cmp.dst[0].type, DataType::M64);
}

TEST(Decode, MemoryOperandsSitWhereTheHeaderSays) {
  Inst load = Must({0xdc520100, 0x03020000});  // global_load_b32 v3, v0, s[2:3] offset:256
  EXPECT_EQ(load.op, Opcode::GLOBAL_LOAD_B32);
  EXPECT_EQ(load.offset, 256);
  EXPECT_EQ(load.src[0].dwords, 1);
  EXPECT_EQ(load.src[1].kind, Operand::Kind::kNone);
  EXPECT_EQ(load.src[2].reg, 2);
  EXPECT_EQ(load.src[2].dwords, 2);
  Inst store = Must({0xdc6a1fff, 0x007c0200});  // global_store_b32 v[0:1], v2, off offset:-1
  EXPECT_EQ(store.offset, -1);
  EXPECT_EQ(store.n_dst, 0);
  EXPECT_EQ(store.src[0].dwords, 2);
  EXPECT_EQ(store.src[1].reg, 2);
  EXPECT_EQ(store.src[2].kind, Operand::Kind::kNone);
  Inst ds = Must({0xdbfc0000, 0x0400000a});  // ds_load_b128 v[4:7], v10
  EXPECT_EQ(ds.dst[0].dwords, 4);
  Inst swap = Must({0xdcd24000, 0x047c0200});
  EXPECT_EQ(swap.op, Opcode::GLOBAL_ATOMIC_CMPSWAP_B32);
  EXPECT_EQ(swap.src[1].dwords, 2);
  EXPECT_EQ(swap.dst[0].dwords, 1);
  swap = Must({0xdcd20000, 0x047c0200});
  EXPECT_EQ(swap.n_dst, 0) << "no result without glc";
}

TEST(Decode, ScalarLoadOffsetsAreSigned) {
  Inst i = Must({0xf4000000 | 5u << 6 | 1, 0xf8000000 | 0x1ffff8});  // s_load_b32 s5, s[2:3], -8
  EXPECT_EQ(i.offset, -8);
  EXPECT_EQ(i.src[0].reg, 2);
  EXPECT_EQ(i.src[1].kind, Operand::Kind::kNone);
}

TEST(Decode, BranchOffsetsAreSigned) { EXPECT_EQ(Must({0xbfa0fff6}).simm, -10); }

TEST(Decode, RefusalsNameEncodingOpcodeAndField) {
  EXPECT_EQ(Refusal({0xbe804e00}), "INVALID_ARGUMENT: rdna3 SOP1 opcode 78, words be804e00: no such opcode");
  EXPECT_EQ(Refusal({0xbe800101}),
            "INVALID_ARGUMENT: rdna3 SOP1 opcode 1 (S_MOV_B64), words be800101: scalar register 1 "
            "starts a tuple of 2 and must be a multiple of 2");
  EXPECT_EQ(
      Refusal({0xbe8000fe}),
      "INVALID_ARGUMENT: rdna3 SOP1 opcode 0 (S_MOV_B32), words be8000fe: src0 = operand 254 is reserved");
  EXPECT_EQ(Refusal({0x7e0002ff}),
            "OUT_OF_RANGE: rdna3 VOP1 opcode 1 (V_MOV_B32), words 7e0002ff: the instruction needs 8 bytes, 4 "
            "are there");
  EXPECT_EQ(Refusal({0xd0000000}),
            "INVALID_ARGUMENT: rdna3, words d0000000: no encoding has bits 31:26 = 0x34");
  EXPECT_NE(Refusal({0xa0000000}).find("gfx1150"), std::string::npos);
}

// A page of bytes whose end is the end of readable memory.
class GuardedPage {
 public:
  GuardedPage() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = static_cast<uint8_t*>(
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + page_, page_, PROT_NONE);
  }
  ~GuardedPage() { munmap(base_, 2 * page_); }
  const uint8_t* Place(const void* bytes, size_t n) {
    std::memcpy(base_ + page_ - n, bytes, n);
    return base_ + page_ - n;
  }

 private:
  size_t page_;
  uint8_t* base_;
};

TEST(Decode, EveryTruncationIsRefusedWithoutReadingFurther) {
  GuardedPage page;
  std::mt19937_64 rng(7);
  int whole = 0;
  for (const decode::Row& row : decode::Rdna3Table().rows()) {
    for (int draw = 0; draw < 40; ++draw) {
      uint32_t words[4];
      DrawWords(Isa::kRdna3, row, rng, draw % 4 != 0, words);
      Inst inst;
      if (!DecodeInto(Isa::kRdna35, reinterpret_cast<uint8_t*>(words), 16, &inst).ok()) {
        for (size_t n = 0; n <= 16; ++n) {  // refused with all bytes: refused with fewer, and no fault
          EXPECT_FALSE(DecodeInto(Isa::kRdna35, page.Place(words, n), n, &inst).ok());
        }
        continue;
      }
      ++whole;
      size_t size = inst.size;
      for (size_t n = 0; n < size; ++n) {
        absl::Status status = DecodeInto(Isa::kRdna35, page.Place(words, n), n, &inst);
        EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange)
            << OpcodeName(row.op) << " of " << size << " bytes with " << n << ": " << status;
      }
      EXPECT_TRUE(DecodeInto(Isa::kRdna35, page.Place(words, size), size, &inst).ok());
    }
  }
  EXPECT_GT(whole, 20000);
}

}  // namespace
}  // namespace understudy::emu::amd
