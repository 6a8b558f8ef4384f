// SPDX-License-Identifier: Apache-2.0
// Speed of the AMD emulator in wave instructions a second (items_per_second): vector arithmetic in a loop, a
// matrix product through LDS, a stream through memory, and products on matrix instructions (WMMA, MFMA),
// whose rate is counted in matrix instructions. Decoding is included once a run, as in use.
//
//   bazel run --config=opt //tools/bench:emu_amd_bench

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "emu/amd/core/dispatch.h"
#include "emu/memory/address_space.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "tests/emu/amd/asm/assembler.h"

namespace understudy::emu::amd {
namespace {

constexpr uint64_t kProgramVa = 0x10000, kBufferVa = 0x1000000;
constexpr size_t kBufferBytes = 16 << 20;
constexpr uint32_t kTgidX = 1u << 7, kTgidY = 1u << 8;

// Sixteen fused multiply-adds a turn on independent accumulators, with the loop's scalar work.
constexpr const char* kValu = R"(
    s_movk_i32 s8, 1000
    v_cvt_f32_u32 v1, v0
    v_mov_b32 v2, 0.5
  loop:
    .irp r,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25
    v_fmac_f32 v\r, v1, v2
    .endr
    s_sub_u32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop
    s_endpgm)";

// 16 x 16 tiles of a 256 x 256 matrix product: two global loads and two LDS stores a tile, then 16 steps of
// two LDS loads and an FMA, between barriers.
constexpr const char* kMatmul = R"(
    v_and_b32 v1, 15, v0           ; x
    v_lshrrev_b32 v2, 4, v0        ; y
    s_lshl_b32 s8, s4, 4           ; tile column
    s_lshl_b32 s9, s5, 4           ; tile row
    v_add_nc_u32 v3, s9, v2
    v_lshlrev_b32 v3, 8, v3
    v_add_nc_u32 v3, v3, v1
    v_lshlrev_b32 v3, 2, v3        ; A: (row + y) * 256 + x
    v_lshlrev_b32 v4, 8, v2
    v_add_nc_u32 v4, v4, v1
    v_add_nc_u32 v4, s8, v4
    v_lshlrev_b32 v4, 2, v4        ; B: y * 256 + column + x
    v_lshlrev_b32 v5, 2, v0        ; LDS slot
    v_lshlrev_b32 v6, 6, v2        ; LDS row of A
    v_lshlrev_b32 v7, 2, v1        ; LDS column of B
    v_mov_b32 v8, 0
    s_mov_b32 s10, 16
  loop:
    global_load_b32 v9, v3, s[0:1]
    global_load_b32 v10, v4, s[2:3]
    v_add_nc_u32 v3, 64, v3
    v_add_nc_u32 v4, 0x4000, v4
    s_waitcnt vmcnt(0)
    ds_store_b32 v5, v9
    ds_store_b32 v5, v10 offset:1024
    s_waitcnt lgkmcnt(0)
    s_barrier
    .irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    ds_load_b32 v11, v6 offset:\k*4
    ds_load_b32 v12, v7 offset:1024+\k*64
    s_waitcnt lgkmcnt(0)
    v_fmac_f32 v8, v11, v12
    .endr
    s_barrier
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 loop
    v_add_nc_u32 v13, s9, v2
    v_lshlrev_b32 v13, 8, v13
    v_add_nc_u32 v13, v13, v1
    v_add_nc_u32 v13, s8, v13
    v_lshlrev_b32 v13, 2, v13
    global_store_b32 v13, v8, s[0:1] offset:0
    s_endpgm)";

// out[i] = in[i] + 1, four words a lane.
constexpr const char* kStream = R"(
    s_lshl_b32 s8, s4, 8
    v_add_nc_u32 v1, s8, v0
    v_lshlrev_b32 v1, 4, v1
    global_load_b128 v[2:5], v1, s[0:1]
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v2, 1, v2
    v_add_nc_u32 v3, 1, v3
    v_add_nc_u32 v4, 1, v4
    v_add_nc_u32 v5, 1, v5
    global_store_b128 v1, v[2:5], s[2:3]
    s_endpgm)";

// Tiles of a product of halves: a turn loads A and B for four matrix instructions on independent
// accumulators.
constexpr const char* kWmma = R"(
    s_movk_i32 s8, 200
    v_and_b32 v1, 15, v0           ; the upper lanes repeat the lower ones
    v_lshlrev_b32 v1, 5, v1
  loop:
    global_load_b128 v[8:11], v1, s[0:1]
    global_load_b128 v[12:15], v1, s[0:1] offset:16
    global_load_b128 v[16:19], v1, s[2:3]
    global_load_b128 v[20:23], v1, s[2:3] offset:16
    s_waitcnt vmcnt(0)
    v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[24:31]
    v_wmma_f32_16x16x16_f16 v[32:39], v[8:15], v[16:23], v[32:39]
    v_wmma_f32_16x16x16_f16 v[40:47], v[8:15], v[16:23], v[40:47]
    v_wmma_f32_16x16x16_f16 v[48:55], v[8:15], v[16:23], v[48:55]
    s_sub_u32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop
    s_endpgm)";
