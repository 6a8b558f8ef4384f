// SPDX-License-Identifier: Apache-2.0
// Products of matrices on the tensor cores of every AMD target, against REF. Where every partial sum is exact
// (small whole numbers; factors of which all elements differ, with factors that select) the bits must be
// equal.
#include <gtest/gtest.h>

#include <cstring>

#include "src/dtype/const_value.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/emulated_device.h"
#include "tests/src/codegen/product_kernel.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT

// RDNA3 subtracts wrongly (4 - 1 is 2.9999998, docs/matrix.md), so that its sums of floats are of one sign
// here.
bool OneSign(const TensorCore& core) {
  return core.in.IsUnsigned() || (core.in.IsFloat() && core.wave_size == 32 && core.a.groups == 1);
}
RandomKernel Product(const ProductSize& s, const TensorCore& core) {
  const auto same = [](const UOpRef& x) { return x; };
  return MakeProduct(s, core.in, core.out, OneSign(core), same, same);
}

class TensorCores : public ::testing::TestWithParam<const char*> {
 protected:
  void Check(EmulatedDevice& device, const RandomKernel& k, const std::string& text) {
    SCOPED_TRACE(text);
    const ChoiceList none;
    const auto expected = RunKernel(ref_, k, &none);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto choices = ParseChoices(text);
    ASSERT_TRUE(choices.ok()) << choices.status();
    const auto got = RunKernel(device, k, &*choices);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "") << uop::Print(k.kernel);
  }
  RefDevice ref_;
};

TEST_P(TensorCores, EveryCoreGivesExactProducts) {
  EmulatedDevice device(GetParam());
  ASSERT_FALSE(device.target().tensor_cores.empty());
  for (size_t i = 0; i < device.target().tensor_cores.size(); ++i) {
    const TensorCore& core = device.target().tensor_cores[i];
    SCOPED_TRACE(core.name + " " + core.in.Name());
    const std::string tc = "tc(0," + std::to_string(i) + ")";
    Check(device, Product({core.m, core.n, core.k}, core), tc);
    const ProductSize several = {2 * core.m, 3 * core.n, 2 * core.k};
    Check(device, Product(several, core), tc);
    Check(device, Product(several, core), tc + " upcast(0,2) unroll(0,2)");
    Check(device, Product(several, core), tc + " local(0,2) upcast(1,3)");
    // The other use: rows and columns change places.
    Check(device, Product(several, core), "tc(1," + std::to_string(i) + ") unroll(0,2)");
  }
}

TEST_P(TensorCores, DistinctElementsKeepTheirPlaces) {
  EmulatedDevice device(GetParam());
  for (size_t i = 0; i < device.target().tensor_cores.size(); ++i) {
    const TensorCore& core = device.target().tensor_cores[i];
    SCOPED_TRACE(core.name + " " + core.in.Name());
    const std::string number = std::to_string(i);
    const auto check = [&](const ProductSize& size, const std::string& text) {
      for (const RandomKernel& k : MakeDistinctProducts(size, core.in, core.out, OneSign(core)))
        Check(device, k, text);
    };
    check({core.m, core.n, core.k}, "tc(0," + number + ")");
    check({2 * core.m, 2 * core.n, 2 * core.k}, "tc(1," + number + ") unroll(0,2) upcast(0,2)");
  }
}

TEST_P(TensorCores, PaddedOperands) {
  EmulatedDevice device(GetParam());
  const TensorCore& core = device.target().tensor_cores[0];
  const ProductSize ragged = {core.m + 3, 2 * core.n - 5, 2 * core.k - 3};
  const std::string pads = "pad(0," + std::to_string(core.m) + ") pad(1," + std::to_string(core.n) +
                           ") pad_reduce(0," + std::to_string(core.k) + ") tc(0,0)";
  const auto same = [](const UOpRef& x) { return x; };
  const auto plus_one = [](const UOpRef& x) { return x + 1.0; };
  // False arms that are values: what is outside must not count.
  const auto positive_or_one = [](const UOpRef& x) {
    return uop::Where(uop::ConstLike(x, 0.0) < x, x, uop::ConstLike(x, 1.0));
  };
  Check(device, MakeProduct(ragged, core.in, core.out, OneSign(core), same, same), pads);
  Check(device, MakeProduct(ragged, core.in, core.out, OneSign(core), plus_one, plus_one), pads);
  Check(device, MakeProduct(ragged, core.in, core.out, OneSign(core), positive_or_one, positive_or_one),
        pads + " unroll(0,2)");
}

TEST_P(TensorCores, WhatDoesNotFitIsRefused) {
  EmulatedDevice device(GetParam());
  const TensorCore& core = device.target().tensor_cores[0];
  const auto message = [&](const RandomKernel& k, const char* text) {
    const ChoiceList choices = *ParseChoices(text);
    return std::string(RunKernel(device, k, &choices).status().message());
  };
  const RandomKernel ragged = Product({core.m, core.n, core.k + 1}, core);
  EXPECT_NE(message(ragged, "tc(0,0)").find("pad it first"), std::string::npos) << message(ragged, "tc(0,0)");
  const RandomKernel fits = Product({core.m, core.n, core.k}, core);
  EXPECT_NE(message(fits, "tc(0,99)").find("tensor cores"), std::string::npos);
  EXPECT_NE(message(fits, "tc(7,0)").find("2 uses"), std::string::npos);
  EXPECT_NE(message(fits, "tc(0,0) tc(0,0)").find("already"), std::string::npos);
  EXPECT_NE(message(fits, "upcast(0,2) tc(0,0)").find("before ranges are split"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Isas, TensorCores,
                         ::testing::Values("gfx1100", "gfx1150", "gfx1200", "gfx1201", "gfx90a", "gfx942",
                                           "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

// Every target takes the random kernels of the other differential tests.
TEST(Targets, RandomKernelsAgreeWithRef) {
  RefDevice ref;
  uint64_t seed = 1;
  for (const char* isa : {"gfx1150", "gfx1201", "gfx90a", "gfx942", "gfx950"}) {
    EmulatedDevice device(isa);
    for (int i = 0; i < 12; ++i, ++seed) {
      const RandomKernel k = MakeRandomKernel(seed * 6151);
      const ChoiceList none;
      const auto expected = RunKernel(ref, k, &none);
      ASSERT_TRUE(expected.ok()) << expected.status();
      const ChoiceList choices = RandomChoices(k.kernel, device.target(), seed, i % 3, false);
      const auto got = RunKernel(device, k, &choices);
      ASSERT_TRUE(got.ok()) << isa << " seed " << seed << ": " << got.status();
      EXPECT_EQ(Difference(k.dtypes[0], *expected, *got), "")
          << isa << " seed " << seed << " choices " << ChoicesText(choices) << "\n"
          << uop::Print(k.kernel);
    }
  }
}

}  // namespace
}  // namespace understudy::test
