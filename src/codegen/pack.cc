// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/pack.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/codegen/affine.h"
#include "src/codegen/free_ranges.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// Elements that are copied one after the other where source and array have different orders: a cache line of
// floats.
constexpr int64_t kRun = 16;
// The distance in memory along a range that an index does not name plainly: further than all others.
constexpr int64_t kScattered = int64_t{1} << 62;

// A range of the kernel that the array has a dimension for.
struct Dimension {
  UOpRef range;
  int64_t stride = 0;  // in the source
  UOpRef step;         // its value in the loop that fills the array
};

class Packer {
 public:
  Packer(const UOpRef& kernel, const UOpRef& loop, int64_t param, int64_t most_bytes, PackNumbers* numbers)
      : kernel_(kernel), loop_(loop), param_(param), most_bytes_(most_bytes), numbers_(numbers) {
    const UOpRef& store = kernel->src(0);
    size_t at = 2;
    while (!(store->src(at) == loop)) ++at;
    for (size_t i = 2; i < at; ++i) {
      const AxisKind kind = RangeKind(store->src(i));
      if (kind != AxisKind::kUpcast && kind != AxisKind::kWarp) outside_.push_back(store->src(i));
    }
  }

  absl::StatusOr<UOpRef> Run() {
    for (const UOpRef& store : kernel_->src()) Visit(store->src(1));
    for (const UOpRef& store : kernel_->src()) {
      if (store->src(0)->src(0)->arg_as<int64_t>() == param_) found_.clear();  // it changes on the way
    }
    if (found_.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("no value of PARAM ", param_, " stays the same in that loop"));
    uop::SubstitutionMap map;
    for (const UOpRef& value : found_) {
      map[value] = Packed(value);
      if (numbers_->bytes > most_bytes_)
        return absl::InvalidArgumentError(absl::StrCat("the copies need more than ", most_bytes_, " bytes"));
    }
    return uop::Substitute(kernel_, map);
  }

 private:
  // Finds the largest values below `node`.
  void Visit(const UOpRef& node) {
    if (!seen_.insert(node).second) return;
    if (!free_.DependsOn(node, loop_)) {
      if (Fits(node)) found_.push_back(node);
      return;
    }
    if (node->op() == Op::kReduce) return Visit(node->src(0));
    if (!IsAlu(node->op())) return;
    for (const UOpRef& s : node->src()) Visit(s);
  }

  bool Fits(const UOpRef& value) {
    bool reads = false;
    for (const UOp* n : uop::Toposort(value)) {
      if (n->op() == Op::kReduce || n->op() == Op::kAfter) return false;
      reads |= n->op() == Op::kParam && n->arg_as<int64_t>() == param_;
    }
    if (!reads || value->dtype().scalar == Scalar::kIndex) return false;
    const RangeSet& free = free_.Of(value);
    // An array has room for a number of elements that is known.
    if (std::any_of(free.begin(), free.end(), [&](const UOpRef& r) { return IsInside(r) && IsVariable(r); }))
      return false;
    return std::any_of(free.begin(), free.end(), [&](const UOpRef& r) { return IsInside(r); });
  }

  bool IsInside(const UOpRef& range) const { return !FreeRanges::Contains(outside_, range); }

  static int64_t StrideOf(const UOpRef& index, const UOpRef& range, FreeRanges& free) {
    int64_t stride = 0;
    for (const Affine::Term& t : AffineOf(index).terms) {
      if (t.node == range) {
        stride = std::abs(t.coefficient);
      } else if (free.DependsOn(t.node, range)) {
        return kScattered;
      }
    }
    return stride;
  }

  UOpRef NewRange(int64_t end) { return uop::Range(end, numbers_->range++, AxisKind::kLoop); }

