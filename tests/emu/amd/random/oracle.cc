// SPDX-License-Identifier: Apache-2.0
#include "tests/emu/amd/random/oracle.h"

#include <algorithm>
#include <bit>

namespace understudy::emu::amd::random {
namespace {

using formats::kF16;
using formats::kF32;
using formats::kF64;

constexpr Kind U16 = Kind::kU16, U32 = Kind::kU32, U64 = Kind::kU64, F16 = Kind::kF16, F32 = Kind::kF32,
               F64 = Kind::kF64;

uint32_t Lo(uint64_t v) { return static_cast<uint32_t>(v); }
int32_t S(uint64_t v) { return static_cast<int32_t>(v); }
int64_t S64(uint64_t v) { return static_cast<int64_t>(v); }
uint64_t U(int64_t v) { return static_cast<uint32_t>(v); }
int32_t S24(uint64_t v) { return static_cast<int32_t>(Lo(v) << 8) >> 8; }
int16_t S16(uint64_t v) { return static_cast<int16_t>(v); }

uint64_t Flush(const FloatFormat& f, uint64_t v, bool keep) {
  return !keep && (v & f.exp_mask()) == 0 ? v & f.sign_mask() : v;
}
double D(const FloatFormat& f, uint64_t v) { return DecodeFloat(f, v); }

uint64_t Integral(const FloatFormat& f, uint64_t a, Rounding rounding, SoftContext ctx) {
  ctx.rounding = rounding;
  return SoftRoundToIntegral(f, a, ctx);
}

uint64_t Narrow(const FloatFormat& from, const FloatFormat& to, uint64_t v, Rounding rounding, bool keep) {
  return SoftConvert(from, to, v,
                     {rounding, keep ? DenormMode::kKeep : DenormMode::kFlushOut, Overflow::kInf});
}

uint64_t ByteOf(uint64_t v, int i) { return v >> (8 * i) & 0xff; }

uint64_t Perm(uint64_t s0, uint64_t s1, uint64_t selectors) {
  const uint64_t data = s0 << 32 | Lo(s1);
  uint64_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const uint64_t sel = ByteOf(selectors, i);
    uint64_t byte = 0xff;
    if (sel < 8)
      byte = ByteOf(data, static_cast<int>(sel));
    else if (sel < 12)
      byte = (ByteOf(data, static_cast<int>(2 * (sel - 8) + 1)) & 0x80) != 0 ? 0xff : 0;
    else if (sel == 12)
      byte = 0;
    out |= byte << (8 * i);
  }
  return out;
}

uint64_t Median(int64_t a, int64_t b, int64_t c) {
  int64_t v[3] = {a, b, c};
  std::sort(v, v + 3);
  return static_cast<uint64_t>(v[1]);
}

uint64_t SignedField(int64_t value, int offset, int width) {
  if (width == 0) return 0;
  const int64_t shifted = value >> offset;
  return static_cast<uint64_t>(static_cast<int64_t>(static_cast<uint64_t>(shifted) << (64 - width)) >>
                               (64 - width));
}

uint64_t PkAdd16(uint64_t a, uint64_t b) {
  return ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) & 0xffff) << 16;
}

}  // namespace

bool IsNan(Kind kind, uint64_t bits) {
  switch (kind) {
    case Kind::kF16:
      return kF16.IsNan(bits & 0xffff);
    case Kind::kF32:
      return kF32.IsNan(bits);
    case Kind::kF64:
      return kF64.IsNan(bits);
    default:
      return false;
  }
}

