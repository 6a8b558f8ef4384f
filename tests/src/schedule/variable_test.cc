// SPDX-License-Identifier: Apache-2.0
// Tensors of variable size: one schedule and one kernel for all values, and exactly what the same computation
// gives with constant sizes.
#include "src/tensor/variable.h"

#include <cmath>
#include <functional>
#include <map>

#include "src/render/render.h"
#include "src/runtime/capture.h"
#include "src/runtime/null/null_device.h"
#include "src/tensor/attention.h"
#include "src/tensor/create_ops.h"
#include "src/tensor/function.h"
#include "src/tensor/loss.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/norm.h"
#include "src/tensor/reduce_ops.h"
#include "src/tensor/softmax.h"
#include "tests/src/schedule/variable_check.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

UNDERSTUDY_STORAGE_DEVICES(VariableTest);

TEST_P(VariableTest, ElementwiseReductionsAndMovementOverAVariableAxis) {
  const Tensor x = Numbers({9, 4}, 1), y = Numbers({9, 4}, 2), w = Numbers({4}, 3);
  const auto cut = [&](const Tensor& t, const Size& n) { return Narrow(t, 0, 1, n); };
  const std::map<std::string, std::function<Tensor(const Size&)>> cases = {
      {"elementwise", [&](const Size& n) { return cut(x, n) * cut(y, n) + w - 1; }},
      {"sum of the axis", [&](const Size& n) { return (cut(x, n) * cut(y, n)).Sum({0}); }},
      {"sum of the other", [&](const Size& n) { return cut(x, n).Sum({1}); }},
      {"sum of all", [&](const Size& n) { return cut(x, n).Sum(); }},
      {"prod", [&](const Size& n) { return (cut(x, n) + 4).Prod({0}); }},
      {"max of negatives", [&](const Size& n) { return (cut(x, n) - 9).Max({0}); }},
      {"min of positives", [&](const Size& n) { return (cut(x, n) + 9).Min({0}); }},
      {"mean", [&](const Size& n) { return cut(x, n).Mean({0}); }},
      {"mean of all", [&](const Size& n) { return cut(x, n).Mean(); }},
      {"variance", [&](const Size& n) { return cut(x, n).Var({0}); }},
      {"softmax", [&](const Size& n) { return cut(x, n).Softmax(0); }},
      {"logsoftmax", [&](const Size& n) { return cut(x, n).LogSoftmax(0); }},
      {"argmax", [&](const Size& n) { return cut(x, n).Argmax(0); }},
      {"argmin", [&](const Size& n) { return Argmin(cut(x, n), 0); }},
      {"transposed", [&](const Size& n) { return cut(x, n).Transpose(0, 1) * 2; }},
      {"merged with the axis after", [&](const Size& n) { return cut(x, n).Reshape({-1}) + 1; }},
      {"merged and split", [&](const Size& n) { return cut(x, n).Reshape({-1}).Reshape({-1, 2}).Sum({1}); }},
      {"flipped", [&](const Size& n) { return cut(x, n).Flip({0, 1}) + 0; }},
      {"padded", [&](const Size& n) { return cut(x, n).Pad({{2, 1}, {1, 0}}) + 1; }},
      {"padded with a number", [&](const Size& n) { return cut(x, n).Pad({{1, 2}, {0, 1}}, -3); }},
      {"expanded", [&](const Size& n) { return cut(x, n).Unsqueeze(0).Expand({2, -1, 4}) * 3; }},
      {"two reductions",
       [&](const Size& n) { return (cut(x, n) - cut(x, n).Mean({0}, true)).Square().Sum(); }},
      {"positions", [&](const Size& n) { return Arange(n, {dtypes::kInt64, d0}) * 2 + 1; }},
      {"masked by position",
       [&](const Size& n) {
         const Tensor i = Arange(n, {dtypes::kInt64, d0}).Unsqueeze(1);
         return Where(i.Gt(2), cut(x, n), -1);
       }},
      {"the number itself", [&](const Size& n) { return cut(x, n) * n.AsTensor(dtypes::kFloat32, d0); }},
      {"ones", [&](const Size& n) { return OnesLike(cut(x, n)).Sum() + cut(x, n).Sum(); }},
      {"cat", [&](const Size& n) { return Cat({cut(x, n), y, cut(y, n)}, 0); }},
      {"cat of other axes", [&](const Size& n) { return Cat({cut(x, n), cut(y, n)}, 1); }},
      {"slice of a slice", [&](const Size& n) { return Narrow(cut(x, n), 0, 1, n - 1) + 0; }},
      {"last element", [&](const Size& n) { return Narrow(cut(x, n), 0, n - 1, 1) * 2; }},
      {"room filled", [&](const Size& n) { return Narrow(PadToRoom(cut(x, n), 0, 7), 0, 0, n); }},
  };
  for (const auto& [name, f] : cases) SameAsConstant(name, 1, 8, f);
}

