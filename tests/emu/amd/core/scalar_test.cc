// SPDX-License-Identifier: Apache-2.0
// Scalar ALU instructions against the ISA manual's definitions, restated here bit by bit or over wider
// integers, on edge values and random ones.

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tests/emu/amd/core/dialect.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

struct State {
  uint64_t a, b, d;  // sources; the destination before
  bool scc;
  uint64_t exec;  // of 32 lanes on RDNA
};

using Oracle = std::function<void(State&)>;  // changes d, scc and exec
struct Case {
  const char* text;  // sources s8/s[8:9] and s10/s[10:11], destination s12/s[12:13]
  Oracle oracle;
};

uint32_t Lo(uint64_t v) { return static_cast<uint32_t>(v); }
int32_t Signed(uint64_t v) { return static_cast<int32_t>(v); }
void Put32(State& s, uint64_t v) { s.d = (s.d & ~uint64_t{0xffffffff}) | Lo(v); }
void Logic32(State& s, uint64_t v) { Put32(s, v), s.scc = Lo(v) != 0; }
void Logic64(State& s, uint64_t v) { s.d = v, s.scc = v != 0; }
bool FitsSigned(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }
uint64_t Field(uint64_t v, int bits, uint64_t offset, uint64_t width, bool is_signed) {
  // Bit by bit; bits beyond the register repeat the sign (signed) or are zero.
  uint64_t r = 0;
  const auto bit = [&](uint64_t i) -> uint64_t {
    if (i < static_cast<uint64_t>(bits)) return v >> i & 1;
    return is_signed ? v >> (bits - 1) & 1 : 0;
  };
  for (int i = 0; i < bits; ++i) {
    if (width == 0) break;
    const bool inside = static_cast<uint64_t>(i) < width;
    r |= (inside ? bit(offset + i) : is_signed ? bit(offset + width - 1) : 0) << i;
  }
  return r;
}
int CountZeros(uint64_t v, int bits, bool leading) {
  for (int i = 0; i < bits; ++i) {
    if (v >> (leading ? bits - 1 - i : i) & 1) return i;
  }
  return -1;
}
int CountOnes(uint64_t v, int bits) {
  int n = 0;
  for (int i = 0; i < bits; ++i) n += v >> i & 1;
  return n;
}
uint64_t Reverse(uint64_t v, int bits) {
  uint64_t r = 0;
  for (int i = 0; i < bits; ++i) r |= (v >> i & 1) << (bits - 1 - i);
  return r;
}
int SignBits(uint64_t v, int bits) {
  for (int i = 1; i < bits; ++i) {
    if ((v >> (bits - 1 - i) & 1) != (v >> (bits - 1) & 1)) return i;
  }
  return -1;
}
uint64_t Quads(uint64_t v, int bits, bool whole) {
  uint64_t r = 0;
  for (int i = 0; i < bits / 4; ++i) {
    if (v >> (4 * i) & 15) r |= whole ? uint64_t{15} << (4 * i) : uint64_t{1} << i;
  }
  return r;
}
uint64_t Replicate(uint32_t v) {
  uint64_t r = 0;
  for (int i = 0; i < 64; ++i) r |= uint64_t{v >> (i / 2) & 1} << i;
  return r;
}

