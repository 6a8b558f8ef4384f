// SPDX-License-Identifier: Apache-2.0
// Products of matrices on the tensor cores of every AMD target, against REF. Where every partial sum is exact
// (small whole numbers, all elements distinct enough that a wrong layout shows) the bits must be equal.
#include <gtest/gtest.h>

#include <cstring>

#include "src/dtype/const_value.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/emulated_device.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

using namespace uop::expr;  // NOLINT

struct Size {
  int64_t m, n, k;
};

// c[m, n] = sum over k of f(a[m, k]) g(b[k, n]), the factors widened to `out`.
template <class F, class G>
RandomKernel Product(const Size& s, DType in, DType out, bool positive, F f, G g) {
  const UOpRef m = uop::Range(s.m, 0, AxisKind::kGlobal), n = uop::Range(s.n, 1, AxisKind::kGlobal),
               k = uop::Range(s.k, 2, AxisKind::kReduce);
  const UOpRef a = f(uop::Load(uop::IndexOf(uop::Param(in, 1), m * s.k + k)));
  const UOpRef b = g(uop::Load(uop::IndexOf(uop::Param(in, 2), k * s.n + n)));
  RandomKernel r;
  const UOpRef sum = uop::Reduce(Op::kAdd, uop::Cast(a, out) * uop::Cast(b, out), {k});
  r.kernel = uop::Sink({uop::Store(uop::IndexOf(uop::Param(out, 0), m * s.n + n), sum, {m, n})}, "product");
  r.dtypes = {out, in, in};
  r.bytes = {std::vector<uint8_t>(s.m * s.n * out.ScalarBytes())};
  int64_t seed = 1;
  for (const int64_t count : {s.m * s.k, s.k * s.n}) {
    std::vector<uint8_t> bytes(count * in.ScalarBytes());
    for (int64_t i = 0; i < count; ++i) {
      seed = (seed * 48271) % 2147483647;
      // Whole numbers that even an E5M2 holds exactly.
      constexpr int kValues[] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
      int v = kValues[seed % 16];
      // Beyond the mantissa of an 8-bit float.
      if (in.IsFloat() && in.ScalarBytes() == 1 && v % 2 != 0 && (v > 4 || v < -4)) v = 4;
      if (positive) v += 8;
      const ConstValue c = in.IsFloat() ? ConstValue(static_cast<double>(v)) : ConstValue(int64_t{v});
      const uint64_t bits = ToBits(in, c);
      std::memcpy(&bytes[i * in.ScalarBytes()], &bits, in.ScalarBytes());
    }
    r.bytes.push_back(std::move(bytes));
  }
  return r;
}
// RDNA3 subtracts wrongly (4 - 1 is 2.9999998, docs/matrix.md), so that its sums of floats are of one sign
// here.
bool OneSign(const TensorCore& core) {
  return core.in.IsUnsigned() || (core.in.IsFloat() && core.wave_size == 32 && core.a.groups == 1);
}
RandomKernel Product(const Size& s, const TensorCore& core) {
  const auto same = [](const UOpRef& x) { return x; };
  return Product(s, core.in, core.out, OneSign(core), same, same);
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
    const Size several = {2 * core.m, 3 * core.n, 2 * core.k};
    Check(device, Product(several, core), tc);
    Check(device, Product(several, core), tc + " upcast(0,2) unroll(0,2)");
    Check(device, Product(several, core), tc + " local(0,2) upcast(1,3)");
    // The other use: rows and columns change places.
    Check(device, Product(several, core), "tc(1," + std::to_string(i) + ") unroll(0,2)");
  }
}

TEST_P(TensorCores, PaddedOperands) {
  EmulatedDevice device(GetParam());
  const TensorCore& core = device.target().tensor_cores[0];
  const Size ragged = {core.m + 3, 2 * core.n - 5, 2 * core.k - 3};
  const std::string pads = "pad(0," + std::to_string(core.m) + ") pad(1," + std::to_string(core.n) +
                           ") pad_reduce(0," + std::to_string(core.k) + ") tc(0,0)";
  const auto same = [](const UOpRef& x) { return x; };
  const auto plus_one = [](const UOpRef& x) { return x + 1.0; };
  // False arms that are values: what is outside must not count.
  const auto positive_or_one = [](const UOpRef& x) {
    return uop::Where(uop::ConstLike(x, 0.0) < x, x, uop::ConstLike(x, 1.0));
  };
  Check(device, Product(ragged, core.in, core.out, OneSign(core), same, same), pads);
  Check(device, Product(ragged, core.in, core.out, OneSign(core), plus_one, plus_one), pads);
  Check(device, Product(ragged, core.in, core.out, OneSign(core), positive_or_one, positive_or_one),
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
