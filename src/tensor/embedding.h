// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of a table by index, and sums of them, with PyTorch's arguments. Indices are integers; one outside the
// table cannot be refused before the data is known: its row is NaN (0 for integer tables).

#include <cstdint>
#include <optional>

#include "src/tensor/tensor.h"

namespace understudy {

// 1 at the index along a new last axis, 0 elsewhere, i64 as in PyTorch.
Tensor OneHot(const Tensor& index, int64_t num_classes);
// input: indices of any shape; weight {V, E} -> {..., E}. Row padding_idx gets no gradient.
Tensor Embedding(const Tensor& input, const Tensor& weight,
                 std::optional<int64_t> padding_idx = std::nullopt);

struct EmbeddingBagOptions {
  enum class Mode { kSum, kMean, kMax };
  Mode mode = Mode::kMean;
  const Tensor* per_sample_weights = nullptr;  // of the input's shape; kSum only
  std::optional<int64_t> padding_idx;          // takes no part
};
// input {B, N}: one bag a row.
Tensor EmbeddingBag(const Tensor& input, const Tensor& weight, const EmbeddingBagOptions& options = {});
// input {n}: bag b is [offsets[b], offsets[b + 1]), the last one up to n.
Tensor EmbeddingBag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                    const EmbeddingBagOptions& options = {});

}  // namespace understudy
