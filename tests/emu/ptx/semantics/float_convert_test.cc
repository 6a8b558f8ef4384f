// SPDX-License-Identifier: Apache-2.0
// Conversions against the formats' own definitions (src/base): exhaustive for sources of up to 16 bits and
// for every narrow code, at every rounding boundary and on random numbers for wider sources.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "src/base/soft_float.h"
#include "tests/emu/ptx/semantics/float_harness.h"

namespace understudy::emu::ptx {
namespace {

struct Form {
  Rounding rounding;
  const char* name;      // of floats
  const char* integral;  // of integers
};
constexpr Form kForms[] = {{Rounding::kNearestEven, "rn", "rni"},
                           {Rounding::kToZero, "rz", "rzi"},
                           {Rounding::kDown, "rm", "rmi"},
                           {Rounding::kUp, "rp", "rpi"}};

struct Kind {
  const char* name;
  const FloatFormat* format;
  int bits;
  uint64_t canonical;
};
const Kind kF16{"f16", &formats::kF16, 16, 0x7fff}, kBf16{"bf16", &formats::kBf16, 16, 0x7fff};
const Kind kF32{"f32", &formats::kF32, 32, 0x7fffffff}, kF64{"f64", &formats::kF64, 64, 0};

// Calls check(input, output) for every input.
template <class Check>
void ForAll(FloatHarness& harness, const std::vector<uint64_t>& inputs, Check check) {
  for (size_t begin = 0; begin < inputs.size(); begin += 32) {
    const size_t end = std::min(begin + 32, inputs.size());
    const std::vector<uint64_t> batch(inputs.begin() + static_cast<ptrdiff_t>(begin),
                                      inputs.begin() + static_cast<ptrdiff_t>(end));
    const std::vector<uint64_t> out = harness.Run({batch});
    for (size_t i = 0; i < batch.size(); ++i) check(batch[i], out[i]);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

std::vector<uint64_t> AllOf(int bits) {
  std::vector<uint64_t> all;
  for (uint64_t v = 0; v < uint64_t{1} << bits; ++v) all.push_back(v);
  return all;
}

// Numbers of `from` at, around and halfway between the numbers of `to`, and random ones.
std::vector<uint64_t> Boundaries(const FloatFormat& from, const FloatFormat& to, int random_count) {
  std::vector<uint64_t> all = {0,
                               1,
                               from.man_mask(),
                               from.man_mask() + 1,
                               from.inf_bits(),
                               from.inf_bits() + 1,
                               from.max_bits(),
                               from.inf_bits() | (from.man_mask() + 1) / 2};
  const uint64_t codes = to.max_bits();
  std::mt19937_64 random(3);
  for (uint64_t i = 0; i < 20000; ++i) {
    const uint64_t code = codes < 20000 ? i % (codes + 1) : random() % (codes + 1);
    const double low = DecodeFloat(to, code), high = DecodeFloat(to, code + 1);
    if (!std::isfinite(high)) continue;
    for (double v : {low, (low + high) / 2}) {
      const uint64_t bits = EncodeFloat(from, v);
      for (uint64_t near : {bits - 1, bits, bits + 1}) all.push_back(near & (from.sign_mask() - 1));
    }
  }
  for (int i = 0; i < random_count; ++i) all.push_back(random() & (from.sign_mask() - 1));
  const size_t positive = all.size();
  for (size_t i = 0; i < positive; ++i) all.push_back(all[i] | from.sign_mask());
  return all;
}

// What a NaN becomes: from f64 its sign and leading payload stay, else it is the format's all-ones NaN.
uint64_t NanOf(const Kind& from, const Kind& to, uint64_t v) {
  if (from.format == &formats::kF64 || to.format == &formats::kF64)
    return SoftConvert(*from.format, *to.format, v, {});
  return to.canonical;
}

TEST(FloatConvert, FloatsNarrowWithOneRounding) {
  const std::pair<const Kind*, const Kind*> pairs[] = {{&kF64, &kF32}, {&kF64, &kF16},  {&kF64, &kBf16},
                                                       {&kF32, &kF16}, {&kF32, &kBf16}, {&kBf16, &kF16},
                                                       {&kF16, &kBf16}};
  for (const auto& [from, to] : pairs) {
    const auto inputs = from->bits == 16 ? AllOf(16) : Boundaries(*from->format, *to->format, 20000);
    for (Form form : kForms) {
      const std::string name = std::string("cvt.") + form.name + "." + to->name + "." + from->name;
      FloatHarness harness(name, {to->bits, from->bits});
      ASSERT_TRUE(harness.ok()) << name << harness.exec().note;
      ForAll(harness, inputs, [&, from = from, to = to](uint64_t in, uint64_t out) {
        const uint64_t want = from->format->IsNan(in)
                                  ? NanOf(*from, *to, in)
                                  : SoftConvert(*from->format, *to->format, in, {form.rounding});
        ASSERT_EQ(out, want) << name << " of " << std::hex << in;
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(FloatConvert, ReluSatfiniteAndSatClampTheRoundedResult) {
  for (const Kind* to : {&kF16, &kBf16}) {
    const auto inputs = Boundaries(formats::kF32, *to->format, 5000);
    for (int which = 0; which < 4; ++which) {
      const bool relu = (which & 1) != 0, finite = (which & 2) != 0;
      for (Form form : {kForms[0], kForms[1]}) {
        const std::string name = std::string("cvt.") + form.name + (relu ? ".relu" : "") +
                                 (finite ? ".satfinite" : "") + "." + to->name + ".f32";
        FloatHarness harness(name, {16, 32});
        ASSERT_TRUE(harness.ok()) << name;
        FloatHarness pair(name.substr(0, name.size() - 4) + "x2.f32", {32, 32, 32});
        ASSERT_TRUE(pair.ok()) << name;
        ForAll(harness, inputs, [&](uint64_t in, uint64_t out) {
          uint64_t want = EncodeFloat(*to->format, DecodeFloat(formats::kF32, in), form.rounding,
                                      finite ? Overflow::kSaturate : Overflow::kInf);
          if (formats::kF32.IsNan(in))
            want = to->canonical;
          else if (relu && in >> 31 != 0)
            want = 0;
          ASSERT_EQ(out, want) << name << " of " << std::hex << in;
          ASSERT_EQ(pair.Run({{in}, {0x3f800000}})[0], want << 16 | EncodeFloat(*to->format, 1.0)) << name;
        });
      }
    }
  }
  for (const Kind* to : {&kF16, &kF32}) {
    const std::string name = std::string("cvt.rz.sat.") + to->name + ".f64";
    FloatHarness harness(name, {to->bits, 64});
    ForAll(harness, Boundaries(formats::kF64, *to->format, 5000), [&](uint64_t in, uint64_t out) {
      const double v = DecodeFloat(formats::kF64, in);
      const double clamped = std::isnan(v) || v <= 0 ? 0.0 : v > 1 ? 1.0 : v;
      ASSERT_EQ(out, EncodeFloat(*to->format, clamped, Rounding::kToZero)) << name << std::hex << in;
    });
  }
}

TEST(FloatConvert, FloatsWidenExactly) {
  for (const Kind* from : {&kF16, &kBf16}) {
    for (const Kind* to : {&kF32, &kF64}) {
      const std::string name = std::string("cvt.") + to->name + "." + from->name;
      FloatHarness harness(name, {to->bits, 16});
      ASSERT_TRUE(harness.ok()) << name;
      ForAll(harness, AllOf(16), [&](uint64_t in, uint64_t out) {
        // An f32 from bf16 is the same bits, NaNs too.
        const bool same = from == &kBf16 && to == &kF32;
        const uint64_t want = same                      ? in << 16
                              : from->format->IsNan(in) ? NanOf(*from, *to, in)
                                                        : SoftConvert(*from->format, *to->format, in);
        ASSERT_EQ(out, want) << name << " of " << std::hex << in;
      });
    }
  }
  FloatHarness flush("cvt.ftz.f32.bf16", {32, 16});
  ForAll(flush, AllOf(16), [&](uint64_t in, uint64_t out) {
    const uint64_t want = formats::kBf16.IsNan(in) ? 0x7fffffffu
                          : (in & 0x7fff) < 0x80   ? (in & 0x8000) << 16
                                                   : in << 16;
    ASSERT_EQ(out, want) << std::hex << in;
  });
}

TEST(FloatConvert, FlushedF32IsTinyAfterRoundingTo24Bits) {
  // 2^-126 (1 - 2^-25) rounds to 2^-126 with 24 bits and any exponent; 2^-126 (1 - 2^-24) does not.
  FloatHarness nearest("cvt.rn.ftz.f32.f64", {32, 64}), up("cvt.rp.ftz.f32.f64", {32, 64});
  const double least = 0x1p-126;
  const auto bits = [](double v) { return std::bit_cast<uint64_t>(v); };
  EXPECT_EQ(
      nearest.Run(
          {{bits(least * (1 - 0x1p-26)), bits(-least * (1 - 0x1p-24)), bits(least), bits(least / 2)}}),
      (std::vector<uint64_t>{0x00800000, 0x80000000, 0x00800000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                             0,          0,          0,          0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(up.Run({{bits(least * (1 - 0x1p-40))}})[0], 0x00800000u);
  EXPECT_EQ(up.Run({{bits(least * (1 - 0x1p-24))}})[0], 0u);
}

struct IntKind {
  const char* name;
  int bits;
  bool is_signed;
};
constexpr IntKind kInts[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                             {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

TEST(FloatConvert, FloatsBecomeIntegers) {
  for (const Kind* from : {&kF16, &kBf16, &kF32, &kF64}) {
    // Halves, thirds and the ends of every integer range.
    std::vector<uint64_t> inputs =
        from->bits == 16 ? AllOf(16) : Boundaries(*from->format, formats::kF16, 20000);
    if (from->bits > 16) {
      for (int power : {7, 8, 15, 16, 31, 32, 53, 63, 64}) {
        const uint64_t bits = EncodeFloat(*from->format, std::ldexp(1.0, power));
        for (uint64_t v = bits - 40; v <= bits + 40; ++v) {
          inputs.push_back(v);
          inputs.push_back(v | from->format->sign_mask());
        }
      }
    }
    for (const IntKind& to : kInts) {
      for (Form form : kForms) {
        const std::string name = std::string("cvt.") + form.integral + "." + to.name + "." + from->name;
        const int reg = to.bits < 32 ? 32 : to.bits;
        FloatHarness harness(name, {reg, from->bits});
        ASSERT_TRUE(harness.ok()) << name;
        const uint64_t mask = reg == 64 ? ~uint64_t{0} : 0xffffffffu;
        ForAll(harness, inputs, [&](uint64_t in, uint64_t out) {
          uint64_t want;
          const SoftContext context{form.rounding};
          if (from->format->IsNan(in)) {
            want = from->bits == 64 || to.bits == 64 ? uint64_t{1} << (to.bits - 1) : 0;
            if (to.is_signed) want = uint64_t{0} - want;
          } else if (to.is_signed) {
            want = static_cast<uint64_t>(SoftToInt(*from->format, in, to.bits, context));
          } else {
            want = SoftToUint(*from->format, in, to.bits, context);
          }
          ASSERT_EQ(out, want & mask) << name << " of " << std::hex << in;
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(FloatConvert, IntegersBecomeFloats) {
  std::mt19937_64 random(5);
  for (const IntKind& from : kInts) {
    std::vector<uint64_t> inputs;
    if (from.bits <= 16) {
      inputs = AllOf(from.bits);
    } else {
      for (int power = 0; power < from.bits; ++power)
        for (int i = 0; i < 200; ++i) {
          const uint64_t top = uint64_t{1} << power;
          const uint64_t v = i < 8 ? top - 4 + static_cast<uint64_t>(i)
                                   : top | (random() & (top - 1) & ~((top >> (random() % 30)) - 1));
          inputs.push_back(v);
          inputs.push_back(uint64_t{0} - v);
        }
      for (uint64_t& v : inputs) v &= from.bits == 64 ? ~uint64_t{0} : 0xffffffffu;
    }
    for (const Kind* to : {&kF16, &kBf16, &kF32, &kF64}) {
      for (Form form : kForms) {
        const std::string name = std::string("cvt.") + form.name + "." + to->name + "." + from.name;
        FloatHarness harness(name, {to->bits, from.bits});
        ASSERT_TRUE(harness.ok()) << name;
        ForAll(harness, inputs, [&](uint64_t in, uint64_t out) {
          const int unused = 64 - from.bits;
          const auto value = static_cast<int64_t>(in << unused) >> unused;
          const uint64_t want = from.is_signed ? SoftFromInt(*to->format, value, {form.rounding})
                                               : SoftFromUint(*to->format, in, {form.rounding});
          ASSERT_EQ(out, want) << name << " of " << std::hex << in;
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(FloatConvert, IntegralFloatsKeepSignAndFormat) {
  for (const Kind* kind : {&kF16, &kBf16, &kF32, &kF64}) {
    const auto inputs = kind->bits == 16 ? AllOf(16) : Boundaries(*kind->format, formats::kF16, 20000);
    for (Form form : kForms) {
      const std::string name = std::string("cvt.") + form.integral + "." + kind->name + "." + kind->name;
      FloatHarness harness(name, {kind->bits, kind->bits});
      ASSERT_TRUE(harness.ok()) << name;
      ForAll(harness, inputs, [&](uint64_t in, uint64_t out) {
        uint64_t want = SoftRoundToIntegral(*kind->format, in, {form.rounding});
        if (kind->format->IsNan(in)) want = NanOf(*kind, *kind, in);
        ASSERT_EQ(out, want) << name << " of " << std::hex << in;
      });
    }
  }
}

struct NarrowKind {
  const char* name;
  const FloatFormat* format;
  int field;
};
const NarrowKind kNarrow[] = {{"e4m3", &formats::kFp8E4M3, 8},
                              {"e5m2", &formats::kFp8E5M2, 8},
                              {"e2m3", &formats::kFp6E2M3, 8},
                              {"e3m2", &formats::kFp6E3M2, 8},
                              {"e2m1", &formats::kFp4E2M1, 4}};

// NaN: all ones below the sign, or the largest number.
uint64_t Narrowed(const NarrowKind& kind, double v, bool relu) {
  if (std::isnan(v)) return kind.format->nan == NanEncoding::kNoNan ? kind.format->max_bits() : 0x7f;
  if (relu && std::signbit(v)) return 0;
  return EncodeFloat(*kind.format, v, Rounding::kNearestEven, Overflow::kSaturate);
}

TEST(FloatConvert, NarrowPairsFromF32AndHalves) {
  for (const NarrowKind& to : kNarrow) {
    const int reg = 2 * to.field;
    for (bool relu : {false, true}) {
      const std::string stem = std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + to.name + "x2.";
      FloatHarness single(stem + "f32", {reg, 32, 32});
      ASSERT_TRUE(single.ok()) << stem << single.exec().note;
      const auto inputs = Boundaries(formats::kF32, *to.format, 2000);
      for (size_t i = 0; i + 32 <= inputs.size(); i += 32) {
        std::vector<uint64_t> a(inputs.begin() + static_cast<ptrdiff_t>(i),
                                inputs.begin() + static_cast<ptrdiff_t>(i + 32));
        std::vector<uint64_t> b(a.rbegin(), a.rend());
        const auto out = single.Run({a, b});
        for (size_t k = 0; k < 32; ++k) {
          ASSERT_EQ(out[k], Narrowed(to, DecodeFloat(formats::kF32, a[k]), relu) << to.field |
                                Narrowed(to, DecodeFloat(formats::kF32, b[k]), relu))
              << stem << std::hex << a[k] << " " << b[k];
        }
      }
      for (const Kind* from : {&kF16, &kBf16}) {
        FloatHarness half(stem + from->name + "x2", {reg, 32});
        ASSERT_TRUE(half.ok()) << stem;
        std::vector<uint64_t> all;
        for (uint64_t v = 0; v < 65536; ++v) all.push_back(v << 16 | (v ^ 0x5555));
        ForAll(half, all, [&](uint64_t in, uint64_t out) {
          ASSERT_EQ(out, Narrowed(to, DecodeFloat(*from->format, in >> 16), relu) << to.field |
                             Narrowed(to, DecodeFloat(*from->format, in & 0xffff), relu))
              << stem << from->name << std::hex << in;
        });
      }
    }
  }
}

TEST(FloatConvert, EveryNarrowCodeWidens) {
  for (const NarrowKind& from : kNarrow) {
    for (const Kind* to : {&kF16, &kBf16}) {
      for (bool relu : {false, true}) {
        const std::string name =
            std::string("cvt.rn") + (relu ? ".relu." : ".") + to->name + "x2." + from.name + "x2";
        FloatHarness harness(name, {32, 2 * from.field});
        ASSERT_TRUE(harness.ok()) << name;
        const auto half = [&](uint64_t code) -> uint64_t {
          const double v = DecodeFloat(*from.format, code);
          if (std::isnan(v)) return 0x7fff;
          return relu && std::signbit(v) ? 0 : EncodeFloat(*to->format, v);
        };
        ForAll(harness, AllOf(2 * from.field), [&](uint64_t in, uint64_t out) {
          ASSERT_EQ(out, half(in >> from.field) << 16 | half(in & ((1u << from.field) - 1)))
              << name << std::hex << in;
        });
      }
    }
  }
}

TEST(FloatConvert, ScalesArePowersOfTwo) {
  for (bool up : {false, true}) {
    for (bool finite : {false, true}) {
      const std::string stem =
          std::string("cvt.") + (up ? "rp" : "rz") + (finite ? ".satfinite" : "") + ".ue8m0x2.";
      FloatHarness single(stem + "f32", {16, 32, 32}), pair(stem + "bf16x2", {16, 32});
      ASSERT_TRUE(single.ok() && pair.ok()) << stem;
      const auto scale = [&](double v) -> uint64_t {
        if (std::isnan(v)) return 0xff;
        if (std::isinf(v)) return finite ? 0xfe : 0xff;
        if (v == 0) return 0;
        int exponent;
        const double fraction = std::frexp(std::fabs(v), &exponent);
        int code = exponent - 1 + 127 + (up && fraction != 0.5 ? 1 : 0);
        if (code < 0) code = 0;
        return static_cast<uint64_t>(std::min(code, finite ? 0xfe : 0xff));
      };
      ForAll(pair, AllOf(16), [&](uint64_t in, uint64_t out) {
        ASSERT_EQ(out, scale(DecodeFloat(formats::kBf16, 0)) << 8 | scale(DecodeFloat(formats::kBf16, in)))
            << stem << std::hex << in;
      });
      for (uint64_t v : Boundaries(formats::kF32, formats::kBf16, 2000)) {
        const double x = DecodeFloat(formats::kF32, v);
        ASSERT_EQ(single.Run({{v}, {0x3f800001}})[0], scale(x) << 8 | (up ? 128u : 127u))
            << stem << std::hex << v;
      }
    }
  }
  FloatHarness back("cvt.rn.bf16x2.ue8m0x2", {32, 16});
  ASSERT_TRUE(back.ok());
  ForAll(back, AllOf(16), [&](uint64_t in, uint64_t out) {
    const auto half = [](uint64_t code) -> uint64_t {
      return code == 255 ? 0x7fff
                         : EncodeFloat(formats::kBf16, std::ldexp(1.0, static_cast<int>(code) - 127));
    };
    ASSERT_EQ(out, half(in >> 8) << 16 | half(in & 255)) << std::hex << in;
  });
}

TEST(FloatConvert, Tf32IsTheUpper19Bits) {
  const auto inputs = Boundaries(formats::kF32, formats::kTf32, 20000);
  for (Form form : {kForms[0], kForms[1]}) {
    for (int which = 0; which < 4; ++which) {
      const bool relu = (which & 1) != 0, finite = (which & 2) != 0;
      const std::string name = std::string("cvt.") + form.name + (finite ? ".satfinite" : "") +
                               (relu ? ".relu" : "") + ".tf32.f32";
      FloatHarness harness(name, {32, 32});
      ASSERT_TRUE(harness.ok()) << name;
      ForAll(harness, inputs, [&](uint64_t in, uint64_t out) {
        uint64_t want = EncodeFloat(formats::kTf32, DecodeFloat(formats::kF32, in), form.rounding,
                                    finite ? Overflow::kSaturate : Overflow::kInf)
                        << 13;
        if (formats::kF32.IsNan(in))
          want = 0x7fffe000;
        else if (relu && in >> 31 != 0)
          want = 0;
        ASSERT_EQ(out, want) << name << std::hex << in;
      });
    }
  }
  // Ties go away from zero: as if half a unit were added to the magnitude.
  FloatHarness away("cvt.rna.tf32.f32", {32, 32});
  ForAll(away, inputs, [&](uint64_t in, uint64_t out) {
    if (formats::kF32.IsNan(in)) return;
    const double v = DecodeFloat(formats::kF32, in);
    int exponent = -126;
    if (std::isfinite(v) && v != 0) exponent = std::max(std::ilogb(v), -126);
    const double unit = std::ldexp(1.0, exponent - 10);
    const double want = std::isfinite(v) ? std::floor(std::fabs(v) / unit + 0.5) * unit : v;
    ASSERT_EQ(out & 0x7fffffffu, EncodeFloat(formats::kF32, std::fabs(want))) << std::hex << in;
    ASSERT_EQ(out >> 31, in >> 31);
  });
}

// floor(|v| / unit + random / 2^n) units.
uint64_t Stochastic(const FloatFormat& f, double v, uint64_t random, int n, bool relu, bool finite) {
  if (std::isnan(v)) return f.nan == NanEncoding::kNoNan ? f.max_bits() : (f.sign_mask() - 1);
  if (relu && std::signbit(v)) return 0;
  const uint64_t sign = std::signbit(v) ? f.sign_mask() : 0;
  if (std::isinf(v)) return sign | (finite ? f.max_bits() : f.inf_bits());
  if (v == 0) return sign;
  const double magnitude = std::fabs(v);
  const int exponent = std::max(std::ilogb(magnitude), f.min_exp());
  const double unit = std::ldexp(1.0, exponent - f.man_bits);
  const double quotient = magnitude / unit, whole = std::floor(quotient);
  const bool carry =
      (quotient - whole) * std::ldexp(1.0, n) + static_cast<double>(random) >= std::ldexp(1.0, n);
  const double rounded = (whole + (carry ? 1 : 0)) * unit;
  if (rounded > DecodeFloat(f, f.max_bits())) return sign | (finite ? f.max_bits() : f.inf_bits());
  return sign | EncodeFloat(f, rounded);
}

uint64_t Reversed(uint64_t v) {
  uint64_t r = 0;
  for (int i = 0; i < 16; ++i)
    if ((v >> i & 1) != 0) r |= uint64_t{0x8000} >> i;
  return r;
}

TEST(FloatConvert, StochasticRoundingAddsTheRandomBitsBelowTheLastPlace) {
  std::mt19937_64 random(9);
  for (bool relu : {false, true}) {
    for (const Kind* to : {&kF16, &kBf16}) {
      for (bool finite : {false, true}) {
        const std::string name = std::string("cvt.rs") + (relu ? ".relu" : "") +
                                 (finite ? ".satfinite" : "") + "." + to->name + "x2.f32";
        FloatHarness harness(name, {32, 32, 32, 32});
        ASSERT_TRUE(harness.ok()) << name;
        const int n = to == &kF16 ? 13 : 16;
        const uint64_t mask = (1u << n) - 1;
        for (uint64_t v : Boundaries(formats::kF32, *to->format, 5000)) {
          const uint64_t bits = random() & 0xffffffffu, w = v ^ 0x80000000u;
          const double a = DecodeFloat(formats::kF32, v), b = DecodeFloat(formats::kF32, w);
          ASSERT_EQ(harness.Run({{v}, {w}, {bits}})[0],
                    Stochastic(*to->format, a, bits >> 16 & mask, n, relu, finite) << 16 |
                        Stochastic(*to->format, b, bits & mask, n, relu, finite))
              << name << std::hex << " " << v << " with " << bits;
        }
      }
    }
    for (const NarrowKind& to : kNarrow) {
      const std::string name =
          std::string("cvt.rs") + (relu ? ".relu" : "") + ".satfinite." + to.name + "x4.f32";
      FloatHarness harness(name, {4 * to.field, -4, 32});
      ASSERT_TRUE(harness.ok()) << name << harness.exec().note;
      const auto inputs = Boundaries(formats::kF32, *to.format, 5000);
      for (size_t i = 0; i + 4 <= inputs.size(); i += 4) {
        const uint64_t bits = random() & 0xffffffffu;
        const uint64_t high = to.field == 8 ? bits >> 16 : (bits >> 24) << 8 | (bits >> 8 & 255);
        const uint64_t low = to.field == 8 ? bits & 0xffff : (bits >> 16 & 255) << 8 | (bits & 255);
        const uint64_t share[] = {Reversed(high), high, Reversed(low), low};
        std::vector<std::vector<uint64_t>> sources;
        uint64_t want = 0;
        for (size_t k = 0; k < 4; ++k) {
          sources.push_back({inputs[i + k]});
          want = want << to.field |
                 Stochastic(*to.format, DecodeFloat(formats::kF32, inputs[i + k]), share[k], 16, relu, true);
        }
        sources.push_back({bits});
        ASSERT_EQ(harness.Run(sources)[0], want) << name << std::hex << " " << inputs[i] << " with " << bits;
      }
    }
  }
}

// Sources and destinations may be wider than the type, signed integers come extended by their sign.
TEST(FloatConvert, RegistersMayBeWiderThanTypes) {
  EXPECT_EQ(FloatHarness("cvt.rn.f32.u8", {32, 32}).Run({{0xabcdef05}})[0], 0x40a00000u);
  EXPECT_EQ(FloatHarness("cvt.rn.f32.s8", {32, 64}).Run({{0x12345678abcdefff}})[0], 0xbf800000u);
  EXPECT_EQ(FloatHarness("cvt.rzi.s8.f32", {64, 32}).Run({{0xbf800000}})[0], ~uint64_t{0});
  EXPECT_EQ(FloatHarness("cvt.rzi.u16.f32", {64, 32}).Run({{0x47800000}})[0], 0xffffu);
  EXPECT_EQ(FloatHarness("cvt.rzi.s32.f32", {64, 32}).Run({{0xc0000000}})[0], ~uint64_t{1});
  EXPECT_EQ(FloatHarness("cvt.f32.f16", {32, 32}).Run({{0xffff3c00}})[0], 0x3f800000u);
  EXPECT_EQ(FloatHarness("cvt.rzi.s16.f32", {16, 32}).Run({{0xbf800000}})[0], 0xffffu);
}

TEST(FloatConvert, TheBitsOfF32PassUntouchedWithoutModifiers) {
  FloatHarness same("cvt.f32.f32", {32, 32}), flush("cvt.ftz.f32.f32", {32, 32});
  EXPECT_EQ(same.Run({{0xff800001}})[0], 0xff800001u);
  EXPECT_EQ(flush.Run({{0xff800001}})[0], 0x7fffffffu);
  EXPECT_EQ(flush.Run({{0x80000001}})[0], 0x80000000u);
  EXPECT_EQ(same.Run({{0x80000001}})[0], 0x80000001u);
}

TEST(FloatConvert, WhatDoesNotExistIsRefusedWithAReason) {
  for (const char* name :
       {"cvt.s32.f32", "cvt.rni.f32.f16", "cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2", "cvt.rz.e4m3x2.f32",
        "cvt.rm.tf32.f32", "cvt.rs.e4m3x2.f32", "cvt.rn.ue8m0x2.f32"}) {
    FloatHarness h(name, {32, 32});
    EXPECT_FALSE(h.ok()) << name;
    EXPECT_NE(h.exec().note.find(name), std::string::npos) << name << ": " << h.exec().note;
  }
}

}  // namespace
}  // namespace understudy::emu::ptx
