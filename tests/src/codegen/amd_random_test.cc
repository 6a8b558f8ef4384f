// SPDX-License-Identifier: Apache-2.0
// The same random kernels on the emulated gfx1100 (driver, queue, code object, waves) as on REF and CPU, with
// random choices: workgroups, vectors, unrolling, and reductions through local memory where their order
// cannot matter.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "mockgpu/amd/mock_kernel.h"
#include "src/codegen/codegen.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/ref/ref_device.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

class AmdRandom : public ::testing::Test {
 protected:
  void SetUp() override {
    mockgpu::MockKernel::Options options;
    options.log_events = false;
    auto machine = mockgpu::MockKernel::Create(std::move(options));
    ASSERT_TRUE(machine.ok()) << machine.status();
    machine_ = *std::move(machine);
    auto amd = AmdDevice::Open(*machine_);
    ASSERT_TRUE(amd.ok()) << amd.status();
    amd_ = *std::move(amd);
  }
  void TearDown() override {
    if (amd_ == nullptr) return;
    EXPECT_TRUE(amd_->gpu().Close().ok());
  }

  void Compare(uint64_t seed, const RandomKernel& k, Device& oracle, const ChoiceList& choices) {
    const ChoiceList none;
    const auto expected = RunKernel(oracle, k, &none);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << " " << oracle.name() << ": " << expected.status();
    const auto got = RunKernel(*amd_, k, &choices);
    ASSERT_TRUE(got.ok()) << "seed " << seed << " choices " << ChoicesText(choices) << ": " << got.status()
                          << "\n"
                          << uop::Print(k.kernel);
    const std::string difference = Difference(k.dtypes[0], *expected, *got);
    ASSERT_EQ(difference, "") << "seed " << seed << " choices " << ChoicesText(choices) << "\n"
                              << uop::Print(k.kernel);
  }

  std::unique_ptr<mockgpu::MockKernel> machine_;
  std::shared_ptr<AmdDevice> amd_;
  RefDevice ref_;
  CpuDevice cpu_;
};

TEST_F(AmdRandom, EqualsRef) {
  const auto [first, end] = RandomSeeds(40);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 7919);
    Compare(seed, k, ref_, {});
    Compare(seed, k, ref_, RandomChoices(k.kernel, amd_->target(), seed, 3, !OrderMatters(k.kernel)));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// LLVM negates the last element alone of a vector of floats made of 32-bit selects, unless the renderer takes
// the vector apart.
TEST_F(AmdRandom, EveryElementOfAVectorIsNegated) {
  using namespace uop::expr;  // NOLINT
  const UOpRef i = uop::Range(64, 0, AxisKind::kGlobal);
  const UOpRef bits = uop::Load(uop::IndexOf(uop::Param(dtypes::kUInt32, 1), i));
  const UOpRef nan = uop::ConstLike(bits, 0x7fc00000);
  const UOpRef x =
      uop::Bitcast(uop::Where(uop::CmpEq(bits, uop::ConstLike(bits, 128)), nan, bits), dtypes::kFloat32);
  const UOpRef y = uop::Load(uop::IndexOf(uop::Param(dtypes::kFloat32, 2), i));
  const std::vector<UOpRef> values = {uop::Neg(x), uop::Neg(x * y), uop::Neg(uop::Trunc(x)),
                                      uop::Neg(uop::Min(x, y)), uop::Neg(uop::Max(x, y))};
  for (size_t v = 0; v < values.size(); ++v) {
    RandomKernel k;
    k.kernel =
        uop::Sink({uop::Store(uop::IndexOf(uop::Param(dtypes::kFloat32, 0), i), values[v], {i})}, "negated");
    k.dtypes = {dtypes::kFloat32, dtypes::kUInt32, dtypes::kFloat32};
    k.bytes.assign(3, std::vector<uint8_t>(64 * 4));
    for (size_t n = 0; n < 64; ++n) {
      const float a = static_cast<float>(n) - 20.5f, b = 11.25f - static_cast<float>(n % 32);
      std::memcpy(&k.bytes[1][4 * n], &a, 4);
      std::memcpy(&k.bytes[2][4 * n], &b, 4);
    }
    for (const char* choices : {"vectorize(0,2)", "vectorize(0,4)", "local(0,4) vectorize(0,4)"}) {
      SCOPED_TRACE(choices);
      Compare(v, k, ref_, *ParseChoices(choices));
      if (HasFatalFailure()) return;
    }
  }
}

