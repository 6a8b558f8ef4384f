// SPDX-License-Identifier: Apache-2.0
// Scans, sorts and lookups of long axes on CPU, against plain loops, with the number of kernels that they may
// take; and what the families refuse.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/runtime/cpu/cpu_device.h"
#include "src/runtime/engine.h"
#include "src/tensor/create_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/reduce_ops.h"
#include "src/tensor/scan.h"
#include "src/tensor/sort.h"

namespace understudy {
namespace {

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
std::vector<T> OnCpu(Tensor t, int64_t* kernels = nullptr) {
  const int64_t before = Cpu().stats().kernels_launched;
  const auto v = Cpu().Data<T>(t);
  EXPECT_TRUE(v.ok()) << v.status();
  if (kernels != nullptr) *kernels = Cpu().stats().kernels_launched - before;
  return v.ok() ? *v : std::vector<T>();
}

template <class T>
std::vector<T> Numbers(size_t n, uint64_t seed, int64_t lo, int64_t hi, double scale = 1) {
  std::mt19937_64 rng(seed);
  std::vector<T> v(n);
  for (T& x : v)
    x = static_cast<T>(static_cast<double>(std::uniform_int_distribution<int64_t>(lo, hi)(rng)) * scale);
  return v;
}

TEST(LongAxis, Cumsum) {
  const size_t n = 300'001;
  const auto x = Numbers<int32_t>(n, 1, -50, 60);
  int64_t kernels = 0;
  const auto got = OnCpu<int64_t>(Cumsum(Tensor::FromData(x, {static_cast<int64_t>(n)}), 0), &kernels);
  int64_t sum = 0;
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], sum += x[i]) << i;
  EXPECT_LE(kernels, 8);
  // The gradient of a weighted sum of running sums is the sum of the weights from each place on.
  const auto w = Numbers<double>(5000, 2, -9, 9, 0.25);
  const Tensor p = Tensor::FromData(Numbers<double>(5000, 3, -9, 9), {5000});
  const Tensor loss = (Cumsum(p, 0) * Tensor::FromData(w, {5000})).Sum();
  const auto grad = OnCpu<double>(Gradients(loss, {p})[0], &kernels);
  double rest = 0;
  for (size_t i = 5000; i-- > 0;) ASSERT_EQ(grad[i], rest += w[i]) << i;
}

TEST(LongAxis, CumulativeExtremaAndProducts) {
  const size_t n = 20'000;
  const auto x = Numbers<float>(n, 4, -1'000'000, 1'000'000);
  const auto [values, indices] = Cummax(Tensor::FromData(x, {static_cast<int64_t>(n)}), 0);
  const auto v = OnCpu<float>(values);
  const auto at = OnCpu<int64_t>(indices);
  int64_t best = 0;
  for (size_t i = 0; i < n; ++i) {
    if (x[i] >= x[best]) best = static_cast<int64_t>(i);
    ASSERT_EQ(v[i], x[best]);
    ASSERT_EQ(at[i], best);
  }
  std::vector<int32_t> sign(n, 1);
  for (size_t i = 0; i < n; i += 7) sign[i] = -1;
  const auto p = OnCpu<int64_t>(Cumprod(Tensor::FromData(sign, {static_cast<int64_t>(n)}), 0));
  int64_t product = 1;
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(p[i], product *= sign[i]);
}

template <class T>
void CheckSort(const std::vector<T>& x, bool descending, int64_t most_kernels) {
  const auto n = static_cast<int64_t>(x.size());
  const auto [values, indices] = Sort(Tensor::FromData(x, {n}), 0, descending);
  std::vector<int64_t> want(x.size());
  std::iota(want.begin(), want.end(), 0);
  std::stable_sort(want.begin(), want.end(),
                   [&](int64_t a, int64_t b) { return descending ? x[a] > x[b] : x[a] < x[b]; });
  int64_t kernels = 0;
  EXPECT_EQ(OnCpu<int64_t>(indices, &kernels), want);
  EXPECT_LE(kernels, most_kernels);
  const auto v = OnCpu<T>(values);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(v[i], x[want[i]]);
}

TEST(LongAxis, Sort) {
  CheckSort(Numbers<float>(3000, 5, -500, 500), false, 40);
  CheckSort(Numbers<float>(1024, 6, -500, 500), true, 30);
  CheckSort(Numbers<int64_t>(700, 7, INT64_MIN, INT64_MAX), false, 60);
  CheckSort(std::vector<int64_t>{INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN}, true, 20);
  CheckSort(std::vector<uint64_t>{UINT64_MAX, 0, UINT64_MAX - 1, uint64_t{1} << 63, UINT64_MAX}, false, 20);
  CheckSort(std::vector<uint32_t>{UINT32_MAX, 0, uint32_t{1} << 31, UINT32_MAX, 7}, false, 20);
}

