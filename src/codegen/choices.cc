// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/choices.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/keep.h"
#include "src/codegen/pack.h"
#include "src/codegen/stages.h"
#include "src/codegen/tensor_core.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

constexpr const char* kNames[] = {
#define CHOICE(name, text) text,
#include "src/codegen/choices.inc"
};

// Code that a kernel may grow to: copies of the body by upcasts, lanes and unrolling.
constexpr int64_t kMaxUpcast = 256, kMaxLanes = 64, kMaxUnroll = 256;

// What ListChoices tries besides whole ranges of at most kMaxWholeRange.
constexpr int64_t kAmounts[] = {2, 3, 4, 8, 16, 32};
constexpr int64_t kMaxWholeRange = 64;

}  // namespace

std::string Choice::Text() const {
  return absl::StrCat(kNames[static_cast<int>(kind)], "(", axis, ",", amount, ")");
}

std::string ChoicesText(const ChoiceList& choices) {
  std::string text;
  for (const Choice& c : choices) absl::StrAppend(&text, text.empty() ? "" : " ", c.Text());
  return text;
}

absl::StatusOr<ChoiceList> ParseChoices(const std::string& text) {
  ChoiceList list;
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  for (const std::string& word : words) {
    const auto bad = [&](const char* expected) {
      return absl::InvalidArgumentError(absl::StrCat("choice '", word, "': expected ", expected));
    };
    const size_t open = word.find('(');
    if (open == std::string::npos || word.back() != ')') return bad("kind(axis,amount)");
    const std::vector<std::string> numbers =
        absl::StrSplit(word.substr(open + 1, word.size() - open - 2), ',');
    Choice c;
    if (numbers.size() != 2 || !absl::SimpleAtoi(numbers[0], &c.axis) ||
        !absl::SimpleAtoi(numbers[1], &c.amount))
      return bad("(axis,amount)");
    const std::string name = word.substr(0, open);
    const auto it =
        std::find_if(std::begin(kNames), std::end(kNames), [&](const char* n) { return name == n; });
    if (it == std::end(kNames)) {
      return bad(
          "upcast, vectorize, unroll, local, group, thread, swap, nolocals, pad, pad_reduce, tc, block, "
          "pack, "
          "stream or keep");
    }
    c.kind = static_cast<ChoiceKind>(it - kNames);
    list.push_back(c);
  }
  return list;
}

absl::StatusOr<KernelRanges> RangesOf(const UOpRef& kernel) {
  if (kernel->op() != Op::kSink || kernel->num_src() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("kernel is a ", OpName(kernel->op()), " of ",
                                                   kernel->num_src(), " sources, expected a SINK of STOREs"));
  }
  KernelRanges ranges;
  for (const UOpRef& store : kernel->src()) {
    if (store->op() != Op::kStore || store->src(0)->op() != Op::kIndex) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel stores by ", OpName(store->op()), ", expected STORE at an INDEX"));
    }
    // Ranges of kind reduce are run through in order: no choice is about them.
    std::vector<UOpRef> own;
    for (size_t i = 2; i < store->num_src(); ++i) {
      const UOpRef& r = store->src(i);
      if (r->op() != Op::kRange || RangeKind(r) != AxisKind::kReduce) own.push_back(r);
    }
    if (store == kernel->src(0)) ranges.outputs = own;
    if (own != ranges.outputs)
      return absl::UnimplementedError(
          "STOREs of one kernel run over different ranges; expected the same for all");
  }
  for (const UOp* n : uop::Toposort(kernel)) {
    if (n->op() == Op::kRange && !uop::IsSizeExpr(*n->src(0))) {
      return absl::UnimplementedError(absl::StrCat("RANGE ", n->arg_as<RangeArg>().id, " ends at a ",
                                                   OpName(n->src(0)->op()),
                                                   ", expected arithmetic of VARs and CONSTs"));
    }
    if (n->op() != Op::kReduce) continue;
    for (size_t i = 1; i < n->num_src(); ++i) {
      if (n->src(i)->op() != Op::kRange)
        return absl::InvalidArgumentError(
            absl::StrCat("REDUCE over ", OpName(n->src(i)->op()), ", expected RANGE"));
      if (!FreeRanges::Contains(ranges.reduces, n->src(i))) ranges.reduces.push_back(n->src(i));
    }
  }
  for (const UOpRef& r : ranges.outputs) {
    if (r->op() != Op::kRange)
      return absl::InvalidArgumentError(absl::StrCat("STORE over ", OpName(r->op()), ", expected RANGE"));
  }
  return ranges;
}

