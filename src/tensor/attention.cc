// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/status.h"
#include "src/tensor/linalg.h"
#include "src/tensor/nn_internal.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::Text;

// Row i sees columns 0..i.
Tensor CausalMask(const Tensor& scores) {
  const int64_t row = scores.ndim() - 2;
  return tensor_internal::PositionsAlong(scores, row + 1).Le(tensor_internal::PositionsAlong(scores, row));
}

absl::StatusOr<Tensor> Dropped(const char* op, const Tensor& weights, double p, Generator* generator) {
  if (p == 0) return weights;
  if (generator == nullptr) return Bad(op, "dropout of ", p, " without a generator, expected one");
  const Tensor y = Dropout(weights, p, true, *generator);
  US_RETURN_IF_ERROR(y.status());
  return y;
}

// Scores {..., L, S} in the compute type; a row of nothing but -inf becomes 0 and not NaN.
Tensor SafeSoftmax(const Tensor& scores) {
  const int64_t last = scores.ndim() - 1;
  const Tensor top = scores.Detach().Max({last}, true);
  const Tensor e = (scores - Where(top.Eq(-INFINITY), 0.0, top)).Exp();
  const Tensor sum = e.Sum({last}, true);
  return e * Where(sum.Eq(0), 1.0, sum).Reciprocal();
}

// Bool: what is false does not take part. Float: added.
absl::StatusOr<Tensor> Masked(const char* op, const Tensor& scores, const Tensor& mask) {
  US_ASSIGN_OR_RETURN(const Shape shape, tensor_internal::BroadcastShapes(op, scores.shape(), mask.shape()));
  if (shape != scores.shape()) {
    return Bad(op, "mask of shape ", Text(mask.shape()), " does not broadcast to the scores' ",
               Text(scores.shape()));
  }
  if (mask.dtype().IsBool()) return Where(mask, scores, -INFINITY);
  if (mask.dtype().IsFloat()) return scores + mask.Cast(scores.dtype());
  return Bad(op, "mask of dtype ", mask.dtype().Name(), ", expected bool or a float");
}

absl::StatusOr<Tensor> Attend(const Tensor& query, const Tensor& key, const Tensor& value,
                              const AttentionOptions& o) {
  const char* op = "ScaledDotProductAttention";
  US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {&query, &key, &value}));
  US_RETURN_IF_ERROR(tensor_internal::FirstError({o.mask}));
  if (query.ndim() < 2 || key.ndim() < 2 || value.ndim() < 2 || query.shape().back() != key.shape().back() ||
      key.shape()[key.ndim() - 2] != value.shape()[value.ndim() - 2]) {
    return Bad(op, "query ", Text(query.shape()), ", key ", Text(key.shape()), ", value ",
               Text(value.shape()), ", expected [...,L,E], [...,S,E] and [...,S,V]");
  }
  if (o.mask != nullptr && o.is_causal) return Bad(op, "a mask and is_causal, expected one of them");
  const DType t = Promote(Promote(query.dtype(), key.dtype()), value.dtype()), compute = AccType(t);
  Tensor k = key, v = value;
  if (o.enable_gqa) {
    if (query.ndim() < 3 || key.ndim() != query.ndim() || value.ndim() != query.ndim())
      return Bad(op, "enable_gqa with ranks ", query.ndim(), ", ", key.ndim(), ", ", value.ndim(),
                 ", expected equal ranks of 3 or more");
    const int64_t heads = query.shape()[query.ndim() - 3];
    const auto repeated = [&](const Tensor& x) -> absl::StatusOr<Tensor> {
      const int64_t own = x.shape()[x.ndim() - 3];
      if (own < 1 || heads % own != 0)
        return Bad(op, heads, " heads of the query and ", own, " of the key or value, expected a divisor");
      Shape s = x.shape(), joined = x.shape();
      s.insert(s.end() - 2, heads / own);
      joined[joined.size() - 3] = heads;
      return x.Unsqueeze(-3).Expand(s).Reshape(joined);
    };
    US_ASSIGN_OR_RETURN(k, repeated(key));
    US_ASSIGN_OR_RETURN(v, repeated(value));
  }
  const int64_t width = query.shape().back();
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, width))));
  Tensor scores = tensor_internal::MatmulIn(op, query, k.Transpose(), compute) * scale;
  US_RETURN_IF_ERROR(scores.status());
  if (o.is_causal) scores = Where(CausalMask(scores), scores, -INFINITY);
  if (o.mask != nullptr) {
    US_ASSIGN_OR_RETURN(scores, Masked(op, scores, *o.mask));
  }
  // Nothing to look at: sums of nothing.
  if (scores.numel() == 0) return tensor_internal::MatmulIn(op, scores, v, compute).Cast(t);
  US_ASSIGN_OR_RETURN(const Tensor weights, Dropped(op, SafeSoftmax(scores), o.dropout_p, o.generator));
  return tensor_internal::MatmulIn(op, weights, v, compute).Cast(t);
}