#define VALUE [](const uint64_t* s, [[maybe_unused]] const FloatMode& m)->uint64_t
const std::vector<VectorOp>& VectorOps() {
  static const std::vector<VectorOp> ops = {
      {"v_add_nc_u32", "v_add_u32", U32, {U32, U32}, VALUE{return Lo(s[0] + s[1]);
}
}  // namespace understudy::emu::amd::random
, {"v_sub_nc_u32", "v_sub_u32", U32, {U32, U32}, VALUE{return Lo(s[0] - s[1]);
}
}
, {"v_subrev_nc_u32", "v_subrev_u32", U32, {U32, U32}, VALUE{return Lo(s[1] - s[0]);
}
}
, {"v_mul_lo_u32", "v_mul_lo_u32", U32, {U32, U32}, VALUE{return Lo(s[0] * s[1]);
}
}
, {"v_mul_hi_u32", "v_mul_hi_u32", U32, {U32, U32}, VALUE{return s[0] * s[1] >> 32;
}
}
, {"v_mul_hi_i32", "v_mul_hi_i32", U32, {U32, U32},
   VALUE{return Lo(static_cast<uint64_t>(int64_t{S(s[0])} * S(s[1]) >> 32));
}
}
, {"v_mul_u32_u24", "v_mul_u32_u24", U32, {U32, U32}, VALUE{return Lo((s[0] & 0xffffff) * (s[1] & 0xffffff));
}
}
, {"v_mul_hi_u32_u24", "v_mul_hi_u32_u24", U32, {U32, U32},
   VALUE{return (s[0] & 0xffffff) * (s[1] & 0xffffff) >> 32;
}
}
, {"v_mul_i32_i24", "v_mul_i32_i24", U32, {U32, U32}, VALUE{return U(int64_t{S24(s[0])} * S24(s[1]));
}
}
, {"v_mad_u32_u24", "v_mad_u32_u24", U32, {U32, U32, U32},
   VALUE{return Lo((s[0] & 0xffffff) * (s[1] & 0xffffff) + s[2]);
}
}
, {"v_mad_i32_i24", "v_mad_i32_i24", U32, {U32, U32, U32},
   VALUE{return U(int64_t{S24(s[0])} * S24(s[1]) + S(s[2]));
}
}
, {"v_and_b32", "v_and_b32", U32, {U32, U32}, VALUE{return s[0] & s[1];
}
}
, {"v_or_b32", "v_or_b32", U32, {U32, U32}, VALUE{return s[0] | s[1];
}
}
, {"v_xor_b32", "v_xor_b32", U32, {U32, U32}, VALUE{return s[0] ^ s[1];
}
}
, {"v_xnor_b32", "v_xnor_b32", U32, {U32, U32}, VALUE{return Lo(~(s[0] ^ s[1]));
}
}
, {"v_not_b32", "v_not_b32", U32, {U32}, VALUE{return Lo(~s[0]);
}
}
, {"v_lshlrev_b32", "v_lshlrev_b32", U32, {U32, U32}, VALUE{return Lo(s[1] << (s[0] & 31));
}
}
, {"v_lshrrev_b32", "v_lshrrev_b32", U32, {U32, U32}, VALUE{return s[1] >> (s[0] & 31);
}
}
, {"v_ashrrev_i32", "v_ashrrev_i32", U32, {U32, U32}, VALUE{return U(S(s[1]) >> (s[0] & 31));
}
}
, {"v_lshlrev_b64", "v_lshlrev_b64", U64, {U32, U64}, VALUE{return s[1] << (s[0] & 63);
}
}
, {"v_lshrrev_b64", "v_lshrrev_b64", U64, {U32, U64}, VALUE{return s[1] >> (s[0] & 63);
}
}
, {"v_ashrrev_i64", "v_ashrrev_i64", U64, {U32, U64},
   VALUE{return static_cast<uint64_t>(S64(s[1]) >> (s[0] & 63));
}
}
, {"v_bfe_u32", "v_bfe_u32", U32, {U32, U32, U32},
   VALUE{return Lo(s[0]) >> (s[1] & 31) & ((uint64_t{1} << (s[2] & 31)) - 1);
}
}
, {"v_bfe_i32", "v_bfe_i32", U32, {U32, U32, U32},
   VALUE{return Lo(SignedField(S(s[0]), s[1] & 31, s[2] & 31));
}
}
, {"v_bfi_b32", "v_bfi_b32", U32, {U32, U32, U32}, VALUE{return Lo((s[0] & s[1]) | (~s[0] & s[2]));
}
}
, {"v_bfm_b32", "v_bfm_b32", U32, {U32, U32},
   VALUE{return Lo(((uint64_t{1} << (s[0] & 31)) - 1) << (s[1] & 31));
}
}
, {"v_alignbit_b32", "v_alignbit_b32", U32, {U32, U32, U32},
   VALUE{return Lo((s[0] << 32 | s[1]) >> (s[2] & 31));
}
}
, {"v_alignbyte_b32", "v_alignbyte_b32", U32, {U32, U32, U32},
   VALUE{return Lo((s[0] << 32 | s[1]) >> (8 * (s[2] & 3)));
}
}
, {"v_perm_b32", "v_perm_b32", U32, {U32, U32, U32}, VALUE{return Perm(s[0], s[1], s[2]);
}
}
, {"v_min_u32", "v_min_u32", U32, {U32, U32}, VALUE{return std::min(s[0], s[1]);
}
}
, {"v_max_u32", "v_max_u32", U32, {U32, U32}, VALUE{return std::max(s[0], s[1]);
}
}
, {"v_min_i32", "v_min_i32", U32, {U32, U32}, VALUE{return U(std::min(S(s[0]), S(s[1])));
}
}
, {"v_max_i32", "v_max_i32", U32, {U32, U32}, VALUE{return U(std::max(S(s[0]), S(s[1])));
}
}
, {"v_min3_i32", "v_min3_i32", U32, {U32, U32, U32}, VALUE{return U(std::min({S(s[0]), S(s[1]), S(s[2])}));
}
}
, {"v_max3_u32", "v_max3_u32", U32, {U32, U32, U32}, VALUE{return std::max({s[0], s[1], s[2]});
}
}
, {"v_med3_i32", "v_med3_i32", U32, {U32, U32, U32}, VALUE{return Lo(Median(S(s[0]), S(s[1]), S(s[2])));
}
}
, {"v_med3_u32", "v_med3_u32", U32, {U32, U32, U32}, VALUE{return Median(S64(s[0]), S64(s[1]), S64(s[2]));
}
}
, {"v_add3_u32", "v_add3_u32", U32, {U32, U32, U32}, VALUE{return Lo(s[0] + s[1] + s[2]);
}
}
, {"v_lshl_add_u32", "v_lshl_add_u32", U32, {U32, U32, U32}, VALUE{return Lo((s[0] << (s[1] & 31)) + s[2]);
}
}
, {"v_add_lshl_u32", "v_add_lshl_u32", U32, {U32, U32, U32}, VALUE{return Lo((s[0] + s[1]) << (s[2] & 31));
}
}
, {"v_lshl_or_b32", "v_lshl_or_b32", U32, {U32, U32, U32}, VALUE{return Lo(s[0] << (s[1] & 31)) | s[2];
}
}
, {"v_and_or_b32", "v_and_or_b32", U32, {U32, U32, U32}, VALUE{return (s[0] & s[1]) | s[2];
}
}
, {"v_or3_b32", "v_or3_b32", U32, {U32, U32, U32}, VALUE{return s[0] | s[1] | s[2];
}
}
, {"v_xad_u32", "v_xad_u32", U32, {U32, U32, U32}, VALUE{return Lo((s[0] ^ s[1]) + s[2]);
}
}
, {"v_xor3_b32", nullptr, U32, {U32, U32, U32}, VALUE{return s[0] ^ s[1] ^ s[2];
}
}
, {"v_bcnt_u32_b32", "v_bcnt_u32_b32", U32, {U32, U32},
   VALUE{return Lo(static_cast<uint64_t>(std::popcount(Lo(s[0]))) + s[1]);
}
}
, {"v_clz_i32_u32", "v_ffbh_u32", U32, {U32},
   VALUE{return s[0] == 0 ? 0xffffffffu : static_cast<uint64_t>(std::countl_zero(Lo(s[0])));
}
}
, {"v_ctz_i32_b32", "v_ffbl_b32", U32, {U32},
   VALUE{return s[0] == 0 ? 0xffffffffu : static_cast<uint64_t>(std::countr_zero(Lo(s[0])));
}
}
, {"v_bfrev_b32", "v_bfrev_b32", U32, {U32}, VALUE{uint32_t out = 0;
for (int i = 0; i < 32; ++i) out |= (Lo(s[0]) >> i & 1) << (31 - i);
return out;
}
}
, {"v_sad_u32", "v_sad_u32", U32, {U32, U32, U32},
   VALUE{return Lo((s[0] > s[1] ? s[0] - s[1] : s[1] - s[0]) + s[2]);
}
}
, {"v_sad_u8", "v_sad_u8", U32, {U32, U32, U32}, VALUE{uint64_t sum = s[2];
for (int i = 0; i < 4; ++i) {
  const int64_t d = static_cast<int64_t>(ByteOf(s[0], i)) - static_cast<int64_t>(ByteOf(s[1], i));
  sum += static_cast<uint64_t>(d < 0 ? -d : d);
}
return Lo(sum);
}
}
, {"v_pk_add_u16", "v_pk_add_u16", U32, {U32, U32}, VALUE{return PkAdd16(s[0], s[1]);
}
}
, {"v_pk_sub_i16", "v_pk_sub_i16", U32, {U32, U32},
   VALUE{return (Lo(s[0] - s[1]) & 0xffff) | Lo((s[0] >> 16) - (s[1] >> 16)) << 16;
}
}
, {"v_pk_mul_lo_u16", "v_pk_mul_lo_u16", U32, {U32, U32},
   VALUE{return ((s[0] & 0xffff) * (s[1] & 0xffff) & 0xffff) | Lo((s[0] >> 16) * (s[1] >> 16)) << 16;
}
}
, {"v_pk_max_i16", "v_pk_max_i16", U32, {U32, U32},
   VALUE{const int lo = std::max(S16(s[0]), S16(s[1])), hi = std::max(S16(s[0] >> 16), S16(s[1] >> 16));
return (Lo(static_cast<uint64_t>(lo)) & 0xffff) | Lo(static_cast<uint64_t>(hi)) << 16;
}
}
, {"v_pk_lshlrev_b16", "v_pk_lshlrev_b16", U32, {U32, U32},
   VALUE{return (s[1] << (s[0] & 15) & 0xffff) | Lo((s[1] >> 16) << (s[0] >> 16 & 15)) << 16;
}
}
, {"v_dot4_u32_u8", "v_dot4_u32_u8", U32, {U32, U32, U32}, VALUE{uint64_t sum = s[2];
for (int i = 0; i < 4; ++i) sum += ByteOf(s[0], i) * ByteOf(s[1], i);
return Lo(sum);
}
}
, {"v_mov_b32", "v_mov_b32", U32, {U32}, VALUE{return s[0];
}
}
, {nullptr, "v_lshl_add_u64", U64, {U64, U32, U64}, VALUE{return (s[0] << (s[1] & 7)) + s[2];
}
}
,

    {"v_add_f32", "v_add_f32", F32, {F32, F32}, VALUE{return SoftAdd(kF32, s[0], s[1], m.Context32());
}
}
, {"v_sub_f32", "v_sub_f32", F32, {F32, F32}, VALUE{return SoftSub(kF32, s[0], s[1], m.Context32());
}
}
, {"v_mul_f32", "v_mul_f32", F32, {F32, F32}, VALUE{return SoftMul(kF32, s[0], s[1], m.Context32());
}
}
, {"v_fma_f32", "v_fma_f32", F32, {F32, F32, F32},
   VALUE{return SoftFma(kF32, s[0], s[1], s[2], m.Context32());
}
}
, {"v_trunc_f32", "v_trunc_f32", F32, {F32},
   VALUE{return Integral(kF32, s[0], Rounding::kToZero, m.Context32());
}
}
, {"v_floor_f32", "v_floor_f32", F32, {F32},
   VALUE{return Integral(kF32, s[0], Rounding::kDown, m.Context32());
}
}
, {"v_ceil_f32", "v_ceil_f32", F32, {F32}, VALUE{return Integral(kF32, s[0], Rounding::kUp, m.Context32());
}
}
, {"v_rndne_f32", "v_rndne_f32", F32, {F32},
   VALUE{return Integral(kF32, s[0], Rounding::kNearestEven, m.Context32());
}
}
, {"v_cvt_f32_i32", "v_cvt_f32_i32", F32, {U32}, VALUE{return SoftFromInt(kF32, S(s[0]), m.Context32());
}
}
, {"v_cvt_f32_u32", "v_cvt_f32_u32", F32, {U32}, VALUE{return SoftFromUint(kF32, s[0], m.Context32());
}
}
, {"v_cvt_i32_f32", "v_cvt_i32_f32", U32, {F32},
   VALUE{return U(SoftToInt(kF32, s[0], 32, {Rounding::kToZero}));
}
}
, {"v_cvt_u32_f32", "v_cvt_u32_f32", U32, {F32}, VALUE{return SoftToUint(kF32, s[0], 32, {Rounding::kToZero});
}
}
, {"v_cvt_f16_f32", "v_cvt_f16_f32", F16, {F32},
   VALUE{return Narrow(kF32, kF16, Flush(kF32, s[0], m.keep32), m.round16_64, m.keep16_64);
}
}
,
    // Widening keeps every value: only the source's own denormals may be flushed.
    {"v_cvt_f32_f16", "v_cvt_f32_f16", F32, {F16},
     VALUE{return SoftConvert(kF16, kF32, Flush(kF16, s[0] & 0xffff, m.keep16_64));
}
}
, {"v_cvt_f64_f32", "v_cvt_f64_f32", F64, {F32},
   VALUE{return SoftConvert(kF32, kF64, Flush(kF32, s[0], m.keep32));
}
}
, {"v_cvt_f64_i32", "v_cvt_f64_i32", F64, {U32}, VALUE{return SoftFromInt(kF64, S(s[0]), m.Context16());
}
}
, {"v_cvt_i32_f64", "v_cvt_i32_f64", U32, {F64},
   VALUE{return U(SoftToInt(kF64, s[0], 32, {Rounding::kToZero}));
}
}
, {"v_add_f64", "v_add_f64", F64, {F64, F64}, VALUE{return SoftAdd(kF64, s[0], s[1], m.Context16());
}
}
, {"v_mul_f64", "v_mul_f64", F64, {F64, F64}, VALUE{return SoftMul(kF64, s[0], s[1], m.Context16());
}
}
, {"v_fma_f64", "v_fma_f64", F64, {F64, F64, F64},
   VALUE{return SoftFma(kF64, s[0], s[1], s[2], m.Context16());
}
}
,
}
;
return ops;
}
#undef VALUE

