// SPDX-License-Identifier: Apache-2.0
#include "src/schedule/reshard.h"

#include <algorithm>
#include <utility>

#include "src/schedule/pieces.h"
#include "src/uop/build.h"

namespace understudy {
namespace {

using Ints = std::vector<int64_t>;
using Parts = std::vector<UOpRef>;

}  // namespace

UOpRef Gathered(const Parts& parts, const Sharding& s, const std::string& device, const Shape& shape) {
  if (s.replicated()) {
    const auto at = std::find(s.devices.begin(), s.devices.end(), device);
    if (at != s.devices.end()) return parts[at - s.devices.begin()];
    return MoveTo(parts[0], s.devices[0], device);
  }
  std::vector<Piece> pieces;
  for (size_t j = 0; j < parts.size(); ++j) {
    if (parts[j]->numel() > 0) pieces.push_back({s.parts[j].begin, MoveTo(parts[j], s.devices[j], device)});
  }
  if (pieces.empty()) return ZeroValue(parts[0]->dtype(), shape);
  return Join(pieces, s.axis, shape);
}

Parts Reshard(const Parts& parts, const Sharding& from, const Sharding& to, const Shape& shape) {
  Parts out;
  for (size_t i = 0; i < to.devices.size(); ++i) {
    if (to.replicated()) {
      out.push_back(Gathered(parts, from, to.devices[i], shape));
      continue;
    }
    const Sharding::Part want = to.parts[i];
    const Shape local = to.PartShape(shape, i);
    if (want.size() == 0) {
      out.push_back(ZeroValue(parts[0]->dtype(), local));
      continue;
    }
    if (from.replicated()) {
      out.push_back(Cut(parts[i], to.axis, want.begin, want.end));
      continue;
    }
    std::vector<Piece> pieces;
    for (size_t j = 0; j < parts.size(); ++j) {
      const Sharding::Part has = from.parts[j];
      if (has.size() == 0) continue;
      Piece piece;
      if (from.axis == to.axis) {
        const int64_t begin = std::max(has.begin, want.begin), end = std::min(has.end, want.end);
        if (begin >= end) continue;
        piece = {begin - want.begin, Cut(parts[j], to.axis, begin - has.begin, end - has.begin)};
      } else {
        piece = {has.begin, Cut(parts[j], to.axis, want.begin, want.end)};
      }
      piece.value = MoveTo(piece.value, from.devices[j], to.devices[i]);
      pieces.push_back(std::move(piece));
    }
    out.push_back(Join(pieces, from.axis, local));
  }
  return out;
}

UOpRef MovePart(const UOp& u, const UOpRef& x, const Sharding& from, const Sharding& to, size_t i) {
  const Shape local = to.PartShape(u.shape(), i);
  if (std::count(local.begin(), local.end(), 0) != 0 || u.numel() == 0) return ZeroValue(u.dtype(), local);
  switch (u.op()) {
    case Op::kReshape:
      return uop::Reshape(x, local);
    case Op::kExpand:
      return uop::Expand(x, local);
    case Op::kShrink:
    case Op::kPad: {
      if (to.replicated()) return u.WithSrc({x});
      Ints bounds = u.arg_as<Ints>();
      int64_t &lo = bounds[2 * to.axis], &hi = bounds[2 * to.axis + 1];
      const Sharding::Part has = from.parts[i], want = to.parts[i];
      if (u.op() == Op::kShrink) {
        // Cut [lo, hi) of the whole axis is what the part holds from lo on.
        const int64_t begin = want.begin + lo - has.begin;
        lo = begin, hi = begin + want.size();
        return uop::Shrink(x, bounds);
      }
      if (has.size() == 0) return ZeroValue(u.dtype(), local);  // padding only
      const int64_t before = has.begin + lo - want.begin;
      lo = before, hi = want.size() - before - has.size();
      return uop::Pad(x, bounds);
    }
    default:  // PERMUTE, FLIP: the same for every part
      return u.WithSrc({x});
  }
}

}  // namespace understudy
