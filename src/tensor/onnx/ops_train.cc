// SPDX-License-Identifier: Apache-2.0
// Losses, optimisers' steps, DROPOUT and random tensors. Random numbers are the compiler's own (threefry of
// the run's seed): the same on every device, other than those of other runtimes.
#include <cmath>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/gather.h"
#include "src/tensor/internal.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"
#include "src/tensor/random.h"

namespace understudy::onnx::ops {
namespace {

// Of log probabilities {N, C, ...} and classes {N, ...}.
Tensor NegativeLogLikelihood(NodeContext& c, const Tensor& x, const Tensor& target, int weight_input) {
  const std::string reduction = c.Text("reduction", "mean");
  if (!c.Want(reduction == "mean" || reduction == "sum" || reduction == "none", "reduction '", reduction,
              "'") ||
      !c.Want(x.ndim() >= 2 && target.ndim() == x.ndim() - 1, "scores ", tensor_internal::Text(x.shape()),
              " and classes ", tensor_internal::Text(target.shape()))) {
    return Tensor(c.status());
  }
  Tensor t = target.Cast(dtypes::kInt64);
  std::optional<Tensor> counted;
  if (c.Attribute("ignore_index") != nullptr) {
    counted = t.Ne(c.Int("ignore_index", 0));
    t = understudy::Where(*counted, t, 0);
  }
  Tensor loss = -understudy::Gather(x, 1, t.Unsqueeze(1)).Squeeze(1);
  Tensor weight = Tensor::Ones(t.shape(), c.Options(x.dtype()));
  if (c.Has(weight_input))
    weight = understudy::Gather(c.In(weight_input), 0, t.Reshape({t.numel()})).Reshape(t.shape());
  if (counted) weight = understudy::Where(*counted, weight, 0);
  loss = understudy::Where(weight.Eq(0), 0, loss * weight);
  if (reduction == "none") return loss;
  if (reduction == "sum") return loss.Sum();
  return loss.Sum() / weight.Sum();
}

// Groups of tensors behind `first`: R, T, then all X, all G ...: member `which` of tensor i.
struct Groups {
  NodeContext& c;
  int per_tensor;
  int count;
  Tensor At(int which, int i) const { return c.In(2 + which * count + i); }
};
std::optional<Groups> ReadGroups(NodeContext& c, int per_tensor) {
  const int rest = c.num_inputs() - 2;
  if (!c.Want(rest > 0 && rest % per_tensor == 0, c.num_inputs(), " inputs, expected 2 and ", per_tensor,
              " a tensor"))
    return std::nullopt;
  return Groups{c, per_tensor, rest / per_tensor};
}

Tensor Random(NodeContext& c, const Shape& shape, ElemType type, bool normal) {
  const DType t = HeldIn(type);
  if (!c.Want(t.IsFloat(), "random elements of ", ElemTypeName(type))) return Tensor(c.status());
  const double a = c.Float(normal ? "mean" : "low", 0), b = c.Float(normal ? "scale" : "high", 1);
  const Tensor u = normal ? Randn(shape, c.runner().generator(), c.Options(t))
                          : Rand(shape, c.runner().generator(), c.Options(t));
  return normal ? u * b + a : u * (b - a) + a;
}

}  // namespace

void NegativeLogLikelihoodLoss(NodeContext& c) {
  const Tensor x = c.In(0), t = c.In(1);
  if (c.ok()) c.Out(0, NegativeLogLikelihood(c, x, t, 2));
}

void SoftmaxCrossEntropyLoss(NodeContext& c) {
  const Tensor x = c.In(0), t = c.In(1);
  if (!c.Want(x.ndim() >= 2, "scores with ", x.ndim(), " axes")) return;
  const Tensor log = x.LogSoftmax(1);
  c.Out(0, NegativeLogLikelihood(c, log, t, 2));
  c.Out(1, log);
}

void Adagrad(NodeContext& c) {
  const auto g = ReadGroups(c, 3);
  if (!g) return;
  const Tensor rate = c.In(0) / (c.In(1).Cast(dtypes::kFloat32) * c.Float("decay_factor", 0) + 1);
  for (int i = 0; i < g->count; ++i) {
    const Tensor x = g->At(0, i), gradient = x * c.Float("norm_coefficient", 0) + g->At(1, i);
    const Tensor h = g->At(2, i) + gradient.Square();
    c.Out(i, x - rate * gradient / (h.Sqrt() + c.Float("epsilon", 0)));
    c.Out(g->count + i, h);
  }
}

void Adam(NodeContext& c) {
  const auto g = ReadGroups(c, 4);
  if (!g) return;
  const double alpha = c.Float("alpha", 0.9f), beta = c.Float("beta", 0.999f),
               eps = c.Float("epsilon", 1e-6f);
  Tensor rate = c.In(0);
  const auto t = static_cast<double>(c.IntOf(1));
  if (t > 0) rate = rate * (std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t)));
  for (int i = 0; i < g->count; ++i) {
    const Tensor x = g->At(0, i), gradient = x * c.Float("norm_coefficient", 0) + g->At(1, i);
    const Tensor v = g->At(2, i) * alpha + gradient * (1 - alpha),
                 h = g->At(3, i) * beta + gradient.Square() * (1 - beta);
    const Tensor next = x - rate * (v / (h.Sqrt() + eps));
    c.Out(i, next * (1 - c.Float("norm_coefficient_post", 0)));
    c.Out(g->count + i, v);
    c.Out(2 * g->count + i, h);
  }
}

