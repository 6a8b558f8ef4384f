// SPDX-License-Identifier: Apache-2.0
// Training over several devices takes the steps of one device: data parallel (batch sharded, parameters
// replicated), tensor parallel (parameters sharded) and with statistics over the whole batch.
#include <functional>

#include "src/tensor/embedding.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/nn/spread.h"
#include "src/tensor/optim/optimizer.h"
#include "src/tensor/pool.h"
#include "tests/src/tensor/shard_devices.h"

namespace understudy {
namespace {

struct Mlp : nn::Module {
  nn::Linear fc1, fc2;
  Mlp(Generator& g, const TensorOptions& o) : fc1(6, 8, g, true, o), fc2(8, 3, g, true, o) {}
  Tensor Forward(const Tensor& x) const { return fc2.Forward(fc1.Forward(x).Relu()); }
  void Visit(const nn::Visitor& v) override {
    v.Child("fc1", fc1);
    v.Child("fc2", fc2);
  }
};

struct ConvNet : nn::Module {
  nn::Conv2d conv;
  nn::BatchNorm2d norm;
  nn::Linear fc;
  ConvNet(Generator& g, const TensorOptions& o)
      : conv(2, 3, {3, 3}, g, {}, true, o), norm(3, 1e-5, 0.1, true, true, o), fc(12, 3, g, true, o) {}
  Tensor Forward(const Tensor& x) {
    const Tensor h = norm.Forward(conv.Forward(x)).Relu();  // 4 x 4
    return fc.Forward(MaxPool2d(h, {2, 2}).Flatten(1));
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("conv", conv);
    v.Child("norm", norm);
    v.Child("fc", fc);
  }
};

using MakeOptimizer = std::function<optim::OptimizerOr(std::vector<Tensor>)>;

// Losses, then the final parameters and buffers, of some steps.
template <class Net>
std::vector<std::vector<double>> Train(ShardDevices& d, Net& net, const Tensor& x, const Tensor& target,
                                       const MakeOptimizer& make, int steps) {
  std::vector<std::vector<double>> out;
  auto optimizer = make(nn::Parameters(net));
  EXPECT_TRUE(optimizer.ok()) << optimizer.status();
  if (!optimizer.ok()) return out;
  for (int i = 0; i < steps; ++i) {
    Tensor loss = net.Forward(x).CrossEntropy(target);
    EXPECT_TRUE(loss.ok()) << loss.status();
    const absl::Status step = (*optimizer)->Step(Gradients(loss, (*optimizer)->params()));
    EXPECT_TRUE(step.ok()) << step;
    StateDict state = nn::State(net);
    std::vector<Tensor*> pending = (*optimizer)->Pending({&loss});
    for (Tensor* t : nn::StateTensors(state)) pending.push_back(t);
    const absl::Status done = d.engine->Realize(pending);
    EXPECT_TRUE(done.ok()) << done;
    out.push_back(d.Values(loss));
  }
  for (const auto& named : nn::State(net)) out.push_back(d.Values(named.tensor));
  return out;
}

// In f64 a step's roundings are below 1e-15 of the values that meet; Adam divides by roots of squares, which
// magnifies them where gradients are small.
void ExpectClose(const std::vector<std::vector<double>>& got, const std::vector<std::vector<double>>& want,
                 double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), want[i].size());
    for (size_t k = 0; k < got[i].size(); ++k)
      ASSERT_NEAR(got[i][k], want[i][k], tolerance * std::max(1.0, std::abs(want[i][k]))) << i << ", " << k;
  }
}

const MakeOptimizer kSgd = [](std::vector<Tensor> p) {
  return optim::Sgd(std::move(p), {.lr = 0.1, .momentum = 0.9});
};
const MakeOptimizer kAdam = [](std::vector<Tensor> p) { return optim::Adam(std::move(p), {.lr = 0.01}); };

constexpr DType kWide = dtypes::kFloat64;

Tensor Targets(int64_t n, const std::string& device) {
  std::vector<int64_t> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(i % 3);
  return Tensor::FromData(v, {n}, device);
}