namespace {

// The steps of the range are `factor` times something for all values of its variables.
int64_t FactorOf(const UOpRef& range) {
  const UOpRef& end = range->src(0);
  if (end->IsConst()) return end->const_int();
  return end->op() == Op::kMul && end->src(1)->IsConst() ? end->src(1)->const_int() : 1;
}
bool Divides(int64_t amount, const UOpRef& range) { return FactorOf(range) % amount == 0; }

// A range of 1 / amount of the steps, which must divide; null when that is one step.
UOpRef OuterRange(const UOpRef& range, int64_t amount) {
  const UOpRef& end = range->src(0);
  const int64_t rest = FactorOf(range) / amount;
  if (end->IsConst()) return rest == 1 ? nullptr : uop::Range(rest, RangeId(range), RangeKind(range));
  const UOpRef steps = rest == 1 ? end->src(0) : uop::Mul(end->src(0), uop::IndexConst(rest));
  return uop::Range(steps, RangeId(range), RangeKind(range));
}

std::string StepsText(const UOpRef& range) { return uop::SizeText(range->src(0)); }

class Splitter {
 public:
  Splitter(UOpRef kernel, const Target& target, KernelRanges ranges)
      : kernel_(std::move(kernel)), target_(target), ranges_(std::move(ranges)) {
    for (const auto* list : {&ranges_.outputs, &ranges_.reduces}) {
      for (const UOpRef& r : *list) numbers_.range = std::max(numbers_.range, RangeId(r) + 1);
    }
  }

  const UOpRef& kernel() const { return kernel_; }
  const KernelRanges& ranges() const { return ranges_; }

  absl::Status Apply(const Choice& c) {
    const absl::Status status = Try(c);
    if (status.ok()) return status;
    return absl::Status(status.code(),
                        absl::StrCat("choice ", c.Text(), ": ", std::string(status.message())));
  }

 private:
  template <class... A>
  static absl::Status No(const A&... a) {
    return absl::InvalidArgumentError(absl::StrCat(a...));
  }

