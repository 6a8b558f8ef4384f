// SPDX-License-Identifier: Apache-2.0
// DS instructions between lanes, through M0 and in pairs, against the ISA manual's pseudocode restated on
// arrays.

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "absl/strings/str_format.h"
#include "tests/emu/amd/core/kernel_runner.h"

namespace understudy::emu::amd {
namespace {

constexpr uint32_t kLds4K = 8u << 15;

// Runs `body` on one wave: v0 = lane, v1 = words of buffer 0, v2 = words of buffer 1, v3 = 0xeeeeeeee; EXEC
// as given. Returns v3 of every lane, stored under full EXEC.
std::vector<uint32_t> RunLanes(int wave_size, uint64_t exec, const std::vector<uint32_t>& v1,
                               const std::vector<uint32_t>& v2, const std::string& body) {
  KernelRunner runner(wave_size);
  const int a = runner.AddBuffer(wave_size), b = runner.AddBuffer(wave_size),
            out = runner.AddBuffer(wave_size);
  runner.Buffer(a) = v1;
  runner.Buffer(b) = v2;
  // The vectors were replaced: map their new storage.
  for (const int index : {a, b}) {
    EXPECT_TRUE(runner.memory.Unmap(runner.BufferVa(index), 4 * wave_size).ok());
    EXPECT_TRUE(runner.memory
                    .Map(runner.BufferVa(index), 4 * wave_size,
                         reinterpret_cast<uint8_t*>(runner.Buffer(index).data()), Perm::kRead, "in")
                    .ok());
  }
  runner.regs.rsrc2 |= kLds4K;
  runner.Program(absl::StrFormat(R"(
    v_lshlrev_b32 v4, 2, v0
    global_load_b32 v1, v4, s[0:1]
    global_load_b32 v2, v4, s[2:3]
    v_mov_b32 v3, 0xeeeeeeee
    s_waitcnt vmcnt(0)
    s_mov_b32 exec_lo, 0x%x
    s_mov_b32 exec_hi, 0x%x
    %s
    s_waitcnt lgkmcnt(0)
    s_mov_b32 exec_lo, -1
    s_mov_b32 exec_hi, -1
    global_store_b32 v4, v3, s[4:5]
    s_endpgm)",
                                 static_cast<uint32_t>(exec), static_cast<uint32_t>(exec >> 32), body));
  runner.Run();
  return runner.Buffer(out);
}

std::vector<uint32_t> Random(int n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> v(n);
  for (uint32_t& x : v) x = static_cast<uint32_t>(random());
  return v;
}

uint64_t Masks(int wave_size, int which) {
  const uint64_t all = wave_size == 32 ? 0xffffffff : ~uint64_t{0};
  const uint64_t kMasks[] = {all, 0x5a5a00ff8181f00f & all, 0x8000000080000000 & all,
                             0x00ff00ffff00ff00 & all};
  return kMasks[which];
}

TEST(LdsLanes, Swizzle) {
  for (const int wave_size : {32, 64}) {
    const std::vector<uint32_t> data = Random(wave_size, 1);
    for (const uint32_t pattern :
         {0x001fu, 0x041fu, 0x7c1fu, 0x0010u, 0x03e0u, 0x8000u | 0x1bu, 0x8000u | 0xb1u, 0xc000u | 3u << 5,
          0xc400u | 5u << 5, 0xc000u | 7u << 5 | 0x18u, 0xe000u, 0xe01fu, 0xe010u, 0xe003u}) {
      for (int m = 0; m < 4; ++m) {
        const uint64_t exec = Masks(wave_size, m);
        std::vector<uint32_t> want(wave_size, 0xeeeeeeee);
        for (int i = 0; i < wave_size; ++i) {
          if ((exec >> i & 1) == 0) continue;
          int j;
          if (pattern >= 0xe000) {
            const int mask = pattern & 31, l = i & 31;
            int reversed = 0;
            for (int bit = 0; bit < 5; ++bit) reversed |= (l >> bit & 1) << (4 - bit);
            int ones = 0;
            for (int bit = 0; bit < 5; ++bit) ones += mask >> bit & 1;
            j = (reversed >> ones) | (l & mask) | (i & 32);
          } else if (pattern >= 0xc000) {
            const int mask = pattern & 31;
            int rotate = pattern >> 5 & 31;
            if (pattern & 0x400) rotate = -rotate;
            j = (((i & mask) | ((i + rotate) & ~mask)) & 31) | (i & 32);
          } else if (pattern & 0x8000) {
            j = (i & ~3) | (pattern >> (2 * (i % 4)) & 3);
          } else {
            const int and_mask = pattern & 31, or_mask = pattern >> 5 & 31, xor_mask = pattern >> 10 & 31;
            j = ((((i & 31) & and_mask) | or_mask) ^ xor_mask) | (i & 32);
          }
          want[i] = (exec >> j & 1) != 0 ? data[j] : 0;
        }
        EXPECT_EQ(RunLanes(wave_size, exec, data, data,
                           absl::StrFormat("ds_swizzle_b32 v3, v1 offset:0x%x", pattern)),
                  want)
            << std::hex << pattern << " exec " << exec << " wave" << std::dec << wave_size;
      }
    }
  }
}

TEST(LdsLanes, Permutes) {
  for (const int wave_size : {32, 64}) {
    const std::vector<uint32_t> address = Random(wave_size, 2), data = Random(wave_size, 3);
    for (int m = 0; m < 4; ++m) {
      const uint64_t exec = Masks(wave_size, m);
      std::vector<uint32_t> pull(wave_size, 0xeeeeeeee), push = pull, pushed(wave_size, 0);
      for (int i = 0; i < wave_size; ++i) {
        if ((exec >> i & 1) == 0) continue;
        const int j = static_cast<int>((address[i] + 8) / 4 % 32) | (i & 32);
        pull[i] = (exec >> j & 1) != 0 ? data[j] : 0;
        pushed[j] = data[i];
      }
      for (int i = 0; i < wave_size; ++i) {
        if ((exec >> i & 1) != 0) push[i] = pushed[i];
      }
      EXPECT_EQ(RunLanes(wave_size, exec, address, data, "ds_bpermute_b32 v3, v1, v2 offset:8"), pull);
      EXPECT_EQ(RunLanes(wave_size, exec, address, data, "ds_permute_b32 v3, v1, v2 offset:8"), push);
    }
  }
}

TEST(LdsLanes, AppendAndConsumeCountActiveLanes) {
  for (const int wave_size : {32, 64}) {
    const uint64_t exec = Masks(wave_size, 1);
    const uint32_t active = static_cast<uint32_t>(__builtin_popcountll(exec));
    const std::vector<uint32_t> zero(wave_size, 0);
    const std::string start = R"(
      v_mov_b32 v5, 0x6c
      v_mov_b32 v6, 1000
      ds_store_b32 v5, v6
      s_movk_i32 m0, 0x64
    )";
    const auto all = [&](uint32_t value) {
      std::vector<uint32_t> v(wave_size, 0xeeeeeeee);
      for (int i = 0; i < wave_size; ++i) {
        if ((exec >> i & 1) != 0) v[i] = value;
      }
      return v;
    };
    EXPECT_EQ(RunLanes(wave_size, exec, zero, zero, start + "ds_append v3 offset:8"), all(1000));
    EXPECT_EQ(RunLanes(wave_size, exec, zero, zero, start + "ds_append v6 offset:8\nds_append v3 offset:8"),
              all(1000 + active));
    EXPECT_EQ(RunLanes(wave_size, exec, zero, zero, start + "ds_consume v6 offset:8\nds_load_b32 v3, v5"),
              all(1000 - active));
  }
}