// clang-format off: a row an instruction.
const Case kCases[] = {
    {"s_add_u32 s12, s8, s10", [](State& s) { const uint64_t r = uint64_t{Lo(s.a)} + Lo(s.b); Put32(s, r); s.scc = r >> 32; }},
    {"s_sub_u32 s12, s8, s10", [](State& s) { s.scc = Lo(s.b) > Lo(s.a); Put32(s, s.a - s.b); }},
    {"s_add_i32 s12, s8, s10", [](State& s) { const int64_t r = int64_t{Signed(s.a)} + Signed(s.b); Put32(s, r); s.scc = !FitsSigned(r); }},
    {"s_sub_i32 s12, s8, s10", [](State& s) { const int64_t r = int64_t{Signed(s.a)} - Signed(s.b); Put32(s, r); s.scc = !FitsSigned(r); }},
    {"s_addc_u32 s12, s8, s10", [](State& s) { const uint64_t r = uint64_t{Lo(s.a)} + Lo(s.b) + s.scc; Put32(s, r); s.scc = r >> 32; }},
    {"s_subb_u32 s12, s8, s10", [](State& s) { const uint64_t r = uint64_t{Lo(s.b)} + s.scc; s.scc = r > Lo(s.a); Put32(s, s.a - r); }},
    {"s_absdiff_i32 s12, s8, s10", [](State& s) { const int64_t r = int64_t{Signed(Lo(s.a) - Lo(s.b))}; Logic32(s, r < 0 ? -r : r); }},
    {"s_lshl_b32 s12, s8, s10", [](State& s) { Logic32(s, uint64_t{Lo(s.a)} << (s.b % 32)); }},
    {"s_lshl_b64 s[12:13], s[8:9], s10", [](State& s) { Logic64(s, s.a << (s.b % 64)); }},
    {"s_lshr_b32 s12, s8, s10", [](State& s) { Logic32(s, Lo(s.a) >> (s.b % 32)); }},
    {"s_lshr_b64 s[12:13], s[8:9], s10", [](State& s) { Logic64(s, s.a >> (s.b % 64)); }},
    {"s_ashr_i32 s12, s8, s10", [](State& s) { Logic32(s, Signed(s.a) >> (s.b % 32)); }},
    {"s_ashr_i64 s[12:13], s[8:9], s10", [](State& s) { Logic64(s, static_cast<int64_t>(s.a) >> (s.b % 64)); }},
    {"s_lshl1_add_u32 s12, s8, s10", [](State& s) { const uint64_t r = uint64_t{Lo(s.a)} * 2 + Lo(s.b); Put32(s, r); s.scc = r > 0xffffffff; }},
    {"s_lshl4_add_u32 s12, s8, s10", [](State& s) { const uint64_t r = uint64_t{Lo(s.a)} * 16 + Lo(s.b); Put32(s, r); s.scc = r > 0xffffffff; }},
    {"s_min_i32 s12, s8, s10", [](State& s) { s.scc = Signed(s.a) < Signed(s.b); Put32(s, s.scc ? s.a : s.b); }},
    {"s_min_u32 s12, s8, s10", [](State& s) { s.scc = Lo(s.a) < Lo(s.b); Put32(s, s.scc ? s.a : s.b); }},
    {"s_max_i32 s12, s8, s10", [](State& s) { s.scc = Signed(s.a) >= Signed(s.b); Put32(s, s.scc ? s.a : s.b); }},
    {"s_max_u32 s12, s8, s10", [](State& s) { s.scc = Lo(s.a) >= Lo(s.b); Put32(s, s.scc ? s.a : s.b); }},
    {"s_and_b32 s12, s8, s10", [](State& s) { Logic32(s, s.a & s.b); }},
    {"s_and_b64 s[12:13], s[8:9], s[10:11]", [](State& s) { Logic64(s, s.a & s.b); }},
    {"s_or_b32 s12, s8, s10", [](State& s) { Logic32(s, s.a | s.b); }},
    {"s_or_b64 s[12:13], s[8:9], s[10:11]", [](State& s) { Logic64(s, s.a | s.b); }},
    {"s_xor_b64 s[12:13], s[8:9], s[10:11]", [](State& s) { Logic64(s, s.a ^ s.b); }},
    {"s_nand_b32 s12, s8, s10", [](State& s) { Logic32(s, ~(s.a & s.b)); }},
    {"s_nor_b64 s[12:13], s[8:9], s[10:11]", [](State& s) { Logic64(s, ~(s.a | s.b)); }},
    {"s_xnor_b32 s12, s8, s10", [](State& s) { Logic32(s, ~(s.a ^ s.b)); }},
    {"s_and_not1_b32 s12, s8, s10", [](State& s) { Logic32(s, s.a & ~s.b); }},
    {"s_or_not1_b64 s[12:13], s[8:9], s[10:11]", [](State& s) { Logic64(s, s.a | ~s.b); }},
    {"s_bfe_u32 s12, s8, s10", [](State& s) { Logic32(s, Field(Lo(s.a), 32, s.b & 31, s.b >> 16 & 127, false)); }},
    {"s_bfe_i32 s12, s8, s10", [](State& s) { Logic32(s, Field(Lo(s.a), 32, s.b & 31, s.b >> 16 & 127, true)); }},
    {"s_bfe_u64 s[12:13], s[8:9], s10", [](State& s) { Logic64(s, Field(s.a, 64, s.b & 63, s.b >> 16 & 127, false)); }},
    {"s_bfe_i64 s[12:13], s[8:9], s10", [](State& s) { Logic64(s, Field(s.a, 64, s.b & 63, s.b >> 16 & 127, true)); }},
    {"s_bfm_b32 s12, s8, s10", [](State& s) { Put32(s, ((uint64_t{1} << (s.a % 32)) - 1) << (s.b % 32)); }},
    {"s_bfm_b64 s[12:13], s8, s10", [](State& s) { s.d = ((uint64_t{1} << (s.a % 64)) - 1) << (s.b % 64); }},
    {"s_mul_i32 s12, s8, s10", [](State& s) { Put32(s, uint64_t{Lo(s.a)} * Lo(s.b)); }},
    {"s_mul_hi_u32 s12, s8, s10", [](State& s) { Put32(s, uint64_t{Lo(s.a)} * Lo(s.b) >> 32); }},
    {"s_mul_hi_i32 s12, s8, s10", [](State& s) { Put32(s, int64_t{Signed(s.a)} * Signed(s.b) >> 32); }},
    {"s_cselect_b32 s12, s8, s10", [](State& s) { Put32(s, s.scc ? s.a : s.b); }},
    {"s_cselect_b64 s[12:13], s[8:9], s[10:11]", [](State& s) { s.d = s.scc ? s.a : s.b; }},
    {"s_pack_ll_b32_b16 s12, s8, s10", [](State& s) { Put32(s, (s.a & 0xffff) | s.b << 16); }},
    {"s_pack_lh_b32_b16 s12, s8, s10", [](State& s) { Put32(s, (s.a & 0xffff) | (s.b & 0xffff0000)); }},
    {"s_pack_hh_b32_b16 s12, s8, s10", [](State& s) { Put32(s, (s.a >> 16 & 0xffff) | (s.b & 0xffff0000)); }},
    {"s_pack_hl_b32_b16 s12, s8, s10", [](State& s) { Put32(s, (s.a >> 16 & 0xffff) | s.b << 16); }},
    {"s_cmov_b32 s12, s8", [](State& s) { if (s.scc) Put32(s, s.a); }},
    {"s_cmov_b64 s[12:13], s[8:9]", [](State& s) { if (s.scc) s.d = s.a; }},
    {"s_brev_b32 s12, s8", [](State& s) { Put32(s, Reverse(Lo(s.a), 32)); }},
    {"s_brev_b64 s[12:13], s[8:9]", [](State& s) { s.d = Reverse(s.a, 64); }},
    {"s_ctz_i32_b32 s12, s8", [](State& s) { Put32(s, CountZeros(Lo(s.a), 32, false)); }},
    {"s_ctz_i32_b64 s12, s[8:9]", [](State& s) { Put32(s, CountZeros(s.a, 64, false)); }},
    {"s_clz_i32_u32 s12, s8", [](State& s) { Put32(s, CountZeros(Lo(s.a), 32, true)); }},
    {"s_clz_i32_u64 s12, s[8:9]", [](State& s) { Put32(s, CountZeros(s.a, 64, true)); }},
    {"s_cls_i32 s12, s8", [](State& s) { Put32(s, SignBits(Lo(s.a), 32)); }},
    {"s_cls_i32_i64 s12, s[8:9]", [](State& s) { Put32(s, SignBits(s.a, 64)); }},
    {"s_sext_i32_i8 s12, s8", [](State& s) { Put32(s, static_cast<int8_t>(s.a)); }},
    {"s_sext_i32_i16 s12, s8", [](State& s) { Put32(s, static_cast<int16_t>(s.a)); }},
    {"s_bitset0_b32 s12, s8", [](State& s) { Put32(s, s.d & ~(uint64_t{1} << (s.a % 32))); }},
    {"s_bitset1_b64 s[12:13], s8", [](State& s) { s.d |= uint64_t{1} << (s.a % 64); }},
    {"s_bitreplicate_b64_b32 s[12:13], s8", [](State& s) { s.d = Replicate(Lo(s.a)); }},
    {"s_abs_i32 s12, s8", [](State& s) { Logic32(s, Signed(s.a) < 0 ? -int64_t{Signed(s.a)} : Signed(s.a)); }},
    {"s_bcnt0_i32_b32 s12, s8", [](State& s) { Logic32(s, 32 - CountOnes(Lo(s.a), 32)); }},
    {"s_bcnt0_i32_b64 s12, s[8:9]", [](State& s) { Logic32(s, 64 - CountOnes(s.a, 64)); }},
    {"s_bcnt1_i32_b32 s12, s8", [](State& s) { Logic32(s, CountOnes(Lo(s.a), 32)); }},
    {"s_bcnt1_i32_b64 s12, s[8:9]", [](State& s) { Logic32(s, CountOnes(s.a, 64)); }},
    {"s_quadmask_b32 s12, s8", [](State& s) { Logic32(s, Quads(Lo(s.a), 32, false)); }},
    {"s_quadmask_b64 s[12:13], s[8:9]", [](State& s) { Logic64(s, Quads(s.a, 64, false)); }},
    {"s_wqm_b32 s12, s8", [](State& s) { Logic32(s, Quads(Lo(s.a), 32, true)); }},
    {"s_wqm_b64 s[12:13], s[8:9]", [](State& s) { Logic64(s, Quads(s.a, 64, true)); }},
    {"s_not_b32 s12, s8", [](State& s) { Logic32(s, ~s.a); }},
    {"s_not_b64 s[12:13], s[8:9]", [](State& s) { Logic64(s, ~s.a); }},
    {"s_and_saveexec_b32 s12, s8", [](State& s) { Put32(s, s.exec); s.exec &= Lo(s.a); s.scc = s.exec; }},
    {"s_or_saveexec_b32 s12, s8", [](State& s) { Put32(s, s.exec); s.exec |= Lo(s.a); s.scc = s.exec; }},
    {"s_xnor_saveexec_b32 s12, s8", [](State& s) { Put32(s, s.exec); s.exec = Lo(~(s.exec ^ Lo(s.a))); s.scc = s.exec; }},
    {"s_nand_saveexec_b32 s12, s8", [](State& s) { Put32(s, s.exec); s.exec = Lo(~(s.exec & Lo(s.a))); s.scc = s.exec; }},
    {"s_and_not0_saveexec_b32 s12, s8", [](State& s) { Put32(s, s.exec); s.exec &= ~Lo(s.a); s.scc = s.exec; }},
    {"s_or_not0_saveexec_b32 s12, s8", [](State& s) { Put32(s, s.exec); s.exec = Lo(s.exec | ~Lo(s.a)); s.scc = s.exec; }},
    {"s_and_not1_saveexec_b32 s12, s8", [](State& s) { Put32(s, s.exec); s.exec = Lo(Lo(s.a) & ~s.exec); s.scc = s.exec; }},
    {"s_or_not1_saveexec_b32 s12, s8", [](State& s) { Put32(s, s.exec); s.exec = Lo(Lo(s.a) | ~s.exec); s.scc = s.exec; }},
    {"s_and_not0_wrexec_b32 s12, s8", [](State& s) { s.exec &= ~Lo(s.a); Put32(s, s.exec); s.scc = s.exec; }},
    {"s_and_not1_wrexec_b32 s12, s8", [](State& s) { s.exec = Lo(Lo(s.a) & ~s.exec); Put32(s, s.exec); s.scc = s.exec; }},
    {"s_and_saveexec_b64 s[12:13], s[8:9]", [](State& s) { s.d = s.exec; s.exec &= s.a; s.scc = s.exec; }},
    {"s_or_saveexec_b64 s[12:13], s[8:9]", [](State& s) { s.d = s.exec; s.exec |= s.a; s.scc = s.exec; }},
    {"s_xnor_saveexec_b64 s[12:13], s[8:9]", [](State& s) { s.d = s.exec; s.exec = ~(s.exec ^ s.a); s.scc = s.exec; }},
    {"s_nand_saveexec_b64 s[12:13], s[8:9]", [](State& s) { s.d = s.exec; s.exec = ~(s.exec & s.a); s.scc = s.exec; }},
    {"s_and_not0_saveexec_b64 s[12:13], s[8:9]", [](State& s) { s.d = s.exec; s.exec &= ~s.a; s.scc = s.exec; }},
    {"s_or_not0_saveexec_b64 s[12:13], s[8:9]", [](State& s) { s.d = s.exec; s.exec |= ~s.a; s.scc = s.exec; }},
    {"s_and_not1_saveexec_b64 s[12:13], s[8:9]", [](State& s) { s.d = s.exec; s.exec = s.a & ~s.exec; s.scc = s.exec; }},
    {"s_or_not1_saveexec_b64 s[12:13], s[8:9]", [](State& s) { s.d = s.exec; s.exec = s.a | ~s.exec; s.scc = s.exec; }},
    {"s_and_not0_wrexec_b64 s[12:13], s[8:9]", [](State& s) { s.exec &= ~s.a; s.d = s.exec; s.scc = s.exec; }},
    {"s_and_not1_wrexec_b64 s[12:13], s[8:9]", [](State& s) { s.exec = s.a & ~s.exec; s.d = s.exec; s.scc = s.exec; }},
    {"s_cmp_lt_i32 s8, s10", [](State& s) { s.scc = Signed(s.a) < Signed(s.b); }},
    {"s_cmp_lt_u32 s8, s10", [](State& s) { s.scc = Lo(s.a) < Lo(s.b); }},
    {"s_cmp_le_u32 s8, s10", [](State& s) { s.scc = Lo(s.a) <= Lo(s.b); }},
    {"s_cmp_ge_i32 s8, s10", [](State& s) { s.scc = Signed(s.a) >= Signed(s.b); }},
    {"s_cmp_gt_u32 s8, s10", [](State& s) { s.scc = Lo(s.a) > Lo(s.b); }},
    {"s_cmp_eq_u64 s[8:9], s[10:11]", [](State& s) { s.scc = s.a == s.b; }},
    {"s_cmp_lg_u64 s[8:9], s[10:11]", [](State& s) { s.scc = s.a != s.b; }},
    {"s_bitcmp0_b32 s8, s10", [](State& s) { s.scc = (s.a >> (s.b % 32) & 1) == 0; }},
    {"s_bitcmp1_b64 s[8:9], s10", [](State& s) { s.scc = s.a >> (s.b % 64) & 1; }},
    {"s_movk_i32 s12, 0x8001", [](State& s) { Put32(s, 0xffff8001); }},
    {"s_cmovk_i32 s12, 0x7fff", [](State& s) { if (s.scc) Put32(s, 0x7fff); }},
    {"s_addk_i32 s12, 0x8000", [](State& s) { const int64_t r = int64_t{Signed(s.d)} - 32768; Put32(s, r); s.scc = !FitsSigned(r); }},
    {"s_mulk_i32 s12, 0xfffd", [](State& s) { Put32(s, int64_t{Signed(s.d)} * -3); }},
    {"s_cmpk_lt_i32 s12, 0xfff0", [](State& s) { s.scc = Signed(s.d) < -16; }},
    {"s_cmpk_lt_u32 s12, 0xfff0", [](State& s) { s.scc = Lo(s.d) < 0xfff0; }},
    {"s_cmpk_eq_u32 s12, 0xffff", [](State& s) { s.scc = Lo(s.d) == 0xffff; }},
    {"s_mov_b64 s[12:13], -5", [](State& s) { s.d = ~uint64_t{4}; }},
    {"s_mov_b64 s[12:13], 0xfedcba98", [](State& s) { s.d = 0xfedcba98; }},
    {"s_mov_b64 s[12:13], 1.0", [](State& s) { s.d = 0x3ff0000000000000; }},
    {"s_mov_b32 s12, 0.15915494", [](State& s) { Put32(s, 0x3e22f983); }},
    {"s_mov_b32 null, s8", [](State&) {}},
    {"s_mov_b64 null, s[8:9]", [](State&) {}},
    {"s_mov_b32 s102, s8\ns_mov_b32 s12, s102", [](State& s) { Put32(s, s.a); }},
    {"s_or_b32 s12, src_scc, s10", [](State& s) { Logic32(s, s.scc | s.b); }},
    {"s_add_u32 s12, s8, 0xe7", [](State& s) { const uint64_t r = uint64_t{Lo(s.a)} + 0xe7; Put32(s, r); s.scc = r >> 32; }},
    {"s_mov_b32 s12, null", [](State& s) { Put32(s, 0); }},
    {"s_mov_b32 s12, src_scc", [](State& s) { Put32(s, s.scc); }},
    {"s_mov_b64 s[12:13], src_shared_base", [](State& s) { s.d = uint64_t{1} << 48; }},
    {"s_mov_b64 s[12:13], src_private_limit", [](State& s) { s.d = uint64_t{2} << 48 | 0xffffffff; }},
    {"s_bcnt0_i32_b64 s12, s[8:9]\ns_ff0_i32_b32 s12, s8", [](State& s) { s.scc = CountOnes(s.a, 64) != 64; Put32(s, CountZeros(Lo(~s.a), 32, false)); }},
    {"s_ff0_i32_b64 s12, s[8:9]", [](State& s) { Put32(s, CountZeros(~s.a, 64, false)); }},
    {"s_add_nc_u64 s[12:13], s[8:9], s[10:11]", [](State& s) { s.d = s.a + s.b; }},
    {"s_sub_nc_u64 s[12:13], s[8:9], s[10:11]", [](State& s) { s.d = s.a - s.b; }},
    {"s_mul_u64 s[12:13], s[8:9], s[10:11]", [](State& s) { s.d = s.a * s.b; }},
    {"s_set_gpr_idx_on s8, 0x9\ns_set_gpr_idx_off\ns_mov_b32 s12, m0", [](State& s) { Put32(s, (s.a & 0xff) | 0x9000); }},
    {"s_mov_b32 m0, -1\ns_set_gpr_idx_idx s8\ns_set_gpr_idx_mode 0x6\ns_mov_b32 s12, m0", [](State& s) { Put32(s, (s.a & 0xff) | 0xffff6f00); }},
    {"s_set_gpr_idx_on s8, 0x1\ns_getreg_b32 s12, hwreg(HW_REG_MODE, 27, 1)\ns_set_gpr_idx_off", [](State& s) { Put32(s, 1); }},
    {"s_mov_b32 m0, 2\ns_movrels_b32 s12, s8", [](State& s) { Put32(s, s.b); }},
    {"s_mov_b32 m0, 4\ns_movreld_b32 s8, s10", [](State& s) { Put32(s, s.b); }},
    {"s_mov_b32 m0, 0x40002\ns_movrelsd_2_b32 s8, s8", [](State& s) { Put32(s, s.b); }},
};
// clang-format on

