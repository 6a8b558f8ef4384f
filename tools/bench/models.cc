// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/models.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/runtime/buffer.h"
#include "src/tensor/activation.h"
#include "src/tensor/attention.h"
#include "src/tensor/linalg.h"
#include "src/tensor/loss.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/nn/layers.h"
#include "src/tensor/optim/optimizer.h"
#include "src/tensor/pool.h"
#include "src/uop/build.h"

namespace understudy::bench {
namespace {

using DevicePtr = std::shared_ptr<Device>;

// What layers draw their first weights from; the weights are then declared anew and nothing is ever drawn.
struct Maker {
  Generator generator{0};
  TensorOptions options;
  nn::Linear Linear(int64_t in, int64_t out, bool bias = true) {
    return nn::Linear(in, out, generator, bias, options);
  }
  nn::LayerNorm LayerNorm(int64_t dim, double eps = 1e-5) {
    return nn::LayerNorm({dim}, eps, true, true, options);
  }
  nn::RmsNorm RmsNorm(int64_t dim) { return nn::RmsNorm({dim}, 1e-5, true, options); }
  nn::BatchNorm2d BatchNorm(int64_t channels) {
    return nn::BatchNorm2d(channels, 1e-5, 0.1, true, true, options);
  }
  nn::Conv2d Conv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
    const ConvOptions o{.stride = stride, .padding = kernel / 2};
    return nn::Conv2d(in, out, kernel, generator, o, false, options);
  }
  nn::Embedding Embedding(int64_t rows, int64_t dim) {
    return nn::Embedding(rows, dim, generator, std::nullopt, options);
  }
};

template <class T>
void Children(const nn::Visitor& v, const char* name, std::vector<std::unique_ptr<T>>& items) {
  for (size_t i = 0; i < items.size(); ++i) v.Child(std::string(name) + "." + std::to_string(i), *items[i]);
}

// --- ResNet-50 (He et al., 2015; the stride in the 3x3 convolution, as torchvision's) ---

struct Bottleneck : nn::Module {
  nn::Conv2d conv1, conv2, conv3;
  nn::BatchNorm2d bn1, bn2, bn3;
  std::optional<nn::Conv2d> down;
  std::optional<nn::BatchNorm2d> down_bn;
  Bottleneck(Maker& m, int64_t inputs, int64_t planes, int64_t stride)
      : conv1(m.Conv(inputs, planes, 1)),
        conv2(m.Conv(planes, planes, 3, stride)),
        conv3(m.Conv(planes, 4 * planes, 1)),
        bn1(m.BatchNorm(planes)),
        bn2(m.BatchNorm(planes)),
        bn3(m.BatchNorm(4 * planes)) {
    if (stride == 1 && inputs == 4 * planes) return;
    down = m.Conv(inputs, 4 * planes, 1, stride);
    down_bn = m.BatchNorm(4 * planes);
  }
  Tensor Forward(const Tensor& x) {
    Tensor y = bn1.Forward(conv1.Forward(x)).Relu();
    y = bn2.Forward(conv2.Forward(y)).Relu();
    y = bn3.Forward(conv3.Forward(y));
    return (y + (down ? down_bn->Forward(down->Forward(x)) : x)).Relu();
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("conv1", conv1);
    v.Child("bn1", bn1);
    v.Child("conv2", conv2);
    v.Child("bn2", bn2);
    v.Child("conv3", conv3);
    v.Child("bn3", bn3);
    if (!down) return;
    v.Child("downsample.0", *down);
    v.Child("downsample.1", *down_bn);
  }
};

struct ResNet50 : nn::Module {
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  std::vector<std::unique_ptr<Bottleneck>> blocks;
  nn::Linear fc;
  explicit ResNet50(Maker& m) : conv1(m.Conv(3, 64, 7, 2)), bn1(m.BatchNorm(64)), fc(m.Linear(2048, 1000)) {
    int64_t inputs = 64;
    struct Stage {
      int64_t planes, blocks, stride;
    };
    for (const Stage& s : {Stage{64, 3, 1}, Stage{128, 4, 2}, Stage{256, 6, 2}, Stage{512, 3, 2}}) {
      for (int64_t i = 0; i < s.blocks; ++i) {
        blocks.push_back(std::make_unique<Bottleneck>(m, inputs, s.planes, i == 0 ? s.stride : 1));
        inputs = 4 * s.planes;
      }
    }
  }
  Tensor Forward(const Tensor& x) {
    Tensor y = bn1.Forward(conv1.Forward(x)).Relu();
    y = MaxPool2d(y, 3, {.stride = PerAxis(2), .padding = 1});
    for (const auto& b : blocks) y = b->Forward(y);
    return fc.Forward(y.Mean({2, 3}));
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("conv1", conv1);
    v.Child("bn1", bn1);
    Children(v, "blocks", blocks);
    v.Child("fc", fc);
  }
};

// --- Transformers ---

AttentionOptions Causal(bool grouped) {
  AttentionOptions o;
  o.is_causal = true;
  o.enable_gqa = grouped;
  return o;
}

// {B, T, D} -> {B, heads, T, D / heads}, and back.
Tensor Heads(const Tensor& x, int64_t heads) {
  return x.Reshape({x.shape()[0], x.shape()[1], heads, -1}).Transpose(1, 2);
}
Tensor Joined(const Tensor& x) {
  return x.Transpose(1, 2).Reshape({x.shape()[0], x.shape()[2], x.shape()[1] * x.shape()[3]});
}

// GPT-2 (Radford et al., 2019): norms before, joint projection, tied output.
struct Gpt2Block : nn::Module {
  int64_t heads;
  nn::LayerNorm ln1, ln2;
  nn::Linear qkv, out, fc, proj;
  Gpt2Block(Maker& m, int64_t dim, int64_t heads)
      : heads(heads),
        ln1(m.LayerNorm(dim)),
        ln2(m.LayerNorm(dim)),
        qkv(m.Linear(dim, 3 * dim)),
        out(m.Linear(dim, dim)),
        fc(m.Linear(dim, 4 * dim)),
        proj(m.Linear(4 * dim, dim)) {}
  Tensor Forward(const Tensor& in) {
    const std::vector<Tensor> parts = Chunk(qkv.Forward(ln1.Forward(in)), 3, -1);
    const Tensor y = ScaledDotProductAttention(Heads(parts[0], heads), Heads(parts[1], heads),
                                               Heads(parts[2], heads), Causal(false));
    const Tensor x = in + out.Forward(Joined(y));
    return x + proj.Forward(fc.Forward(ln2.Forward(x)).Gelu());
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("ln_1", ln1);
    v.Child("attn.c_attn", qkv);
    v.Child("attn.c_proj", out);
    v.Child("ln_2", ln2);
    v.Child("mlp.c_fc", fc);
    v.Child("mlp.c_proj", proj);
  }
};

struct Gpt2 : nn::Module {
  nn::Embedding wte, wpe;
  std::vector<std::unique_ptr<Gpt2Block>> blocks;
  nn::LayerNorm ln;
  explicit Gpt2(Maker& m, int64_t layers = 12, int64_t dim = 768, int64_t heads = 12)
      : wte(m.Embedding(50257, dim)), wpe(m.Embedding(1024, dim)), ln(m.LayerNorm(dim)) {
    for (int64_t i = 0; i < layers; ++i) blocks.push_back(std::make_unique<Gpt2Block>(m, dim, heads));
  }
  Tensor Forward(const Tensor& tokens) {
    Tensor x = wte.Forward(tokens) + Narrow(wpe.weight, 0, 0, tokens.shape()[1]);
    for (const auto& b : blocks) x = b->Forward(x);
    return understudy::Linear(ln.Forward(x), wte.weight);
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("wte", wte);
    v.Child("wpe", wpe);
    Children(v, "h", blocks);
    v.Child("ln_f", ln);
  }
};

// BERT (Devlin et al., 2018): norms after.
struct BertLayer : nn::Module {
  int64_t heads;
  nn::Linear q, k, v, out, fc, proj;
  nn::LayerNorm ln1, ln2;
  BertLayer(Maker& m, int64_t dim, int64_t heads, int64_t hidden)
      : heads(heads),
        q(m.Linear(dim, dim)),
        k(m.Linear(dim, dim)),
        v(m.Linear(dim, dim)),
        out(m.Linear(dim, dim)),
        fc(m.Linear(dim, hidden)),
        proj(m.Linear(hidden, dim)),
        ln1(m.LayerNorm(dim, 1e-12)),
        ln2(m.LayerNorm(dim, 1e-12)) {}
  Tensor Forward(const Tensor& in) {
    const Tensor y = ScaledDotProductAttention(Heads(q.Forward(in), heads), Heads(k.Forward(in), heads),
                                               Heads(v.Forward(in), heads));
    const Tensor x = ln1.Forward(in + out.Forward(Joined(y)));
    return ln2.Forward(x + proj.Forward(Gelu(fc.Forward(x))));
  }
  void Visit(const nn::Visitor& visitor) override {
    visitor.Child("query", q);
    visitor.Child("key", k);
    visitor.Child("value", v);
    visitor.Child("output", out);
    visitor.Child("norm1", ln1);
    visitor.Child("intermediate", fc);
    visitor.Child("projection", proj);
    visitor.Child("norm2", ln2);
  }
};

struct Bert : nn::Module {
  nn::Embedding words, positions, types;
  nn::LayerNorm ln;
  std::vector<std::unique_ptr<BertLayer>> layers;
  explicit Bert(Maker& m, int64_t count = 24, int64_t dim = 1024, int64_t heads = 16, int64_t hidden = 4096)
      : words(m.Embedding(30522, dim)),
        positions(m.Embedding(512, dim)),
        types(m.Embedding(2, dim)),
        ln(m.LayerNorm(dim, 1e-12)) {
    for (int64_t i = 0; i < count; ++i) layers.push_back(std::make_unique<BertLayer>(m, dim, heads, hidden));
  }
  Tensor Forward(const Tensor& tokens, const Tensor& token_types) {
    Tensor x = words.Forward(tokens) + Narrow(positions.weight, 0, 0, tokens.shape()[1]) +
               types.Forward(token_types);
    x = ln.Forward(x);
    for (const auto& l : layers) x = l->Forward(x);
    return x;
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("words", words);
    v.Child("positions", positions);
    v.Child("types", types);
    v.Child("norm", ln);
    Children(v, "layers", layers);
  }
};

// Llama 3 (Grattafiori et al., 2024): rotary positions, grouped queries, gated SiLU.
struct LlamaLayer : nn::Module {
  int64_t heads, kv_heads;
  nn::Linear q, k, v, out, gate, up, down;
  nn::RmsNorm norm1, norm2;
  LlamaLayer(Maker& m, int64_t dim, int64_t heads, int64_t kv_heads, int64_t hidden)
      : heads(heads),
        kv_heads(kv_heads),
        q(m.Linear(dim, dim, false)),
        k(m.Linear(dim, dim / heads * kv_heads, false)),
        v(m.Linear(dim, dim / heads * kv_heads, false)),
        out(m.Linear(dim, dim, false)),
        gate(m.Linear(dim, hidden, false)),
        up(m.Linear(dim, hidden, false)),
        down(m.Linear(hidden, dim, false)),
        norm1(m.RmsNorm(dim)),
        norm2(m.RmsNorm(dim)) {}
  static Tensor Rotate(const Tensor& x, const Tensor& cos, const Tensor& sin) {
    const std::vector<Tensor> half = Chunk(x, 2, -1);
    return Cat({half[0] * cos - half[1] * sin, half[1] * cos + half[0] * sin}, -1);
  }
  Tensor Forward(const Tensor& in, const Tensor& cos, const Tensor& sin) {
    const Tensor y = norm1.Forward(in);
    const Tensor a = ScaledDotProductAttention(Rotate(Heads(q.Forward(y), heads), cos, sin),
                                               Rotate(Heads(k.Forward(y), kv_heads), cos, sin),
                                               Heads(v.Forward(y), kv_heads), Causal(true));
    const Tensor x = in + out.Forward(Joined(a)), z = norm2.Forward(x);
    return x + down.Forward(Silu(gate.Forward(z)) * up.Forward(z));
  }
  void Visit(const nn::Visitor& visitor) override {
    visitor.Child("q_proj", q);
    visitor.Child("k_proj", k);
    visitor.Child("v_proj", v);
    visitor.Child("o_proj", out);
    visitor.Child("gate_proj", gate);
    visitor.Child("up_proj", up);
    visitor.Child("down_proj", down);
    visitor.Child("input_layernorm", norm1);
    visitor.Child("post_attention_layernorm", norm2);
  }
};

struct Llama : nn::Module {
  int64_t head;
  nn::Embedding embed;
  std::vector<std::unique_ptr<LlamaLayer>> layers;
  nn::RmsNorm norm;
  nn::Linear out;
  explicit Llama(Maker& m, int64_t count = 32, int64_t dim = 4096, int64_t heads = 32, int64_t kv_heads = 8,
                 int64_t hidden = 14336, int64_t vocabulary = 128256)
      : head(dim / heads),
        embed(m.Embedding(vocabulary, dim)),
        norm(m.RmsNorm(dim)),
        out(m.Linear(dim, vocabulary, false)) {
    for (int64_t i = 0; i < count; ++i)
      layers.push_back(std::make_unique<LlamaLayer>(m, dim, heads, kv_heads, hidden));
  }
  Tensor Forward(const Tensor& tokens) {
    const int64_t length = tokens.shape()[1], half = head / 2;
    const TensorOptions f32{dtypes::kFloat32, tokens.device()};
    const Tensor rates =
        (Tensor::Arange(0, half, 1, f32) * (-std::log2(500000.0) / static_cast<double>(half))).Exp2();
    const Tensor angles = Tensor::Arange(0, length, 1, f32).Unsqueeze(1) * rates.Unsqueeze(0);
    const Tensor cos = angles.Cos(), sin = angles.Sin();
    Tensor x = embed.Forward(tokens);
    for (const auto& l : layers) x = l->Forward(x, cos, sin);
    return out.Forward(norm.Forward(x));
  }
  void Visit(const nn::Visitor& v) override {
    v.Child("embed_tokens", embed);
    Children(v, "layers", layers);
    v.Child("norm", norm);
    v.Child("lm_head", out);
  }
};

// --- Models ---

constexpr double kWeightDecay = 1e-4;

template <class Net>
class NetModel : public Model {
 public:
  NetModel(const DevicePtr& device, bool training) : options_{dtypes::kFloat32, device->name()} {
    Maker maker{.options = options_};
    net_ = std::make_unique<Net>(maker);
    net_->Train(training);
    parameters_ = nn::ParameterCount(*net_);
    for (NamedTensor& t : nn::State(*net_)) Declare(t.tensor, device);
  }

