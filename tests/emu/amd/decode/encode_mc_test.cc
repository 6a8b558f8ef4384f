// SPDX-License-Identifier: Apache-2.0
// The encoder against LLVM MC: what MC prints for some bytes it assembles to X; ours must make the same X
// from what we decoded. Encoding what was decoded from X changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "emu/amd/decode/encode.h"
#include "emu/amd/decode/rows.h"
#include "emu/amd/disasm/disasm.h"
#include "src/base/hex.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/decode/encode_exceptions.h"
#include "tests/emu/amd/decode/mc_comparison.h"
#include "tests/emu/amd/decode/random_words.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kSeed = 20240;
constexpr int kMaxReports = 20;

// The bytes of Encode, after the checks that need no MC.
std::vector<uint8_t> EncodeAndCheck(const Inst& inst) {
  uint8_t out[kMaxInstBytes];
  absl::StatusOr<int> n = Encode(inst, out);
  EXPECT_TRUE(n.ok()) << Text(inst) << ": " << n.status();
  if (!n.ok()) return {};
  Inst again;
  EXPECT_TRUE(DecodeInto(inst.isa, out, static_cast<size_t>(*n), &again).ok()) << Text(inst);
  // A list of one address register is written as that register.
  if (!inst.nsa || inst.n_nsa != 0) {
    EXPECT_EQ(Text(again), Text(inst));
  }
  uint8_t second[kMaxInstBytes];
  absl::StatusOr<int> m = Encode(again, second);
  EXPECT_TRUE(m.ok() && *m == *n && std::memcmp(out, second, static_cast<size_t>(*n)) == 0) << Text(inst);
  return {out, out + *n};
}

void EncodesAsMcAssembles(const McReference& reference, const std::vector<std::array<uint32_t, 4>>& all) {
  const int wave_size = reference.wave_size;
  McDisassembler mc(reference.cpu, wave_size, reference.name_halves ? "+real-true16" : "");
  std::vector<EncodeCase> cases;
  std::vector<std::string> lines;
  for (const std::array<uint32_t, 4>& words : all) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
    EncodeCase c;
    if (!DecodeInto(reference.isa, bytes, 16, &c.inst).ok()) continue;
    c.ours = EncodeAndCheck(c.inst);
    Inst fitted = c.inst;
    if (!ResolveWaveSize(wave_size, &fitted).ok()) continue;
    uint8_t out[kMaxInstBytes];
    absl::StatusOr<int> n = Encode(fitted, out);
    EXPECT_TRUE(n.ok() && std::vector<uint8_t>(out, out + *n) == c.ours) << Text(fitted) << n.status();
    McInst theirs = mc.Disassemble(bytes, 16);
    // Texts that differ are rows of the decoder's exception list.
    if (!theirs.accepted() || theirs.text != Text(fitted, {wave_size, reference.name_halves})) continue;
    c.text = theirs.text;
    lines.push_back(theirs.text);
    cases.push_back(std::move(c));
  }
  auto assembled = AssembleLines(reference.cpu, lines, reference.features());
  ASSERT_TRUE(assembled.ok()) << assembled.status();
  int equal = 0, refused = 0, reports = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const EncodeCase& c = cases[i];
    const std::vector<uint8_t>& theirs = (*assembled)[i];
    if (theirs.empty()) {
      ++refused;  // MC prints some instructions that it does not assemble
      continue;
    }
    if (theirs == c.ours) {
      ++equal;
      // What MC wrote is canonical: decoding and encoding it gives it back.
      Inst inst;
      ASSERT_TRUE(DecodeInto(reference.isa, theirs.data(), theirs.size(), &inst).ok()) << c.text;
      EXPECT_EQ(EncodeAndCheck(inst), theirs) << c.text;
      continue;
    }
    if (!IsEncodeException(c, theirs) && reports++ < kMaxReports) {
      ADD_FAILURE() << reference.cpu << ": " << c.text << "\n  ours "
                    << BytesToHex(c.ours.data(), c.ours.size()) << "\n  MC   "
                    << BytesToHex(theirs.data(), theirs.size());
    }
  }
  EXPECT_EQ(reports, 0) << reference.cpu;
  EXPECT_GE(3 * equal, 2 * static_cast<int>(cases.size())) << refused << " refused by MC's assembler";
}

void DrawsEncodeAsMcAssembles(McReference reference, int wave_size, int draws, uint64_t seed) {
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  reference.wave_size = wave_size;
  std::mt19937_64 rng(seed);
  std::vector<std::array<uint32_t, 4>> all;
  for (const decode::Row& row : decode::TableOf(reference.isa).rows()) {
    if (row.rdna35 && reference.isa == Isa::kRdna3) continue;
    for (int i = 0; i < draws; ++i) {
      DrawWords(reference.isa, row, rng, i % 4 != 0, all.emplace_back().data());
    }
  }
  EncodesAsMcAssembles(reference, all);
}

TEST(EncodeMc, Gfx1100) { DrawsEncodeAsMcAssembles(kGfx1100, 32, 12, kSeed); }
TEST(EncodeMc, Gfx1100Wave64) { DrawsEncodeAsMcAssembles(kGfx1100, 64, 4, kSeed + 1); }
TEST(EncodeMc, Gfx1150) { DrawsEncodeAsMcAssembles(kGfx1150, 32, 4, kSeed + 2); }
TEST(EncodeMc, Gfx1200) { DrawsEncodeAsMcAssembles(kGfx1200Halves, 32, 12, kSeed + 3); }
TEST(EncodeMc, Gfx1200Wave64) { DrawsEncodeAsMcAssembles(kGfx1200Halves, 64, 4, kSeed + 4); }
TEST(EncodeMc, Gfx1201WithoutNamedHalves) { DrawsEncodeAsMcAssembles(kGfx1201, 32, 4, kSeed + 5); }

