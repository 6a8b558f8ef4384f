// SPDX-License-Identifier: Apache-2.0
#pragma once
// Views, rearrangements and joins of tensors beyond the methods of Tensor: PyTorch's names, argument order
// and rules for negative axes. Nothing here computes an element; each composition fuses into what reads it,
// and its derivative is the movement back.
//
//   auto [a, b] = ...;  Tensor w = Unfold(x, 0, 3, 1);  Tensor y = Roll(x, {1}, {0});

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/tensor/tensor.h"

namespace understudy {

// --- Shapes ---
Tensor View(const Tensor& x, Shape shape);  // one -1 allowed, as Reshape
Tensor ViewAs(const Tensor& x, const Tensor& other);
Tensor Ravel(const Tensor& x);
Tensor Unflatten(const Tensor& x, int64_t axis, Shape sizes);  // one -1 allowed
Tensor Movedim(const Tensor& x, const std::vector<int64_t>& from, const std::vector<int64_t>& to);
Tensor Swapaxes(const Tensor& x, int64_t a, int64_t b);
Tensor ExpandAs(const Tensor& x, const Tensor& other);
Tensor BroadcastTo(const Tensor& x, Shape shape);
// All at their common shape; an error is every element's.
std::vector<Tensor> BroadcastTensors(const std::vector<Tensor>& tensors);
Tensor Atleast1d(const Tensor& x);
Tensor Atleast2d(const Tensor& x);
Tensor Atleast3d(const Tensor& x);

// --- Parts ---
Tensor Narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length);
Tensor Select(const Tensor& x, int64_t axis, int64_t index);  // the axis goes
// Pieces of `size` (the last may be smaller), or of the given sizes, which must sum to the axis.
std::vector<Tensor> Split(const Tensor& x, int64_t size, int64_t axis = 0);
std::vector<Tensor> Split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis = 0);
// At most `chunks` equal pieces (the last may be smaller).
std::vector<Tensor> Chunk(const Tensor& x, int64_t chunks, int64_t axis = 0);
// Exactly `sections` pieces whose sizes differ by one at most; or cut at these positions.
std::vector<Tensor> TensorSplit(const Tensor& x, int64_t sections, int64_t axis = 0);
std::vector<Tensor> TensorSplit(const Tensor& x, const std::vector<int64_t>& positions, int64_t axis = 0);
std::vector<Tensor> Unbind(const Tensor& x, int64_t axis = 0);
// Windows of `size` elements every `step` along the axis, as a new last axis.
Tensor Unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step);

// --- Order ---
Tensor Roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes = {});
Tensor Rot90(const Tensor& x, int64_t k = 1, int64_t from = 0, int64_t to = 1);
Tensor Fliplr(const Tensor& x);
Tensor Flipud(const Tensor& x);

// --- Copies of elements ---
// As many repeats as axes or more (new axes on the left).
Tensor Repeat(const Tensor& x, const std::vector<int64_t>& repeats);
// As Repeat; fewer repeats than axes are those of the last axes.
Tensor Tile(const Tensor& x, const std::vector<int64_t>& repeats);
// Each element `repeats` times in place; without an axis, of the flattened tensor.
Tensor RepeatInterleave(const Tensor& x, int64_t repeats, std::optional<int64_t> axis = std::nullopt);
// Element i repeats[i] times.
Tensor RepeatInterleave(const Tensor& x, const std::vector<int64_t>& repeats,
                        std::optional<int64_t> axis = std::nullopt);

// --- Padding ---
enum class PadMode { kConstant, kReflect, kReplicate, kCircular };
// `pads` in torch.nn.functional.pad's order: {before, after} of the last axis, then of the one before it ...
// Negative pads cut (constant mode only). Reflection needs pads below the axis' size, circular at most it.
Tensor Pad(const Tensor& x, const std::vector<int64_t>& pads, PadMode mode = PadMode::kConstant,
           Number value = 0.0);

// --- Matrices ---
// A vector: the matrix with it on diagonal `offset`; a matrix: that diagonal.
Tensor Diag(const Tensor& x, int64_t offset = 0);
// The diagonal of two axes, as the last axis.
Tensor Diagonal(const Tensor& x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
// The last axis on a diagonal of two new axes, zeros elsewhere.
Tensor DiagEmbed(const Tensor& x, int64_t offset = 0, int64_t axis1 = -2, int64_t axis2 = -1);
Tensor Tril(const Tensor& x, int64_t diagonal = 0);
Tensor Triu(const Tensor& x, int64_t diagonal = 0);
// Matrices (vectors and scalars as rows) along the diagonal of a matrix of zeros.
Tensor BlockDiag(const std::vector<Tensor>& tensors);

// --- Several tensors ---
Tensor Hstack(const std::vector<Tensor>& tensors);
Tensor Vstack(const std::vector<Tensor>& tensors);
Tensor Dstack(const std::vector<Tensor>& tensors);
Tensor ColumnStack(const std::vector<Tensor>& tensors);
// Vectors as coordinates of a grid: "ij" (matrix order) or "xy" (the first two axes swapped).
std::vector<Tensor> Meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing = "ij");
// {product of lengths, number of vectors}: every combination, in row-major order.
Tensor CartesianProd(const std::vector<Tensor>& tensors);

}  // namespace understudy
