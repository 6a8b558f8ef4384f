// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rewrite rules as data: {name, pattern, replacement, side condition, types}. Every stage lists its rules as
// values of this type; rewrite.h applies a RuleSet, `understudy rules`, the per-rule tests and a prover read
// them.
//
//   R("add-zero", x + 0, x, kInts)
//   R("div-of-mul", (x * c0) / c1, x * (c0 / c1), kInts, If(c0 % c1 == 0 && c1 > 0 && NoWrap(x * c0)))
//   R("const-fold", AnyOp(OpsWith(kFlagAlu)).As("e"), kAllTypes, "all sources constant", [](const Match& m) {
//   ... })
//
// A declarative replacement folds operations whose operands are all constants, at the type's width. A rule
// whose replacement is code is opaque: it returns the new node, or null when it does not apply.

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "src/uop/facts.h"
#include "src/uop/pattern.h"

namespace understudy::uop {

// Scalar types on which a rule holds: those of the root's last source (its operand type; the root's own type
// where it has no source).
enum TypeMask : uint8_t {
  kSignedInts = 1,
  kUnsignedInts = 2,
  kIndexType = 4,
  kBools = 8,
  kFloats = 16,
  kInts = kSignedInts | kUnsignedInts | kIndexType,
  kIntsAndBools = kInts | kBools,
  kAllTypes = 31,
};
constexpr TypeMask operator|(TypeMask a, TypeMask b) {
  return static_cast<TypeMask>(static_cast<int>(a) | static_cast<int>(b));
}
TypeMask TypeMaskOf(DType dtype);
std::string TypeMaskText(TypeMask mask);

inline constexpr int kMaxWildcards = 16;
class Rule;

// What a pattern matched.
class Match {
 public:
  const UOpRef& root() const { return *root_; }
  // The node bound to a wildcard or captured op of the left side; aborts on an unknown name.
  UOpRef operator[](const char* name) const;
  Interval BoundsOf(const UOpRef& node) const;
  const Facts* facts() const { return facts_; }
  // RewriteOptions::ctx.
  template <class T>
  T& ctx() const {
    return *static_cast<T*>(ctx_);
  }

 private:
  friend class Rule;
  const Rule* rule_ = nullptr;
  const UOpRef* root_ = nullptr;
  const Facts* facts_ = nullptr;
  void* ctx_ = nullptr;
  std::array<const UOp*, kMaxWildcards> bound_{};
  UOpRef result_;
};

using RuleFn = std::function<UOpRef(const Match&)>;

// A side condition in the pattern language.
struct Condition {
  std::vector<Pattern> expr;  // none or one
  std::string Text() const { return expr.empty() ? "" : expr[0].Text(); }
};
inline Condition If(const Pattern& expr) { return Condition{{expr}}; }

class Rule {
 public:
  Rule(std::string name, Pattern lhs, Pattern rhs, TypeMask types, Condition condition = {});
  // Opaque; `says` tells in words what the code does.
  Rule(std::string name, Pattern lhs, TypeMask types, std::string says, RuleFn fn, Condition condition = {});

  const std::string& name() const { return name_; }
  const Pattern& lhs() const { return lhs_; }
  bool opaque() const { return fn_ != nullptr; }
  const Pattern& rhs() const { return rhs_[0]; }  // declarative rules only
  const Condition& condition() const { return condition_; }
  TypeMask types() const { return types_; }
  // Wildcards and captures of the left side, in order of appearance.
  const std::vector<std::string>& names() const { return names_; }
  int64_t fired() const { return fired_->load(std::memory_order_relaxed); }

  // "add-zero: (x + 0) -> x  on int" with " if ..." where there is a condition.
  std::string Text() const;

  // The replacement of `node`, or null when the rule does not match. Counts a firing.
  UOpRef Apply(const UOpRef& node, const Facts* facts = nullptr, void* ctx = nullptr) const;

 private:
  friend class Match;
  friend class RuleSet;
  // The pattern with names resolved to slots and children to positions.
  struct Code {
    Pattern::Kind kind;
    bool any_src = false, commutes = false;
    int8_t slot = -1;
    int64_t literal = 0;
    OpSet ops;
    Op op = Op::kConst;  // of a single-op kOp
    std::vector<int16_t> src;
  };
  struct Goal {
    int16_t code;
    const UOp* node;
  };
  using Goals = absl::InlinedVector<Goal, 16>;

  int16_t Compile(const Pattern& p, bool defines);
  bool MatchGoals(Goals& goals, Match& m) const;
  UOpRef Build(int16_t code, const Match& m, DType expected) const;
  DType TypeOf(int16_t code, const Match& m) const;
  std::optional<__int128> Eval(int16_t code, const Match& m) const;
  bool WideBounds(int16_t code, const Match& m, DType type, __int128* lo, __int128* hi) const;

  std::string name_;
  Pattern lhs_;
  std::vector<Pattern> rhs_;
  TypeMask types_;
  std::string says_;
  RuleFn fn_;
  Condition condition_;
  std::vector<std::string> names_;
  std::vector<Code> code_;
  int16_t lhs_code_ = -1, rhs_code_ = -1, condition_code_ = -1;
  OpSet required_child_ops_;  // the node's sources must include all of these
  std::shared_ptr<std::atomic<int64_t>> fired_ = std::make_shared<std::atomic<int64_t>>(0);
};

inline Rule R(std::string name, Pattern lhs, Pattern rhs, TypeMask types, Condition condition = {}) {
  return Rule(std::move(name), std::move(lhs), std::move(rhs), types, std::move(condition));
}
inline Rule R(std::string name, Pattern lhs, TypeMask types, std::string says, RuleFn fn,
              Condition condition = {}) {
  return Rule(std::move(name), std::move(lhs), types, std::move(says), std::move(fn), std::move(condition));
}

// An ordered list of rules (earlier ones are tried first), dispatched on the root's op. Copies share firing
// counters.
class RuleSet {
 public:
  RuleSet() = default;
  // `where`: the stage that the rules belong to, for reports.
  RuleSet(std::string where, std::vector<Rule> rules);

  const std::string& where() const { return where_; }
  const std::vector<Rule>& rules() const { return rules_; }
  const Rule* Find(const std::string& name) const;
  // One line of algebra a rule.
  std::string Describe() const;
  // All rules of this set, then all of the other.
  RuleSet operator+(const RuleSet& other) const;

  // Tries the rules on this one node; the rule that fired goes to *fired, and how many were tried is added to
  // *tried.
  UOpRef Apply(const UOpRef& node, const Facts* facts, void* ctx, const Rule** fired,
               int64_t* tried = nullptr) const;

 private:
  void Index();

  std::string where_;
  std::vector<Rule> rules_;
  std::vector<std::vector<int>> by_root_;  // indexed by op
};

}  // namespace understudy::uop