// LLVM selects a product rounded to f16 as V_FMA_MIXLO with +0 as addend, which turns -0 into +0, unless the
// renderer keeps product and rounding apart.
TEST_F(AmdRandom, ProductsRoundedToHalvesKeepTheSignOfZero) {
  using namespace uop::expr;  // NOLINT
  const UOpRef i = uop::Range(64, 0, AxisKind::kGlobal);
  const UOpRef x = uop::Load(uop::IndexOf(uop::Param(dtypes::kFloat32, 1), i));
  const UOpRef y = uop::Load(uop::IndexOf(uop::Param(dtypes::kFloat32, 2), i));
  RandomKernel k;
  k.kernel = uop::Sink(
      {uop::Store(uop::IndexOf(uop::Param(dtypes::kFloat16, 0), i), uop::Cast(x * y, dtypes::kFloat16), {i})},
      "halves");
  k.dtypes = {dtypes::kFloat16, dtypes::kFloat32, dtypes::kFloat32};
  k.bytes = {std::vector<uint8_t>(64 * 2), std::vector<uint8_t>(64 * 4), std::vector<uint8_t>(64 * 4)};
  for (size_t n = 0; n < 64; ++n) {
    const float a = n % 3 == 0 ? -0.0f : 0.5f * static_cast<float>(n), b = n % 2 ? 3.0f : -0.0f;
    std::memcpy(&k.bytes[1][4 * n], &a, 4);
    std::memcpy(&k.bytes[2][4 * n], &b, 4);
  }
  for (const char* choices : {"", "vectorize(0,4)", "local(0,8)"}) {
    SCOPED_TRACE(choices);
    Compare(0, k, ref_, *ParseChoices(choices));
    if (HasFatalFailure()) return;
  }
}

// A division by a product tests the product against 0 and -1 at once, by adding one. LLVM took the carry of
// another sum for that of this one, unless the renderer keeps them apart.
TEST_F(AmdRandom, WideProductsAreDivisors) {
  const UOpRef i = uop::Range(64, 0, AxisKind::kGlobal);
  const auto input = [&](int64_t p) { return uop::Load(uop::IndexOf(uop::Param(dtypes::kInt64, p), i)); };
  const UOpRef divisor = uop::Mul(input(2), input(3));
  const std::vector<UOpRef> values = {uop::IDiv(input(1), divisor), uop::IMod(input(1), divisor),
                                      uop::FloorDiv(input(1), divisor)};
  for (size_t v = 0; v < values.size(); ++v) {
    RandomKernel k;
    k.kernel =
        uop::Sink({uop::Store(uop::IndexOf(uop::Param(dtypes::kInt64, 0), i), values[v], {i})}, "divided");
    k.dtypes.assign(4, dtypes::kInt64);
    k.bytes.assign(4, std::vector<uint8_t>(64 * 8));
    uint64_t state = 1;
    for (size_t n = 0; n < 3 * 64; ++n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::memcpy(&k.bytes[1 + n / 64][8 * (n % 64)], &state, 8);
    }
    for (const char* choices : {"", "local(0,32)", "vectorize(0,2)"}) {
      SCOPED_TRACE(choices);
      Compare(v, k, ref_, *ParseChoices(choices));
      if (HasFatalFailure()) return;
    }
  }
}

// The same polynomials on both, so the same bits.
TEST_F(AmdRandom, TranscendentalsEqualCpu) {
  const auto [first, end] = RandomSeeds(20);
  for (uint64_t seed = first; seed < end; ++seed) {
    const RandomKernel k = MakeRandomKernel(seed * 104729, {.transcendental = true});
    Compare(seed, k, cpu_, RandomChoices(k.kernel, amd_->target(), seed, 2, false));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace understudy::test
