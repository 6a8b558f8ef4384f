// SPDX-License-Identifier: Apache-2.0
// A classifier that torch trained and exported (tests/data/onnx/make_classifier.py): the same classes and
// logits for 100 digits on REF and the compared devices.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/tensor/onnx/onnx_model.h"
#include "tools/rig/rig.h"

namespace understudy {
namespace {

class OnnxClassifier : public testing::TestWithParam<std::string> {};

TEST_P(OnnxClassifier, GivesTorchsClassesAndLogits) {
  const std::string device = GetParam();
  auto rig = Rig::Create();
  ASSERT_TRUE(rig.ok()) << rig.status();
  Engine& engine = (*rig)->engine();
  OnnxOptions options;
  options.device = device;
  const auto model = OnnxModel::Load("tests/data/onnx/digits.onnx", options);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->inputs().size(), 1u);
  EXPECT_EQ(model->inputs()[0].type, "FLOAT[batch,1,8,8]");

  const auto want = nlohmann::json::parse(*ReadFile("tests/data/onnx/digits.json"));
  auto pixels = want["pixels"].get<std::vector<float>>();
  for (float& p : pixels) p /= 16;
  const auto logits = want["logits"].get<std::vector<float>>();
  const auto classes = want["classes"].get<std::vector<int>>();
  // No evaluator: the batch's size, which the graph computes with tensors, is known on the host.
  auto out = model->Run({{"image", Tensor::FromData(pixels, {100, 1, 8, 8}, device)}});
  ASSERT_TRUE(out.ok()) << out.status();
  const auto got = engine.Data<float>(out->at("logits"));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), logits.size());
  int right = 0;
  for (int i = 0; i < 100; ++i) {
    const auto argmax = [i](const std::vector<float>& v) {
      return std::max_element(v.begin() + i * 10, v.begin() + i * 10 + 10) - v.begin() - i * 10;
    };
    EXPECT_EQ(argmax(*got), argmax(logits)) << "digit " << i;
    right += argmax(*got) == classes[i];
    for (int k = i * 10; k < i * 10 + 10; ++k)
      EXPECT_NEAR((*got)[k], logits[k], 2e-5 * (1 + std::abs(logits[k])));
  }
  EXPECT_GE(right, 95);
}

INSTANTIATE_TEST_SUITE_P(Ref, OnnxClassifier, testing::Values("REF"));
INSTANTIATE_TEST_SUITE_P(Devices, OnnxClassifier, testing::ValuesIn(ComparedDevices()),
                         [](const auto& info) { return absl::StrReplaceAll(info.param, {{":", "_"}}); });

}  // namespace
}  // namespace understudy
