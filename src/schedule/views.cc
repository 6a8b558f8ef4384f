// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/views.h"

#include "src/base/status.h"
#include "src/schedule/index_expr.h"
#include "src/uop/build.h"
#include "src/uop/sizes.h"

namespace understudy {
namespace {

using Ints = std::vector<int64_t>;

// Dimensions are matched in the smallest groups of equal size, so that unchanged axes pass as they are and
// only axes that were really split or merged cost divisions.
std::vector<UOpRef> ReshapeIndex(const std::vector<UOpRef>& at, const Shape& out, const Shape& in) {
  std::vector<UOpRef> result(in.size());
  size_t i = 0, o = 0;
  while (i < in.size() || o < out.size()) {
    const size_t i0 = i, o0 = o;
    int64_t ni = i < in.size() ? in[i++] : 1, no = o < out.size() ? out[o++] : 1;
    while (ni != no) {
      if (ni < no)
        ni *= in[i++];
      else
        no *= out[o++];
    }
    UOpRef flat = uop::IndexConst(0);
    int64_t stride = no;
    for (size_t k = o0; k < o; ++k) {
      stride /= out[k];
      flat = index::Sum(flat, index::Scale(at[k], stride));
    }
    stride = 1;
    for (size_t k = i; k-- > i0;) {
      if (in[k] == 1) {
        result[k] = uop::IndexConst(0);
        continue;
      }
      const UOpRef q = index::Quotient(flat, stride);
      stride *= in[k];
      result[k] = stride == ni ? q : index::Remainder(q, in[k]);
    }
  }
  return result;
}

}  // namespace

Place SourcePlace(const UOp& node, const Place& at, UOpRef* own) {
  *own = nullptr;
  const Shape &in = node.src(0)->shape(), &out = node.shape();
  Place p{{}, at.valid};
  switch (node.op()) {
    case Op::kReshape:
      p.index = ReshapeIndex(at.index, out, in);
      return p;
    case Op::kExpand:
      for (size_t i = 0; i < in.size(); ++i) p.index.push_back(in[i] == 1 ? uop::IndexConst(0) : at.index[i]);
      return p;
    case Op::kPermute: {
      const auto& perm = node.arg_as<Ints>();
      p.index.resize(in.size());
      for (size_t i = 0; i < perm.size(); ++i) p.index[perm[i]] = at.index[i];
      return p;
    }
    case Op::kShrink: {
      const auto& bounds = node.arg_as<Ints>();
      for (size_t i = 0; i < in.size(); ++i)
        p.index.push_back(index::Sum(at.index[i], uop::IndexConst(bounds[2 * i])));
      return p;
    }
    case Op::kFlip: {
      p.index = at.index;
      for (const int64_t a : node.arg_as<Ints>())
        p.index[a] = index::Sum(uop::IndexConst(in[a] - 1), index::Scale(at.index[a], -1));
      return p;
    }
    case Op::kPad: {
      const auto& pad = node.arg_as<Ints>();
      UOpRef inside;
      for (size_t i = 0; i < in.size(); ++i) {
        const int64_t lo = pad[2 * i];
        if (lo > 0) inside = index::Both(inside, index::AtLeast(at.index[i], lo));
        if (pad[2 * i + 1] > 0) inside = index::Both(inside, index::Less(at.index[i], lo + in[i]));
        p.index.push_back(in[i] == 1 ? uop::IndexConst(0) : index::Sum(at.index[i], uop::IndexConst(-lo)));
      }
      *own = inside;
      p.valid = index::Both(at.valid, inside);
      return p;
    }
    case Op::kSlice: {
      const int64_t axis = node.arg_as<Ints>()[0];
      p.index = at.index;
      p.index[axis] = index::Sum(at.index[axis], node.src(1));
      const UOpRef length = uop::LengthOf(node.src(0), static_cast<size_t>(axis));
      UOpRef inside = index::Both(nullptr, index::AtLeast(p.index[axis], 0));
      inside = index::Both(inside, index::LessThan(p.index[axis], length));
      if (in[axis] == 1 && length->IsConst()) p.index[axis] = uop::IndexConst(0);
      if (inside == nullptr || inside->IsConst(1)) return p;
      *own = inside;
      p.valid = index::Both(at.valid, inside);
      return p;
    }
    default:
      US_CHECK(false) << OpName(node.op());
      return p;
  }
}

UOpRef Flatten(const std::vector<UOpRef>& at, const Shape& shape) {
  UOpRef flat = uop::IndexConst(0);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    flat = index::Sum(flat, index::Scale(at[i], stride));
    stride *= shape[i];
  }
  return flat;
}

}  // namespace understudy
