// SPDX-License-Identifier: Apache-2.0
// Modules loaded with torch.nn's state_dict: the same names in the same order, the same result in training
// mode, the same state after it (vectors by tests/data/nn_modules/make_modules.py), on REF in f64.
#include <cmath>
#include <fstream>
#include <memory>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/nn/recurrent.h"

namespace understudy::nn {
namespace {

using nlohmann::json;

const TensorOptions kRef{dtypes::kFloat64, "REF"};

Tensor From(const json& v) {
  const auto shape = v.at("s").get<Shape>();
  if (v.at("t") == "i64") {
    std::vector<int64_t> out;
    for (const json& x : v.at("v")) out.push_back(static_cast<int64_t>(x.get<double>()));
    return Tensor::FromData(out, shape, "REF");
  }
  return Tensor::FromData(v.at("v").get<std::vector<double>>(), shape, "REF");
}

template <class M, class... A>
std::pair<std::unique_ptr<Module>, std::function<Tensor(const Tensor&)>> Make(A&&... a) {
  auto m = std::make_unique<M>(std::forward<A>(a)...);
  M* raw = m.get();
  std::function<Tensor(const Tensor&)> f = [raw](const Tensor& x) {
    if constexpr (std::is_same_v<M, MultiheadAttention>)
      return raw->Forward(x, x, x).output;
    else if constexpr (std::is_base_of_v<Recurrent, M>)
      return raw->Forward(x).output;
    else
      return raw->Forward(x);
  };
  return {std::move(m), std::move(f)};
}

std::pair<std::unique_ptr<Module>, std::function<Tensor(const Tensor&)>> Build(const std::string& op,
                                                                               Generator& g) {
  if (op == "linear") return Make<Linear>(3, 4, g, true, kRef);
  if (op == "conv1d") {
    ConvOptions o;
    o.groups = 2;
    return Make<Conv1d>(4, 6, 3, g, o, true, kRef);
  }
  if (op == "conv2d") return Make<Conv2d>(2, 3, 3, g, ConvOptions(), true, kRef);
  if (op == "conv3d") return Make<Conv3d>(1, 2, 2, g, ConvOptions(), false, kRef);
  if (op == "conv_transpose2d") return Make<ConvTranspose2d>(3, 2, 3, g, ConvTransposeOptions(), true, kRef);
  if (op == "batch_norm2d") return Make<BatchNorm2d>(3, 1e-5, 0.1, true, true, kRef);
  if (op == "layer_norm") return Make<LayerNorm>(Shape{5}, 1e-5, true, true, kRef);
  if (op == "group_norm") return Make<GroupNorm>(2, 4, 1e-5, true, kRef);
  if (op == "instance_norm") return Make<InstanceNorm>(3, 1e-5, true, kRef);
  if (op == "rms_norm") return Make<RmsNorm>(Shape{4}, -1.0, true, kRef);
  if (op == "attention") return Make<MultiheadAttention>(4, 2, g, true, kRef);
  RecurrentOptions o;
  o.tensor = kRef;
  if (op == "rnn") return Make<Rnn>(3, 4, g, o);
  o.bidirectional = op == "gru";
  if (op == "gru") return Make<Gru>(3, 4, g, o);
  o.num_layers = 2;
  o.batch_first = true;
  if (op == "lstm") return Make<Lstm>(3, 4, g, o);
  auto made = Make<Sequential>();
  auto& s = static_cast<Sequential&>(*made.first);
  s.Add(Linear(3, 5, g, true, kRef));
  s.Add([](const Tensor& x) { return x.Relu(); });
  s.Add(BatchNorm1d(5, 1e-5, 0.1, true, true, kRef));
  s.Add(Linear(5, 2, g, true, kRef));
  return made;
}

void ExpectNear(Engine& engine, const Tensor& t, const json& want, const std::string& what) {
  Tensor wide = t.Cast(dtypes::kFloat64);
  const auto got = engine.Data<double>(wide);
  ASSERT_TRUE(got.ok()) << what << ": " << got.status();
  ASSERT_EQ(t.shape(), want.at("s").get<Shape>()) << what;
  for (size_t i = 0; i < got->size(); ++i)
    ASSERT_NEAR((*got)[i], want.at("v")[i].get<double>(), 1e-9) << what << " " << i;
}

TEST(Modules, NamesResultsAndStateAreTorchs) {
  DeviceRegistry devices;
  devices.Register(std::make_shared<RefDevice>());
  Engine engine(devices);
  for (const json& c : json::parse(std::ifstream("tests/data/nn_modules/modules.json"))) {
    const std::string op = c.at("op");
    SCOPED_TRACE(op);
    Generator generator(1);
    auto [module, forward] = Build(op, generator);
    StateDict own = State(*module), given;
    ASSERT_EQ(own.size(), c.at("state").size());
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].name, c.at("state")[i][0].get<std::string>());
      given.push_back({c.at("state")[i][0], From(c.at("state")[i][1])});
    }
    const absl::Status loaded = LoadState(*module, given);
    ASSERT_TRUE(loaded.ok()) << loaded;
    ASSERT_TRUE(engine.Realize(StateTensors(own)).ok());
    const Tensor y = forward(From(c.at("x")));
    ASSERT_TRUE(y.ok()) << y.status();
    ExpectNear(engine, y, c.at("y"), "result");
    for (size_t i = 0; i < own.size(); ++i) ExpectNear(engine, own[i].tensor, c.at("after")[i], own[i].name);
    given[0].name = "other";
    EXPECT_FALSE(LoadState(*module, given).ok());
  }
}

TEST(Modules, FreshParametersLieWithinTorchsBounds) {
  DeviceRegistry devices;
  devices.Register(std::make_shared<RefDevice>());
  Engine engine(devices);
  Generator generator(9);
  Linear layer(16, 8, generator, true, kRef);
  const auto w = engine.Data<double>(layer.weight);
  ASSERT_TRUE(w.ok()) << w.status();
  double largest = 0;
  for (const double v : *w) largest = std::max(largest, std::abs(v));
  EXPECT_LE(largest, 0.25);
  EXPECT_GT(largest, 0.2);
}

}  // namespace
}  // namespace understudy::nn
