// SPDX-License-Identifier: Apache-2.0
// Random numbers: the published vectors of Threefry, the same bits on the host, REF and CPU, and
// distributions by Kolmogorov and Smirnov's and by the chi-square test. Seeds are fixed, so that a test that
// passes keeps passing.
#include "src/tensor/random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "tests/src/schedule/mini_engine.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Engine& Cpu() {
  static Engine* const engine = [] {
    DeviceRegistry devices;
    devices.Register(std::make_shared<CpuDevice>());
    return new Engine(devices);
  }();
  return *engine;
}

template <class T>
std::vector<T> OnCpu(Tensor t) {
  const auto v = Cpu().Data<T>(t);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : std::vector<T>();
}
std::vector<double> OnRef(const Tensor& t) {
  MiniEngine e;
  const auto v = e.Values(t);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : std::vector<double>();
}

// --- Bits ---

struct Known {
  std::array<uint32_t, 2> counter, key, result;
};
// kat_vectors of Random123 1.09, threefry2x32 with 20 rounds.
const Known kKnown[] = {
    {{0, 0}, {0, 0}, {0x6b200159, 0x99ba4efe}},
    {{0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x1cb996fc, 0xbb002be7}},
    {{0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}, {0xc4923a9c, 0x483df7a0}},
};

TEST(Threefry, PublishedVectors) {
  for (const Known& k : kKnown) {
    EXPECT_EQ(Threefry2x32(k.key, k.counter), k.result);
    const auto graph = [&] {
      const auto word = [](uint32_t w) { return Tensor::FromData<uint32_t>({w}, {1}); };
      return Threefry2x32(std::array<Tensor, 2>{word(k.key[0]), word(k.key[1])},
                          std::array<Tensor, 2>{word(k.counter[0]), word(k.counter[1])});
    };
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(OnRef(graph()[i]), ElementsAre(k.result[i]));
      EXPECT_THAT(OnCpu<uint32_t>(graph()[i]), ElementsAre(k.result[i]));
    }
  }
}

TEST(Threefry, WantsWords) {
  const Tensor i = Tensor::FromData<int32_t>({1}, {1}), u = Tensor::FromData<uint32_t>({1}, {1});
  EXPECT_THAT(
      std::string(
          Threefry2x32(std::array<Tensor, 2>{u, i}, std::array<Tensor, 2>{u, u})[0].status().message()),
      HasSubstr("dtype i32, expected u32"));
}

TEST(Random, UniformHasTheHostsBitsOnEveryDevice) {
  const uint64_t seed = 0x123456789abcdef0;
  std::vector<double> want(600);
  for (size_t i = 0; i < want.size(); ++i) want[i] = RandomUnit(seed, i);
  const Tensor u = Tensor::Uniform({20, 30}, seed);
  EXPECT_EQ(OnRef(u), want);
  const auto cpu = OnCpu<float>(Tensor::Uniform({20, 30}, seed));
  EXPECT_EQ(std::vector<double>(cpu.begin(), cpu.end()), want);
  // An interval: in f64, rounded once.
  const auto scaled = OnCpu<double>(Tensor::Uniform({600}, seed, -2, 5, {dtypes::kFloat64}));
  for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(scaled[i], want[i] * 7 + -2);
  // Counters carry into the upper word.
  Generator g(seed, (uint64_t{1} << 32) - 3);
  const auto far = OnCpu<float>(Rand({6}, g));
  for (size_t i = 0; i < 6; ++i) ASSERT_EQ(far[i], RandomUnit(seed, (uint64_t{1} << 32) - 3 + i));
}

TEST(Random, F64HasFiftyThreeBits) {
  Generator g(5);
  const auto u = OnCpu<double>(Rand({64}, g, {dtypes::kFloat64}));
  for (uint64_t i = 0; i < u.size(); ++i) {
    const auto w = Threefry2x32({5, 0}, {static_cast<uint32_t>(i), 0});
    ASSERT_EQ(u[i], (static_cast<double>(w[0]) * 0x1p21 + static_cast<double>(w[1] >> 11)) * 0x1p-53);
  }
}

