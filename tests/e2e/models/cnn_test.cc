// SPDX-License-Identifier: Apache-2.0
// A convolutional network with batch normalisation learns handwritten digits with Adam, on the host and on
// the emulated GPU: every step's loss is torch's, and so are the classes that it then gives.
#include <cmath>
#include <fstream>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/base/status.h"
#include "src/tensor/loss.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/optim/optimizer.h"
#include "src/tensor/pool.h"
#include "tools/demo/digits.h"
#include "tools/rig/rig.h"

namespace understudy {
namespace {

ConvOptions Padded() {
  ConvOptions o;
  o.padding = 1;
  return o;
}

struct Net : nn::Module {
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::Linear fc;

  Net(Generator& g, const TensorOptions& on)
      : conv1(1, 8, 3, g, Padded(), false, on),
        bn1(8, 1e-5, 0.1, true, true, on),
        conv2(8, 16, 3, g, Padded(), false, on),
        fc(64, 10, g, true, on) {}

  Tensor Forward(const Tensor& x) {
    const Tensor a = MaxPool2d(bn1.Forward(conv1.Forward(x)).Relu(), 2);
    return fc.Forward(MaxPool2d(conv2.Forward(a).Relu(), 2).Flatten(1));
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("conv1", conv1);
    v.Child("bn1", bn1);
    v.Child("conv2", conv2);
    v.Child("fc", fc);
  }
};

// The formula of tests/data/models/make_cnn.py.
void SetWeights(Net& net, const TensorOptions& on) {
  int64_t k = 0;
  for (NamedTensor& p : nn::NamedParameters(net)) {
    const Shape shape = p.tensor.shape();
    const int64_t n = p.tensor.numel(), fan = shape.size() > 1 ? n / shape[0] : n;
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i) {
      double whole;
      const double u =
          std::modf(static_cast<double>(i + 1) * 0.6180339887498949 + static_cast<double>(k) * 0.37, &whole);
      values.push_back(static_cast<float>((2 * u - 1) / std::sqrt(static_cast<double>(fan))));
    }
    if (p.name.rfind("bn1", 0) != 0)
      p.tensor.Assign(Tensor::FromData(values, shape, on.device).Cast(on.dtype));
    ++k;
  }
}

class CnnTest : public testing::TestWithParam<TensorOptions> {};

TEST_P(CnnTest, TrainsAsInTorch) {
  const TensorOptions on = GetParam();
  const std::string device = on.device;
  const bool wide = on.dtype == dtypes::kFloat64;
  const auto facts = nlohmann::json::parse(std::ifstream("tests/data/models/cnn.json"));
  const auto digits = demo::LoadDigits();
  if (!digits.ok()) GTEST_SKIP() << digits.status();
  const auto rig = Rig::Create();
  ASSERT_TRUE(rig.ok()) << rig.status();
  Engine& engine = (*rig)->engine();
  Generator generator(1);
  Net net(generator, on);
  SetWeights(net, on);
  optim::AdamOptions options;
  options.lr = facts.at("learning_rate");
  const auto optimizer = optim::Adam(nn::Parameters(net), options);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();

  const int64_t batch = facts.at("batch"), steps = facts.at("steps"), test = facts.at("test");
  const auto rows = [&](int64_t first, int64_t count) {
    const auto at = digits->pixels.begin() + first * 64;
    return Tensor::FromData(std::vector<float>(at, at + count * 64), {count, 1, 8, 8}, device).Cast(on.dtype);
  };
  int64_t compiled = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const auto first = digits->labels.begin() + step * batch;
    const Tensor labels = Tensor::FromData(std::vector<int32_t>(first, first + batch), {batch}, device);
    Tensor loss = CrossEntropy(net.Forward(rows(step * batch, batch)), labels);
    ASSERT_TRUE((*optimizer)->Step(Gradients(loss, (*optimizer)->params())).ok());
    StateDict state = nn::State(net);
    std::vector<Tensor*> wanted = (*optimizer)->Pending({&loss});
    for (Tensor* t : nn::StateTensors(state)) wanted.push_back(t);
    const absl::Status realized = engine.Realize(wanted);
    ASSERT_TRUE(realized.ok()) << realized;
    Tensor shown = loss.Cast(dtypes::kFloat64);
    const auto value = engine.Data<double>(shown);
    ASSERT_TRUE(value.ok()) << value.status();
    const double want = facts.at("losses")[static_cast<size_t>(step)];
    // Torch computed in f64. Adam divides small gradients by their own size: what f32 rounds away in them
    // moves the weights.
    ASSERT_NEAR((*value)[0], want, wide ? 1e-9 : step < 3 ? 1e-4 : 5e-3) << "step " << step;
    if (step == 1) compiled = engine.stats().kernels_compiled;
  }
  EXPECT_EQ(engine.stats().kernels_compiled, compiled) << "steps after the second compile nothing";

  net.Eval();
  Tensor logits = net.Forward(rows(digits->count - test, test)).Cast(dtypes::kFloat64);
  const auto got = engine.Data<double>(logits);
  ASSERT_TRUE(got.ok()) << got.status();
  int64_t same = 0;
  for (int64_t i = 0; i < test; ++i) {
    const auto row = got->begin() + i * 10;
    same += std::max_element(row, row + 10) - row == facts.at("classes")[static_cast<size_t>(i)];
  }
  EXPECT_GE(same, wide ? test : test - 2);
  for (size_t k = 0; wide && k < got->size(); ++k)
    EXPECT_NEAR((*got)[k], facts.at("logits")[k].get<double>(), 1e-7);
}

std::vector<TensorOptions> Devices() {
  std::vector<TensorOptions> all;
  for (const std::string& device : ComparedDevices()) {
    all.push_back({dtypes::kFloat64, device});
    all.push_back({dtypes::kFloat32, device});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Devices, CnnTest, testing::ValuesIn(Devices()), [](const auto& info) {
  return absl::StrReplaceAll(info.param.device, {{":", "_"}}) + "_" + info.param.dtype.Name();
});

}  // namespace
}  // namespace understudy
