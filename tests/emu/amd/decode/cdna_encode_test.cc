// SPDX-License-Identifier: Apache-2.0
// The encoder of CDNA against LLVM MC's assembler: random instructions are written as text, assembled by MC,
// and must come out of our encoder with MC's bytes, from the random bytes as well as from MC's.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "emu/amd/decode/encode.h"
#include "emu/amd/decode/inst.h"
#include "emu/amd/decode/rows.h"
#include "emu/amd/disasm/disasm.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/decode/cdna_words.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kSeed = 4711;
constexpr int kDraws = 60, kKept = 10;  // tries and valid instructions an opcode
constexpr int kSlot = 32;               // bytes between two lines in the assembled section
constexpr int kMaxReports = 20;

struct Sample {
  Inst inst;
  std::string text;
};

std::vector<Sample> DrawSamples(Isa isa) {
  std::mt19937_64 rng(kSeed);
  std::vector<Sample> samples;
  for (const decode::Row& row : decode::TableOf(isa).rows()) {
    if (row.op == Opcode::S_SET_VALU_COEXEC_MODE) continue;  // MC does not know it
    for (int i = 0, kept = 0; i < kDraws && kept < kKept; ++i) {
      Words words;
      DrawCdnaWords(row, rng, words);
      Inst inst;
      const auto* bytes = reinterpret_cast<const uint8_t*>(words);
      if (!DecodeInto(isa, bytes, sizeof(words), &inst).ok() || inst.op != row.op) continue;
      samples.push_back({inst, Text(inst)});
      ++kept;
    }
  }
  return samples;
}

std::string SourceOf(const std::vector<Sample>& samples) {
  std::string source;
  for (const Sample& sample : samples) absl::StrAppend(&source, sample.text, "\n.p2align 5\n");
  return source;
}

// Lines that MC's assembler refuses, such as two scalar registers on one bus: the disassembler does not mind.
// Each diagnostic is followed by the line that it is about.
std::set<std::string> RefusedLines(const std::string& diagnostics) {
  std::set<std::string> lines;
  for (size_t at = 0; (at = diagnostics.find(": error:", at)) != std::string::npos; ++at) {
    size_t begin = diagnostics.find('\n', at);
    if (begin == std::string::npos) break;
    size_t end = diagnostics.find('\n', begin + 1);
    lines.insert(diagnostics.substr(begin + 1, end - begin - 1));
  }
  return lines;
}

// Fields with bits that the text leaves out: what is assembled from it holds zeros there.
bool TextLosesBits(const Inst& inst) {
  switch (inst.op) {
    case Opcode::DS_SWIZZLE_B32:  // several offsets have one name
    case Opcode::S_WAITCNT:
    case Opcode::S_SENDMSG:
    case Opcode::S_SENDMSGHALT:
      return true;
    default:
      break;
  }
  // Literals of 16-bit operands.
  for (const Operand& o : inst.src) {
    if (o.kind == Operand::Kind::kLiteral && o.bits == 16 && inst.lit32 > 0xffff) return true;
  }
  return false;
}

// MC's assembler drops sc1 where a float atomic of gfx942 returns to AGPRs (its disassembler refuses most of
// them).
bool IsFloatAtomicToAgpr(const Inst& inst) {
  return inst.n_dst == 1 && inst.dst[0].kind == Operand::Kind::kAgpr &&
         std::strstr(OpcodeName(inst.op), "_ATOMIC_") != nullptr;
}

// The same text may stand for an e32 and an e64 encoding (v_nop), or for an inline constant and a literal
// (the f16 constants of integer operands).
bool SameForm(const Inst& a, const Inst& b) {
  if (a.enc != b.enc) return false;
  for (int i = 0; i < 6; ++i) {
    if (a.src[i].kind != b.src[i].kind) return false;
  }
  return true;
}

std::string Hex(const uint8_t* bytes, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) absl::StrAppendFormat(&out, "%02x", bytes[i]);
  return out;
}

