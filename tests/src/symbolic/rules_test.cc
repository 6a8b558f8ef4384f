// SPDX-License-Identifier: Apache-2.0
// Every rule by itself: its left side is filled with random operands of every type it claims, the rule is
// applied at the root, and both sides are evaluated at many points. A rule that this cannot make fire fails
// the test.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "src/symbolic/simplify.h"
#include "src/uop/build.h"
#include "src/uop/print.h"
#include "src/uop/rewrite.h"
#include "tests/src/symbolic/expression_gen.h"

namespace understudy::symbolic {
namespace {

using namespace uop;  // NOLINT
using Kind = Pattern::Kind;

constexpr DType kTypes[] = {dtypes::kIndex,      dtypes::kInt8,           dtypes::kUInt8,
                            dtypes::kInt16,      dtypes::kUInt16,         dtypes::kInt32,
                            dtypes::kUInt32,     dtypes::kInt64,          dtypes::kUInt64,
                            dtypes::kBool,       dtypes::kFloat64,        dtypes::kFloat32,
                            dtypes::kFloat16,    dtypes::kBFloat16,       dtypes::kFloat8E4M3,
                            dtypes::kFloat8E5M2, dtypes::kFloat8E4M3Fnuz, dtypes::kFloat8E5M2Fnuz};

// Fills a pattern with operands; null where the types do not work out.
class Filler {
 public:
  explicit Filler(Choices& c) : c_(c) {}

  UOpRef Fill(const Pattern& p, DType type) {
    const Pattern::Node& n = p.node();
    if (!n.name.empty()) {
      if (const auto it = bound_.find(n.name); it != bound_.end())
        return it->second->dtype() == type ? it->second : nullptr;
    }
    UOpRef out = FillNew(p, type);
    if (out != nullptr && !n.name.empty()) bound_.emplace(n.name, out);
    return out;
  }

 private:
  UOpRef FillNew(const Pattern& p, DType type) {
    const Pattern::Node& n = p.node();
    switch (n.kind) {
      case Kind::kWild:
        return c_.Pick(3) ? AnyLeaf(c_, type) : AnyExpression(c_, type, 2, true);
      case Kind::kConstWild:
        return AnyConst(c_, type);
      case Kind::kLiteral:
        return Const(type, n.literal);
      case Kind::kNegZero:
        return type.IsFloat() ? Const(type, -0.0) : nullptr;
      case Kind::kOp:
        break;
      default:
        return nullptr;
    }
    std::vector<Op> ops;
    for (int i = 0; i < kNumOps; ++i) {
      if (n.ops.test(i)) ops.push_back(static_cast<Op>(i));
    }
    const Op op = ops[c_.Pick(static_cast<uint32_t>(ops.size()))];
    const size_t arity = static_cast<size_t>(OpArity(op));
    // Types of the sources.
    DType operand = type;
    if (IsComparison(op)) {
      if (!type.IsBool()) return nullptr;
      operand = Known(n, op);
      if (operand.IsVoid())
        operand = forced_operand_.IsVoid() ? kTypes[c_.Pick(std::size(kTypes))] : forced_operand_;
    } else if (op == Op::kCast || op == Op::kBitcast) {
      operand = forced_operand_.IsVoid() ? kTypes[c_.Pick(std::size(kTypes))] : forced_operand_;
      if (n.src.size() == 1 && n.src[0].kind() == Kind::kOp && operand.IsVoid()) operand = type;
    }
    forced_operand_ = dtypes::kVoid;
    std::vector<UOpRef> src;
    for (size_t i = 0; i < arity; ++i) {
      const DType t = op == Op::kWhere && i == 0 ? dtypes::kBool : operand;
      src.push_back(n.any_src ? (c_.Pick(2) ? AnyConst(c_, t) : AnyLeaf(c_, t)) : Fill(n.src[i], t));
      if (src.back() == nullptr) return nullptr;
    }
    const absl::StatusOr<UOpRef> node = UOp::MakeChecked(op, type, std::move(src));
    return node.ok() ? *node : nullptr;
  }

  // The type of an operand that is bound already.
  DType Known(const Pattern::Node& n, Op) const {
    for (const Pattern& s : n.src) {
      if (const auto it = bound_.find(s.node().name); it != bound_.end() && !s.node().name.empty())
        return it->second->dtype();
    }
    return dtypes::kVoid;
  }

 public:
  // The root's operand type where it is not the result's.
  DType forced_operand_;

