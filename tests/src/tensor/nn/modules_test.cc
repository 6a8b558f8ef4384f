// SPDX-License-Identifier: Apache-2.0
// Modules loaded with torch.nn's state_dict: the same names in the same order, the same result, gradients of
// inputs and parameters, and state after it (vectors by tests/data/nn_modules/make_modules.py), on REF in
// f64.
#include <cmath>
#include <fstream>
#include <memory>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/runtime/engine.h"
#include "src/runtime/ref/ref_device.h"
#include "src/tensor/nn/losses.h"
#include "src/tensor/nn/recurrent.h"
#include "src/tensor/nn/transformer.h"

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
  const Tensor t = Tensor::FromData(v.at("v").get<std::vector<double>>(), shape, "REF");
  return v.at("t") == "bool" ? t.Ne(0) : t;
}

using Inputs = std::vector<Tensor>;
struct Made {
  std::unique_ptr<Module> module;
  std::function<Tensor(const Inputs&)> forward;
};

// The module's Forward over as many inputs as it takes.
template <class M, class... A>
Made Make(A&&... a) {
  auto m = std::make_unique<M>(std::forward<A>(a)...);
  M* raw = m.get();
  std::function<Tensor(const Inputs&)> f = [raw](const Inputs& x) -> Tensor {
    if constexpr (std::is_same_v<M, MultiheadAttention>) {
      MultiHeadAttentionOptions o;
      if (x.size() > 3) o.attn_mask = &x[3];
      return (x.size() == 1 ? raw->Forward(x[0], x[0], x[0]) : raw->Forward(x[0], x[1], x[2], o)).output;
    } else if constexpr (std::is_same_v<M, TransformerEncoderLayer>) {
      TransformerMasks masks;
      if (x.size() > 1) masks.mask = &x[1];
      return raw->Forward(x[0], masks);
    } else if constexpr (std::is_same_v<M, TransformerDecoderLayer>) {
      TransformerMasks masks;
      if (x.size() > 2) masks.mask = &x[2];
      return raw->Forward(x[0], x[1], masks);
    } else if constexpr (std::is_base_of_v<Recurrent, M>) {
      return raw->Forward(x[0]).output;
    } else if constexpr (std::is_base_of_v<RecurrentCell, M>) {
      return raw->Forward(x[0], {x[1], Tensor()}).h;
    } else if constexpr (std::is_same_v<M, EmbeddingBag>) {
      return raw->Forward(x[0], &x[1]);
    } else if constexpr (std::is_same_v<M, AdaptiveLogSoftmaxWithLoss>) {
      return raw->Forward(x[0], x[1]).output;
    } else if constexpr (std::is_same_v<M, CtcLoss>) {
      return raw->Forward(x[0].LogSoftmax(2), x[1], x[2], x[3]);
    } else if constexpr (
        requires { raw->Forward(x[0], x[1], x[2]); } && !requires { raw->Forward(x[0], x[1]); }) {
      return raw->Forward(x[0], x[1], x[2]);
    } else if constexpr (requires { raw->Forward(x[0], x[1]); } && !requires { raw->Forward(x[0]); }) {
      return raw->Forward(x[0], x[1]);
    } else {
      return raw->Forward(x[0]);
    }
  };
  return {std::move(m), std::move(f)};
}

Made BuildAttention(const std::string& op, Generator& g) {
  MultiheadAttentionOptions o;
  o.tensor = kRef;
  o.batch_first = op == "attention";
  if (op == "attention_wide") o.kdim = 3, o.vdim = 5;
  o.add_bias_kv = o.add_zero_attn = op == "attention_bias_kv";
  o.dropout = op == "attention_dropout_all" ? 1 : 0;
  return Make<MultiheadAttention>(4, 2, g, o);
}

Made BuildTransformer(const std::string& op, Generator& g) {
  TransformerOptions o;
  o.dim_feedforward = 6;
  o.tensor = kRef;
  if (op != "encoder_layer_eval") o.dropout = 0;
  o.norm_first = op.ends_with("norm_first");
  o.with_bias = op != "decoder_layer_norm_first";
  if (op == "encoder_layer_norm_first") {
    o.batch_first = true;
    o.activation = [](const Tensor& x) { return understudy::Gelu(x); };
  }
  if (op == "transformer") return Make<Transformer>(4, 2, 2, 1, g, o);
  if (op.starts_with("decoder")) return Make<TransformerDecoderLayer>(4, 2, g, o);
  return Make<TransformerEncoderLayer>(4, 2, g, o);
}

Made BuildRecurrent(const std::string& op, Generator& g) {
  if (op == "rnn_cell") return Make<RnnCell>(3, 4, g, true, true, kRef);
  RecurrentOptions o;
  o.tensor = kRef;
  if (op == "rnn") return Make<Rnn>(3, 4, g, o);
  o.bidirectional = op == "gru" || op == "lstm_projected";
  if (op == "gru") return Make<Gru>(3, 4, g, o);
  o.num_layers = 2;
  o.batch_first = op == "lstm";
  o.proj_size = op == "lstm_projected" ? 2 : 0;
  o.dropout = op == "lstm_dropout_all" ? 1 : op == "lstm_dropout_eval" ? 0.5 : 0;
  return Make<Lstm>(3, 4, g, o);
}

