// SPDX-License-Identifier: Apache-2.0
// The cheap guess: no search, no timing, only strides and extents.
#include <algorithm>
#include <optional>

#include "src/codegen/affine.h"
#include "src/codegen/choices.h"
#include "src/codegen/free_ranges.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// Steps of a kernel that pay for waking the host's other threads (some 10 us).
constexpr int64_t kEnoughForThreads = 1 << 18;
// Work-items that a GPU wants before registers are worth more than parallelism.
constexpr int64_t kEnoughItems = 256;

class Chooser {
 public:
  Chooser(const UOpRef& kernel, const Target& target, KernelRanges ranges)
      : kernel_(kernel), target_(target), ranges_(std::move(ranges)) {
    for (const UOp* n : uop::Toposort(kernel)) {
      if (n->op() == Op::kLoad) loads_.push_back(n->src(0));
      if (n->op() == Op::kStore) stores_.push_back(n->src(0));
      if (n->op() == Op::kLoad || n->op() == Op::kStore) {
        widest_ = std::max(widest_, n->src(0)->dtype().ScalarBytes());
      }
    }
    for (const UOpRef& r : ranges_.outputs) {
      left_.push_back(RangeEnd(r));
      outputs_ *= RangeEnd(r);
    }
    for (const UOpRef& r : ranges_.reduces) steps_ *= RangeEnd(r);
  }

  ChoiceList Run() {
    if (target_.has_local) {
      if (!TensorCores()) Workgroups();
    } else {
      if (target_.has_threads) Threads();
      if (!ranges_.reduces.empty()) HostReduction();
    }
    // Without reductions the host's loops are left to LLVM's own vectorizer, which also handles remainders.
    return std::move(choices_);
  }

 private:
  // The distance in elements between neighbours along `range`; nullopt when it varies.
  std::optional<int64_t> Stride(const UOpRef& index, const UOpRef& range) {
    if (index->num_src() > 2 && free_.DependsOn(index->src(2), range)) return std::nullopt;
    int64_t stride = 0;
    for (const Affine::Term& t : AffineOf(index->src(1)).terms) {
      if (t.node == range) {
        stride = t.coefficient;
      } else if (free_.DependsOn(t.node, range)) {
        return std::nullopt;
      }
    }
    return stride;
  }

  bool Try(ChoiceKind kind, size_t axis, int64_t amount) {
    const Choice c{kind, static_cast<int>(axis), amount};
    if ((amount < 2 && kind != ChoiceKind::kTensorCore) || !CheckChoice(kernel_, target_, choices_, c).ok())
      return false;
    choices_.push_back(c);
    if (kind != ChoiceKind::kUnroll && kind != ChoiceKind::kGroup && kind != ChoiceKind::kTensorCore)
      left_[axis] /= amount;
    return true;
  }
  bool TryLargest(ChoiceKind kind, size_t axis, std::initializer_list<int64_t> amounts) {
    for (const int64_t a : amounts) {
      if (Try(kind, axis, a)) return true;
    }
    return false;
  }

  // An output range along which everything is contiguous or constant, and something is contiguous.
  std::optional<size_t> VectorAxis() {
    for (size_t a = left_.size(); a-- > 0;) {
      const UOpRef& r = ranges_.outputs[a];
      const auto fits = [&](const UOpRef& index) {
        const auto s = Stride(index, r);
        return s == 0 || s == 1;
      };
      const auto contiguous = [&](const UOpRef& index) { return Stride(index, r) == 1; };
      if (std::all_of(loads_.begin(), loads_.end(), fits) &&
          std::all_of(stores_.begin(), stores_.end(), contiguous))
        return a;
    }
    return std::nullopt;
  }

  // An output range that some load does not vary with: a tile along it reads that operand once.
  std::optional<size_t> SharedAxis(std::optional<size_t> except) {
    for (size_t a = left_.size(); a-- > 0;) {
      if (a == except) continue;
      for (const UOpRef& index : loads_) {
        if (Stride(index, ranges_.outputs[a]) == 0) return a;
      }
    }
    return std::nullopt;
  }

  // Parts of the slowest axes, where there is work enough to pay for waking the threads.
  void Threads() {
    if (outputs_ * steps_ < kEnoughForThreads) return;
    for (size_t a = 0; a < left_.size(); ++a) {
      for (int64_t threads = target_.threads; threads > 1; --threads) {
        if (left_[a] >= 4 * threads && Try(ChoiceKind::kThread, a, threads)) return;
      }
    }
  }