#define VALUE [](const uint64_t* s, [[maybe_unused]] bool* scc)->uint64_t
const std::vector<ScalarOp>& ScalarOps() {
  static const std::vector<ScalarOp> ops = {{"s_add_u32", "s_add_u32", U32, {U32, U32},
                                             VALUE{return * scc = (s[0] + s[1]) >> 32 != 0, Lo(s[0] + s[1]);
}
}
, {"s_sub_u32", "s_sub_u32", U32, {U32, U32}, VALUE{return * scc = s[0] < s[1], Lo(s[0] - s[1]);
}
}
, {"s_addc_u32", "s_addc_u32", U32, {U32, U32}, VALUE{const uint64_t sum = s[0] + s[1] + (*scc ? 1 : 0);
return *scc = sum >> 32 != 0, Lo(sum);
}
}
, {"s_subb_u32", "s_subb_u32", U32, {U32, U32}, VALUE{const uint64_t taken = s[1] + (*scc ? 1 : 0);
return *scc = s[0] < taken, Lo(s[0] - taken);
}
}
, {"s_add_i32", "s_add_i32", U32, {U32, U32}, VALUE{const int64_t sum = int64_t{S(s[0])} + S(s[1]);
return *scc = sum != S(U(sum)), U(sum);
}
}
, {"s_sub_i32", "s_sub_i32", U32, {U32, U32}, VALUE{const int64_t d = int64_t{S(s[0])} - S(s[1]);
return *scc = d != S(U(d)), U(d);
}
}
, {"s_mul_i32", "s_mul_i32", U32, {U32, U32}, VALUE{return Lo(s[0] * s[1]);
}
}
, {"s_mul_hi_u32", "s_mul_hi_u32", U32, {U32, U32}, VALUE{return s[0] * s[1] >> 32;
}
}
, {"s_mul_hi_i32", "s_mul_hi_i32", U32, {U32, U32},
   VALUE{return Lo(static_cast<uint64_t>(int64_t{S(s[0])} * S(s[1]) >> 32));
}
}
, {"s_and_b32", "s_and_b32", U32, {U32, U32}, VALUE{return * scc = (s[0] & s[1]) != 0, s[0] & s[1];
}
}
, {"s_or_b32", "s_or_b32", U32, {U32, U32}, VALUE{return * scc = (s[0] | s[1]) != 0, s[0] | s[1];
}
}
, {"s_xor_b32", "s_xor_b32", U32, {U32, U32}, VALUE{return * scc = s[0] != s[1], s[0] ^ s[1];
}
}
, {"s_nand_b32", "s_nand_b32", U32, {U32, U32}, VALUE{const uint64_t v = Lo(~(s[0] & s[1]));
return *scc = v != 0, v;
}
}
, {"s_and_not1_b32", "s_andn2_b32", U32, {U32, U32}, VALUE{return * scc = (s[0] & ~s[1]) != 0, s[0] & ~s[1];
}
}
, {"s_not_b32", "s_not_b32", U32, {U32}, VALUE{return * scc = Lo(~s[0]) != 0, Lo(~s[0]);
}
}
, {"s_lshl_b32", "s_lshl_b32", U32, {U32, U32}, VALUE{const uint64_t v = Lo(s[0] << (s[1] & 31));
return *scc = v != 0, v;
}
}
, {"s_lshr_b32", "s_lshr_b32", U32, {U32, U32},
   VALUE{return * scc = s[0] >> (s[1] & 31) != 0, s[0] >> (s[1] & 31);
}
}
, {"s_ashr_i32", "s_ashr_i32", U32, {U32, U32}, VALUE{const uint64_t v = U(S(s[0]) >> (s[1] & 31));
return *scc = v != 0, v;
}
}
, {"s_lshl_b64", "s_lshl_b64", U64, {U64, U32},
   VALUE{return * scc = s[0] << (s[1] & 63) != 0, s[0] << (s[1] & 63);
}
}
, {"s_lshr_b64", "s_lshr_b64", U64, {U64, U32},
   VALUE{return * scc = s[0] >> (s[1] & 63) != 0, s[0] >> (s[1] & 63);
}
}
, {"s_bfe_u32", "s_bfe_u32", U32, {U32, U32}, VALUE{const uint64_t width = s[1] >> 16 & 0x7f;
const uint64_t v = width == 0    ? 0
                   : width >= 32 ? s[0] >> (s[1] & 31)
                                 : s[0] >> (s[1] & 31) & ((uint64_t{1} << width) - 1);
return *scc = v != 0, v;
}
}
, {"s_bfm_b32", "s_bfm_b32", U32, {U32, U32},
   VALUE{return Lo(((uint64_t{1} << (s[0] & 31)) - 1) << (s[1] & 31));
}
}
, {"s_min_i32", "s_min_i32", U32, {U32, U32},
   VALUE{return * scc = S(s[0]) < S(s[1]), U(std::min(S(s[0]), S(s[1])));
}
}
, {"s_max_u32", "s_max_u32", U32, {U32, U32}, VALUE{return * scc = s[0] >= s[1], std::max(s[0], s[1]);
}
}
, {"s_bcnt1_i32_b32", "s_bcnt1_i32_b32", U32, {U32},
   VALUE{return * scc = s[0] != 0, static_cast<uint64_t>(std::popcount(Lo(s[0])));
}
}
, {"s_ctz_i32_b32", "s_ff1_i32_b32", U32, {U32},
   VALUE{return s[0] == 0 ? 0xffffffffu : static_cast<uint64_t>(std::countr_zero(Lo(s[0])));
}
}
, {"s_clz_i32_u32", "s_flbit_i32_b32", U32, {U32},
   VALUE{return s[0] == 0 ? 0xffffffffu : static_cast<uint64_t>(std::countl_zero(Lo(s[0])));
}
}
, {"s_sext_i32_i16", "s_sext_i32_i16", U32, {U32}, VALUE{return U(S16(s[0]));
}
}
, {"s_abs_i32", "s_abs_i32", U32, {U32}, VALUE{const uint64_t v = S(s[0]) < 0 ? Lo(-s[0]) : s[0];
return *scc = v != 0, v;
}
}
, {"s_cselect_b32", "s_cselect_b32", U32, {U32, U32}, VALUE{return *scc ? s[0] : s[1];
}
}
, {"s_pack_ll_b32_b16", "s_pack_ll_b32_b16", U32, {U32, U32},
   VALUE{return (s[0] & 0xffff) | (s[1] & 0xffff) << 16;
}
}
, {"s_pack_lh_b32_b16", "s_pack_lh_b32_b16", U32, {U32, U32},
   VALUE{return (s[0] & 0xffff) | (s[1] & 0xffff0000);
}
}
, {"s_lshl3_add_u32", "s_lshl3_add_u32", U32, {U32, U32}, VALUE{const uint64_t sum = (s[0] << 3) + s[1];
return *scc = sum >> 32 != 0, Lo(sum);
}
}
,
}
;
return ops;
}
#undef VALUE