 protected:
  Tensor Input(const Shape& shape, DType dtype, const DevicePtr& device) {
    Tensor t = Tensor::Empty(shape, {dtype, device->name()});
    Declare(t, device);
    return t;
  }
  void UseOptimizer(optim::OptimizerOr optimizer, const DevicePtr& device) {
    status_ = optimizer.status();
    if (!optimizer.ok()) return;
    optimizer_ = *std::move(optimizer);
    for (auto& [name, t] : optimizer_->NamedState()) Declare(t, device);
  }
  // The loss and everything that a step writes.
  absl::StatusOr<std::vector<Tensor>> Train(const Tensor& loss) {
    US_RETURN_IF_ERROR(status_);
    US_RETURN_IF_ERROR(optimizer_->Step(Gradients(loss, optimizer_->params())));
    Tensor shown = loss;
    std::vector<Tensor> out;
    for (Tensor* t : optimizer_->Pending({&shown})) out.push_back(*t);
    const auto statistics = [&](const std::string&, nn::Role role, Tensor& t) {
      if (role == nn::Role::kBuffer) out.push_back(t);
    };
    const nn::Visitor::OnTensor on_tensor = statistics;
    net_->Visit(nn::Visitor("", &on_tensor, nullptr));
    return out;
  }

  std::unique_ptr<Net> net_;
  TensorOptions options_;
  absl::Status status_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

class ResNetModel : public NetModel<ResNet50> {
 public:
  ResNetModel(const DevicePtr& device, bool training)
      : NetModel(device, training),
        images_(Input({64, 3, 224, 224}, dtypes::kFloat32, device)),
        classes_(Input({64}, dtypes::kInt32, device)) {
    if (training)
      UseOptimizer(
          optim::Sgd(nn::Parameters(*net_), {.lr = 0.1, .momentum = 0.9, .weight_decay = kWeightDecay}),
          device);
  }
  absl::StatusOr<std::vector<Tensor>> Step() override {
    const Tensor y = net_->Forward(images_);
    if (!net_->training()) return std::vector<Tensor>{y};
    return Train(CrossEntropy(y, classes_));
  }