TEST(Random, NormalIsBoxMullerToTheLastPlacesAndTheSameOnEveryDevice) {
  const uint64_t seed = 77;
  const int n = 2000;
  const auto f32 = OnCpu<float>(Tensor::Normal({n}, seed));
  const auto f64 = OnCpu<double>(Tensor::Normal({n}, seed, 0, 1, {dtypes::kFloat64}));
  const auto ref32 = OnRef(Tensor::Normal({n}, seed)),
             ref64 = OnRef(Tensor::Normal({n}, seed, 0, 1, {dtypes::kFloat64}));
  for (int i = 0; i < n; ++i) {
    const long double u = RandomUnit(seed, 2 * i), w = RandomUnit(seed, 2 * i + 1);
    const auto want =
        static_cast<double>(sqrtl(-2 * logl(1 - u)) * cosl(2 * std::numbers::pi_v<long double> * w));
    ASSERT_NEAR(f32[i], want, 1e-6 * std::max(1.0, std::abs(want))) << i;
    ASSERT_NEAR(f64[i], want, 2e-15 * std::max(1.0, std::abs(want))) << i;
    ASSERT_EQ(ref32[i], f32[i]) << i;
    ASSERT_EQ(ref64[i], f64[i]) << i;
  }
}

TEST(Generator, DrawsFollowEachOtherAndRepeatWithTheSeed) {
  Generator a(9), b(9), c(10);
  const auto a1 = OnCpu<float>(Rand({50}, a)), a2 = OnCpu<float>(Rand({50}, a));
  const auto b12 = OnCpu<float>(Rand({100}, b)), c1 = OnCpu<float>(Rand({50}, c));
  EXPECT_EQ(a.counter(), 100u);
  std::vector<float> joined = a1;
  joined.insert(joined.end(), a2.begin(), a2.end());
  EXPECT_EQ(joined, b12);
  EXPECT_NE(a1, c1);
  EXPECT_NE(a1, a2);
}

TEST(Generator, EveryDrawOfAShapeIsTheSameKernel) {
  Generator g(3);
  OnCpu<float>(Randn({37, 3}, g));
  const int64_t before = Cpu().stats().kernels_compiled;
  for (int i = 0; i < 5; ++i) OnCpu<float>(Randn({37, 3}, g));
  EXPECT_EQ(Cpu().stats().kernels_compiled, before);
}

// --- Distributions ---

// The greatest distance between the samples' and the wanted distribution times sqrt(n): past 1.95 with
// probability 0.001.
double KolmogorovSmirnov(std::vector<double> v, const std::function<double(double)>& cdf) {
  std::sort(v.begin(), v.end());
  const double n = static_cast<double>(v.size());
  double d = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    const double f = cdf(v[i]), k = static_cast<double>(i);
    d = std::max({d, f - k / n, (k + 1) / n - f});
  }
  return d * std::sqrt(n);
}
template <class T>
std::vector<double> Doubles(const std::vector<T>& v) {
  return std::vector<double>(v.begin(), v.end());
}
double Phi(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

constexpr int64_t kMany = 40000;
constexpr double kLimit = 1.95;

TEST(Distribution, Uniform) {
  Generator g(1);
  const auto cdf = [](double x) { return std::clamp(x, 0.0, 1.0); };
  EXPECT_LT(KolmogorovSmirnov(Doubles(OnCpu<float>(Rand({kMany}, g))), cdf), kLimit);
  EXPECT_LT(KolmogorovSmirnov(OnCpu<double>(Rand({kMany}, g, {dtypes::kFloat64})), cdf), kLimit);
  EXPECT_LT(KolmogorovSmirnov(Doubles(OnCpu<float>(Tensor::Uniform({kMany}, 42))), cdf), kLimit);
  // Neighbours are independent: their lag product has the mean 1/4.
  const auto u = OnCpu<float>(Rand({kMany}, g));
  double sum = 0;
  for (size_t i = 1; i < u.size(); ++i) sum += u[i] * u[i - 1];
  EXPECT_NEAR(sum / (kMany - 1), 0.25, 0.005);
}

TEST(Distribution, Normal) {
  Generator g(2);
  EXPECT_LT(KolmogorovSmirnov(Doubles(OnCpu<float>(Randn({kMany}, g))), Phi), kLimit);
  EXPECT_LT(KolmogorovSmirnov(OnCpu<double>(Randn({kMany}, g, {dtypes::kFloat64})), Phi), kLimit);
  EXPECT_LT(KolmogorovSmirnov(Doubles(OnCpu<float>(Tensor::Normal({kMany}, 11, 3, 0.5))),
                              [](double x) { return Phi((x - 3) / 0.5); }),
            kLimit);
}

TEST(Distribution, Exponential) {
  Generator g(3);
  EXPECT_LT(KolmogorovSmirnov(Doubles(OnCpu<float>(Exponential({kMany}, g, 2.5))),
                              [](double x) { return 1 - std::exp(-2.5 * x); }),
            kLimit);
}

TEST(Distribution, TruncatedNormal) {
  Generator g(4);
  const double mean = 0.5, dev = 2, a = -1, b = 4;
  const double low = Phi((a - mean) / dev), high = Phi((b - mean) / dev);
  const auto v = Doubles(OnCpu<float>(TruncNormal({kMany}, g, mean, dev, a, b)));
  EXPECT_TRUE(std::all_of(v.begin(), v.end(), [&](double x) { return x >= a && x <= b; }));
  EXPECT_LT(KolmogorovSmirnov(v, [&](double x) { return (Phi((x - mean) / dev) - low) / (high - low); }),
            kLimit);
  // Each number is the inverse of the distribution at its uniform.
  Generator h(8);
  const auto z = OnCpu<float>(TruncNormal({200}, h, 0, 1, -6, 6));
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_NEAR(Phi(z[i]), RandomUnit(8, i), 2e-6) << i;
  }
}