  UOpRef Packed(const UOpRef& value) {
    UOpRef source;
    for (const UOp* n : uop::Toposort(value)) {
      if (n->op() == Op::kIndex && n->src(0)->arg_as<int64_t>() == param_) source = n->src(1);
    }
    std::vector<Dimension> dims;
    for (const UOpRef& r : free_.Of(value)) {
      if (IsInside(r)) dims.push_back({r, StrideOf(source, r, free_), nullptr});
    }
    // The array's order. Lanes are neighbours, around them lie the copies of the body that read along with
    // them; everything else keeps the order that it has in memory.
    const bool lanes = std::any_of(dims.begin(), dims.end(),
                                   [](const Dimension& d) { return RangeKind(d.range) == AxisKind::kWarp; });
    const auto place = [&](const Dimension& d) {
      const AxisKind k = RangeKind(d.range);
      if (k == AxisKind::kGlobal) return 0;  // an outer loop: a panel of its own for each of its steps
      return !lanes ? 1 : k == AxisKind::kWarp ? 3 : k == AxisKind::kUpcast ? 2 : 1;
    };
    std::stable_sort(dims.begin(), dims.end(), [&](const Dimension& a, const Dimension& b) {
      return place(a) != place(b) ? place(a) < place(b) : a.stride > b.stride;
    });

    // The loops that fill it run through the source as it lies in memory. Where its neighbours are not the
    // array's, through a run of them at a time, so that both sides stay in the first cache.
    const size_t nearest = static_cast<size_t>(
        std::min_element(dims.begin(), dims.end(),
                         [](const Dimension& a, const Dimension& b) { return a.stride <= b.stride; }) -
        dims.begin());
    std::vector<UOpRef> loops;
    UOpRef run;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t end = RangeEnd(dims[i].range);
      int64_t inner = 1;
      if (i == nearest && place(dims[i]) == 1 && place(dims.back()) > 1) {
        inner = std::min(kRun, end);
        while (end % inner != 0) --inner;
      }
      if (inner == 1) {
        loops.push_back(dims[i].step = NewRange(end));
        continue;
      }
      run = NewRange(inner);
      if (inner == end) {
        dims[i].step = run;
        continue;
      }
      const UOpRef outer = NewRange(end / inner);
      dims[i].step = uop::Add(uop::Mul(outer, uop::IndexConst(inner)), run);
      loops.push_back(outer);
    }
    if (run != nullptr) loops.push_back(run);

    UOpRef to = uop::IndexConst(0), from = to;
    int64_t size = 1;
    uop::SubstitutionMap steps;
    for (const Dimension& d : dims) {
      const UOpRef end = uop::IndexConst(RangeEnd(d.range));
      to = uop::Add(uop::Mul(to, end), d.step);
      from = uop::Add(uop::Mul(from, end), d.range);
      steps[d.range] = d.step;
      if (__builtin_mul_overflow(size, RangeEnd(d.range), &size)) size = kScattered / 8;
    }
    const int64_t bytes = std::max(4, value->dtype().ScalarBytes());
    numbers_->bytes += size > most_bytes_ / bytes ? most_bytes_ + 1 : size * bytes;
    if (numbers_->bytes > most_bytes_) return value;
    const UOpRef array = uop::DefineReg(value->dtype(), numbers_->array++, size);
    const UOpRef copy = uop::Store(uop::IndexOf(array, to), uop::Substitute(value, steps), loops);
    return uop::Load(uop::IndexOf(uop::After(array, {uop::End(copy, loops)}), from));
  }

  const UOpRef& kernel_;
  const UOpRef& loop_;
  const int64_t param_, most_bytes_;
  PackNumbers* numbers_;
  FreeRanges free_;
  RangeSet outside_;
  absl::flat_hash_set<UOpRef> seen_;
  std::vector<UOpRef> found_;
};

}  // namespace

absl::StatusOr<UOpRef> PackOperand(const UOpRef& kernel, const UOpRef& loop, int64_t param,
                                   int64_t most_bytes, PackNumbers* numbers) {
  return Packer(kernel, loop, param, most_bytes, numbers).Run();
}

}  // namespace understudy
