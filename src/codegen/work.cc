// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/work.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "src/codegen/free_ranges.h"
#include "src/uop/eval.h"

namespace understudy {
namespace {

constexpr int kLineBytes = 128;
constexpr double kLoopOverhead = 3;  // add, compare, branch
// Expansions of one op that LLVM makes: IEEE division by refinement, 64-bit integers in two halves.
constexpr double kFloatDivision = 10, kIntDivision = 20;

class Counter {
 public:
  Counter(const LinearKernel& kernel, const Target& target) : kernel_(kernel), target_(target) {
    items_ = kernel.local[0] * kernel.local[1] * kernel.local[2];
    wave_ = std::max(1, target.wave_size);
  }

  KernelWork Run() {
    const double groups = static_cast<double>(kernel_.global[0]) * static_cast<double>(kernel_.global[1]) *
                          static_cast<double>(kernel_.global[2]);
    const double waves = groups * std::ceil(static_cast<double>(items_) / wave_);
    double trips = 1;
    for (const UOpRef& n : kernel_.ops) {
      if (n->op() == Op::kRange) {
        trips *= static_cast<double>(Steps(n));
        work_.instructions += kLoopOverhead * trips;
      } else if (n->op() == Op::kEnd) {
        for (size_t i = FirstRange(Op::kEnd); i < n->num_src(); ++i) {
          if (n->src(i)->op() == Op::kRange) trips /= static_cast<double>(Steps(n->src(i)));
        }
      } else {
        Count(n, trips);
      }
    }
    work_.instructions *= waves;
    work_.lines *= waves;
    work_.bytes *= groups;
    work_.waves = waves;
    return work_;
  }

 private:
  // An end that is a variable counts once: it is the same for every candidate.
  static int64_t Steps(const UOpRef& range) {
    return range->src(0)->IsConst() ? std::max<int64_t>(1, RangeEnd(range)) : 1;
  }

  // Instructions that move or compute `type` once.
  double Pieces(DType type, int bytes_at_once) const {
    return std::max(1.0, std::ceil(static_cast<double>(type.SizeBytes()) / bytes_at_once));
  }

  void Count(const UOpRef& n, double trips) {
    switch (n->op()) {
      case Op::kLoad:
        Access(n->src(0), n->dtype(), trips);
        return;
      case Op::kStore:
        Access(n->src(0), n->src(1)->dtype(), trips);
        return;
      case Op::kIndex:
      case Op::kBarrier:
      case Op::kIf:
      case Op::kWmma:
        work_.instructions += trips;
        return;
      default:
        break;
    }
    if (!IsAlu(n->op())) return;
    // A GPU's lanes are scalars of 32 bits; the host computes whole vectors.
    const int width = target_.has_local ? 4 : std::max(4, std::min(32, target_.max_vector_bytes));
    double cost = Pieces(n->dtype().IsBool() ? n->src(0)->dtype() : n->dtype(), width);
    if (n->op() == Op::kFDiv || n->op() == Op::kSqrt) cost *= kFloatDivision;
    if (n->op() == Op::kIDiv || n->op() == Op::kIMod) cost *= kIntDivision;
    work_.instructions += cost * trips;
  }

  void Access(const UOpRef& index, DType type, double trips) {
    const UOpRef* base = &index->src(0);
    while ((*base)->op() == Op::kAfter) base = &(*base)->src(0);
    if ((*base)->op() == Op::kDefineReg) return;
    work_.instructions += Pieces(type, target_.max_vector_bytes) * trips;
    if ((*base)->op() != Op::kParam) return;
    work_.bytes += static_cast<double>(type.SizeBytes()) * static_cast<double>(items_) * trips;
    work_.lines += Lines(index, type) * trips;
  }

