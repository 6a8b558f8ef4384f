// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small RDNA3 kernels as machine code. The bytes are llvm-mc's for the assembly beside them
// (llvm-mc-22 -triple=amdgcn -mcpu=gfx1100 -show-encoding).

#include <cstdint>

namespace understudy::mockgpu {

// out[i] = i + 7 for the 32 threads of each work-group; kernarg: out.
inline constexpr uint32_t kStoreIds[] = {
    0xf4040100, 0xf8000000,  // s_load_b64 s[4:5], s[0:1], 0x0
    0x84038502,              // s_lshl_b32 s3, s2, 5
    0x4a020003,              // v_add_nc_u32_e32 v1, s3, v0
    0x30040282,              // v_lshlrev_b32_e32 v2, 2, v1
    0x4a020287,              // v_add_nc_u32_e32 v1, 7, v1
    0xbf89fc07,              // s_waitcnt lgkmcnt(0)
    0xdc6a0000, 0x00040102,  // global_store_b32 v2, v1, s[4:5]
    0xbfb00000,              // s_endpgm
};
// one thread stores a dword; kernarg: address, value.
inline constexpr uint32_t kStoreOne[] = {
    0xf4040100, 0xf8000000,  // s_load_b64 s[4:5], s[0:1], 0x0
    0xf4000180, 0xf8000008,  // s_load_b32 s6, s[0:1], 0x8
    0x7e040280,              // v_mov_b32_e32 v2, 0
    0xbf89fc07,              // s_waitcnt lgkmcnt(0)
    0x7e020206,              // v_mov_b32_e32 v1, s6
    0xdc6a0000, 0x00040102,  // global_store_b32 v2, v1, s[4:5]
    0xbfb00000,              // s_endpgm
};
// one thread loads a dword; kernarg: address.
inline constexpr uint32_t kLoadOne[] = {
    0xf4040100, 0xf8000000,  // s_load_b64 s[4:5], s[0:1], 0x0
    0x7e040280,              // v_mov_b32_e32 v2, 0
    0xbf89fc07,              // s_waitcnt lgkmcnt(0)
    0xdc520000, 0x01040002,  // global_load_b32 v1, v2, s[4:5]
    0xbf8903f7,              // s_waitcnt vmcnt(0)
    0xbfb00000,              // s_endpgm
};
// counts down, then stores 1; kernarg: address, count.
inline constexpr uint32_t kCountDown[] = {
    0xf4040100, 0xf8000000,  // s_load_b64 s[4:5], s[0:1], 0x0
    0xf4000180, 0xf8000008,  // s_load_b32 s6, s[0:1], 0x8
    0x7e040280,              // v_mov_b32_e32 v2, 0
    0xbf89fc07,              // s_waitcnt lgkmcnt(0)
    0x81868106,              // s_sub_i32 s6, s6, 1
    0xbf078006,              // s_cmp_lg_u32 s6, 0
    0xbfa2fffd,              // s_cbranch_scc1 -3
    0x7e020281,              // v_mov_b32_e32 v1, 1
    0xdc6a0000, 0x00040102,  // global_store_b32 v2, v1, s[4:5]
    0xbfb00000,              // s_endpgm
};
// a trap for which no handler is installed.
inline constexpr uint32_t kTrap[] = {
    0xbf900002,  // s_trap 2
    0xbfb00000,  // s_endpgm
};
// an endless loop.
inline constexpr uint32_t kSpin[] = {
    0xbfa0ffff,  // s_branch -1
    0xbfb00000,  // s_endpgm
};
// an encoding that LLVM MC calls invalid.
inline constexpr uint32_t kIllegal[] = {
    0xffffffff,
    0xbfb00000,  // s_endpgm
};

}  // namespace understudy::mockgpu
