// SPDX-License-Identifier: Apache-2.0
// Float arithmetic against exact software arithmetic: every rounding, flushing and clamping on a lattice of
// edges and on random operands.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "src/base/soft_float.h"
#include "tests/emu/ptx/semantics/float_harness.h"

namespace understudy::emu::ptx {
namespace {

struct Kind {
  const char* name;
  const FloatFormat* format;
  int bits;
  uint64_t canonical;  // NaN; 0: operands' NaNs are carried on
};
const Kind kF32{"f32", &formats::kF32, 32, 0x7fffffff};
const Kind kF64{"f64", &formats::kF64, 64, 0};
const Kind kF16{"f16", &formats::kF16, 16, 0x7fff};
const Kind kBf16{"bf16", &formats::kBf16, 16, 0x7fff};

// Signs, the ends of every range, numbers around one and their neighbours.
std::vector<uint64_t> Edges(const FloatFormat& f) {
  const uint64_t least = f.man_mask() + 1, one = static_cast<uint64_t>(f.bias) << f.man_bits;
  std::vector<uint64_t> positive = {
      0,       1,   2,       3,       least / 2,   least - 1,   least,        least + 1,        2 * least,
      one - 1, one, one + 1, one / 2, one + least, one - least, f.max_bits(), f.max_bits() - 1, f.inf_bits()};
  std::vector<uint64_t> all = positive;
  for (uint64_t v : positive) all.push_back(v | f.sign_mask());
  all.push_back(f.inf_bits() + 1);
  all.push_back(f.inf_bits() | (f.man_mask() + 1) / 2 | f.sign_mask());
  return all;
}

// Exponents near each other half of the time, so that sums cancel and products reach the ends.
uint64_t Random(const FloatFormat& f, std::mt19937_64& random) {
  uint64_t v = random();
  if ((v & 3) == 0) {
    const uint64_t exponent = static_cast<uint64_t>(f.bias) - 2 + random() % 5;
    v = (v & ~f.exp_mask()) | exponent << f.man_bits;
  } else if ((v & 3) == 1) {
    v = (v & ~f.exp_mask()) | (random() % 3) << f.man_bits;
  }
  return v & (f.sign_mask() | (f.sign_mask() - 1));
}

// `rounded`: one rounding of the exact value. Clamped and with the format's NaN.
uint64_t Finished(const Kind& kind, uint64_t rounded, bool sat, bool relu) {
  const FloatFormat& f = *kind.format;
  if (f.IsNan(rounded)) return sat ? 0 : kind.canonical != 0 ? kind.canonical : rounded;
  const bool negative = (rounded & f.sign_mask()) != 0;
  const uint64_t one = static_cast<uint64_t>(f.bias) << f.man_bits;
  if ((sat || relu) && (negative || rounded == 0)) return 0;
  return sat && rounded > one ? one : rounded;
}

uint64_t Flushed(const FloatFormat& f, uint64_t v) {
  return (v & (f.sign_mask() - 1)) <= f.man_mask() ? v & f.sign_mask() : v;
}

enum class Kernel { kAdd, kSub, kMul, kFma, kDiv, kRcp, kSqrt };
const char* const kNames[] = {"add", "sub", "mul", "fma", "div", "rcp", "sqrt"};
int Sources(Kernel k) { return k == Kernel::kFma ? 3 : k == Kernel::kRcp || k == Kernel::kSqrt ? 1 : 2; }

uint64_t Exact(const Kind& kind, Kernel kernel, const uint64_t* s, Rounding rounding) {
  const FloatFormat& f = *kind.format;
  const SoftContext context{rounding, DenormMode::kKeep, Overflow::kInf};
  switch (kernel) {
    case Kernel::kAdd:
      return SoftAdd(f, s[0], s[1], context);
    case Kernel::kSub:
      return SoftSub(f, s[0], s[1], context);
    case Kernel::kMul:
      return SoftMul(f, s[0], s[1], context);
    case Kernel::kFma:
      return SoftFma(f, s[0], s[1], s[2], context);
    case Kernel::kDiv:
      return SoftDiv(f, s[0], s[1], context);
    case Kernel::kRcp:
      return SoftDiv(f, static_cast<uint64_t>(f.bias) << f.man_bits, s[0], context);
    case Kernel::kSqrt:
      return SoftSqrt(f, s[0], context);
  }
  return 0;
}

// Is the exact result below the least normal? Only asked when it rounds to it.
bool Tiny(const Kind& kind, Kernel kernel, Rounding rounding, const uint64_t* s) {
  __float128 v[3];
  for (int i = 0; i < Sources(kernel); ++i) v[i] = DecodeFloat(*kind.format, s[i]);
  const __float128 least = DecodeFloat(*kind.format, kind.format->man_mask() + 1);
  __float128 above = 0;  // the magnitude less the least normal
  const auto magnitude = [](__float128 x) { return x < 0 ? -x : x; };
  switch (kernel) {
    case Kernel::kMul:
      above = magnitude(v[0] * v[1]) - least;
      break;
    case Kernel::kFma: {
      // The addend's distance from the bound is exact, and so is the product.
      const __float128 product = v[0] * v[1];
      const bool negative = product + v[2] < 0;
      above = negative ? -(product + (v[2] + least)) : product + (v[2] - least);
      break;
    }
    case Kernel::kDiv:
      above = magnitude(v[0]) - least * magnitude(v[1]);
      break;
    case Kernel::kRcp:
      above = 1 - least * magnitude(v[0]);
      break;
    default:
      return false;
  }
  // What lies within half a unit of 24 bits below the bound rounds up to it, and away from zero all within the
  // unit. No quotient does.
  if (kernel == Kernel::kDiv || kernel == Kernel::kRcp) return above < 0;
  return rounding == Rounding::kNearestEven ? above < -least * 0x1p-25 : above <= -least * 0x1p-24;
}

struct Form {
  Rounding rounding;
  const char* suffix;
};
constexpr Form kRoundings[] = {{Rounding::kNearestEven, "rn"},
                               {Rounding::kToZero, "rz"},
                               {Rounding::kDown, "rm"},
                               {Rounding::kUp, "rp"}};

void CheckForm(const Kind& kind, Kernel kernel, Form form, bool ftz, bool sat, bool relu, int randoms) {
  const FloatFormat& f = *kind.format;
  std::string name = std::string(kNames[static_cast<int>(kernel)]) + "." + form.suffix;
  if (ftz) name += ".ftz";
  if (sat) name += ".sat";
  if (relu) name += ".relu";
  name += std::string(".") + kind.name;
  const int n = Sources(kernel);
  FloatHarness harness(name, std::vector<int>(static_cast<size_t>(n) + 1, kind.bits));
  ASSERT_TRUE(harness.ok()) << name << harness.exec().note;
  // All pairs of edges (with a changing third operand), then random ones.
  const std::vector<uint64_t> edges = Edges(f);
  std::mt19937_64 random(0x5eed);
  std::vector<std::vector<uint64_t>> batch(static_cast<size_t>(n));
  const auto run = [&] {
    const std::vector<uint64_t> out = harness.Run(batch);
    for (size_t i = 0; i < batch[0].size(); ++i) {
      uint64_t s[3] = {};
      bool nan_operand = false;
      for (int k = 0; k < n; ++k) {
        s[k] = batch[static_cast<size_t>(k)][i];
        nan_operand |= f.IsNan(s[k]);
        if (ftz) s[k] = Flushed(f, s[k]);
      }
      uint64_t want = Exact(kind, kernel, s, form.rounding);
      const uint64_t least = f.man_mask() + 1;
      if (ftz) {
        want = Flushed(f, want);
        if ((want & (f.sign_mask() - 1)) == least && Tiny(kind, kernel, form.rounding, s)) want &= f.sign_mask();
      }
      // An invalid f64 operation gives the negative NaN; of NaN operands any may be carried on here.
      if (kind.canonical == 0 && f.IsNan(want)) {
        ASSERT_TRUE(f.IsNan(out[i]) && (nan_operand || out[i] == 0xfff8000000000000u)) << name;
        continue;
      }
      want = Finished(kind, want, sat, relu);
      ASSERT_EQ(out[i], want) << name << std::hex << " of " << s[0] << " " << s[1] << " " << s[2] << " is "
                              << out[i] << ", exact " << want;
    }
    for (auto& row : batch) row.clear();
  };
  const auto add = [&](uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t s[] = {a, b, c};
    for (int k = 0; k < n; ++k) batch[static_cast<size_t>(k)].push_back(s[k]);
    if (batch[0].size() == 32) run();
  };
  size_t third = 0;
  for (uint64_t a : edges) {
    if (n == 1) add(a, 0, 0);
    for (uint64_t b : edges) {
      if (n == 2) add(a, b, 0);
      for (int k = 0; n == 3 && k < 6; ++k) add(a, b, edges[third++ % edges.size()]);
    }
  }
  for (int i = 0; i < randoms; ++i) {
    const uint64_t a = Random(f, random), b = Random(f, random);
    uint64_t c = Random(f, random);
    // A third of the addends nearly cancel the product.
    if (n == 3 && i % 3 == 0) c = SoftMul(f, a, b, {}) ^ f.sign_mask() ^ (random() % 4);
    add(a, b, c);
  }
  if (!batch[0].empty()) run();
}

constexpr Kernel kRing[] = {Kernel::kAdd, Kernel::kSub, Kernel::kMul, Kernel::kFma};
constexpr Kernel kDivisions[] = {Kernel::kDiv, Kernel::kRcp, Kernel::kSqrt};

TEST(FloatExact, F32InEveryRoundingFlushedAndSaturated) {
  for (Form form : kRoundings) {
    for (bool ftz : {false, true}) {
      for (Kernel k : kRing)
        for (bool sat : {false, true}) CheckForm(kF32, k, form, ftz, sat, false, 60000);
      for (Kernel k : kDivisions) CheckForm(kF32, k, form, ftz, false, false, 60000);
    }
  }
}

TEST(FloatExact, F64InEveryRounding) {
  for (Form form : kRoundings) {
    for (Kernel k : kRing) CheckForm(kF64, k, form, false, false, false, 60000);
    for (Kernel k : kDivisions) CheckForm(kF64, k, form, false, false, false, 60000);
  }
}

TEST(FloatExact, HalvesRoundOnce) {
  for (Kernel k : kRing) {
    for (bool ftz : {false, true})
      for (bool sat : {false, true}) CheckForm(kF16, k, kRoundings[0], ftz, sat, false, 200000);
    CheckForm(kBf16, k, kRoundings[0], false, false, false, 200000);
  }
  CheckForm(kF16, Kernel::kFma, kRoundings[0], false, false, true, 60000);
  CheckForm(kF16, Kernel::kFma, kRoundings[0], true, false, true, 60000);
  CheckForm(kBf16, Kernel::kFma, kRoundings[0], false, false, true, 60000);
}

// Each half of a pair is the scalar instruction.
TEST(FloatExact, PairsAreTwoScalars) {
  struct Row {
    const char *pair, *scalar;
    int part, sources;
  };
  const Row rows[] = {{"add.f16x2", "add.f16", 16, 2},
                      {"fma.rn.ftz.relu.f16x2", "fma.rn.ftz.relu.f16", 16, 3},
                      {"mul.rn.bf16x2", "mul.rn.bf16", 16, 2},
                      {"fma.rn.bf16x2", "fma.rn.bf16", 16, 3},
                      {"neg.f16x2", "neg.f16", 16, 1},
                      {"neg.bf16x2", "neg.bf16", 16, 1},
                      {"abs.ftz.f16x2", "abs.ftz.f16", 16, 1},
                      {"fma.rn.oob.f16x2", "fma.rn.oob.f16", 16, 3},
                      {"max.NaN.xorsign.abs.bf16x2", "max.NaN.xorsign.abs.bf16", 16, 2},
                      {"min.ftz.f16x2", "min.ftz.f16", 16, 2},
                      {"add.rm.f32x2", "add.rm.f32", 32, 2},
                      {"sub.rp.ftz.f32x2", "sub.rp.ftz.f32", 32, 2},
                      {"mul.rz.ftz.f32x2", "mul.rz.ftz.f32", 32, 2},
                      {"fma.rn.f32x2", "fma.rn.f32", 32, 3},
                      {"fma.rp.ftz.f32x2", "fma.rp.ftz.f32", 32, 3}};
  std::mt19937_64 random(7);
  for (const Row& row : rows) {
    const auto n = static_cast<size_t>(row.sources);
    FloatHarness pair(row.pair, std::vector<int>(n + 1, 2 * row.part));
    FloatHarness scalar(row.scalar, std::vector<int>(n + 1, row.part));
    ASSERT_TRUE(pair.ok() && scalar.ok()) << row.pair << pair.exec().note << scalar.exec().note;
    const uint64_t mask = (uint64_t{1} << row.part) - 1;
    for (int round = 0; round < 200; ++round) {
      std::vector<std::vector<uint64_t>> whole(n), low(n), high(n);
      for (size_t k = 0; k < n; ++k) {
        for (int lane = 0; lane < 32; ++lane) {
          const FloatFormat& f = row.part == 32 ? formats::kF32 : formats::kF16;
          low[k].push_back(lane == 0 && k == 0 ? 0x7ff7 : Random(f, random) & mask);
          high[k].push_back(Random(f, random) & mask);
          whole[k].push_back(low[k].back() | high[k].back() << row.part);
        }
      }
      const auto got = pair.Run(whole), want_low = scalar.Run(low), want_high = scalar.Run(high);
      for (size_t lane = 0; lane < 32; ++lane)
        ASSERT_EQ(got[lane], want_low[lane] | want_high[lane] << row.part) << row.pair << " lane " << lane;
    }
  }
}

// The widened operation, bit for bit.
TEST(FloatExact, MixedPrecisionIsTheF32OperationOnWidenedOperands) {
  std::mt19937_64 random(11);
  for (const Kind* kind : {&kF16, &kBf16}) {
    for (Form form : kRoundings) {
      for (Kernel k : {Kernel::kAdd, Kernel::kSub, Kernel::kFma}) {
        for (bool sat : {false, true}) {
          const std::string stem =
              std::string(kNames[static_cast<int>(k)]) + "." + form.suffix + (sat ? ".sat" : "") + ".f32";
          const bool fma = k == Kernel::kFma;
          FloatHarness mixed(stem + "." + kind->name,
                             fma ? std::vector<int>{32, 16, 16, 32} : std::vector<int>{32, 16, 32});
          ASSERT_TRUE(mixed.ok()) << stem << mixed.exec().note;
          for (int round = 0; round < 50; ++round) {
            std::vector<uint64_t> a, b, c;
            for (int lane = 0; lane < 32; ++lane) {
              a.push_back(Random(*kind->format, random));
              b.push_back(Random(*kind->format, random));
              c.push_back(lane == 0 ? 0 : Random(formats::kF32, random));
            }
            const auto out = mixed.Run(fma ? std::vector<std::vector<uint64_t>>{a, b, c}
                                           : std::vector<std::vector<uint64_t>>{a, c});
            for (size_t i = 0; i < 32; ++i) {
              const uint64_t wide_a = SoftConvert(*kind->format, formats::kF32, a[i], {});
              const uint64_t wide_b = SoftConvert(*kind->format, formats::kF32, b[i], {});
              const uint64_t s[] = {wide_a, fma ? wide_b : c[i], c[i]};
              ASSERT_EQ(out[i], Finished(kF32, Exact(kF32, k, s, form.rounding), sat, false)) << stem;
            }
          }
        }
      }
    }
  }
}

TEST(FloatExact, OutOfBoundsNanInAFactorGivesZero) {
  FloatHarness fma("fma.rn.oob.f16", {16, 16, 16, 16});
  ASSERT_TRUE(fma.ok());
  const auto out = fma.Run({{0x7ff7, 0x3c00, 0xfff7, 0x3c00, 0x7e00, 0x3c00},
                            {0x3c00, 0x7ff7, 0x3c00, 0x3c00, 0x3c00, 0x3c00},
                            {0x3c00, 0x7e00, 0xbc00, 0x7ff7, 0x3c00, 0x3c00}});
  EXPECT_EQ(std::vector<uint64_t>(out.begin(), out.begin() + 6),
            (std::vector<uint64_t>{0, 0, 0, 0x7fff, 0x7fff, 0x4000}));
}

TEST(FloatExact, ThreeOperandsAreTwoByTwo) {
  const uint64_t nan = 0x7fc00000, one = 0x3f800000, two = 0x40000000, minus_three = 0xc0400000;
  const std::vector<std::vector<uint64_t>> in = {
      {one, nan, nan, 1}, {minus_three, two, nan, one}, {two, one, nan, two}};
  const auto run = [&](const char* name) {
    FloatHarness h(name, {32, 32, 32, 32});
    EXPECT_TRUE(h.ok()) << name << h.exec().note;
    const auto out = h.Run(in);
    return std::vector<uint64_t>(out.begin(), out.begin() + 4);
  };
  EXPECT_EQ(run("min.f32"), (std::vector<uint64_t>{minus_three, one, 0x7fffffff, 1}));
  EXPECT_EQ(run("max.f32"), (std::vector<uint64_t>{two, two, 0x7fffffff, two}));
  EXPECT_EQ(run("max.abs.f32"), (std::vector<uint64_t>{0x40400000, two, 0x7fffffff, two}));
  EXPECT_EQ(run("min.NaN.f32"), (std::vector<uint64_t>{minus_three, 0x7fffffff, 0x7fffffff, 1}));
  EXPECT_EQ(run("min.ftz.f32"), (std::vector<uint64_t>{minus_three, one, 0x7fffffff, 0}));
}

TEST(FloatExact, OnlyLanesOfTheMaskAreWritten) {
  for (const char* name : {"add.f32", "add.rz.f32", "min.f32", "cvt.rn.f16x2.f32"}) {
    FloatHarness h(name, {32, 32, 32});
    const auto out = h.Run({{0x3f800000, 0x3f800000}, {0x3f800000, 0x3f800000}}, 0xdeadbeef);
    EXPECT_NE(out[1], 0xdeadbeefu) << name;
    EXPECT_EQ(out[2], 0xdeadbeefu) << name;
    EXPECT_EQ(out[31], 0xdeadbeefu) << name;
  }
}

// setp p|q with a Boolean operation, a negated operand aside: q is the complement's, and of a pair the upper
// half's.
TEST(FloatExact, SetpCombinesWithAPredicate) {
  FloatHarness scalar("setp.lt.and.f32", {2, 32, 32, 1});
  ASSERT_TRUE(scalar.ok()) << scalar.exec().note;
  const uint64_t one = 0x3f800000, two = 0x40000000, nan = 0x7fc00000;
  uint32_t p = 0, q = 0;
  scalar.RunPair({{one, two, nan, one}, {two, one, one, two}, {1, 1, 1, 0}}, &p, &q);
  EXPECT_EQ(p & 15, 0b0001u);
  EXPECT_EQ(q & 15, 0b0110u);
  FloatHarness pair("setp.geu.f16x2", {2, 32, 32});
  ASSERT_TRUE(pair.ok());
  // (low, high): (1 >= 2, 2 >= 1), (NaN, 0 >= -0)
  pair.RunPair({{0x40003c00, 0x00007e00}, {0x3c004000, 0x80003c00}}, &p, &q);
  EXPECT_EQ(p & 3, 0b10u);
  EXPECT_EQ(q & 3, 0b11u);
}

TEST(FloatExact, SetWritesItsTypesTrue) {
  struct Row {
    const char* name;
    int to, from;
    uint64_t a, b, want;
  };
  const Row rows[] = {{"set.lt.u32.f32", 32, 32, 0x3f800000, 0x40000000, 0xffffffff},
                      {"set.lt.f32.f64", 32, 64, 0x3ff0000000000000, 0x4000000000000000, 0x3f800000},
                      {"set.eq.f16.f16", 16, 16, 0x3c00, 0x3c00, 0x3c00},
                      {"set.eq.s16.bf16", 16, 16, 0x3f80, 0x3f80, 0xffff},
                      {"set.nan.bf16.f32", 16, 32, 0x7fc00000, 0, 0x3f80},
                      {"set.eq.f16x2.f16x2", 32, 32, 0x3c003c00, 0x3c004000, 0x3c000000},
                      {"set.eq.u32.f16x2", 32, 32, 0x3c003c00, 0x40003c00, 0x0000ffff},
                      {"set.ne.bf16x2.bf16x2", 32, 32, 0x3f803f80, 0x3f803f81, 0x00003f80},
                      {"set.eq.ftz.u32.f32", 32, 32, 1, 0x80000002, 0xffffffff},
                      {"set.eq.u32.f32", 32, 32, 1, 0x80000002, 0}};
  for (const Row& row : rows) {
    FloatHarness h(row.name, {row.to, row.from, row.from});
    ASSERT_TRUE(h.ok()) << row.name << h.exec().note;
    EXPECT_EQ(h.Run({{row.a}, {row.b}})[0], row.want) << row.name;
  }
}

TEST(FloatExact, WhatDoesNotExistIsRefusedWithAReason) {
  for (const char* name : {"add.rz.f16", "add.sat.f64", "fma.rn.sat.relu.f16", "add.rn.relu.f32",
                           "min.xorsign.f32", "setp.lo.f32", "div.rn.bf16", "add.wrong.f32"}) {
    FloatHarness h(name, {32, 32, 32, 32});
    EXPECT_FALSE(h.ok()) << name;
    EXPECT_NE(h.exec().note.find(name), std::string::npos) << name << ": " << h.exec().note;
  }
  // Other families' own.
  for (const char* name : {"add.u32", "div.approx.f32", "cvt.u32.s32", "ex2.approx.f32"}) {
    FloatHarness h(name, {32, 32, 32});
    EXPECT_TRUE(!h.ok() && h.exec().note.empty()) << name;
  }
}

}  // namespace
}  // namespace understudy::emu::ptx