TEST(LdsLanes, AddTidAddressesByLane) {
  for (const int wave_size : {32, 64}) {
    const std::vector<uint32_t> data = Random(wave_size, 4);
    std::vector<uint32_t> want(wave_size, 0);
    for (int i = 0; i < wave_size; ++i) want[i] = data[wave_size - 1 - i];
    EXPECT_EQ(RunLanes(wave_size, ~uint64_t{0}, data, data,
                       absl::StrFormat(R"(
                s_movk_i32 m0, 0x40
                ds_store_addtid_b32 v1 offset:16
                v_sub_nc_u32 v5, %d, v0
                v_lshlrev_b32 v5, 2, v5
                ds_load_b32 v3, v5 offset:0x50)",
                                       wave_size - 1)),
              want);
    EXPECT_EQ(RunLanes(wave_size, ~uint64_t{0}, data, data, R"(
                s_movk_i32 m0, 0x40
                v_lshlrev_b32 v5, 2, v0
                ds_store_b32 v5, v1 offset:0x50
                ds_load_addtid_b32 v3 offset:16)"),
              data);
  }
}

// Pairs: the offsets count values, or 64 values.
TEST(LdsLanes, PairsOfValues) {
  const int n = 32;
  const std::vector<uint32_t> a = Random(n, 5), b = Random(n, 6);
  const auto sum = [&](const std::string& body) { return RunLanes(n, ~uint64_t{0}, a, b, body); };
  std::vector<uint32_t> difference(n);
  for (int i = 0; i < n; ++i) difference[i] = a[i] - 3 * b[i];
  const std::string combine = "\ns_waitcnt lgkmcnt(0)\nv_mul_lo_u32 v9, v9, 3\nv_sub_nc_u32 v3, v8, v9";
  EXPECT_EQ(sum("v_lshlrev_b32 v5, 2, v0\nds_store_2addr_b32 v5, v1, v2 offset0:1 offset1:40\n"
                "ds_load_b32 v8, v5 offset:4\nds_load_b32 v9, v5 offset:160" +
                combine),
            difference);
  EXPECT_EQ(sum("v_lshlrev_b32 v5, 2, v0\nds_store_2addr_stride64_b32 v5, v1, v2 offset0:1 offset1:3\n"
                "ds_load_b32 v8, v5 offset:256\nds_load_b32 v9, v5 offset:768" +
                combine),
            difference);
  EXPECT_EQ(
      sum("v_lshlrev_b32 v5, 3, v0\nv_mov_b32 v6, v1\nv_mov_b32 v7, v2\n"
          "ds_store_2addr_b64 v5, v[6:7], v[0:1] offset0:2 offset1:40\nds_load_b64 v[8:9], v5 offset:16" +
          combine),
      difference);
  EXPECT_EQ(sum("v_lshlrev_b32 v5, 2, v0\nds_store_b32 v5, v1 offset:4\nds_store_b32 v5, v2 offset:160\n"
                "ds_load_2addr_b32 v[8:9], v5 offset0:1 offset1:40" +
                combine),
            difference);
  EXPECT_EQ(sum("v_lshlrev_b32 v5, 2, v0\nds_store_b32 v5, v1 offset:256\nds_store_b32 v5, v2 offset:768\n"
                "ds_load_2addr_stride64_b32 v[8:9], v5 offset0:1 offset1:3" +
                combine),
            difference);
  EXPECT_EQ(sum("v_lshlrev_b32 v5, 3, v0\nds_store_b32 v5, v1 offset:8\nds_store_b32 v5, v2 offset:524\n"
                "ds_load_2addr_stride64_b64 v[6:9], v5 offset0:0 offset1:1\nds_load_2addr_b64 v[10:13], v5 "
                "offset0:1 offset1:65\n"
                "v_mov_b32 v8, v10\nv_mov_b32 v9, v13\n"
                "ds_load_b32 v9, v5 offset:524" +
                combine),
            difference);
  // The exchange returns what was there and leaves the new values.
  EXPECT_EQ(sum("v_lshlrev_b32 v5, 2, v0\nds_store_2addr_b32 v5, v1, v2 offset0:1 offset1:40\n"
                "ds_storexchg_2addr_rtn_b32 v[8:9], v5, v0, v0 offset0:1 offset1:40" +
                combine),
            difference);
  std::vector<uint32_t> lane(n);
  for (int i = 0; i < n; ++i) lane[i] = static_cast<uint32_t>(i);
  EXPECT_EQ(
      sum("v_lshlrev_b32 v5, 2, v0\nds_storexchg_2addr_rtn_b32 v[8:9], v5, v1, v0 offset0:1 offset1:40\n"
          "ds_load_b32 v3, v5 offset:160"),
      lane);
}

}  // namespace
}  // namespace understudy::emu::amd