// Sum of (observed - expected)^2 / expected.
double ChiSquare(const std::vector<double>& observed, const std::vector<double>& expected) {
  double sum = 0;
  for (size_t i = 0; i < observed.size(); ++i) {
    if (expected[i] == 0) {
      EXPECT_EQ(observed[i], 0) << i;
      continue;
    }
    sum += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
  }
  return sum;
}

TEST(Distribution, Randint) {
  Generator g(5);
  std::vector<double> counts(10, 0);
  for (const int64_t v : OnCpu<int64_t>(Randint(-3, 7, {kMany}, g))) {
    ASSERT_TRUE(v >= -3 && v < 7);
    counts[v + 3]++;
  }
  EXPECT_LT(ChiSquare(counts, std::vector<double>(10, kMany / 10.0)), 27.9);  // 9 degrees, 0.001
  // Ranges past 2^32 and the whole of i64 but one.
  const int64_t wide = int64_t{3} << 40;
  for (const int64_t v : OnCpu<int64_t>(Randint(-wide, wide, {1000}, g))) ASSERT_TRUE(v >= -wide && v < wide);
  double sum = 0;
  for (const int64_t v : OnCpu<int64_t>(Randint(INT64_MIN, INT64_MAX, {4000}, g)))
    sum += static_cast<double>(v) / 4000;
  EXPECT_LT(std::abs(sum), 0x1p63 * 0.04);
  EXPECT_EQ(Randint(0, 5, {2}, g, {dtypes::kInt8}).dtype(), dtypes::kInt8);
}

TEST(Distribution, Randperm) {
  Generator g(6);
  std::vector<double> first(8, 0);
  for (int round = 0; round < 400; ++round) {
    const auto p = OnCpu<int64_t>(Randperm(8, g));
    ASSERT_EQ(std::set<int64_t>(p.begin(), p.end()).size(), 8u);
    ASSERT_TRUE(*std::min_element(p.begin(), p.end()) == 0 && *std::max_element(p.begin(), p.end()) == 7);
    first[p[0]]++;
  }
  EXPECT_LT(ChiSquare(first, std::vector<double>(8, 50)), 24.3);  // 7 degrees, 0.001
  const auto p = OnCpu<int64_t>(Randperm(1000, g));
  EXPECT_EQ(std::set<int64_t>(p.begin(), p.end()).size(), 1000u);
}

TEST(Distribution, BernoulliAndDropout) {
  Generator g(7);
  const Tensor p = Tensor::FromData<float>({0, 0.25, 1}, {3, 1}).Expand({3, kMany / 4});
  const auto b = OnCpu<float>(Bernoulli(p, g).Sum({1}));
  EXPECT_EQ(b[0], 0);
  EXPECT_NEAR(b[1], kMany / 16.0, 4 * std::sqrt(kMany / 4 * 0.25 * 0.75));
  EXPECT_EQ(b[2], kMany / 4);

  const Tensor x = Tensor::Full({kMany}, 3.0).Clone();
  const Tensor y = Dropout(x, 0.2, true, g);
  Tensor grad = Gradients(y.Sum(), {x})[0], value = y;
  const auto v = OnCpu<float>(value), d = OnCpu<float>(grad);
  int64_t kept = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    ASSERT_TRUE(v[i] == 0 || v[i] == 3.75f) << v[i];
    ASSERT_EQ(d[i], v[i] == 0 ? 0 : 1.25f);  // the gradient's mask is the value's
    kept += v[i] != 0;
  }
  EXPECT_NEAR(kept, 0.8 * kMany, 4 * std::sqrt(kMany * 0.16));
  EXPECT_EQ(Dropout(x, 0.2, false, g).uop(), x.uop());
  EXPECT_THAT(OnCpu<float>(Dropout(x.Shrink({{0, 2}}), 1, true, g)), ElementsAre(0, 0));
}