Made Build(const std::string& op, Generator& g) {
  if (op.starts_with("attention")) return BuildAttention(op, g);
  if (op.starts_with("encoder") || op.starts_with("decoder") || op == "transformer")
    return BuildTransformer(op, g);
  if (op.starts_with("rnn") || op == "gru" || op.starts_with("lstm")) return BuildRecurrent(op, g);
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
  if (op == "instance_norm") return Make<InstanceNorm>(3, 1e-5, 0.1, true, false, kRef);
  if (op == "instance_norm_running") return Make<InstanceNorm>(3, 1e-5, 0.1, true, true, kRef);
  if (op == "instance_norm_running_eval") return Make<InstanceNorm>(3, 1e-5, 0.3, false, true, kRef);
  if (op == "rms_norm") return Make<RmsNorm>(Shape{4}, -1.0, true, kRef);
  if (op == "embedding") return Make<Embedding>(5, 3, g, 1, kRef);
  if (op == "embedding_bag")
    return Make<EmbeddingBag>(5, 3, g, EmbeddingBagOptions::Mode::kSum, std::nullopt, true, kRef);
  if (op == "bilinear") return Make<Bilinear>(2, 3, 4, g, true, kRef);
  if (op == "prelu") return Make<Prelu>(3, 0.25, kRef);
  if (op == "rrelu_eval") return Make<Rrelu>(g);
  if (op == "adaptive_log_softmax")
    return Make<AdaptiveLogSoftmaxWithLoss>(8, 12, std::vector<int64_t>{3, 7}, g, 2.0, false, kRef);
  const std::optional<Tensor> three = Tensor::FromData<double>({1, 1, 1}, {3}, "REF");
  if (op == "cross_entropy_loss") return Make<CrossEntropyLoss>(three, -100, Reduction::kMean, 0.1);
  if (op == "bce_with_logits_loss") return Make<BceWithLogitsLoss>(std::nullopt, three);
  if (op == "multi_label_margin_loss") return Make<MultiLabelMarginLoss>();
  if (op == "triplet_distance_loss") {
    return Make<TripletMarginWithDistanceLoss>(
        [](const Tensor& a, const Tensor& b) { return understudy::PairwiseDistance(a, b); }, 1.0, true);
  }
  if (op == "ctc_concatenated_loss") return Make<CtcLoss>();
  if (op == "reflection_pad2d") return Make<ReflectionPad2d>(std::vector<int64_t>{1, 2, 0, 1});
  if (op == "circular_pad1d") return Make<CircularPad1d>(2);
  if (op == "max_pool2d") {
    MaxPoolOptions o;
    o.stride = 1;
    return Make<MaxPool2d>(PerAxis(2), o);
  }
  if (op == "adaptive_avg_pool1d") return Make<AdaptiveAvgPool1d>(PerAxis(2));
  if (op == "pixel_shuffle") return Make<PixelShuffle>(2);
  if (op == "fold") return Make<Fold>(PerAxis(3), PerAxis(2));
  if (op == "unfold") return Make<Unfold>(PerAxis(2));
  if (op == "cosine_similarity") return Make<CosineSimilarity>();
  auto made = Make<Sequential>();
  auto& s = static_cast<Sequential&>(*made.module);
  s.Add(Linear(3, 5, g, true, kRef));
  s.Add(Relu());
  s.Add(BatchNorm1d(5, 1e-5, 0.1, true, true, kRef));
  s.Add(Linear(5, 2, g, true, kRef));
  return made;
}

// make_modules.py's Weights.
Tensor Weights(const Tensor& y) {
  std::vector<double> w;
  for (int64_t i = 0; i < y.numel(); ++i) w.push_back(0.5 + static_cast<double>((i * 7 + 3) % 11) / 8);
  return Tensor::FromData(w, y.shape(), "REF");
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
    const auto [module, forward] = Build(op, generator);
    module->Train(op.find("eval") == std::string::npos);
    StateDict own = State(*module), given;
    ASSERT_EQ(own.size(), c.at("state").size());
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].name, c.at("state")[i][0].get<std::string>());
      given.push_back({c.at("state")[i][0], From(c.at("state")[i][1])});
    }
    const absl::Status loaded = LoadState(*module, given);
    ASSERT_TRUE(loaded.ok()) << loaded;
    ASSERT_TRUE(engine.Realize(StateTensors(own)).ok());
    Inputs x;
    for (const json& v : c.at("x")) x.push_back(From(v));
    Tensor y = forward(x);
    ASSERT_TRUE(y.ok()) << y.status();
    // Parameters and float inputs; one that takes no part has an error in its gradient's place, PyTorch's is
    // 0.
    Inputs wanted = Parameters(*module);
    std::vector<std::pair<std::string, json>> gradients = c.at("grad");
    ASSERT_EQ(wanted.size(), gradients.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (c.at("x_grad")[i].is_null()) continue;
      wanted.push_back(x[i]);
      gradients.emplace_back("x" + std::to_string(i), c.at("x_grad")[i]);
    }
    Inputs got = Gradients((y * Weights(y)).Sum(), wanted);
    std::vector<Tensor*> all = {&y};
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i].ok())
        all.push_back(&got[i]);
      else
        got[i] = Tensor::Zeros(wanted[i].shape(), kRef);
    }
    for (NamedTensor& t : own) all.push_back(&t.tensor);
    const absl::Status realised = engine.Realize(all);
    ASSERT_TRUE(realised.ok()) << realised;
    ExpectNear(engine, y, c.at("y"), "result");
    for (size_t i = 0; i < got.size(); ++i)
      ExpectNear(engine, got[i], gradients[i].second, "gradient of " + gradients[i].first);
    for (size_t i = 0; i < own.size(); ++i) ExpectNear(engine, own[i].tensor, c.at("after")[i], own[i].name);
    if (given.empty()) continue;
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
