// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/gather.h"

#include <algorithm>
#include <bit>

#include "src/base/status.h"
#include "src/tensor/by_index.h"
#include "src/tensor/internal.h"
#include "src/tensor/reduce_ops.h"
#include "src/tensor/scan.h"
#include "src/uop/sizes.h"

namespace understudy {

using tensor_internal::Axis;
using tensor_internal::Bad;
using tensor_internal::BroadcastShapes;
using tensor_internal::BroadcastTo;
using tensor_internal::Combine;
using tensor_internal::Constant;
using tensor_internal::HitsOf;
using tensor_internal::InsertAxis;
using tensor_internal::LastPositions;
using tensor_internal::PickLast;
using tensor_internal::SendTo;
using tensor_internal::Text;

namespace {

using Dims = std::vector<int64_t>;

absl::Status WantIndices(const char* op, const Tensor& index) {
  if (index.dtype().IsInt()) return absl::OkStatus();
  return Bad(op, "index of dtype ", index.dtype().Name(), ", expected integers");
}

// Moves `axis` to the end, and back.
UOpRef AxisLast(const UOpRef& x, int64_t axis) {
  Dims perm;
  for (int64_t i = 0; i < static_cast<int64_t>(x->shape().size()); ++i) {
    if (i != axis) perm.push_back(i);
  }
  perm.push_back(axis);
  return uop::Permute(x, perm);
}
UOpRef AxisBack(const UOpRef& x, int64_t axis) {
  Dims perm;
  const auto last = static_cast<int64_t>(x->shape().size()) - 1;
  for (int64_t i = 0; i < last; ++i) perm.push_back(i);
  perm.insert(perm.begin() + axis, last);
  return uop::Permute(x, perm);
}

// Negative indices count from the end of that axis.
UOpRef Wrapped(const UOpRef& index, const UOpRef& x, size_t axis) {
  const UOpRef i = uop::Cast(index, dtypes::kInt64);
  const UOpRef n = BroadcastTo(uop::Cast(uop::LengthOf(x, axis), dtypes::kInt64), i->shape());
  return uop::Where(uop::CmpLt(i, Constant(dtypes::kInt64, int64_t{0}, i->shape())), uop::Add(i, n), i);
}

Tensor AtLeast1d(const Tensor& t) { return t.ok() && t.ndim() == 0 ? t.Reshape({1}) : t; }

// What is written where: self {..., n}; index {..., m} with -1 where nothing is written; src {..., m} or
// null.
struct Writes {
  Tensor self, index, src;
  int64_t axis = 0;
  int rank = 0;

