// SPDX-License-Identifier: Apache-2.0
// All-reduce as algorithms: which one is taken, what it gives, and exactly how many bytes go from which
// device to which; and what the stage refuses.
#include "src/schedule/multi.h"

#include <cmath>

#include "src/schedule/call.h"
#include "src/uop/build.h"
#include "tests/src/tensor/shard_devices.h"

namespace understudy {
namespace {

using testing::HasSubstr;

constexpr AllReduceKind kKinds[] = {AllReduceKind::kNaive, AllReduceKind::kTree, AllReduceKind::kRing};

EngineOptions With(AllReduceKind kind) {
  EngineOptions o;
  o.multi.all_reduce.kind = kind;
  return o;
}

std::map<std::string, int64_t> BytesOut(const EngineStats& stats) {
  std::map<std::string, int64_t> out;
  for (const auto& [link, bytes] : stats.bytes_between) out[link.first] += bytes;
  return out;
}

TEST(AllReduce, EveryAlgorithmReducesExactly) {
  for (const AllReduceKind kind : kKinds) {
    for (const size_t n : {2, 3, 4, 5}) {
      SCOPED_TRACE(absl::StrCat(AllReduceName(kind), " over ", n));
      ShardDevices d("REF", 5, With(kind));
      // Elements that divide by the devices, do not, and are fewer.
      for (const int64_t width : {12, 7, 2}) {
        const Tensor x = d.Whole({11, width}, 3, dtypes::kInt32), s = Shard(x, d.First(n), 0);
        ExpectSame(d, s.Sum({0}), x.Sum({0}));
        ExpectSame(d, s.Prod({0}), x.Prod({0}));
        ExpectSame(d, s.Max({0}), x.Max({0}));
        ExpectSame(d, s.Min({0}), x.Min({0}));
        ExpectSame(d, s.Gt(3).Max({0}), x.Gt(3).Max({0}));    // or
        ExpectSame(d, s.Gt(-4).Min({0}), x.Gt(-4).Min({0}));  // and
        // All devices hold the result.
        const Tensor sum = s.Sum({0});
        for (size_t i = 0; i < n; ++i) ExpectSame(d, ShardOf(sum, static_cast<int64_t>(i)), x.Sum({0}));
      }
    }
  }
}

// With results of B bytes: naive B from every device to every other; ring 2 (n-1)/n B out of every device, to
// its neighbour only; tree 2 (n-1) B in all.
TEST(AllReduce, BytesOnEveryLink) {
  for (const size_t n : {2, 3, 4}) {
    const auto m = static_cast<int64_t>(n);
    for (const AllReduceKind kind : kKinds) {
      SCOPED_TRACE(absl::StrCat(AllReduceName(kind), " over ", n));
      ShardDevices d("REF", 4, With(kind));
      const int64_t width = 24, bytes = width * 4;
      Tensor s = Shard(d.Whole({8, width}), d.First(n), 0);
      ASSERT_TRUE(d.Realize({s}).ok());
      d.engine->ResetStats();
      ASSERT_TRUE(d.Realize({s.Sum({0})}).ok());
      const EngineStats& stats = d.engine->stats();
      const auto out = BytesOut(stats);
      if (kind == AllReduceKind::kRing) {
        EXPECT_EQ(stats.bytes_between.size(), n);
        for (size_t i = 0; i < n; ++i) {
          EXPECT_EQ(out.at(d.names[i]), 2 * (m - 1) * bytes / m);
          EXPECT_EQ(stats.bytes_between.at({d.names[i], d.names[(i + 1) % n]}), 2 * (m - 1) * bytes / m);
        }
        EXPECT_EQ(stats.copies, 2 * m * (m - 1));
      } else if (kind == AllReduceKind::kNaive) {
        EXPECT_EQ(stats.bytes_between.size(), n * (n - 1));
        for (const auto& [link, sent] : stats.bytes_between) EXPECT_EQ(sent, bytes);
      } else {
        EXPECT_EQ(stats.bytes_copied, 2 * (m - 1) * bytes);
        EXPECT_EQ(stats.copies, 2 * (m - 1));
      }
    }
  }
}

TEST(AllReduce, GatheringMovesEachPartOnce) {
  ShardDevices d;
  Tensor s = Shard(d.Whole({8, 3}), d.names, 0);
  ASSERT_TRUE(d.Realize({s}).ok());
  d.engine->ResetStats();
  ASSERT_TRUE(d.Realize({Unshard(s, "REF:1")}).ok());
  EXPECT_EQ(d.engine->stats().bytes_copied, 3 * 2 * 3 * 4);
  d.engine->ResetStats();
  ASSERT_TRUE(d.Realize({Replicate(s, d.names)}).ok());
  EXPECT_EQ(d.engine->stats().bytes_copied, 4 * 3 * 2 * 3 * 4);
  d.engine->ResetStats();
  // Rows to columns: every device keeps its own share of its rows.
  ASSERT_TRUE(d.Realize({Shard(d.Whole({8, 4}), d.names, 0)}).ok());
  Tensor rows = Shard(d.Whole({8, 4}), d.names, 0);
  ASSERT_TRUE(d.Realize({rows}).ok());
  d.engine->ResetStats();
  ASSERT_TRUE(d.Realize({Shard(rows, d.names, 1)}).ok());
  EXPECT_EQ(d.engine->stats().bytes_copied, 4 * 3 * 2 * 1 * 4);
}

// What only parts are wanted of is reduced for each device's own part.
TEST(ReduceScatter, EveryAlgorithmReducesExactly) {
  for (const AllReduceKind kind : kKinds) {
    for (const size_t n : {2, 3, 4, 5}) {
      SCOPED_TRACE(absl::StrCat(AllReduceName(kind), " over ", n));
      ShardDevices d("REF", 5, With(kind));
      for (const int64_t width : {12, 7, 2}) {
        const Tensor x = d.Whole({11, width}, 3, dtypes::kInt32), s = Shard(x, d.First(n), 0);
        const Tensor w = d.Whole({width}, 5, dtypes::kInt32), ws = Shard(w, d.First(n), 0);
        ExpectSame(d, s.Sum({0}) * 3 + ws, x.Sum({0}) * 3 + w);
        ExpectSame(d, ws - s.Max({0}), w - x.Max({0}));
        ExpectSame(d, Shard(s.Min({0}), d.First(n), 0), x.Min({0}));
        // Turned over on the way, and along an axis that a view makes.
        ExpectSame(d, s.Sum({0}, true).Transpose().Flatten() + ws, x.Sum({0}) + w);
        // Of one run all of it and parts: the same values.
        const Tensor sum = s.Sum({0}), part = sum + ws;
        Tensor whole = sum.Cast(dtypes::kInt64);
        ASSERT_TRUE(d.Realize({part, whole}).ok());
        ExpectSame(d, part, x.Sum({0}) + w);
        ExpectSame(d, whole, x.Sum({0}).Cast(dtypes::kInt64));
      }
    }
  }
}

TEST(ReduceScatter, BytesOnEveryLink) {
  for (const size_t n : {2, 3, 4}) {
    const auto m = static_cast<int64_t>(n);
    for (const AllReduceKind kind : {AllReduceKind::kNaive, AllReduceKind::kRing}) {
      for (const bool cut : {false, true}) {
        SCOPED_TRACE(absl::StrCat(AllReduceName(kind), " over ", n, cut ? " cut" : " met"));
        ShardDevices d("REF", 4, With(kind));
        const int64_t width = 24, bytes = width * 4;
        Tensor s = Shard(d.Whole({8, width}), d.First(n), 0), w = Shard(d.Whole({width}), d.First(n), 0);
        ASSERT_TRUE(d.Realize({s, w}).ok());
        d.engine->ResetStats();
        ASSERT_TRUE(d.Realize({cut ? Shard(s.Sum({0}), d.First(n), 0) : s.Sum({0}) + w}).ok());
        const EngineStats& stats = d.engine->stats();
        const auto out = BytesOut(stats);
        for (size_t i = 0; i < n; ++i) EXPECT_EQ(out.at(d.names[i]), (m - 1) * bytes / m);
        if (kind == AllReduceKind::kNaive) {
          EXPECT_EQ(stats.bytes_between.size(), n * (n - 1));
        } else {
          EXPECT_EQ(stats.bytes_between.size(), n);
          for (size_t i = 0; i < n; ++i)
            EXPECT_EQ(stats.bytes_between.at({d.names[i], d.names[(i + 1) % n]}), (m - 1) * bytes / m);
        }
      }
    }
  }
}

// The order of the sum that the header states.
TEST(ReduceScatter, FloatSumsKeepTheirOrder) {
  constexpr int kRows = 9, kWidth = 10;
  std::vector<float> v;
  uint32_t state = 7;
  for (int i = 0; i < kRows * kWidth; ++i) {
    state = state * 1664525u + 1013904223u;
    v.push_back((static_cast<float>(state >> 8) / (1 << 24) - 0.5f) *
                std::exp2f(static_cast<float>(state % 13)));
  }
  for (const AllReduceKind kind : {AllReduceKind::kNaive, AllReduceKind::kRing}) {
    const size_t n = 3;
    ShardDevices d("REF", 3, With(kind));
    const Tensor s = Shard(Tensor::FromData(v, {kRows, kWidth}, "REF:0"), d.First(n), 0);
    const std::vector<double> got = d.Values(Shard(s.Sum({0}), d.First(n), 0));
    const Sharding parts = EvenSharding(d.First(n), 0, kWidth);
    for (int c = 0; c < kWidth; ++c) {
      float partial[n] = {};
      for (int r = 0; r < kRows; ++r) partial[r / 3] += v[static_cast<size_t>(r) * kWidth + c];
      size_t to = 0;
      while (c >= parts.parts[to].end) ++to;
      const size_t start = kind == AllReduceKind::kRing ? to + 1 : 0;
      float want = partial[start % n];
      for (size_t k = 1; k < n; ++k) want += partial[(start + k) % n];
      EXPECT_EQ(static_cast<float>(got[c]), want) << AllReduceName(kind) << " column " << c;
    }
  }
}

TEST(ReduceScatter, GradientsAndStepsEqualOneDevice) {
  for (const AllReduceKind kind : kKinds) {
    SCOPED_TRACE(AllReduceName(kind));
    ShardDevices d("REF", 4, With(kind));
    const Tensor x = d.Whole({8, 6}, 1), y = d.Whole({8, 4}, 2), w = d.Whole({6, 4}, 3),
                 m = d.Whole({6, 4}, 4);
    // Data in parallel, parameters and momentum in parts: the parameter is gathered, its gradient scattered.
    const auto step = [&](const Tensor& in, const Tensor& target, Tensor weight, Tensor moment, bool spread) {
      const Tensor whole = spread ? Replicate(weight, d.names) : weight;
      const Tensor error = in.Matmul(whole) - target;
      const Tensor g = Gradients((error * error).Sum(), {weight})[0];
      moment.Assign(moment * 2 + g);
      weight.Assign(weight - moment);
      return std::vector<Tensor>{weight, moment};
    };
    Tensor w1 = w.Clone(), m1 = m.Clone();
    const auto one = step(x, y, w1, m1, false);
    Tensor ws = Shard(w, d.names, 0), ms = Shard(m, d.names, 0);
    Tensor xs = Shard(x, d.names, 0), ys = Shard(y, d.names, 0);
    ASSERT_TRUE(d.Realize({ws, ms, xs, ys}).ok());
    const auto parts = step(xs, ys, ws, ms, true);
    ASSERT_TRUE(d.Realize({parts[0], parts[1]}).ok());
    ExpectSame(d, parts[0], one[0]);
    ExpectSame(d, parts[1], one[1]);
    // The gradient of a cut of a sum.
    const Tensor weights = d.Whole({6}, 7), ws6 = Shard(weights, d.names, 0);
    const Tensor gs = Gradients((Shard(xs.Sum({0}), d.names, 0) * ws6).Sum(), {xs})[0];
    ExpectSame(d, gs, Gradients((x.Sum({0}) * weights).Sum(), {x})[0]);
  }
}

TEST(AllGather, RingsTakeNeighboursOnly) {
  for (const size_t n : {3, 4}) {
    ShardDevices d("REF", 4, With(AllReduceKind::kRing));
    Tensor s = Shard(d.Whole({10, 3}), d.First(n), 0);
    ASSERT_TRUE(d.Realize({s}).ok());
    d.engine->ResetStats();
    Tensor all = Replicate(s, d.First(n));
    ASSERT_TRUE(d.Realize({all}).ok());
    const EngineStats& stats = d.engine->stats();
    EXPECT_EQ(stats.bytes_between.size(), n);
    for (const auto& [link, sent] : stats.bytes_between) {
      const auto from = static_cast<size_t>(link.first.back() - '0');
      EXPECT_EQ(link.second, d.names[(from + 1) % n]);
    }
    EXPECT_EQ(stats.bytes_copied, static_cast<int64_t>(n - 1) * 10 * 3 * 4);
    for (size_t i = 0; i < n; ++i) ExpectSame(d, ShardOf(all, static_cast<int64_t>(i)), d.Whole({10, 3}));
  }
}

TEST(AllReduce, TheChoiceFollowsDevicesAndBytes) {
  const AllReduceOptions o;
  EXPECT_EQ(ChooseAllReduce(o, 1 << 30, 2), AllReduceKind::kNaive);
  EXPECT_EQ(ChooseAllReduce(o, o.naive_bytes, 8), AllReduceKind::kNaive);
  EXPECT_EQ(ChooseAllReduce(o, o.naive_bytes + 1, 8), AllReduceKind::kTree);
  EXPECT_EQ(ChooseAllReduce(o, o.tree_bytes, 3), AllReduceKind::kTree);
  EXPECT_EQ(ChooseAllReduce(o, o.tree_bytes + 1, 3), AllReduceKind::kRing);
  EXPECT_EQ(ChooseAllReduce({AllReduceKind::kTree}, 1 << 30, 2), AllReduceKind::kTree);
}

// Sums of n floats in any order differ from the exact sum by at most (n-1) u sum|x| (1 + O(u)), u = 2^-24;
// and the orders that the header states are those that are taken.
TEST(AllReduce, FloatSumsKeepTheirBoundAndTheirOrder) {
  constexpr int kRows = 37, kWidth = 10;
  std::vector<float> v;
  uint32_t state = 99;
  for (int i = 0; i < kRows * kWidth; ++i) {
    state = state * 1664525u + 1013904223u;
    v.push_back((static_cast<float>(state >> 8) / (1 << 24) - 0.5f) *
                std::exp2f(static_cast<float>(state % 13)));
  }
  for (const AllReduceKind kind : kKinds) {
    for (const size_t n : {2, 3, 4}) {
      SCOPED_TRACE(absl::StrCat(AllReduceName(kind), " over ", n));
      ShardDevices d("REF", 4, With(kind));
      const Tensor s = Shard(Tensor::FromData(v, {kRows, kWidth}, "REF:0"), d.First(n), 0);
      const std::vector<double> got = d.Values(s.Sum({0}));
      EXPECT_EQ(d.Values(s.Sum({0})), got);  // the same every time
      // Each device's own sum, row after row.
      std::vector<std::vector<float>> partial(n, std::vector<float>(kWidth));
      const auto bounds = ShardBounds(s);
      for (size_t i = 0; i < n; ++i) {
        for (int c = 0; c < kWidth; ++c) {
          for (int64_t r = bounds[i].first; r < bounds[i].second; ++r)
            partial[i][c] += v[static_cast<size_t>(r) * kWidth + c];
        }
      }
      const Sharding chunks = EvenSharding(d.First(n), 0, kWidth);
      for (int c = 0; c < kWidth; ++c) {
        const auto p = [&](size_t i) { return partial[i % n][c]; };
        float want = p(0);
        if (kind == AllReduceKind::kNaive) {
          for (size_t i = 1; i < n; ++i) want += p(i);
        } else if (kind == AllReduceKind::kTree) {
          want = n == 2 ? p(0) + p(1) : n == 3 ? (p(0) + p(1)) + p(2) : (p(0) + p(1)) + (p(2) + p(3));
        } else {
          size_t at = 0;
          while (c >= chunks.parts[at].end) ++at;
          want = p(at);
          for (size_t k = 1; k < n; ++k) want += p(at + k);
        }
        EXPECT_EQ(static_cast<float>(got[c]), want) << "column " << c;
        double exact = 0, magnitude = 0;
        for (int r = 0; r < kRows; ++r) {
          exact += v[r * kWidth + c];
          magnitude += std::abs(v[r * kWidth + c]);
        }
        EXPECT_LE(std::abs(got[c] - exact), kRows * std::exp2(-24.0) * magnitude);
      }
    }
  }
}

// A CONTIGUOUS is a second name of what is stored below it, for a transfer too.
TEST(Multi, AWrapperThatIsCopiedAndReadIsStoredOnce) {
  ShardDevices d;
  const Tensor x = d.Whole({5}), wrapped = (x * 2).Contiguous();
  const Tensor away = wrapped.To("REF:1"), read = wrapped * 3;
  ASSERT_TRUE(d.Realize({away, read}).ok());
  EXPECT_EQ(d.engine->stats().copies, 1);
  ExpectSame(d, away, x * 2);
  ExpectSame(d, read, x * 6);
}

TEST(Multi, GraphsOfOneDevicePassUnchanged) {
  const UOpRef x = uop::Neg(uop::NewBuffer(dtypes::kFloat32, 4, "REF:0"));
  const OutputRequest request{x, "REF:0"};
  const auto split = Split({&request, 1}, nullptr, nullptr);
  ASSERT_TRUE(split.ok());
  ASSERT_EQ(split->requests().size(), 1u);
  EXPECT_EQ(split->requests()[0].value, x);
  EXPECT_EQ(split->Join({x})[0], x);
}

TEST(Multi, WhatCannotMeetIsRefusedByName) {
  const auto buffer = [](int64_t n, const char* device) {
    return uop::NewBuffer(dtypes::kFloat32, n, device);
  };
  const auto error = [](const UOpRef& value) {
    const OutputRequest request{value, "A"};
    const auto split = Split({&request, 1}, nullptr, nullptr);
    EXPECT_FALSE(split.ok());
    return std::string(split.status().message());
  };
  const UOpRef ab = uop::Multi({buffer(2, "A"), buffer(2, "B")}, MultiArg{{"A", "B"}, 0, {0, 2}});
  const UOpRef ac = uop::Multi({buffer(2, "A"), buffer(2, "C")}, MultiArg{{"A", "C"}, 0, {0, 2}});
  EXPECT_THAT(error(uop::Add(ab, ac)), HasSubstr("ADD of values on devices A,B and A,C"));
  EXPECT_THAT(error(uop::Add(ab, buffer(4, "A"))), HasSubstr("ADD of values on devices A,B and A"));
  EXPECT_THAT(error(uop::Multi({buffer(2, "A"), buffer(2, "C")}, MultiArg{{"A", "B"}, 0, {0, 2}})),
              HasSubstr("MULTI: source 1 is on C, expected B"));
  EXPECT_THAT(error(uop::Assign(buffer(4, "A,B"), ab)), HasSubstr("ASSIGN of a value spread over A,B"));
  EXPECT_FALSE(Split(std::vector<OutputRequest>{{nullptr, "A"}}, nullptr, nullptr).ok());
  // A call's body has storage of one device.
  const UOpRef p = uop::TensorParam(dtypes::kFloat32, 0, {4});
  const UOpRef call =
      uop::Call(uop::Sink({uop::Store(uop::TensorParam(dtypes::kFloat32, 1, {4}), uop::Neg(p))}),
                {ab, buffer(4, "A")}, CallArg{"f", {1}, false});
  EXPECT_THAT(error(uop::After(UOpRef(call->src(2)), {call})), HasSubstr("call f: source 1 is spread"));
}

TEST(Multi, GathersCanBeRefused) {
  EngineOptions o;
  o.multi.allow_gather = false;
  ShardDevices d("REF", 4, o);
  const Tensor x = d.Whole({4, 6}), s = Shard(x, d.First(2), 1);
  Tensor across = s.Reshape({24}) * 2;
  const absl::Status status = d.engine->Realize(across);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("RESHAPE needs all of a value sharded along axis 1 over REF:0 [0,3) REF:1 [3,6)"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected it to be gathered (To) or sharded along another axis (Shard)"));
  // What is asked for is no accident.
  ExpectSame(d, Replicate(s, d.First(2)).Reshape({24}) * 2, x.Reshape({24}) * 2);
  ExpectSame(d, Unshard(s).Reshape({24}), x.Reshape({24}));
  ExpectSame(d, s.Sum(), x.Sum());
}

}  // namespace
}  // namespace understudy