  absl::Status Try(const Choice& c) {
    if (c.kind == ChoiceKind::kStream) return Stream(c);
    if (packed_ && c.kind != ChoiceKind::kPack) return No("it comes before operands are packed");
    if (c.kind == ChoiceKind::kNoLocals) return NoLocals(c);
    if (c.kind == ChoiceKind::kTensorCore) return UseTensorCore(c);
    const bool reduce = c.kind == ChoiceKind::kUnroll || c.kind == ChoiceKind::kGroup ||
                        c.kind == ChoiceKind::kPadReduce || c.kind == ChoiceKind::kKeep;
    std::vector<UOpRef>& axes = reduce ? ranges_.reduces : ranges_.outputs;
    if (c.axis < 0 || c.axis >= static_cast<int>(axes.size())) {
      return No("the kernel has ", axes.size(), reduce ? " reduce" : " output", " ranges");
    }
    UOpRef& axis = axes[c.axis];
    if (axis == nullptr) return No("the axis is used up");
    if (c.kind == ChoiceKind::kKeep) return Keep(axis, c.amount);
    if (kept_) US_RETURN_IF_ERROR(MayFollowKeep(c));
    only_kept_ = false;
    if (c.kind == ChoiceKind::kSwap) return Swap(c);
    if (c.kind == ChoiceKind::kPack) return Pack(axis, c.amount);
    if (c.kind == ChoiceKind::kPadOutput || c.kind == ChoiceKind::kPadReduce) return Pad(axis, c.amount);
    if (c.amount < 2 || (!Divides(c.amount, axis) && !MayOverlap(c, axis)))
      return No("the amount must be at least 2 and divide ", StepsText(axis));
    AxisKind kind = AxisKind::kUpcast;
    switch (c.kind) {
      case ChoiceKind::kUpcast:
        if ((upcast_ *= c.amount) > kMaxUpcast) return No("more than ", kMaxUpcast, " outputs a work-item");
        break;
      case ChoiceKind::kVectorize:
        if (vector_) return No("an axis is vectorized already");
        if (tensor_core_) return No("a tensor core's fragments are vectors already");
        if (!IsPow2(static_cast<uint64_t>(c.amount))) return No("the number of lanes must be a power of two");
        if (c.amount > kMaxLanes) return No("more than ", kMaxLanes, " lanes");
        vector_ = true;
        kind = AxisKind::kWarp;
        break;
      case ChoiceKind::kUnroll:
        if ((unroll_ *= c.amount) > kMaxUnroll) return No("more than ", kMaxUnroll, " steps an iteration");
        US_RETURN_IF_ERROR(IsInnermost(axis));
        kind = AxisKind::kUnroll;
        break;
      case ChoiceKind::kBlock:
        if (target_.has_local) return No("work-items run in no order");
        Block(axis, c.amount);
        split_ = true;
        return absl::OkStatus();
      case ChoiceKind::kThread:
        if (!target_.has_threads) return No("the target has no threads");
        if (thread_) return No("an axis is spread over threads already");
        if (IsVariable(axis)) return No("the axis has a variable number of steps, ", StepsText(axis));
        thread_ = true;
        SplitThreads(axis, c.amount);
        split_ = true;
        return absl::OkStatus();
      case ChoiceKind::kLocal:
      case ChoiceKind::kGroup: {
        if (c.kind == ChoiceKind::kGroup && !target_.has_local && target_.vector_bytes > 0) {
          if (!IsPow2(static_cast<uint64_t>(c.amount)) || c.amount > kMaxLanes)
            return No("the parts are lanes: a power of two of at most ", kMaxLanes);
          if (group_ != nullptr && RangeEnd(group_) != c.amount)
            return No("the kernel's other group has ", RangeEnd(group_), " parts");
          US_RETURN_IF_ERROR(CanGroup(axis));
          kind = AxisKind::kGroupReduce;
          break;
        }
        if (!target_.has_local) return No("the target has no workgroups");
        if (no_locals_) return No("an earlier choice rules work-items out");
        if (tensor_core_ && c.kind == ChoiceKind::kGroup)
          return No("the lanes of a tensor core's wave must be neighbours");
        const bool shares = c.kind == ChoiceKind::kGroup && group_ != nullptr;
        if (shares && RangeEnd(group_) != c.amount)
          return No("the kernel's other group has ", RangeEnd(group_), " work-items");
        if (!shares && (threads_ *= c.amount) > target_.max_workgroup)
          return No("more than ", target_.max_workgroup, " work-items a workgroup");
        if (c.kind == ChoiceKind::kGroup) US_RETURN_IF_ERROR(CanGroup(axis));
        kind = c.kind == ChoiceKind::kLocal ? AxisKind::kLocal : AxisKind::kGroupReduce;
        break;
      }
      default:
        return absl::InternalError("a choice without a case");
    }
    split_ = true;
    UOpRef inner;
    if (kind == AxisKind::kGroupReduce && group_ != nullptr) {
      inner = group_;
    } else {
      inner = uop::Range(c.amount, numbers_.range++, kind);
      if (kind == AxisKind::kGroupReduce) group_ = inner;
    }
    const UOpRef outer = Outer(axis, c.amount);
    Split(axis, outer, inner);
    axis = outer;
    return absl::OkStatus();
  }

  // Where the amount does not divide the range, the last step starts earlier and computes some outputs once
  // more: the same values, provided that the kernel does not read what it writes. Work-items of other targets
  // would write them at the same time.
  bool MayOverlap(const Choice& c, const UOpRef& axis) const {
    const ChoiceKind kind = c.kind;
    if (kind != ChoiceKind::kUpcast && kind != ChoiceKind::kVectorize && kind != ChoiceKind::kBlock)
      return false;
    if (target_.vector_bytes == 0 || IsVariable(axis) || c.amount > RangeEnd(axis)) return false;
    for (const UOpRef& load : uop::NodesOf(kernel_, Op::kLoad)) {
      for (const UOpRef& store : kernel_->src()) {
        if (load->src(0)->src(0) == store->src(0)->src(0)) return false;
      }
    }
    return true;
  }

