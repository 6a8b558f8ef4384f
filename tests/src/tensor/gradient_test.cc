// SPDX-License-Identifier: Apache-2.0
// Gradients against central finite differences in f64, through every op that has a rule, and against
// identities.
#include <cmath>
#include <functional>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/src/schedule/mini_engine.h"

namespace understudy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor F64(const std::vector<double>& v, Shape shape) {
  return Tensor::FromData<double>(v, std::move(shape));
}

std::vector<double> Values(const Tensor& t) {
  MiniEngine e;
  auto v = e.Values(t);
  EXPECT_TRUE(v.ok()) << v.status();
  return v.ok() ? *v : std::vector<double>();
}

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Compares d/dx of sum(f(x) * weights) for every element of every input.
void CheckGradient(const Function& f, const std::vector<Shape>& shapes, double lo = -2, double hi = 2,
                   uint64_t seed = 1) {
  std::mt19937_64 rng(seed);
  std::vector<std::vector<double>> data;
  for (const Shape& s : shapes) {
    int64_t n = 1;
    for (const int64_t d : s) n *= d;
    std::vector<double> v(n);
    for (double& x : v) x = std::uniform_real_distribution<double>(lo, hi)(rng);
    data.push_back(v);
  }
  const auto loss_of = [&](const std::vector<Tensor>& in) {
    const Tensor y = f(in);
    return (y * Tensor::Uniform(y.shape(), 99, 0.5, 1.5, {dtypes::kFloat64})).Sum();
  };
  const auto tensors = [&] {
    std::vector<Tensor> in;
    for (size_t i = 0; i < shapes.size(); ++i) in.push_back(F64(data[i], shapes[i]));
    return in;
  };
  const std::vector<Tensor> in = tensors();
  const std::vector<Tensor> grads = Gradients(loss_of(in), in);
  for (size_t i = 0; i < shapes.size(); ++i) {
    ASSERT_TRUE(grads[i].ok()) << grads[i].status();
    ASSERT_EQ(grads[i].shape(), shapes[i]);
    ASSERT_EQ(grads[i].dtype(), dtypes::kFloat64);
    const std::vector<double> g = Values(grads[i]);
    for (size_t k = 0; k < data[i].size(); ++k) {
      const double x = data[i][k], h = 1e-5;
      data[i][k] = x + h;
      const double up = Values(loss_of(tensors()))[0];
      data[i][k] = x - h;
      const double down = Values(loss_of(tensors()))[0];
      data[i][k] = x;
      ASSERT_NEAR(g[k], (up - down) / (2 * h), 2e-6 * std::max(1.0, std::abs(g[k])))
          << "input " << i << " element " << k;
    }
  }
}

struct Case {
  const char* name;
  Function f;
  std::vector<Shape> shapes;
  double lo = -2, hi = 2;
};

const Tensor::Conv2dOptions kConv = {{2, 1}, {1, 0}, {1, 2}, 2};

