// SPDX-License-Identifier: Apache-2.0
// Vector integer instructions on every generation that has them, against sums over wider integers: sums of
// absolute differences, dot products, medians, packed and saturating forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "tests/emu/amd/exact/bench.h"
#include "tests/emu/amd/exact/host_float.h"

namespace understudy::emu::amd::exact {
namespace {

int32_t I(uint32_t v) { return static_cast<int32_t>(v); }
int32_t I16(uint32_t v, int half = 0) { return static_cast<int16_t>(v >> (16 * half)); }
uint32_t U16(uint32_t v, int half = 0) { return v >> (16 * half) & 0xffff; }
uint32_t Byte(uint64_t v, int i) { return static_cast<uint32_t>(v >> (8 * i)) & 0xff; }
// Element i of fields of `bits`.
int64_t Field(uint32_t v, int bits, int i, bool is_signed) {
  const int64_t u = v >> (bits * i) & ((1u << bits) - 1);
  return is_signed && u >> (bits - 1) != 0 ? u - (int64_t{1} << bits) : u;
}
void Put(Lane& l, int64_t v) { l.d[0] = static_cast<uint32_t>(v); }
void PutPair(Lane& l, int64_t low, int64_t high) {
  l.d[0] = (static_cast<uint32_t>(low) & 0xffff) | static_cast<uint32_t>(high) << 16;
}
// CDNA's instructions that gfx9 did not add with op_sel clear the other half.
void PutOldHalf(Lane& l, int64_t v) { l.PutHalf(static_cast<uint32_t>(v), IsCdna(l.isa)); }
void PutNewHalf(Lane& l, int64_t v) { l.PutHalf(static_cast<uint32_t>(v), false); }
template <class T>
T Median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// The sum of the distances of four bytes; with `masked`, of those whose reference (b) is not zero.
uint32_t Sad(uint64_t a, uint32_t b, bool masked) {
  uint32_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t x = Byte(a, i), y = Byte(b, i);
    if (!masked || y != 0) sum += x > y ? x - y : y - x;
  }
  return sum;
}
void QuadSad(Lane& l, bool masked) {
  uint64_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint64_t sum = Sad(l.Wide(0) >> (8 * i), l.v[2], masked) + (l.Wide(4) >> (16 * i) & 0xffff);
    result |= (sum & 0xffff) << (16 * i);
  }
  l.PutWide(result);
}
int64_t Dot(uint32_t a, uint32_t b, int bits, bool is_signed) {
  int64_t sum = 0;
  for (int i = 0; i < 32 / bits; ++i) sum += Field(a, bits, i, is_signed) * Field(b, bits, i, is_signed);
  return sum;
}
float FloatDot(Lane& l, float c, float (*convert)(uint32_t half)) {
  // Each product is added with one rounding.
  const float low = std::fma(convert(U16(l.v[0])), convert(U16(l.v[2])), c);
  return std::fma(convert(U16(l.v[0], 1)), convert(U16(l.v[2], 1)), low);
}
float FromHalf(uint32_t half) { return static_cast<float>(F16(half)); }

