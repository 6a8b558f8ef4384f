// SPDX-License-Identifier: Apache-2.0
// Attention in its forms, and the rotary embedding that goes before it.
#include <cmath>

#include "src/tensor/elementwise_ops.h"
#include "src/tensor/indexing.h"
#include "src/tensor/internal.h"
#include "src/tensor/linalg.h"
#include "src/tensor/movement_ops.h"
#include "src/tensor/onnx/ops.h"

namespace understudy::onnx::ops {
namespace {

// {batch, sequence, heads * size} -> {batch, heads, sequence, size}.
Tensor Heads(NodeContext& c, const Tensor& x, int64_t heads) {
  if (!c.Want(heads > 0 && x.ndim() == 3 && x.shape()[2] % heads == 0, heads, " heads of ",
              tensor_internal::Text(x.shape()))) {
    return Tensor(c.status());
  }
  return x.Reshape({x.shape()[0], x.shape()[1], heads, x.shape()[2] / heads}).Permute({0, 2, 1, 3});
}
Tensor Merge(const Tensor& x) {
  if (!x.ok()) return x;
  const Shape& s = x.shape();
  return x.Permute({0, 2, 1, 3}).Reshape({s[0], s[2], s[1] * s[3]});
}

// Softmax over the last axis; a row of -inf is 0.
Tensor MaskedSoftmax(const Tensor& x) {
  const Tensor top = x.Max({-1}, true);
  const Tensor e = (x - understudy::Where(top.Eq(-INFINITY), 0, top)).Exp();
  const Tensor sum = e.Sum({-1}, true);
  return e / understudy::Where(sum.Eq(0), 1, sum);
}

Tensor RepeatHeads(NodeContext& c, const Tensor& x, int64_t heads) {
  if (!x.ok() || x.shape()[1] == heads) return x;
  if (!c.Want(x.shape()[1] > 0 && heads % x.shape()[1] == 0, heads, " heads of queries, ", x.shape()[1],
              " of keys"))
    return x;
  return RepeatInterleave(x, heads / x.shape()[1], 1);
}

}  // namespace

void Attention(NodeContext& c) {
  Tensor q = c.In(0), k = c.In(1), v = c.In(2);
  if (!c.Want(q.ndim() == k.ndim() && q.ndim() == v.ndim() && (q.ndim() == 3 || q.ndim() == 4),
              "queries with ", q.ndim(), " axes, keys with ", k.ndim()))
    return;
  const bool packed = q.ndim() == 3;
  if (packed) {
    q = Heads(c, q, c.Int("q_num_heads", 0));
    k = Heads(c, k, c.Int("kv_num_heads", 0));
    v = Heads(c, v, c.Int("kv_num_heads", 0));
  }
  if (!c.ok()) return;
  const DType dtype = q.dtype();
  // The past: a cache that the new keys are appended to, or (nonpad_kv_seqlen) how much of k and v counts.
  const bool past = c.Has(4) && c.Has(5);
  if (!c.Want(past || (!c.Has(4) && !c.Has(5)), "past_key without past_value")) return;
  int64_t offset = 0;
  if (past) {
    offset = c.In(4).ndim() == 4 ? c.In(4).shape()[2] : 0;
    k = Cat({c.In(4), k}, 2);
    v = Cat({c.In(5), v}, 2);
  }
  c.Out(1, k);
  c.Out(2, v);
  if (!c.Want(k.ok() && v.ok(), std::string((k.ok() ? v : k).status().message()))) return;
  const int64_t nq = q.shape()[2], nk = k.shape()[2];
  const DType work = AccType(dtype);
  // Every condition on (query, key) is a bool; additive masks are added.
  std::optional<Tensor> allowed, added;
  const auto also = [&](const Tensor& t) { allowed = allowed ? LogicalAnd(*allowed, t) : t; };
  if (c.Has(3)) {
    Tensor mask = c.In(3);
    if (!c.Want(mask.ndim() >= 1, "a mask without axes")) return;
    if (const int64_t missing = nk - mask.shape().back(); missing > 0) {
      std::vector<std::pair<int64_t, int64_t>> more(mask.ndim());
      more.back() = {0, missing};
      mask = mask.dtype().IsBool() ? mask.Pad(more, false) : mask.Pad(more, -INFINITY);
    }
    if (mask.dtype().IsBool())
      also(mask);
    else
      added = mask.Cast(work);
  }
  const Tensor i = Tensor::Arange(0, nq, 1, c.Options(dtypes::kInt64)).Reshape({nq, 1});
  const Tensor j = Tensor::Arange(0, nk, 1, c.Options(dtypes::kInt64));
  Tensor at = i + offset;  // the query's place among the keys
  if (c.Has(6)) {
    if (!c.Want(!past, "nonpad_kv_seqlen beside a past")) return;
    const Tensor n = c.In(6).Cast(dtypes::kInt64).Reshape({-1, 1, 1, 1});
    at = i + (n - nq);
    also(j < n);
  }
  if (c.Int("is_causal", 0) != 0) also(j <= at);
  const int64_t left = c.Int("left_window_size", -1), right = c.Int("right_window_size", -1);
  if (!c.Want(left >= -1 && right >= -1, "windows of ", left, " and ", right)) return;
  if (left >= 0) also(at - j <= left);
  if (right >= 0) also(j - at <= right);

  const int64_t heads = q.shape()[1];
  const Tensor keys = RepeatHeads(c, k, heads), values = RepeatHeads(c, v, heads);
  if (!c.ok()) return;
  const double scale = c.Float("scale", 1 / std::sqrt(static_cast<double>(q.shape()[3])));
  const double root = std::sqrt(scale);
  // Scores stay in the type of accumulation until the weights are rounded.
  Tensor scores = understudy::Matmul((q.Cast(work) * root), (keys.Cast(work) * root).Transpose());
  const double cap = c.Float("softcap", 0);
  const int64_t mode = c.Int("qk_matmul_output_mode", 0);
  const Tensor plain = scores;
  if (cap > 0) scores = (scores / cap).Tanh() * cap;
  const Tensor capped = scores;
  std::optional<Tensor> bias;
  if (added) bias = *added;
  if (allowed) {
    const Tensor zero = Tensor::Zeros({}, c.Options(work));
    bias =
        bias ? understudy::Where(*allowed, *bias, -INFINITY) : understudy::Where(*allowed, zero, -INFINITY);
  }
  if (bias) scores = scores + *bias;
  const Tensor with_bias = scores;
  if (const auto precision = static_cast<ElemType>(c.Int("softmax_precision", 0));
      precision != ElemType::kUndefined) {
    if (!c.Want(HeldIn(precision).IsFloat(), "softmax_precision ", ElemTypeName(precision))) return;
    scores = scores.Cast(HeldIn(precision)).Cast(Promote(AccType(HeldIn(precision)), work));
  }
  Tensor weights = MaskedSoftmax(scores);
  // Rows in which nothing is allowed are 0, whatever their scores were.
  if (bias) weights = understudy::Where(bias->Max({-1}, true).Eq(-INFINITY), 0, weights);
  if (c.Wants(3)) {
    if (!c.Want(mode >= 0 && mode <= 3, "qk_matmul_output_mode ", mode)) return;
    const Tensor seen = mode == 0 ? plain : mode == 1 ? capped : mode == 2 ? with_bias : weights;
    c.Out(3, seen.Cast(dtype));
  }
  const Tensor y = understudy::Matmul(weights.Cast(dtype), values).Cast(dtype);
  c.Out(0, packed ? Merge(y) : y);
}

void FlexAttention(NodeContext& c) {
  const Tensor q = c.In(0);
  Tensor k = c.In(1), v = c.In(2);
  if (!c.Want(q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4, "queries with ", q.ndim(),
              " axes, expected 4"))
    return;
  k = RepeatHeads(c, k, q.shape()[1]);
  v = RepeatHeads(c, v, q.shape()[1]);
  const double root = std::sqrt(c.Float("scale", 1 / std::sqrt(static_cast<double>(q.shape()[3]))));
  DType work = q.dtype() == dtypes::kFloat64 ? q.dtype() : dtypes::kFloat32;
  ElemType precision = static_cast<ElemType>(c.Int("softmax_precision", 0));
  if (precision != ElemType::kUndefined) work = HeldIn(precision);
  if (!c.Want(work.IsFloat(), "softmax_precision ", ElemTypeName(precision))) return;
  Tensor scores =
      understudy::Matmul((q * root).Cast(q.dtype()), (k * root).Cast(q.dtype()).Transpose()).Cast(work);
  // Subgraphs of one tensor change scores and weights.
  const auto modified = [&](const char* name, const Tensor& x) {
    if (c.Attribute(name) == nullptr) return x;
    const GraphProto* graph = c.Graph(name);
    if (graph == nullptr) return x;
    const auto out = c.RunGraph(*graph, {Value::Of(x)});
    if (!c.Want(out.size() == 1 && out[0]->kind == Value::Kind::kTensor, name, " gives ", out.size(),
                " values, expected a tensor"))
      return x;
    return out[0]->tensor.Cast(work);
  };
  scores = modified("score_mod", scores);
  const Tensor e = (scores - scores.Max({-1}, true)).Exp();
  const Tensor weights = modified("prob_mod", e / e.Sum({-1}, true));
  c.Out(0, understudy::Matmul(weights, v.Cast(work)).Cast(v.dtype()));
}

void RotaryEmbedding(NodeContext& c) {
  const Tensor in = c.In(0);
  if (!c.Want(in.ndim() == 3 || in.ndim() == 4, "an input with ", in.ndim(), " axes")) return;
  const int64_t num_heads = c.Int("num_heads", 0);
  // {batch, sequence, heads, size}.
  Tensor x = in;
  if (in.ndim() == 4) {
    x = in.Permute({0, 2, 1, 3});
  } else {
    if (!c.Want(num_heads > 0 && in.shape()[2] % num_heads == 0, num_heads, " heads of ", in.shape()[2]))
      return;
    x = in.Reshape({in.shape()[0], in.shape()[1], num_heads, in.shape()[2] / num_heads});
  }
  const int64_t size = x.shape()[3];
  int64_t dim = c.Int("rotary_embedding_dim", 0);
  if (dim == 0) dim = size;
  if (!c.Want(dim > 0 && dim <= size && dim % 2 == 0, "rotary_embedding_dim ", dim, " of ", size)) return;
  const Tensor turned = Narrow(x, 3, 0, dim), rest = Narrow(x, 3, dim, size - dim);
  Tensor cos = c.In(1), sin = c.In(2);
  if (c.Has(3)) {
    cos = IndexBy(cos, {c.In(3)});
    sin = IndexBy(sin, {c.In(3)});
  }
  if (!c.Want(cos.ok() && cos.shape().back() == dim / 2, "a cache that is not half of ", dim, " wide"))
    return;
  cos = cos.Unsqueeze(2);
  sin = sin.Unsqueeze(2);
  const bool interleaved = c.Int("interleaved", 0) != 0;
  Tensor a, b;
  if (interleaved) {
    Shape pairs = turned.shape();
    pairs.back() = dim / 2;
    pairs.push_back(2);
    const Tensor p = turned.Reshape(pairs);
    a = Select(p, -1, 0);
    b = Select(p, -1, 1);
  } else {
    a = Narrow(turned, 3, 0, dim / 2);
    b = Narrow(turned, 3, dim / 2, dim / 2);
  }
  const Tensor real = cos * a - sin * b, imaginary = sin * a + cos * b;
  Tensor y = interleaved ? Stack({real, imaginary}, -1).Reshape(turned.shape()) : Cat({real, imaginary}, 3);
  if (dim != size) y = Cat({y, rest}, 3);
  c.Out(0, in.ndim() == 4 ? y.Permute({0, 2, 1, 3}) : y.Reshape(in.shape()));
}

// A state of keys by values, step by step: decayed, corrected, written, read.
void LinearAttention(NodeContext& c) {
  const Tensor query = c.In(0), key = c.In(1), value = c.In(2);
  const int64_t hq = c.Int("q_num_heads", 0), hk = c.Int("kv_num_heads", 0);
  const std::string rule = c.Text("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta",
             delta = rule == "delta" || rule == "gated_delta";
  if (!c.Want(gated || delta || rule == "linear", "update_rule '", rule, "'") ||
      !c.Want(hq > 0 && hk > 0 && hq % hk == 0, hq, " heads of queries, ", hk, " of keys") ||
      !c.Want(gated == c.Has(4), "decay goes with the gated rules") ||
      !c.Want(delta == c.Has(5), "beta goes with the delta rules")) {
    return;
  }
  const Tensor q = Heads(c, query.Cast(dtypes::kFloat32), hq), k = Heads(c, key.Cast(dtypes::kFloat32), hk),
               v = Heads(c, value.Cast(dtypes::kFloat32), hk);
  if (!c.ok()) return;
  const int64_t batch = q.shape()[0], steps = q.shape()[2], dk = q.shape()[3], dv = v.shape()[3];
  Tensor decay, beta;
  if (gated) {
    const Tensor d = c.In(4).Cast(dtypes::kFloat32);
    if (!c.Want(d.ndim() == 3 && (d.shape()[2] == hk || d.shape()[2] == hk * dk), "decay ",
                tensor_internal::Text(d.shape())))
      return;
    decay = Heads(c, d, hk);
  }
  if (delta) {
    const Tensor b = c.In(5).Cast(dtypes::kFloat32);
    if (!c.Want(b.ndim() == 3 && (b.shape()[2] == hk || b.shape()[2] == 1), "beta ",
                tensor_internal::Text(b.shape())))
      return;
    beta = Heads(c, b, b.shape()[2]);
  }
  Tensor state = c.Has(3) ? c.In(3).Cast(dtypes::kFloat32)
                          : Tensor::Zeros({batch, hk, dk, dv}, c.Options(dtypes::kFloat32));
  const DType state_type = c.Has(3) ? c.In(3).dtype() : query.dtype();
  double scale = c.Float("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(dk));
  c.Fail(c.runner().CountSteps(steps));
  if (!c.ok()) return;
  std::vector<Tensor> out;
  for (int64_t t = 0; t < steps; ++t) {
    const Tensor qt = Select(q, 2, t), kt = Select(k, 2, t);
    Tensor vt = Select(v, 2, t);
    if (gated) state = state * Select(decay, 2, t).Exp().Unsqueeze(-1);
    if (delta) vt = Select(beta, 2, t) * (vt - (state * kt.Unsqueeze(-1)).Sum({2}));
    // Stored each step: the state is read several times.
    state = (state + kt.Unsqueeze(-1) * vt.Unsqueeze(-2)).Contiguous();
    out.push_back((RepeatHeads(c, state, hq) * qt.Unsqueeze(-1)).Sum({2}) * scale);
  }
  if (!c.Want(!out.empty(), "a sequence without steps")) return;
  c.Out(0, Merge(Stack(out, 2)).Cast(query.dtype()));
  c.Out(1, state.Cast(state_type));
}

}  // namespace understudy::onnx::ops