TEST(ShardTraining, DataParallelMlp) {
  for (const MakeOptimizer& make : {kSgd, kAdam}) {
    ShardDevices d;
    const Tensor x = d.Whole({10, 6}, 5, kWide) / 4, y = Targets(10, "REF:0");
    Generator g(1);
    Mlp one(g, {kWide, "REF:0"});
    const auto want = Train(d, one, x, y, make, 4);
    ASSERT_LT(want[3][0], want[0][0]);
    for (const size_t n : {2, 3, 4}) {
      Generator again(1);
      Mlp net(again, {kWide, "REF:0"});
      ASSERT_TRUE(nn::Replicate(net, d.First(n)).ok());
      const Tensor xs = Shard(x, d.First(n), 0), ys = Shard(y, d.First(n), 0);
      EXPECT_EQ(ShardAxis(net.Forward(xs)), 0);
      ASSERT_NO_FATAL_FAILURE(ExpectClose(Train(d, net, xs, ys, make, 4), want, 1e-11));
      EXPECT_EQ(ShardAxis(net.fc1.weight), std::nullopt);
      // The copies are the same bits.
      for (const Tensor& p : nn::Parameters(net)) {
        for (size_t i = 1; i < n; ++i)
          EXPECT_EQ(d.Bytes(ShardOf(p, static_cast<int64_t>(i))), d.Bytes(ShardOf(p, 0)));
      }
    }
  }
}

// The second step of a loop compiles and schedules nothing.
TEST(ShardTraining, LaterStepsAreCached) {
  ShardDevices d("REF", 2);
  Generator g(1);
  Mlp net(g, {dtypes::kFloat32, "REF:0"});
  ASSERT_TRUE(nn::Replicate(net, d.names).ok());
  const Tensor x = Shard(d.Whole({8, 6}), d.names, 0), y = Shard(Targets(8, "REF:0"), d.names, 0);
  auto optimizer = optim::Adam(nn::Parameters(net));
  ASSERT_TRUE(optimizer.ok());
  int64_t made = 0, compiled = 0;
  for (int i = 0; i < 4; ++i) {
    Tensor loss = net.Forward(x).CrossEntropy(y);
    ASSERT_TRUE((*optimizer)->Step(Gradients(loss, (*optimizer)->params())).ok());
    ASSERT_TRUE(d.engine->Realize((*optimizer)->Pending({&loss})).ok());
    const EngineStats& stats = d.engine->stats();
    if (i > 1) {
      EXPECT_EQ(stats.schedules_made, made);
      EXPECT_EQ(stats.kernels_compiled, compiled);
    }
    made = stats.schedules_made, compiled = stats.kernels_compiled;
  }
}

// Megatron's layout: the first layer's outputs and the second's inputs are sharded; one all-reduce forward.
TEST(ShardTraining, TensorParallelMlp) {
  for (const MakeOptimizer& make : {kSgd, kAdam}) {
    ShardDevices d;
    const Tensor x = d.Whole({5, 6}, 5, kWide) / 4, y = Targets(5, "REF:0");
    Generator g(1);
    Mlp one(g, {kWide, "REF:0"});
    const auto want = Train(d, one, x, y, make, 3);
    for (const size_t n : {2, 3}) {
      const std::vector<std::string> devices = d.First(n);
      Generator again(1);
      Mlp net(again, {kWide, "REF:0"});
      net.fc1.weight = Shard(net.fc1.weight, devices, 0);
      net.fc1.bias = Shard(*net.fc1.bias, devices, 0);
      net.fc2.weight = Shard(net.fc2.weight, devices, 1);
      net.fc2.bias = Replicate(*net.fc2.bias, devices);
      const Tensor xs = Replicate(x, devices), ys = Replicate(y, devices);
      EXPECT_EQ(ShardAxis(net.fc1.Forward(xs)), 1);
      EXPECT_EQ(ShardAxis(net.Forward(xs)), std::nullopt);
      ASSERT_NO_FATAL_FAILURE(ExpectClose(Train(d, net, xs, ys, make, 3), want, 1e-11));
      EXPECT_EQ(ShardAxis(net.fc1.weight), 0);
      EXPECT_EQ(ShardAxis(net.fc2.weight), 1);
      // Only the result of the second layer crosses.
      Tensor out = net.Forward(xs);
      d.engine->ResetStats();
      ASSERT_TRUE(d.engine->Realize(out).ok());
      EXPECT_EQ(d.engine->stats().bytes_copied, static_cast<int64_t>(n * (n - 1)) * 5 * 3 * 8);
    }
  }
}

