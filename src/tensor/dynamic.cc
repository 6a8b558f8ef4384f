// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/dynamic.h"

#include <cstring>

#include "src/base/status.h"
#include "src/tensor/gather.h"
#include "src/tensor/indexing.h"
#include "src/tensor/internal.h"
#include "src/tensor/nn_internal.h"
#include "src/tensor/scan.h"
#include "src/tensor/sort.h"

namespace understudy {
namespace {

// How many elements of a bool tensor are true.
absl::StatusOr<int64_t> CountOf(const Tensor& hits, const ReadTensor& read) {
  Tensor sum = hits.Cast(dtypes::kInt64).Sum();
  US_RETURN_IF_ERROR(sum.status());
  if (const auto known = sum.ConstantValue()) return std::get<int64_t>(*known);
  US_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read(sum));
  if (bytes.size() != sizeof(int64_t))
    return absl::InternalError("a sum read as " + std::to_string(bytes.size()) + " bytes, expected 8");
  int64_t count;
  std::memcpy(&count, bytes.data(), sizeof(count));
  return count;
}

}  // namespace

Tensor Nonzero(const Tensor& x, const ReadTensor& read) {
  if (!x.ok()) return x;
  const auto count = CountOf(x.Ne(0), read);
  return count.ok() ? NonzeroStatic(x, *count) : Tensor(count.status());
}

Tensor MaskedSelect(const Tensor& x, const Tensor& mask, const ReadTensor& read) {
  if (absl::Status s = tensor_internal::FirstError({&x, &mask}); !s.ok()) return Tensor(s);
  const auto shape = tensor_internal::BroadcastShapes("MaskedSelect", x.shape(), mask.shape());
  if (!shape.ok()) return Tensor(shape.status());
  const auto count = CountOf(mask.Expand(*shape), read);
  return count.ok() ? MaskedSelect(x, mask, *count) : Tensor(count.status());
}

UniqueResult Unique(const Tensor& x, const ReadTensor& read) {
  const auto all = [](const Tensor& t) { return UniqueResult{t, t, t}; };
  if (!x.ok()) return all(x);
  const int64_t n = x.numel();
  const TensorOptions integer{dtypes::kInt64, x.device()};
  if (n == 0) return {x.Reshape({0}), Tensor::Zeros(x.shape(), integer), Tensor::Zeros({0}, integer)};
  const ValuesAndIndices sorted = Sort(x.Reshape({n}), 0);
  const Tensor& s = sorted.values;
  // Where a run of equal elements begins.
  const Tensor first =
      Cat({Tensor::Ones({1}, {dtypes::kBool, x.device()}), s.Shrink({{1, n}}).Ne(s.Shrink({{0, n - 1}}))});
  const auto count = CountOf(first, read);
  if (!count.ok()) return all(Tensor(count.status()));
  const Tensor run = Cumsum(first.Cast(dtypes::kInt64), 0) - 1;
  const Tensor begins = NonzeroStatic(first, *count).Reshape({*count});
  const Tensor ends = Cat({begins.Shrink({{1, *count}}), Tensor::Full({1}, n, integer)});
  return {MaskedSelect(s, first, *count),
          Scatter(Tensor::Zeros({n}, integer), 0, sorted.indices, run).Reshape(x.shape()), ends - begins};
}

}  // namespace understudy
