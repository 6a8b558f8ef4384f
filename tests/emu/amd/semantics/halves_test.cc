// SPDX-License-Identifier: Apache-2.0
// Halves of vector registers: for every vector instruction of the ISA table with a 16-bit operand, in every
// encoding, each source and the destination in either half, LLVM MC assembling. A half is right if the result
// is the one that the same instruction gives on registers whose low halves hold the chosen halves, and if the
// destination's other half stays.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Draws;
using testing::Machine;

struct TableOperand {
  const char* field;
  const char* type;
  int bits;
};
struct TableRow {
  const char* encoding;
  const char* opcode;
  std::vector<TableOperand> operands;
};

const std::vector<TableRow>& Table() {
  static const std::vector<TableRow>* const rows = [] {
    auto* out = new std::vector<TableRow>;
#define AMD_TEXT(field, type, bits, kind) {#field, #type, bits}
#define AMD_OPERAND(tuple) AMD_TEXT tuple
#define AMD_NONE (NONE, NONE, 0, NONE)
#define AMD_INSN(encoding, number, opcode, suffix, layouts, a, b, c, d, e, f) \
  out->push_back(                                                             \
      {#encoding,                                                             \
       #opcode,                                                               \
       {AMD_OPERAND(a), AMD_OPERAND(b), AMD_OPERAND(c), AMD_OPERAND(d), AMD_OPERAND(e), AMD_OPERAND(f)}});
#include "emu/amd/isa/rdna3.inc"
#undef AMD_INSN
#undef AMD_NONE
#undef AMD_OPERAND
#undef AMD_TEXT
    return out;
  }();
  return *rows;
}

bool Is(const char* a, const std::string& b) { return a == b; }
bool HasPrefix(const std::string& s, const std::string& p) { return s.rfind(p, 0) == 0; }

// A form of an instruction to assemble: sources in their textual order.
struct Form {
  std::string name;  // v_add_f16
  bool e64 = false, compare = false, writes_exec = false;
  bool literal_middle = false, literal_last = false;
  TableOperand dst = {"", "", 0};
  std::vector<TableOperand> src;
};

std::string Lower(std::string s) {
  for (char& c : s) c = static_cast<char>(std::tolower(c));
  return s;
}

std::vector<Form> Forms() {
  std::vector<Form> out;
  for (const TableRow& row : Table()) {
    const bool e64 = Is(row.encoding, "VOP3");
    if (!e64 && !Is(row.encoding, "VOP1") && !Is(row.encoding, "VOP2") && !Is(row.encoding, "VOPC")) continue;
    const std::string opcode = row.opcode;
    if (opcode == "V_SWAP_B16") continue;  // has two destinations: a test of its own below
    Form form;
    form.e64 = e64;
    form.name = Lower(opcode);
    form.compare = HasPrefix(opcode, "V_CMP");
    form.writes_exec = HasPrefix(opcode, "V_CMPX_");
    form.literal_middle = HasPrefix(opcode, "V_FMAMK_");
    form.literal_last = HasPrefix(opcode, "V_FMAAK_");
    bool half = false;
    for (const TableOperand& o : row.operands) {
      if (o.bits == 0) continue;
      if (Is(o.field, "VDST")) {
        form.dst = o;
      } else {
        form.src.push_back(o);
      }
      half |= o.bits == 16;
    }
    if (half) out.push_back(form);
  }
  return out;
}

constexpr int kDst = 9, kFirstSource = 1, kMask = 6, kScalar = 4, kCompare = 10;
constexpr uint32_t kLiteral = 0x3555;

// What a variant adds to the plain text.
struct Variant {
  unsigned halves = 0;  // bit i: source i in the high half
  bool dst_high = false;
  std::string source0;      // in place of the register
  std::string suffix = "";  // of the mnemonic: "", "_dpp"
  std::string tail;         // DPP controls
  unsigned neg = 0, abs = 0;
};