  Tensor At(const Tensor& t) const { return Tensor(InsertAxis(t.uop(), 1), t.device()); }  // {..., 1, m}
  // Whether source m goes to place n: {..., n, m}.
  Tensor Hits() const { return Tensor(HitsOf(self.uop(), index.uop()), self.device()); }
  Tensor Back(const Tensor& t) const {
    if (!t.ok()) return t;
    const Tensor moved = Combine("Scatter", {&t}, AxisBack(t.uop(), axis));
    return rank == 0 ? moved.Reshape({}) : moved;
  }
};

// For the scatter functions: index not larger than x on other axes and than src on all; the rest is not
// written.
absl::StatusOr<Writes> ScatterWrites(const char* op, const Tensor& x0, int64_t dim, const Tensor& index0,
                                     const Tensor* src0) {
  US_RETURN_IF_ERROR(x0.status());
  US_RETURN_IF_ERROR(index0.status());
  if (src0 != nullptr) US_RETURN_IF_ERROR(src0->status());
  US_RETURN_IF_ERROR(WantIndices(op, index0));
  const Tensor x = AtLeast1d(x0), index = AtLeast1d(index0);
  US_ASSIGN_OR_RETURN(const int64_t axis, Axis(op, dim, x.ndim()));
  if (index.ndim() != x.ndim())
    return Bad(op, "index of shape ", Text(index0.shape()), " for a tensor of shape ", Text(x0.shape()),
               ", expected equal ranks");
  std::vector<std::pair<int64_t, int64_t>> pad(x.ndim(), {0, 0}), cut;
  Tensor src = src0 != nullptr ? AtLeast1d(*src0) : Tensor();
  if (src0 != nullptr) {
    if (src.ndim() != x.ndim())
      return Bad(op, "source of shape ", Text(src0->shape()), ", expected rank ", x.ndim());
    if (src.dtype() != x.dtype())
      return Bad(op, "source of dtype ", src.dtype().Name(), " into ", x.dtype().Name(),
                 ", expected equal dtypes");
  }
  for (int i = 0; i < x.ndim(); ++i) {
    const int64_t d = index.shape()[i];
    if (i != axis && d > x.shape()[i])
      return Bad(op, "index of shape ", Text(index.shape()), " is larger than ", Text(x.shape()), " at axis ",
                 i);
    if (src0 != nullptr && d > src.shape()[i])
      return Bad(op, "index of shape ", Text(index.shape()), " is larger than the source ", Text(src.shape()),
                 " at axis ", i);
    if (i != axis) pad[i].second = x.shape()[i] - d;
    cut.push_back({0, d});
  }
  Writes w;
  w.axis = axis;
  w.rank = x0.ndim();
  const Tensor wide = index.Cast(dtypes::kInt64).Pad(pad, -1);
  w.self = Tensor(AxisLast(x.uop(), axis), x.device());
  w.index = Tensor(AxisLast(wide.uop(), axis), index.device());
  if (src0 != nullptr) {
    src = src.Shrink(cut).Pad(pad);
    w.src = Tensor(AxisLast(src.uop(), axis), src.device());
  }
  return w;
}

// For the index functions: one list of indices for all slices.
absl::StatusOr<Writes> IndexWrites(const char* op, const Tensor& x0, int64_t dim, const Tensor& index,
                                   const Tensor* src0, bool wrap) {
  US_RETURN_IF_ERROR(x0.status());
  US_RETURN_IF_ERROR(index.status());
  if (src0 != nullptr) US_RETURN_IF_ERROR(src0->status());
  US_RETURN_IF_ERROR(WantIndices(op, index));
  if (index.ndim() > 1) return Bad(op, "index of shape ", Text(index.shape()), ", expected a list");
  const Tensor x = AtLeast1d(x0), list = AtLeast1d(index);
  US_ASSIGN_OR_RETURN(const int64_t axis, Axis(op, dim, x.ndim()));
  const int64_t m = list.shape()[0];
  Writes w;
  w.axis = axis;
  w.rank = x0.ndim();
  w.self = Tensor(AxisLast(x.uop(), axis), x.device());
  Shape shape = w.self.shape();
  shape.back() = m;
  const UOpRef i = wrap ? Wrapped(list.uop(), x.uop(), static_cast<size_t>(axis))
                        : UOpRef(uop::Cast(list.uop(), dtypes::kInt64));
  w.index = Tensor(BroadcastTo(i, shape), list.device());
  if (src0 != nullptr) {
    const Tensor src = AtLeast1d(*src0);
    Shape want = x.shape();
    want[axis] = m;
    if (src.shape() != want || src.dtype() != x.dtype())
      return Bad(op, "source of ", src.dtype().Name(), Text(src.shape()), ", expected ", x.dtype().Name(),
                 Text(want));
    w.src = Tensor(AxisLast(src.uop(), axis), src.device());
  }
  return w;
}

Tensor AddWrites(const absl::StatusOr<Writes>& w, const Number* alpha) {
  if (!w.ok()) return Tensor(w.status());
  const DType t = w->self.dtype();
  Tensor src = w->src;
  if (alpha != nullptr) src = (src * *alpha).Cast(t);
  if (t.IsBool()) return w->Back(w->self.BitOr(Where(w->Hits(), w->At(src), false).Max({-1})));
  const Tensor zero(uop::Const(t, 0), src.device());
  const Tensor sum = Where(w->Hits(), w->At(src), zero).Sum({-1}).Cast(t);
  return w->Back(w->self + sum);
}

Tensor ReplaceWrites(const absl::StatusOr<Writes>& w) {
  if (!w.ok()) return Tensor(w.status());
  const Tensor hits = w->Hits();
  const Tensor order(LastPositions(w->src.uop(), hits.shape(), true), w->self.device());
  if (w->src.shape().back() == 0) return w->Back(w->self);
  const Tensor last = Where(hits, order, int64_t{-1}).Max({-1});
  const Tensor picked = Combine("Scatter", {&w->src, &last}, PickLast("Scatter", w->src.uop(), last.uop()));
  return w->Back(Where(last.Ge(0), picked, w->self));
}

Tensor FillWrites(const char* op, const absl::StatusOr<Writes>& w, const Number& value) {
  if (!w.ok()) return Tensor(w.status());
  if (w->index.shape().back() == 0) return w->Back(w->self);
  const auto c = tensor_internal::NumberConst(op, w->self.dtype(), value);
  if (!c.ok()) return Tensor(c.status());
  return w->Back(Where(w->Hits().Max({-1}), Tensor(*c, w->self.device()), w->self));
}

}  // namespace

Tensor Gather(const Tensor& x0, int64_t dim, const Tensor& index0) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(WantIndices("Gather", index0));
    const Tensor x = AtLeast1d(x0), index = AtLeast1d(index0);
    US_ASSIGN_OR_RETURN(const int64_t axis, Axis("Gather", dim, x.ndim()));
    if (index.ndim() != x.ndim())
      return Bad("Gather", "index of shape ", Text(index0.shape()), " for a tensor of shape ",
                 Text(x0.shape()), ", expected equal ranks");
    Dims cut;
    for (int i = 0; i < x.ndim(); ++i) {
      const int64_t d = i == axis ? x.shape()[i] : index.shape()[i];
      if (d > x.shape()[i])
        return Bad("Gather", "index of shape ", Text(index.shape()), " is larger than ", Text(x.shape()),
                   " at axis ", i);
      cut.insert(cut.end(), {0, d});
    }
    const UOpRef part = x.shape() == Shape() ? x.uop() : uop::Shrink(x.uop(), cut);
    US_ASSIGN_OR_RETURN(const UOpRef v,
                        PickLast("Gather", AxisLast(part, axis), AxisLast(index.uop(), axis)));
    return uop::Reshape(AxisBack(v, axis), index0.shape());
  };
  if (!x0.ok()) return x0;
  if (!index0.ok()) return index0;
  return Combine("Gather", {&x0, &index0}, make());
}