 private:
  Choices& c_;
  std::map<std::string, UOpRef> bound_;
};

// Operands for rules whose code looks deeper than their pattern says.
UOpRef SpecialRoot(const std::string& rule, Choices& c, DType t) {
  if (rule == "sum-recombine") {
    const bool floor = c.Pick(3) != 0;
    const UOpRef x = AnyLeaf(c, t), k = AnyConst(c, t), f = AnyConst(c, t);
    UOpRef q = Alu(floor ? Op::kFloorDiv : Op::kIDiv, {x, k});
    if (floor && c.Pick(2)) q = FloorMod(q, AnyConst(c, t));
    const UOpRef r = Alu(floor ? Op::kFloorMod : Op::kIMod, {x, k});
    return Add(Mul(Mul(q, k), f), c.Pick(2) ? Mul(r, f) : Add(Mul(r, f), AnyLeaf(c, t)));
  }
  return nullptr;
}

UOpRef FillRoot(const Rule& rule, Choices& c, DType operand) {
  if (UOpRef special = SpecialRoot(rule.name(), c, operand)) return special;
  Filler filler(c);
  const Pattern::Node& root = rule.lhs().node();
  bool comparison = root.kind == Kind::kOp, cast = root.kind == Kind::kOp;
  for (int i = 0; i < kNumOps; ++i) {
    if (!root.ops.test(i)) continue;
    comparison &= IsComparison(static_cast<Op>(i));
    cast &= static_cast<Op>(i) == Op::kCast || static_cast<Op>(i) == Op::kBitcast;
  }
  filler.forced_operand_ = operand;
  DType type = comparison ? dtypes::kBool : cast ? kTypes[c.Pick(std::size(kTypes))] : operand;
  if (root.ops.count() > 4) {  // "any elementwise op": all kinds of results
    type = c.Pick(3) == 0 ? dtypes::kBool : operand;
  }
  return filler.Fill(rule.lhs(), type);
}

TEST(Rules, BothSidesAgreeForEveryTypeAndManyOperands) {
  const char* env = std::getenv("RULES_SEED");
  std::mt19937_64 rng(env != nullptr ? std::strtoull(env, nullptr, 10) : 20240607);
  int64_t instances = 0, points = 0;
  std::vector<std::string> silent;
  for (const Rule& rule : SymbolicRules().rules()) {
    int64_t fired = 0;
    for (const DType type : kTypes) {
      if (!(TypeMaskOf(type) & rule.types())) continue;
      for (int trial = 0, here = 0; trial < 1500 && here < 60; ++trial) {
        Choices c(RandomChoices(rng, 40));
        const UOpRef before = FillRoot(rule, c, type);
        if (before == nullptr) continue;
        const BoundsCache bounds;
        const UOpRef after = rule.Apply(before, &bounds);
        if (after == nullptr) continue;
        ++fired;
        ++here;
        ++instances;
        for (const Bindings& p : Points(LeavesOf({before, after}), 40, rng())) {
          ++points;
          const ConstValue want = EvaluateConst(before, p), got = EvaluateConst(after, p);
          ASSERT_TRUE(SameConst(want, got))
              << rule.Text() << "\n " << Infix(before) << "\n became " << Infix(after) << "\n gives "
              << ConstText(after->dtype(), got) << ", expected " << ConstText(before->dtype(), want);
        }
      }
    }
    if (fired == 0) silent.push_back(rule.name());
  }
  std::string names;
  for (const std::string& s : silent) names += " " + s;
  EXPECT_TRUE(silent.empty()) << "rules that no operands made fire:" << names;
  std::cout << SymbolicRules().rules().size() << " rules, " << instances << " instances, " << points
            << " points\n";
}

TEST(Rules, NamesAreUniqueAndEveryRuleHasText) {
  std::map<std::string, int> names;
  for (const Rule& r : SymbolicRules().rules()) {
    EXPECT_EQ(names[r.name()]++, 0) << r.name();
    EXPECT_NE(r.Text().find("->"), std::string::npos);
  }
}

TEST(Rules, EveryRuleFiresInTheWholeSet) {
  // A rule that only fires alone is shadowed by earlier ones.
  std::mt19937_64 rng(7);
  absl::flat_hash_map<std::string, int64_t> count;
  for (int i = 0; i < 30000; ++i) {
    Choices c(RandomChoices(rng, 50));
    const uint32_t kind = c.Pick(5);
    UOpRef e;
    if (kind == 0) {
      e = AnyIndexExpression(c, 4);
    } else {
      const DType t = kind == 1 ? dtypes::kBool : kind == 2 ? dtypes::kFloat32 : AnyIntType(c);
      e = AnyExpression(c, t, 3, true);
    }
    const BoundsCache bounds;
    const absl::Status status = Rewrite(e, SymbolicRules(), {.facts = &bounds, .count = &count}).status();
    ASSERT_TRUE(status.ok()) << status.ToString() << "\n " << Infix(e);
  }
  // And each rule's own left side, for those whose operands are too special for chance.
  for (const Rule& rule : SymbolicRules().rules()) {
    for (int trial = 0; trial < 20000 && count[rule.name()] == 0; ++trial) {
      Choices c(RandomChoices(rng, 40));
      const DType type = kTypes[c.Pick(std::size(kTypes))];
      if (!(TypeMaskOf(type) & rule.types())) continue;
      const UOpRef e = FillRoot(rule, c, type);
      if (e == nullptr) continue;
      const BoundsCache bounds;
      const absl::Status status = Rewrite(e, SymbolicRules(), {.facts = &bounds, .count = &count}).status();
      ASSERT_TRUE(status.ok()) << status.ToString() << "\n " << Infix(e);
    }
  }
  std::string never;
  for (const Rule& r : SymbolicRules().rules()) {
    if (count[r.name()] == 0) never += "\n  " + r.Text();
  }
  EXPECT_EQ(never, "") << "rules that never fire in the whole set";
}

}  // namespace
}  // namespace understudy::symbolic
