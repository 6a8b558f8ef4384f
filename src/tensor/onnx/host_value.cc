// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/onnx/host_value.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "src/tensor/host_data.h"
#include "src/uop/eval.h"

namespace understudy::onnx {
namespace {

using Values = std::vector<ConstValue>;

std::vector<int64_t> StridesOf(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Calls `f` with the coordinates of every element, in row-major order.
template <class F>
void ForEach(const Shape& shape, const F& f) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    f(at);
    for (size_t k = shape.size(); k-- > 0;) {
      if (++at[k] < shape[k]) break;
      at[k] = 0;
    }
  }
}

// What `x` (a movement of a source with shape `from` and values `v`) shows.
Values Move(const UOp& x, const Shape& from, const Values& v) {
  if (x.op() == Op::kReshape) return v;
  const std::vector<int64_t> strides = StridesOf(from);
  const auto* list = std::get_if<std::vector<int64_t>>(&x.arg());
  Values out;
  ForEach(x.shape(), [&](const std::vector<int64_t>& at) {
    int64_t place = 0;
    bool inside = true;
    for (size_t k = 0; k < at.size(); ++k) {
      switch (x.op()) {
        case Op::kExpand:
          place += from[k] == 1 ? 0 : at[k] * strides[k];
          break;
        case Op::kPermute:
          place += at[k] * strides[(*list)[k]];
          break;
        case Op::kPad: {
          const int64_t i = at[k] - (*list)[2 * k];
          inside &= i >= 0 && i < from[k];
          place += i * strides[k];
          break;
        }
        case Op::kShrink:
          place += (at[k] + (*list)[2 * k]) * strides[k];
          break;
        default: {  // kFlip
          const bool flip = std::find(list->begin(), list->end(), static_cast<int64_t>(k)) != list->end();
          place += (flip ? from[k] - 1 - at[k] : at[k]) * strides[k];
        }
      }
    }
    out.push_back(inside ? v[place] : Canonical(x.dtype(), int64_t{0}));
  });
  return out;
}

std::optional<Values> ReduceOf(const UOp& x, const Shape& from, const Values& v) {
  const auto& arg = x.arg_as<ReduceArg>();
  std::vector<std::optional<ConstValue>> sums(x.numel());
  const std::vector<int64_t> strides = StridesOf(x.shape());
  size_t i = 0;
  ForEach(from, [&](const std::vector<int64_t>& at) {
    int64_t place = 0;
    for (size_t k = 0; k < at.size(); ++k) place += x.shape()[k] == 1 ? 0 : at[k] * strides[k];
    std::optional<ConstValue>& sum = sums[place];
    sum = sum ? uop::EvalAlu(arg.op, x.dtype(), {*sum, v[i]}) : v[i];
    ++i;
  });
  Values out;
  for (const auto& sum : sums) {
    if (sum) {
      out.push_back(*sum);
    } else if (arg.op == Op::kAdd || arg.op == Op::kMul) {
      out.push_back(Canonical(x.dtype(), int64_t{arg.op == Op::kMul}));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<Values> BufferValues(const UOp& x) {
  const auto& arg = x.arg_as<BufferArg>();
  const auto* host = arg.slot ? dynamic_cast<const HostData*>(arg.slot->impl.get()) : nullptr;
  if (host == nullptr) return std::nullopt;
  const auto width = static_cast<size_t>(x.dtype().SizeBytes());
  if (host->bytes().size() != width * static_cast<size_t>(arg.size)) return std::nullopt;
  Values out;
  for (size_t i = 0; i < static_cast<size_t>(arg.size); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, host->bytes().data() + i * width, width);
    out.push_back(FromBits(x.dtype(), bits));
  }
  return out;
}

std::optional<Values> ValuesOf(const UOp& x, const absl::flat_hash_map<const UOp*, Values>& done) {
  const auto source = [&](size_t i) -> const Values& { return done.at(x.src(i).get()); };
  switch (x.op()) {
    case Op::kConst:
      return Values{x.value()};
    case Op::kBuffer:
      return BufferValues(x);
    case Op::kIota: {
      Values out;
      for (int64_t i = 0; i < x.numel(); ++i) out.push_back(Canonical(x.dtype(), i));
      return out;
    }
    case Op::kContiguous:
    case Op::kContiguousBackward:
    case Op::kDetach:
    case Op::kWithGradient:
      return source(0);
    case Op::kReduceAxis:
      return ReduceOf(x, x.src(0)->shape(), source(0));
    default:
      break;
  }
  if (IsMovement(x.op())) return Move(x, x.src(0)->shape(), source(0));
  if (!IsAlu(x.op())) return std::nullopt;
  Values out, args(x.num_src());
  for (int64_t i = 0; i < x.numel(); ++i) {
    for (size_t k = 0; k < args.size(); ++k) {
      if (source(k).size() != 1 && source(k).size() != static_cast<size_t>(x.numel())) return std::nullopt;
      args[k] = source(k)[source(k).size() == 1 ? 0 : i];
    }
    out.push_back(uop::EvalNode(x, args));
  }
  return out;
}

}  // namespace

std::optional<std::vector<uint8_t>> HostElements(const UOpRef& value, int64_t budget) {
  absl::flat_hash_set<const UOp*> seen = {value.get()};
  std::vector<const UOp*> order = {value.get()};
  for (size_t i = 0; i < order.size(); ++i) {
    if ((budget -= 1 + order[i]->numel()) < 0 || order[i]->dtype().IsVoid()) return std::nullopt;
    // The derivative's inputs of WITH_GRADIENT have no part in the value.
    const size_t count = order[i]->op() == Op::kWithGradient ? 1 : order[i]->num_src();
    for (size_t k = 0; k < count; ++k) {
      if (seen.insert(order[i]->src(k).get()).second) order.push_back(order[i]->src(k).get());
    }
  }
  // A source's id is smaller than its user's.
  std::sort(order.begin(), order.end(), [](const UOp* a, const UOp* b) { return a->id() < b->id(); });
  absl::flat_hash_map<const UOp*, Values> done;
  for (const UOp* x : order) {
    std::optional<Values> v = ValuesOf(*x, done);
    if (!v || v->size() != static_cast<size_t>(x->numel())) return std::nullopt;
    done[x] = *std::move(v);
  }
  const DType dtype = value->dtype();
  const auto width = static_cast<size_t>(dtype.SizeBytes());
  const Values& v = done.at(value.get());
  std::vector<uint8_t> out(v.size() * width);
  for (size_t i = 0; i < v.size(); ++i) {
    const uint64_t bits = ToBits(dtype, v[i]);
    std::memcpy(out.data() + i * width, &bits, width);
  }
  return out;
}

}  // namespace understudy::onnx