TEST(ShardTraining, ConvNetWithBatchNormOverTheWholeBatch) {
  for (const MakeOptimizer& make : {kSgd, kAdam}) {
    ShardDevices d;
    const Tensor x = d.Whole({6, 2, 6, 6}, 5, kWide) / 4, y = Targets(6, "REF:0");
    Generator g(1);
    ConvNet one(g, {kWide, "REF:0"});
    const auto want = Train(d, one, x, y, make, 2);
    for (const size_t n : {2, 4}) {
      Generator again(1);
      ConvNet net(again, {kWide, "REF:0"});
      ASSERT_TRUE(nn::Replicate(net, d.First(n)).ok());
      const auto got = Train(d, net, Shard(x, d.First(n), 0), Shard(y, d.First(n), 0), make, 2);
      // The convolution's bias ahead of a normalisation has no gradient but roundings of about 1e-15, which
      // Adam's eps of 1e-8 lets through as lr * 1e-7 a step.
      ASSERT_NO_FATAL_FAILURE(ExpectClose(got, want, 1e-8));
    }
  }
}

// Whole numbers and powers of two: every sum is exact, so that the order does not show and the steps agree in
// every bit.
TEST(ShardTraining, ExactStepsAgreeInEveryBit) {
  ShardDevices d;
  const Tensor x = d.Whole({8, 6}, 1), y = d.Whole({8, 2}, 2), w = d.Whole({6, 2}, 3);
  const auto steps = [&](const Tensor& xs, const Tensor& ys, Tensor ws) {
    for (int i = 0; i < 2; ++i) {
      const Tensor loss = (xs.Matmul(ws) - ys).Square().Sum();
      ws.Assign(ws - Gradients(loss, {ws})[0] / 64);
      EXPECT_TRUE(d.Realize({ws}).ok());
    }
    return ws;
  };
  const Tensor want = steps(x, y, w.Clone());
  for (const size_t n : {2, 3, 4}) {
    const std::vector<std::string> devices = d.First(n);
    ExpectSame(d, steps(Shard(x, devices, 0), Shard(y, devices, 0), Replicate(w, devices)), want);
    ExpectSame(d, steps(Shard(x, devices, 1), Replicate(y, devices), Shard(w, devices, 0)), want);
    ExpectSame(d, steps(Replicate(x, devices), Shard(y, devices, 1), Shard(w, devices, 1)), want);
  }
}

// Rows of the table on different devices, and the tokens.
TEST(ShardTraining, Embeddings) {
  ShardDevices d;
  const Tensor table = d.Whole({7, 4}, 2);
  const Tensor tokens = Tensor::FromData<int64_t>({0, 6, 3, 3, 5, 1, 2, 6}, {2, 4}, "REF:0");
  const Tensor want = Embedding(tokens, table);
  const Tensor weight = d.Whole({2, 4, 4}, 9);
  const Tensor p = table.Clone();
  const Tensor gradient = Gradients((Embedding(tokens, p) * weight).Sum(), {p})[0];
  for (const size_t n : {2, 3}) {
    const std::vector<std::string> devices = d.First(n);
    for (int rows = -1; rows < 2; ++rows) {
      for (int batch = -1; batch < 2; ++batch) {
        SCOPED_TRACE(absl::StrCat(n, " ", rows, " ", batch));
        const auto spread = [&](const Tensor& t, int axis) {
          return axis < 0 ? Replicate(t, devices) : Shard(t, devices, axis);
        };
        const Tensor s = spread(table, rows), t = spread(tokens, batch);
        const Tensor got = Embedding(t, s);
        ASSERT_NO_FATAL_FAILURE(ExpectSame(d, got, want, 1e-300));
        const Tensor g = Gradients((Embedding(t, s) * spread(weight, batch)).Sum(), {s})[0];
        ASSERT_NO_FATAL_FAILURE(ExpectSame(d, g, gradient, 1e-300));
      }
    }
  }
}

TEST(ShardTraining, StateIsLoadedIntoSpreadModules) {
  ShardDevices d;
  Generator g(1), other(2);
  Mlp from(g, {dtypes::kFloat32, "REF:0"}), to(other, {dtypes::kFloat32, "REF:0"});
  ASSERT_TRUE(nn::Replicate(to, d.First(2)).ok());
  to.fc1.weight = Shard(to.fc1.weight, d.First(2), 1);
  ASSERT_TRUE(nn::LoadState(to, nn::State(from)).ok());
  ExpectSame(d, to.fc1.weight, from.fc1.weight);
  EXPECT_EQ(ShardAxis(to.fc1.weight), 1);
  ExpectSame(d, *to.fc2.bias, *from.fc2.bias);
}

}  // namespace
}  // namespace understudy
