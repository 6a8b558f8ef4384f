// SPDX-License-Identifier: Apache-2.0
// What RDNA4 adds to the vector ALU, on machine code that LLVM MC assembled for gfx1200: the minima and
// maxima of IEEE 754-2019 against a definition on decoded values, 8-bit floats by byte, permutations by
// vector selectors, scalar transcendentals, and a MODE register without IEEE and DX10_CLAMP.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "emu/amd/semantics/float_bits.h"
#include "src/base/float_format.h"
#include "tests/emu/amd/asm/assembler.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

using testing::Draws;
using testing::Machine;

class Gfx12 : public Machine {
 public:
  explicit Gfx12(int wave_size = 32) : Machine(wave_size, Isa::kRdna4), wave_size_(wave_size) {}
  void Do(const std::string& text) {
    const auto code = Assemble("gfx1200", text, wave_size_ == 64 ? "+wavefrontsize64" : "");
    ASSERT_TRUE(code.ok()) << text << ": " << code.status().ToString();
    ASSERT_EQ(Run(*code), "") << text;
  }

 private:
  int wave_size_;
};

// A float as its bits and what they mean.
struct Value {
  uint64_t bits;
  const FloatFormat* format;
  double v() const { return DecodeFloat(*format, bits); }
  bool nan() const { return format->IsNan(bits); }
  bool quiet() const { return ((bits >> (format->man_bits - 1)) & 1) != 0; }
  bool negative() const { return (bits & format->sign_mask()) != 0; }
  Value Quiet() const { return {bits | uint64_t{1} << (format->man_bits - 1), format}; }
};
bool Below(const Value& a, const Value& b) {
  return a.v() < b.v() || (a.v() == b.v() && a.negative() && !b.negative());
}
Value MinNum(Value a, Value b) {
  if (a.nan()) return b.nan() ? a.Quiet() : b;
  if (b.nan()) return a;
  return Below(a, b) ? a : b;
}
Value MaxNum(Value a, Value b) {
  if (a.nan()) return b.nan() ? a.Quiet() : b;
  if (b.nan()) return a;
  return Below(b, a) ? a : b;
}
Value PickNan(Value a, Value b) {
  if (a.nan() && !a.quiet()) return a.Quiet();
  if (b.nan() && !b.quiet()) return b.Quiet();
  return a.nan() ? a : b;
}
Value Minimum(Value a, Value b) { return a.nan() || b.nan() ? PickNan(a, b) : Below(a, b) ? a : b; }
Value Maximum(Value a, Value b) { return a.nan() || b.nan() ? PickNan(a, b) : Below(b, a) ? a : b; }
Value Med3Num(Value a, Value b, Value c) {
  if (a.nan() || b.nan() || c.nan()) return MinNum(MinNum(a, b), c);
  const Value high = MaxNum(MaxNum(a, b), c);
  if (high.v() == a.v()) return MaxNum(b, c);
  return high.v() == b.v() ? MaxNum(a, c) : MaxNum(a, b);
}

struct MinMaxCase {
  const char* name;
  int sources;
  Value (*oracle)(Value, Value, Value);
};
const MinMaxCase kMinMax[] = {
    {"min_num", 2, [](Value a, Value b, Value) { return MinNum(a, b); }},
    {"max_num", 2, [](Value a, Value b, Value) { return MaxNum(a, b); }},
    {"minimum", 2, [](Value a, Value b, Value) { return Minimum(a, b); }},
    {"maximum", 2, [](Value a, Value b, Value) { return Maximum(a, b); }},
    {"min3_num", 3, [](Value a, Value b, Value c) { return MinNum(MinNum(a, b), c); }},
    {"max3_num", 3, [](Value a, Value b, Value c) { return MaxNum(MaxNum(a, b), c); }},
    {"med3_num", 3, Med3Num},
    {"minmax_num", 3, [](Value a, Value b, Value c) { return MaxNum(MinNum(a, b), c); }},
    {"maxmin_num", 3, [](Value a, Value b, Value c) { return MinNum(MaxNum(a, b), c); }},
    {"minimum3", 3, [](Value a, Value b, Value c) { return Minimum(Minimum(a, b), c); }},
    {"maximum3", 3, [](Value a, Value b, Value c) { return Maximum(Maximum(a, b), c); }},
    {"minimummaximum", 3, [](Value a, Value b, Value c) { return Maximum(Minimum(a, b), c); }},
    {"maximumminimum", 3, [](Value a, Value b, Value c) { return Minimum(Maximum(a, b), c); }},
};

