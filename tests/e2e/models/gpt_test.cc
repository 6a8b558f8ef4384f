// SPDX-License-Identifier: Apache-2.0
// A GPT that torch trained on this repository's licence writes here, on the host and on the emulated GPU,
// the text that it writes in torch.
#include "tests/e2e/models/gpt.h"

#include <fstream>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/base/status.h"
#include "src/tensor/state/safetensors.h"
#include "tools/rig/rig.h"

namespace understudy {
namespace {

struct Recorded {
  nlohmann::json facts = nlohmann::json::parse(std::ifstream("tests/data/models/gpt.json"));
  std::string alphabet = facts.at("alphabet"), text = facts.at("text"), prompt = facts.at("prompt");
  models::GptSizes sizes{static_cast<int64_t>(alphabet.size()), facts.at("layers"), facts.at("heads"),
                         facts.at("width"), facts.at("context")};

  std::vector<int32_t> Tokens(const std::string& s) const {
    std::vector<int32_t> out;
    for (const char c : s) out.push_back(static_cast<int32_t>(alphabet.find(c)));
    return out;
  }
};

class GptTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto rig = Rig::Create();
    ASSERT_TRUE(rig.ok()) << rig.status();
    rig_ = *std::move(rig);
    Generator generator(1);
    gpt_ = std::make_unique<models::Gpt>(recorded_.sizes, generator,
                                         TensorOptions{dtypes::kFloat32, GetParam()});
    const auto weights = LoadSafetensors("tests/data/models/gpt.safetensors");
    ASSERT_TRUE(weights.ok()) << weights.status();
    const absl::Status loaded = nn::LoadState(*gpt_, *weights);
    ASSERT_TRUE(loaded.ok()) << loaded;
  }

  // {time, vocabulary} of one sequence.
  std::vector<float> Logits(const std::vector<int32_t>& tokens) {
    const auto time = static_cast<int64_t>(tokens.size());
    Tensor logits = gpt_->Forward(Tensor::FromData(tokens, {1, time}, GetParam()));
    const auto values = rig_->engine().Data<float>(logits);
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() ? *values : std::vector<float>(time * recorded_.sizes.vocabulary);
  }

  Recorded recorded_;
  std::unique_ptr<Rig> rig_;
  std::unique_ptr<models::Gpt> gpt_;
};

TEST_P(GptTest, LogitsOfThePromptAreTorchs) {
  const std::vector<float> got = Logits(recorded_.Tokens(recorded_.prompt));
  size_t k = 0;
  for (const auto& row : recorded_.facts.at("logits")) {
    for (const double want : row) {
      // Torch computed in f64. Of values up to 20, f32 with sums of 256 terms in three layers.
      EXPECT_NEAR(got[k], want, 2e-4) << "position " << k / recorded_.sizes.vocabulary;
      ++k;
    }
  }
  EXPECT_EQ(k, got.size());
}

TEST_P(GptTest, WritesTheSameText) {
  std::vector<int32_t> tokens = recorded_.Tokens(recorded_.prompt);
  const auto context = static_cast<size_t>(recorded_.sizes.context);
  const auto vocabulary = recorded_.sizes.vocabulary;
  // The whole context every time, what is not written yet as token 0: attention is causal, and one shape is
  // compiled once.
  const size_t end = GetParam() == "AMD" ? tokens.size() + 8 : context;
  int64_t compiled = 0;
  while (tokens.size() < end) {
    std::vector<int32_t> padded = tokens;
    padded.resize(context);
    const std::vector<float> logits = Logits(padded);
    const auto row = logits.begin() + static_cast<int64_t>(tokens.size() - 1) * vocabulary;
    tokens.push_back(static_cast<int32_t>(std::max_element(row, row + vocabulary) - row));
    if (compiled == 0) compiled = rig_->engine().stats().kernels_compiled;
  }
  std::string text;
  for (const int32_t t : tokens) text += recorded_.alphabet[static_cast<size_t>(t)];
  EXPECT_EQ(text, recorded_.text.substr(0, end));
  EXPECT_EQ(rig_->engine().stats().kernels_compiled, compiled) << "later tokens compile nothing";
}

INSTANTIATE_TEST_SUITE_P(Devices, GptTest, testing::ValuesIn(ComparedDevices()),
                         [](const auto& info) { return absl::StrReplaceAll(info.param, {{":", "_"}}); });

}  // namespace
}  // namespace understudy