  // What is left of `axis` in steps of `amount`; null when that is one step.
  static UOpRef Outer(const UOpRef& axis, int64_t amount) {
    if (Divides(amount, axis)) return OuterRange(axis, amount);
    return uop::Range(RangeEnd(axis) / amount + 1, RangeId(axis), RangeKind(axis));
  }

  // The neighbours turn fastest of all loops.
  void Block(UOpRef& axis, int64_t amount) {
    const UOpRef inner = uop::Range(amount, numbers_.range++, RangeKind(axis));
    Split(axis, Outer(axis, amount), inner);
    std::vector<UOpRef> stores;
    for (const UOpRef& store : kernel_->src()) {
      std::vector<UOpRef> src(store->src().begin(), store->src().end());
      std::stable_partition(src.begin() + 2, src.end(), [&](const UOpRef& r) { return !(r == inner); });
      stores.push_back(store->WithSrc(std::move(src)));
    }
    kernel_ = kernel_->WithSrc(std::move(stores));
    axis = inner;
  }

  absl::Status NoLocals(const Choice& c) {
    if (c.axis != 0 || c.amount != 1) return No("it takes (0,1)");
    if (!target_.has_local) return No("the target has no workgroups");
    if (threads_ > 1) return No("the kernel has work-items already");
    if (no_locals_) return No("given twice");
    no_locals_ = true;
    return absl::OkStatus();
  }

  absl::Status Swap(const Choice& c) {
    const int64_t other = c.amount;
    if (other <= c.axis || other >= static_cast<int64_t>(ranges_.outputs.size()))
      return No("the other range must be one of ", c.axis + 1, " to ", ranges_.outputs.size() - 1);
    const UOpRef a = ranges_.outputs[c.axis], b = ranges_.outputs[other];
    if (b == nullptr) return No("the other axis is used up");
    std::vector<UOpRef> stores;
    for (const UOpRef& store : kernel_->src()) {
      std::vector<UOpRef> src(store->src().begin(), store->src().end());
      for (size_t i = 2; i < src.size(); ++i) src[i] = src[i] == a ? b : src[i] == b ? a : src[i];
      stores.push_back(store->WithSrc(std::move(src)));
    }
    kernel_ = kernel_->WithSrc(std::move(stores));
    return absl::OkStatus();
  }

  // The range grows to a multiple of `amount`. Every access that varies with it is valid on the old steps
  // only, stores on the old steps of an output range only, and a reduction takes its identity on the new
  // ones.
  absl::Status Pad(UOpRef& axis, int64_t amount) {
    const int64_t most = RangeEnd(axis);
    const UOpRef& end = axis->src(0);
    int64_t padded;
    if (amount < 2 || Divides(amount, axis))
      return No("the amount must be at least 2 and not divide ", StepsText(axis));
    if (split_) return No("padding comes before ranges are split");
    if (__builtin_mul_overflow(most / amount + 1, amount, &padded)) return No("the padded range is too long");
    const UOpRef steps =
        IsVariable(axis)
            ? uop::Mul(uop::FloorDiv(uop::Add(end, uop::IndexConst(amount - 1)), uop::IndexConst(amount)),
                       uop::IndexConst(amount))
            : uop::IndexConst(padded);
    const UOpRef longer = uop::Range(steps, RangeId(axis), RangeKind(axis));
    const UOpRef inside = uop::CmpLt(longer, end);
    FreeRanges free;
    uop::SubstitutionMap done;
    for (const UOp* n : uop::Toposort(kernel_)) {
      const UOpRef ref(n);
      if (ref == axis) {
        done[ref] = longer;
        continue;
      }
      std::vector<UOpRef> src;
      bool changed = false;
      for (const UOpRef& s : n->src()) {
        src.push_back(done.at(s));
        changed |= !(src.back() == s);
      }
      if (!changed && n->op() != Op::kStore) {
        done[ref] = ref;
        continue;
      }
      const auto guard = [&](const UOpRef& index) {
        return uop::IndexOf(index->src(0), index->src(1),
                            index->num_src() > 2 ? uop::And(index->src(2), inside) : inside);
      };
      if (n->op() == Op::kReduce && FreeRanges::Contains({n->src().begin() + 1, n->src().end()}, axis)) {
        src[0] = uop::Where(inside, src[0], ReduceIdentity(n->arg_as<Op>(), n->dtype()));
      } else if (n->op() == Op::kLoad && free.DependsOn(n->src(0), axis)) {
        src[0] = guard(src[0]);
      } else if (n->op() == Op::kStore &&
                 FreeRanges::Contains({n->src().begin() + 2, n->src().end()}, axis)) {
        src[0] = guard(src[0]);
      }
      done[ref] = n->WithSrc(std::move(src));
    }
    kernel_ = done.at(kernel_);
    axis = longer;
    return absl::OkStatus();
  }

