// SPDX-License-Identifier: Apache-2.0
// Vector instructions that read or write more than their own lane and operands: moves through M0, exchanges,
// interpolation within quads, the two halves of VOPD, and loads of one LDS word into every lane.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>

#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"
#include "tests/emu/amd/exact/bench.h"
#include "tests/emu/amd/exact/host_float.h"

namespace understudy::emu::amd::exact {
namespace {

class VectorMoves : public testing::TestWithParam<Isa> {
 protected:
  Isa isa() const { return GetParam(); }
};

// Registers named by a number plus M0 (RDNA3 ISA, "VGPR Indexing"): M0 whole, or 9:0 for the source and 25:16
// for the destination.
struct Indexed {
  const char *name, *operands;
  uint32_t m0;
  void (*lane)(Lane&);
};
// clang-format off
const Indexed kIndexed[] = {
    {"V_MOVRELS_B32", "v12, v4", 3, [](Lane& l) { l.d[0] = l.v[3]; }},
    {"V_MOVRELD_B32", "v12, v4", 2, [](Lane& l) { l.d[2] = l.v[0]; }},
    {"V_MOVRELSD_B32", "v12, v4", 3, [](Lane& l) { l.d[3] = l.v[3]; }},
    {"V_MOVRELSD_B32", "v12, v4", 0, [](Lane& l) { l.d[0] = l.v[0]; }},
    {"V_MOVRELSD_2_B32", "v12, v4", 0x00020005, [](Lane& l) { l.d[2] = l.v[5]; }},
    {"V_MOVRELSD_2_B32", "v12, v4", 0xfc01fc07, [](Lane& l) { l.d[1] = l.v[7]; }},
    {"V_SWAPREL_B32", "v12, v12", 0x00010003, [](Lane& l) { std::swap(l.d[1], l.d[3]); }},
    {"V_SWAPREL_B32", "v12, v13", 0, [](Lane& l) { std::swap(l.d[0], l.d[1]); }},
};
// clang-format on

TEST_P(VectorMoves, Indexed) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    for (const Indexed& row : kIndexed) {
      for (const Encoding enc : {Encoding::VOP1, Encoding::VOP3}) {
        const decode::Row* found = bench.Find(enc, row.name);
        if (found == nullptr) continue;
        Case c;
        c.text = "s_mov_b32 m0, " + std::to_string(row.m0) + "\n" + LowerCase(row.name) +
                 (found->e32_suffix   ? "_e32 "
                  : found->e64_suffix ? "_e64 "
                                      : " ") +
                 row.operands;
        c.lane = row.lane;
        c.scalar = [&row](Scalars& s) { s.m0 = row.m0; };
        bench.Add(std::move(c));
      }
    }
    bench.Run(16);
  }
}

TEST_P(VectorMoves, Exchanges) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    const auto add = [&](const char* name, const char* text, std::function<void(Lane&)> lane) {
      if (bench.Find(Encoding::VOP1, name) == nullptr) return;
      Case c;
      c.text = text;
      c.lane = std::move(lane);
      bench.Add(std::move(c));
    };
    add("V_SWAP_B32", "v_swap_b32 v12, v14", [](Lane& l) { std::swap(l.d[0], l.d[2]); });
    add("V_SWAP_B16", "v_swap_b16 v12.l, v14.h", [](Lane& l) {
      const uint32_t low = l.d[0] & 0xffff, high = l.d[2] >> 16;
      l.d[0] = (l.d[0] & 0xffff0000) | high;
      l.d[2] = (l.d[2] & 0xffff) | low << 16;
    });
    bench.Run(16);
  }
}