std::vector<State> Inputs() {
  const uint64_t kEdges[] = {0,
                             1,
                             2,
                             31,
                             32,
                             33,
                             63,
                             64,
                             0x7fffffff,
                             0x80000000,
                             0xffffffff,
                             0x100000000,
                             0x00040004,
                             0x00200000,
                             0x7f0000,
                             0x0010001f,
                             0x00400020,
                             0x8000000000000000,
                             0x7fffffffffffffff,
                             ~uint64_t{0},
                             0xf0,
                             0xffff};
  std::vector<State> inputs;
  std::mt19937_64 random(1);
  for (const uint64_t a : kEdges) {
    for (const uint64_t b : kEdges) {
      const uint64_t r = random();
      inputs.push_back({a, b, r, (r & 1) != 0, Lo(r >> 20)});
    }
  }
  for (int i = 0; i < 200; ++i) {
    inputs.push_back({random(), random(), random(), (random() & 1) != 0, Lo(random())});
  }
  return inputs;
}

// Which generations have an instruction, by what its text contains.
bool Exists(Isa isa, const std::string& text) {
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  if (has("_nc_u64") || has("s_mul_u64")) return isa == Isa::kRdna4;
  if (has("s_cmpk")) return isa != Isa::kRdna4;
  if (has("s_ff0") || has("gpr_idx")) return IsCdna(isa);
  if (!IsCdna(isa)) return true;
  return !(has("null") || has("exec_b32") || has("movrelsd_2") || has("s102") || has("pack_hl"));
}