std::string Text(const Form& form, const Variant& v) {
  std::string text = form.name +
                     (form.e64                                                         ? "_e64"
                      : v.suffix.empty() && !form.literal_middle && !form.literal_last ? "_e32"
                                                                                       : "") +
                     v.suffix + " ";
  const auto vgpr = [](int reg, const TableOperand& o, bool high) {
    return "v" + std::to_string(reg) + (o.bits == 16 ? high ? ".h" : ".l" : "");
  };
  std::vector<std::string> operands;
  if (!form.compare) operands.push_back(vgpr(kDst, form.dst, v.dst_high));
  if (form.compare && !form.writes_exec)
    operands.push_back(form.e64 ? "s" + std::to_string(kCompare) : "vcc_lo");
  for (size_t i = 0; i < form.src.size(); ++i) {
    const TableOperand& o = form.src[i];
    std::string s = Is(o.type, "M64") ? "s" + std::to_string(kMask)
                                      : vgpr(kFirstSource + static_cast<int>(i), o, v.halves >> i & 1);
    if (i == 0 && !v.source0.empty()) s = v.source0;
    if (v.abs >> i & 1) s = "|" + s + "|";
    if (v.neg >> i & 1) s = "-" + s;
    if (i == 1 && form.literal_middle) operands.push_back(std::to_string(kLiteral));
    operands.push_back(s);
  }
  if (form.literal_last) operands.push_back(std::to_string(kLiteral));
  for (size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ", ") + operands[i];
  return text + v.tail;
}

// Encodings of `lines`, one instruction a line; empty after a failure.
std::vector<Inst> AssembleLines(const std::vector<std::string>& lines) {
  std::string source;
  for (const std::string& line : lines) source += line + "\n";
  const auto bytes = Assemble("gfx1100", source, "+wavefrontsize32,+real-true16");
  EXPECT_TRUE(bytes.ok()) << bytes.status() << "\n" << source;
  std::vector<Inst> out;
  if (!bytes.ok()) return out;
  for (size_t at = 0; at < bytes->size();) {
    const auto inst = Decode(Isa::kRdna3, bytes->data() + at, bytes->size() - at);
    EXPECT_TRUE(inst.ok()) << inst.status() << "\n" << lines[out.size()];
    if (!inst.ok()) return {};
    out.push_back(*inst);
    at += inst->size;
  }
  EXPECT_EQ(out.size(), lines.size());
  if (out.size() != lines.size()) out.clear();
  return out;
}

constexpr int kLanes = 32, kMaxSources = 3;
struct Values {
  uint32_t src[kMaxSources][kLanes], dst[kLanes];
  uint32_t mask, exec;
};

Values RandomValues(Draws* draws) {
  Values v;
  for (auto& s : v.src) {
    for (uint32_t& lane : s) lane = draws->Word();
  }
  for (uint32_t& lane : v.dst) lane = draws->Word();
  v.mask = static_cast<uint32_t>(draws->Bits());
  v.exec = draws->Below(2) ? ~0u : static_cast<uint32_t>(draws->Bits());
  return v;
}

struct Result {
  uint32_t dst[kLanes];
  uint32_t mask = 0;
};

Result RunOn(const Inst& inst, const Form& form, const Values& v) {
  Machine m;
  for (int i = 0; i < kMaxSources; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) m.Reg(kFirstSource + i, lane) = v.src[i][lane];
  }
  for (int lane = 0; lane < kLanes; ++lane) m.Reg(kDst, lane) = v.dst[lane];
  m.wave.sgpr[kMask] = v.mask;
  m.wave.sgpr[kScalar] = 0xdead3c01;
  m.wave.set_exec(v.exec);
  EXPECT_EQ(m.Execute(inst), "");
  Result r;
  for (int lane = 0; lane < kLanes; ++lane) r.dst[lane] = m.Reg(kDst, lane);
  if (form.compare)
    r.mask = static_cast<uint32_t>(form.writes_exec ? m.wave.exec()
                                   : form.e64       ? m.wave.sgpr[kCompare]
                                                    : m.wave.vcc());
  return r;
}

