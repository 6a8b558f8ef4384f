// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/pieces.h"

#include "src/base/status.h"
#include "src/uop/build.h"

namespace understudy {

UOpRef ZeroValue(DType dtype, const Shape& shape) {
  return uop::Expand(uop::Reshape(uop::Const(dtype, 0), Shape(shape.size(), 1)), shape);
}

UOpRef Cut(const UOpRef& x, int64_t axis, int64_t begin, int64_t end) {
  const Shape& shape = x->shape();
  if (begin == 0 && end == shape[axis]) return x;
  Shape out = shape;
  out[axis] = end - begin;
  // All the same along the axis.
  if (x->op() == Op::kExpand && x->src(0)->shape()[axis] == 1) return uop::Expand(UOpRef(x->src(0)), out);
  if (end == begin) return ZeroValue(x->dtype(), out);
  std::vector<int64_t> bounds;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool here = static_cast<int64_t>(i) == axis;
    bounds.insert(bounds.end(), {here ? begin : 0, here ? end : shape[i]});
  }
  return uop::Shrink(x, bounds);
}

UOpRef MoveTo(const UOpRef& x, const std::string& from, const std::string& to) {
  return from == to ? x : uop::Copy(x, to);
}

UOpRef Join(const std::vector<Piece>& pieces, int64_t axis, const Shape& shape) {
  UOpRef out;
  for (const Piece& p : pieces) {
    const int64_t size = p.value->shape()[axis];
    if (size == 0) continue;
    if (size == shape[axis]) return p.value;
    std::vector<int64_t> pad(2 * shape.size(), 0);
    pad[2 * axis] = p.begin, pad[2 * axis + 1] = shape[axis] - p.begin - size;
    const UOpRef padded = uop::Pad(p.value, pad);
    if (out == nullptr) {
      out = padded;
      continue;
    }
    const Shape& part = p.value->shape();
    const UOpRef inside = uop::Expand(uop::Reshape(uop::BoolConst(true), Shape(part.size(), 1)), part);
    out = uop::Where(uop::Pad(inside, pad), padded, out);
  }
  US_CHECK(out != nullptr) << "no piece of axis " << axis;
  return out;
}

}  // namespace understudy
