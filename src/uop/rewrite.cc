// SPDX-License-Identifier: Apache-2.0
#include "src/uop/rewrite.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/uop/graph.h"
#include "src/uop/print.h"

namespace understudy::uop {
namespace {

constexpr size_t kRecent = 64;  // firings that the loop guard's message summarises
thread_local RewriteTotals totals;

constexpr size_t kMaxChain = 10000;  // firings in a row at one place of the graph

class Rewriter {
 public:
  Rewriter(const RuleSet& rules, const RewriteOptions& options, int64_t max_steps)
      : rules_(rules), options_(options), max_steps_(max_steps) {}

  absl::StatusOr<UOpRef> Run(const UOpRef& root) {
    US_RETURN_IF_ERROR(Push(root));
    while (!stack_.empty()) {
      // Frames move when the stack grows: no reference to one is kept across Push.
      if (stack_.back().next_src < stack_.back().current->num_src()) {
        const UOpRef s = stack_.back().current->src(stack_.back().next_src++);
        if (!done_.contains(s)) US_RETURN_IF_ERROR(Push(s));
        continue;
      }
      US_RETURN_IF_ERROR(Visit());
    }
    return done_.at(root);
  }

 private:
  struct Frame {
    std::vector<UOpRef> names;  // nodes whose result this frame finds
    UOpRef current;
    size_t next_src = 0;
    std::vector<const Rule*> fired;
  };

  absl::Status Push(const UOpRef& node) {
    if (!active_.insert(node).second)
      return LoopError(node, "a replacement contains the node that it replaces");
    stack_.push_back(Frame{.names = {node}, .current = node, .fired = {}});
    return absl::OkStatus();
  }

  void Finish(const UOpRef& result) {
    for (const UOpRef& n : stack_.back().names) {
      done_.insert_or_assign(n, result);
      active_.erase(n);
    }
    stack_.pop_back();
  }

  // Makes `node` the current node of the top frame; true when its result is known already.
  absl::StatusOr<bool> Become(const UOpRef& node) {
    if (const auto it = done_.find(node); it != done_.end()) {
      const UOpRef result = it->second;
      Finish(result);
      return true;
    }
    if (!active_.insert(node).second)
      return LoopError(node, "the rules lead back to a node that they started from");
    stack_.back().names.push_back(node);
    stack_.back().current = node;
    stack_.back().next_src = 0;
    return false;
  }

  // All sources of the top frame's node are rewritten.
  absl::Status Visit() {
    const UOpRef node = stack_.back().current;
    bool changed = false;
    for (const UOpRef& s : node->src()) changed |= !(done_.at(s) == s);
    if (changed) {
      std::vector<UOpRef> src;
      src.reserve(node->num_src());
      for (const UOpRef& s : node->src()) src.push_back(done_.at(s));
      return Become(node->WithSrc(std::move(src))).status();
    }
    const Rule* rule = nullptr;
    const UOpRef next = rules_.Apply(node, options_.facts, options_.ctx, &rule, &totals.tried);
    ++totals.nodes;
    if (next == nullptr) {
      Finish(node);
      return absl::OkStatus();
    }
    ++steps_;
    ++totals.fired;
    recent_[steps_ % kRecent] = rule;
    if (options_.count != nullptr) ++(*options_.count)[rule->name()];
    if (options_.trace != nullptr) options_.trace->push_back(RewriteStep{rule->name(), node, next});
    if (steps_ >= max_steps_) return LoopError(node, "too many steps");
    stack_.back().fired.push_back(rule);
    if (stack_.back().fired.size() >= kMaxChain) return LoopError(node, "too many steps at one node");
    return Become(next).status();
  }

  absl::Status LoopError(const UOpRef& node, const char* what) const {
    // In a circle: what fired between the node's first and second coming. Otherwise what fired last.
    std::map<std::string, int> counts;
    auto frame = std::find_if(stack_.begin(), stack_.end(), [&](const Frame& f) {
      return std::find(f.names.begin(), f.names.end(), node) != f.names.end();
    });
    if (active_.contains(node)) {
      for (; frame != stack_.end(); ++frame) {
        for (const Rule* r : frame->fired) ++counts[r->name()];
      }
    }
    if (counts.empty()) {
      for (const Rule* r : recent_) {
        if (r != nullptr) ++counts[r->name()];
      }
    }
    std::vector<std::string> parts;
    for (const auto& [name, n] : counts) parts.push_back(absl::StrCat(name, " (", n, ")"));
    return absl::InternalError(
        absl::StrCat("rewriting '", rules_.where(), "' does not end: ", what, " after ", steps_,
                     " steps; the last rules: ", absl::StrJoin(parts, ", "), "; at ", Infix(node, 5)));
  }

  const RuleSet& rules_;
  const RewriteOptions& options_;
  const int64_t max_steps_;
  int64_t steps_ = 0;
  std::vector<Frame> stack_;
  // Keys hold their nodes: a freed node's address may come back as another node.
  absl::flat_hash_map<UOpRef, UOpRef> done_;
  absl::flat_hash_set<UOpRef> active_;
  const Rule* recent_[kRecent] = {};
};

}  // namespace

const RewriteTotals& TotalRewrites() { return totals; }

absl::StatusOr<UOpRef> Rewrite(const UOpRef& root, const RuleSet& rules, const RewriteOptions& options) {
  ++totals.rewrites;
  int64_t max_steps = options.max_steps;
  if (max_steps == 0) max_steps = 100000 + 200 * CountNodes(root);
  return Rewriter(rules, options, max_steps).Run(root);
}

}  // namespace understudy::uop