// The variant's own registers on one side; on the other the plain form on low halves that hold what the
// variant chooses, with other bits above them. `source0(value, lane)` is what the variant makes of source 0.
void Check(const Form& form, const Variant& v, const std::string& text, const Inst& plain, const Inst& inst,
           Draws* draws, const std::function<uint32_t(const Values&, int)>& source0 = nullptr) {
  Values values = RandomValues(draws);
  if (v.suffix == "_dpp") values.exec = ~0u;
  Values low = values;
  for (size_t i = 0; i < form.src.size() && i < kMaxSources; ++i) {
    if (form.src[i].bits != 16) {
      if (i == 0 && source0 != nullptr) {
        for (int lane = 0; lane < kLanes; ++lane) low.src[0][lane] = source0(values, lane);
      }
      continue;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto chosen = [&](uint32_t word) { return v.halves >> i & 1 ? word >> 16 : word & 0xffffu; };
      uint32_t half =
          i == 0 && source0 != nullptr ? chosen(source0(values, lane)) : chosen(values.src[i][lane]);
      if (v.abs >> i & 1) half &= 0x7fffu;
      if (v.neg >> i & 1) half ^= 0x8000u;
      low.src[i][lane] = half | static_cast<uint32_t>(draws->Bits()) << 16;
    }
  }
  const bool half_result = form.dst.bits == 16;
  for (int lane = 0; lane < kLanes && half_result; ++lane)
    low.dst[lane] = v.dst_high ? values.dst[lane] >> 16 : values.dst[lane] & 0xffffu;
  const Result expected = RunOn(plain, form, low), got = RunOn(inst, form, values);
  ASSERT_EQ(got.mask, expected.mask) << text;
  for (int lane = 0; lane < kLanes && !form.compare; ++lane) {
    uint32_t want = expected.dst[lane];
    if (half_result) {
      ASSERT_EQ(want >> 16, low.dst[lane] >> 16) << Text(form, {}) << ": the high half";
      want = v.dst_high ? (values.dst[lane] & 0xffffu) | want << 16
                        : (values.dst[lane] & 0xffff0000u) | (want & 0xffffu);
    }
    ASSERT_EQ(got.dst[lane], want) << text << " lane " << lane << " old " << std::hex << values.dst[lane];
  }
}

