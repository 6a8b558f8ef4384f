// SPDX-License-Identifier: Apache-2.0
// Conversions of 8-, 6- and 4-bit floats against the formats as data (src/base/float_format, which computes
// in another way): every code widens, and every leading half of an f32 narrows, in the formats of each
// generation; and CDNA4's conversions with a block scale, whose sources, counts and layouts the test reads
// off the mnemonic.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "emu/amd/semantics/float_bits.h"
#include "src/base/float_format.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Draws;
using testing::Machine;
using testing::Make;
using testing::V;

constexpr uint32_t kMode = 0xf0, kOverflowMode = 0xf0 | 1u << 23;

struct Eight {
  Isa isa;
  bool bf8;
  const FloatFormat& format;
};
const Eight kEights[] = {
    {Isa::kRdna4, false, formats::kFp8E4M3},     {Isa::kRdna4, true, formats::kFp8E5M2},
    {Isa::kCdna4, false, formats::kFp8E4M3},     {Isa::kCdna4, true, formats::kFp8E5M2},
    {Isa::kCdna3, false, formats::kFp8E4M3Fnuz}, {Isa::kCdna3, true, formats::kFp8E5M2Fnuz},
};

Inst MakeFor(Isa isa, Opcode op, Encoding enc, std::initializer_list<Operand> dst,
             std::initializer_list<Operand> src) {
  Inst inst = Make(op, enc, dst, src);
  inst.isa = isa;
  return inst;
}

// The same number, or NaN for NaN: payloads are not stated.
void ExpectSame(uint32_t got, double wanted, const std::string& what) {
  const float value = FloatOf(got);
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(value)) << what;
  } else {
    EXPECT_EQ(got, BitsOf(static_cast<float>(wanted))) << what;
  }
}

TEST(SmallFloats, EveryCodeWidensFromEveryByte) {
  for (const Eight& e : kEights) {
    Machine m(64, e.isa);
    const Opcode op = e.bf8 ? Opcode::V_CVT_F32_BF8 : Opcode::V_CVT_F32_FP8;
    const Opcode pair = e.bf8 ? Opcode::V_CVT_PK_F32_BF8 : Opcode::V_CVT_PK_F32_FP8;
    for (uint32_t base = 0; base < 256; base += 64) {
      for (uint32_t lane = 0; lane < 64; ++lane) {
        const uint32_t code = base + lane;
        m.Reg(1, static_cast<int>(lane)) =
            code | (code ^ 0x55) << 8 | (code ^ 0xaa) << 16 | (code ^ 0xff) << 24;
      }
      const uint32_t flips[4] = {0, 0x55, 0xaa, 0xff};
      for (int byte = 0; byte < 4; ++byte) {
        Inst inst = MakeFor(e.isa, op, Encoding::VOP3, {V(9)}, {V(1)});
        if (IsCdna(e.isa)) {
          inst.enc = Encoding::VOP1;
          inst.sdwa.present = true;
          inst.sdwa.src_sel[0] = static_cast<uint8_t>(byte);
        } else {
          inst.op_sel = static_cast<uint8_t>((byte >> 1) | (byte & 1) << 1);  // RDNA4 reverses the two bits
        }
        ASSERT_EQ(m.Execute(inst), "");
        for (uint32_t lane = 0; lane < 64; ++lane) {
          const uint32_t code = (base + lane) ^ flips[byte];
          ExpectSame(
              m.Reg(9, static_cast<int>(lane)), DecodeFloat(e.format, code),
              std::string(e.format.name) + " " + std::to_string(code) + " byte " + std::to_string(byte));
        }
      }
      for (int half = 0; half < 2; ++half) {
        Inst inst = MakeFor(e.isa, pair, Encoding::VOP3, {V(10, 2)}, {V(1)});
        if (IsCdna(e.isa)) {
          inst.enc = Encoding::VOP1;
          inst.sdwa.present = true;
          inst.sdwa.src_sel[0] = static_cast<uint8_t>(4 + half);
        } else {
          inst.op_sel = static_cast<uint8_t>(half);
        }
        ASSERT_EQ(m.Execute(inst), "");
        for (uint32_t lane = 0; lane < 64; ++lane) {
          for (int i = 0; i < 2; ++i) {
            ExpectSame(m.Reg(10 + i, static_cast<int>(lane)),
                       DecodeFloat(e.format, (base + lane) ^ flips[2 * half + i]), e.format.name);
          }
        }
      }
    }
  }
}