// clang-format off: a row an instruction.
const Op kOps[] = {
    {"V_SAD_U8", [](Lane& l) { Put(l, Sad(l.v[0], l.v[2], false) + l.v[4]); }},
    {"V_SAD_HI_U8", [](Lane& l) { Put(l, (Sad(l.v[0], l.v[2], false) << 16) + l.v[4]); }},
    {"V_MSAD_U8", [](Lane& l) { Put(l, Sad(l.v[0], l.v[2], true) + l.v[4]); }},
    {"V_SAD_U16", [](Lane& l) { Put(l, std::abs(I(U16(l.v[0])) - I(U16(l.v[2]))) + std::abs(I(U16(l.v[0], 1)) - I(U16(l.v[2], 1))) + int64_t{l.v[4]}); }},
    {"V_SAD_U32", [](Lane& l) { Put(l, std::abs(int64_t{l.v[0]} - int64_t{l.v[2]}) + l.v[4]); }},
    {"V_QSAD_PK_U16_U8", [](Lane& l) { QuadSad(l, false); }},
    {"V_MQSAD_PK_U16_U8", [](Lane& l) { QuadSad(l, true); }},
    {"V_MQSAD_U32_U8", [](Lane& l) { for (int i = 0; i < 4; ++i) l.d[i] = Sad(l.Wide(0) >> (8 * i), l.v[2], true) + l.v[4 + i]; }},
    {"V_MINMAX_U32", [](Lane& l) { l.d[0] = std::max(std::min(l.v[0], l.v[2]), l.v[4]); }},
    {"V_MAXMIN_U32", [](Lane& l) { l.d[0] = std::min(std::max(l.v[0], l.v[2]), l.v[4]); }},
    {"V_MINMAX_I32", [](Lane& l) { Put(l, std::max(std::min(I(l.v[0]), I(l.v[2])), I(l.v[4]))); }},
    {"V_MAXMIN_I32", [](Lane& l) { Put(l, std::min(std::max(I(l.v[0]), I(l.v[2])), I(l.v[4]))); }},
    {"V_MIN3_U32", [](Lane& l) { l.d[0] = std::min({l.v[0], l.v[2], l.v[4]}); }},
    {"V_MAX3_U32", [](Lane& l) { l.d[0] = std::max({l.v[0], l.v[2], l.v[4]}); }},
    {"V_MED3_U32", [](Lane& l) { l.d[0] = Median(l.v[0], l.v[2], l.v[4]); }},
    {"V_MIN3_I32", [](Lane& l) { Put(l, std::min({I(l.v[0]), I(l.v[2]), I(l.v[4])})); }},
    {"V_MAX3_I32", [](Lane& l) { Put(l, std::max({I(l.v[0]), I(l.v[2]), I(l.v[4])})); }},
    {"V_MED3_I32", [](Lane& l) { Put(l, Median(I(l.v[0]), I(l.v[2]), I(l.v[4]))); }},
    {"V_MIN3_I16", [](Lane& l) { PutNewHalf(l, std::min({I16(l.v[0]), I16(l.v[2]), I16(l.v[4])})); }},
    {"V_MAX3_I16", [](Lane& l) { PutNewHalf(l, std::max({I16(l.v[0]), I16(l.v[2]), I16(l.v[4])})); }},
    {"V_MED3_I16", [](Lane& l) { PutNewHalf(l, Median(I16(l.v[0]), I16(l.v[2]), I16(l.v[4]))); }},
    {"V_MIN3_U16", [](Lane& l) { PutNewHalf(l, std::min({U16(l.v[0]), U16(l.v[2]), U16(l.v[4])})); }},
    {"V_MAX3_U16", [](Lane& l) { PutNewHalf(l, std::max({U16(l.v[0]), U16(l.v[2]), U16(l.v[4])})); }},
    {"V_MED3_U16", [](Lane& l) { PutNewHalf(l, Median(U16(l.v[0]), U16(l.v[2]), U16(l.v[4]))); }},
    {"V_ADD_I16", [](Lane& l) { PutNewHalf(l, I16(l.v[0]) + I16(l.v[2])); }},
    {"V_SUB_I16", [](Lane& l) { PutNewHalf(l, I16(l.v[0]) - I16(l.v[2])); }},
    {"V_ADD_NC_I16", [](Lane& l) { PutNewHalf(l, I16(l.v[0]) + I16(l.v[2])); }},
    {"V_SUB_NC_I16", [](Lane& l) { PutNewHalf(l, I16(l.v[0]) - I16(l.v[2])); }},
    {"V_ADD_NC_U16", [](Lane& l) { PutNewHalf(l, U16(l.v[0]) + U16(l.v[2])); }},
    {"V_SUB_NC_U16", [](Lane& l) { PutNewHalf(l, I(U16(l.v[0])) - I(U16(l.v[2]))); }},
    {"V_MAD_I16", [](Lane& l) { PutNewHalf(l, I16(l.v[0]) * I16(l.v[2]) + I16(l.v[4])); }},
    {"V_MAD_U16", [](Lane& l) { PutNewHalf(l, int64_t{U16(l.v[0])} * U16(l.v[2]) + U16(l.v[4])); }},
    {"V_MAD_LEGACY_I16", [](Lane& l) { PutOldHalf(l, I16(l.v[0]) * I16(l.v[2]) + I16(l.v[4])); }},
    {"V_MAD_LEGACY_U16", [](Lane& l) { PutOldHalf(l, int64_t{U16(l.v[0])} * U16(l.v[2]) + U16(l.v[4])); }},
    {"V_MAD_I32_I16", [](Lane& l) { Put(l, int64_t{I16(l.v[0])} * I16(l.v[2]) + I(l.v[4])); }},
    {"V_MAD_U32_U16", [](Lane& l) { Put(l, int64_t{U16(l.v[0])} * U16(l.v[2]) + l.v[4]); }},
    {"V_CVT_PK_I16_I32", [](Lane& l) { PutPair(l, std::clamp(I(l.v[0]), -32768, 32767), std::clamp(I(l.v[2]), -32768, 32767)); }},
    {"V_CVT_PK_U16_U32", [](Lane& l) { PutPair(l, std::min(l.v[0], 0xffffu), std::min(l.v[2], 0xffffu)); }},
    {"V_CVT_I32_I16", [](Lane& l) { Put(l, I16(l.v[0])); }},
    {"V_CVT_U32_U16", [](Lane& l) { Put(l, U16(l.v[0])); }},
    {"V_SAT_PK_U8_I16", [](Lane& l) { l.PutHalf(static_cast<uint32_t>(std::clamp(I16(l.v[0]), 0, 255) | std::clamp(I16(l.v[0], 1), 0, 255) << 8), IsCdna(l.isa)); }},
    {"V_PK_ADD_U16", [](Lane& l) { PutPair(l, U16(l.v[0]) + U16(l.v[2]), U16(l.v[0], 1) + U16(l.v[2], 1)); }},
    {"V_PK_SUB_U16", [](Lane& l) { PutPair(l, int64_t{U16(l.v[0])} - U16(l.v[2]), int64_t{U16(l.v[0], 1)} - U16(l.v[2], 1)); }},
    {"V_PK_ADD_I16", [](Lane& l) { PutPair(l, I16(l.v[0]) + I16(l.v[2]), I16(l.v[0], 1) + I16(l.v[2], 1)); }},
    {"V_PK_SUB_I16", [](Lane& l) { PutPair(l, I16(l.v[0]) - I16(l.v[2]), I16(l.v[0], 1) - I16(l.v[2], 1)); }},
    {"V_PK_MUL_LO_U16", [](Lane& l) { PutPair(l, int64_t{U16(l.v[0])} * U16(l.v[2]), int64_t{U16(l.v[0], 1)} * U16(l.v[2], 1)); }},
    {"V_PK_MIN_U16", [](Lane& l) { PutPair(l, std::min(U16(l.v[0]), U16(l.v[2])), std::min(U16(l.v[0], 1), U16(l.v[2], 1))); }},
    {"V_PK_MAX_U16", [](Lane& l) { PutPair(l, std::max(U16(l.v[0]), U16(l.v[2])), std::max(U16(l.v[0], 1), U16(l.v[2], 1))); }},
    {"V_PK_MIN_I16", [](Lane& l) { PutPair(l, std::min(I16(l.v[0]), I16(l.v[2])), std::min(I16(l.v[0], 1), I16(l.v[2], 1))); }},
    {"V_PK_MAX_I16", [](Lane& l) { PutPair(l, std::max(I16(l.v[0]), I16(l.v[2])), std::max(I16(l.v[0], 1), I16(l.v[2], 1))); }},
    {"V_PK_MAD_U16", [](Lane& l) { PutPair(l, int64_t{U16(l.v[0])} * U16(l.v[2]) + U16(l.v[4]), int64_t{U16(l.v[0], 1)} * U16(l.v[2], 1) + U16(l.v[4], 1)); }},
    {"V_PK_MAD_I16", [](Lane& l) { PutPair(l, int64_t{I16(l.v[0])} * I16(l.v[2]) + I16(l.v[4]), int64_t{I16(l.v[0], 1)} * I16(l.v[2], 1) + I16(l.v[4], 1)); }},
    {"V_PK_LSHLREV_B16", [](Lane& l) { PutPair(l, int64_t{U16(l.v[2])} << (l.v[0] & 15), int64_t{U16(l.v[2], 1)} << (l.v[0] >> 16 & 15)); }},
    {"V_PK_LSHRREV_B16", [](Lane& l) { PutPair(l, U16(l.v[2]) >> (l.v[0] & 15), U16(l.v[2], 1) >> (l.v[0] >> 16 & 15)); }},
    {"V_PK_ASHRREV_I16", [](Lane& l) { PutPair(l, I16(l.v[2]) >> (l.v[0] & 15), I16(l.v[2], 1) >> (l.v[0] >> 16 & 15)); }},
    {"V_DOT2_I32_I16", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 16, true) + I(l.v[4])); }, Same::kBits, "v12, v4, v6, v8"},
    {"V_DOT2_U32_U16", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 16, false) + l.v[4]); }, Same::kBits, "v12, v4, v6, v8"},
    {"V_DOT4_I32_I8", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 8, true) + I(l.v[4])); }, Same::kBits, "v12, v4, v6, v8"},
    {"V_DOT4_U32_U8", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 8, false) + l.v[4]); }, Same::kBits, "v12, v4, v6, v8"},
    {"V_DOT8_I32_I4", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 4, true) + I(l.v[4])); }, Same::kBits, "v12, v4, v6, v8"},
    {"V_DOT8_U32_U4", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 4, false) + l.v[4]); }, Same::kBits, "v12, v4, v6, v8"},
    {"V_DOT4_I32_IU8", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 8, true) + I(l.v[4])); }, Same::kBits, "v12, v4, v6, v8 neg_lo:[1,1,0]"},
    {"V_DOT8_I32_IU4", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 4, true) + I(l.v[4])); }, Same::kBits, "v12, v4, v6, v8 neg_lo:[1,1,0]"},
    {"V_DOT2C_I32_I16", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 16, true) + I(l.d[0])); }},
    {"V_DOT4C_I32_I8", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 8, true) + I(l.d[0])); }},
    {"V_DOT8C_I32_I4", [](Lane& l) { Put(l, Dot(l.v[0], l.v[2], 4, true) + I(l.d[0])); }},
    {"V_DOT2C_F32_F16", [](Lane& l) { l.d[0] = Bits(FloatDot(l, F32(l.d[0]), FromHalf)); }, Same::kF32},
    {"V_DOT2C_F32_BF16", [](Lane& l) { l.d[0] = Bits(FloatDot(l, F32(l.d[0]), Bf16)); }, Same::kF32},
    {"V_DOT2ACC_F32_F16", [](Lane& l) { l.d[0] = Bits(FloatDot(l, F32(l.d[0]), FromHalf)); }, Same::kF32},
    {"V_DOT2_F32_F16", [](Lane& l) { l.d[0] = Bits(FloatDot(l, F32(l.v[4]), FromHalf)); }, Same::kF32, "v12, v4, v6, v8"},
    {"V_DOT2_F32_BF16", [](Lane& l) { l.d[0] = Bits(IsCdna(l.isa) ? FloatDot(l, 0, Bf16) + F32(l.v[4]) : FloatDot(l, F32(l.v[4]), Bf16)); }, Same::kF32, "v12, v4, v6, v8"},
};
// clang-format on

class VectorInt : public testing::TestWithParam<Isa> {};

TEST_P(VectorInt, AgreesWithWiderIntegers) {
  for (const int wave_size : WaveSizes(GetParam())) {
    Bench bench(GetParam(), wave_size);
    int cases = 0;
    for (const Op& op : kOps) cases += bench.Add(op);
    EXPECT_GT(cases, 40);
    bench.Run(60);
    if (HasFatalFailure()) return;
  }
}

TEST(VectorIntTable, EveryRowIsAnInstructionOfSomeGeneration) {
  for (const Op& op : kOps) {
    bool found = false;
    for (const Isa isa : kAllIsas) found |= Bench(isa, 64).Add(op) > 0;
    EXPECT_TRUE(found) << op.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, VectorInt, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

}  // namespace
}  // namespace understudy::emu::amd::exact