std::vector<Case> Cases() {
  using V = const std::vector<Tensor>&;
  return {
      {"Neg", [](V x) { return -x[0]; }, {{3}}},
      {"Abs", [](V x) { return x[0].Abs(); }, {{3}}},
      {"Sqrt", [](V x) { return x[0].Sqrt(); }, {{3}}, 0.2, 2},
      {"Rsqrt", [](V x) { return x[0].Rsqrt(); }, {{3}}, 0.2, 2},
      {"Exp", [](V x) { return x[0].Exp(); }, {{3}}},
      {"Exp2", [](V x) { return x[0].Exp2(); }, {{3}}},
      {"Log", [](V x) { return x[0].Log(); }, {{3}}, 0.2, 2},
      {"Log2", [](V x) { return x[0].Log2(); }, {{3}}, 0.2, 2},
      {"Sin", [](V x) { return x[0].Sin(); }, {{3}}},
      {"Cos", [](V x) { return x[0].Cos(); }, {{3}}},
      {"Tanh", [](V x) { return x[0].Tanh(); }, {{3}}},
      {"Sigmoid", [](V x) { return x[0].Sigmoid(); }, {{3}}},
      {"Relu", [](V x) { return x[0].Relu(); }, {{5}}},
      {"Gelu", [](V x) { return x[0].Gelu(); }, {{5}}},
      {"Reciprocal", [](V x) { return x[0].Reciprocal(); }, {{3}}, 0.5, 2},
      {"Floor", [](V x) { return x[0].Floor() + x[0]; }, {{3}}},
      {"Square", [](V x) { return x[0].Square(); }, {{3}}},
      {"Add", [](V x) { return x[0] + x[1]; }, {{2, 3}, {3}}},
      {"Sub", [](V x) { return x[0] - x[1]; }, {{2, 1}, {3}}},
      {"Mul", [](V x) { return x[0] * x[1]; }, {{2, 3}, {2, 1}}},
      {"Div", [](V x) { return x[0] / x[1]; }, {{2, 3}, {3}}, 0.5, 2},
      {"Fmod", [](V x) { return x[0].Fmod(x[1]); }, {{3}, {3}}, 0.5, 2},
      {"Maximum", [](V x) { return x[0].Maximum(x[1]); }, {{4}, {4}}},
      {"Minimum", [](V x) { return x[0].Minimum(x[1]); }, {{4}, {4}}},
      {"PowConstant", [](V x) { return x[0].Pow(3) + x[0].Pow(-2); }, {{3}}, 0.5, 2},
      {"Pow", [](V x) { return x[0].Pow(x[1]); }, {{3}, {3}}, 0.5, 2},
      {"Where", [](V x) { return Where(x[0].Lt(x[1]), x[0] * 2, x[1] * 3); }, {{4}, {4}}},
      {"Clamp", [](V x) { return x[0].Clamp(-1, 1); }, {{6}}},
      {"Lerp", [](V x) { return x[0].Lerp(x[1], 0.3); }, {{3}, {3}}},
      {"Movement",
       [](V x) {
         return x[0].Reshape({3, 4})
                    .Permute({1, 0})
                    .Flip({0})
                    .Shrink({{1, 4}, {0, 2}})
                    .Pad({{1, 0}, {0, 2}})
                    .Unsqueeze(1)
                    .Expand({4, 2, 4}) *
                1.5;
       },
       {{2, 6}}},
      {"Index", [](V x) { return x[0].Index({Slice{std::nullopt, std::nullopt, -2}, 1}) * 2.0; }, {{5, 3}}},
      {"Cat", [](V x) { return Cat({x[0], x[1], x[0]}, 1).Square(); }, {{2, 2}, {2, 1}}},
      {"Sum", [](V x) { return x[0].Sum({1}).Square(); }, {{2, 3}}},
      {"Prod", [](V x) { return x[0].Prod({1}); }, {{2, 3}}},
      {"Max", [](V x) { return x[0].Max({1}); }, {{2, 3}}},
      {"Min", [](V x) { return x[0].Min({0}); }, {{2, 3}}},
      {"Mean", [](V x) { return x[0].Mean().Square(); }, {{2, 3}}},
      {"Var", [](V x) { return x[0].Var({1}); }, {{2, 4}}},
      {"Matmul", [](V x) { return x[0].Matmul(x[1]); }, {{2, 3}, {3, 2}}},
      {"MatmulBatched", [](V x) { return x[0].Matmul(x[1]); }, {{2, 1, 2, 3}, {2, 3, 2}}},
      {"MatmulVector", [](V x) { return x[0].Matmul(x[1]); }, {{3}, {3, 2}}},
      {"Softmax", [](V x) { return x[0].Softmax(); }, {{2, 3}}},
      {"LogSoftmax", [](V x) { return x[0].LogSoftmax(0); }, {{2, 3}}},
      {"LayerNorm", [](V x) { return x[0].LayerNorm(1, &x[1], &x[2]); }, {{2, 4}, {4}, {4}}},
      {"Conv2d", [](V x) { return x[0].Conv2d(x[1], &x[2], kConv); }, {{1, 4, 4, 5}, {2, 2, 2, 2}, {2}}},
      {"CrossEntropy",
       [](V x) { return x[0].CrossEntropy(Tensor::FromData<int64_t>({2, 0}, {2})); },
       {{2, 3}}},
      {"CloneAndWrappers",
       [](V x) { return x[0].Clone().Contiguous().ContiguousBackward().Square(); },
       {{3}}},
      {"Network",
       [](V x) { return (x[0].Matmul(x[1]) + x[2]).Tanh().Matmul(x[1].Transpose()).Softmax(); },
       {{2, 3}, {3, 2}, {2}}},
  };
}

TEST(Gradient, MatchesFiniteDifferences) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    CheckGradient(c.f, c.shapes, c.lo, c.hi);
    if (HasFatalFailure()) return;
  }
}

TEST(Gradient, SecondDerivative) {
  // d/dx of (d/dx x^3 sin x)
  CheckGradient(
      [](const std::vector<Tensor>& x) { return Gradients((x[0].Pow(3) * x[0].Sin()).Sum(), {x[0]})[0]; },
      {{4}});
  CheckGradient(
      [](const std::vector<Tensor>& x) { return Gradients(x[0].Softmax().Square().Sum(), {x[0]})[0]; },
      {{2, 3}});
}