TEST_P(VariableTest, NormalisationAndLossesCountWhatIsThere) {
  const Tensor x = Numbers({9, 4}, 1), y = Numbers({9, 4}, 2), w = Numbers({4}, 3),
               images = Numbers({9, 2, 3}, 4);
  const Tensor classes = Tensor::FromData<int64_t>({0, 3, 1, 2, 2, 0, 1, 3, 0}, {9}, d0);
  const auto cut = [&](const Tensor& t, const Size& n) { return Narrow(t, 0, 0, n); };
  const Tensor zeros = Tensor::Zeros({2}, {dtypes::kFloat32, d0}),
               ones = Tensor::Ones({2}, {dtypes::kFloat32, d0});
  const auto batch = [&](const Size& n) {
    BatchNormOptions o;
    o.training = true;
    return BatchNorm(cut(images, n), &zeros, &ones, o);
  };
  ClassLossOptions smooth;
  smooth.label_smoothing = 0.2;
  const std::map<std::string, std::function<Tensor(const Size&)>> cases = {
      {"batch norm", [&](const Size& n) { return batch(n).output; }},
      {"its running mean", [&](const Size& n) { return batch(n).running_mean; }},
      {"its running variance", [&](const Size& n) { return batch(n).running_var; }},
      {"layer norm", [&](const Size& n) { return LayerNorm(cut(x, n), {4}, &w, nullptr, 1e-5); }},
      {"cross entropy", [&](const Size& n) { return CrossEntropy(cut(x, n), cut(classes, n)); }},
      {"with smoothing", [&](const Size& n) { return CrossEntropy(cut(x, n), cut(classes, n), smooth); }},
      {"of probabilities", [&](const Size& n) { return CrossEntropy(cut(x, n), cut(y, n).Softmax(1)); }},
      {"mse", [&](const Size& n) { return MseLoss(cut(x, n), cut(y, n)); }},
      {"smooth l1", [&](const Size& n) { return SmoothL1Loss(cut(x, n), cut(y, n)); }},
      {"kl of a batch",
       [&](const Size& n) {
         return KlDiv(cut(x, n).LogSoftmax(1), cut(y, n).Softmax(1), Reduction::kMean, false, true);
       }},
  };
  for (const auto& [name, f] : cases) SameAsConstant(name, 2, 8, f);
}

TEST_P(VariableTest, NothingAtAll) {
  const Tensor x = Numbers({4, 3}, 1);
  const std::map<std::string, std::function<Tensor(const Size&)>> cases = {
      {"elementwise", [&](const Size& n) { return Narrow(x, 0, 0, n) * 2; }},
      {"sum", [&](const Size& n) { return Narrow(x, 0, 0, n).Sum({0}); }},
      {"mean", [&](const Size& n) { return Narrow(x, 0, 0, n).Mean({0}); }},
      {"cat", [&](const Size& n) { return Cat({Narrow(x, 0, 0, n), x}, 0); }},
  };
  for (const auto& [name, f] : cases) SameAsConstant(name, 0, 3, f);
}