  // Of the first wave.
  double Lines(const UOpRef& index, DType type) {
    const int64_t lanes = std::min<int64_t>(items_, wave_);
    std::set<int64_t> lines;
    const int64_t element = type.ScalarBytes();
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const auto at = Value(index->src(1), lane);
      if (!at.has_value())
        return static_cast<double>(lanes) * std::ceil(static_cast<double>(type.SizeBytes()) / kLineBytes);
      const int64_t first = *at * element, last = first + type.SizeBytes() - 1;
      for (int64_t l = first / kLineBytes; l <= last / kLineBytes; ++l) lines.insert(l);
    }
    return static_cast<double>(lines.size());
  }

  // What an index is in a lane of the first wave; nullopt where memory decides.
  std::optional<int64_t> Value(const UOpRef& root, int64_t lane) {
    auto& memo = memo_[lane];
    struct Frame {
      UOpRef node;
      size_t next = 0;
    };
    std::vector<Frame> stack{{root}};
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (memo.contains(f.node)) {
        stack.pop_back();
        continue;
      }
      if (IsAlu(f.node->op()) && f.next < f.node->num_src()) {
        const UOpRef child = f.node->src(f.next++);
        stack.push_back({child});
        continue;
      }
      memo[f.node] = Own(f.node, lane, memo);
      stack.pop_back();
    }
    return memo.at(root);
  }

  using Memo = absl::flat_hash_map<UOpRef, std::optional<int64_t>>;
  std::optional<int64_t> Own(const UOpRef& n, int64_t lane, const Memo& memo) const {
    switch (n->op()) {
      case Op::kConst:
        if (!std::holds_alternative<int64_t>(n->arg())) return std::nullopt;
        return n->const_int();
      case Op::kVar:
        return n->arg_as<VarArg>().min;
      case Op::kRange:
        return 0;
      case Op::kSpecial: {
        const std::string& name = n->arg_as<std::string>();
        if (name.empty() || name[0] != 'l') return 0;
        const int d = name.back() - '0';
        int64_t rest = lane;
        for (int i = 0; i < d && i < 3; ++i) rest /= kernel_.local[i];
        return rest % kernel_.local[std::clamp(d, 0, 2)];
      }
      default:
        break;
    }
    if (!IsAlu(n->op()) || n->dtype().lanes != 1 || n->dtype().IsFloat()) return std::nullopt;
    std::vector<ConstValue> args;
    for (const UOpRef& s : n->src()) {
      const std::optional<int64_t> v = memo.at(s);
      if (!v.has_value() || s->dtype().IsFloat()) return std::nullopt;
      args.push_back(*v);
    }
    const ConstValue v = uop::EvalNode(*n, args);
    if (!std::holds_alternative<int64_t>(v)) return std::nullopt;
    return std::get<int64_t>(v);
  }

  const LinearKernel& kernel_;
  const Target& target_;
  int64_t items_ = 1;
  int wave_ = 1;
  KernelWork work_;
  absl::flat_hash_map<int64_t, Memo> memo_;  // by lane
};

}  // namespace

double CostOfWork(const KernelWork& work, const CostWeights& weights) {
  const double abreast = std::max(1.0, std::min(work.waves, weights.slots));
  return (work.instructions + weights.line * work.lines) / abreast;
}

std::string WeightsText(const CostWeights& weights) {
  return absl::StrCat("line ", weights.line, " slots ", weights.slots);
}

KernelWork EstimateWork(const LinearKernel& kernel, const Target& target) {
  return Counter(kernel, target).Run();
}

std::string StaticCost::name() const { return absl::StrCat("static ", WeightsText(weights_)); }

std::vector<absl::StatusOr<double>> StaticCost::Costs(const UOpRef& kernel, const Target& target,
                                                      absl::Span<const ChoiceList> candidates, double) {
  std::vector<absl::StatusOr<double>> costs;
  for (const ChoiceList& choices : candidates) {
    const absl::StatusOr<LinearKernel> linear = LowerKernel(kernel, target, &choices);
    if (!linear.ok()) {
      costs.emplace_back(linear.status());
    } else {
      costs.emplace_back(CostOfWork(EstimateWork(*linear, target), weights_));
    }
  }
  return costs;
}

}  // namespace understudy
