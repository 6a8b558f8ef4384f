// SPDX-License-Identifier: Apache-2.0
// Warp instructions a second of the PTX emulator on one host thread: loops of FMAs, of integers, over shared
// and over global memory, and a matrix product of tensor cores; with the checks off, each of them and all as
// warnings.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "tests/emu/ptx/ptx_runner.h"

namespace understudy::emu::ptx {
namespace {

std::string Kernel(const std::string& setup, const std::string& loop) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred "
         "%p;\n.reg .b32 "
         "%r<20>;\n.reg .f32 %f<20>;\n.reg .b64 %o, %i;\n.shared .align 16 .b8 s[8192];\nld.param.u64 %o, "
         "[out];\nmov.u32 "
         "%r0, %tid.x;\nmul.wide.u32 %i, %r0, 4;\nadd.s64 %i, %o, %i;\ncvt.rn.f32.u32 %f0, %r0;\nmov.f32 "
         "%f1, 0f3F000000;\n"
         "mov.u32 %r1, 0;\n" +
         setup + "L:\n" + loop +
         "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p, %r1, 2000;\n@%p bra L;\nst.global.f32 [%i], %f0;\nret;\n}\n";
}

void Measure(benchmark::State& state, const std::string& ptx) {
  PtxRunner runner(ptx);
  if (!runner.status().ok()) {
    state.SkipWithError(runner.status().ToString().c_str());
    return;
  }
  static constexpr const char* kChecks[] = {"", "barriers:warn", "races:warn", "uninit:warn", "all:warn"};
  const char* const checks = kChecks[state.range(0)];
  std::string error;
  if (*checks != 0 && !runner.options.checks.Parse(checks, &error)) {
    state.SkipWithError(error.c_str());
    return;
  }
  state.SetLabel(*checks == 0 ? "checks off" : checks);
  const uint64_t out = runner.Allocate(4096);
  uint64_t instructions = 0;
  for (auto _ : state) {
    const auto result = runner.Run("k", Dim3{8}, Dim3{128}, {out});
    if (!result.ok() || !result->ok()) {
      state.SkipWithError(result.ok() ? result->fault.message.c_str() : result.status().ToString().c_str());
      return;
    }
    instructions += result->stats.warp_instructions;
  }
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
}

void FmaLoop(benchmark::State& state) {
  std::string body;
  for (int i = 0; i < 16; ++i)
    body +=
        "fma.rn.f32 %f" + std::to_string(i % 4 + 2) + ", %f0, %f1, %f" + std::to_string(i % 4 + 2) + ";\n";
  Measure(state, Kernel("", body));
}
BENCHMARK(FmaLoop)->DenseRange(0, 4);

void SharedLoop(benchmark::State& state) {
  std::string body;
  for (int i = 0; i < 8; ++i)
    body += "ld.shared.f32 %f2, [%r3+" + std::to_string(128 * i) + "];\nld.shared.f32 %f3, [%r4+" +
            std::to_string(4 * i) + "];\nfma.rn.f32 %f0, %f2, %f3, %f0;\n";
  Measure(
      state,
      Kernel("mov.u32 %r2, s;\nand.b32 %r3, %r0, 31;\nshl.b32 %r3, %r3, 2;\nadd.u32 %r3, %r3, %r2;\nadd.u32 "
             "%r4, %r2, 4096;\n",
             body));
}
BENCHMARK(SharedLoop)->DenseRange(0, 4);

void GlobalLoop(benchmark::State& state) {
  std::string body;
  for (int i = 0; i < 8; ++i)
    body += "ld.global.f32 %f2, [%i];\nld.global.f32 %f3, [%o];\nfma.rn.f32 %f0, %f2, %f3, %f0;\n";
  Measure(state, Kernel("st.global.f32 [%i], %f1;\nbar.sync 0;\n", body));
}
BENCHMARK(GlobalLoop)->DenseRange(0, 4);

void IntegerLoop(benchmark::State& state) {
  std::string body;
  for (int i = 0; i < 8; ++i) body += "add.u32 %r5, %r5, %r0;\nmad.lo.u32 %r6, %r5, %r0, %r6;\n";
  Measure(state, Kernel("", body));
}
BENCHMARK(IntegerLoop)->DenseRange(0, 4);

// The inner loop of a matrix product of f16 with f32 sums: each warp's 16x16 tile of both factors from shared
// memory by ldmatrix, two m16n8k16 products a turn.
void MmaGemm(benchmark::State& state) {
  const std::string setup =
      "mov.u32 %r3, s;\nand.b32 %r4, %r0, 15;\nshl.b32 %r4, %r4, 5;\nand.b32 %r5, %r0, 16;\nadd.u32 %r3, "
      "%r3, "
      "%r4;\nadd.u32 %r3, %r3, %r5;\nmov.f32 %f2, 0f00000000;\nmov.f32 %f3, %f2;\nmov.f32 %f4, %f2;\nmov.f32 "
      "%f5, %f2;\nmov.f32 %f6, %f2;\nmov.f32 %f7, %f2;\nmov.f32 %f8, %f2;\nmov.f32 %f9, %f2;\n";
  const std::string loop =
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r3];\n"
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r10, %r11, %r12, %r13}, [%r3+4096];\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r6, %r7, %r8, %r9}, {%r10, "
      "%r11}, {%f2, %f3, %f4, %f5};\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f6, %f7, %f8, %f9}, {%r6, %r7, %r8, %r9}, {%r12, "
      "%r13}, {%f6, %f7, %f8, %f9};\n";
  Measure(state, Kernel(setup, loop));
  // Seven instructions a turn, two of them of 16 * 8 * 16 multiply-adds.
  state.counters["flop"] = benchmark::Counter(
      static_cast<double>(state.items_processed()) / 7 * 2 * 2 * 16 * 8 * 16, benchmark::Counter::kIsRate);
}
BENCHMARK(MmaGemm)->DenseRange(0, 4);

}  // namespace
}  // namespace understudy::emu::ptx