TEST_P(VariableTest, ProductsOverAndAlongAVariableAxis) {
  const Tensor a = Numbers({5, 9}, 1), b = Numbers({9, 6}, 2), q = Numbers({2, 3, 8}, 3);
  const Tensor k = Numbers({2, 9, 8}, 4), v = Numbers({2, 9, 8}, 5);
  SameAsConstant("contracted", 1, 9,
                 [&](const Size& n) { return Narrow(a, 1, 0, n).Matmul(Narrow(b, 0, 0, n)); });
  SameAsConstant("rows", 1, 5, [&](const Size& n) { return Narrow(a, 0, 0, n).Matmul(b); });
  SameAsConstant("columns", 1, 6, [&](const Size& n) { return a.Matmul(Narrow(b, 1, 0, n)); });
  SameAsConstant("attention", 1, 9, [&](const Size& n) {
    return ScaledDotProductAttention(q, Narrow(k, 1, 0, n), Narrow(v, 1, 0, n));
  });
  AttentionOptions causal;
  causal.is_causal = true;
  SameAsConstant("causal attention", 1, 9, [&](const Size& n) {
    return ScaledDotProductAttention(Narrow(v, 1, 0, n), Narrow(k, 1, 0, n), Narrow(v, 1, 0, n), causal);
  });
}

TEST_P(VariableTest, ACacheOfKeysIsWrittenAndReadWhereTheVariableSays) {
  constexpr int64_t kRoom = 6, kWidth = 4;
  Tensor cache = Full({2, kRoom, kWidth}, 0);
  ASSERT_TRUE(engine->Realize(cache).ok());
  const Variable start("start", 0, kRoom - 1);
  const Tensor q = Numbers({2, 1, kWidth}, 9);
  std::vector<float> held(2 * kRoom * kWidth, 0);
  const uint64_t address = [&] {
    // Storage of its own, which is then written in place.
    Tensor one = cache;
    one.Assign(Numbers({2, kRoom, kWidth}, 3) * 0);
    EXPECT_TRUE(engine->Realize(one).ok());
    return Address(one);
  }();
  for (int64_t at = 0; at < kRoom; ++at) {
    Tensor keys = Numbers({2, 1, kWidth}, static_cast<int>(at));
    const std::vector<float> fresh = Get(keys);
    const Size s = start.Bind(at);
    AssignNarrow(cache, 1, s, keys);
    ASSERT_TRUE(cache.ok()) << cache.status();
    const Tensor seen = Narrow(cache, 1, 0, s + 1);
    Tensor y = ScaledDotProductAttention(q, seen, seen);
    const std::vector<float> got = Get(y);
    ASSERT_TRUE(engine->Realize(cache).ok());
    EXPECT_EQ(Address(cache), address);
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t i = 0; i < kWidth; ++i) held[(b * kRoom + at) * kWidth + i] = fresh[b * kWidth + i];
    }
    const Tensor want = F32(held, {2, kRoom, kWidth}).Shrink({{0, 2}, {0, at + 1}, {0, kWidth}});
    EXPECT_EQ(got, Get(ScaledDotProductAttention(q, want, want))) << at;
    EXPECT_EQ(Get(cache), held) << at;
  }
}

TEST_P(VariableTest, DecodingCompilesNothingAfterItsFirstStep) {
  Tensor cache = F32(std::vector<float>(32, 0), {8, 4});
  const Variable start("start", 0, 7);
  int64_t compiled = 0;
  for (int64_t at = 0; at < 8; ++at) {
    const Size s = start.Bind(at);
    AssignNarrow(cache, 0, s, F32(std::vector<float>(4, static_cast<float>(at + 1)), {1, 4}));
    Tensor total = Narrow(cache, 0, 0, s + 1).Sum({0});
    EXPECT_EQ(Get(total), std::vector<float>(4, static_cast<float>((at + 1) * (at + 2) / 2)));
    ASSERT_TRUE(engine->Realize(cache).ok());
    if (at > 0) {
      EXPECT_EQ(engine->stats().kernels_compiled, compiled) << at;
    }
    compiled = engine->stats().kernels_compiled;
  }
}