TEST_P(VectorMoves, MovesOfHalvesAndAccumulators) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    const auto add = [&](const char* name, Encoding enc, const std::string& text, void (*lane)(Lane&)) {
      if (bench.Find(enc, name) == nullptr) return;
      Case c;
      c.text = text;
      c.lane = lane;
      bench.Add(std::move(c));
    };
    add("V_MOV_B16", Encoding::VOP1, "v_mov_b16_e32 v12.l, v4.h",
        [](Lane& l) { l.PutHalf(l.v[0] >> 16, false); });
    add("V_CNDMASK_B16", Encoding::VOP3, "v_cndmask_b16 v12.l, v4.l, v6.h, " + bench.Vcc(),
        [](Lane& l) { l.PutHalf(l.vcc ? l.v[2] >> 16 : l.v[0], false); });
    add("V_ACCVGPR_MOV_B32", Encoding::VOP1,
        "v_accvgpr_write_b32 a3, v4\nv_accvgpr_mov_b32 a2, a3\nv_accvgpr_read_b32 v12, a2",
        [](Lane& l) { l.d[0] = l.v[0]; });
    // Bits of a mask below the lane, of lanes 32 and on.
    add("V_MBCNT_HI_U32_B32", Encoding::VOP3, "v_mbcnt_hi_u32_b32 v12, v4, v6", [](Lane& l) {
      const int below = std::clamp(l.number - 32, 0, 31);
      l.d[0] = static_cast<uint32_t>(std::popcount(l.v[0] & ((1u << below) - 1))) + l.v[2];
    });
    bench.Run(16);
  }
}

// Each lane reads a lane of its row of 16 (PERMLANE16) or of the row beside it (PERMLANEX16) by a table of
// nibbles; an inactive source leaves the destination as it was. PERMLANE64 exchanges the halves of a wave64
// and reads inactive lanes.
TEST_P(VectorMoves, Permutations) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    for (const uint64_t table : {uint64_t{0x0123456789abcdef}, uint64_t{0xf7f70480c3a10596}}) {
      for (const bool across : {false, true}) {
        const char* name = across ? "V_PERMLANEX16_B32" : "V_PERMLANE16_B32";
        if (bench.Find(Encoding::VOP3, name) == nullptr) continue;
        for (const bool inactive : {false, true}) {
          Case c;
          c.text = "s_mov_b32 s48, " + std::to_string(static_cast<uint32_t>(table)) + "\ns_mov_b32 s49, " +
                   std::to_string(table >> 32) + "\n" + LowerCase(name) + " v12, v4, s48, s49" +
                   (inactive ? " op_sel:[1,0]" : "");
          c.wave = [=](std::vector<Lane>& lanes, uint64_t exec) {
            for (size_t n = 0; n < lanes.size(); ++n) {
              const size_t from = ((n & ~size_t{15}) ^ (across ? 16 : 0)) + (table >> (4 * (n & 15)) & 15);
              if ((exec >> n & 1) == 0 || (!inactive && (exec >> from & 1) == 0)) continue;
              lanes[n].d[0] = lanes[from].v[0];
            }
          };
          bench.Add(std::move(c));
        }
      }
    }
    if (bench.Find(Encoding::VOP1, "V_PERMLANE64_B32") != nullptr) {
      Case c;
      c.text = "v_permlane64_b32 v12, v4";
      c.wave = [](std::vector<Lane>& lanes, uint64_t exec) {
        if (lanes.size() == 32) return;
        for (size_t n = 0; n < 64; ++n) {
          if ((exec >> n & 1) != 0) lanes[n].d[0] = lanes[n ^ 32].v[0];
        }
      };
      bench.Add(std::move(c));
    }
    bench.Run(24);
  }
}

// --- Interpolation: source 0 from lane 1 (P10) or 2 (P2) of the quad, source 2 of P10 from lane 0
// -------------------

float FmaToward(float a, float b, float c, int rounding) {
  volatile float va = a, vb = b, vc = c;
  std::fesetround(rounding);
  volatile float r = std::fma(va, vb, vc);
  std::fesetround(FE_TONEAREST);
  return r;
}
float FromHalf(uint32_t word) { return static_cast<float>(F16(word & 0xffff)); }

