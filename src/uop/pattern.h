// SPDX-License-Identifier: Apache-2.0
#pragma once
// Patterns: the algebra of rewrite rules as values. The same expression type writes what a rule matches, what
// it puts there, and its side condition; rules.h matches and builds, a prover or printer reads the tree.
// Patterns are written with C++ operators:
//
//   const Pattern x = Wild("x"), c0 = ConstWild("c0"), c1 = ConstWild("c1");
//   (x * c0) / c1         matches FLOORDIV(MUL(x, constant), constant), with MUL's operands in either order
//
// `/` is FLOORDIV and `%` FLOORMOD; the truncating pair is IDiv and IMod, the float quotient FDiv. A name
// that occurs twice must match the same node. Side conditions are evaluated over exact integers and may use
// Lo(x), Hi(x), BitsOf(x) and NoWrap(e).

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/uop/uop.h"

namespace understudy::uop {

using OpSet = std::bitset<128>;
static_assert(kNumOps <= 128);
OpSet OpSetOf(std::initializer_list<Op> ops);
// All ops that have every one of `flags`.
OpSet OpsWith(uint16_t flags);

class Pattern {
 public:
  enum class Kind : uint8_t {
    kWild,       // any node
    kConstWild,  // any CONST of integer, bool or float type
    kLiteral,    // a CONST of that value (on floats: those bits, so 0 is +0.0)
    kNegZero,    // the float constant -0.0
    kOp,         // a node of one of `ops` with these sources
    kLo,
    kHi,         // condition only: the bounds of src[0]
    kNoWrap,     // condition only: src[0], computed over the bounds of its leaves, stays inside its type at
                 // every step
    kBits,       // condition only: the width of src[0]'s type
    kLessEqual,  // condition only
  };
  struct Node {
    Kind kind;
    std::string name;  // of a wildcard; of an op: what it is captured as, or empty
    int64_t literal = 0;
    OpSet ops;             // kOp
    bool any_src = false;  // kOp: any number of any sources
    std::vector<Pattern> src;
  };

  Pattern(int64_t literal);                            // NOLINT: `x + 0` is how a pattern reads
  Pattern(int literal) : Pattern(int64_t{literal}) {}  // NOLINT
  explicit Pattern(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

  const Node& node() const { return *node_; }
  Kind kind() const { return node_->kind; }
  const Pattern& src(size_t i) const { return node_->src[i]; }
  // The single op of a kOp; aborts for a set.
  Op op() const;
  bool IsSingleOp() const { return node_->kind == Kind::kOp && node_->ops.count() == 1; }
  // The same pattern with the matched node captured under a name.
  Pattern As(const std::string& name) const;
  // As algebra: "((x * c0) // c1)".
  std::string Text() const;

 private:
  std::shared_ptr<const Node> node_;
};

Pattern Wild(const std::string& name);
Pattern ConstWild(const std::string& name);
Pattern NegZero();
Pattern OpPattern(Op op, std::vector<Pattern> src);
// Any of the ops, with exactly these sources.
Pattern AnyOp(OpSet ops, std::vector<Pattern> src);
// Any of the ops, whatever the sources.
Pattern AnyOp(OpSet ops);

Pattern Lo(const Pattern& x);
Pattern Hi(const Pattern& x);
Pattern NoWrap(const Pattern& e);
Pattern BitsOf(const Pattern& x);

inline Pattern FDiv(const Pattern& a, const Pattern& b) { return OpPattern(Op::kFDiv, {a, b}); }
inline Pattern IDiv(const Pattern& a, const Pattern& b) { return OpPattern(Op::kIDiv, {a, b}); }
inline Pattern IMod(const Pattern& a, const Pattern& b) { return OpPattern(Op::kIMod, {a, b}); }
inline Pattern Max(const Pattern& a, const Pattern& b) { return OpPattern(Op::kMax, {a, b}); }
inline Pattern Min(const Pattern& a, const Pattern& b) { return OpPattern(Op::kMin, {a, b}); }
inline Pattern Where(const Pattern& c, const Pattern& a, const Pattern& b) {
  return OpPattern(Op::kWhere, {c, a, b});
}
inline Pattern MulAcc(const Pattern& a, const Pattern& b, const Pattern& c) {
  return OpPattern(Op::kMulAcc, {a, b, c});
}
inline Pattern Cast(const Pattern& a) { return OpPattern(Op::kCast, {a}); }
inline Pattern Bitcast(const Pattern& a) { return OpPattern(Op::kBitcast, {a}); }
inline Pattern operator+(const Pattern& a, const Pattern& b) { return OpPattern(Op::kAdd, {a, b}); }
inline Pattern operator*(const Pattern& a, const Pattern& b) { return OpPattern(Op::kMul, {a, b}); }
inline Pattern operator/(const Pattern& a, const Pattern& b) { return OpPattern(Op::kFloorDiv, {a, b}); }
inline Pattern operator%(const Pattern& a, const Pattern& b) { return OpPattern(Op::kFloorMod, {a, b}); }
inline Pattern operator&(const Pattern& a, const Pattern& b) { return OpPattern(Op::kAnd, {a, b}); }
inline Pattern operator|(const Pattern& a, const Pattern& b) { return OpPattern(Op::kOr, {a, b}); }
inline Pattern operator^(const Pattern& a, const Pattern& b) { return OpPattern(Op::kXor, {a, b}); }
inline Pattern operator<<(const Pattern& a, const Pattern& b) { return OpPattern(Op::kShl, {a, b}); }
inline Pattern operator>>(const Pattern& a, const Pattern& b) { return OpPattern(Op::kShr, {a, b}); }
inline Pattern operator<(const Pattern& a, const Pattern& b) { return OpPattern(Op::kCmpLt, {a, b}); }
inline Pattern operator>(const Pattern& a, const Pattern& b) { return OpPattern(Op::kCmpLt, {b, a}); }
inline Pattern operator==(const Pattern& a, const Pattern& b) { return OpPattern(Op::kCmpEq, {a, b}); }
inline Pattern operator!=(const Pattern& a, const Pattern& b) { return OpPattern(Op::kCmpNe, {a, b}); }
inline Pattern operator-(const Pattern& a) { return OpPattern(Op::kNeg, {a}); }
inline Pattern operator-(const Pattern& a, const Pattern& b) { return OpPattern(Op::kAdd, {a, -b}); }
// Condition only.
Pattern operator<=(const Pattern& a, const Pattern& b);
inline Pattern operator>=(const Pattern& a, const Pattern& b) { return b <= a; }
inline Pattern operator&&(const Pattern& a, const Pattern& b) { return a & b; }
inline Pattern operator||(const Pattern& a, const Pattern& b) { return a | b; }

}  // namespace understudy::uop