TEST(LongAxis, LookupsAreIndexedLoads) {
  const int64_t rows = 50'000, d = 8, m = 3000;
  std::vector<float> table(rows * d);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  const auto index = Numbers<int64_t>(m, 8, 0, rows - 1);
  int64_t kernels = 0;
  const auto v = OnCpu<float>(
      IndexSelect(Tensor::FromData(table, {rows, d}), 0, Tensor::FromData(index, {m})), &kernels);
  EXPECT_EQ(kernels, 1);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t k = 0; k < d; ++k) ASSERT_EQ(v[i * d + k], table[index[i] * d + k]);
  }
}

TEST(LongAxis, Searchsorted) {
  auto x = Numbers<int32_t>(200'000, 9, -1'000'000, 1'000'000);
  std::sort(x.begin(), x.end());
  const auto q = Numbers<int32_t>(5000, 10, -1'100'000, 1'100'000);
  const Tensor sorted = Tensor::FromData(x, {200'000}), values = Tensor::FromData(q, {5000});
  int64_t kernels = 0;
  const auto left = OnCpu<int64_t>(Searchsorted(sorted, values), &kernels);
  EXPECT_LE(kernels, 2);
  const auto right = OnCpu<int64_t>(Searchsorted(sorted, values, true));
  for (size_t i = 0; i < q.size(); ++i) {
    ASSERT_EQ(left[i], std::lower_bound(x.begin(), x.end(), q[i]) - x.begin());
    ASSERT_EQ(right[i], std::upper_bound(x.begin(), x.end(), q[i]) - x.begin());
  }
}

TEST(LongAxis, NonzeroOfALongMask) {
  std::vector<float> x(10'000, 0);
  std::vector<int64_t> want;
  for (size_t i = 3; i < x.size(); i += 17) {
    x[i] = 1;
    want.insert(want.end(), {static_cast<int64_t>(i) / 100, static_cast<int64_t>(i) % 100});
  }
  const auto size = static_cast<int64_t>(want.size() / 2);
  EXPECT_EQ(OnCpu<int64_t>(NonzeroStatic(Tensor::FromData(x, {100, 100}), size)), want);
}

TEST(OutOfRange, IndicesReadZeroAndWriteNothing) {
  const Tensor x = Tensor::FromData<float>({1, 2, 3}, {3});
  const Tensor i = Tensor::FromData<int64_t>({-1, 3, 1, INT64_MAX}, {4}), ones = Tensor::Ones({4});
  EXPECT_EQ(OnCpu<float>(Gather(x, 0, i)), (std::vector<float>{0, 0, 2, 0}));
  EXPECT_EQ(OnCpu<float>(ScatterAdd(x, 0, i, ones)), (std::vector<float>{1, 3, 3}));
  EXPECT_EQ(OnCpu<float>(Scatter(x, 0, i, ones)), (std::vector<float>{1, 1, 3}));
  EXPECT_EQ(OnCpu<int64_t>(Bincount(i, 2)), (std::vector<int64_t>{0, 1}));
}

TEST(Duplicates, TheLastWriteCounts) {
  const Tensor x = Tensor::FromData<float>({1, 2, 3}, {3}), src = Tensor::FromData<float>({7, 8, 9}, {3});
  const Tensor i = Tensor::FromData<int32_t>({2, 0, 2}, {3});
  EXPECT_EQ(OnCpu<float>(Scatter(x, 0, i, src)), (std::vector<float>{8, 2, 9}));
  EXPECT_EQ(OnCpu<float>(IndexCopy(x, 0, i, src)), (std::vector<float>{8, 2, 9}));
  // Only what is read has a gradient.
  EXPECT_EQ(OnCpu<float>(Gradients(Scatter(x, 0, i, src).Sum(), {src})[0]), (std::vector<float>{0, 1, 1}));
}

TEST(Creation, Likes) {
  const Tensor x = Tensor::FromData<float>({1, 2}, {2, 1});
  EXPECT_EQ(OnCpu<float>(FullLike(x, 3)), (std::vector<float>{3, 3}));
  EXPECT_EQ(OnCpu<int64_t>(OnesLike(x, dtypes::kInt64)), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(ZerosLike(x).shape(), x.shape());
  EXPECT_TRUE(ZerosLike(x).ConstantValue().has_value());
  EXPECT_EQ(EmptyLike(x, dtypes::kInt8).dtype(), dtypes::kInt8);
}

TEST(Families, Errors) {
  const auto text = [](const Tensor& t) { return std::string(t.status().message()); };
  const Tensor x = Tensor::FromData<float>({1, 2, 3, 4, 5, 6}, {2, 3}),
               i = Tensor::FromData<int64_t>({0, 1}, {2}), f = Tensor::FromData<float>({0, 1}, {2}),
               i2 = i.Reshape({2, 1}), none = Tensor::Zeros({2, 0});
  const Tensor bad = x.Reshape({7});
  EXPECT_THAT(text(Gather(x, 2, i2)), HasSubstr("Gather: axis 2 is outside a tensor of rank 2"));
  EXPECT_THAT(text(Gather(x, 0, f.Reshape({2, 1}))), HasSubstr("index of dtype f32, expected integers"));
  EXPECT_THAT(text(Gather(x, 0, i)),
              HasSubstr("index of shape [2] for a tensor of shape [2,3], expected equal ranks"));
  EXPECT_THAT(text(Gather(x, 1, i2.Expand({2, 2}).Reshape({4, 1}))),
              HasSubstr("is larger than [2,3] at axis 0"));
  EXPECT_THAT(text(IndexSelect(x, 0, i2)), HasSubstr("expected a list"));
  EXPECT_THAT(text(Scatter(x, 0, i2, x.Cast(dtypes::kFloat64))), HasSubstr("source of dtype f64 into f32"));
  EXPECT_THAT(text(Scatter(x, 0, i2, f)), HasSubstr("source of shape [2], expected rank 2"));
  EXPECT_THAT(text(IndexAdd(x, 0, i, f)), HasSubstr("source of f32[2], expected f32[2,3]"));
  EXPECT_THAT(text(IndexFill(Tensor::Zeros({2}, {dtypes::kInt8}), 0, i, 300)),
              HasSubstr("number 300 does not fit i8"));
  EXPECT_THAT(text(NonzeroStatic(x, -1)), HasSubstr("size -1"));
  EXPECT_THAT(text(MaskedSelectStatic(x, x, 2).values), HasSubstr("mask of dtype f32, expected bool"));
  EXPECT_THAT(text(Searchsorted(x, f)), HasSubstr("expected equal leading axes"));
  EXPECT_THAT(text(Bucketize(f, x)), HasSubstr("boundaries of shape [2,3], expected a list"));
  EXPECT_THAT(text(Histc(i)), HasSubstr("dtype i64, expected a float"));
  EXPECT_THAT(text(Bincount(i2, 3)), HasSubstr("expected lists of equal length"));
  EXPECT_THAT(text(Cumsum(x, 5)), HasSubstr("Cumsum: axis 5"));
  EXPECT_THAT(text(Cumsum(x, 0, dtypes::kBool)), HasSubstr("dtype bool"));
  EXPECT_THAT(text(Logcumsumexp(i, 0)), HasSubstr("dtype i64, expected a float"));
  EXPECT_THAT(text(Diff(Tensor::Zeros({}))), HasSubstr("rank 0"));
  EXPECT_THAT(text(Trapezoid(x, f, 1)), HasSubstr("places of shape [2] for axis 1 of [2,3]"));
  EXPECT_THAT(text(Topk(x, 4).values), HasSubstr("4 elements of an axis of 3"));
  EXPECT_THAT(text(Kthvalue(x, 0).values), HasSubstr("element 0 of an axis of 3, expected 1 to its size"));
  EXPECT_THAT(text(Median(none, 1).values), HasSubstr("has no elements"));
  EXPECT_THAT(text(Sort(x, -3).values), HasSubstr("Sort: axis -3"));
  EXPECT_THAT(text(Argmax(none, 1)), HasSubstr("has no elements, expected at least one"));
  EXPECT_THAT(text(Argmin(none)), HasSubstr("has no elements"));
  EXPECT_THAT(text(Var(i)), HasSubstr("Var: dtype i64, expected floats"));
  EXPECT_THAT(text(Any(x, {0, 0})), HasSubstr("axis 0 appears twice"));
  EXPECT_THAT(text(Vander(x)), HasSubstr("expected a list"));
  EXPECT_THAT(text(Logspace(0, 1, 3, -1)), HasSubstr("base -1"));
  EXPECT_THAT(text(TrilIndices(-1, 2)), HasSubstr("-1 rows"));
  // The first error is passed on.
  for (const Tensor& t :
       {Gather(bad, 0, i), Take(x, bad), ScatterAdd(x, 0, i2, bad), IndexFill(bad, 0, i, 1), Cumsum(bad, 0),
        Cummax(bad, 0).indices, Sort(bad).values, Topk(bad, 1).indices, Logsumexp(bad), Std(bad), Any(bad),
        Max(bad, 0).values, Diff(x, 1, 0, &bad), Searchsorted(x, bad), Histc(bad), NonzeroStatic(bad, 2),
        Median(bad), Vander(bad), FullLike(bad, 1)}) {
    EXPECT_THAT(text(t), HasSubstr("Reshape"));
  }
}

}  // namespace
}  // namespace understudy
