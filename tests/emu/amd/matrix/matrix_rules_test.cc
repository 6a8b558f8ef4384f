// SPDX-License-Identifier: Apache-2.0
// The sums of matrix rules: against results that were measured on cards, and the vector loops of every host
// instruction set against the rules written for one element.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "emu/amd/semantics/matrix_kernels.h"
#include "emu/amd/semantics/matrix_scalar.h"

namespace understudy::emu::amd {
namespace {

float Half(uint32_t bits) { return std::bit_cast<float>(WidenHalf(bits & 0xffff)); }
float Bfloat(uint32_t bits) { return std::bit_cast<float>((bits & 0xffff) << 16); }

// A product of one row and 16 columns, staged as the executor stages it.
class Product {
 public:
  Product(int k, int group, MatrixType d, int min_exponent, bool flush)
      : min_exponent_(min_exponent), flush_(flush) {
    p_.rows = 1;
    p_.cols = 16;
    p_.k = k;
    p_.group = group;
    p_.a_stride = 1;
    p_.b_stride = 16;
    p_.d = d;
    p_.in_range = min_exponent == -14;
    for (auto* v : {&a_, &b_, &a_significand_, &b_significand_}) v->resize(16 * static_cast<size_t>(k));
    a_exponent_.resize(a_.size());
    b_exponent_.resize(b_.size());
  }
  void SetA(int k, float v) { Stage(v, &a_, &a_significand_, &a_exponent_, static_cast<size_t>(k)); }
  void SetB(int k, int col, float v) {
    Stage(v, &b_, &b_significand_, &b_exponent_, static_cast<size_t>(16 * k + col));
  }
  void SetC(int col, uint32_t bits) { cd_[col] = bits; }

  std::vector<uint32_t> Run(void (*rule)(const MatrixProduct&),
                            void (*slow)(const MatrixProduct&, int, int, int)) {
    const MatrixProduct p = Task(slow);
    rule(p);
    return std::vector<uint32_t>(result_, result_ + 16);
  }
  std::vector<uint32_t> RunScalar(void (*slow)(const MatrixProduct&, int, int, int)) {
    slow(Task(slow), 0, 0, 16);
    return std::vector<uint32_t>(result_, result_ + 16);
  }
  bool IsSpecial() const { return special_; }

 private:
  MatrixProduct Task(void (*slow)(const MatrixProduct&, int, int, int)) {
    MatrixProduct p = p_;
    p.a_value = a_.data();
    p.b_value = b_.data();
    p.a = a_significand_.data();
    p.b = b_significand_.data();
    p.a_exponent = a_exponent_.data();
    p.b_exponent = b_exponent_.data();
    std::memcpy(result_, cd_, sizeof(cd_));
    p.cd = result_;
    p.slow = slow;
    return p;
  }
  void Stage(float v, std::vector<float>* values, std::vector<float>* significands,
             std::vector<int32_t>* exponents, size_t at) {
    if (flush_ && std::fabs(v) < std::ldexp(1.0, min_exponent_)) v = std::copysign(0.0f, v);
    (*values)[at] = v;
    special_ |= !std::isfinite(v);
    int exponent = 0;
    std::frexp(v, &exponent);
    exponent = std::max(exponent - 1, min_exponent_);
    (*significands)[at] = static_cast<float>(std::ldexp(static_cast<double>(v), kStagedBits - exponent));
    (*exponents)[at] = v == 0 ? kZeroExponent : exponent;
  }

