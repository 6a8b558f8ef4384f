// SPDX-License-Identifier: Apache-2.0
// CPU against REF on random kernel graphs, without choices and with random ones: bit for bit (any NaN equals
// any NaN).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "src/render/render.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/print.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

void ExpectSame(const RandomKernel& k, const std::vector<uint8_t>& expected,
                const absl::StatusOr<std::vector<uint8_t>>& got, const std::string& how) {
  if (!got.ok()) RC_FAIL(how + ": " + got.status().ToString() + "\n" + uop::Print(k.kernel));
  const std::string difference = Difference(k.dtypes[0], expected, *got);
  if (!difference.empty()) RC_FAIL(how + ": " + difference + "\n" + uop::Print(k.kernel));
}

RC_GTEST_PROP(CpuRandom, EqualsRefWithAndWithoutChoices, (uint64_t seed)) {
  const RandomKernel k = MakeRandomKernel(seed);
  RefDevice ref;
  CpuDevice cpu;
  const auto expected = RunKernel(ref, k, nullptr);
  if (!expected.ok()) RC_FAIL("REF: " + expected.status().ToString() + "\n" + uop::Print(k.kernel));
  const ChoiceList none;
  ExpectSame(k, *expected, RunKernel(cpu, k, &none), "no choices");
  ExpectSame(k, *expected, RunKernel(cpu, k, nullptr),
             "heuristic " + ChoicesText(HeuristicChoices(k.kernel, cpu.target())));
  const ChoiceList choices = RandomChoices(k.kernel, cpu.target(), seed, 3, false);
  ExpectSame(k, *expected, RunKernel(cpu, k, &choices), "choices " + ChoicesText(choices));
}

RC_GTEST_PROP(CpuRandom, PairsOfWordsEqualWideIntegers, (uint64_t seed)) {
  const RandomKernel k = MakeRandomKernel(seed);
  RefDevice ref;
  CpuDevice cpu(WithoutWideInts(HostTarget()));
  const auto expected = RunKernel(ref, k, nullptr);
  if (!expected.ok()) RC_FAIL("REF: " + expected.status().ToString() + "\n" + uop::Print(k.kernel));
  const ChoiceList choices = RandomChoices(k.kernel, cpu.target(), seed, 3, false);
  ExpectSame(k, *expected, RunKernel(cpu, k, nullptr), "heuristic");
  ExpectSame(k, *expected, RunKernel(cpu, k, &choices), "choices " + ChoicesText(choices));
}

// Seven shifts, divisions and sums of i8, tiled 7 by 7: LLVM 22.1 computes the fourth wrongly with
// AVX512-VBMI.
TEST(CpuRandom, BytesOfATileStayInPlace) {
  const RandomKernel k = MakeRandomKernel(16139141845891383287u);
  RefDevice ref;
  CpuDevice cpu;
  const auto expected = RunKernel(ref, k, nullptr);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto choices = ParseChoices("upcast(0,7) unroll(0,7)");
  ASSERT_TRUE(choices.ok()) << choices.status();
  const auto got = RunKernel(cpu, k, &*choices);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "");
}

// The polynomials differ from REF in the last place, but not with the choices.
RC_GTEST_PROP(CpuRandom, ChoicesDoNotChangeTranscendentals, (uint64_t seed)) {
  const RandomKernel k = MakeRandomKernel(seed, {.transcendental = true});
  CpuDevice cpu;
  const ChoiceList none, choices = RandomChoices(k.kernel, cpu.target(), seed, 2, false);
  const auto expected = RunKernel(cpu, k, &none);
  if (!expected.ok()) RC_FAIL("no choices: " + expected.status().ToString() + "\n" + uop::Print(k.kernel));
  ExpectSame(k, *expected, RunKernel(cpu, k, &choices), "choices " + ChoicesText(choices));
}

}  // namespace
}  // namespace understudy::test
