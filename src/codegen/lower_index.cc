// SPDX-License-Identifier: Apache-2.0
// Stage "index": index arithmetic gets a machine type.
#include <algorithm>
#include <limits>
#include <optional>

#include "src/codegen/stages.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

struct Interval {
  int64_t lo, hi;
};
using MaybeInterval = std::optional<Interval>;  // nullopt: anything

MaybeInterval AddIntervals(const Interval& a, const Interval& b) {
  Interval r;
  if (__builtin_add_overflow(a.lo, b.lo, &r.lo) || __builtin_add_overflow(a.hi, b.hi, &r.hi)) return std::nullopt;
  return r;
}

MaybeInterval MulIntervals(const Interval& a, const Interval& b) {
  int64_t p[4];
  const int64_t x[2] = {a.lo, a.hi}, y[2] = {b.lo, b.hi};
  for (int i = 0; i < 4; ++i) {
    if (__builtin_mul_overflow(x[i / 2], y[i % 2], &p[i])) return std::nullopt;
  }
  return Interval{*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// What an index value can be, from the ranges and constants below it; exact 64-bit arithmetic, never wrapping.
class IndexBounds {
 public:
  explicit IndexBounds(const UOpRef& root) {
    for (const UOp* n : uop::Toposort(root)) {
      if (n->dtype().IsInt() && !n->dtype().IsPointer()) bounds_[n] = Compute(*n);
    }
  }
  const MaybeInterval& Of(const UOp* n) const { return bounds_.at(n); }
  bool NonNegative(const UOp* n) const { return Of(n).has_value() && Of(n)->lo >= 0; }

 private:
  MaybeInterval Compute(const UOp& n) const {
    const auto src = [&](size_t i) { return bounds_.contains(n.src(i).get()) ? bounds_.at(n.src(i).get()) : MaybeInterval(); };
    switch (n.op()) {
      case Op::kConst:
        return Interval{n.const_int(), n.const_int()};
      case Op::kVar:
        return Interval{n.arg_as<VarArg>().min, n.arg_as<VarArg>().max};
      case Op::kRange:
      case Op::kSpecial:
        if (!src(0)) return std::nullopt;
        return Interval{0, std::max<int64_t>(src(0)->hi - 1, 0)};
      case Op::kNeg:
        if (!src(0) || src(0)->lo == std::numeric_limits<int64_t>::min()) return std::nullopt;
        return Interval{-src(0)->hi, -src(0)->lo};
      case Op::kVectorize: {
        MaybeInterval r = src(0);
        for (size_t i = 1; i < n.num_src() && r; ++i) r = Union(r, src(i));
        return r;
      }
      case Op::kGep:
        return src(0);
      case Op::kWhere:
        return Union(src(1), src(2));
      default:
        break;
    }
    if (n.num_src() != 2 || !src(0) || !src(1)) return std::nullopt;
    const Interval a = *src(0), b = *src(1);
    switch (n.op()) {
      case Op::kAdd:
        return AddIntervals(a, b);
      case Op::kMul:
        return MulIntervals(a, b);
      case Op::kMax:
        return Interval{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
      case Op::kMin:
        return Interval{std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
      case Op::kFloorDiv:
        if (b.lo <= 0) return std::nullopt;
        return Interval{std::min(FloorDivide(a.lo, b.lo), FloorDivide(a.lo, b.hi)), std::max(FloorDivide(a.hi, b.lo), FloorDivide(a.hi, b.hi))};
      case Op::kFloorMod:
        if (b.lo <= 0) return std::nullopt;
        return Interval{0, a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1};
      case Op::kIDiv:
        if (b.lo <= 0) return std::nullopt;
        return Interval{std::min(a.lo / b.lo, a.lo / b.hi), std::max(a.hi / b.lo, a.hi / b.hi)};
      case Op::kIMod:
        if (b.lo <= 0) return std::nullopt;
        return Interval{a.lo >= 0 ? 0 : 1 - b.hi, a.hi <= 0 ? 0 : b.hi - 1};
      default:
        return std::nullopt;
    }
  }

  static MaybeInterval Union(const MaybeInterval& a, const MaybeInterval& b) {
    if (!a || !b) return std::nullopt;
    return Interval{std::min(a->lo, b->lo), std::max(a->hi, b->hi)};
  }

  absl::flat_hash_map<const UOp*, MaybeInterval> bounds_;
};

bool IsIndex(const UOp& n) { return n.dtype().scalar == Scalar::kIndex; }

}  // namespace

UOpRef LowerIndices(const UOpRef& kernel) {
  const IndexBounds bounds(kernel);
  const auto order = uop::Toposort(kernel);
  constexpr Interval kInt32{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  bool narrow = true;
  for (const UOp* n : order) {
    if (!IsIndex(*n)) continue;
    const MaybeInterval& b = bounds.Of(n);
    narrow &= b.has_value() && b->lo >= kInt32.lo && b->hi <= kInt32.hi;
  }
  const DType machine = narrow ? dtypes::kInt32 : dtypes::kInt64, machine_unsigned = narrow ? dtypes::kUInt32 : dtypes::kUInt64;

  absl::flat_hash_map<const UOp*, UOpRef> done;
  for (const UOp* n : order) {
    std::vector<UOpRef> src;
    bool changed = IsIndex(*n);
    for (const UOpRef& s : n->src()) {
      src.push_back(done.at(s.get()));
      changed |= !(src.back() == s);
    }
    if (!changed) {
      done.emplace(n, UOpRef(n));
      continue;
    }
    const DType t = IsIndex(*n) ? DType(machine.scalar, n->dtype().lanes) : n->dtype();
    const bool division = n->op() == Op::kFloorDiv || n->op() == Op::kIDiv;
    const bool remainder = n->op() == Op::kFloorMod || n->op() == Op::kIMod;
    if (IsIndex(*n) && (division || remainder) && bounds.NonNegative(n->src(0).get()) && bounds.Of(n->src(1).get()).has_value() &&
        bounds.Of(n->src(1).get())->lo > 0) {
      const DType u = DType(machine_unsigned.scalar, n->dtype().lanes);
      done.emplace(n, uop::Cast(uop::Binary(division ? Op::kIDiv : Op::kIMod, uop::Cast(src[0], u), uop::Cast(src[1], u)), t));
      continue;
    }
    done.emplace(n, UOp::Make(n->op(), t, std::move(src), n->arg()));
  }
  return done.at(kernel.get());
}

}  // namespace understudy
