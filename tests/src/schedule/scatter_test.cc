// SPDX-License-Identifier: Apache-2.0
// Sums (products, extrema, counts) whose terms name the place that they go to run as one ordered pass over
// the terms: the values of a plain loop, bit for bit, on every device; and their cost is that of places and
// terms, not of their pairs.
#include "src/schedule/scatter.h"

#include <cmath>
#include <cstdio>

#include "src/render/render.h"
#include "src/runtime/null/null_device.h"
#include "src/tensor/embedding.h"
#include "src/tensor/gather.h"
#include "src/tensor/indexing.h"
#include "tests/src/schedule/mini_engine.h"
#include "tests/src/schedule/storage_devices.h"

namespace understudy {
namespace {

using ::testing::HasSubstr;

uint32_t Hash(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ (x >> 16);
}
std::vector<float> Floats(int64_t n, uint32_t seed) {
  std::vector<float> v;
  for (int64_t i = 0; i < n; ++i)
    v.push_back(static_cast<float>(Hash(static_cast<uint32_t>(i) * 31 + seed) % 20011) / 997.0f - 10.0f);
  return v;
}
// Some out of [0, n) on both sides.
std::vector<int32_t> Indices(int64_t count, int64_t n, uint32_t seed, int outside = 3) {
  std::vector<int32_t> v;
  for (int64_t i = 0; i < count; ++i) {
    v.push_back(static_cast<int32_t>(Hash(static_cast<uint32_t>(i) * 17 + seed) % (n + 2 * outside)) -
                outside);
  }
  return v;
}

class ScatterTest : public StorageTest {
 protected:
  Tensor I32(std::vector<int32_t> data, Shape shape) {
    return Tensor::FromData<int32_t>(data, std::move(shape), d0);
  }
  template <class T>
  std::vector<T> Data(Tensor t) {
    auto data = engine->Data<T>(t);
    EXPECT_TRUE(data.ok()) << data.status();
    return data.ok() ? *std::move(data) : std::vector<T>();
  }
};
constexpr int64_t kRows = 700, kCols = 5, kTerms = 150;

TEST_P(ScatterTest, EmbeddingGradientAddsTheTermsInOrder) {
  const std::vector<int32_t> index = Indices(kTerms, kRows, 1, 0);
  const std::vector<float> g = Floats(kTerms * kCols, 2);
  Tensor w = F32(Floats(kRows * kCols, 3), {kRows, kCols});
  const Tensor y = Embedding(I32(index, {10, kTerms / 10}), w);
  const Tensor loss = (y * F32(g, {10, kTerms / 10, kCols})).Sum();
  std::vector<float> want(kRows * kCols, 0.0f);
  for (int64_t i = 0; i < kTerms; ++i) {
    for (int64_t c = 0; c < kCols; ++c) want[index[i] * kCols + c] += g[i * kCols + c];
  }
  EXPECT_EQ(Get(Gradients(loss, {w})[0]), want);
}

TEST_P(ScatterTest, GradientsOfGathersAndAdvancedIndexing) {
  const std::vector<float> g = Floats(kTerms * kCols, 4);
  const Tensor x = F32(Floats(kRows * kCols, 5), {kRows, kCols}), gt = F32(g, {kTerms, kCols});
  // Every column has indices of its own.
  const std::vector<int32_t> each = Indices(kTerms * kCols, kRows, 6);
  std::vector<float> want(kRows * kCols, 0.0f);
  for (int64_t i = 0; i < kTerms; ++i) {
    for (int64_t c = 0; c < kCols; ++c) {
      const int32_t row = each[i * kCols + c];
      if (row >= 0 && row < kRows) want[row * kCols + c] += g[i * kCols + c];
    }
  }
  const Tensor gathered = Gather(x, 0, I32(each, {kTerms, kCols}));
  EXPECT_EQ(Get(Gradients((gathered * gt).Sum(), {x})[0]), want);

  const std::vector<int32_t> rows = Indices(kTerms, kRows, 7);
  want.assign(kRows * kCols, 0.0f);
  for (int64_t i = 0; i < kTerms; ++i) {
    for (int64_t c = 0; c < kCols; ++c) {
      if (rows[i] >= 0 && rows[i] < kRows) want[rows[i] * kCols + c] += g[i * kCols + c];
    }
  }
  EXPECT_EQ(Get(Gradients((IndexSelect(x, 0, I32(rows, {kTerms})) * gt).Sum(), {x})[0]), want);

  // Two index tensors; negative ones count from the end.
  const std::vector<int32_t> r = Indices(kTerms, kRows, 8, 0), c = Indices(kTerms, kCols, 9, 0);
  std::vector<int32_t> from_end = c;
  for (int32_t& i : from_end) i -= kCols;
  want.assign(kRows * kCols, 0.0f);
  for (int64_t i = 0; i < kTerms; ++i) want[r[i] * kCols + c[i]] += g[i];
  const Tensor picked = IndexBy(x, {I32(r, {kTerms}), I32(from_end, {kTerms})});
  EXPECT_EQ(Get(Gradients((picked * F32({g.begin(), g.begin() + kTerms}, {kTerms})).Sum(), {x})[0]), want);
}

TEST_P(ScatterTest, WritesByIndex) {
  const std::vector<float> x = Floats(kRows * kCols, 10), s = Floats(kTerms * kCols, 11);
  const std::vector<int32_t> index = Indices(kTerms, kRows, 12);
  const Tensor xt = F32(x, {kRows, kCols}), st = F32(s, {kTerms, kCols}), it = I32(index, {kTerms}),
               wide = it.Unsqueeze(1).Expand({kTerms, kCols});
  std::vector<float> sums(kRows * kCols, 0.0f), last = x, most(kRows * kCols, -INFINITY),
                                                product(kRows * kCols, 1.0f), filled = x;
  std::vector<int64_t> counts(kRows, 0);
  for (int64_t i = 0; i < kTerms; ++i) {
    if (index[i] < 0 || index[i] >= kRows) continue;
    ++counts[index[i]];
    for (int64_t c = 0; c < kCols; ++c) {
      const int64_t at = index[i] * kCols + c;
      const float v = s[i * kCols + c];
      sums[at] += v, last[at] = v, most[at] = std::max(most[at], v), product[at] *= v, filled[at] = 7;
    }
  }
  std::vector<float> added(x.size()), best(x.size()), times(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    added[i] = x[i] + sums[i], best[i] = std::max(most[i], x[i]), times[i] = x[i] * product[i];
  }
  EXPECT_EQ(Get(ScatterAdd(xt, 0, wide, st)), added);
  EXPECT_EQ(Get(IndexAdd(xt, 0, it, st)), added);
  EXPECT_EQ(Get(Scatter(xt, 0, wide, st)), last);
  EXPECT_EQ(Get(Scatter(xt, 0, wide, 7)), filled);
  EXPECT_EQ(Get(ScatterReduce(xt, 0, wide, st, ScatterMode::kProd)), times);
  EXPECT_EQ(Get(ScatterReduce(xt, 0, wide, st, ScatterMode::kAmax)), best);
  EXPECT_EQ(Data<int64_t>(Bincount(it, kRows)), counts);
  const std::vector<int32_t> inside = Indices(kTerms, kRows, 13, 0);
  std::vector<float> put = x, accumulated = x;
  std::vector<float> sum(kRows * kCols, 0.0f);
  for (int64_t i = 0; i < kTerms; ++i) {
    for (int64_t c = 0; c < kCols; ++c) {
      put[inside[i] * kCols + c] = s[i * kCols + c];
      sum[inside[i] * kCols + c] += s[i * kCols + c];
    }
  }
  for (size_t i = 0; i < x.size(); ++i) accumulated[i] += sum[i];
  EXPECT_EQ(Get(IndexPut(xt, {I32(inside, {kTerms})}, st)), put);
  EXPECT_EQ(Get(IndexPut(xt, {I32(inside, {kTerms})}, st, true)), accumulated);
}

TEST_P(ScatterTest, NarrowFloatsAccumulateInF32) {
  const std::vector<int32_t> index = Indices(kTerms, kRows, 14, 0);
  const std::vector<float> s = Floats(kTerms * kCols, 15);
  const Tensor half = F32(s, {kTerms, kCols}).Cast(dtypes::kFloat16).Contiguous();
  std::vector<float> rounded = Get(half.Cast(dtypes::kFloat32)), sums(kRows * kCols, 0.0f);
  for (int64_t i = 0; i < kTerms; ++i) {
    for (int64_t c = 0; c < kCols; ++c) sums[index[i] * kCols + c] += rounded[i * kCols + c];
  }
  const Tensor zeros = Tensor::Zeros({kRows, kCols}, {dtypes::kFloat16, d0});
  const std::vector<float> got = Get(IndexAdd(zeros, 0, I32(index, {kTerms}), half).Cast(dtypes::kFloat32));
  EXPECT_EQ(got, Get(F32(sums, {kRows, kCols}).Cast(dtypes::kFloat16).Cast(dtypes::kFloat32)));
}

TEST_P(ScatterTest, IntoWhatTheTermsReadIsDoneAside) {
  // x += scatter of x itself: the storage that is written is read by the terms.
  std::vector<float> x = Floats(kRows * kCols, 16);
  const std::vector<int32_t> index = Indices(kRows, kRows, 17);
  Tensor t = F32(x, {kRows, kCols});
  ASSERT_TRUE(Realize({t}).ok());
  const Tensor zeros = Tensor::Zeros({kRows, kCols}, {dtypes::kFloat32, d0});
  t.Assign(ScatterAdd(zeros, 0, I32(index, {kRows}).Unsqueeze(1).Expand({kRows, kCols}), t));
  std::vector<float> want(kRows * kCols, 0.0f);
  for (int64_t i = 0; i < kRows; ++i) {
    if (index[i] < 0 || index[i] >= kRows) continue;
    for (int64_t c = 0; c < kCols; ++c) want[index[i] * kCols + c] += x[i * kCols + c];
  }
  EXPECT_EQ(Get(t), want);
}

// Sums of floats add each part's sources in their order, then the parts: here 4100 sources into 64 places are
// cut into 50 parts.
TEST_P(ScatterTest, OneLongAxisIsCutIntoPartsOfAKnownOrder) {
  constexpr int64_t kSources = 4100, kPlaces = 64, kParts = 50;
  const std::vector<int32_t> index = Indices(kSources, kPlaces, 21);
  const std::vector<float> s = Floats(kSources, 22), x = Floats(kPlaces, 23);
  std::vector<float> parts(kParts * kPlaces, 0.0f), sums(kPlaces, 0.0f), last = x, most = x, least = x;
  std::vector<int64_t> counts(kPlaces, 0);
  for (int64_t i = 0; i < kSources; ++i) {
    const int32_t at = index[i];
    if (at < 0 || at >= kPlaces) continue;
    parts[i / (kSources / kParts) * kPlaces + at] += s[i];
    ++counts[at], last[at] = s[i], most[at] = std::max(most[at], s[i]), least[at] = std::min(least[at], s[i]);
  }
  for (int64_t i = 0; i < kParts * kPlaces; ++i) sums[i % kPlaces] += parts[i];
  const Tensor it = I32(index, {kSources}), st = F32(s, {kSources}), xt = F32(x, {kPlaces});
  EXPECT_EQ(Get(Bincount(it, kPlaces, &st)), sums);
  EXPECT_EQ(Data<int64_t>(Bincount(it, kPlaces)), counts);
  EXPECT_EQ(Get(Scatter(xt, 0, it, st)), last);
  EXPECT_EQ(Get(ScatterReduce(xt, 0, it, st, ScatterMode::kAmax)), most);
  EXPECT_EQ(Get(ScatterReduce(xt, 0, it, st, ScatterMode::kAmin)), least);
}

TEST_P(ScatterTest, LengthsThatNoNumberOfPartsDivides) {
  constexpr int64_t kSources = 4099, kPlaces = 64;  // a prime
  const std::vector<int32_t> index = Indices(kSources, kPlaces, 24);
  std::vector<int64_t> counts(kPlaces, 0);
  for (const int32_t i : index) {
    if (i >= 0 && i < kPlaces) ++counts[i];
  }
  EXPECT_EQ(Data<int64_t>(Bincount(I32(index, {kSources}), kPlaces)), counts);
}

// All that are equal to the extreme, the place's own element among them, share its gradient evenly.
TEST_P(ScatterTest, GradientsOfExtremaAreSharedEvenly) {
  const std::vector<int32_t> index = Indices(kTerms, kRows, 25);
  std::vector<float> x = Floats(kRows, 26), s = Floats(kTerms, 27);
  for (float& v : x) v = std::round(v / 5);
  for (float& v : s) v = std::round(v / 5);
  const Tensor it = I32(index, {kTerms}), g = F32(Floats(kRows, 28), {kRows});
  const std::vector<float> gv = Floats(kRows, 28);
  for (const bool self : {true, false}) {
    Tensor xt = F32(x, {kRows}), st = F32(s, {kTerms});
    std::vector<float> best = x, count(kRows, self ? 1.0f : 0.0f), gx(kRows, 0.0f), gs(kTerms, 0.0f);
    std::vector<bool> hit(kRows, false);
    for (int64_t i = 0; i < kTerms; ++i) {
      const int32_t at = index[i];
      if (at < 0 || at >= kRows) continue;
      if ((!self && !hit[at]) || s[i] > best[at]) {
        best[at] = s[i], count[at] = 1;
      } else if (s[i] == best[at]) {
        ++count[at];
      }
      hit[at] = true;
    }
    for (int64_t v = 0; v < kRows; ++v) {
      if (self) gx[v] = x[v] == best[v] ? gv[v] / count[v] : 0.0f;
      if (!self) gx[v] = hit[v] ? 0.0f : gv[v];
    }
    for (int64_t i = 0; i < kTerms; ++i) {
      const int32_t at = index[i];
      if (at >= 0 && at < kRows && s[i] == best[at]) gs[i] = gv[at] / count[at];
    }
    const Tensor y = ScatterReduce(xt, 0, it, st, ScatterMode::kAmax, self);
    const std::vector<Tensor> slopes = Gradients((y * g).Sum(), {xt, st});
    EXPECT_EQ(Get(slopes[0]), gx) << self;
    EXPECT_EQ(Get(slopes[1]), gs) << self;
  }
}

UNDERSTUDY_STORAGE_DEVICES(ScatterTest);

// --- Cost ---

struct Cost {
  NullStats stats;
  std::string schedule;
};
NullStats Count(const std::vector<Tensor*>& tensors, const std::shared_ptr<NullDevice>& null,
                Engine& engine) {
  null->ResetStats();
  const absl::Status s = engine.Realize(tensors);
  EXPECT_TRUE(s.ok()) << s;
  return null->stats();
}

TEST(ScatterCost, IsThatOfPlacesAndTermsNotOfTheirPairs) {
  const auto null = std::make_shared<NullDevice>(HostTarget());
  DeviceRegistry devices;
  devices.Register(null);
  Engine engine(devices);
  constexpr int64_t kVocabulary = 50000, kWidth = 768, kTokens = 1000;
  Tensor w = Tensor::Empty({kVocabulary, kWidth}, {dtypes::kFloat32, "NULL"});
  Tensor tokens = Tensor::FromData<int32_t>(Indices(kTokens, kVocabulary, 1, 0), {kTokens}, "NULL");
  Tensor g = Tensor::FromData<float>(std::vector<float>(kTokens * kWidth), {kTokens, kWidth}, "NULL");
  w.Assign(Tensor::Zeros({kVocabulary, kWidth}, {dtypes::kFloat32, "NULL"}));
  ASSERT_TRUE(engine.Realize({&w, &tokens, &g}).ok());
  Tensor slope = Gradients((Embedding(tokens, w) * g).Sum(), {w})[0];
  const NullStats s = Count({&slope}, null, engine);
  std::printf("embedding of %ld x %ld, %ld tokens: its gradient is %s\n", static_cast<long>(kVocabulary),
              static_cast<long>(kWidth), static_cast<long>(kTokens), s.Text().c_str());
  EXPECT_LE(s.kernels, 3);
  // An addition and a multiplication for each term; comparing pairs took 50000 times that.
  EXPECT_LE(s.flops, 4 * kTokens * kWidth);
  EXPECT_LE(s.bytes_written, 2 * 4 * kVocabulary * kWidth + 4 * kTokens * kWidth);
}

TEST(ScatterCost, ReductionsOfEveryModeAlongOneAxis) {
  const auto null = std::make_shared<NullDevice>(HostTarget());
  DeviceRegistry devices;
  devices.Register(null);
  Engine engine(devices);
  constexpr int64_t kPlaces = 1000, kSources = 100000;
  const TensorOptions f32{dtypes::kFloat32, "NULL"};
  Tensor x = Tensor::Empty({kPlaces}, f32), s = Tensor::Empty({kSources}, f32);
  x.Assign(Tensor::Zeros({kPlaces}, f32)), s.Assign(Tensor::Zeros({kSources}, f32));
  Tensor i = Tensor::FromData<int32_t>(Indices(kSources, kPlaces, 1, 0), {kSources}, "NULL");
  ASSERT_TRUE(engine.Realize({&x, &s, &i}).ok());
  const std::pair<const char*, ScatterMode> modes[] = {{"sum", ScatterMode::kSum},
                                                       {"prod", ScatterMode::kProd},
                                                       {"mean", ScatterMode::kMean},
                                                       {"amax", ScatterMode::kAmax},
                                                       {"amin", ScatterMode::kAmin}};
  for (const auto& [name, mode] : modes) {
    for (const bool self : {true, false}) {
      Tensor y = ScatterReduce(x, 0, i, s, mode, self);
      const NullStats stats = Count({&y}, null, engine);
      std::printf("%s%s: %s\n", name, self ? "" : " alone", stats.Text().c_str());
      // 64 copies of the places, and a few operations for each of those and of the sources.
      EXPECT_LE(stats.flops, 6 * (kSources + 64 * kPlaces)) << name << self;
      EXPECT_LE(stats.bytes_written, 40 * (kSources + 64 * kPlaces)) << name << self;
      EXPECT_LE(stats.kernels, 9) << name << self;
    }
  }
}

TEST(ScatterCost, SmallOnesStayOneKernel) {
  MiniEngine e;
  const Tensor x = Tensor::FromData<float>(Floats(40 * 3, 1), {40, 3});
  const Tensor i = Tensor::FromData<int32_t>(Indices(20, 40, 2, 0), {20});
  const auto v = e.Values(IndexAdd(x, 0, i, Tensor::FromData<float>(Floats(60, 3), {20, 3})));
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(e.kernels, 1);
}

TEST(ScatterCost, FewPlacesOrUnnamedTermsAreNoScatter) {
  // 4 places; and terms that a comparison picks by something that does not vary with all of them.
  const Tensor x = Tensor::FromData<float>(Floats(100000, 1), {100000});
  const Tensor i = Tensor::FromData<int32_t>(Indices(100000, 4, 2, 0), {100000});
  MiniEngine e;
  ASSERT_TRUE(e.Realize({Bincount(i, 4)}).ok());
  EXPECT_THAT(ScheduleText(e.last_schedule), ::testing::Not(HasSubstr(" s_")));
  const Tensor groups = Tensor::FromData<int32_t>(Indices(100, 64, 3, 0), {100, 1, 1});
  const Tensor hit = groups.Eq(Tensor::Arange(0, 64, 1, {dtypes::kInt32}).Reshape({1, 1, 64}));
  const Tensor both = Where(hit, x.Shrink({{0, 5000}}).Reshape({100, 50, 1}), 0.0).Sum({0, 1});
  ASSERT_TRUE(e.Realize({both}).ok());
  EXPECT_THAT(ScheduleText(e.last_schedule), ::testing::Not(HasSubstr(" s_")));
}

}  // namespace
}  // namespace understudy