// Words that random draws reach too seldom.
TEST(EncodeMc, RareForms) {
  EncodesAsMcAssembles(kGfx1100, {{0x7e1006ff, 0x40000000},    // v_cvt_i32_f64_e32 v8, 2.0, as a literal
                                  {0x7e1006ff, 0x3ff80000},    // v_cvt_i32_f64_e32 v8, 0x3ff80000
                                  {0x868810ff, 0xffffffff},    // s_ashr_i64 s[8:9], 0xffffffff, s16
                                  {0x781020ff, 0x3c003c00},    // v_pk_fmac_f16 v8, lit(0x3c003c00), v16
                                  {0xb988307d, 0x00000005},    // s_setreg_imm32_b32 hwreg(61, 1, 7), 5
                                  {0xb988307d, 0x3f000000}});  // s_setreg_imm32_b32 hwreg(61, 1, 7), 0.5
}

TEST(EncodeMc, ZEveryExceptionIsStillNeeded) { EXPECT_THAT(UnmetEncodeExceptions(), ::testing::IsEmpty()); }

// Text and bytes of the conformance list.
TEST(EncodeMc, ListedEncodings) {
  struct Listed {
    const char* text;
    std::vector<uint8_t> bytes;
  };
  const Listed kListed[] = {
      {"v_fmac_f16_e64 v255.l, v1.l, v2.l", {0xff, 0x00, 0x36, 0xd5, 0x01, 0x05, 0x02, 0x00}},
      {"v_cmpx_eq_u32_e64 v12, 0", {0x7e, 0x00, 0xca, 0xd4, 0x0c, 0x01, 0x01, 0x00}},
      {"s_or_b32 s10, src_scc, s4", {0xfd, 0x04, 0x0a, 0x8c}},
      {"v_mov_b32_e32 v0, 0xe7", {0xff, 0x02, 0x00, 0x7e, 0xe7, 0x00, 0x00, 0x00}},
  };
  for (const Listed& l : kListed) {
    auto inst = Decode(Isa::kRdna3, l.bytes.data(), l.bytes.size());
    ASSERT_TRUE(inst.ok()) << inst.status();
    EXPECT_EQ(Text(*inst), l.text);
    EXPECT_EQ(EncodeAndCheck(*inst), l.bytes);
    auto mc = Assemble("gfx1100", l.text);
    ASSERT_TRUE(mc.ok()) << mc.status();
    EXPECT_EQ(*mc, l.bytes);
  }
  // vdst 0 in v_cmpx e64 is read, and written as MC writes it: 126.
  const std::vector<uint8_t> dpp8 = {0x00, 0x00, 0xc2, 0xd4, 0xe9, 0x04, 0x02, 0x00, 0x01, 0x77, 0x39, 0x05};
  auto inst = Decode(Isa::kRdna3, dpp8.data(), dpp8.size());
  ASSERT_TRUE(inst.ok()) << inst.status();
  EXPECT_EQ(Text(*inst), "v_cmpx_eq_i32_e64_dpp v1, v2 dpp8:[7,6,5,4,3,2,1,0]");
  auto mc = Assemble("gfx1100", Text(*inst));
  ASSERT_TRUE(mc.ok()) << mc.status();
  EXPECT_EQ(EncodeAndCheck(*inst), *mc);
}

// An instruction that no bytes mean is refused with the reason, never bent.
TEST(Encode, RefusesWhatDoesNotFit) {
  const uint32_t kAdd[2] = {0x06000501, 0};  // v_add_f32_e32 v0, v1, v2
  auto add = Decode(Isa::kRdna3, reinterpret_cast<const uint8_t*>(kAdd), 8);
  ASSERT_TRUE(add.ok());
  uint8_t out[kMaxInstBytes];
  auto message = [&](const Inst& inst) { return std::string(Encode(inst, out).status().message()); };
  Inst scalar = *add;
  scalar.src[1] = Operand();
  scalar.src[1].kind = Operand::Kind::kSgpr;
  scalar.src[1].reg = 3;
  EXPECT_NE(message(scalar).find("src1 must be a VGPR"), std::string::npos) << message(scalar);
  Inst clamped = *add;
  clamped.clamp = true;
  EXPECT_NE(message(clamped).find("a modifier"), std::string::npos) << message(clamped);
  Inst wrong = *add;
  wrong.op = Opcode::V_FMA_F32;
  EXPECT_NE(message(wrong).find("has no V_FMA_F32 in VOP2"), std::string::npos) << message(wrong);
  const uint32_t kLoad[2] = {0xf4000141, 0xf8000000};  // s_load_b32 s5, s[2:3], null
  auto load = Decode(Isa::kRdna3, reinterpret_cast<const uint8_t*>(kLoad), 8);
  ASSERT_TRUE(load.ok());
  Inst far = *load;
  far.offset = 1 << 20;
  EXPECT_NE(message(far).find("offset = 1048576 is not a signed number of 21 bits"), std::string::npos);
}

}  // namespace
}  // namespace understudy::emu::amd
