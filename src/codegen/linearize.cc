// SPDX-License-Identifier: Apache-2.0
// Stage "linearize": from the graph to a list with explicit loops.
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/stages.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// Puts every node into the innermost open loop that it varies with, after its sources. Each level is one open
// loop with its own list, spliced into the list around it when it closes; a node placed further out therefore
// comes before the loop. A node that two loops need is listed in each.
class Linearizer {
 public:
  absl::StatusOr<std::vector<UOpRef>> Run(const UOpRef& kernel) {
    levels_.emplace_back();
    US_RETURN_IF_ERROR(Place(kernel));
    return std::move(levels_[0].ops);
  }

 private:
  struct Level {
    UOpRef range;
    absl::flat_hash_set<UOpRef> placed;
    std::vector<UOpRef> ops;
  };

  bool Placed(const UOpRef& n) const {
    for (const Level& l : levels_) {
      if (l.placed.contains(n)) return true;
    }
    return false;
  }

  absl::StatusOr<size_t> LevelOf(const UOpRef& n) {
    size_t level = 0, found = 0;
    const RangeSet& free = free_.Of(n);
    for (size_t i = 1; i < levels_.size(); ++i) {
      if (FreeRanges::Contains(free, levels_[i].range)) {
        level = i;
        ++found;
      }
    }
    if (found < free.size())
      return absl::InternalError(absl::StrCat(OpName(n->op()), " varies with a range that is not open"));
    return level;
  }

  absl::Status Place(const UOpRef& node) {
    if (Placed(node)) return absl::OkStatus();
    if (node->op() == Op::kEnd) return PlaceLoop(node);
    if (node->op() == Op::kEndIf) return PlaceBranch(node);
    // A group of STOREs: all values first, so that no STORE comes before a LOAD of a neighbour.
    if (node->op() == Op::kSink) {
      for (const UOpRef& s : node->src()) {
        if (s->op() != Op::kStore) continue;
        US_RETURN_IF_ERROR(Place(s->src(0)));
        US_RETURN_IF_ERROR(Place(s->src(1)));
      }
    }
    US_ASSIGN_OR_RETURN(const size_t level, LevelOf(node));
    for (const UOpRef& s : node->src()) US_RETURN_IF_ERROR(Place(s));
    levels_[level].placed.insert(node);
    if (node->op() != Op::kSink) levels_[level].ops.push_back(node);
    return absl::OkStatus();
  }

  // What is not placed yet and what lies below the ENDIF runs under its condition, but for arrays, which
  // belong to the kernel.
  absl::Status PlaceBranch(const UOpRef& end) {
    if (levels_.size() != 1) return absl::InternalError("a branch inside of a loop");
    for (const UOp* n : uop::Toposort(end)) {
      if (n->op() == Op::kDefineLocal || n->op() == Op::kDefineReg) US_RETURN_IF_ERROR(Place(UOpRef(n)));
    }
    const UOpRef& branch = end->src(0);
    US_RETURN_IF_ERROR(Place(branch));
    for (const UOpRef& s : end->src()) {
      if (s->op() != Op::kStore) continue;
      US_RETURN_IF_ERROR(Place(s->src(0)));
      US_RETURN_IF_ERROR(Place(s->src(1)));
    }
    for (size_t i = 1; i < end->num_src(); ++i) US_RETURN_IF_ERROR(Place(end->src(i)));
    levels_[0].placed.insert(end);
    levels_[0].ops.push_back(end);
    return absl::OkStatus();
  }

  absl::Status PlaceLoop(const UOpRef& end) {
    US_ASSIGN_OR_RETURN(const size_t level, LevelOf(end));
    std::vector<Level> aside(std::make_move_iterator(levels_.begin() + level + 1),
                             std::make_move_iterator(levels_.end()));
    levels_.resize(level + 1);
    for (size_t i = 1; i < end->num_src(); ++i) {
      US_RETURN_IF_ERROR(Place(end->src(i)->src(0)));
      levels_.emplace_back();
      levels_.back().range = end->src(i);
      levels_.back().placed.insert(end->src(i));
    }
    US_RETURN_IF_ERROR(Place(end->src(0)));
    for (size_t i = end->num_src(); i-- > 1;) {
      Level inner = std::move(levels_.back());
      levels_.pop_back();
      std::vector<UOpRef>& ops = levels_.back().ops;
      ops.push_back(inner.range);
      ops.insert(ops.end(), inner.ops.begin(), inner.ops.end());
    }
    // Closes all its ranges, the last one first.
    levels_.back().ops.push_back(end);
    levels_.back().placed.insert(end);
    for (Level& l : aside) levels_.push_back(std::move(l));
    return absl::OkStatus();
  }

  FreeRanges free_;
  std::vector<Level> levels_;
};

}  // namespace

absl::StatusOr<std::vector<UOpRef>> Linearize(const UOpRef& kernel) { return Linearizer().Run(kernel); }

}  // namespace understudy