TEST_P(VariableTest, ACapturedDecodingStepReplaysForEveryPlace) {
  Tensor cache = F32(std::vector<float>(32, 0), {8, 4});
  ASSERT_TRUE(engine->Realize(cache).ok());
  const Variable start("start", 0, 7);
  CapturedFunction step(
      *engine,
      [&](absl::Span<const Tensor> in, const VariableValues& v) -> absl::StatusOr<std::vector<Tensor>> {
        const Size s = start.Bind(v.at("start"));
        AssignNarrow(cache, 0, s, in[0]);
        const Tensor seen = Narrow(cache, 0, 0, s + 1);
        return std::vector<Tensor>{seen.Sum({0}), seen * 2.0};
      });
  std::vector<float> held;
  int64_t made = 0;
  for (int64_t at = 0; at < 8; ++at) {
    const std::vector<float> keys(4, static_cast<float>(at + 1));
    auto out = step({F32(keys, {1, 4})}, {{"start", at}});
    ASSERT_TRUE(out.ok()) << at << ": " << out.status();
    for (const float k : keys) held.push_back(2 * k);
    EXPECT_EQ(Get((*out)[0]), std::vector<float>(4, static_cast<float>((at + 1) * (at + 2) / 2))) << at;
    EXPECT_EQ(Get((*out)[1]), held) << at;
    if (at > 1) {
      EXPECT_EQ(engine->stats().schedules_made, made) << at;
    }
    made = engine->stats().schedules_made;
  }
}

TEST_P(VariableTest, SeveralRowsGoToAVariablePlace) {
  const Variable start("start", 0, 5), rows("rows", 1, 3);
  for (const auto& [at, count] : std::map<int64_t, int64_t>{{0, 3}, {2, 1}, {4, 2}, {5, 1}}) {
    Tensor t = Full({6, 2}, 1);
    Tensor all = Numbers({3, 2}, static_cast<int>(at));
    AssignNarrow(t, 0, start.Bind(at), Narrow(all, 0, 0, rows.Bind(count)));
    std::vector<float> want(12, 1);
    const std::vector<float> from = Get(all);
    std::copy(from.begin(), from.begin() + count * 2, want.begin() + at * 2);
    EXPECT_EQ(Get(t), want) << at;
  }
  Tensor t = Full({6, 2}, 1);
  AssignNarrow(t, 0, start.Bind(5), Narrow(Numbers({3, 2}, 0), 0, 0, rows.Bind(2)));
  EXPECT_EQ(t.status().message(),
            "Narrow: start start = 5 and length rows = 2 at axis 0 of size 6, expected a part of it");
}