  absl::Status Pack(const UOpRef& loop, int64_t param) {
    if (target_.pack_bytes == 0) return No("the target has no cache to pack operands into");
    US_ASSIGN_OR_RETURN(kernel_, PackOperand(kernel_, loop, param, target_.pack_bytes, &numbers_));
    split_ = packed_ = true;
    return absl::OkStatus();
  }

  // Arrays hold one row.
  absl::Status Keep(const UOpRef& reduce, int64_t output) {
    if (target_.pack_bytes == 0) return No("the target has no cache to keep values in");
    if (split_ && !only_kept_) return No("it comes before ranges are split");
    if (output < 0 || output >= static_cast<int64_t>(ranges_.outputs.size()))
      return No("the kernel has ", ranges_.outputs.size(), " output ranges");
    // Four registers at a time, whose chains of operations go on side by side.
    US_ASSIGN_OR_RETURN(kernel_, KeepValues(kernel_, reduce, ranges_.outputs[output],
                                            4 * target_.vector_bytes, target_.pack_bytes, &numbers_));
    split_ = kept_ = only_kept_ = true;
    return absl::OkStatus();
  }
  absl::Status MayFollowKeep(const Choice& c) const {
    switch (c.kind) {
      case ChoiceKind::kUnroll:
      case ChoiceKind::kGroup:
      case ChoiceKind::kThread:
        return absl::OkStatus();
      case ChoiceKind::kUpcast:
      case ChoiceKind::kVectorize:
        if (c.axis + 1 == static_cast<int>(ranges_.outputs.size())) return absl::OkStatus();
        return No("an array holds the values of one row");
      default:
        return No("it comes before values are kept");
    }
  }

  // Only how the stores are rendered: the kernel stays as it is.
  absl::Status Stream(const Choice& c) {
    if (c.axis != 0) return No("it takes (0, a PARAM)");
    if (target_.stream_bytes == 0) return No("the target has no stores past its caches");
    const auto of_param = [&](const UOpRef& n) { return n->src(0)->src(0)->arg_as<int64_t>() == c.amount; };
    const auto& stores = kernel_->src();
    if (std::none_of(stores.begin(), stores.end(), of_param)) return No("the kernel does not store to it");
    for (const UOpRef& load : uop::NodesOf(kernel_, Op::kLoad)) {
      if (load->src(0)->src(0)->op() == Op::kParam && of_param(load)) return No("the kernel reads it");
    }
    if (std::find(streams_.begin(), streams_.end(), c.amount) != streams_.end()) return No("given twice");
    streams_.push_back(c.amount);
    return absl::OkStatus();
  }

  absl::Status UseTensorCore(const Choice& c) {
    if (!target_.has_local || no_locals_) return No("a tensor core needs the work-items of a wave");
    if (c.amount < 0 || c.amount >= static_cast<int64_t>(target_.tensor_cores.size()))
      return No("the target has ", target_.tensor_cores.size(), " tensor cores");
    if (split_) return No("a tensor core comes before ranges are split");
    if (tensor_core_) return No("the kernel uses a tensor core already");
    const TensorCore& core = target_.tensor_cores[c.amount];
    const std::vector<TensorCoreUse> uses = FindTensorCoreUses(kernel_, ranges_, core);
    if (c.axis < 0 || c.axis >= static_cast<int>(uses.size()))
      return No("the kernel has ", uses.size(), " uses for ", core.name);
    const TensorCoreUse& use = uses[c.axis];
    UOpRef &m = ranges_.outputs[use.m], &n = ranges_.outputs[use.n], &k = ranges_.reduces[use.k];
    for (const auto& [range, size] : {std::pair(m, core.m), std::pair(n, core.n), std::pair(k, core.k)}) {
      if (!Divides(size, range))
        return No("a range of ", StepsText(range), " does not divide by ", size, "; pad it first");
    }
    if (core.wave_size > target_.max_workgroup) return No("a wave is more than a workgroup");
    const TensorCoreRanges left = {OuterRange(m, core.m), OuterRange(n, core.n), OuterRange(k, core.k),
                                   uop::Range(core.wave_size, numbers_.range++, AxisKind::kLocal)};
    kernel_ = ApplyTensorCore(kernel_, ranges_, core, use, left);
    m = left.m;
    n = left.n;
    k = left.k;
    threads_ *= core.wave_size;
    upcast_ *= core.c.elements;
    tensor_core_ = true;
    return absl::OkStatus();
  }