TEST(Rdna4, MinimaAndMaximaOfEveryPrecision) {
  struct Precision {
    const char* suffix;
    const FloatFormat& format;
    int words;
  };
  const Precision precisions[] = {
      {"f16", formats::kF16, 1}, {"f32", formats::kF32, 1}, {"f64", formats::kF64, 2}};
  Draws draws(1);
  for (const Precision& p : precisions) {
    for (const MinMaxCase& c : kMinMax) {
      if (p.words == 2 && c.sources == 3) continue;
      std::string text = std::string("v_") + c.name + "_" + p.suffix;
      const auto reg = [&](int r) {
        return p.words == 2 ? "v[" + std::to_string(r) + ":" + std::to_string(r + 1) + "]"
                            : "v" + std::to_string(r);
      };
      text += " " + reg(10) + ", " + reg(2) + ", " + reg(4) + (c.sources == 3 ? ", " + reg(6) : "");
      for (int round = 0; round < 40; ++round) {
        Gfx12 m;
        for (int lane = 0; lane < 32; ++lane) {
          for (int r = 2; r < 8; r += 2) {
            const uint64_t v = p.words == 2 ? draws.Long() : draws.Word();
            m.Reg(r, lane) = static_cast<uint32_t>(v);
            m.Reg(r + 1, lane) = static_cast<uint32_t>(v >> 32);
          }
          m.Reg(10, lane) = 0xabcd0000u;
        }
        m.Do(text);
        for (int lane = 0; lane < 32; ++lane) {
          const uint64_t mask = p.format.sign_mask() * 2 - 1;
          const auto value = [&](int r) { return Value{m.Reg64(r, lane) & mask, &p.format}; };
          ASSERT_EQ(m.Reg64(10, lane) & mask, c.oracle(value(2), value(4), value(6)).bits)
              << text << std::hex << " " << value(2).bits << " " << value(4).bits << " " << value(6).bits;
        }
      }
    }
  }
}

TEST(Rdna4, PackedMinimaAndMaxima) {
  Draws draws(2);
  for (int which = 0; which < 4; ++which) {
    const std::string text = std::string("v_pk_") + kMinMax[which].name + "_f16 v10, v2, v4";
    for (int round = 0; round < 40; ++round) {
      Gfx12 m;
      for (int lane = 0; lane < 32; ++lane) {
        m.Reg(2, lane) = draws.Word();
        m.Reg(4, lane) = draws.Word();
      }
      m.Do(text);
      for (int lane = 0; lane < 32; ++lane) {
        for (int shift = 0; shift < 32; shift += 16) {
          const auto value = [&](int r) { return Value{(m.Reg(r, lane) >> shift) & 0xffff, &formats::kF16}; };
          ASSERT_EQ((m.Reg(10, lane) >> shift) & 0xffff,
                    kMinMax[which].oracle(value(2), value(4), value(2)).bits)
              << text;
        }
      }
    }
  }
}

TEST(Rdna4, ByteSelectOfEightBitFloatsNamesTheByte) {
  for (int byte = 0; byte < 4; ++byte) {
    Gfx12 m;
    m.Broadcast(1, 0x40383028);
    const std::string select = byte == 0 ? "" : " byte_sel:" + std::to_string(byte);
    m.Do("v_cvt_f32_fp8_e64 v9, v1" + select);
    m.Do("v_cvt_f32_bf8_e64 v10, v1" + select);
    const uint32_t code = (0x40383028u >> (8 * byte)) & 0xff;
    EXPECT_EQ(FloatOf(m.Reg(9, 5)), DecodeFloat(formats::kFp8E4M3, code));
    EXPECT_EQ(FloatOf(m.Reg(10, 5)), DecodeFloat(formats::kFp8E5M2, code));
    m.Broadcast(2, BitsOf(1.5f));
    m.Broadcast(3, 0);
    m.Broadcast(11, 0x11223344);
    m.Do("v_cvt_sr_fp8_f32 v11, v2, v3" + select);
    const uint32_t mask = 0xffu << (8 * byte);
    EXPECT_EQ(m.Reg(11, 0), (0x11223344u & ~mask) | 0x3cu << (8 * byte));
  }
}