// What narrowing gives: an infinite input stays infinite (NaN where there is none) also where MODE.FP16_OVFL
// saturates.
uint64_t Narrowed(const FloatFormat& format, double v, bool saturate) {
  return EncodeFloat(format, v, Rounding::kNearestEven,
                     saturate && !std::isinf(v) ? Overflow::kSaturate : Overflow::kInf);
}
void ExpectCode(const FloatFormat& format, uint32_t got, uint64_t wanted, const std::string& what) {
  if (format.IsNan(wanted)) {
    EXPECT_TRUE(format.IsNan(got)) << what;
  } else {
    EXPECT_EQ(got, wanted) << what;
  }
}

TEST(SmallFloats, EveryLeadingHalfNarrows) {
  constexpr uint32_t kTails[] = {0, 1, 0x8000, 0xffff};
  for (const Eight& e : kEights) {
    for (const uint32_t mode : {kMode, kOverflowMode, kMode | 0xfu}) {  // 0xf: roundings that do not apply
      Machine m(64, e.isa);
      m.wave.mode = mode;
      Inst inst = MakeFor(e.isa, e.bf8 ? Opcode::V_CVT_PK_BF8_F32 : Opcode::V_CVT_PK_FP8_F32, Encoding::VOP3,
                          {V(9)}, {V(1), V(2)});
      for (uint32_t base = 0; base < 0x10000; base += 64) {
        const uint32_t tail = kTails[(base >> 6) & 3], other = kTails[(base >> 7) & 3];
        for (uint32_t lane = 0; lane < 64; ++lane) {
          m.Reg(1, static_cast<int>(lane)) = (base + lane) << 16 | tail;
          m.Reg(2, static_cast<int>(lane)) = (base + lane) << 16 | other;
          m.Reg(9, static_cast<int>(lane)) = 0xbeefdead;
        }
        const bool high = (base & 64) != 0;
        inst.op_sel = high ? 8 : 0;
        ASSERT_EQ(m.Execute(inst), "");
        for (int lane = 0; lane < 64; ++lane) {
          const uint32_t word = m.Reg(9, lane), pair = high ? word >> 16 : word & 0xffff;
          EXPECT_EQ(high ? word & 0xffff : word >> 16, high ? 0xdeadu : 0xbeefu);
          for (int i = 0; i < 2; ++i) {
            const double v = FloatOf(m.Reg(1 + i, lane));
            ExpectCode(e.format, (pair >> (8 * i)) & 0xff, Narrowed(e.format, v, mode == kOverflowMode),
                       std::string(e.format.name) + " of " + std::to_string(v));
          }
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// |v| plus `random` (of 23 - man_bits bits) beneath the last place of the result, cut off; nothing past the
// largest.
bool RandomRounded(const FloatFormat& format, double v, uint32_t random, uint64_t* code) {
  if (std::isnan(v) || std::isinf(v)) return false;
  int exponent = v == 0 ? format.min_exp() : std::ilogb(v);
  if (exponent < format.min_exp()) exponent = format.min_exp();
  const double step = std::ldexp(1.0, exponent - format.man_bits - (23 - format.man_bits));
  const double sum = v == 0 ? 0 : std::fabs(v) + random * step;
  // One place past the largest value the result has overflowed, which other tests are about.
  const double max = DecodeFloat(format, format.max_bits());
  if (sum >= max + (max - DecodeFloat(format, format.max_bits() - 1))) return false;
  *code = EncodeFloat(format, std::copysign(sum, v), Rounding::kToZero);
  return true;
}

TEST(SmallFloats, StochasticRoundingAddsTheLeadingRandomBitsBeneathTheLastPlace) {
  Draws draws(3);
  int compared = 0;
  for (const Eight& e : kEights) {
    Machine m(64, e.isa);
    for (int round = 0; round < 400; ++round) {
      for (int lane = 0; lane < 64; ++lane) {
        m.Reg(1, lane) = (draws.Word() & 0x807fffffu) | (100 + draws.Below(50)) << 23;
        m.Reg(2, lane) = draws.Word();
        m.Reg(9, lane) = 0x11223344;
      }
      const int byte = round & 3;
      Inst inst = MakeFor(e.isa, e.bf8 ? Opcode::V_CVT_SR_BF8_F32 : Opcode::V_CVT_SR_FP8_F32, Encoding::VOP3,
                          {V(9)}, {V(1), V(2)});
      inst.op_sel = static_cast<uint8_t>(byte << 2);
      ASSERT_EQ(m.Execute(inst), "");
      for (int lane = 0; lane < 64; ++lane) {
        uint64_t wanted;
        if (!RandomRounded(e.format, FloatOf(m.Reg(1, lane)), m.Reg(2, lane) >> (9 + e.format.man_bits),
                           &wanted))
          continue;
        ++compared;
        const uint32_t mask = 0xffu << (8 * byte);
        EXPECT_EQ(m.Reg(9, lane) & ~mask, 0x11223344u & ~mask);
        ExpectCode(e.format, (m.Reg(9, lane) & mask) >> (8 * byte), wanted, e.format.name);
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(compared, 100000);
}

TEST(SmallFloats, HalvesAndBfloatsOfCdna4RoundToNearestWhateverModeSays) {
  Draws draws(4);
  Machine m(64, Isa::kCdna4);
  m.wave.mode = kMode | 0xf;
  for (int round = 0; round < 200; ++round) {
    for (int lane = 0; lane < 64; ++lane) {
      m.Reg(1, lane) = draws.Word();
      m.Reg(2, lane) = draws.Word();
    }
    for (const bool bf16 : {false, true}) {
      const FloatFormat& format = bf16 ? formats::kBf16 : formats::kF16;
      ASSERT_EQ(m.Execute(MakeFor(Isa::kCdna4, bf16 ? Opcode::V_CVT_PK_BF16_F32 : Opcode::V_CVT_PK_F16_F32,
                                  Encoding::VOP3, {V(9)}, {V(1), V(2)})),
                "");
      for (int lane = 0; lane < 64; ++lane) {
        for (int i = 0; i < 2; ++i) {
          ExpectCode(format, (m.Reg(9, lane) >> (16 * i)) & 0xffff,
                     EncodeFloat(format, FloatOf(m.Reg(1 + i, lane))), format.name);
        }
      }
      Inst random = MakeFor(Isa::kCdna4, bf16 ? Opcode::V_CVT_SR_BF16_F32 : Opcode::V_CVT_SR_F16_F32,
                            Encoding::VOP3, {V(9)}, {V(1), V(2)});
      ASSERT_EQ(m.Execute(random), "");
      for (int lane = 0; lane < 64; ++lane) {
        uint64_t wanted;
        if (!RandomRounded(format, FloatOf(m.Reg(1, lane)), m.Reg(2, lane) >> (9 + format.man_bits), &wanted))
          continue;
        ExpectCode(format, m.Reg(9, lane) & 0xffff, wanted, format.name);
      }
    }
  }
  for (uint32_t code = 0; code < 0x10000; code += 64) {
    for (uint32_t lane = 0; lane < 64; ++lane) m.Reg(1, static_cast<int>(lane)) = code + lane;
    ASSERT_EQ(m.Execute(MakeFor(Isa::kCdna4, Opcode::V_CVT_F32_BF16, Encoding::VOP1, {V(9)}, {V(1)})), "");
    for (uint32_t lane = 0; lane < 64; ++lane)
      EXPECT_EQ(m.Reg(9, static_cast<int>(lane)), (code + lane) << 16);
  }
}

// --- block scales ---

const FloatFormat& FormatOf(const std::string& name) {
  if (name == "F32") return formats::kF32;
  if (name == "F16") return formats::kF16;
  if (name == "BF16") return formats::kBf16;
  if (name == "FP8") return formats::kFp8E4M3;
  if (name == "BF8") return formats::kFp8E5M2;
  if (name == "FP6") return formats::kFp6E2M3;
  if (name == "BF6") return formats::kFp6E3M2;
  return formats::kFp4E2M1;
}
struct Scaled {
  Opcode op;
  const FloatFormat* from;
  const FloatFormat* to;
  int count;
  bool random, two_sources;
};
std::vector<Scaled> ScaledForms() {
  std::vector<Scaled> forms;
  for (int i = 0; i < static_cast<int>(Opcode::kCount); ++i) {
    std::string name = OpcodeName(static_cast<Opcode>(i));
    const std::string prefix = "V_CVT_SCALEF32_";
    if (name.rfind(prefix, 0) != 0) continue;
    name = name.substr(prefix.size());
    Scaled form{static_cast<Opcode>(i), nullptr, nullptr, 1, false, false};
    const auto take = [&](const std::string& word) {
      if (name.rfind(word, 0) != 0) return false;
      name = name.substr(word.size());
      return true;
    };
    form.random = take("SR_");
    form.two_sources = take("2XPK16_");
    form.count = form.two_sources || take("PK32_") ? 32 : take("PK_") ? 2 : 1;
    const size_t middle = name.find('_');
    form.to = &FormatOf(name.substr(0, middle));
    form.from = &FormatOf(name.substr(middle + 1));
    if (form.from == &formats::kF32 && form.count == 2 && !form.random) form.two_sources = true;
    forms.push_back(form);
  }
  return forms;
}
using BitString = std::vector<bool>;
uint64_t Take(const BitString& bits, int at, int n) {
  uint64_t v = 0;
  for (int i = n - 1; i >= 0; --i) v = v << 1 | (bits[static_cast<size_t>(at + i)] ? 1 : 0);
  return v;
}
BitString Registers(Machine& m, int first, int count, int lane) {
  BitString bits;
  for (int w = 0; w < count; ++w) {
    for (int i = 0; i < 32; ++i) bits.push_back(((m.Reg(first + w, lane) >> i) & 1) != 0);
  }
  return bits;
}

TEST(SmallFloats, ScaledConversionsFollowTheirNames) {
  const std::vector<Scaled> forms = ScaledForms();
  ASSERT_EQ(forms.size(), 49u);
  Draws draws(5);
  constexpr int kSource0 = 32, kSource1 = 64, kScale = 3, kDst = 100;
  for (const Scaled& form : forms) {
    const char* const name = OpcodeName(form.op);
    const bool narrows = form.to->bits() < 16;
    const int bits = form.from->bits(), per_source = form.two_sources ? form.count / 2 : form.count;
    const int source_words = (bits * per_source + 31) / 32;
    for (int round = 0; round < 24; ++round) {
      Machine m(64, Isa::kCdna4);
      const bool saturate = draws.Below(2) != 0;
      m.wave.mode = saturate ? kOverflowMode : kMode;
      for (int lane = 0; lane < 64; ++lane) {
        for (int w = 0; w < 32; ++w) {
          for (const int base : {kSource0, kSource1}) {
            uint32_t word = draws.Word();
            // f32 and halves near the scale, so that the conversions do something.
            if (bits == 32 && draws.Below(8) != 0)
              word = (word & 0x807fffffu) | (120 + draws.Below(16)) << 23;
            m.Reg(base + w, lane) = word;
          }
          m.Reg(kDst + w, lane) = 0x5a5aa5a5;
        }
        m.Reg(kScale, lane) =
            draws.Below(32) == 0 ? 0x7f800000u : (draws.Word() & 0x807fffffu) | (119 + draws.Below(16)) << 23;
      }
      Inst inst =
          form.random        ? Make(form.op, Encoding::VOP3, {V(kDst)}, {V(kSource0), V(kSource1), V(kScale)})
          : form.two_sources ? Make(form.op, Encoding::VOP3, {V(kDst)}, {V(kSource0), V(kSource1), V(kScale)})
                             : Make(form.op, Encoding::VOP3, {V(kDst)}, {V(kSource0), V(kScale)});
      inst.isa = Isa::kCdna4;
      const int total_in = bits * per_source, total_out = form.to->bits() * form.count;
      int in_at = 0, out_at = 0;
      if (bits < 16 && total_in <= 16) {
        const int part = static_cast<int>(draws.Below(total_in == 16 ? 2 : 4));
        inst.op_sel = static_cast<uint8_t>(part);
        in_at = part * (total_in == 16 ? 16 : 8);
      }
      if (total_out < 32) {
        const int part = static_cast<int>(draws.Below(total_out == 16 ? 2 : 4));
        inst.op_sel = static_cast<uint8_t>(inst.op_sel | (total_out == 16 ? part << 3 : part << 2));
        out_at = part * (total_out == 16 ? 16 : 8);
      }
      ASSERT_EQ(m.Execute(inst), "") << name;
      for (int lane = 0; lane < 64; ++lane) {
        const BitString source0 = Registers(m, kSource0, source_words, lane),
                        source1 = Registers(m, kSource1, source_words, lane),
                        result = Registers(m, kDst, 32, lane);
        uint32_t random = m.Reg(kSource1, lane);
        const int scale = static_cast<int>((m.Reg(kScale, lane) >> 23) & 0xff);
        for (int i = 0; i < form.count; ++i) {
          const BitString& source = form.two_sources && i % 2 == 1 ? source1 : source0;
          const int index = form.two_sources ? i / 2 : i;
          double v = DecodeFloat(*form.from, Take(source, in_at + index * bits, bits));
          v = scale == 255 ? std::nan("") : std::ldexp(v, narrows ? 127 - scale : scale - 127);
          const uint64_t got = Take(result, out_at + i * form.to->bits(), form.to->bits());
          const std::string what =
              std::string(name) + " value " + std::to_string(i) + " = " + std::to_string(v);
          uint64_t wanted;
          if (form.random) {
            if (RandomRounded(*form.to, v, random >> (9 + form.to->man_bits), &wanted)) {
              ExpectCode(*form.to, static_cast<uint32_t>(got), wanted, what);
            }
            random = random << 1 ^ (random >> 31) * 0xc5u;
          } else {
            wanted = narrows || form.to == &formats::kF16 ? Narrowed(*form.to, v, saturate)
                                                          : EncodeFloat(*form.to, v);
            ExpectCode(*form.to, static_cast<uint32_t>(got), wanted, what);
          }
        }
        // What is not written stays.
        for (int i = 0; i < 1024; ++i) {
          if (i >= out_at && i < out_at + total_out) continue;
          ASSERT_EQ(result[static_cast<size_t>(i)], ((0x5a5aa5a5u >> (i & 31)) & 1) != 0)
              << name << " bit " << i;
        }
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace understudy::emu::amd