// The projections as three weights, checked.
absl::StatusOr<std::array<Tensor, 3>> InProjections(const char* op, const MultiHeadAttentionWeights& w,
                                                    int64_t e, int64_t key_width, int64_t value_width) {
  const std::array<const Tensor*, 3> apart = {w.q_proj, w.k_proj, w.v_proj};
  const std::array<int64_t, 3> widths = {e, key_width, value_width};
  if (w.q_proj == nullptr && w.k_proj == nullptr && w.v_proj == nullptr) {
    US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {&w.in_proj}));
    if (w.in_proj.shape() != Shape{3 * e, e} || key_width != e || value_width != e) {
      return Bad(op, "in_proj ", Text(w.in_proj.shape()), " for widths ", e, ", ", key_width, " and ",
                 value_width, ", expected [", 3 * e, ",", e, "] and equal widths");
    }
    std::array<Tensor, 3> parts;
    for (int64_t i = 0; i < 3; ++i) parts[i] = tensor_internal::Cut(w.in_proj, 0, i * e, (i + 1) * e);
    return parts;
  }
  std::array<Tensor, 3> parts;
  for (size_t i = 0; i < 3; ++i) {
    if (apart[i] == nullptr) return Bad(op, "some of q_proj, k_proj and v_proj, expected all or none");
    US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {apart[i]}));
    if (apart[i]->shape() != Shape{e, widths[i]}) {
      return Bad(op, "projection ", i, " of shape ", Text(apart[i]->shape()), ", expected [", e, ",",
                 widths[i], "]");
    }
    parts[i] = *apart[i];
  }
  return parts;
}