TEST_P(VariableTest, AViewOfAVariableSliceIsWrittenThrough) {
  const Variable start("start", 0, 3);
  Tensor t = F32({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  ASSERT_TRUE(engine->Realize(t).ok());
  Tensor view = Narrow(t, 0, start.Bind(2), 1).Flip({1});
  view.Assign(F32({-1, -2}, {1, 2}));
  EXPECT_THAT(Get(t), ElementsAre(1, 2, 3, 4, -2, -1, 7, 8));
  EXPECT_THAT(Get(view), ElementsAre(-1, -2));
}

TEST_P(VariableTest, ARealisedSliceKeepsItsVariables) {
  // slice [s : s + n] of 0 .. 7, cloned, through a call: its first elements, and another s and n reuse the
  // kernel.
  const Variable s("s", 0, 5), n("n", 1, 3);
  for (const bool precompile : {false, true}) {
    const Function f([](absl::Span<const Tensor> in) { return std::vector<Tensor>{in[0] * 1.0}; },
                     {"f", precompile});
    int64_t compiled = 0;
    bool first = true;
    for (const auto& [at, count] : std::map<int64_t, int64_t>{{0, 1}, {2, 3}, {5, 2}}) {
      const Tensor all = F32({0, 1, 2, 3, 4, 5, 6, 7}, {8});
      Tensor part = Narrow(all, 0, s.Bind(at), n.Bind(count)).Clone();
      Tensor y = f({part})[0];
      ASSERT_TRUE(y.ok()) << y.status();
      std::vector<float> want;
      for (int64_t i = 0; i < count; ++i) want.push_back(static_cast<float>(at + i));
      EXPECT_EQ(Get(y), want);
      EXPECT_EQ(Get(part), want);
      EXPECT_EQ(SizeOf(y, 0).Text(), "n");
      EXPECT_EQ(y.shape(), Shape{3});
      const auto exists = TrueShape(y);
      ASSERT_TRUE(exists.ok());
      EXPECT_EQ(*exists, Shape{count});
      // What was realised is read again as it is.
      const int64_t launched = engine->stats().kernels_launched;
      EXPECT_EQ(Get(y), want);
      EXPECT_EQ(engine->stats().kernels_launched, launched);
      Tensor more = y + 1;
      for (float& v : want) v += 1;
      EXPECT_EQ(Get(more), want);
      if (!first) {
        EXPECT_EQ(engine->stats().kernels_compiled, compiled);
      }
      compiled = engine->stats().kernels_compiled;
      first = false;
    }
  }
}

TEST_P(VariableTest, GradientsThroughVariableSlices) {
  const Tensor x0 = Numbers({6, 3}, 1), w0 = Numbers({3}, 2), m0 = Numbers({3, 6}, 4);
  const auto gradients =
      [&](const Size& n,
          const std::function<Tensor(const Tensor&, const Tensor&, const Tensor&, const Size&)>& f) {
        Tensor x = x0, w = w0, m = m0;
        std::vector<float> all;
        for (Tensor& g : Gradients(f(x, w, m, n), {x, w, m})) {
          EXPECT_TRUE(g.ok()) << g.status();
          const std::vector<float> v = Get(g);
          all.insert(all.end(), v.begin(), v.end());
        }
        return all;
      };
  using Loss = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&, const Size&)>;
  const std::map<std::string, Loss> losses = {
      {"sum", [](const Tensor& x, const Tensor& w, const Tensor& m,
                 const Size& n) { return (Narrow(x, 0, 1, n) * w).Sum() + m.Sum(); }},
      {"bias met by two sizes",
       [](const Tensor& x, const Tensor& w, const Tensor& m, const Size& n) {
         return ((Narrow(x, 0, 0, n) + w).Square().Sum() + (Narrow(x, 0, 1, n - 1) - w).Square().Sum() +
                 (x * w).Sum() + m.Mean());
       }},
      {"mean of squares", [](const Tensor& x, const Tensor& w, const Tensor& m,
                             const Size& n) { return (Narrow(x, 0, 0, n) - w).Square().Mean() + m.Sum(); }},
      {"maximum", [](const Tensor& x, const Tensor& w, const Tensor& m,
                     const Size& n) { return (Narrow(x, 0, 0, n).Max({0}) * w).Sum() + m.Sum(); }},
      {"matmul contracted",
       [](const Tensor& x, const Tensor& w, const Tensor& m, const Size& n) {
         return (Narrow(m, 1, 0, n).Matmul(Narrow(x, 0, 0, n)) * w).Square().Sum();
       }},
      {"flipped and padded",
       [](const Tensor& x, const Tensor& w, const Tensor& m, const Size& n) {
         return (Narrow(x, 0, 0, n).Flip({0}).Pad({{1, 1}, {0, 0}}) * w).Square().Sum() + m.Sum();
       }},
  };
  const Variable n("n", 2, 5);
  for (const auto& [name, loss] : losses) {
    for (const int64_t v : {2, 3, 5}) {
      const std::vector<float> want = gradients(Size(v), loss), got = gradients(n.Bind(v), loss);
      ASSERT_EQ(want.size(), got.size()) << name;
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_FLOAT_EQ(got[i], want[i]) << name << " " << v << " " << i;
    }
  }
}

TEST_P(VariableTest, VariablesThatCannotBeAreRefusedByName) {
  const Tensor x = Numbers({8, 4}, 1);
  const Variable n("n", 1, 8), m("m", 1, 8);
  const auto error = [&](Tensor t) {
    const auto data = engine->Bytes(t);
    return data.ok() ? std::string("no error") : std::string(data.status().message());
  };
  EXPECT_EQ(error(Narrow(x, 0, 0, n.Bind(9)).Sum()), "Variable: n = 9, expected one of [1, 8]");
  EXPECT_EQ(error(Narrow(x, 0, 0, n.Unbound()).Sum()),
            "variable n has no value, expected one of [1, 8] by Bind");
  EXPECT_EQ(error(Narrow(x, 0, 0, n.Bind(2)).Sum() + Narrow(x, 0, 0, n.Bind(3)).Sum()),
            "variable n is bound to 2 and to 3 in one run, expected one value");
  EXPECT_EQ(error(Narrow(x, 0, 0, n.Bind(2)).Sum() + Narrow(x, 0, 0, Variable("n", 1, 7).Bind(2)).Sum()),
            "variable n is [1, 8] and [1, 7] in one run, expected one range");
  EXPECT_THAT(error(Narrow(x, 0, 0, Variable("k", 3, 2).Bind(3))), HasSubstr("expected 0 <= min <= max"));
  EXPECT_EQ(error(Narrow(x, 0, 3, n.Bind(6))),
            "Narrow: start 3 and length n = 6 at axis 0 of size 8, expected a part of it");
  const Tensor a = Narrow(x, 0, 0, n.Bind(5)), b = Narrow(x, 0, 0, m.Bind(5));
  EXPECT_THAT(error(a + b), HasSubstr("axis 0 of variable size n (at most 8) meets one of size m"));
  EXPECT_THAT(error(a + x), HasSubstr("axis 0 of variable size n (at most 8) meets one of size 8"));
  EXPECT_THAT(error(a.Transpose(0, 1).Reshape({32}) + 1), HasSubstr("merges axis 1 of variable size n"));
  EXPECT_THAT(error(a.Reshape({4, 2, 4})), HasSubstr("n * 1 does not divide by 2 for all values"));
  EXPECT_THAT(error(a.Shrink({{1, 3}, {0, 4}})), HasSubstr("SHRINK: {1,3} of axis 0 of variable size n"));
  EXPECT_THAT(error(a.Matmul(a)), HasSubstr("inner sizes"));
  EXPECT_THAT(error(a.Transpose(0, 1).Matmul(x)),
              HasSubstr("of variable size n (at most 8) meets one of size 8"));
  EXPECT_THAT(error(Narrow(x, 0, 0, Variable("z", 0, 4).Bind(0)).Max({0})),
              HasSubstr("axis 0 of size z = 0 has no elements"));
  Tensor t = Full({8, 4}, 0);
  ASSERT_TRUE(engine->Realize(t).ok());
  Tensor u = t;
  u.Assign(a);
  EXPECT_EQ(u.status().message(),
            "Assign: value of size n at axis 0 into one of size 8, expected equal sizes");
}

TEST_P(VariableTest, AGraphWithoutValuesIsBoundLater) {
  const Variable n("n", 1, 8);
  const Tensor x = Numbers({8}, 1);
  const Tensor y = Narrow(x, 0, 0, n.Unbound()).Sum();
  const std::vector<float> all = Get(x);
  float sum = 0;
  for (int64_t v = 1; v <= 8; ++v) {
    sum += all[v - 1];
    EXPECT_EQ(Get(BindAll(y, {{"n", v}})), std::vector<float>{sum});
  }
  EXPECT_EQ(BindAll(y, {{"n", 9}}).status().message(), "BindAll: n = 9, expected one of [1, 8]");
}

TEST(VariableStores, AWindowOfACacheIsWrittenAndNothingElse) {
  const auto null = std::make_shared<NullDevice>(HostTarget());
  DeviceRegistry devices;
  devices.Register(null);
  Engine engine(devices);
  const Variable start("start", 0, 1023);
  Tensor cache = Tensor::FromData<float>(std::vector<float>(1024 * 64), {1024, 64}, "NULL");
  ASSERT_TRUE(engine.Realize(cache).ok());
  for (const int64_t at : {0, 700}) {
    null->ResetStats();
    AssignNarrow(cache, 0, start.Bind(at),
                 Tensor::FromData<float>(std::vector<float>(64, 1.0f), {1, 64}, "NULL"));
    ASSERT_TRUE(engine.Realize(cache).ok());
    EXPECT_EQ(null->stats().kernels, 1);
    EXPECT_EQ(null->stats().bytes_written, 64 * 4);
    EXPECT_EQ(null->stats().bytes_read, 64 * 4);
  }
}

}  // namespace
}  // namespace understudy