void CheckVariants(const Form& form, const std::vector<Variant>& variants, Draws* draws,
                   const std::function<uint32_t(const Values&, int)>& source0 = nullptr) {
  std::vector<std::string> lines = {Text(form, {})};
  for (const Variant& v : variants) lines.push_back(Text(form, v));
  const std::vector<Inst> insts = AssembleLines(lines);
  ASSERT_FALSE(insts.empty());
  for (size_t i = 0; i < variants.size(); ++i) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      Check(form, variants[i], lines[i + 1], insts[0], insts[i + 1], draws, source0);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Every choice of halves for the sources from `first` on and the destination, on top of `base`.
std::vector<Variant> Halves(const Form& form, size_t first = 0, const Variant& base = {}) {
  std::vector<Variant> out;
  const unsigned n = static_cast<unsigned>(form.src.size());
  for (unsigned choice = 0; choice < 2u << n; ++choice) {
    Variant v = base;
    v.halves = choice & ((1u << n) - 1);
    v.dst_high = choice >> n & 1;
    bool fits = !v.dst_high || form.dst.bits == 16;
    for (unsigned i = 0; i < n; ++i) fits &= !(v.halves >> i & 1) || (i >= first && form.src[i].bits == 16);
    if (fits) out.push_back(v);
  }
  return out;
}

bool TakesSign(const Form& form, size_t i) {
  return Is(form.src[i].type, "F16") && !(i == 1 && form.name.find("_class_") != std::string::npos);
}

TEST(Halves, EveryInstructionReadsAndWritesTheHalvesItNames) {
  Draws draws(16);
  int instructions = 0;
  for (const Form& form : Forms()) {
    CheckVariants(form, Halves(form), &draws);
    if (HasFatalFailure()) return;
    ++instructions;
  }
  EXPECT_GT(instructions, 200);
}

TEST(Halves, NegationAndMagnitudeActOnTheChosenHalf) {
  Draws draws(17);
  for (const Form& form : Forms()) {
    if (!form.e64) continue;
    for (size_t i = 0; i < form.src.size(); ++i) {
      if (!TakesSign(form, i)) continue;
      std::vector<Variant> variants;
      for (Variant v : Halves(form)) {
        v.neg = 1u << i;
        variants.push_back(v);
        v.abs = 1u << i;
        variants.push_back(v);
      }
      CheckVariants(form, variants, &draws);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Halves, ScalarsAndConstantsHaveTheirValueInTheLowHalf) {
  struct Constant {
    const char* text;
    uint32_t bits;
  };
  Draws draws(18);
  for (const Form& form : Forms()) {
    if (form.src[0].bits != 16) continue;
    for (const Constant& c :
         {Constant{"s4", 0x3c01}, {"7", 7}, {"-3", 0xfffd}, {"1.0", 0x3c00}, {"0x3555", 0x3555}}) {
      Variant base;
      base.source0 = c.text;
      CheckVariants(form, Halves(form, 1, base), &draws, [&](const Values&, int) { return c.bits; });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Halves, DppPermutesTheChosenHalf) {
  Draws draws(19);
  for (const Form& form : Forms()) {
    if (form.literal_middle || form.literal_last || form.writes_exec) continue;
    for (const bool dpp8 : {false, true}) {
      Variant base;
      base.suffix = "_dpp";
      base.tail = dpp8 ? " dpp8:[7,6,5,4,3,2,1,0]" : " quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf";
      CheckVariants(form, Halves(form, 0, base), &draws,
                    [&](const Values& v, int lane) { return v.src[0][lane ^ (dpp8 ? 7 : 3)]; });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Halves, SwapExchangesTwoHalvesAndNothingElse) {
  const std::vector<Inst> insts =
      AssembleLines({"v_swap_b16 v1.l, v2.l", "v_swap_b16 v1.l, v2.h", "v_swap_b16 v1.h, v2.l",
                     "v_swap_b16 v1.h, v2.h", "v_swap_b16 v1.l, v1.h"});
  ASSERT_EQ(insts.size(), 5u);
  const uint32_t expected[5][2] = {{0x11114444, 0x33332222},
                                   {0x11113333, 0x22224444},
                                   {0x44442222, 0x33331111},
                                   {0x33332222, 0x11114444},
                                   {0x22221111, 0x33334444}};
  for (int i = 0; i < 5; ++i) {
    Machine m;
    m.Broadcast(1, 0x11112222);
    m.Broadcast(2, 0x33334444);
    ASSERT_EQ(m.Execute(insts[i]), "");
    EXPECT_EQ(m.Reg(1, 3), expected[i][0]) << i;
    EXPECT_EQ(m.Reg(2, 3), expected[i][1]) << i;
  }
}

// A shift amount is 16 bits of a register too.
TEST(Halves, AlignTakesItsAmountFromTheNamedHalf) {
  const std::vector<Inst> insts =
      AssembleLines({"v_alignbit_b32 v9, v1, v2, v3.l", "v_alignbit_b32 v9, v1, v2, v3.h",
                     "v_alignbyte_b32 v9, v1, v2, v3.l", "v_alignbyte_b32 v9, v1, v2, v3.h"});
  ASSERT_EQ(insts.size(), 4u);
  const uint32_t expected[4] = {0xd0011223, 0x00112233, 0x00112233, 0x11223344};
  for (int i = 0; i < 4; ++i) {
    Machine m;
    m.Broadcast(1, 0xffeedd00);
    m.Broadcast(2, 0x11223344);
    m.Broadcast(3, i < 2 ? 0x0008000cu : 0x00000001u);
    ASSERT_EQ(m.Execute(insts[i]), "");
    EXPECT_EQ(m.Reg(9, 0), expected[i]) << i;
  }
}

}  // namespace
}  // namespace understudy::emu::amd