TEST(Rdna4, DotProductsOfEightBitFloats) {
  const struct {
    const char* text;
    const FloatFormat &a, &b;
  } cases[] = {{"v_dot4_f32_fp8_fp8", formats::kFp8E4M3, formats::kFp8E4M3},
               {"v_dot4_f32_fp8_bf8", formats::kFp8E4M3, formats::kFp8E5M2},
               {"v_dot4_f32_bf8_fp8", formats::kFp8E5M2, formats::kFp8E4M3},
               {"v_dot4_f32_bf8_bf8", formats::kFp8E5M2, formats::kFp8E5M2}};
  Draws draws(9);
  for (const auto& c : cases) {
    for (int round = 0; round < 20; ++round) {
      Gfx12 m;
      for (int lane = 0; lane < 32; ++lane) {
        // Exponents in the middle: every sum of four products is exact in f32, whatever the order.
        for (const int r : {1, 2}) m.Reg(r, lane) = (draws.Word() & 0x87878787u) | 0x38383838u;
        m.Reg(3, lane) = BitsOf(static_cast<float>(draws.Below(1000)));
      }
      m.Do(std::string(c.text) + " v9, v1, v2, v3");
      for (int lane = 0; lane < 32; ++lane) {
        double sum = FloatOf(m.Reg(3, lane));
        for (int i = 0; i < 32; i += 8)
          sum +=
              DecodeFloat(c.a, (m.Reg(1, lane) >> i) & 0xff) * DecodeFloat(c.b, (m.Reg(2, lane) >> i) & 0xff);
        ASSERT_EQ(FloatOf(m.Reg(9, lane)), static_cast<float>(sum)) << c.text;
      }
    }
  }
}

TEST(Rdna4, PermutationsByVectorSelectors) {
  for (const int wave_size : {32, 64}) {
    for (const bool across : {false, true}) {
      Gfx12 m(wave_size);
      Draws draws(static_cast<uint64_t>(wave_size));
      for (int lane = 0; lane < wave_size; ++lane) {
        m.Reg(1, lane) = 100 + static_cast<uint32_t>(lane);
        m.Reg(2, lane) = draws.Word();
        m.Reg(9, lane) = 7;
      }
      m.wave.set_exec(m.wave.lane_mask & 0xf0f0f0f00ff0f0f1u);
      const std::string base =
          std::string(across ? "v_permlanex16_var_b32" : "v_permlane16_var_b32") + " v9, v1, v2";
      for (const std::string modifiers : {"", " op_sel:[1,0]", " op_sel:[0,1]"}) {
        const bool fetch = modifiers == " op_sel:[1,0]", zero = modifiers == " op_sel:[0,1]";
        m.Broadcast(9, 7);
        m.Do(base + modifiers);
        for (int lane = 0; lane < wave_size; ++lane) {
          const int row = lane / 16 ^ (across ? 1 : 0),
                    from = row * 16 + static_cast<int>(m.Reg(2, lane) & 15);
          const auto active = [&](int l) { return ((m.wave.exec() >> l) & 1) != 0; };
          uint32_t wanted = 7;
          if (active(lane)) wanted = active(from) || fetch ? 100 + static_cast<uint32_t>(from) : zero ? 0 : 7;
          EXPECT_EQ(m.Reg(9, lane), wanted) << base << modifiers << " lane " << lane;
        }
      }
    }
  }
}

