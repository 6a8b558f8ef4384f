// SPDX-License-Identifier: Apache-2.0
// Kernels with several outputs: which units become one, that storage is read before it is written, and that
// every device gives the values that it gives with one output a kernel.
#include "src/schedule/merge.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/tensor/optim/optimizer.h"
#include "src/uop/graph.h"
#include "tests/src/schedule/mini_engine.h"
#include "tests/src/schedule/storage_devices.h"

namespace understudy {
namespace {

std::vector<float> Numbers(int64_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<float> v(n);
  for (float& x : v) x = std::normal_distribution<float>()(rng);
  return v;
}
Tensor Rand(const Shape& shape, uint64_t seed, const std::string& device = "CPU") {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return Tensor::FromData(Numbers(n, seed), shape, device);
}

std::vector<double> Values(MiniEngine& e, const Tensor& t) {
  auto v = e.Values(t);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : std::vector<double>();
}

// Realises what `make` gives with and without merging; the values must be equal. Kernels with merging.
int SameValues(const std::function<std::vector<Tensor>()>& make, MiniEngine* merged) {
  MiniEngine apart;
  apart.options.merge_outputs = false;
  const std::vector<Tensor> a = make(), b = make();
  const int before = merged->kernels;
  absl::Status s = merged->Realize(a);
  EXPECT_TRUE(s.ok()) << s;
  const int kernels = merged->kernels - before;
  const Schedule schedule = merged->last_schedule;
  s = apart.Realize(b);
  EXPECT_TRUE(s.ok()) << s;
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(Values(*merged, a[i]), Values(apart, b[i])) << "output " << i;
  EXPECT_LE(kernels, apart.kernels);
  merged->last_schedule = schedule;  // reading the values made others
  return kernels;
}

int MostOutputs(const Schedule& s) {
  int most = 0;
  for (const ScheduleItem& item : s.items) most = std::max(most, item.outputs);
  return most;
}

TEST(Merge, TwoSumsOfOneInputShareALoop) {
  MiniEngine e;
  EXPECT_EQ(SameValues(
                [] {
                  const Tensor x = Rand({16, 300}, 1);
                  return std::vector<Tensor>{x.Sum({1}), x.Square().Sum({1})};
                },
                &e),
            1);
  const ScheduleItem& item = e.last_schedule.items[0];
  EXPECT_EQ(item.outputs, 2);
  EXPECT_EQ(item.kernel->arg_as<KernelArg>().name, "r2_16_300");
  EXPECT_EQ(uop::NodesOf(item.kernel, Op::kLoad).size(), 1u);
}

TEST(Merge, MeanAndVarianceAreOneKernel) {
  MiniEngine e;
  EXPECT_EQ(SameValues(
                [] {
                  const Tensor x = Rand({16, 300}, 1);
                  return std::vector<Tensor>{x.Mean({1}), x.Var({1})};
                },
                &e),
            1);
}

TEST(Merge, AnOptimiserUpdatesStateAndParameterInOneKernel) {
  MiniEngine e;
  const auto step = [] {
    std::vector<Tensor> p{Rand({300, 70}, 1)};
    auto adam = optim::AdamW(p);
    EXPECT_TRUE(adam.ok());
    EXPECT_TRUE((*adam)->Step({Rand({300, 70}, 2)}).ok());
    std::vector<Tensor> out;
    for (Tensor* t : (*adam)->Pending()) out.push_back(*t);
    return out;
  };
  EXPECT_EQ(SameValues(step, &e), 1);
  EXPECT_EQ(e.last_schedule.items[0].outputs, 3);
}

// The gradient is computed where it is used: neither a kernel nor memory of its own.
TEST(Merge, AValueThatOneKernelReadsHasNoMemory) {
  MiniEngine e;
  EXPECT_EQ(SameValues(
                [] {
                  Tensor w = Rand({40, 30}, 1), m = Rand({40, 30}, 2);
                  const Tensor g = Rand({40, 50}, 3).Matmul(Rand({50, 30}, 4)).Contiguous();
                  m.Assign(m * 0.9 + g);
                  w.Assign(w - m * 0.1 - g * 0.01);
                  return std::vector<Tensor>{w, m};
                },
                &e),
            1);
  EXPECT_TRUE(e.last_schedule.temporaries.empty()) << ScheduleText(e.last_schedule);
}

TEST(Merge, ProjectionsOfOneInputReadItOnce) {
  MiniEngine e;
  EXPECT_EQ(SameValues(
                [] {
                  const Tensor x = Rand({64, 48}, 1);
                  return std::vector<Tensor>{x.Matmul(Rand({48, 64}, 2)), x.Matmul(Rand({48, 64}, 3)),
                                             x.Matmul(Rand({48, 64}, 4))};
                },
                &e),
            1);
}

// --- What must not be merged ---

TEST(Merge, AnotherElementOfAnOutputIsReadByAKernelOfItsOwn) {
  MiniEngine e;
  EXPECT_EQ(SameValues(
                [] {
                  const Tensor y = (Rand({400}, 1) + 1).Contiguous();
                  return std::vector<Tensor>{y, y.Flip({0}).Contiguous() * 2};
                },
                &e),
            2);
}

TEST(Merge, OldContentsAreReadBeforeTheyGo) {
  // Of one element: in one kernel. Of another: before it.
  for (const bool flipped : {false, true}) {
    MiniEngine e;
    const int kernels = SameValues(
        [&] {
          Tensor x = Rand({400}, 1);
          const Tensor y = (flipped ? x.Flip({0}) : x) * 3 + 1;
          const Tensor old = y.Clone();
          x.Assign(Rand({400}, 2) + x);
          return std::vector<Tensor>{x, old};
        },
        &e);
    EXPECT_EQ(kernels, flipped ? 2 : 1) << ScheduleText(e.last_schedule);
  }
}

TEST(Merge, ContentsAreSwapped) {
  MiniEngine e;
  SameValues(
      [] {
        Tensor a = Rand({50}, 1), b = Rand({50}, 2);
        const Tensor old = a.Clone();
        a.Assign(b);
        b.Assign(old);
        return std::vector<Tensor>{a, b};
      },
      &e);
}

TEST(Merge, KernelsKeepToTheLimitOfBuffers) {
  for (const int limit : {3, 4, 6}) {
    MiniEngine e;
    e.options.max_buffers = limit;
    SameValues(
        [] {
          std::vector<Tensor> out;
          const Tensor x = Rand({30}, 1);
          for (int i = 0; i < 6; ++i) out.push_back(x * Rand({30}, 2 + i) + i);
          return out;
        },
        &e);
    for (const ScheduleItem& item : e.last_schedule.items)
      EXPECT_LE(static_cast<int>(item.slots.size()), limit) << ScheduleText(e.last_schedule);
    EXPECT_EQ(MostOutputs(e.last_schedule) > 1, limit > 4);
  }
}

TEST(Merge, OtherIterationSpacesStayApart) {
  MiniEngine e;
  EXPECT_EQ(SameValues(
                [] {
                  const Tensor x = Rand({32, 64}, 1);
                  return std::vector<Tensor>{x.Sum({1}), x.Sum({0}), x + 1};
                },
                &e),
            3);
}

// A kernel between two others cannot be left out.
TEST(Merge, AChainThroughAnotherSpaceIsNoCycle) {
  MiniEngine e;
  EXPECT_EQ(SameValues(
                [] {
                  const Tensor x = Rand({64, 64}, 1);
                  const Tensor y = (x * 2).Contiguous();
                  return std::vector<Tensor>{y, x + y.Sum()};
                },
                &e),
            3);
}

// --- Devices ---

class MergeDevices : public StorageTest {};

TEST_P(MergeDevices, ATrainingStepGivesRefsValues) {
  const auto step = [](const std::string& device) {
    std::vector<Tensor> p{Rand({20, 16}, 1, device), Rand({16}, 2, device)};
    const Tensor x = Rand({12, 20}, 3, device);
    const Tensor h = x.Matmul(p[0]) + p[1];
    const Tensor y = h.LayerNorm(1);
    auto adam = optim::AdamW(p);
    EXPECT_TRUE(adam.ok());
    const Tensor loss = (y * y * h).Sum() * 0.01;
    EXPECT_TRUE((*adam)->Step(Gradients(loss, p)).ok());
    std::vector<Tensor> out{loss};
    for (Tensor* t : (*adam)->Pending()) out.push_back(*t);
    return out;
  };
  std::vector<Tensor> here = step(d0), apart = step("CPU");
  ASSERT_TRUE(Realize(here).ok());
  MiniEngine ref;
  ref.options.merge_outputs = false;
  ASSERT_TRUE(ref.Realize(apart).ok());
  for (size_t i = 0; i < here.size(); ++i) {
    const std::vector<double> want = Values(ref, apart[i]);
    const std::vector<float> got = Get(here[i]);
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < got.size(); ++k)
      EXPECT_NEAR(got[k], want[k], 1e-5 * (1 + std::abs(want[k]))) << "output " << i << " element " << k;
  }
  EXPECT_LE(engine->stats().kernels_launched, 8);
}

TEST_P(MergeDevices, IntegersAreEqualToTheBit) {
  const auto make = [](const std::string& device) {
    std::vector<int32_t> data(7 * 130);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int32_t>(i * 2654435761u % 1000);
    Tensor x = Tensor::FromData(data, {7, 130}, device);
    const Tensor most = x.Max({1}), sum = x.Sum({1}).Cast(dtypes::kInt32), least = (x - 3).Min({1});
    const Tensor y = x * 3 - 1, z = y * y + x;
    x.Assign(x + y);
    return std::vector<Tensor>{most, sum, least, y.Clone(), z.Clone(), x};
  };
  std::vector<Tensor> here = make(d0), apart = make("CPU");
  ASSERT_TRUE(Realize(here).ok());
  MiniEngine ref;
  ref.options.merge_outputs = false;
  ASSERT_TRUE(ref.Realize(apart).ok());
  for (size_t i = 0; i < here.size(); ++i) {
    auto got = engine->Data<int32_t>(here[i]);
    ASSERT_TRUE(got.ok()) << got.status();
    const std::vector<double> want = Values(ref, apart[i]);
    EXPECT_EQ(std::vector<double>(got->begin(), got->end()), want) << "output " << i;
  }
  EXPECT_EQ(engine->stats().kernels_launched, 2);
}

UNDERSTUDY_STORAGE_DEVICES(MergeDevices);

}  // namespace
}  // namespace understudy
