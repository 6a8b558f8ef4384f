// SPDX-License-Identifier: Apache-2.0
// Sums: one order of terms, like terms together, quotient and remainder put together again. All hold in
// wrapping arithmetic.
#include <algorithm>

#include "src/base/bits.h"
#include "src/symbolic/linear.h"
#include "src/symbolic/rule_lists.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::symbolic {
namespace {

using namespace uop;  // NOLINT: the rule language

bool Distributes(const UOpRef& n) { return n->dtype().scalar == Scalar::kIndex; }

// The term of a product with a constant.
const UOpRef& TermOf(const UOpRef& e) { return e->op() == Op::kMul && e->src(1)->IsConst() ? e->src(0) : e; }

// Sources are in order when the rule meets their sum: so is the sum when its last term goes before the one
// that is added.
bool InOrder(const UOpRef& sum, const UOpRef& added) {
  if (added->op() == Op::kAdd || sum->IsConst()) return false;
  const UOpRef& last = sum->op() == Op::kAdd ? sum->src(1) : sum;
  if (last->IsConst()) return false;
  if (added->IsConst()) return !added->IsConst(0);
  const UOpRef &a = TermOf(last), &b = TermOf(added);
  const bool plain = a->op() != Op::kAdd && b->op() != Op::kAdd && a->op() != Op::kMul &&
                     b->op() != Op::kMul && a->op() != Op::kNeg && b->op() != Op::kNeg;
  return plain && StructuralLess(a, b);
}

UOpRef OrderSum(const Match& m) {
  const UOpRef& n = m.root();
  if (!n->shape().empty() || InOrder(n->src(0), n->src(1))) return nullptr;
  const Linear l = ToLinear(n, Distributes(n));
  // A sum of more terms than that keeps its order: what was not taken apart has no place among the rest.
  for (const LinearTerm& t : l.terms) {
    if (t.node->op() == Op::kAdd && (t.coefficient == 1 || Distributes(n))) return nullptr;
  }
  UOpRef ordered = FromLinear(l);
  return ordered == n ? nullptr : ordered;
}

// a * (x // c) * c + a * (x % c) = a * x, for either rounding and any c: x // c * c + x % c = x even for c =
// 0. a * ((x // c) % d) * c + a * (x % c) = a * (x % (c * d)), with floor and positive c and d.
UOpRef Recombine(const Match& m) {
  const UOpRef& n = m.root();
  if (!n->shape().empty()) return nullptr;
  Linear l = ToLinear(n, Distributes(n));
  const int bits = l.dtype.BitWidth();
  const auto times = [&](int64_t a, int64_t b) {
    return SignExtend(static_cast<uint64_t>(a) * static_cast<uint64_t>(b), bits);
  };
  for (size_t i = 0; i < l.terms.size(); ++i) {
    const UOp& rem = *l.terms[i].node;
    const bool floor = rem.op() == Op::kFloorMod;
    if ((!floor && rem.op() != Op::kIMod) || !rem.src(1)->IsConst()) continue;
    const UOpRef x = rem.src(0), c = rem.src(1);
    const Op div_op = floor ? Op::kFloorDiv : Op::kIDiv;
    const int64_t want = times(l.terms[i].coefficient, c->const_int());
    for (size_t j = 0; j < l.terms.size(); ++j) {
      if (j == i || l.terms[j].coefficient != want) continue;
      const UOpRef q = l.terms[j].node;
      const auto is_quotient = [&](const UOpRef& e) {
        return e->op() == div_op && e->src(0) == x && e->src(1) == c;
      };
      UOpRef whole;
      if (is_quotient(q)) {
        whole = x;
      } else if (floor && q->op() == Op::kFloorMod && q->src(1)->IsConst()) {
        // x // c may have been merged into the division below it, (x // a) // c = x // (a * c): compare
        // simplified forms.
        const __int128 cc = ExactValue(*c), d = ExactValue(*q->src(1));
        const WideInterval limits = TypeLimits(l.dtype);
        if (cc <= 0 || d <= 0 || cc > limits.hi / d) continue;
        UOpRef quotient = FloorDiv(x, c);
        if (x->op() == Op::kFloorDiv && x->src(1)->IsConst() && ExactValue(*x->src(1)) > 0 &&
            ExactValue(*x->src(1)) <= limits.hi / cc) {
          quotient = FloorDiv(x->src(0), Const(l.dtype, static_cast<int64_t>(ExactValue(*x->src(1)) * cc)));
        }
        if (q->src(0) == quotient) whole = FloorMod(x, Const(l.dtype, static_cast<int64_t>(cc * d)));
      }
      if (whole == nullptr) continue;
      const int64_t coefficient = l.terms[i].coefficient;
      l.terms.erase(l.terms.begin() + static_cast<int64_t>(std::max(i, j)));
      l.terms.erase(l.terms.begin() + static_cast<int64_t>(std::min(i, j)));
      return Add(FromLinear(l), Mul(whole, Const(l.dtype, coefficient)));
    }
  }
  return nullptr;
}

// Flattens x op y op z of one associative, commutative and idempotent op, orders, and drops what occurs
// twice.
UOpRef OrderIdempotent(const Match& m) {
  const UOpRef& n = m.root();
  std::vector<UOpRef> parts, work{n->src(1), n->src(0)};
  while (!work.empty()) {
    const UOpRef e = work.back();
    work.pop_back();
    if (e->op() == n->op() && parts.size() + work.size() < kMaxLinearTerms) {
      work.push_back(e->src(1));
      work.push_back(e->src(0));
    } else {
      if (e->op() == n->op()) return nullptr;  // too long a chain keeps its order
      parts.push_back(e);
    }
  }
  std::sort(parts.begin(), parts.end(), [](const UOpRef& a, const UOpRef& b) {
    if (a->IsConst() != b->IsConst()) return b->IsConst();
    return StructuralLess(a, b);
  });
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  UOpRef out = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) out = UOp::Make(n->op(), n->dtype(), {out, parts[i]});
  return out == n ? nullptr : out;
}

}  // namespace

std::vector<Rule> SumRules() {
  const Pattern x = Wild("x"), y = Wild("y"), c0 = ConstWild("c0"), c1 = ConstWild("c1");
  return {
      R("add-add", (x + c0) + c1, x + (c0 + c1), kInts),
      R("add-self", x + x, x * 2, kInts),
      R("add-multiples", x * c0 + x * c1, x * (c0 + c1), kInts),
      R("add-multiple", x * c0 + x, x * (c0 + 1), kInts),
      R("mul-sum", (x + c0) * c1, x * c1 + c0 * c1, kInts),
      R("div-and-rest", (x / y) * y + x % y, x, kInts),
      R("idiv-and-rest", IDiv(x, y) * y + IMod(x, y), x, kInts),
      R("sum-order", AnyOp(OpSetOf({Op::kAdd}), {x, y}), kInts,
        "like terms together, in structural order, the constant last", OrderSum),
      R("sum-recombine", AnyOp(OpSetOf({Op::kAdd}), {x, y}), kInts,
        "a*(x//c)*c + a*(x%c) is a*x, and a*((x//c)%d)*c + a*(x%c) is a*(x%(c*d))", Recombine),
      R("idempotent-order", AnyOp(OpSetOf({Op::kAnd, Op::kOr, Op::kMax, Op::kMin}), {x, y}), kIntsAndBools,
        "operands of a chain in structural order, each once", OrderIdempotent),
  };
}

}  // namespace understudy::symbolic