Tensor Take(const Tensor& x, const Tensor& index) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(WantIndices("Take", index));
    const UOpRef flat = uop::Reshape(index.uop(), {index.numel()});
    const UOpRef all = uop::Reshape(x.uop(), {x.numel()});
    US_ASSIGN_OR_RETURN(const UOpRef v, PickLast("Take", all, Wrapped(flat, all, 0)));
    return uop::Reshape(v, index.shape());
  };
  if (!x.ok()) return x;
  if (!index.ok()) return index;
  return Combine("Take", {&x, &index}, make());
}

Tensor TakeAlongDim(const Tensor& x, const Tensor& indices, std::optional<int64_t> dim) {
  if (!x.ok()) return x;
  if (!indices.ok()) return indices;
  if (!dim) return Gather(x.Reshape({-1}), 0, indices.Reshape({-1}));
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(WantIndices("TakeAlongDim", indices));
    US_ASSIGN_OR_RETURN(const int64_t axis, Axis("TakeAlongDim", *dim, x.ndim()));
    if (indices.ndim() != x.ndim())
      return Bad("TakeAlongDim", "indices of shape ", Text(indices.shape()), " for a tensor of shape ",
                 Text(x.shape()), ", expected equal ranks");
    US_ASSIGN_OR_RETURN(const UOpRef v,
                        PickLast("TakeAlongDim", AxisLast(x.uop(), axis), AxisLast(indices.uop(), axis)));
    return AxisBack(v, axis);
  };
  return Combine("TakeAlongDim", {&x, &indices}, make());
}

