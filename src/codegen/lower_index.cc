// SPDX-License-Identifier: Apache-2.0
// Stage "index": index arithmetic gets a machine type.
#include <limits>

#include "src/codegen/stages.h"
#include "src/symbolic/bounds.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

bool IsIndex(const UOp& n) { return n.dtype().scalar == Scalar::kIndex; }

}  // namespace

UOpRef LowerIndices(const UOpRef& kernel) {
  const symbolic::BoundsCache bounds;
  const auto within = [&](const UOpRef& n, int64_t lo, int64_t hi) {
    const symbolic::Interval b = bounds.BoundsOf(n);
    return b.lo && b.hi && *b.lo >= lo && *b.hi <= hi;
  };
  const auto order = uop::Toposort(kernel);
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
  constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
  bool narrow = true;
  for (const UOp* n : order) {
    if (IsIndex(*n)) narrow &= within(UOpRef(n), kMin, kMax);
  }
  const DType machine = narrow ? dtypes::kInt32 : dtypes::kInt64,
              machine_unsigned = narrow ? dtypes::kUInt32 : dtypes::kUInt64;

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
    if (IsIndex(*n) && (division || remainder) && within(n->src(0), 0, kInt64Max) &&
        within(n->src(1), 1, kInt64Max)) {
      const DType u = DType(machine_unsigned.scalar, n->dtype().lanes);
      done.emplace(n, uop::Cast(uop::Binary(division ? Op::kIDiv : Op::kIMod, uop::Cast(src[0], u),
                                            uop::Cast(src[1], u)),
                                t));
      continue;
    }
    done.emplace(n, UOp::Make(n->op(), t, std::move(src), n->arg()));
  }
  return done.at(kernel.get());
}

}  // namespace understudy
