// SPDX-License-Identifier: Apache-2.0
#include "src/uop/rules.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/uop/build.h"
#include "src/uop/eval.h"
#include "src/uop/print.h"

namespace understudy::uop {
namespace {

using Kind = Pattern::Kind;

// An integer constant as the mathematical value (u64 holds its bit pattern).
__int128 Exact(const UOp& node) {
  const int64_t v = node.const_int();
  return node.dtype().Element() == dtypes::kUInt64 ? static_cast<__int128>(static_cast<uint64_t>(v)) : v;
}
__int128 ExactLimit(DType t, const ConstValue& limit) {
  const int64_t v = std::get<int64_t>(limit);
  return t.Element() == dtypes::kUInt64 ? static_cast<__int128>(static_cast<uint64_t>(v)) : v;
}

bool LiteralMatches(const UOp& node, int64_t literal) {
  if (node.op() != Op::kConst) return false;
  if (const int64_t* v = std::get_if<int64_t>(&node.arg())) {
    // A literal stands for its value at the type's width: -1 is all ones for unsigned types too.
    return std::get<int64_t>(Canonical(node.dtype().Element(), literal)) == *v &&
           (!node.dtype().IsBool() || literal == *v);
  }
  return std::bit_cast<uint64_t>(std::get<double>(node.arg())) ==
         std::bit_cast<uint64_t>(static_cast<double>(literal));
}

}  // namespace

TypeMask TypeMaskOf(DType dtype) {
  if (dtype.IsPointer() || dtype.IsVoid()) return static_cast<TypeMask>(0);
  if (dtype.IsBool()) return kBools;
  if (dtype.IsFloat()) return kFloats;
  if (dtype.scalar == Scalar::kIndex) return kIndexType;
  return dtype.IsSigned() ? kSignedInts : kUnsignedInts;
}

std::string TypeMaskText(TypeMask mask) {
  if (mask == kAllTypes) return "all";
  std::vector<std::string> parts;
  if ((mask & kInts) == kInts) {
    parts.push_back("int");
  } else {
    if (mask & kSignedInts) parts.push_back("signed");
    if (mask & kUnsignedInts) parts.push_back("unsigned");
    if (mask & kIndexType) parts.push_back("index");
  }
  if (mask & kBools) parts.push_back("bool");
  if (mask & kFloats) parts.push_back("float");
  return absl::StrJoin(parts, ", ");
}

UOpRef Match::operator[](const char* name) const {
  for (size_t i = 0; i < rule_->names_.size(); ++i) {
    if (rule_->names_[i] == name) return UOpRef(bound_[i]);
  }
  US_CHECK(false) << "rule " << rule_->name() << " has no wildcard " << name;
  return nullptr;
}

Interval Match::BoundsOf(const UOpRef& node) const {
  if (facts_ != nullptr) return facts_->BoundsOf(node);
  const DType t = node->dtype();
  if (t.IsPointer() || !(t.IsInt() || t.IsBool())) return {};
  Interval out;
  const bool is_const = node->IsConst();
  const __int128 lo = is_const ? Exact(*node) : ExactLimit(t, MinValue(t.Element()));
  const __int128 hi = is_const ? Exact(*node) : ExactLimit(t, MaxValue(t.Element()));
  if (lo <= INT64_MAX) out.lo = static_cast<int64_t>(lo);
  if (hi <= INT64_MAX) out.hi = static_cast<int64_t>(hi);
  return out;
}

Rule::Rule(std::string name, Pattern lhs, Pattern rhs, TypeMask types, Condition condition)
    : name_(std::move(name)), lhs_(std::move(lhs)), types_(types), condition_(std::move(condition)) {
  rhs_.push_back(std::move(rhs));
  lhs_code_ = Compile(lhs_, true);
  rhs_code_ = Compile(rhs_[0], false);
  if (!condition_.expr.empty()) condition_code_ = Compile(condition_.expr[0], false);
}

Rule::Rule(std::string name, Pattern lhs, TypeMask types, std::string says, RuleFn fn, Condition condition)
    : name_(std::move(name)),
      lhs_(std::move(lhs)),
      types_(types),
      says_(std::move(says)),
      fn_(std::move(fn)),
      condition_(std::move(condition)) {
  lhs_code_ = Compile(lhs_, true);
  if (!condition_.expr.empty()) condition_code_ = Compile(condition_.expr[0], false);
}

int16_t Rule::Compile(const Pattern& p, bool defines) {
  const Pattern::Node& n = p.node();
  Code code{.kind = n.kind, .any_src = n.any_src, .literal = n.literal, .ops = n.ops, .src = {}};
  if (!n.name.empty()) {
    const auto it = std::find(names_.begin(), names_.end(), n.name);
    if (it == names_.end()) {
      US_CHECK(defines) << "rule " << name_ << ": " << n.name << " is not on the left side";
      names_.push_back(n.name);
      US_CHECK(names_.size() <= kMaxWildcards) << "rule " << name_ << " has too many wildcards";
      code.slot = static_cast<int8_t>(names_.size() - 1);
    } else {
      code.slot = static_cast<int8_t>(it - names_.begin());
    }
  }
  if (n.kind == Kind::kOp) {
    US_CHECK(defines || p.IsSingleOp()) << "rule " << name_ << ": a replacement needs one op";
    code.op = static_cast<Op>(n.ops._Find_first());
    code.commutes = n.src.size() == 2;
    for (int i = 0; i < kNumOps; ++i) {
      if (n.ops.test(i) && !IsCommutative(static_cast<Op>(i))) code.commutes = false;
    }
    if (defines && code_.empty()) {  // the root: what its sources must be filters nodes before matching
      for (const Pattern& s : n.src) {
        if (s.IsSingleOp()) required_child_ops_ |= s.node().ops;
        if (s.kind() == Kind::kConstWild || s.kind() == Kind::kLiteral || s.kind() == Kind::kNegZero) {
          required_child_ops_.set(static_cast<size_t>(Op::kConst));
        }
      }
    }
  }
  const auto at = static_cast<int16_t>(code_.size());
  code_.push_back(code);
  for (const Pattern& s : n.src) {
    const int16_t child = Compile(s, defines);
    code_[at].src.push_back(child);
  }
  return at;
}

std::string Rule::Text() const {
  std::string text = absl::StrCat(name_, ": ", lhs_.Text(), " -> ",
                                  opaque() ? absl::StrCat("{", says_, "}") : rhs_[0].Text());
  if (types_ != kAllTypes) absl::StrAppend(&text, "  on ", TypeMaskText(types_));
  if (!condition_.expr.empty()) absl::StrAppend(&text, "  if ", condition_.Text());
  return text;
}

// Depth first over the goals with backtracking where an op commutes.
bool Rule::MatchGoals(Goals& goals, Match& m) const {
  if (goals.empty()) {
    if (condition_code_ >= 0 && Eval(condition_code_, m).value_or(0) == 0) return false;
    m.result_ = opaque() ? fn_(m) : Build(rhs_code_, m, m.root()->dtype());
    return m.result_ != nullptr && !(m.result_ == m.root()) &&
           m.result_->shape() == m.root()->shape();  // code may refuse: the next binding is tried
  }
  const Goal goal = goals.back();
  const Code& c = code_[goal.code];
  const UOp& n = *goal.node;
  const UOp* previous = nullptr;
  if (c.slot >= 0) {
    previous = m.bound_[c.slot];
    if (previous != nullptr && previous != &n) return false;
  }
  switch (c.kind) {
    case Kind::kWild:
      break;
    case Kind::kConstWild:
      if (n.op() != Op::kConst) return false;
      break;
    case Kind::kLiteral:
      if (!LiteralMatches(n, c.literal)) return false;
      break;
    case Kind::kNegZero:
      if (n.op() != Op::kConst || !ArgEquals(n.arg(), Arg(-0.0))) return false;
      break;
    case Kind::kOp:
      if (!c.ops.test(static_cast<size_t>(n.op()))) return false;
      if (!c.any_src && n.num_src() != c.src.size()) return false;
      break;
    default:
      US_CHECK(false) << "rule " << name_ << ": condition in a pattern";
  }
  if (c.slot >= 0) m.bound_[c.slot] = &n;
  goals.pop_back();
  const size_t depth = goals.size();
  // On failure the caller sees goals and bindings as it left them. A failing callee restores its goals.
  const auto attempt = [&](bool swapped) {
    for (size_t i = c.src.size(); i-- > 0;) {
      goals.push_back(Goal{c.src[i], n.src(swapped ? c.src.size() - 1 - i : i).get()});
    }
    if (MatchGoals(goals, m)) return true;
    goals.resize(depth);
    return false;
  };
  if (attempt(false) || (c.commutes && !(n.src(0) == n.src(1)) && attempt(true))) return true;
  goals.push_back(goal);
  if (c.slot >= 0) m.bound_[c.slot] = previous;
  return false;
}

DType Rule::TypeOf(int16_t code, const Match& m) const {
  const Code& c = code_[code];
  if (c.slot >= 0 && m.bound_[c.slot] != nullptr) return m.bound_[c.slot]->dtype();
  if (c.kind != Kind::kOp) return dtypes::kVoid;
  DType t;
  for (size_t i = c.src.size(); i-- > 0 && t.IsVoid();) t = TypeOf(c.src[i], m);
  if (t.IsVoid()) return t;
  return IsComparison(c.op) ? dtypes::kBool.WithLanes(t.lanes) : t;
}

UOpRef Rule::Build(int16_t code, const Match& m, DType expected) const {
  const Code& c = code_[code];
  switch (c.kind) {
    case Kind::kWild:
    case Kind::kConstWild:
      return UOpRef(m.bound_[c.slot]);
    case Kind::kLiteral:
      return Const(expected, c.literal);
    case Kind::kNegZero:
      return Const(expected, -0.0);
    default:
      break;
  }
  US_CHECK(c.kind == Kind::kOp) << "rule " << name_ << ": condition in a replacement";
  DType operand = expected;
  if (IsComparison(c.op)) {
    operand = dtypes::kVoid;
    for (const int16_t s : c.src) {
      if (operand.IsVoid()) operand = TypeOf(s, m);
    }
    US_CHECK(!operand.IsVoid()) << "rule " << name_ << ": a comparison of literals in a replacement";
  } else if (c.op == Op::kCast || c.op == Op::kBitcast) {
    operand = TypeOf(c.src[0], m);
  }
  std::vector<UOpRef> src;
  src.reserve(c.src.size());
  bool all_const = IsAlu(c.op);
  for (size_t i = 0; i < c.src.size(); ++i) {
    src.push_back(
        Build(c.src[i], m, c.op == Op::kWhere && i == 0 ? dtypes::kBool.WithLanes(expected.lanes) : operand));
    if (src.back() == nullptr) return nullptr;
    all_const &= src.back()->IsConst();
  }
  if (all_const && c.op != Op::kBitcast) {
    std::vector<ConstValue> values;
    for (const UOpRef& s : src) values.push_back(s->value());
    const ConstValue v = c.op == Op::kCast ? CastConst(operand.Element(), expected.Element(), values[0])
                                           : EvalAlu(c.op, src.back()->dtype(), values);
    return Const(IsComparison(c.op) ? dtypes::kBool.WithLanes(operand.lanes) : expected, v);
  }
  if (!m.root()->shape().empty()) {
    // On tensor level a scalar constant does not fit beside a shaped operand: the rule does not apply there.
    for (const UOpRef& s : src) {
      if (s->shape() != src[0]->shape()) return nullptr;
    }
  }
  return UOp::Make(c.op, expected, std::move(src));
}

// Exact integers; nullopt where a bound is not known, a value is not an integer, or 128 bits do not suffice.
std::optional<__int128> Rule::Eval(int16_t code, const Match& m) const {
  const Code& c = code_[code];
  switch (c.kind) {
    case Kind::kLiteral:
      return c.literal;
    case Kind::kConstWild: {
      const UOp* n = m.bound_[c.slot];
      if (n == nullptr || !std::holds_alternative<int64_t>(n->arg())) return std::nullopt;
      return Exact(*n);
    }
    case Kind::kLo:
    case Kind::kHi: {
      const Code& x = code_[c.src[0]];
      US_CHECK(x.slot >= 0) << "rule " << name_ << ": bounds of an unnamed pattern";
      const Interval b = m.BoundsOf(UOpRef(m.bound_[x.slot]));
      const auto& side = c.kind == Kind::kLo ? b.lo : b.hi;
      return side ? std::optional<__int128>(*side) : std::nullopt;
    }
    case Kind::kBits:
      return TypeOf(c.src[0], m).BitWidth();
    case Kind::kNoWrap: {
      __int128 lo, hi;
      const DType t = TypeOf(c.src[0], m);
      return !t.IsVoid() && t.IsInt() && WideBounds(c.src[0], m, t, &lo, &hi) ? 1 : 0;
    }
    case Kind::kLessEqual:
    case Kind::kOp:
      break;
    default:
      US_CHECK(false) << "rule " << name_ << ": only constants and bounds have values in a condition";
  }
  const auto a = Eval(c.src[0], m);
  // A clause that cannot be decided counts as false, which is safe because conditions have no negation.
  if (c.op == Op::kAnd && c.kind == Kind::kOp)
    return a.value_or(0) != 0 && Eval(c.src[1], m).value_or(0) != 0 ? 1 : 0;
  if (c.op == Op::kOr && c.kind == Kind::kOp)
    return a.value_or(0) != 0 || Eval(c.src[1], m).value_or(0) != 0 ? 1 : 0;
  if (!a) return std::nullopt;
  if (c.kind == Kind::kOp && c.op == Op::kNeg) return -*a;
  const auto b = Eval(c.src[1], m);
  if (!b) return std::nullopt;
  if (c.kind == Kind::kLessEqual) return *a <= *b;
  __int128 r;
  switch (c.op) {
    case Op::kAdd:
      return __builtin_add_overflow(*a, *b, &r) ? std::nullopt : std::optional<__int128>(r);
    case Op::kMul:
      return __builtin_mul_overflow(*a, *b, &r) ? std::nullopt : std::optional<__int128>(r);
    case Op::kFloorDiv:
    case Op::kFloorMod: {
      if (*b == 0) return std::nullopt;
      __int128 q = *a / *b, rem = *a % *b;
      if (rem != 0 && (rem < 0) != (*b < 0)) {
        --q;
        rem += *b;
      }
      return c.op == Op::kFloorDiv ? q : rem;
    }
    case Op::kIDiv:
      return *b == 0 ? std::nullopt : std::optional<__int128>(*a / *b);
    case Op::kIMod:
      return *b == 0 ? std::nullopt : std::optional<__int128>(*a % *b);
    case Op::kMax:
      return std::max(*a, *b);
    case Op::kMin:
      return std::min(*a, *b);
    case Op::kCmpLt:
      return *a < *b;
    case Op::kCmpEq:
      return *a == *b;
    case Op::kCmpNe:
      return *a != *b;
    default:
      US_CHECK(false) << "rule " << name_ << ": " << OpName(c.op) << " in a condition";
      return std::nullopt;
  }
}

// The interval of an expression over the bounds of its leaves; false when any step may leave `type`.
bool Rule::WideBounds(int16_t code, const Match& m, DType type, __int128* lo, __int128* hi) const {
  const Code& c = code_[code];
  const __int128 min = ExactLimit(type, MinValue(type.Element())),
                 max = ExactLimit(type, MaxValue(type.Element()));
  if (c.kind == Kind::kLiteral) {
    *lo = *hi = c.literal;
  } else if (c.slot >= 0) {
    const UOp* n = m.bound_[c.slot];
    if (n->IsConst()) {
      *lo = *hi = Exact(*n);
    } else {
      const Interval b = m.BoundsOf(UOpRef(n));
      *lo = b.lo ? *b.lo : min;
      *hi = b.hi ? *b.hi : max;
    }
  } else {
    US_CHECK(c.kind == Kind::kOp) << "rule " << name_ << ": nowrap of a condition";
    __int128 alo, ahi, blo = 0, bhi = 0;
    if (!WideBounds(c.src[0], m, type, &alo, &ahi)) return false;
    if (c.src.size() > 1 && !WideBounds(c.src[1], m, type, &blo, &bhi)) return false;
    switch (c.op) {
      case Op::kNeg:
        *lo = -ahi;
        *hi = -alo;
        break;
      case Op::kAdd:
        *lo = alo + blo;
        *hi = ahi + bhi;
        break;
      case Op::kMul: {
        __int128 p[4];
        if (__builtin_mul_overflow(alo, blo, &p[0]) || __builtin_mul_overflow(alo, bhi, &p[1]) ||
            __builtin_mul_overflow(ahi, blo, &p[2]) || __builtin_mul_overflow(ahi, bhi, &p[3])) {
          return false;
        }
        *lo = *std::min_element(p, p + 4);
        *hi = *std::max_element(p, p + 4);
        break;
      }
      default:
        US_CHECK(false) << "rule " << name_ << ": nowrap of " << OpName(c.op);
    }
  }
  return min <= *lo && *hi <= max;
}

UOpRef Rule::Apply(const UOpRef& node, const Facts* facts, void* ctx) const {
  const DType operand = node->num_src() > 0 ? node->src(node->num_src() - 1)->dtype() : node->dtype();
  if (types_ != kAllTypes && !(TypeMaskOf(operand) & types_)) return nullptr;
  Match m;
  m.rule_ = this;
  m.root_ = &node;
  m.facts_ = facts;
  m.ctx_ = ctx;
  Goals goals;
  goals.push_back(Goal{lhs_code_, node.get()});
  if (!MatchGoals(goals, m)) return nullptr;
  UOpRef out = std::move(m.result_);
  US_CHECK(out->dtype() == node->dtype()) << "rule " << name_ << " turns " << node->dtype().Name() << " into "
                                          << out->dtype().Name() << " at " << Infix(node);
  fired_->fetch_add(1, std::memory_order_relaxed);
  return out;
}

RuleSet::RuleSet(std::string where, std::vector<Rule> rules)
    : where_(std::move(where)), rules_(std::move(rules)) {
  Index();
}

void RuleSet::Index() {
  by_root_.assign(kNumOps, {});
  for (size_t i = 0; i < rules_.size(); ++i) {
    const Pattern& root = rules_[i].lhs();
    for (int op = 0; op < kNumOps; ++op) {
      const bool matches = root.kind() == Kind::kOp
                               ? root.node().ops.test(op)
                               : root.kind() == Kind::kWild || op == static_cast<int>(Op::kConst);
      if (matches) by_root_[op].push_back(static_cast<int>(i));
    }
  }
}

const Rule* RuleSet::Find(const std::string& name) const {
  for (const Rule& r : rules_) {
    if (r.name() == name) return &r;
  }
  return nullptr;
}

std::string RuleSet::Describe() const {
  std::string text;
  for (const Rule& r : rules_) absl::StrAppend(&text, r.Text(), "\n");
  return text;
}

RuleSet RuleSet::operator+(const RuleSet& other) const {
  std::vector<Rule> all = rules_;
  all.insert(all.end(), other.rules_.begin(), other.rules_.end());
  return RuleSet(
      where_ == other.where_ || other.where_.empty() ? where_ : absl::StrCat(where_, "+", other.where_),
      std::move(all));
}

UOpRef RuleSet::Apply(const UOpRef& node, const Facts* facts, void* ctx, const Rule** fired,
                      int64_t* tried) const {
  if (rules_.empty()) return nullptr;
  OpSet child_ops;
  for (const UOpRef& s : node->src()) child_ops.set(static_cast<size_t>(s->op()));
  for (const int i : by_root_[static_cast<int>(node->op())]) {
    const Rule& rule = rules_[i];
    if ((rule.required_child_ops_ & ~child_ops).any()) continue;
    if (tried != nullptr) ++*tried;
    if (UOpRef out = rule.Apply(node, facts, ctx)) {
      if (fired != nullptr) *fired = &rule;
      return out;
    }
  }
  return nullptr;
}

}  // namespace understudy::uop