 private:
  Tensor images_, classes_;
};

class Gpt2Model : public NetModel<Gpt2> {
 public:
  explicit Gpt2Model(const DevicePtr& device)
      : NetModel(device, true),
        tokens_(Input({4, 1024}, dtypes::kInt32, device)),
        next_(Input({4096}, dtypes::kInt32, device)) {
    UseOptimizer(optim::AdamW(nn::Parameters(*net_), {.lr = 3e-4, .weight_decay = 0.01}), device);
  }
  absl::StatusOr<std::vector<Tensor>> Step() override {
    return Train(CrossEntropy(net_->Forward(tokens_).Reshape({4096, -1}), next_));
  }

 private:
  Tensor tokens_, next_;
};

class BertModel : public NetModel<Bert> {
 public:
  explicit BertModel(const DevicePtr& device)
      : NetModel(device, false),
        tokens_(Input({8, 512}, dtypes::kInt32, device)),
        types_(Input({8, 512}, dtypes::kInt32, device)) {}
  absl::StatusOr<std::vector<Tensor>> Step() override {
    return std::vector<Tensor>{net_->Forward(tokens_, types_)};
  }

 private:
  Tensor tokens_, types_;
};

class LlamaModel : public NetModel<Llama> {
 public:
  explicit LlamaModel(const DevicePtr& device)
      : NetModel(device, false), tokens_(Input({1, 512}, dtypes::kInt32, device)) {}
  absl::StatusOr<std::vector<Tensor>> Step() override { return std::vector<Tensor>{net_->Forward(tokens_)}; }