TEST_P(VectorMoves, Interpolation) {
  for (const int wave_size : WaveSizes(isa())) {
    Bench bench(isa(), wave_size);
    const auto add = [&](const char* name, const char* operands, Same same,
                         std::function<void(Lane & to, const Lane* quad)> formula) {
      if (bench.Find(Encoding::VINTERP, name) == nullptr) return;
      Case c;
      c.text = LowerCase(name) + " " + operands;
      c.same = same;
      c.wave = [formula](std::vector<Lane>& lanes, uint64_t exec) {
        // Lanes of a quad are read whether active or not.
        const std::vector<Lane> before = lanes;
        for (size_t n = 0; n < lanes.size(); ++n) {
          if ((exec >> n & 1) != 0) formula(lanes[n], &before[n & ~size_t{3}]);
        }
      };
      bench.Add(std::move(c));
    };
    add("V_INTERP_P10_F32", "v12, v4, v6, v8", Same::kF32, [](Lane& to, const Lane* quad) {
      to.d[0] = Bits(std::fma(F32(quad[1].v[0]), F32(to.v[2]), F32(quad[0].v[4])));
    });
    add("V_INTERP_P2_F32", "v12, v4, v6, v8", Same::kF32, [](Lane& to, const Lane* quad) {
      to.d[0] = Bits(std::fma(F32(quad[2].v[0]), F32(to.v[2]), F32(to.v[4])));
    });
    add("V_INTERP_P10_F16_F32", "v12, v4.l, v6, v8.l", Same::kF32, [](Lane& to, const Lane* quad) {
      to.d[0] = Bits(std::fma(FromHalf(quad[1].v[0]), F32(to.v[2]), FromHalf(quad[0].v[4])));
    });
    add("V_INTERP_P10_RTZ_F16_F32", "v12, v4.l, v6, v8.l", Same::kF32, [](Lane& to, const Lane* quad) {
      to.d[0] = Bits(FmaToward(FromHalf(quad[1].v[0]), F32(to.v[2]), FromHalf(quad[0].v[4]), FE_TOWARDZERO));
    });
    add("V_INTERP_P10_RTZ_F16_F32", "v12, v4.h, v6, v8.h", Same::kF32, [](Lane& to, const Lane* quad) {
      to.d[0] = Bits(
          FmaToward(FromHalf(quad[1].v[0] >> 16), F32(to.v[2]), FromHalf(quad[0].v[4] >> 16), FE_TOWARDZERO));
    });
    // Truncating twice is truncating once.
    add("V_INTERP_P2_RTZ_F16_F32", "v12.l, v4.l, v6, v8", Same::kF16, [](Lane& to, const Lane* quad) {
      to.PutHalf(
          ToF16(FmaToward(FromHalf(quad[2].v[0]), F32(to.v[2]), F32(to.v[4]), FE_TOWARDZERO), Toward::kZero),
          false);
    });
    bench.Run(60);
  }
}

// --- VOPD: each operation as the first half and as the second
// ---------------------------------------------------------