  // Parts of neighbours: the thread's number is the outer range.
  void SplitThreads(UOpRef& axis, int64_t amount) {
    const UOpRef thread = uop::Range(amount, numbers_.range++, AxisKind::kThread);
    const int64_t steps = RangeEnd(axis) / amount;
    const UOpRef inner = steps == 1 ? nullptr : uop::Range(steps, RangeId(axis), RangeKind(axis));
    if (inner == nullptr) {
      Split(axis, nullptr, thread);
    } else {
      Split(axis, thread, inner);
    }
    axis = inner;
  }

  // Unrolling keeps the order of a sum only where no later range turns faster. (The group's range is no
  // loop.)
  absl::Status IsInnermost(const UOpRef& axis) const {
    for (const UOpRef& n : uop::NodesOf(kernel_, Op::kReduce)) {
      bool seen = false;
      for (size_t i = 1; i < n->num_src(); ++i) {
        const AxisKind k = RangeKind(n->src(i));
        if (seen && k != AxisKind::kUnroll && k != AxisKind::kGroupReduce)
          return No("a reduce range inside this one turns faster: the order of the sum would change");
        seen |= n->src(i) == axis;
      }
    }
    return absl::OkStatus();
  }

  // A barrier must be reached by all work-items together, so no loop may be around it.
  absl::Status CanGroup(const UOpRef& axis) const {
    FreeRanges free;
    for (const UOpRef& n : uop::NodesOf(kernel_, Op::kReduce)) {
      if (std::find(n->src().begin() + 1, n->src().end(), axis) == n->src().end()) continue;
      for (const UOpRef& r : free.Of(n)) {
        const AxisKind k = RangeKind(r);
        if (k == AxisKind::kReduce || k == AxisKind::kUnroll || k == AxisKind::kGroupReduce) {
          return No("the reduction lies inside another one");
        }
      }
      for (size_t i = 1; i < n->num_src(); ++i) {
        if (RangeKind(n->src(i)) == AxisKind::kGroupReduce) return No("the reduction is grouped already");
      }
    }
    return absl::OkStatus();
  }

  // axis -> outer * amount + inner everywhere; in lists of ranges, axis -> outer, inner.
  void Split(const UOpRef& axis, const UOpRef& outer, const UOpRef& inner) {
    using namespace uop::expr;  // NOLINT
    UOpRef index = inner;
    if (outer != nullptr) {
      const UOpRef start = outer * RangeEnd(inner);
      const int64_t last = RangeEnd(axis) - RangeEnd(inner);
      const bool divides = RangeEnd(outer) * RangeEnd(inner) == RangeEnd(axis);
      index =
          (IsVariable(axis) || divides ? start : uop::Binary(Op::kMin, start, uop::IndexConst(last))) + inner;
    }
    uop::SubstitutionMap done;
    for (const UOp* n : uop::Toposort(kernel_)) {
      const UOpRef ref(n);
      if (ref == axis) {
        done[ref] = index;
        continue;
      }
      const bool has_ranges = n->op() == Op::kReduce || n->op() == Op::kStore;
      std::vector<UOpRef> src;
      bool changed = false;
      for (size_t i = 0; i < n->num_src(); ++i) {
        const UOpRef& s = n->src(i);
        if (has_ranges && i >= FirstRange(n->op()) && s == axis) {
          if (outer != nullptr) src.push_back(outer);
          src.push_back(inner);
          changed = true;
          continue;
        }
        src.push_back(done.at(s));
        changed |= !(src.back() == s);
      }
      done[ref] = changed ? n->WithSrc(std::move(src)) : ref;
    }
    kernel_ = done.at(kernel_);
  }

