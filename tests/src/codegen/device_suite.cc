// SPDX-License-Identifier: Apache-2.0
#include "tests/src/codegen/device_suite.h"

#include <gtest/gtest.h>

#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"

namespace understudy::test {

using namespace uop::expr;  // NOLINT

void RandomKernelsEqualRef(Device& device, const SuiteOptions& options, SuiteCounts* counts) {
  RefDevice ref;
  SuiteCounts local;
  SuiteCounts& n = counts != nullptr ? *counts : local;
  const auto [first, end] = RandomSeeds(options.count);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * options.factor);
    const ChoiceList none, choices = RandomChoices(k.kernel, device.target(), seed, 3,
                                                   options.groups && !OrderMatters(k.kernel));
    for (const Choice& c : choices) n.groups += c.kind == ChoiceKind::kGroup;
    const auto expected = RunKernel(ref, k, nullptr);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << " REF: " << expected.status();
    for (const ChoiceList* c : {&none, &choices}) {
      if (options.groups && c == &none) continue;
      const auto got = RunKernel(device, k, c);
      if (!got.ok() && options.refuses != nullptr && options.refuses(got.status(), *c)) {
        ++n.refused;
        continue;
      }
      ASSERT_TRUE(got.ok()) << "seed " << seed << " choices " << ChoicesText(*c) << ": " << got.status()
                            << "\n"
                            << uop::Print(k.kernel);
      ASSERT_EQ(Difference(k.dtypes[0], *expected, *got), "")
          << "seed " << seed << " choices " << ChoicesText(*c) << "\n"
          << uop::Print(k.kernel);
      ++n.compared;
    }
  }
}

void GroupsAndVariables(Device& device, const char* shared) {
  const UOpRef i = uop::Range(5, 0, AxisKind::kGlobal), r = uop::Range(128, 1, AxisKind::kReduce);
  const UOpRef n = uop::Var("n", 1, 100, dtypes::kInt32);
  const UOpRef in = uop::Load(uop::IndexOf(uop::Param(dtypes::kInt32, 1), i * 128 + r));
  const UOpRef kernel = uop::Sink(
      {uop::Store(uop::IndexOf(uop::Param(dtypes::kInt32, 0), i), uop::Reduce(Op::kAdd, in, {r}) * n, {i})},
      "sum");
  const ChoiceList choices = {{ChoiceKind::kGroup, 0, 32}};
  const auto program = device.Compile(kernel, &choices);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_NE((*program)->text().find(shared), std::string::npos) << (*program)->text();
  std::vector<int32_t> input(640), want(5), got(5);
  for (int k = 0; k < 640; ++k) {
    input[k] = k * k - 7 * k;
    want[k / 128] += input[k] * 13;
  }
  const Allocation a = *device.Allocate(20), b = *device.Allocate(2560);
  ASSERT_TRUE(device.CopyIn(b, input.data(), 2560).ok());
  const absl::Status ran = device.Launch(**program, {a, b}, {13}, nullptr);
  ASSERT_TRUE(ran.ok()) << ran;
  ASSERT_TRUE(device.CopyOut(got.data(), a, 20).ok());
  EXPECT_EQ(got, want);
  ASSERT_TRUE(device.Free(a).ok());
  ASSERT_TRUE(device.Free(b).ok());
}

}  // namespace understudy::test