struct Dual {
  const char* name;
  bool second_only;  // no encoding in the first half
  const char* literal;
  uint32_t (*formula)(uint32_t a, uint32_t b, uint32_t d, bool vcc);
};
float F(uint32_t v) { return F32(v); }
float MinNum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
float MaxNum(float a, float b) { return -MinNum(-a, -b); }
uint32_t Dot2(uint32_t a, uint32_t b, uint32_t d, float (*convert)(uint32_t)) {
  const float low = std::fma(convert(a & 0xffff), convert(b & 0xffff), F(d));
  return Bits(std::fma(convert(a >> 16), convert(b >> 16), low));
}
using U = uint32_t;
// clang-format off
const Dual kDuals[] = {
    {"V_FMAC_F32", false, nullptr, [](U a, U b, U d, bool) { return Bits(std::fma(F(a), F(b), F(d))); }},
    {"V_FMAAK_F32", false, "last", [](U a, U b, U, bool) { return Bits(std::fma(F(a), F(b), 3.5f)); }},
    {"V_FMAMK_F32", false, "middle", [](U a, U b, U, bool) { return Bits(std::fma(F(a), 3.5f, F(b))); }},
    {"V_MUL_F32", false, nullptr, [](U a, U b, U, bool) { return Bits(F(a) * F(b)); }},
    {"V_ADD_F32", false, nullptr, [](U a, U b, U, bool) { return Bits(F(a) + F(b)); }},
    {"V_SUB_F32", false, nullptr, [](U a, U b, U, bool) { return Bits(F(a) - F(b)); }},
    {"V_SUBREV_F32", false, nullptr, [](U a, U b, U, bool) { return Bits(F(b) - F(a)); }},
    {"V_MUL_DX9_ZERO_F32", false, nullptr, [](U a, U b, U, bool) { return F(a) == 0 || F(b) == 0 ? 0u : Bits(F(a) * F(b)); }},
    {"V_CNDMASK_B32", false, nullptr, [](U a, U b, U, bool vcc) { return vcc ? b : a; }},
    {"V_MAX_F32", false, nullptr, [](U a, U b, U, bool) { return Bits(MaxNum(F(a), F(b))); }},
    {"V_MIN_F32", false, nullptr, [](U a, U b, U, bool) { return Bits(MinNum(F(a), F(b))); }},
    {"V_MAX_NUM_F32", false, nullptr, [](U a, U b, U, bool) { return Bits(MaxNum(F(a), F(b))); }},
    {"V_MIN_NUM_F32", false, nullptr, [](U a, U b, U, bool) { return Bits(MinNum(F(a), F(b))); }},
    {"V_DOT2ACC_F32_F16", false, nullptr, [](U a, U b, U d, bool) { return Dot2(a, b, d, FromHalf); }},
    {"V_DOT2ACC_F32_BF16", false, nullptr, [](U a, U b, U d, bool) { return Dot2(a, b, d, Bf16); }},
    {"V_ADD_NC_U32", true, nullptr, [](U a, U b, U, bool) { return a + b; }},
    {"V_LSHLREV_B32", true, nullptr, [](U a, U b, U, bool) { return b << (a & 31); }},
    {"V_AND_B32", true, nullptr, [](U a, U b, U, bool) { return a & b; }},
};
// clang-format on

// Of a half: v12 from v4 and v6, or v13 from v9 and v11 (other banks).
std::string DualText(const Dual& op, bool second) {
  std::string name = LowerCase(op.name).substr(2);
  const std::string d = second ? "v13, " : "v12, ", a = second ? "v9" : "v4", b = second ? "v11" : "v6";
  std::string text = "v_dual_" + name + " " + d + a;
  const std::string literal = op.literal == nullptr ? "" : op.literal;
  if (literal == "middle") text += ", 0x40600000";
  text += ", " + b;
  if (literal == "last") text += ", 0x40600000";
  return text;
}

TEST_P(VectorMoves, DualIssue) {
  if (IsCdna(isa())) return;  // has no VOPD
  Bench bench(isa(), 32);
  int cases = 0;
  for (const Dual& first : kDuals) {
    for (const Dual& second : kDuals) {
      if (first.second_only) continue;
      if (bench.Find(Encoding::VOPD, first.name) == nullptr ||
          bench.Find(Encoding::VOPD, second.name) == nullptr)
        continue;
      Case c;
      c.text = DualText(first, false) + " :: " + DualText(second, true);
      c.same = Same::kPkF32;
      c.lane = [&first, &second](Lane& l) {
        const uint32_t low = first.formula(l.v[0], l.v[2], l.d[0], l.vcc);
        l.d[1] = second.formula(l.v[5], l.v[7], l.d[1], l.vcc);
        l.d[0] = low;
      };
      bench.Add(std::move(c));
      ++cases;
    }
    if (first.second_only || bench.Find(Encoding::VOPD, first.name) == nullptr) continue;
    Case c;
    c.text = DualText(first, false) + " :: v_dual_mov_b32 v13, v9";
    c.same = Same::kPkF32;
    c.lane = [&first](Lane& l) {
      l.d[0] = first.formula(l.v[0], l.v[2], l.d[0], l.vcc);
      l.d[1] = l.v[5];
    };
    bench.Add(std::move(c));
    // The halves read before either writes: v4 and v7 are not touched by the other's destination.
    c.text = "v_dual_mov_b32 v12, v4 :: " + DualText(first, true);
    c.lane = [&first](Lane& l) {
      l.d[1] = first.formula(l.v[5], l.v[7], l.d[1], l.vcc);
      l.d[0] = l.v[0];
    };
    bench.Add(std::move(c));
  }
  EXPECT_GT(cases, 150);
  bench.Run(30);
}