  UOpRef kernel_;
  const Target& target_;
  KernelRanges ranges_;  // what is left of each axis; null when nothing is
  int64_t upcast_ = 1, unroll_ = 1, threads_ = 1;
  bool vector_ = false, thread_ = false, no_locals_ = false, tensor_core_ = false;
  bool split_ = false;      // a range has been split
  bool packed_ = false;     // an operand has been packed
  bool kept_ = false;       // values are kept in arrays
  bool only_kept_ = false;  // and nothing has been done since
  std::vector<int64_t> streams_;
  PackNumbers numbers_;
  UOpRef group_;
};

absl::StatusOr<Splitter> ApplyAll(const UOpRef& kernel, const Target& target, const ChoiceList& choices) {
  US_ASSIGN_OR_RETURN(KernelRanges ranges, RangesOf(kernel));
  Splitter splitter(kernel, target, std::move(ranges));
  for (const Choice& c : choices) US_RETURN_IF_ERROR(splitter.Apply(c));
  return splitter;
}

}  // namespace

absl::StatusOr<UOpRef> ApplyChoices(const UOpRef& kernel, const Target& target, const ChoiceList& choices) {
  US_ASSIGN_OR_RETURN(const Splitter splitter, ApplyAll(kernel, target, choices));
  // Local memory is what may still be lacking.
  US_RETURN_IF_ERROR(LowerGroups(splitter.kernel(), target).status());
  return splitter.kernel();
}

absl::Status CheckChoice(const UOpRef& kernel, const Target& target, const ChoiceList& before,
                         const Choice& choice) {
  ChoiceList all = before;
  all.push_back(choice);
  return ApplyChoices(kernel, target, all).status();
}

ChoiceList ListChoices(const UOpRef& kernel, const Target& target, const ChoiceList& before) {
  ChoiceList legal;
  const absl::StatusOr<Splitter> splitter = ApplyAll(kernel, target, before);
  if (!splitter.ok()) return legal;
  // Every kind with every axis and amount that may mean something to some kind; what it means, and whether it
  // may be, the splitter says.
  const KernelRanges& ranges = splitter->ranges();
  const size_t outputs = ranges.outputs.size(), reduces = ranges.reduces.size();
  // The least numbers count, or name a range, a tensor core or a PARAM.
  std::set<int64_t> amounts(std::begin(kAmounts), std::end(kAmounts));
  const size_t params = uop::NodesOf(kernel, Op::kParam).size();
  for (size_t i = 0; i < std::max({outputs, target.tensor_cores.size(), params}); ++i)
    amounts.insert(static_cast<int64_t>(i));
  if (target.has_threads) amounts.insert(target.threads);
  for (const auto* axes : {&ranges.outputs, &ranges.reduces}) {
    for (const UOpRef& r : *axes) {
      if (r != nullptr && r->src(0)->IsConst() && RangeEnd(r) <= kMaxWholeRange) amounts.insert(RangeEnd(r));
    }
  }
  // A tensor core has a use a product of two ranges at most.
  const size_t axes = std::max({outputs, reduces, target.tensor_cores.empty() ? 1 : outputs * reduces});
  for (size_t kind = 0; kind < std::size(kNames); ++kind) {
    for (size_t axis = 0; axis < axes; ++axis) {
      for (const int64_t amount : amounts) {
        const Choice c{static_cast<ChoiceKind>(kind), static_cast<int>(axis), amount};
        Splitter after = *splitter;
        if (after.Apply(c).ok() && LowerGroups(after.kernel(), target).ok()) legal.push_back(c);
      }
    }
  }
  return legal;
}

uint64_t ChoiceSetVersion() {
  std::string text;
  for (const char* name : kNames) absl::StrAppend(&text, name, " ");
  for (const int64_t amount : kAmounts) absl::StrAppend(&text, amount, " ");
  absl::StrAppend(&text, kMaxWholeRange, " ", kMaxUpcast, " ", kMaxLanes, " ", kMaxUnroll);
  // FNV-1a: the same in every process.
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace understudy