Tensor IndexSelect(const Tensor& x0, int64_t dim, const Tensor& index) {
  const auto make = [&]() -> absl::StatusOr<UOpRef> {
    US_RETURN_IF_ERROR(WantIndices("IndexSelect", index));
    if (index.ndim() > 1)
      return Bad("IndexSelect", "index of shape ", Text(index.shape()), ", expected a list");
    const Tensor x = AtLeast1d(x0), list = AtLeast1d(index);
    US_ASSIGN_OR_RETURN(const int64_t axis, Axis("IndexSelect", dim, x.ndim()));
    US_ASSIGN_OR_RETURN(const UOpRef v, PickLast("IndexSelect", AxisLast(x.uop(), axis), list.uop()));
    const UOpRef out = AxisBack(v, axis);
    return x0.ndim() == 0 && out->numel() == 1 ? uop::Reshape(out, {}) : out;
  };
  if (!x0.ok()) return x0;
  if (!index.ok()) return index;
  return Combine("IndexSelect", {&x0, &index}, make());
}

Tensor IndexAdd(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Number alpha) {
  const bool one = alpha.as_double() == 1;
  return AddWrites(IndexWrites("IndexAdd", x, dim, index, &source, false), one ? nullptr : &alpha);
}
Tensor IndexCopy(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source) {
  return ReplaceWrites(IndexWrites("IndexCopy", x, dim, index, &source, false));
}
Tensor IndexFill(const Tensor& x, int64_t dim, const Tensor& index, Number value) {
  return FillWrites("IndexFill", IndexWrites("IndexFill", x, dim, index, nullptr, true), value);
}

Tensor Scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src) {
  return ReplaceWrites(ScatterWrites("Scatter", x, dim, index, &src));
}
Tensor Scatter(const Tensor& x, int64_t dim, const Tensor& index, Number value) {
  return FillWrites("Scatter", ScatterWrites("Scatter", x, dim, index, nullptr), value);
}
Tensor ScatterAdd(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src) {
  return AddWrites(ScatterWrites("ScatterAdd", x, dim, index, &src), nullptr);
}

Tensor ScatterReduce(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src, ScatterMode mode,
                     bool include_self) {
  const auto w = ScatterWrites("ScatterReduce", x, dim, index, &src);
  if (!w.ok()) return Tensor(w.status());
  const DType t = x.dtype();
  if (t.IsBool()) return Tensor(Bad("ScatterReduce", "dtype bool, expected numbers"));
  if (w->src.shape().back() == 0) return w->Back(w->self);
  const Tensor hits = w->Hits(), from = w->At(w->src), hit = hits.Max({-1}), self = w->self;
  const auto constant = [&](int64_t v) { return Tensor(uop::Const(t, v), x.device()); };
  switch (mode) {
    case ScatterMode::kSum: {
      const Tensor sum = Where(hits, from, constant(0)).Sum({-1}).Cast(t);
      return w->Back(include_self ? self + sum : Where(hit, sum, self));
    }
    case ScatterMode::kProd: {
      const Tensor product = Where(hits, from, constant(1)).Prod({-1}).Cast(t);
      return w->Back(include_self ? self * product : Where(hit, product, self));
    }
    case ScatterMode::kMean: {
      const DType acc = t.IsFloat() ? AccType(t) : t;
      const Tensor sum = Where(hits, from.Cast(acc), constant(0).Cast(acc)).Sum({-1}).Cast(acc);
      Tensor count = hits.Cast(acc).Sum({-1}).Cast(acc);
      if (include_self) count = count + 1;
      const Tensor total = include_self ? self.Cast(acc) + sum : sum,
                   by = Where(count.Eq(0), 1, count).Cast(acc);
      const Tensor mean = (t.IsFloat() ? total / by : total.FloorDiv(by)).Cast(t);
      return w->Back(include_self ? mean : Where(hit, mean, self));
    }
    case ScatterMode::kAmax:
    case ScatterMode::kAmin: {
      const bool max = mode == ScatterMode::kAmax;
      const Op op = max ? Op::kMax : Op::kMin;
      const UOpRef own = self.uop(), at = w->index.uop(), sent = w->src.uop();
      UOpRef best = SendTo(op, sent, at, own);
      best = include_self ? uop::Binary(op, own, best) : uop::Where(hit.uop(), best, own);
      if (t.IsFloat()) {
        best = uop::WithGradient(include_self ? "scattered_extreme" : "scattered_extreme_alone", best,
                                 {own, at, sent});
      }
      return w->Back(Combine("ScatterReduce", {&self, &w->index, &w->src}, best));
    }
  }
  return Tensor(Bad("ScatterReduce", "unknown mode"));
}

