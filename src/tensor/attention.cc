// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/attention.h"

#include <algorithm>
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
  return tensor_internal::MatmulIn(op, SafeSoftmax(scores), v, compute).Cast(t);
}

absl::StatusOr<MultiHeadAttentionResult> MultiHead(const Tensor& query, const Tensor& key,
                                                   const Tensor& value, int64_t heads,
                                                   const MultiHeadAttentionWeights& w,
                                                   const MultiHeadAttentionOptions& o) {
  const char* op = "MultiHeadAttention";
  US_RETURN_IF_ERROR(tensor_internal::WantFloats(
      op, {&query, &key, &value, &w.in_proj, w.in_proj_bias, &w.out_proj, w.out_proj_bias}));
  US_RETURN_IF_ERROR(tensor_internal::FirstError({o.attn_mask, o.key_padding_mask}));
  const int64_t e = query.ndim() == 3 ? query.shape()[2] : 0;
  if (query.ndim() != 3 || key.ndim() != 3 || value.shape() != key.shape() ||
      key.shape()[0] != query.shape()[0] || key.shape()[2] != e) {
    return Bad(op, "query ", Text(query.shape()), ", key ", Text(key.shape()), ", value ",
               Text(value.shape()), ", expected [N,L,E], [N,S,E] and [N,S,E]");
  }
  if (heads < 1 || e % heads != 0) return Bad(op, "width ", e, " in ", heads, " heads, expected a divisor");
  if (w.in_proj.shape() != Shape{3 * e, e} || w.out_proj.shape() != Shape{e, e}) {
    return Bad(op, "in_proj ", Text(w.in_proj.shape()), " and out_proj ", Text(w.out_proj.shape()),
               ", expected [", 3 * e, ",", e, "] and [", e, ",", e, "]");
  }
  if (w.in_proj_bias != nullptr && w.in_proj_bias->shape() != Shape{3 * e})
    return Bad(op, "in_proj_bias of shape ", Text(w.in_proj_bias->shape()), ", expected [", 3 * e, "]");
  const int64_t n = query.shape()[0], rows = query.shape()[1], columns = key.shape()[1];
  // {N, heads, length, E / heads}
  const auto project = [&](const Tensor& x, int64_t part) {
    const Tensor weight = tensor_internal::Cut(w.in_proj, 0, part * e, (part + 1) * e);
    Tensor bias;
    if (w.in_proj_bias != nullptr) bias = tensor_internal::Cut(*w.in_proj_bias, 0, part * e, (part + 1) * e);
    return Linear(x, weight, w.in_proj_bias == nullptr ? nullptr : &bias)
        .Reshape({n, x.shape()[1], heads, e / heads})
        .Permute({0, 2, 1, 3});
  };
  const Tensor q = project(query, 0), k = project(key, 1), v = project(value, 2);
  US_RETURN_IF_ERROR(tensor_internal::FirstError({&q, &k, &v}));
  const DType t = q.dtype(), compute = AccType(t);
  Tensor scores =
      tensor_internal::MatmulIn(op, q, k.Transpose(), compute) / std::sqrt(static_cast<double>(e / heads));
  // torch.nn.MultiheadAttention's bool masks mark what is left out.
  const auto apply = [&](const Tensor& mask) -> absl::Status {
    US_ASSIGN_OR_RETURN(scores, Masked(op, scores, mask.dtype().IsBool() ? mask.LogicalNot() : mask));
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
  if (o.is_causal) scores = Where(CausalMask(scores), scores, -INFINITY);
  if (o.key_padding_mask != nullptr) {
    if (o.key_padding_mask->shape() != Shape{n, columns})
      return Bad(op, "key_padding_mask of shape ", Text(o.key_padding_mask->shape()), ", expected [", n, ",",
                 columns, "]");
    US_RETURN_IF_ERROR(apply(o.key_padding_mask->Reshape({n, 1, 1, columns})));
  }
  if (scores.numel() == 0)
    return Bad(op, "query ", Text(query.shape()), " and key ", Text(key.shape()), ", expected elements");
  // As torch.nn.MultiheadAttention, which does not guard it: a row that sees nothing is NaN.
  const Tensor weights = scores.Softmax(-1);
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