class ScalarOfGeneration : public testing::TestWithParam<Isa> {};

TEST_P(ScalarOfGeneration, AgreesWithTheManual) {
  const Isa isa = GetParam();
  constexpr int kIn = 8, kOut = 8;  // words a record
  std::vector<State> inputs = Inputs();
  for (const Case& c : kCases) {
    if (!Exists(isa, c.text)) continue;
    const bool wave64 = IsCdna(isa) || std::string(c.text).find("exec_b64") != std::string::npos;
    KernelRunner runner(wave64 ? 64 : 32, isa);
    const int in = runner.AddBuffer(kIn * inputs.size(), Perm::kRead),
              out = runner.AddBuffer(kOut * inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      State& s = inputs[i];
      s.exec = Lo(s.exec);
      const uint32_t words[kIn] = {Lo(s.a), Lo(s.a >> 32), Lo(s.b), Lo(s.b >> 32),
                                   Lo(s.d), Lo(s.d >> 32), s.scc,   Lo(s.exec)};
      std::copy(words, words + kIn, &runner.Buffer(in)[kIn * i]);
    }
    runner.regs.rsrc2 |= 7u << 7;
    runner.regs.num_thread[0] = 1;
    runner.regs.dim[0] = static_cast<uint32_t>(inputs.size());
    runner.Program(Respell(isa, 32, 4, std::string(R"(
      s_lshl_b32 s20, $wgx, 5
      s_add_u32 s6, s0, s20
      s_addc_u32 s7, s1, 0
      s_load_b256 s[8:15], s[6:7], 0x0
      s_waitcnt lgkmcnt(0)
      s_mov_b32 exec_lo, s15
      s_mov_b32 exec_hi, 0
      s_cmp_lg_u32 s14, 0
    )") + c.text + R"(
      s_cselect_b32 s14, 1, 0
      s_mov_b32 s15, exec_lo
      s_mov_b32 s16, exec_hi
      s_mov_b32 exec_lo, 1
      s_mov_b32 exec_hi, 0
      v_mov_b32 v1, s20
      v_mov_b32 v2, s12
      v_mov_b32 v3, s13
      v_mov_b32 v4, s14
      v_mov_b32 v5, s15
      v_mov_b32 v6, s16
      global_store_b128 v1, v[2:5], s[2:3]
      global_store_b32 v1, v6, s[2:3] offset:16
      s_endpgm)"));
    runner.Run();
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << c.text;
    for (size_t i = 0; i < inputs.size(); ++i) {
      State want = inputs[i];
      c.oracle(want);
      const uint32_t* got = &runner.Buffer(out)[kOut * i];
      const uint64_t d = got[0] | uint64_t{got[1]} << 32, exec = got[3] | uint64_t{got[4]} << 32;
      ASSERT_TRUE(d == want.d && got[2] == want.scc && exec == want.exec)
          << std::hex << c.text << "\n a " << inputs[i].a << " b " << inputs[i].b << " d " << inputs[i].d
          << " scc " << inputs[i].scc << " exec " << inputs[i].exec << "\n want d " << want.d << " scc "
          << want.scc << " exec " << want.exec << "\n got  d " << d << " scc " << got[2] << " exec " << exec;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, ScalarOfGeneration, testing::ValuesIn(kAllIsas),
                         [](const auto& info) { return std::string(IsaTarget(info.param)); });

// Each branch form is taken or not as its condition says; each path adds its own bit.
TEST(Scalar, BranchesAndCalls) {
  KernelRunner runner;
  const int out = runner.AddBuffer(4);
  runner.Program(R"(
    s_mov_b32 s10, 0
    s_cmp_eq_u32 s10, 0
    s_cbranch_scc0 bad
    s_cbranch_scc1 l1
    s_branch bad
  l1:
    s_or_b32 s10, s10, 1
    s_mov_b32 vcc_lo, 0
    s_cbranch_vccnz bad
    s_cbranch_vccz l2
    s_branch bad
  l2:
    s_or_b32 s10, s10, 2
    s_cbranch_execz bad
    s_cbranch_execnz l3
    s_branch bad
  l3:
    s_or_b32 s10, s10, 4
    s_mov_b32 vcc_hi, -1           ; not part of a wave32 mask
    s_cbranch_vccnz bad
    s_call_b64 s[20:21], sub
    s_getpc_b64 s[22:23]
  after:
    s_add_u32 s22, s22, sub-after
    s_addc_u32 s23, s23, 0
    s_swappc_b64 s[20:21], s[22:23]
    s_getpc_b64 s[22:23]
    s_branch done
  sub:
    s_add_u32 s10, s10, 0x100
    s_setpc_b64 s[20:21]
  bad:
    s_mov_b32 s10, -1
  done:
    v_mov_b32 v1, 0
    v_mov_b32 v2, s10
    global_store_b32 v1, v2, s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 0x207u);
}

TEST(Scalar, HardwareRegisterFields) {
  KernelRunner runner;
  const int out = runner.AddBuffer(4);
  runner.Program(R"(
    s_round_mode 0x9
    s_denorm_mode 0x6
    s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 8)
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xff
    s_getreg_b32 s9, hwreg(HW_REG_MODE)
    s_mov_b32 s12, 1
    s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), s12
    s_getreg_b32 s10, hwreg(HW_REG_MODE)
    s_mov_b32 vcc_lo, 0
    s_cmp_eq_u32 s12, 1
    s_getreg_b32 s11, hwreg(HW_REG_STATUS, 0, 11)
    v_mov_b32 v1, 0
    v_mov_b32 v2, s8
    v_mov_b32 v3, s9
    v_mov_b32 v4, s10
    v_mov_b32 v5, s11
    global_store_b128 v1, v[2:5], s[0:1]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out)[0], 0x69u);
  EXPECT_EQ(runner.Buffer(out)[1] & 0xff, 0xf9u);
  EXPECT_EQ(runner.Buffer(out)[2] & 0xff, 0xf5u);
  EXPECT_EQ(runner.Buffer(out)[3], 1u | 1u << 10) << "SCC set, VCCZ set, EXECZ clear";
}

// Scalar loads of every width, with every kind of offset.
TEST(Scalar, Loads) {
  KernelRunner runner;
  const int in = runner.AddBuffer(32, Perm::kRead), out = runner.AddBuffer(64);
  for (uint32_t i = 0; i < 32; ++i) runner.Buffer(in)[i] = 0x1000 + i;
  runner.Program(R"(
    s_mov_b32 s9, 12
    s_add_u32 s10, s0, 64
    s_addc_u32 s11, s1, 0
    s_load_b32 s12, s[0:1], 0x4
    s_load_b64 s[14:15], s[0:1], s9
    s_load_b128 s[16:19], s[10:11], -0x10
    s_load_b256 s[20:27], s[0:1], s9 offset:0x4
    s_load_b512 s[32:47], s[10:11], null
    s_load_b32 s13, s[0:1], 0x7
    v_mov_b32 v0, 0
    v_mov_b32 v1, s12
    v_mov_b32 v2, s15
    v_mov_b32 v3, s16
    v_mov_b32 v4, s27
    global_store_b128 v0, v[1:4], s[2:3]
    v_mov_b32 v1, s47
    v_mov_b32 v2, s13
    global_store_b64 v0, v[1:2], s[2:3] offset:16
    s_endpgm)");
  runner.Run();
  const std::vector<uint32_t> want = {0x1001, 0x1004, 0x100c, 0x100b, 0x101f, 0x1001};
  EXPECT_EQ(std::vector<uint32_t>(runner.Buffer(out).begin(), runner.Buffer(out).begin() + 6), want);
}

// A scalar buffer load gives zero past the end, word by word.
TEST(Scalar, BufferLoadsAreBounded) {
  KernelRunner runner;
  const int in = runner.AddBuffer(8, Perm::kRead), out = runner.AddBuffer(4);
  for (uint32_t i = 0; i < 8; ++i) runner.Buffer(in)[i] = 0x100 + i;
  runner.Program(R"(
    s_mov_b32 s8, s0
    s_mov_b32 s9, s1
    s_mov_b32 s10, 20            ; NUM_RECORDS, stride 0
    s_mov_b32 s11, 0
    s_buffer_load_b128 s[12:15], s[8:11], 0xc
    v_mov_b32 v0, 0
    v_mov_b32 v1, s12
    v_mov_b32 v2, s13
    v_mov_b32 v3, s14
    v_mov_b32 v4, s15
    global_store_b128 v0, v[1:4], s[2:3]
    s_endpgm)");
  runner.Run();
  EXPECT_EQ(runner.Buffer(out), (std::vector<uint32_t>{0x103, 0x104, 0, 0}));
}

}  // namespace
}  // namespace understudy::emu::amd
