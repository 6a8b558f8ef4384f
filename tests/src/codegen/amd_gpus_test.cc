// SPDX-License-Identifier: Apache-2.0
// Every AMD GPU that the mock machine has, end to end: kernels compiled for it, the driver's packets of its
// generation, its command processor, its instructions. Products on tensor cores of which all elements differ,
// random kernels, and GPUs of different generations in one machine, against REF.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "mockgpu/amd/mock_kernel.h"
#include "src/codegen/codegen.h"
#include "src/runtime/amd/amd_device.h"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/tensor.h"
#include "src/uop/print.h"
#include "tests/src/codegen/product_kernel.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {
namespace {

std::unique_ptr<mockgpu::MockKernel> Machine(const std::string& gpus) {
  mockgpu::MockKernel::Options options;
  options.log_events = false;
  options.profiles = *mockgpu::amd::ParseProfiles(gpus);
  return *mockgpu::MockKernel::Create(std::move(options));
}

std::vector<std::string> EveryGpu() {
  std::vector<std::string> names;
  for (const mockgpu::amd::GpuProfile& profile : mockgpu::amd::AllProfiles()) names.push_back(profile.name);
  return names;
}

class AmdGpus : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    machine_ = Machine(GetParam());
    auto amd = AmdDevice::Open(*machine_);
    ASSERT_TRUE(amd.ok()) << amd.status();
    amd_ = *std::move(amd);
    ASSERT_EQ(amd_->target().isa, GetParam());
  }
  void TearDown() override {
    if (amd_ != nullptr) EXPECT_TRUE(amd_->gpu().Close().ok());
  }
  void Check(const RandomKernel& k, const ChoiceList& choices) {
    const ChoiceList none;
    const auto expected = RunKernel(ref_, k, &none);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto got = RunKernel(*amd_, k, &choices);
    ASSERT_TRUE(got.ok()) << got.status() << "\n" << uop::Print(k.kernel);
    ASSERT_EQ(Difference(k.dtypes[0], *expected, *got), "") << ChoicesText(choices) << "\n"
                                                            << uop::Print(k.kernel);
  }

  std::unique_ptr<mockgpu::MockKernel> machine_;
  std::shared_ptr<AmdDevice> amd_;
  RefDevice ref_;
};

TEST_P(AmdGpus, TensorCoresKeepDistinctElementsInTheirPlaces) {
  const auto& cores = amd_->target().tensor_cores;
  ASSERT_FALSE(cores.empty());
  for (size_t i = 0; i < cores.size(); ++i) {
    const TensorCore& core = cores[i];
    SCOPED_TRACE(core.name + " " + core.in.Name());
    // RDNA3 subtracts wrongly (docs/matrix.md), so that its sums of floats are of one sign here.
    const bool positive =
        core.in.IsUnsigned() || (core.in.IsFloat() && core.wave_size == 32 && core.a.groups == 1);
    const ProductSize size = {2 * core.m, 2 * core.n, 2 * core.k};
    const auto choices = ParseChoices(absl::StrCat("tc(0,", i, ") unroll(0,2) upcast(0,2)"));
    ASSERT_TRUE(choices.ok()) << choices.status();
    for (const RandomKernel& k : MakeDistinctProducts(size, core.in, core.out, positive)) Check(k, *choices);
  }
}

TEST_P(AmdGpus, RandomKernelsAgreeWithRef) {
  const auto [first, end] = RandomSeeds(12);
  for (uint64_t seed = first; seed < end; ++seed) {
    SCOPED_TRACE(seed);
    const RandomKernel k = MakeRandomKernel(seed * 7919);
    Check(k, RandomChoices(k.kernel, amd_->target(), seed, static_cast<int>(seed % 3), false));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, AmdGpus, ::testing::ValuesIn(EveryGpu()),
                         [](const auto& info) { return info.param; });

// One machine with a GPU of each generation: each has its queues, packets and code, and data goes from one to
// the other through the host.
TEST(AmdMachine, GpusOfDifferentGenerationsWorkTogether) {
  const std::vector<std::string> gpus = {"gfx942", "gfx1201", "gfx1100", "gfx90a"};
  const auto machine = Machine("gfx942,gfx1201,gfx1100,gfx90a");
  std::vector<std::shared_ptr<AmdDevice>> devices;
  DeviceRegistry registry;
  registry.Register(std::make_shared<RefDevice>());
  for (size_t i = 0; i < gpus.size(); ++i) {
    auto device = AmdDevice::Open(*machine, static_cast<int>(i), {}, absl::StrCat("AMD:", i));
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ((*device)->gpu().isa(), gpus[i]);
    devices.push_back(*device);
    registry.Register(*device);
  }
  {
    Engine engine(std::move(registry));
    std::vector<float> data(24 * 40);
    std::iota(data.begin(), data.end(), -300.0f);
    const auto run = [&](const std::vector<std::string>& on) {
      Tensor x = Tensor::FromData(data, {24, 40}, on[0]);
      for (size_t i = 0; i < on.size(); ++i) {
        x = x.To(on[i]);
        x = (x * static_cast<float>(i + 2) + 1.0f).Permute({1, 0}) + x.Sum({0}, true).Permute({1, 0});
      }
      auto out = engine.Data<float>(x);
      EXPECT_TRUE(out.ok()) << out.status();
      return out.value_or(std::vector<float>());
    };
    const auto got = run({"AMD:0", "AMD:1", "AMD:2", "AMD:3"});
    EXPECT_EQ(got, run({"REF", "REF", "REF", "REF"}));
    for (const auto& device : devices) EXPECT_GT(device->gpu().stats().launches, 0);
  }
  for (const auto& device : devices) EXPECT_TRUE(device->gpu().Close().ok());
}

}  // namespace
}  // namespace understudy::test
