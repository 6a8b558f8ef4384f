// SPDX-License-Identifier: Apache-2.0
// Rows picked by comparing positions with indices; sums of exactly one row move its bits as they are.
#include "src/tensor/embedding.h"

#include <cmath>

#include "src/base/status.h"
#include "src/tensor/nn_internal.h"

namespace understudy {
namespace {

using tensor_internal::Bad;
using tensor_internal::Refuse;
using tensor_internal::Text;

using Mode = EmbeddingBagOptions::Mode;

Tensor OrError(absl::StatusOr<Tensor> t) { return t.ok() ? *std::move(t) : Tensor(t.status()); }

absl::Status CheckTable(const char* op, const Tensor& input, const Tensor& weight) {
  US_RETURN_IF_ERROR(tensor_internal::FirstError({&input, &weight}));
  if (!input.dtype().IsInt())
    return Bad(op, "indices of dtype ", input.dtype().Name(), ", expected integers");
  if (weight.ndim() != 2) return Bad(op, "weight ", Text(weight.shape()), ", expected [V,E]");
  return absl::OkStatus();
}

absl::StatusOr<std::optional<int64_t>> PaddingRow(const char* op, const Tensor& weight,
                                                  std::optional<int64_t> row) {
  if (!row) return row;
  const int64_t rows = weight.shape()[0];
  if (*row < -rows || *row >= rows)
    return Bad(op, "padding_idx ", *row, " is outside a table of ", rows, " rows");
  return std::optional<int64_t>(*row < 0 ? *row + rows : *row);
}

// {...} -> {..., E}
Tensor RowsOf(const Tensor& input, const Tensor& weight) {
  const int64_t axis = input.ndim();
  const Tensor index = input.Cast(dtypes::kInt64).Unsqueeze(-1).Unsqueeze(-1);
  const int64_t rows = weight.shape()[0];
  const Tensor hit = index.Eq(tensor_internal::Positions(rows, 0, 2, weight));
  const Tensor picked = tensor_internal::PlainSum(
      "Embedding", Where(hit, weight, Tensor::Full({}, 0, {weight.dtype(), weight.device()})), {axis});
  const Tensor one = index.Squeeze(-1), inside = one.Ge(0).BitAnd(one.Lt(rows));
  if (weight.dtype().IsFloat()) return Where(inside, picked, NAN);
  return Where(inside, picked, Tensor::Full({}, 0, {weight.dtype(), weight.device()}));
}

absl::StatusOr<Tensor> Lookup(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx) {
  US_RETURN_IF_ERROR(CheckTable("Embedding", input, weight));
  US_ASSIGN_OR_RETURN(const std::optional<int64_t> row, PaddingRow("Embedding", weight, padding_idx));
  if (!row) return RowsOf(input, weight);
  const Tensor fixed = tensor_internal::Positions(weight.shape()[0], 0, 2, weight).Eq(*row);
  return RowsOf(input, Where(fixed, weight.Detach(), weight));
}

// rows {..., n, E}; counts {..., n, 1}: whether a row takes part. Over axis -2.
Tensor Bags(const Tensor& rows, const Tensor& counts, Mode mode, DType t) {
  const int64_t axis = rows.ndim() - 2;
  const Tensor number = counts.Cast(dtypes::kInt64).Sum({axis});
  if (mode == Mode::kMax) {
    if (rows.shape()[axis] == 0) return rows.Sum({axis}).Cast(t);
    const Tensor top = Where(counts, rows, -INFINITY).Max({axis});
    return Where(number.Eq(0), 0.0, top).Cast(t);
  }
  const Tensor sum = Where(counts, rows, 0.0).Sum({axis});
  if (mode == Mode::kSum) return sum.Cast(t);
  return (sum / number.Maximum(1).Cast(sum.dtype())).Cast(t);
}

absl::Status CheckBag(const Tensor& input, const Tensor& weight, const EmbeddingBagOptions& o) {
  const char* op = "EmbeddingBag";
  US_RETURN_IF_ERROR(CheckTable(op, input, weight));
  if (!weight.dtype().IsFloat())
    return Bad(op, "weight of dtype ", weight.dtype().Name(), ", expected floats");
  if (o.per_sample_weights != nullptr) {
    US_RETURN_IF_ERROR(tensor_internal::WantFloats(op, {o.per_sample_weights}));
    if (o.mode != Mode::kSum) return Bad(op, "per_sample_weights with a mode other than kSum");
    if (o.per_sample_weights->shape() != input.shape())
      return Bad(op, "per_sample_weights ", Text(o.per_sample_weights->shape()), ", expected the input's ",
                 Text(input.shape()));
  }
  return absl::OkStatus();
}

// {..., E} in the type of accumulation, weighted; and whether each takes part, {..., 1}.
absl::StatusOr<std::pair<Tensor, Tensor>> BagRows(const Tensor& input, const Tensor& weight,
                                                  const EmbeddingBagOptions& o) {
  US_ASSIGN_OR_RETURN(const std::optional<int64_t> pad, PaddingRow("EmbeddingBag", weight, o.padding_idx));
  US_ASSIGN_OR_RETURN(Tensor rows, Lookup(input, weight, o.padding_idx));
  rows = rows.Cast(AccType(weight.dtype()));
  if (o.per_sample_weights != nullptr) rows = rows * o.per_sample_weights->Cast(rows.dtype()).Unsqueeze(-1);
  const Tensor index = input.Cast(dtypes::kInt64).Unsqueeze(-1);
  const Tensor counts =
      pad ? index.Ne(*pad) : Tensor::Full(index.shape(), true, {dtypes::kBool, input.device()});
  return std::make_pair(rows, counts);
}

absl::StatusOr<Tensor> BagOfRows(const Tensor& input, const Tensor& weight, const EmbeddingBagOptions& o) {
  US_RETURN_IF_ERROR(CheckBag(input, weight, o));
  if (input.ndim() != 2)
    return Bad("EmbeddingBag", "input ", Text(input.shape()), ", expected [B,N], or [n] with offsets");
  US_ASSIGN_OR_RETURN(const auto rows, BagRows(input, weight, o));
  return Bags(rows.first, rows.second, o.mode, weight.dtype());
}

absl::StatusOr<Tensor> BagOfRanges(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                                   const EmbeddingBagOptions& o) {
  US_RETURN_IF_ERROR(CheckBag(input, weight, o));
  US_RETURN_IF_ERROR(offsets.status());
  if (input.ndim() != 1 || offsets.ndim() != 1 || offsets.shape()[0] < 1 || !offsets.dtype().IsInt()) {
    return Bad("EmbeddingBag", "input ", Text(input.shape()), " and offsets of ", offsets.dtype().Name(),
               Text(offsets.shape()), ", expected [n] and integers [B]");
  }
  US_ASSIGN_OR_RETURN(const auto rows, BagRows(input, weight, o));
  const int64_t n = input.shape()[0], bags = offsets.shape()[0];
  const Tensor begin = offsets.Cast(dtypes::kInt64);
  const Tensor end = Cat(
      {tensor_internal::Cut(begin, 0, 1, bags), Tensor::Full({1}, n, {dtypes::kInt64, input.device()})}, 0);
  const Tensor at = tensor_internal::Positions(n, 1, 3, input);
  const Tensor member =
      at.Ge(begin.Reshape({bags, 1, 1})).BitAnd(at.Lt(end.Reshape({bags, 1, 1}))).BitAnd(rows.second);
  const Tensor all = rows.first.Unsqueeze(0).Expand({bags, n, weight.shape()[1]});
  return Bags(all, member, o.mode, weight.dtype());
}

}  // namespace

Tensor OneHot(const Tensor& index, int64_t num_classes) {
  if (!index.ok()) return index;
  if (!index.dtype().IsInt())
    return Refuse("OneHot", "indices of dtype ", index.dtype().Name(), ", expected integers");
  if (num_classes < 1) return Refuse("OneHot", num_classes, " classes, expected at least 1");
  const int rank = index.ndim();
  return index.Cast(dtypes::kInt64)
      .Unsqueeze(-1)
      .Eq(tensor_internal::Positions(num_classes, rank, rank + 1, index))
      .Cast(dtypes::kInt64);
}

Tensor Embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx) {
  return OrError(Lookup(input, weight, padding_idx));
}

Tensor EmbeddingBag(const Tensor& input, const Tensor& weight, const EmbeddingBagOptions& options) {
  return OrError(BagOfRows(input, weight, options));
}

Tensor EmbeddingBag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                    const EmbeddingBagOptions& options) {
  return OrError(BagOfRanges(input, weight, offsets, options));
}

}  // namespace understudy
