// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/keep.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/stages.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

class Keeper {
 public:
  Keeper(const UOpRef& kernel, const UOpRef& reduce, const UOpRef& output, int64_t bytes, int64_t most_bytes,
         PackNumbers* numbers)
      : kernel_(kernel),
        reduce_(reduce),
        output_(output),
        bytes_(bytes),
        most_bytes_(most_bytes),
        numbers_(numbers) {}

  absl::StatusOr<std::vector<UOpRef>> Find() {
    if (IsVariable(reduce_) || IsVariable(output_) || RangeEnd(reduce_) != RangeEnd(output_))
      return absl::InvalidArgumentError("the ranges have different numbers of steps, or variable ones");
    const UOpRef& store = kernel_->src(0);
    if (!(store->src(store->num_src() - 1) == output_))
      return absl::InvalidArgumentError("the output range is not the innermost one");
    for (const UOp* n : uop::Toposort(kernel_)) nodes_.insert(UOpRef(n));
    for (const UOpRef& s : kernel_->src()) written_.insert(s->src(0)->src(0));
    for (const UOpRef& n : uop::NodesOf(kernel_, Op::kReduce)) {
      if (std::find(n->src().begin() + 1, n->src().end(), reduce_) != n->src().end()) Visit(n->src(0));
    }
    if (found_.empty()) return absl::InvalidArgumentError("no value of the outputs is reduced there");
    return found_;
  }

  absl::StatusOr<UOpRef> Run() {
    US_RETURN_IF_ERROR(Find().status());
    uop::SubstitutionMap map;
    for (const UOpRef& value : found_) {
      const int64_t bytes = std::max(4, value->dtype().ScalarBytes());
      if (RangeEnd(reduce_) > (most_bytes_ - numbers_->bytes) / bytes)
        return absl::InvalidArgumentError(absl::StrCat("the values need more than ", most_bytes_, " bytes"));
      numbers_->bytes += RangeEnd(reduce_) * bytes;
      const UOpRef filled = Filled(value);
      map[value] = uop::Load(uop::IndexOf(filled, reduce_));
      map[At(value, output_)] = uop::Load(uop::IndexOf(filled, output_));
    }
    return uop::Substitute(kernel_, map);
  }

 private:
  UOpRef At(const UOpRef& value, const UOpRef& step) const {
    return uop::Substitute(value, {{reduce_, step}});
  }

  // Finds the largest values below `node`.
  void Visit(const UOpRef& node) {
    if (!seen_.insert(node).second || !IsAlu(node->op()) || !free_.DependsOn(node, reduce_)) return;
    if (Fits(node)) {
      found_.push_back(node);
      return;
    }
    for (const UOpRef& s : node->src()) Visit(s);
  }

  bool Fits(const UOpRef& value) {
    if (value->dtype().scalar == Scalar::kIndex || value->dtype().IsBool()) return false;
    // One array a row: what it holds varies with loops around the row only.
    for (const UOpRef& r : free_.Of(value)) {
      const AxisKind k = RangeKind(r);
      if (!(r == reduce_) && k != AxisKind::kGlobal && k != AxisKind::kLoop && k != AxisKind::kThread)
        return false;
    }
    if (free_.DependsOn(value, output_) || !nodes_.contains(At(value, output_))) return false;
    bool reads = false;
    for (const UOp* n : uop::Toposort(value)) {
      if (n->op() == Op::kAfter) return false;
      if (n->op() != Op::kParam) continue;
      reads = true;
      if (written_.contains(UOpRef(n))) return false;  // it changes on the way
    }
    return reads;
  }

  UOpRef Filled(const UOpRef& value) {
    const int64_t end = RangeEnd(reduce_);
    const UOpRef array = uop::DefineReg(value->dtype(), numbers_->array++, end);
    int64_t lanes = 1;
    while (2 * lanes <= std::min(end, bytes_ / std::max(4, value->dtype().ScalarBytes()))) lanes *= 2;
    // The last vector starts earlier where they do not divide: it computes some values twice.
    const int64_t steps = (end + lanes - 1) / lanes;
    const UOpRef lane = uop::Range(lanes, numbers_->range++, AxisKind::kWarp);
    if (steps == 1) {
      const UOpRef fill =
          uop::Store(uop::IndexOf(array, uop::IndexConst(0)), VectorAlong(At(value, lane), lane));
      return uop::After(array, {fill});
    }
    const UOpRef loop = uop::Range(steps, numbers_->range++, AxisKind::kLoop);
    UOpRef start = uop::Mul(loop, uop::IndexConst(lanes));
    if (end % lanes != 0) start = uop::Binary(Op::kMin, start, uop::IndexConst(end - lanes));
    const UOpRef fill =
        uop::Store(uop::IndexOf(array, start), VectorAlong(At(value, uop::Add(start, lane)), lane), {loop});
    return uop::After(array, {uop::End(fill, {loop})});
  }

  const UOpRef& kernel_;
  const UOpRef& reduce_;
  const UOpRef& output_;
  const int64_t bytes_, most_bytes_;
  PackNumbers* numbers_;
  FreeRanges free_;
  absl::flat_hash_set<UOpRef> nodes_, written_, seen_;
  std::vector<UOpRef> found_;
};

}  // namespace

absl::StatusOr<std::vector<UOpRef>> KeptValues(const UOpRef& kernel, const UOpRef& reduce,
                                               const UOpRef& output) {
  PackNumbers none;
  return Keeper(kernel, reduce, output, 1, 0, &none).Find();
}

absl::StatusOr<UOpRef> KeepValues(const UOpRef& kernel, const UOpRef& reduce, const UOpRef& output,
                                  int64_t bytes, int64_t most_bytes, PackNumbers* numbers) {
  return Keeper(kernel, reduce, output, bytes, most_bytes, numbers).Run();
}

}  // namespace understudy
