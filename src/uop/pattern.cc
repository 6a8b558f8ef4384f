// SPDX-License-Identifier: Apache-2.0
#include "src/uop/pattern.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/status.h"
#include "src/uop/print.h"

namespace understudy::uop {
namespace {

Pattern Of(Pattern::Kind kind, std::vector<Pattern> src) {
  return Pattern(Pattern::Node{.kind = kind, .name = {}, .ops = {}, .src = std::move(src)});
}

}  // namespace

OpSet OpSetOf(std::initializer_list<Op> ops) {
  OpSet set;
  for (const Op op : ops) set.set(static_cast<size_t>(op));
  return set;
}

OpSet OpsWith(uint16_t flags) {
  OpSet set;
  for (int i = 0; i < kNumOps; ++i) {
    if ((OpFlagsOf(static_cast<Op>(i)) & flags) == flags) set.set(i);
  }
  return set;
}

Pattern::Pattern(int64_t literal)
    : Pattern(Node{.kind = Kind::kLiteral, .name = {}, .literal = literal, .ops = {}, .src = {}}) {}

Op Pattern::op() const {
  US_CHECK(IsSingleOp()) << Text();
  return static_cast<Op>(node_->ops._Find_first());
}

Pattern Pattern::As(const std::string& name) const {
  Node copy = *node_;
  copy.name = name;
  return Pattern(std::move(copy));
}

Pattern Wild(const std::string& name) {
  return Pattern(Pattern::Node{.kind = Pattern::Kind::kWild, .name = name, .ops = {}, .src = {}});
}
Pattern ConstWild(const std::string& name) {
  return Pattern(Pattern::Node{.kind = Pattern::Kind::kConstWild, .name = name, .ops = {}, .src = {}});
}
Pattern NegZero() { return Of(Pattern::Kind::kNegZero, {}); }
Pattern OpPattern(Op op, std::vector<Pattern> src) { return AnyOp(OpSetOf({op}), std::move(src)); }
Pattern AnyOp(OpSet ops, std::vector<Pattern> src) {
  return Pattern(Pattern::Node{.kind = Pattern::Kind::kOp, .name = {}, .ops = ops, .src = std::move(src)});
}
Pattern AnyOp(OpSet ops) {
  return Pattern(
      Pattern::Node{.kind = Pattern::Kind::kOp, .name = {}, .ops = ops, .any_src = true, .src = {}});
}
Pattern Lo(const Pattern& x) { return Of(Pattern::Kind::kLo, {x}); }
Pattern Hi(const Pattern& x) { return Of(Pattern::Kind::kHi, {x}); }
Pattern NoWrap(const Pattern& e) { return Of(Pattern::Kind::kNoWrap, {e}); }
Pattern BitsOf(const Pattern& x) { return Of(Pattern::Kind::kBits, {x}); }
Pattern operator<=(const Pattern& a, const Pattern& b) { return Of(Pattern::Kind::kLessEqual, {a, b}); }

std::string Pattern::Text() const {
  const Node& n = *node_;
  const auto s = [&](size_t i) { return n.src[i].Text(); };
  switch (n.kind) {
    case Kind::kWild:
    case Kind::kConstWild:
      return n.name;
    case Kind::kLiteral:
      return absl::StrCat(n.literal);
    case Kind::kNegZero:
      return "-0.0";
    case Kind::kLo:
      return absl::StrCat("lo(", s(0), ")");
    case Kind::kHi:
      return absl::StrCat("hi(", s(0), ")");
    case Kind::kNoWrap:
      return absl::StrCat("nowrap(", s(0), ")");
    case Kind::kBits:
      return absl::StrCat("bits(", s(0), ")");
    case Kind::kLessEqual:
      return absl::StrCat("(", s(0), " <= ", s(1), ")");
    case Kind::kOp:
      break;
  }
  std::string text;
  if (IsSingleOp() && !n.any_src) {
    if (const char* symbol = InfixSymbol(op()); symbol != nullptr && n.src.size() == 2) {
      text = absl::StrCat("(", s(0), " ", symbol, " ", s(1), ")");
    } else if (op() == Op::kNeg) {
      text = absl::StrCat("-", s(0));
    }
  }
  if (text.empty()) {
    std::vector<std::string> names, parts;
    for (int i = 0; i < kNumOps; ++i) {
      if (n.ops.test(i)) names.push_back(OpName(static_cast<Op>(i)));
    }
    if (names.size() > 4) names = {names[0], names[1], "..."};
    for (const Pattern& p : n.src) parts.push_back(p.Text());
    if (n.any_src) parts = {"..."};
    text = absl::StrCat(absl::StrJoin(names, "|"), "(", absl::StrJoin(parts, ", "), ")");
  }
  return n.name.empty() ? text : absl::StrCat(n.name, "@", text);
}

}  // namespace understudy::uop