  MatrixProduct p_ = {};
  int min_exponent_;
  bool flush_, special_ = false;
  std::vector<float> a_, b_, a_significand_, b_significand_;
  std::vector<int32_t> a_exponent_, b_exponent_;
  alignas(64) uint32_t cd_[16] = {};
  alignas(64) uint32_t result_[16] = {};
};

std::vector<const MatrixKernels*> KernelSets() {
  std::vector<const MatrixKernels*> sets = {&matrix_baseline::kKernels};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(&matrix_avx2::kKernels);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    sets.push_back(&matrix_avx512::kKernels);
  }
  return sets;
}

// Two products of packed halves and an f32, and the card's answer.
struct DotFact {
  uint32_t a, b, c, d;
};
void CheckDots(const std::vector<DotFact>& facts, bool bf16, bool rdna4) {
  for (const DotFact& fact : facts) {
    const auto value = [&](uint32_t bits) { return bf16 ? Bfloat(bits) : Half(bits); };
    Product p(rdna4 ? 4 : 2, 2, MatrixType::kF32, bf16 ? -126 : -14, bf16 && !rdna4);
    for (int k = 0; k < (rdna4 ? 4 : 2); ++k) {
      p.SetA(k, k < 2 ? value(fact.a >> (16 * k)) : 0);
      for (int col = 0; col < 16; ++col) p.SetB(k, col, k < 2 ? value(fact.b >> (16 * k)) : 0);
    }
    for (int col = 0; col < 16; ++col) p.SetC(col, fact.c);
    const auto slow = rdna4 ? Dot4Scalar : Dot2Scalar;
    EXPECT_EQ(p.RunScalar(slow)[3], fact.d) << std::hex << fact.a << " " << fact.b << " " << fact.c;
    if (p.IsSpecial()) continue;
    for (const MatrixKernels* set : KernelSets()) {
      EXPECT_EQ(p.Run(rdna4 ? set->dot4 : set->dot2, slow)[3], fact.d) << std::hex << fact.a << " " << fact.b;
    }
  }
}

// Measured on gfx1100 with V_DOT2_F32_F16 and V_DOT2_F32_BF16, whose sums are those of WMMA (published with
// AMD's rocjitsu).
TEST(MeasuredOnGfx1100, PairsOfF16) {
  CheckDots(
      {{0x48004200, 0x44004800, 0xbf800000, 0x425c0001}, {0xc800c200, 0x44004800, 0x3f800000, 0xc25c0001},
       {0x3c00bc00, 0x3c003c00, 0x3f800000, 0x3f7fffff}, {0x3c003c00, 0x3c003c00, 0xc0000000, 0x34000000},
       {0x3c004000, 0x3c003c00, 0xc0000000, 0x3f800002}, {0x4800c800, 0x48004800, 0x3f800000, 0x3f7fffc0},
       {0x3c00bc00, 0x3c000000, 0x00000000, 0x3f7fffff}, {0x3c003c00, 0x3c000000, 0x80000000, 0x3f800001},
       {0x3c003c00, 0x3c003c00, 0x7f812345, 0x7fc12345}, {0x3c007e01, 0x3c003c00, 0x00000000, 0xffc00a3d},
       {0x3c007c00, 0x3c000000, 0x00000000, 0xffc00000}, {0xfc007c00, 0x3c003c00, 0x7fc12345, 0xffc00000},
       {0x00000001, 0x3c003c00, 0x00000000, 0x33800000}, {0x00000001, 0x3c008001, 0x00000000, 0xa7880000},
       {0x058ef3f3, 0x2b241c4a, 0xb8eed486, 0xc2886106}, {0xcd6c4d6c, 0x78af78af, 0x00000000, 0xbd000000},
       {0xf82e782e, 0x6a286a28, 0x00000000, 0xc0800000}, {0x84950495, 0x3d283d28, 0x80000000, 0x2c800000},
       {0xe9f969f9, 0x612c612c, 0x00000000, 0xbd800000}, {0xbc003c00, 0x0001fbff, 0x7f800000, 0x7f800000}},
      false, false);
}
TEST(MeasuredOnGfx1100, PairsOfBf16) {
  CheckDots({{0x00800000, 0x3f808000, 0x00000001, 0x00000000},
             {0x00000001, 0x3f804980, 0x00000000, 0x00000000},
             {0x00000700, 0x3f803f80, 0x00000000, 0x07000000},
             {0x00800080, 0x3f003f00, 0x00000000, 0x00800000},
             {0xff7f7f7f, 0x7f7f7f7f, 0x00000000, 0xff800000},
             {0x49b3fce2, 0x573a122b, 0x246a3c33, 0x61820e00},
             {0x714025c9, 0xfdfca829, 0x916be0f9, 0xff800000},
             {0xc395629b, 0xd9633359, 0xdc60025c, 0x5d504185},
             {0xafb72fb7, 0x0d170d17, 0x00000000, 0x00000000},
             {0x35b3b5b3, 0xc398c398, 0x80000000, 0x2d800000},
             {0xc4014401, 0x33463346, 0x00000000, 0xab800000},
             {0x7f907f80, 0xff7f7f80, 0x80000000, 0xffc00a3d}},
            true, false);
}
TEST(MeasuredOnGfx1201, PairsOfF16) {
  CheckDots({{0x48004200, 0x44004800, 0xbf800000, 0x425c0000},
             {0x3c003c00, 0x3c003c00, 0xc0000000, 0x00000000},
             {0x3c003c00, 0x3c003c00, 0xff812345, 0xffc12345},
             {0x00000001, 0x3c008001, 0x00000000, 0xa7800000},
             {0x058ef3f3, 0x2b241c4a, 0xb8eed486, 0xc2886106},
             {0xcd6c4d6c, 0x78af78af, 0x00000000, 0x00000000},
             {0x3c007c00, 0x3c000000, 0x7fc12345, 0xffc00000},
             {0x8000fc00, 0x04013c00, 0x00800000, 0xff800000}},
            false, true);
}
TEST(MeasuredOnGfx1201, PairsOfBf16) {
  CheckDots({{0x00800000, 0x3f808000, 0x00000001, 0x00800001},
             {0x00000001, 0x3f804980, 0x00000000, 0x07000000},
             {0xc395629b, 0xd9633359, 0xdc60025c, 0x5d504184},
             {0x2061bc39, 0x96b40093, 0x0056dd77, 0x00553463},
             {0x08e7393d, 0xb7d307aa, 0x80800005, 0x8006c205},
             {0x0364bc8c, 0x3c468385, 0x807ffffe, 0x0069a402},
             {0x31d937e8, 0x0ef388d8, 0x00800003, 0x00947603},
             {0x0d040199, 0xb3fb3e6b, 0x807ffff8, 0x817c9e7c},
             {0x98ea1190, 0x2720af4c, 0x80800004, 0x81b75001}},
            true, true);
}

// Rows of V_WMMA_F32_16X16X16 measured on gfx1201. Waves of 32 lanes were loaded with K in the order of their
// registers, lane group by lane group, which is not the order that the manual gives; the sums differ in the
// last place.
struct RowFact {
  bool bf16;
  uint32_t a[16], b[16], c, wave32, wave64;
};
TEST(MeasuredOnGfx1201, RowsOfSixteenProducts) {
  const RowFact facts[] = {{false,
                            {0xc6e1, 0xb1ea, 0xd31d, 0x2d4f, 0x4a45, 0xd1f1, 0x3362, 0xc244, 0x4a75, 0x443e,
                             0x5623, 0x4ec3, 0x57c7, 0xb82e, 0xcf34, 0x3660},
                            {0xd36c, 0xc886, 0x2f3d, 0x30a3, 0xd070, 0xb2cb, 0x4759, 0xcf27, 0x4ed4, 0x3c97,
                             0xae37, 0xb63f, 0x35f0, 0x3a25, 0xb0d8, 0x405a},
                            0xbf6ba3b9,
                            0x43dfc44b,
                            0x43dfc44a},
                           {false,
                            {0x9844, 0x3f7a, 0x606f, 0xc18c, 0xbe5b, 0x891f, 0xbbfb, 0x93b8, 0xc3c6, 0x32f2,
                             0xf44e, 0x15cf, 0x5eeb, 0x2b55, 0x8bef, 0xa075},
                            {0x8e88, 0xec18, 0xd3c2, 0xf6ae, 0x0cdb, 0x87c5, 0x4587, 0x5825, 0x6e7d, 0x8ab5,
                             0x8773, 0x4108, 0x91c2, 0x3987, 0x62ab, 0xfbad},
                            0x48e26837,
                            0x48e6175e,
                            0x48e6175f},
                           {true,
                            {0xbfaa, 0x3ed7, 0x3d5c, 0xbe3a, 0xc0f4, 0x4255, 0xc246, 0x40b2, 0x3d20, 0x40f9,
                             0xbee9, 0x42d9, 0x3eba, 0x3fb4, 0xbd8a, 0xbd6d},
                            {0xc028, 0x417c, 0xc28c, 0x41e8, 0xbdf2, 0xc057, 0x428f, 0x4029, 0x3e28, 0xbce5,
                             0xc0c7, 0x3e6f, 0x40cc, 0x3cd8, 0x42a2, 0xbe64},
                            0x3f4725a9,
                            0xc565bd89,
                            0xc565bd8a},
                           {true,
                            {0x9844, 0x3f7a, 0x606f, 0xc18c, 0xbe5b, 0x891f, 0xbbfb, 0x93b8, 0xc3c6, 0x32f2,
                             0xf44e, 0x15cf, 0x5eeb, 0x2b55, 0x8bef, 0xa075},
                            {0x8e88, 0xec18, 0xd3c2, 0xf6ae, 0x0cdb, 0x87c5, 0x4587, 0x5825, 0x6e7d, 0x8ab5,
                             0x8773, 0x4108, 0x91c2, 0x3987, 0x62ab, 0xfbad},
                            0x48e26837,
                            0x78bd8ea7,
                            0x78bd8ea7}};
  for (const RowFact& fact : facts) {
    for (bool wave32 : {false, true}) {
      Product p(16, 2, MatrixType::kF32, fact.bf16 ? -126 : -14, false);
      for (int k = 0; k < 16; ++k) {
        const int from = wave32 ? (k & 3) | (k & 4) << 1 | (k & 8) >> 1 : k;
        const auto value = [&](uint32_t bits) { return fact.bf16 ? Bfloat(bits) : Half(bits); };
        p.SetA(k, value(fact.a[from]));
        for (int col = 0; col < 16; ++col) p.SetB(k, col, value(fact.b[from]));
      }
      for (int col = 0; col < 16; ++col) p.SetC(col, fact.c);
      const uint32_t want = wave32 ? fact.wave32 : fact.wave64;
      EXPECT_EQ(p.RunScalar(Dot4Scalar)[0], want);
      for (const MatrixKernels* set : KernelSets()) EXPECT_EQ(p.Run(set->dot4, Dot4Scalar)[0], want);
    }
  }
}

class Draws {
 public:
  uint32_t Bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>(state_ >> 24);
  }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15u;
};

