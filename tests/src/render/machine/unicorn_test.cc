// SPDX-License-Identifier: Apache-2.0
// Machine code of both processors under Unicorn against REF: random kernels, with all registers and with few,
// every allocation proved by the checker. Nothing may be read or written beyond a buffer's end, and the
// calling convention's registers are kept. SSE only on x86-64: Unicorn 2.0.1 has no AVX2.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/render/aarch64/aarch64.h"
#include "src/render/x86_64/x86_64.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/print.h"
#include "tests/src/codegen/random_kernel.h"
#include "tests/src/render/machine/unicorn_run.h"

namespace understudy::test {
namespace {

class UnicornTest : public ::testing::TestWithParam<Isa> {
 protected:
  Target target() const { return GetParam() == Isa::kX86 ? X86Target(false) : A64Target(); }
  absl::StatusOr<machine::MachineKernel> Compile(const UOpRef& kernel, const ChoiceList* choices,
                                                 const machine::AllocateOptions& registers) {
    US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target(), choices));
    const machine::MachineOptions options{.registers = registers, .check = true};
    return GetParam() == Isa::kX86 ? RenderX86(linear, target(), options) : RenderA64(linear, options);
  }
  void CompareWithRef(uint64_t count, uint64_t factor, const machine::AllocateOptions& registers,
                      bool spills) {
    RefDevice ref;
    const auto [first, end] = RandomSeeds(count);
    int refused = 0, compared = 0, spilled = 0;
    for (uint64_t seed = first; seed < end; ++seed) {
      const RandomKernel k = MakeRandomKernel(seed * factor);
      const auto expected = RunKernel(ref, k, nullptr);
      ASSERT_TRUE(expected.ok()) << "seed " << seed << " REF: " << expected.status();
      const ChoiceList none, choices = RandomChoices(k.kernel, target(), seed, 3, false);
      for (const ChoiceList* c : {&none, &choices}) {
        const auto code = Compile(k.kernel, c, registers);
        if (GetParam() == Isa::kX86 && absl::IsUnimplemented(code.status()) &&
            code.status().message().find("MULACC of f64") != std::string::npos) {
          ++refused;
          continue;
        }
        // With few registers a large tile's spill slots leave the reach of one instruction.
        if (GetParam() == Isa::kA64 && absl::IsResourceExhausted(code.status()) &&
            code.status().message().find("does not fit") != std::string::npos) {
          ++refused;
          continue;
        }
        ASSERT_TRUE(code.ok()) << "seed " << seed << ": " << code.status() << "\n" << uop::Print(k.kernel);
        spilled += code->spilled;
        std::vector<std::vector<uint8_t>> bytes = k.bytes;
        const absl::Status ran = RunUnderUnicorn(GetParam(), *code, &bytes);
        ASSERT_TRUE(ran.ok()) << "seed " << seed << " choices " << ChoicesText(*c) << ": " << ran << "\n"
                              << code->text << uop::Print(k.kernel);
        ASSERT_EQ(Difference(k.dtypes[0], *expected, bytes[0]), "")
            << "seed " << seed << " choices " << ChoicesText(*c) << "\n"
            << code->text << uop::Print(k.kernel);
        for (size_t i = 1; i < bytes.size(); ++i)
          ASSERT_EQ(bytes[i], k.bytes[i]) << "input " << i << " changed";
        ++compared;
      }
    }
    std::printf("%d compared, %d refused, %d values spilled\n", compared, refused, spilled);
    EXPECT_GT(compared, refused);
    EXPECT_GE(spilled, spills ? compared : 0);
  }
};

TEST_P(UnicornTest, RandomKernelsEqualRef) { CompareWithRef(60, 6101, {}, false); }
TEST_P(UnicornTest, RandomKernelsEqualRefWithFewRegisters) {
  CompareWithRef(40, 6947, {.most_general = 6, .most_vector = 4}, true);
}

INSTANTIATE_TEST_SUITE_P(Processors, UnicornTest, ::testing::Values(Isa::kX86, Isa::kA64),
                         [](const auto& info) { return info.param == Isa::kX86 ? "x86_64" : "aarch64"; });

}  // namespace
}  // namespace understudy::test