TEST(CdnaEncode, BytesAreThoseOfTheAssembler) {
  for (Isa isa : {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    std::vector<Sample> samples = DrawSamples(isa);
    size_t drawn = samples.size();
    auto code = Assemble(IsaTarget(isa), SourceOf(samples), "+wavefrontsize64");
    if (!code.ok()) {
      std::set<std::string> refused = RefusedLines(std::string(code.status().message()));
      std::vector<Sample> kept;
      for (const Sample& sample : samples) {
        if (!refused.count(sample.text)) kept.push_back(sample);
      }
      samples = std::move(kept);
      code = Assemble(IsaTarget(isa), SourceOf(samples), "+wavefrontsize64");
    }
    ASSERT_TRUE(code.ok()) << std::string(code.status().message()).substr(0, 2000);
    EXPECT_GT(samples.size(), drawn * 3 / 4) << "of " << drawn;
    std::set<Opcode> opcodes;
    int reports = 0;
    for (size_t i = 0; i < samples.size() && reports < kMaxReports; ++i) {
      if (IsFloatAtomicToAgpr(samples[i].inst)) continue;
      const uint8_t* theirs = code->data() + i * kSlot;
      Inst again;
      absl::Status status = DecodeInto(isa, theirs, kSlot, &again);
      if (!status.ok()) {
        ADD_FAILURE() << samples[i].text << ": MC's bytes do not decode: " << status.message();
        ++reports;
        continue;
      }
      if (again.op != Opcode::DS_SWIZZLE_B32) {
        EXPECT_EQ(Text(again), samples[i].text);
      }
      opcodes.insert(again.op);
      for (const Inst* inst : {const_cast<const Inst*>(&again), const_cast<const Inst*>(&samples[i].inst)}) {
        if (inst != &again && (TextLosesBits(*inst) || !SameForm(*inst, again))) continue;
        uint8_t ours[kMaxInstBytes];
        auto size = Encode(*inst, ours);
        bool same = size.ok() && *size == again.size && std::memcmp(ours, theirs, again.size) == 0;
        if (same) continue;
        ADD_FAILURE() << IsaTarget(isa) << " " << samples[i].text
                      << (inst == &again ? "" : " (from random bytes)") << "\n  ours "
                      << (size.ok() ? Hex(ours, *size) : std::string(size.status().message())) << "\n  MC   "
                      << Hex(theirs, again.size);
        ++reports;
      }
    }
    EXPECT_GT(opcodes.size(), decode::TableOf(isa).rows().size() / 2);
  }
}

TEST(CdnaEncode, DecodingWhatWasEncodedGivesTheInstruction) {
  for (Isa isa : {Isa::kCdna2, Isa::kCdna3, Isa::kCdna4}) {
    for (const Sample& sample : DrawSamples(isa)) {
      uint8_t bytes[kMaxInstBytes] = {};
      auto size = Encode(sample.inst, bytes);
      ASSERT_TRUE(size.ok()) << sample.text << ": " << size.status();
      Inst again;
      ASSERT_TRUE(DecodeInto(isa, bytes, sizeof(bytes), &again).ok())
          << sample.text << " " << Hex(bytes, *size);
      EXPECT_EQ(again.size, *size);
      EXPECT_EQ(Text(again), sample.text);
    }
  }
}

TEST(CdnaEncode, WhatDoesNotFitIsRefused) {
  const uint32_t words[] = {0x7e000301, 0};  // v_mov_b32_e32 v0, v1
  auto inst = Decode(Isa::kCdna3, reinterpret_cast<const uint8_t*>(words), 8);
  ASSERT_TRUE(inst.ok());
  uint8_t out[kMaxInstBytes];
  Inst wrong = *inst;
  wrong.isa = Isa::kCdna2;
  wrong.op = Opcode::V_MOV_B64;
  EXPECT_EQ(Encode(wrong, out).status().ToString(), "INVALID_ARGUMENT: cdna2 has no V_MOV_B64 as VOP1");
  wrong = *inst;
  wrong.dpp.kind = DppInfo::Kind::kDpp8;
  EXPECT_EQ(Encode(wrong, out).status().ToString(),
            "INVALID_ARGUMENT: cdna3 VOP1 V_MOV_B32: CDNA has no DPP8");
  wrong = *inst;
  wrong.src[0].kind = Operand::Kind::kInlineInt;
  wrong.src[0].imm = 65;
  EXPECT_EQ(Encode(wrong, out).status().ToString(),
            "INVALID_ARGUMENT: cdna3 VOP1 V_MOV_B32: no inline constant 65");
}

}  // namespace
}  // namespace understudy::emu::amd