namespace {

// {m}: the position in the list of the j-th true element for j = 0 .. m-1 (past the last one: its length).
// `running` counts the true elements so far.
Tensor PositionsOfTrue(const Tensor& running, int64_t m) {
  const Tensor wanted = Tensor::Arange(1, m + 1, 1, {dtypes::kInt64, running.device()});
  return Searchsorted(running, wanted);
}

Tensor NotZero(const Tensor& x) { return x.dtype().IsBool() ? x : x.Ne(0); }

}  // namespace

Tensor NonzeroStatic(const Tensor& x, int64_t size, int64_t fill_value) {
  if (!x.ok()) return x;
  if (size < 0) return Tensor(Bad("NonzeroStatic", "size ", size, ", expected at least 0"));
  const TensorOptions index{dtypes::kInt64, x.device()};
  if (x.ndim() == 0) return Tensor::Zeros({size, 0}, index);
  if (x.numel() == 0) return Tensor::Full({size, x.ndim()}, fill_value, index);
  const Tensor at = PositionsOfTrue(Cumsum(NotZero(x).Reshape({-1}), 0), size);
  const Tensor found = at.Lt(x.numel());
  std::vector<Tensor> columns(x.ndim());
  int64_t stride = 1;
  for (int i = x.ndim(); i-- > 0;) {
    columns[i] = Where(found, at.FloorDiv(stride).Mod(x.shape()[i]), fill_value);
    stride *= x.shape()[i];
  }
  return Stack(columns, 1);
}

MaskedSelection MaskedSelectStatic(const Tensor& x, const Tensor& mask, int64_t size, Number fill_value) {
  const auto fail = [](const absl::Status& s) { return MaskedSelection{Tensor(s), Tensor(s)}; };
  if (!x.ok()) return fail(x.status());
  if (!mask.ok()) return fail(mask.status());
  if (!mask.dtype().IsBool())
    return fail(Bad("MaskedSelectStatic", "mask of dtype ", mask.dtype().Name(), ", expected bool"));
  if (size < 0) return fail(Bad("MaskedSelectStatic", "size ", size, ", expected at least 0"));
  const auto shape = BroadcastShapes("MaskedSelectStatic", x.shape(), mask.shape());
  if (!shape.ok()) return fail(shape.status());
  const auto fill = tensor_internal::NumberConst("MaskedSelectStatic", x.dtype(), fill_value);
  if (!fill.ok()) return fail(fill.status());
  const Tensor flat = x.Expand(*shape).Reshape({-1}), running = Cumsum(mask.Expand(*shape).Reshape({-1}), 0);
  const Tensor count = mask.Expand(*shape).Sum();
  if (flat.numel() == 0) return {Tensor(BroadcastTo(*fill, {size}), x.device()), count};
  const Tensor at = PositionsOfTrue(running, size);
  return {Where(at.Lt(flat.numel()), Gather(flat, 0, at), Tensor(*fill, x.device())), count};
}