#define TEST_OF [](uint64_t a, uint64_t b, [[maybe_unused]] const FloatMode& m)->bool
const std::vector<CompareOp>& VectorCompares() {
  static const std::vector<CompareOp> ops = {{"lt_u32", U32, TEST_OF{return a < b;
}
}
, {"eq_u32", U32, TEST_OF{return a == b;
}
}
, {"ge_u32", U32, TEST_OF{return a >= b;
}
}
, {"ne_u32", U32, TEST_OF{return a != b;
}
}
, {"gt_i32", U32, TEST_OF{return S(a) > S(b);
}
}
, {"le_i32", U32, TEST_OF{return S(a) <= S(b);
}
}
, {"lt_i64", U64, TEST_OF{return S64(a) < S64(b);
}
}
, {"gt_u64", U64, TEST_OF{return a > b;
}
}
, {"lt_f32", F32, TEST_OF{return D(kF32, Flush(kF32, a, m.keep32)) < D(kF32, Flush(kF32, b, m.keep32));
}
}
, {"nlt_f32", F32, TEST_OF{return !(D(kF32, Flush(kF32, a, m.keep32)) < D(kF32, Flush(kF32, b, m.keep32)));
}
}
, {"o_f32", F32, TEST_OF{return !kF32.IsNan(a) && !kF32.IsNan(b);
}
}
, {"ge_f64", F64, TEST_OF{return D(kF64, Flush(kF64, a, m.keep16_64)) >= D(kF64, Flush(kF64, b, m.keep16_64));
}
}
,
}
;
return ops;
}

const std::vector<CompareOp>& ScalarCompares() {
  static const std::vector<CompareOp> ops = {{"lt_u32", U32, TEST_OF{return a < b;
}
}
, {"le_u32", U32, TEST_OF{return a <= b;
}
}
, {"eq_u32", U32, TEST_OF{return a == b;
}
}
, {"lg_u32", U32, TEST_OF{return a != b;
}
}
, {"gt_i32", U32, TEST_OF{return S(a) > S(b);
}
}
, {"ge_i32", U32, TEST_OF{return S(a) >= S(b);
}
}
, {"eq_u64", U64, TEST_OF{return a == b;
}
}
,
}
;
return ops;
}
#undef TEST_OF

}  // namespace understudy::emu::amd::random