constexpr const char* kWmmaRdna4 = R"(
    s_movk_i32 s8, 200
    v_lshlrev_b32 v1, 5, v0
  loop:
    global_load_b128 v[8:11], v1, s[0:1]
    global_load_b128 v[16:19], v1, s[2:3]
    s_wait_loadcnt 0
    v_wmma_f32_16x16x16_f16 v[24:31], v[8:11], v[16:19], v[24:31]
    v_wmma_f32_16x16x16_f16 v[32:39], v[8:11], v[16:19], v[32:39]
    v_wmma_f32_16x16x16_f16 v[40:47], v[8:11], v[16:19], v[40:47]
    v_wmma_f32_16x16x16_f16 v[48:55], v[8:11], v[16:19], v[48:55]
    s_sub_co_u32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop
    s_endpgm)";
constexpr const char* kMfma = R"(
    s_movk_i32 s8, 200
    v_lshlrev_b32 v1, 4, v0
  loop:
    global_load_dwordx4 v[8:11], v1, s[0:1]
    global_load_dwordx4 v[12:15], v1, s[2:3]
    s_waitcnt vmcnt(0)
    v_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[12:13], a[0:15]
    v_mfma_f32_32x32x8_f16 a[16:31], v[10:11], v[12:13], a[16:31]
    v_mfma_f32_32x32x8_f16 a[32:47], v[8:9], v[14:15], a[32:47]
    v_mfma_f32_32x32x8_f16 a[48:63], v[10:11], v[14:15], a[48:63]
    s_sub_u32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop
    s_endpgm)";

void RunKernel(benchmark::State& state, const char* source, int wave_size, uint32_t threads,
               uint32_t groups_x, uint32_t groups_y, Isa isa = Isa::kRdna3, int64_t matrices = 0) {
  auto code = Assemble(IsaTarget(isa), source, IsRdna(isa) && wave_size == 64 ? "+wavefrontsize64" : "");
  US_CHECK_OK(code);
  std::vector<uint8_t> program = *std::move(code);
  program.resize(AlignUp(program.size() + 64, 256));
  // Numbers of ordinary size as f32, f16 and integers.
  std::vector<uint8_t> a(kBufferBytes), b(kBufferBytes);
  for (size_t i = 0; i < kBufferBytes; ++i) {
    a[i] = static_cast<uint8_t>(i % 2 == 0 ? i * 37 : 0x38 + i / 2 % 5);
    b[i] = static_cast<uint8_t>(i % 2 == 0 ? i * 101 : (i % 8 == 5 ? 0xb8 : 0x39) + i / 2 % 3);
  }
  AddressSpace memory;
  US_CHECK_OK(memory.Map(kProgramVa, program.size(), program.data(), Perm::kReadExec, "program"));
  US_CHECK_OK(memory.Map(kBufferVa, a.size(), a.data(), Perm::kReadWrite, "a"));
  US_CHECK_OK(memory.Map(kBufferVa + kBufferBytes, b.size(), b.data(), Perm::kReadWrite, "b"));
  DispatchRegs regs;
  regs.pgm_addr = kProgramVa;
  regs.rsrc1 = (wave_size == 32 ? 7u : 15u) | 0xf0u << 12;
  if (IsCdna(isa)) {
    regs.rsrc1 |= 13u << 6;
    regs.rsrc3 = 64 / 4 - 1;  // 64 VGPRs, then 64 AGPRs
  }
  regs.rsrc2 = 4u << 1 | kTgidX | kTgidY | 8u << 15;
  regs.user_data[0] = static_cast<uint32_t>(kBufferVa);
  regs.user_data[2] = static_cast<uint32_t>(kBufferVa + kBufferBytes);
  regs.num_thread[0] = threads;
  regs.dim[0] = groups_x, regs.dim[1] = groups_y;
  regs.initiator = wave_size == 32 ? kCsW32En : 0;
  uint64_t instructions = 0;
  for (auto _ : state) {
    Dispatch dispatch(isa, regs, &memory, {});
    while (dispatch.Step(1 << 20) == Dispatch::State::kRunning) {
    }
    US_CHECK(dispatch.state() == Dispatch::State::kDone) << dispatch.fault().message;
    instructions += matrices != 0 ? static_cast<uint64_t>(matrices) : dispatch.stats().wave_instructions;
  }
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
}

void Valu(benchmark::State& state) { RunKernel(state, kValu, static_cast<int>(state.range(0)), 128, 8, 1); }
void Matmul(benchmark::State& state) {
  RunKernel(state, kMatmul, static_cast<int>(state.range(0)), 256, 16, 16);
}
void Stream(benchmark::State& state) {
  RunKernel(state, kStream, static_cast<int>(state.range(0)), 256, 4096, 1);
}
// 200 turns of four matrix instructions in each of eight waves.
void Wmma(benchmark::State& state) { RunKernel(state, kWmma, 32, 32, 8, 1, Isa::kRdna3, 8 * 200 * 4); }
void WmmaRdna4(benchmark::State& state) {
  RunKernel(state, kWmmaRdna4, 32, 32, 8, 1, Isa::kRdna4, 8 * 200 * 4);
}
void Mfma(benchmark::State& state) {
  RunKernel(state, kMfma, 64, 64, 8, 1, static_cast<Isa>(state.range(0)), 8 * 200 * 4);
}
BENCHMARK(Wmma)->Unit(benchmark::kMillisecond);
BENCHMARK(WmmaRdna4)->Unit(benchmark::kMillisecond);
BENCHMARK(Mfma)
    ->Arg(static_cast<int>(Isa::kCdna3))
    ->Arg(static_cast<int>(Isa::kCdna4))
    ->Unit(benchmark::kMillisecond);
BENCHMARK(Valu)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK(Matmul)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK(Stream)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace understudy::emu::amd