struct RuleCase {
  const char* name;
  void (*MatrixKernels::*rule)(const MatrixProduct&);
  void (*slow)(const MatrixProduct&, int, int, int);
  int k, group;
  MatrixType d;
  int fraction, min_exponent, max_exponent;  // of the factors
  bool flush;
};

// Exponents that meet, that are far apart, denormals, zeros of both signs.
TEST(Rules, VectorLoopsAgreeWithTheRuleOfOneElement) {
  const RuleCase cases[] = {
      {"gfx1100 f16", &MatrixKernels::dot2, Dot2Scalar, 16, 2, MatrixType::kF32, 10, -14, 15, false},
      {"gfx1100 bf16", &MatrixKernels::dot2, Dot2Scalar, 16, 2, MatrixType::kF32, 7, -126, 127, true},
      {"gfx1100 f16 to f16", &MatrixKernels::dot2, Dot2Scalar, 16, 2, MatrixType::kF16, 10, -14, 7, false},
      {"gfx1100 bf16 to bf16", &MatrixKernels::dot2, Dot2Scalar, 16, 2, MatrixType::kBf16, 7, -126, 127,
       true},
      {"gfx1201 f16", &MatrixKernels::dot4, Dot4Scalar, 16, 2, MatrixType::kF32, 10, -14, 15, false},
      {"gfx1201 bf16", &MatrixKernels::dot4, Dot4Scalar, 16, 2, MatrixType::kF32, 7, -126, 127, false},
      {"gfx1201 f16 to f16", &MatrixKernels::dot4, Dot4Scalar, 16, 2, MatrixType::kF16, 10, -14, 7, false},
      {"gfx1201 bf16 to bf16", &MatrixKernels::dot4, Dot4Scalar, 16, 2, MatrixType::kBf16, 7, -126, 127,
       false},
      {"gfx1201 fp8", &MatrixKernels::dot4, Dot4Scalar, 16, 4, MatrixType::kF32, 3, -6, 8, false},
      {"gfx1201 bf8", &MatrixKernels::dot4, Dot4Scalar, 32, 4, MatrixType::kF32, 2, -14, 15, false},
      {"gfx942 f16", &MatrixKernels::fused, FusedScalar, 16, 8, MatrixType::kF32, 10, -14, 15, false},
      {"gfx942 bf16", &MatrixKernels::fused, FusedScalar, 16, 8, MatrixType::kF32, 7, -126, 127, false},
      {"gfx942 4x4x4", &MatrixKernels::fused, FusedScalar, 4, 8, MatrixType::kF32, 10, -14, 15, false},
      {"gfx942 xf32", &MatrixKernels::fused, FusedScalar, 8, 4, MatrixType::kF32, 10, -126, 127, false},
      {"gfx942 fp8", &MatrixKernels::fused_halves, FusedHalvesScalar, 32, 16, MatrixType::kF32, 3, -7, 7,
       false},
      {"gfx942 bf8", &MatrixKernels::fused_halves, FusedHalvesScalar, 16, 16, MatrixType::kF32, 2, -15, 15,
       false}};
  const std::vector<const MatrixKernels*> sets = KernelSets();
  for (const RuleCase& c : cases) {
    Draws draws;
    for (int round = 0; round < 1500; ++round) {
      const int span = round % 3 == 0 ? 2 : round % 3 == 1 ? 12 : 1000;
      const int middle =
          c.min_exponent +
          static_cast<int>(draws.Bits() % static_cast<uint32_t>(c.max_exponent - c.min_exponent + 1));
      const auto draw = [&] {
        const uint32_t bits = draws.Bits();
        if (bits % 19 == 0) return bits % 2 == 0 ? 0.0f : -0.0f;
        const int exponent =
            std::clamp(middle + static_cast<int>(draws.Bits() % static_cast<uint32_t>(span)) - span / 2,
                       c.min_exponent, c.max_exponent);
        const int significand = static_cast<int>(draws.Bits() % (2u << c.fraction));  // denormal below half
        const float v = static_cast<float>(std::ldexp(
            exponent == c.min_exponent ? significand : significand | 1 << c.fraction, exponent - c.fraction));
        return (bits & 1) != 0 ? -v : v;
      };
      Product p(c.k, c.group, c.d, c.min_exponent, c.flush);
      for (int k = 0; k < c.k; ++k) {
        p.SetA(k, draw());
        for (int col = 0; col < 16; ++col) p.SetB(k, col, draw());
      }
      for (int col = 0; col < 16; ++col) {
        uint32_t bits = draws.Bits();
        if (round % 4 != 0) {
          // Near the products.
          const float near = draw() * (round % 2 == 0 ? draw() : 1.0f);
          bits =
              std::isfinite(near) ? (std::bit_cast<uint32_t>(near) & ~0xfffu) | (bits & 0xfffu) : 0x80000000u;
        }
        if (c.d == MatrixType::kF16) bits = WidenHalf(bits & 0xffff);
        if (c.d == MatrixType::kBf16) bits &= 0xffff0000u;
        p.SetC(col, bits);
      }
      const std::vector<uint32_t> want = p.RunScalar(c.slow);
      for (size_t s = 0; s < sets.size(); ++s) {
        ASSERT_EQ(p.Run(sets[s]->*c.rule, c.slow), want)
            << c.name << ", round " << round << ", kernels " << s;
      }
    }
  }
}