absl::StatusOr<MultiHeadAttentionResult> MultiHead(const Tensor& query, const Tensor& key,
                                                   const Tensor& value, int64_t heads,
                                                   const MultiHeadAttentionWeights& w,
                                                   const MultiHeadAttentionOptions& o) {
  const char* op = "MultiHeadAttention";
  US_RETURN_IF_ERROR(tensor_internal::WantFloats(
      op, {&query, &key, &value, w.in_proj_bias, &w.out_proj, w.out_proj_bias, w.bias_k, w.bias_v}));
  US_RETURN_IF_ERROR(tensor_internal::FirstError({o.attn_mask, o.key_padding_mask}));
  const int64_t e = query.ndim() == 3 ? query.shape()[2] : 0;
  if (query.ndim() != 3 || key.ndim() != 3 || value.ndim() != 3 || value.shape()[0] != key.shape()[0] ||
      value.shape()[1] != key.shape()[1] || key.shape()[0] != query.shape()[0]) {
    return Bad(op, "query ", Text(query.shape()), ", key ", Text(key.shape()), ", value ",
               Text(value.shape()), ", expected [N,L,E], [N,S,E] and [N,S,E]");
  }
  if (heads < 1 || e % heads != 0) return Bad(op, "width ", e, " in ", heads, " heads, expected a divisor");
  US_ASSIGN_OR_RETURN(const auto in_proj, InProjections(op, w, e, key.shape()[2], value.shape()[2]));
  if (w.out_proj.shape() != Shape{e, e})
    return Bad(op, "out_proj ", Text(w.out_proj.shape()), ", expected [", e, ",", e, "]");
  if (w.in_proj_bias != nullptr && w.in_proj_bias->shape() != Shape{3 * e})
    return Bad(op, "in_proj_bias of shape ", Text(w.in_proj_bias->shape()), ", expected [", 3 * e, "]");
  if ((w.bias_k == nullptr) != (w.bias_v == nullptr))
    return Bad(op, "one of bias_k and bias_v, expected both or none");
  for (const Tensor* bias : {w.bias_k, w.bias_v}) {
    if (bias != nullptr && bias->shape() != Shape{1, 1, e})
      return Bad(op, "bias_k or bias_v of shape ", Text(bias->shape()), ", expected [1,1,", e, "]");
  }
  const int64_t n = query.shape()[0], rows = query.shape()[1], columns = key.shape()[1];
  const int64_t added = (w.bias_k != nullptr ? 1 : 0) + (w.add_zero_attn ? 1 : 0);
  // {N, heads, length, E / heads}
  const auto project = [&](const Tensor& x, int64_t part, const Tensor* more) {
    Tensor bias;
    if (w.in_proj_bias != nullptr) bias = tensor_internal::Cut(*w.in_proj_bias, 0, part * e, (part + 1) * e);
    Tensor y = Linear(x, in_proj[part], w.in_proj_bias == nullptr ? nullptr : &bias);
    if (more != nullptr) y = Cat({y, more->Cast(y.dtype()).Expand({n, 1, e})}, 1);
    if (part != 0 && w.add_zero_attn) y = tensor_internal::PadAxis(y, 1, 0, 1);
    return y.Reshape({n, y.ok() ? y.shape()[1] : 0, heads, e / heads}).Permute({0, 2, 1, 3});
  };
  const Tensor q = project(query, 0, nullptr), k = project(key, 1, w.bias_k), v = project(value, 2, w.bias_v);
  US_RETURN_IF_ERROR(tensor_internal::FirstError({&q, &k, &v}));
  const DType t = q.dtype(), compute = AccType(t);
  Tensor scores =
      tensor_internal::MatmulIn(op, q, k.Transpose(), compute) / std::sqrt(static_cast<double>(e / heads));
  // torch.nn.MultiheadAttention's bool masks mark what is left out.
  const auto apply = [&](const Tensor& given) -> absl::Status {
    const bool flags = given.dtype().IsBool();
    Tensor mask = given;
    if (added != 0)
      mask = tensor_internal::PadAxis(mask, mask.ndim() - 1, 0, added, flags ? Number(false) : Number(0.0));
    US_ASSIGN_OR_RETURN(scores, Masked(op, scores, flags ? mask.LogicalNot() : mask));
    return absl::OkStatus();
  };
  if (o.attn_mask != nullptr) {
    const Tensor& m = *o.attn_mask;
    if (m.shape() != Shape{rows, columns} && m.shape() != Shape{n * heads, rows, columns}) {
      return Bad(op, "attn_mask of shape ", Text(m.shape()), ", expected [", rows, ",", columns, "] or [",
                 n * heads, ",", rows, ",", columns, "]");
    }
    US_RETURN_IF_ERROR(apply(m.ndim() == 2 ? m : m.Reshape({n, heads, rows, columns})));
  }
  if (o.is_causal) {
    US_RETURN_IF_ERROR(apply(
        tensor_internal::Positions(columns, 1, 2, query).Gt(tensor_internal::Positions(rows, 0, 2, query))));
  }
  if (o.key_padding_mask != nullptr) {
    if (o.key_padding_mask->shape() != Shape{n, columns})
      return Bad(op, "key_padding_mask of shape ", Text(o.key_padding_mask->shape()), ", expected [", n, ",",
                 columns, "]");
    US_RETURN_IF_ERROR(apply(o.key_padding_mask->Reshape({n, 1, 1, columns})));
  }
  if (scores.numel() == 0)
    return Bad(op, "query ", Text(query.shape()), " and key ", Text(key.shape()), ", expected elements");
  // As torch.nn.MultiheadAttention, which does not guard it: a row that sees nothing is NaN.
  US_ASSIGN_OR_RETURN(const Tensor weights, Dropped(op, scores.Softmax(-1), o.dropout_p, o.generator));
  const Tensor heads_out = tensor_internal::MatmulIn(op, weights, v, compute).Cast(t);
  MultiHeadAttentionResult r;
  r.output = Linear(heads_out.Permute({0, 2, 1, 3}).Reshape({n, rows, e}), w.out_proj, w.out_proj_bias);
  r.weights = (o.average_weights ? weights.Mean({1}) : weights).Cast(t);
  return r;
}

}  // namespace

Tensor ScaledDotProductAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const AttentionOptions& options) {
  auto y = Attend(query, key, value, options);
  return y.ok() ? *y : Tensor(y.status());
}

MultiHeadAttentionResult MultiHeadAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                            int64_t num_heads, const MultiHeadAttentionWeights& weights,
                                            const MultiHeadAttentionOptions& options) {
  auto r = MultiHead(query, key, value, num_heads, weights, options);
  return r.ok() ? *r : MultiHeadAttentionResult{Tensor(r.status()), Tensor(r.status())};
}

}  // namespace understudy