TEST(Gradient, TiesAreSplitEvenly) {
  const Tensor x = F64({3, 1, 3, 3}, {4}), y = F64({3, 2, 0, 3}, {4});
  EXPECT_THAT(Values(Gradients(x.Max(), {x})[0]), ElementsAre(1.0 / 3, 0, 1.0 / 3, 1.0 / 3));
  EXPECT_THAT(Values(Gradients(x.Maximum(y).Sum(), {x})[0]), ElementsAre(0.5, 0, 1, 0.5));
  EXPECT_THAT(Values(Gradients(x.Minimum(y).Sum(), {y})[0]), ElementsAre(0.5, 0, 1, 0.5));
}

TEST(Gradient, ProductWithZeros) {
  const Tensor x = F64({2, 0, 3, 0, 0, 5, 1, 2, 4}, {3, 3});
  EXPECT_THAT(Values(Gradients(x.Prod({1}).Sum(), {x})[0]), ElementsAre(0, 6, 0, 0, 0, 0, 8, 4, 2));
}

TEST(Gradient, ReluAndAbsAtZero) {
  const Tensor x = F64({0, -1, 1}, {3});
  EXPECT_THAT(Values(Gradients(x.Relu().Sum(), {x})[0]), ElementsAre(0, 0, 1));
  EXPECT_THAT(Values(Gradients(x.Abs().Sum(), {x})[0]), ElementsAre(0, -1, 1));
}

TEST(Gradient, StopsAtDetachAndIntegers) {
  const Tensor x = F64({2, 3}, {2});
  EXPECT_THAT(Values(Gradients((x * x.Detach()).Sum(), {x})[0]), ElementsAre(2, 3));
  EXPECT_THAT(Values(Gradients((x.Cast(dtypes::kInt32).Cast(dtypes::kFloat64)).Sum(), {x})[0]),
              ElementsAre(0, 0));
}

TEST(Gradient, ThroughWrites) {
  const Tensor x = F64({2, 3}, {2});
  Tensor y = x.Clone();
  y.AssignIndex({Slice{0, 1}}, Tensor::Zeros({1}, {dtypes::kFloat64}));
  EXPECT_THAT(Values(Gradients(y.Sum(), {x})[0]), ElementsAre(0, 1));

  const Tensor x2 = F64({1, 2, 3, 4, 5, 6}, {2, 3}), v = F64({7, 8}, {1, 2});
  Tensor y2 = x2.Clone();
  y2.AssignIndex({Slice{1, 2}, Slice{0, 2}}, v);
  const std::vector<Tensor> g = Gradients(y2.Sum(), {x2, v});
  EXPECT_THAT(Values(g[0]), ElementsAre(1, 1, 1, 0, 0, 1));
  EXPECT_THAT(Values(g[1]), ElementsAre(1, 1));

  // Through reshape, permute and flip of what is written.
  const Tensor a = F64({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto write = [&](const std::function<Tensor(const Tensor&)>& view, const std::vector<double>& dx) {
    Tensor w = a.Clone();
    const Tensor part = view(w), value = F64(std::vector<double>(part.numel(), 9), part.shape());
    w.AssignView(part, value);
    const std::vector<Tensor> d = Gradients(w.Sum(), {a, value});
    EXPECT_EQ(Values(d[0]), dx);
    EXPECT_EQ(Values(d[1]), std::vector<double>(part.numel(), 1));
  };
  write([](const Tensor& t) { return t.Reshape({3, 2}).Index({Slice{1}}); }, {1, 1, 0, 0, 0, 0});
  write([](const Tensor& t) { return t.Permute({1, 0}).Index({Slice{1}}); }, {1, 0, 0, 1, 0, 0});
  write([](const Tensor& t) { return t.Flip({0, 1}).Index({Slice{0, 1}}); }, {1, 1, 1, 0, 0, 0});

  Tensor z = x.Clone();
  z.Assign(Tensor::Zeros({2}, {dtypes::kFloat64}));
  EXPECT_THAT(Values(Gradients((x * 3).Sum(), {x})[0]), ElementsAre(3, 3));
}

TEST(Gradient, HalfPrecisionKeepsItsType) {
  const Tensor x = Tensor::FromData<float>({1, 2, 3}, {3}).Cast(dtypes::kFloat16);
  const Tensor g = Gradients((x * x).Sum(), {x})[0];
  EXPECT_EQ(g.dtype(), dtypes::kFloat16);
  EXPECT_THAT(Values(g), ElementsAre(2, 4, 6));
}

TEST(Gradient, Errors) {
  const Tensor x = F64({2, 3}, {2}), unused = F64({1}, {1});
  EXPECT_THAT(std::string(Gradients(x, {x})[0].status().message()),
              HasSubstr("loss of f64[2], expected one float"));
  const std::vector<Tensor> g = Gradients(x.Sum(), {x, unused});
  EXPECT_TRUE(g[0].ok());
  EXPECT_THAT(std::string(g[1].status().message()),
              HasSubstr("parameter 1 of shape [1] takes no part in the loss"));
}

}  // namespace
}  // namespace understudy