// What the rules of gfx942 say, worked out by hand: 24 fraction bits below the largest exponent, truncation
// of products, and rounding down of the two addends.
TEST(Gfx942, TruncatesProductsAndRoundsTheirSumDown) {
  struct Fact {
    float a[8], b[8], c, d;
  };
  const Fact facts[] = {
      // The small product is cut at 2^-24 of the large one's exponent.
      {{1, 0x1p-12f}, {1, 0x1.8p-13f}, 0, 1},
      {{1, 0x1p-12f}, {1, 0x1p-12f}, 0, 1.0f},  // 1 + 2^-24 rounds to even
      {{1, 0x1p-11f, 0x1p-12f}, {1, 0x1p-12f, 0x1p-12f}, 0, 1 + 0x1p-22f},
      // C is rounded down to 2^-24 of a larger product: -2^-30 counts as -2^-24, which leaves less than 1.
      {{1}, {1}, -0x1p-30f, 1 - 0x1p-24f},
      {{1}, {1}, 0x1p-30f, 1},
      // The sum of products keeps 31 bits beside a larger C and is rounded down too.
      {{-0x1p-14f}, {0x1p-14f}, 1, 1},
      {{0}, {1}, 0x1p-140f, 0x1p-140f},
  };
  for (const Fact& fact : facts) {
    Product p(8, 8, MatrixType::kF32, -14, false);
    for (int k = 0; k < 8; ++k) {
      p.SetA(k, fact.a[k]);
      for (int col = 0; col < 16; ++col) p.SetB(k, col, fact.b[k]);
    }
    for (int col = 0; col < 16; ++col) p.SetC(col, std::bit_cast<uint32_t>(fact.c));
    for (const MatrixKernels* set : KernelSets()) {
      EXPECT_EQ(std::bit_cast<float>(p.Run(set->fused, FusedScalar)[5]), fact.d)
          << fact.c << " " << fact.b[1];
    }
  }
}

}  // namespace
}  // namespace understudy::emu::amd