void Momentum(NodeContext& c) {
  const auto g = ReadGroups(c, 3);
  if (!g) return;
  const double alpha = c.Float("alpha", 0), beta = c.IntOf(1) > 0 ? c.Float("beta", 0) : 1;
  const std::string mode = c.Text("mode", "");
  if (!c.Want(mode == "standard" || mode == "nesterov", "mode '", mode, "', expected standard or nesterov"))
    return;
  const Tensor rate = c.In(0);
  for (int i = 0; i < g->count; ++i) {
    const Tensor x = g->At(0, i), gradient = x * c.Float("norm_coefficient", 0) + g->At(1, i);
    const Tensor v = g->At(2, i) * alpha + gradient * beta;
    c.Out(i, x - rate * (mode == "standard" ? v : gradient + v * alpha));
    c.Out(g->count + i, v);
  }
}

void Dropout(NodeContext& c) {
  const Tensor x = c.In(0);
  const Tensor all = Tensor::Ones(x.shape(), c.Options(dtypes::kBool));
  // Before version 12 (attribute `ratio`) only inference has a meaning.
  const bool training = c.opset() >= 12 && c.Has(2) && c.IntOf(2) != 0;
  const double ratio = training ? (c.Has(1) ? c.DoubleOf(1) : 0.5) : 0;
  if (!c.Want(ratio >= 0 && ratio < 1, "a ratio of ", ratio)) return;
  if (ratio == 0) {
    c.Out(0, x);
    return c.Out(1, c.opset() < 10 ? all.Cast(x.dtype()) : all);
  }
  const Tensor keep = Rand(x.shape(), c.runner().generator(), c.Options(dtypes::kFloat32)) >= ratio;
  c.Out(0, understudy::Where(keep, x * (1 / (1 - ratio)), 0));
  c.Out(1, keep);
}

void RandomNormal(NodeContext& c) {
  c.Out(0, Random(c, c.IntList("shape").value_or(Shape{}), static_cast<ElemType>(c.Int("dtype", 1)), true));
}
void RandomUniform(NodeContext& c) {
  c.Out(0, Random(c, c.IntList("shape").value_or(Shape{}), static_cast<ElemType>(c.Int("dtype", 1)), false));
}
void RandomNormalLike(NodeContext& c) {
  c.Out(0, Random(c, c.In(0).shape(),
                  static_cast<ElemType>(c.Int("dtype", static_cast<int64_t>(c.TypeOf(0)))), true));
}
void RandomUniformLike(NodeContext& c) {
  c.Out(0, Random(c, c.In(0).shape(),
                  static_cast<ElemType>(c.Int("dtype", static_cast<int64_t>(c.TypeOf(0)))), false));
}
void Bernoulli(NodeContext& c) {
  const Tensor p = c.In(0);
  const auto type = static_cast<ElemType>(c.Int("dtype", static_cast<int64_t>(c.TypeOf(0))));
  if (HeldIn(type).IsVoid()) return c.Refuse("elements of ", ElemTypeName(type));
  const Tensor one =
      Rand(p.shape(), c.runner().generator(), c.Options(dtypes::kFloat32)) < p.Cast(dtypes::kFloat32);
  c.Out(0, one.Cast(HeldIn(type)), type);
}
void Multinomial(NodeContext& c) {
  const auto type = static_cast<ElemType>(c.Int("dtype", 6));
  if (!c.Want(HeldIn(type).IsInt(), "classes of ", ElemTypeName(type))) return;
  // The input holds unnormalised log probabilities.
  const Tensor weights = c.In(0).Cast(dtypes::kFloat32).Softmax(-1);
  c.Out(0,
        understudy::Multinomial(weights, c.Int("sample_size", 1), true, c.runner().generator())
            .Cast(HeldIn(type)),
        type);
}

}  // namespace understudy::onnx::ops