// --- LDS_DIRECT_LOAD: M0 15:0 is an address, 18:16 a type; whole quads are written
// --------------------------------------

TEST_P(VectorMoves, OneWordOfLdsInEveryLane) {
  if (IsCdna(isa())) return;  // has no such instruction
  struct Row {
    uint32_t type;
    uint32_t (*value)(uint32_t word);
  };
  static constexpr Row kRows[] = {
      {0, [](uint32_t w) { return w & 0xff; }},
      {1, [](uint32_t w) { return w & 0xffff; }},
      {2, [](uint32_t w) { return w; }},
      {4, [](uint32_t w) { return static_cast<uint32_t>(static_cast<int8_t>(w)); }},
      {5, [](uint32_t w) { return static_cast<uint32_t>(static_cast<int16_t>(w)); }},
  };
  static constexpr uint32_t kWords[] = {0x8182f3f4, 0x01027374, 0xfffefdfc};
  const std::string load = isa() == Isa::kRdna4 ? "ds_direct_load v4\n" : "lds_direct_load v4\n";
  for (const int wave_size : WaveSizes(isa())) {
    for (const Row& row : kRows) {
      for (uint32_t at = 0; at < 3; ++at) {
        for (const uint32_t exec : {0xffffffffu, 0x80012400u, 0u}) {
          KernelRunner runner(wave_size, isa());
          runner.regs.rsrc2 |= 8u << 15;  // 4 KiB of LDS
          const int out = runner.AddBuffer(64);
          std::string text = "v_mov_b32 v2, 0\n";
          for (uint32_t i = 0; i < 3; ++i) {
            text += "v_mov_b32 v3, " + std::to_string(kWords[i]) +
                    "\nds_store_b32 v2, v3 offset:" + std::to_string(4 * i) + "\n";
          }
          const std::string full = wave_size == 64 ? "s_mov_b64 exec, -1\n" : "s_mov_b32 exec_lo, -1\n";
          text += "s_waitcnt lgkmcnt(0)\nv_mov_b32 v4, 0x1234\ns_mov_b32 m0, " +
                  std::to_string(row.type << 16 | 4 * at) + "\ns_mov_b32 exec_lo, " + std::to_string(exec) +
                  "\n" + (wave_size == 64 ? "s_mov_b32 exec_hi, 0x10\n" : "") + load +
                  (isa() == Isa::kRdna4 ? "s_wait_expcnt 0\n" : "s_waitcnt expcnt(0)\n") + full +
                  "v_lshlrev_b32 v1, 2, v0\nglobal_store_b32 v1, v4, s[0:1]\ns_endpgm\n";
          runner.Program(Respell(isa(), wave_size, 2, text));
          runner.Run();
          if (HasFailure()) return;
          for (int lane = 0; lane < wave_size; ++lane) {
            const uint64_t mask = exec | (wave_size == 64 ? uint64_t{0x10} << 32 : 0);
            const bool written = (mask >> (lane & ~3) & 15) != 0;
            ASSERT_EQ(runner.Buffer(out)[static_cast<size_t>(lane)],
                      written ? row.value(kWords[at]) : 0x1234u)
                << "type " << row.type << " word " << at << " lane " << lane << " exec " << std::hex << mask;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, VectorMoves, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd::exact