TEST(Rdna4, ScalarTranscendentalsWriteAScalarWhateverExecSays) {
  Gfx12 m;
  m.wave.set_exec(0);
  m.wave.sgpr[2] = BitsOf(4.0f);
  m.Do("v_s_sqrt_f32 s5, s2");
  EXPECT_EQ(m.wave.sgpr[5], BitsOf(2.0f));
  m.Do("v_s_rcp_f32 s5, -s2");
  EXPECT_EQ(m.wave.sgpr[5], BitsOf(-0.25f));
  m.Do("v_s_rsq_f32 s5, s2");
  EXPECT_EQ(m.wave.sgpr[5], BitsOf(0.5f));
  m.Do("v_s_log_f32 s5, s2");
  EXPECT_EQ(m.wave.sgpr[5], BitsOf(2.0f));
  m.Do("v_s_exp_f32 s5, s2");
  EXPECT_EQ(m.wave.sgpr[5], BitsOf(16.0f));
  m.Do("v_s_exp_f32 s5, s2 clamp");
  EXPECT_EQ(m.wave.sgpr[5], BitsOf(1.0f));
  m.wave.sgpr[2] = 0x4400;  // 4.0 as f16
  const struct {
    const char* name;
    uint32_t wanted;
  } halves[] = {{"sqrt", 0x4000}, {"rcp", 0x3400}, {"rsq", 0x3800}, {"log", 0x4000}, {"exp", 0x4c00}};
  for (const auto& h : halves) {
    m.wave.sgpr[5] = 0xffffffffu;
    m.Do(std::string("v_s_") + h.name + "_f16 s5, s2");
    EXPECT_EQ(m.wave.sgpr[5], h.wanted) << h.name;
  }
}

TEST(Rdna4, ModeHasNeitherIeeeNorDx10Clamp) {
  Gfx12 m;
  m.wave.mode = 0xc0;  // 32-bit denormals flushed; bits 8 and 9 clear
  m.Broadcast(1, 0x7fc00000);
  m.Broadcast(2, BitsOf(1.5f));
  m.Do("v_mul_f32_e64 v9, v1, v2 clamp");
  EXPECT_EQ(m.Reg(9, 0), 0u) << "a clamped NaN is 0";
  m.wave.mode = 0xc0 | 0x200;  // what was IEEE has no effect
  m.Do("v_mul_f32_e64 v9, v2, v2 mul:2");
  EXPECT_EQ(m.Reg(9, 0), BitsOf(4.5f)) << "OMOD depends on denormals alone";
}

TEST(Rdna4, SixtyFourBitProductsCarry) {
  Gfx12 m;
  Draws draws(6);
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 1; r < 5; ++r) m.Reg(r, lane) = draws.Word();
  }
  m.Do("v_mad_co_u64_u32 v[10:11], vcc_lo, v1, v2, v[3:4]");
  const uint64_t carries = m.wave.vcc();
  m.Do("v_mad_co_i64_i32 v[12:13], vcc_lo, v1, v2, v[3:4]");
  for (int lane = 0; lane < 32; ++lane) {
    const auto wide = static_cast<unsigned __int128>(m.Reg(1, lane)) * m.Reg(2, lane) + m.Reg64(3, lane);
    EXPECT_EQ(m.Reg64(10, lane), static_cast<uint64_t>(wide));
    EXPECT_EQ((carries >> lane) & 1, static_cast<uint64_t>(wide >> 64) & 1);
    const auto product =
        static_cast<__int128>(static_cast<int32_t>(m.Reg(1, lane))) * static_cast<int32_t>(m.Reg(2, lane));
    const auto sum = product + static_cast<int64_t>(m.Reg64(3, lane));
    EXPECT_EQ(m.Reg64(12, lane), static_cast<uint64_t>(sum));
    EXPECT_EQ((m.wave.vcc() >> lane) & 1, static_cast<uint64_t>(sum >> 64) & 1);
  }
}

TEST(Rdna4, DirectLoadsBroadcastWhatM0Names) {
  Gfx12 m;
  uint8_t lds[64];
  for (int i = 0; i < 64; ++i) lds[i] = static_cast<uint8_t>(0xf0 + i);
  m.wave.lds = lds;
  m.wave.lds_bytes = 64;
  m.wave.set_exec(0xff);
  m.Broadcast(9, 1);
  const struct {
    uint32_t type, address, wanted;
  } cases[] = {{2, 8, 0xfbfaf9f8u}, {0, 5, 0xf5u},       {1, 6, 0xf7f6u},
               {4, 5, 0xfffffff5u}, {5, 6, 0xfffff7f6u}, {2, 64, 0u}};
  for (const auto& c : cases) {
    m.wave.sgpr[kM0] = c.type << 16 | c.address;
    m.Do("ds_direct_load v9 wait_va_vdst:15 wait_vm_vsrc:1");
    EXPECT_EQ(m.Reg(9, 7), c.wanted) << c.type;
    EXPECT_EQ(m.Reg(9, 8), 1u) << "outside of EXEC";
  }
}

}  // namespace
}  // namespace understudy::emu::amd