 private:
  Tensor tokens_;
};

}  // namespace

void Model::Declare(Tensor& t, const DevicePtr& device) {
  const UOpRef buffer = uop::NewBuffer(t.dtype(), t.numel(), device->name());
  buffer->arg_as<BufferArg>().slot->impl =
      std::make_unique<Buffer>(device, static_cast<size_t>(t.numel()) * t.dtype().SizeBytes());
  t.Rebind(uop::Reshape(buffer, t.shape()));
  declared_.push_back({t, t.uop()});
}

void Model::Reset() {
  for (Declared& d : declared_) d.tensor.Rebind(d.storage);
}

const std::vector<std::string>& ModelNames() {
  static const auto* names = new std::vector<std::string>{"resnet50", "resnet50_training", "gpt2_training",
                                                          "bert_large", "llama3_8b"};
  return *names;
}

absl::StatusOr<std::unique_ptr<Model>> MakeModel(const std::string& name, DevicePtr device) {
  if (name == "resnet50") return std::make_unique<ResNetModel>(device, false);
  if (name == "resnet50_training") return std::make_unique<ResNetModel>(device, true);
  if (name == "gpt2_training") return std::make_unique<Gpt2Model>(device);
  if (name == "bert_large") return std::make_unique<BertModel>(device);
  if (name == "llama3_8b") return std::make_unique<LlamaModel>(device);
  return absl::NotFoundError("model " + name + ", expected one of " + absl::StrJoin(ModelNames(), ", "));
}

}  // namespace understudy::bench
