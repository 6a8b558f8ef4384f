// SPDX-License-Identifier: Apache-2.0
// The same arithmetic compiled by clang for gfx1100 and by this test's own compiler for the host gives the
// same words: division and square root expansions, 64-bit integers, conversions, comparisons, divergent
// loops, in waves of 32 and 64.
#include "tests/emu/amd/semantics/compiled_kernel.inc"

#include <gtest/gtest.h>

#include "src/base/file.h"
#include "tests/emu/amd/core/kernel_runner.h"
#include "tests/emu/amd/semantics/machine.h"

namespace understudy::emu::amd {
namespace {

constexpr int kThreads = 64, kMaxResults = 160;

int HostKernel(const u32* in, u32* out, int t) {
  COMPILED_KERNEL_BODY
  return k;
}

class CompiledKernel : public ::testing::TestWithParam<int> {};

TEST_P(CompiledKernel, GivesTheHostsResults) {
  const int wave_size = GetParam();
  const std::string path = "tests/data/kernels/compiled_kernel_wave" + std::to_string(wave_size) + ".s";
  const absl::StatusOr<std::string> text = ReadFile(path);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  KernelRunner runner(wave_size);
  runner.Program(*text);
  // 128 VGPRs; IEEE and DX10_CLAMP as clang's descriptor asks.
  runner.regs.rsrc1 = (wave_size == 32 ? 15u : 31u) | 0xf0u << 12 | 1u << 21 | 1u << 23;
  runner.regs.num_thread[0] = kThreads;
  const int args = runner.AddBuffer(4), in = runner.AddBuffer(4 * kThreads),
            out = runner.AddBuffer(kMaxResults * kThreads);
  for (int i = 0; i < 2; ++i) {
    const uint64_t va = runner.BufferVa(i == 0 ? in : out);
    runner.Buffer(args)[2 * i] = static_cast<uint32_t>(va);
    runner.Buffer(args)[2 * i + 1] = static_cast<uint32_t>(va >> 32);
  }
  std::vector<u32> expected(kMaxResults * kThreads);
  for (int round = 0; round < 60; ++round) {
    testing::Draws draws(static_cast<uint64_t>(round) + 1);
    std::vector<uint32_t>& inputs = runner.Buffer(in);
    for (uint32_t& word : inputs) word = round % 3 == 0 ? static_cast<uint32_t>(draws.Bits()) : draws.Word();
    for (int t = 0; round % 3 == 2 && t < kThreads; ++t) {
      for (int i = 0; i < 2; ++i) {
        const uint64_t v = draws.Long();
        inputs[128 * i + t] = static_cast<uint32_t>(v);
        inputs[128 * i + 64 + t] = static_cast<uint32_t>(v >> 32);
      }
    }
    runner.Run();
    int results = 0;
    for (int t = 0; t < kThreads; ++t) results = HostKernel(inputs.data(), expected.data(), t);
    ASSERT_LE(results, kMaxResults);
    for (int i = 0; i < results; ++i) {
      for (int t = 0; t < kThreads; ++t) {
        ASSERT_EQ(runner.Buffer(out)[i * kThreads + t], expected[i * kThreads + t])
            << "result " << i << " lane " << t << " round " << round << std::hex << ": " << inputs[t] << " "
            << inputs[64 + t] << " " << inputs[128 + t] << " " << inputs[192 + t];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WaveSizes, CompiledKernel, ::testing::Values(32, 64));

}  // namespace
}  // namespace understudy::emu::amd