Tensor Searchsorted(const Tensor& sequence, const Tensor& values, bool right) {
  if (!sequence.ok()) return sequence;
  if (!values.ok()) return values;
  if (sequence.ndim() == 0) return Tensor(Bad("Searchsorted", "a sequence of rank 0, expected rows"));
  const bool one = sequence.ndim() == 1;
  if (!one && (values.ndim() != sequence.ndim() ||
               !std::equal(values.shape().begin(), values.shape().end() - 1, sequence.shape().begin()))) {
    return Tensor(Bad("Searchsorted", "values of shape ", Text(values.shape()), " for rows of shape ",
                      Text(sequence.shape()), ", expected equal leading axes"));
  }
  const Tensor v = one ? values.Reshape({-1}) : values;
  if (absl::Status s = tensor_internal::FixedSizes("Searchsorted", sequence); !s.ok()) return Tensor(s);
  const int64_t n = sequence.shape().back();
  // The greatest number of elements before the value, found from its highest bit down.
  Tensor found = Tensor::Zeros(v.shape(), {dtypes::kInt64, v.device()});
  for (int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n))); step > 0; step /= 2) {
    const Tensor next = found + step, probe = next - 1;
    const Tensor e =
        Combine("Searchsorted", {&sequence, &v}, PickLast("Searchsorted", sequence.uop(), probe.uop()));
    // NaN is greatest.
    Tensor before = right ? v.Lt(e).LogicalNot() : e.Lt(v);
    if (e.ok() && e.dtype().IsFloat() && v.dtype().IsFloat()) {
      before = right ? v.Lt(e).BitOr(e.IsNan().BitAnd(v.IsNan().LogicalNot())).LogicalNot()
                     : e.Lt(v).BitOr(v.IsNan().BitAnd(e.IsNan().LogicalNot()));
    }
    found = Where(before.BitAnd(next.Le(n)), next, found);
  }
  return one ? found.Reshape(values.shape()) : found;
}

Tensor Bucketize(const Tensor& values, const Tensor& boundaries, bool right) {
  if (boundaries.ok() && boundaries.ndim() != 1)
    return Tensor(Bad("Bucketize", "boundaries of shape ", Text(boundaries.shape()), ", expected a list"));
  return Searchsorted(boundaries, values, right);
}

Tensor Bincount(const Tensor& x, int64_t size, const Tensor* weights) {
  if (!x.ok()) return x;
  if (weights != nullptr && !weights->ok()) return *weights;
  if (absl::Status s = WantIndices("Bincount", x); !s.ok()) return Tensor(s);
  if (x.ndim() != 1 || size < 0 || (weights != nullptr && weights->shape() != x.shape())) {
    return Tensor(Bad("Bincount", "numbers of shape ", Text(x.shape()), ", size ", size,
                      weights != nullptr ? ", weights of shape " + Text(weights->shape()) : std::string(),
                      ", expected lists of equal length and a size of at least 0"));
  }
  const Tensor bins = Tensor::Arange(0, size, 1, {dtypes::kInt64, x.device()}).Reshape({size, 1});
  const Tensor hit = x.Cast(dtypes::kInt64).Unsqueeze(0).Eq(bins);
  if (weights == nullptr) return hit.Sum({1});
  const Tensor w = weights->dtype().IsFloat() ? *weights : weights->Cast(dtypes::kFloat64);
  return Where(hit, w.Unsqueeze(0), Tensor(uop::Const(w.dtype(), 0), x.device())).Sum({1});
}

Tensor Histc(const Tensor& x, int64_t bins, double min, double max) {
  if (!x.ok()) return x;
  if (!x.dtype().IsFloat()) return Tensor(Bad("Histc", "dtype ", x.dtype().Name(), ", expected a float"));
  if (bins <= 0 || !(min <= max))
    return Tensor(Bad("Histc", bins, " bins from ", min, " to ", max, ", expected some bins and min <= max"));
  const DType t = tensor_internal::ComputeType(x.dtype());
  if (x.numel() == 0) return Tensor::Zeros({bins}, {x.dtype(), x.device()});
  const Tensor flat = x.Reshape({-1}).Cast(t);
  const auto number = [&](double v) { return Tensor(uop::Const(t, v), x.device()); };
  Tensor lo = number(min), hi = number(max);
  if (min == max) {
    const auto [least, greatest] = Aminmax(flat.Detach());
    const Tensor same = least.Eq(greatest);
    lo = Where(same, least - 1.0, least);
    hi = Where(same, greatest + 1.0, greatest);
  }
  const Tensor bin =
      ((flat - lo) / (hi - lo) * static_cast<double>(bins)).Cast(dtypes::kInt64).Minimum(bins - 1);
  const Tensor inside = flat.Ge(lo).BitAnd(flat.Le(hi));
  return Bincount(Where(inside, bin, int64_t{-1}), bins).Cast(x.dtype());
}

}  // namespace understudy