  // Products of integers, which are exact; of floats only where the target says so, for they round as the
  // core does.
  bool TensorCores() {
    for (size_t core = 0; core < target_.tensor_cores.size(); ++core) {
      if (target_.tensor_cores[core].in.IsFloat() && !target_.float_tensor_cores) continue;
      if (!Try(ChoiceKind::kTensorCore, 0, static_cast<int64_t>(core))) continue;
      return true;
    }
    return false;
  }

  void HostReduction() {
    const auto vector = VectorAxis();
    if (vector) {
      const int64_t lanes = 64 / widest_;
      TryLargest(ChoiceKind::kVectorize, *vector, {lanes, lanes / 2, 4});
      if (const auto shared = SharedAxis(vector)) TryLargest(ChoiceKind::kUpcast, *shared, {4, 3, 2});
      const bool vectorized = std::any_of(choices_.begin(), choices_.end(),
                                          [](const Choice& c) { return c.kind == ChoiceKind::kVectorize; });
      if (vectorized) Try(ChoiceKind::kUpcast, *vector, 2);
    }
    // Sums keep their order, so that each is a chain of dependent additions: several at once hide its
    // latency.
    if (!vector || !AllVaryWith(ranges_.outputs[*vector])) {
      for (size_t a = left_.size(); a-- > 0;) {
        if (a != vector && TryLargest(ChoiceKind::kUpcast, a, {8, 4, 2})) break;
      }
    }
    // A reduction that does not vary with the vector axis computes its steps as lanes and adds them in order.
    for (size_t a = ranges_.reduces.size(); a-- > 0;) {
      if (!vector || !VariesWithin(ranges_.reduces[a], ranges_.outputs[*vector]))
        TryLargest(ChoiceKind::kUnroll, a, {16, 8, 4});
    }
  }

  bool AllVaryWith(const UOpRef& output) {
    return std::all_of(ranges_.reduces.begin(), ranges_.reduces.end(),
                       [&](const UOpRef& r) { return VariesWithin(r, output); });
  }
  // Whether a reduction over `reduce` varies with `output`.
  bool VariesWithin(const UOpRef& reduce, const UOpRef& output) {
    for (const UOpRef& n : uop::NodesOf(kernel_, Op::kReduce)) {
      const bool over = std::find(n->src().begin() + 1, n->src().end(), reduce) != n->src().end();
      if (over && free_.DependsOn(n, output)) return true;
    }
    return false;
  }

  void Workgroups() {
    int64_t items = outputs_;
    bool grouped = false;
    if (!ranges_.reduces.empty() && outputs_ < kEnoughItems && steps_ >= 128) {
      for (const int64_t amount : {32, 16, 8, 4}) {
        for (size_t a = ranges_.reduces.size(); a-- > 0;) grouped |= Try(ChoiceKind::kGroup, a, amount);
        if (grouped) break;
      }
    }
    const auto vector = VectorAxis();
    if (!grouped && vector && items >= 4 * kEnoughItems / 4 && Try(ChoiceKind::kVectorize, *vector, 4))
      items /= 4;
    if (!grouped && !ranges_.reduces.empty()) {
      if (const auto shared = SharedAxis(vector);
          shared && items >= 4 * kEnoughItems / 4 && Try(ChoiceKind::kUpcast, *shared, 4))
        items /= 4;
    }
    for (size_t a = ranges_.reduces.size(); a-- > 0;) {
      if (TryLargest(ChoiceKind::kUnroll, a, {8, 4, 3, 5, 7, 2})) break;
    }
    // Work-items from the fastest axis on.
    int64_t threads = 1;
    for (size_t a = left_.size(); a-- > 0 && threads < 128;) {
      for (int64_t d = std::min<int64_t>(left_[a], kEnoughItems / threads); d > 1; --d) {
        if (left_[a] % d == 0 && Try(ChoiceKind::kLocal, a, d)) {
          threads *= d;
          break;
        }
      }
    }
  }

  const UOpRef& kernel_;
  const Target& target_;
  KernelRanges ranges_;
  FreeRanges free_;
  std::vector<UOpRef> loads_, stores_;
  std::vector<int64_t> left_;
  int64_t outputs_ = 1, steps_ = 1;
  int widest_ = 1;
  ChoiceList choices_;
};

}  // namespace

ChoiceList HeuristicChoices(const UOpRef& kernel, const Target& target) {
  absl::StatusOr<KernelRanges> ranges = RangesOf(kernel);
  if (!ranges.ok()) return {};
  return Chooser(kernel, target, *std::move(ranges)).Run();
}

}  // namespace understudy