TEST(Distribution, Multinomial) {
  Generator g(8);
  const std::vector<float> weights = {1, 0, 3, 2, 0};
  const Tensor w = Tensor::FromData(weights, {5});
  std::vector<double> counts(5, 0);
  for (const int64_t i : OnCpu<int64_t>(Multinomial(w, 6000, true, g))) {
    ASSERT_TRUE(i >= 0 && i < 5);
    counts[i]++;
  }
  EXPECT_LT(ChiSquare(counts, {1000, 0, 3000, 2000, 0}), 13.8);  // 2 degrees, 0.001
  // Rows are independent draws; without replacement each number comes once and the first follows the weights.
  const Tensor rows = w.Unsqueeze(0).Expand({3000, 5});
  const auto picks = OnCpu<int64_t>(Multinomial(rows, 3, false, g));
  std::vector<double> first(5, 0);
  for (size_t r = 0; r < 3000; ++r) {
    ASSERT_EQ((std::set<int64_t>{picks[3 * r], picks[3 * r + 1], picks[3 * r + 2]}),
              (std::set<int64_t>{0, 2, 3}));
    first[picks[3 * r]]++;
  }
  EXPECT_LT(ChiSquare(first, {500, 0, 1500, 1000, 0}), 13.8);
  EXPECT_EQ(Multinomial(rows, 2, true, g).shape(), (Shape{3000, 2}));
}

TEST(Initialisers, HaveTheirBoundsAndDeviations) {
  Generator g(9);
  const Shape shape = {64, 32, 3, 3};  // fan in 288, fan out 576
  const auto deviation = [&](const Tensor& t, double* most = nullptr) {
    double sum = 0;
    const auto v = OnCpu<float>(t);
    for (const float x : v) {
      sum += static_cast<double>(x) * x;
      if (most != nullptr) *most = std::max<double>(*most, std::abs(x));
    }
    return std::sqrt(sum / static_cast<double>(v.size()));
  };
  double most = 0;
  EXPECT_NEAR(deviation(XavierUniform(shape, g, 2), &most), 2 * std::sqrt(2.0 / 864), 2e-3);
  EXPECT_LE(most, 2 * std::sqrt(6.0 / 864));
  EXPECT_GT(most, 1.99 * std::sqrt(6.0 / 864));
  EXPECT_NEAR(deviation(XavierNormal(shape, g)), std::sqrt(2.0 / 864), 1e-3);
  EXPECT_NEAR(deviation(KaimingNormal(shape, g, {.nonlinearity = "relu"})), std::sqrt(2.0 / 288), 2e-3);
  EXPECT_NEAR(deviation(KaimingUniform(shape, g, {.a = std::sqrt(5.0), .mode = FanMode::kFanOut})),
              std::sqrt(2.0 / 6 / 576), 1e-3);
  EXPECT_THAT(std::string(XavierNormal({5}, g).status().message()), HasSubstr("expected at least rank 2"));
  EXPECT_THAT(std::string(CalculateGain("gelu").status().message()), HasSubstr("nonlinearity 'gelu'"));
}

TEST(Random, Errors) {
  Generator g(1);
  const auto text = [](const Tensor& t) { return std::string(t.status().message()); };
  EXPECT_THAT(text(Rand({2}, g, {dtypes::kInt32})), HasSubstr("Rand: dtype i32, expected a float"));
  EXPECT_THAT(text(Randn({-1}, g)), HasSubstr("negative size"));
  EXPECT_THAT(text(Randint(3, 3, {2}, g)), HasSubstr("expected low < high"));
  EXPECT_THAT(text(Exponential({2}, g, 0)), HasSubstr("rate 0"));
  EXPECT_THAT(text(TruncNormal({2}, g, 0, 1, 2, 1)), HasSubstr("expected a positive deviation and a < b"));
  EXPECT_THAT(text(Dropout(Tensor::Ones({2}), 1.5, true, g)), HasSubstr("probability 1.5"));
  EXPECT_THAT(text(Multinomial(Tensor::Ones({3}), 4, false, g)),
              HasSubstr("4 samples of 3 without replacement"));
  EXPECT_THAT(text(Bernoulli(Tensor::Ones({3}, {dtypes::kInt32}), g)), HasSubstr("dtype i32"));
  // Empty shapes are drawn too, and take no counters.
  EXPECT_TRUE(OnCpu<float>(Rand({0, 3}, g)).empty());
}

}  // namespace
}  // namespace understudy
