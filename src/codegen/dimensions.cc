// SPDX-License-Identifier: Apache-2.0
// Stage "dimensions": output ranges become workgroup and work-item numbers, or loops.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/stages.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT

// Cuts `total` into at most three factors within the limits; the first is the fastest.
absl::StatusOr<std::vector<int64_t>> Factor(int64_t total, const std::array<int64_t, 3>& limit) {
  std::vector<int64_t> out;
  for (int64_t max : limit) {
    if (total == 1 && !out.empty()) break;
    int64_t f = std::min(total, max);
    while (total % f != 0) --f;
    out.push_back(f);
    total /= f;
  }
  if (total != 1)
    return absl::UnimplementedError(absl::StrCat("a grid dimension of ", total,
                                                 " is left over; the limits are ", limit[0], ", ", limit[1],
                                                 ", ", limit[2]));
  return out;
}

// Maps `ranges` (the last one fastest) to SPECIALs of `letter`.
absl::Status Assign(const std::vector<UOpRef>& ranges, char letter, const std::array<int64_t, 3>& limit,
                    std::array<int64_t, 3>* dims, uop::SubstitutionMap* map) {
  const auto special = [&](int64_t end, size_t d) {
    (*dims)[d] = end;
    return uop::Special(end, std::string{letter, static_cast<char>('0' + d)});
  };
  bool direct = ranges.size() <= 3;
  for (size_t i = 0; i < ranges.size() && direct; ++i)
    direct = RangeEnd(ranges[ranges.size() - 1 - i]) <= limit[i];
  if (direct) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      const UOpRef& r = ranges[ranges.size() - 1 - i];
      (*map)[r] = special(RangeEnd(r), i);
    }
    return absl::OkStatus();
  }
  // One number for all, then each range is cut out of it.
  int64_t total = 1;
  for (const UOpRef& r : ranges) {
    if (__builtin_mul_overflow(total, RangeEnd(r), &total))
      return absl::UnimplementedError("the grid has more than 2^63 workgroups");
  }
  US_ASSIGN_OR_RETURN(const std::vector<int64_t> factors, Factor(total, limit));
  UOpRef flat;
  for (size_t d = factors.size(); d-- > 0;) {
    const UOpRef s = special(factors[d], d);
    flat = flat == nullptr ? s : flat * factors[d] + s;
  }
  int64_t stride = 1;
  for (size_t i = ranges.size(); i-- > 0;) {
    const int64_t end = RangeEnd(ranges[i]);
    const UOpRef shifted = stride == 1 ? flat : flat / stride;
    (*map)[ranges[i]] = i == 0 ? shifted : shifted % end;
    stride *= end;
  }
  return absl::OkStatus();
}

// The kernel with numbers in place of the ranges of `map`. STOREs keep no ranges: the launch supplies every
// work-item's numbers. Stores to registers inside loops keep theirs.
UOpRef Place(const UOpRef& kernel, const uop::SubstitutionMap& map) {
  absl::flat_hash_map<const UOp*, UOpRef> done;
  for (const UOp* n : uop::Toposort(kernel)) {
    if (const auto it = map.find(UOpRef(n)); it != map.end()) {
      done.emplace(n, it->second);
      continue;
    }
    std::vector<UOpRef> src;
    for (size_t i = 0; i < n->num_src(); ++i) {
      if (n->op() == Op::kStore && i >= 2 && map.contains(n->src(i))) continue;
      src.push_back(done.at(n->src(i).get()));
    }
    done.emplace(n, n->WithSrc(std::move(src)));
  }
  return done.at(kernel.get());
}

// What a loop around all of the kernel's STOREs closes.
UOpRef BodyOf(const UOpRef& kernel) {
  return kernel->num_src() == 1 ? UOpRef(kernel->src(0))
                                : uop::Sink({kernel->src().begin(), kernel->src().end()});
}

}  // namespace

absl::StatusOr<UOpRef> AssignDimensions(const UOpRef& kernel, const Target& target, Dimensions* dims) {
  const UOpRef& first = kernel->src(0);
  std::vector<UOpRef> ranges(first->src().begin() + 2, first->src().end());
  if (!target.has_local) {
    uop::SubstitutionMap thread;
    for (const UOpRef& r : ranges) {
      if (RangeKind(r) != AxisKind::kThread) continue;
      dims->global[0] = RangeEnd(r);
      thread[r] = uop::Special(RangeEnd(r), "g0");
    }
    const UOpRef spread = thread.empty() ? kernel : Place(kernel, thread);
    ranges.erase(
        std::remove_if(ranges.begin(), ranges.end(), [&](const UOpRef& r) { return thread.contains(r); }),
        ranges.end());
    if (ranges.empty()) return spread;
    return spread->WithSrc({uop::End(BodyOf(spread), ranges)});
  }
  std::vector<UOpRef> global, local, ordered;
  for (const UOpRef& r : ranges) {
    const AxisKind k = RangeKind(r);
    if (k == AxisKind::kReduce) {
      ordered.push_back(r);
      continue;
    }
    (k == AxisKind::kLocal || k == AxisKind::kGroupReduce ? local : global).push_back(r);
  }
  // The grid has room for the most steps: a workgroup past the end of a variable range does nothing.
  UOpRef exists;
  uop::SubstitutionMap map;
  US_RETURN_IF_ERROR(Assign(global, 'g', target.max_grid, &dims->global, &map));
  const int64_t most = target.max_workgroup;
  US_RETURN_IF_ERROR(Assign(local, 'l', {most, most, most}, &dims->local, &map));
  for (const UOpRef& r : global) {
    if (!IsVariable(r)) continue;
    const UOpRef inside = uop::CmpLt(map.at(r), r->src(0));
    exists = exists == nullptr ? inside : exists & inside;
  }
  UOpRef placed = Place(kernel, map);
  // Every work-item runs through the sources of a scatter in order.
  if (!ordered.empty()) placed = placed->WithSrc({uop::End(BodyOf(placed), ordered)});
  if (exists == nullptr) return placed;
  return placed->WithSrc({uop::EndIf(uop::If(exists), {placed->src().begin(), placed->src().end()})});
}

}  // namespace understudy
