// SPDX-License-Identifier: Apache-2.0
#include "src/symbolic/linear.h"

#include <algorithm>

#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy::symbolic {
namespace {

class Collector {
 public:
  Collector(DType dtype, bool distribute) : bits_(dtype.BitWidth()), distribute_(distribute) {
    out_.dtype = dtype;
  }

  // Takes the sum apart, deepest left first. Each entry of the work list is node * coefficient.
  Linear Run(const UOpRef& root) {
    std::vector<LinearTerm> work{{root, 1}};
    while (!work.empty()) {
      const LinearTerm t = work.back();
      work.pop_back();
      const UOp& n = *t.node;
      if (t.coefficient == 0) continue;
      if (n.IsConst()) {
        out_.constant = Wrap(Mul(n.const_int(), t.coefficient) + static_cast<uint64_t>(out_.constant));
        continue;
      }
      const bool room = out_.terms.size() + work.size() < kMaxLinearTerms;
      const bool may_split = distribute_ || t.coefficient == 1 || (n.op() == Op::kAdd && n.src(1)->IsConst());
      if (n.op() == Op::kAdd && room && may_split) {
        work.push_back({n.src(1), t.coefficient});
        work.push_back({n.src(0), t.coefficient});
      } else if (n.op() == Op::kMul && n.src(1)->IsConst()) {
        work.push_back({n.src(0), Wrap(Mul(n.src(1)->const_int(), t.coefficient))});
      } else if (n.op() == Op::kMul && n.src(0)->IsConst()) {
        work.push_back({n.src(1), Wrap(Mul(n.src(0)->const_int(), t.coefficient))});
      } else if (n.op() == Op::kNeg) {
        work.push_back({n.src(0), Wrap(Mul(-1, t.coefficient))});
      } else {
        Accumulate(t);
      }
    }
    std::erase_if(out_.terms, [](const LinearTerm& t) { return t.coefficient == 0; });
    std::sort(out_.terms.begin(), out_.terms.end(),
              [](const LinearTerm& a, const LinearTerm& b) { return uop::StructuralLess(a.node, b.node); });
    return std::move(out_);
  }

 private:
  static uint64_t Mul(int64_t a, int64_t b) { return static_cast<uint64_t>(a) * static_cast<uint64_t>(b); }
  int64_t Wrap(uint64_t v) const { return SignExtend(v, bits_); }

  void Accumulate(const LinearTerm& t) {
    for (LinearTerm& o : out_.terms) {
      if (o.node == t.node) {
        o.coefficient = Wrap(static_cast<uint64_t>(o.coefficient) + static_cast<uint64_t>(t.coefficient));
        return;
      }
    }
    out_.terms.push_back(t);
  }

  const int bits_;
  const bool distribute_;
  Linear out_;
};

}  // namespace

Linear ToLinear(const UOpRef& node, bool distribute) {
  return Collector(node->dtype(), distribute).Run(node);
}

Linear SingleTerm(const UOpRef& node) { return Linear{node->dtype(), {{node, 1}}, 0}; }

UOpRef FromLinear(const Linear& l) {
  UOpRef sum;
  for (const LinearTerm& t : l.terms) {
    const UOpRef product = t.coefficient == 1 ? t.node : uop::Mul(t.node, uop::Const(l.dtype, t.coefficient));
    sum = sum == nullptr ? product : uop::Add(sum, product);
  }
  if (sum == nullptr) return uop::Const(l.dtype, l.constant);
  return l.constant == 0 ? sum : uop::Add(sum, uop::Const(l.dtype, l.constant));
}

Linear Subtract(const Linear& a, const Linear& b) {
  const int bits = a.dtype.BitWidth();
  const auto minus = [&](int64_t x, int64_t y) {
    return SignExtend(static_cast<uint64_t>(x) - static_cast<uint64_t>(y), bits);
  };
  Linear out = a;
  out.constant = minus(a.constant, b.constant);
  for (const LinearTerm& t : b.terms) {
    const auto it = std::find_if(out.terms.begin(), out.terms.end(),
                                 [&](const LinearTerm& o) { return o.node == t.node; });
    if (it != out.terms.end()) {
      it->coefficient = minus(it->coefficient, t.coefficient);
    } else {
      out.terms.push_back({t.node, minus(0, t.coefficient)});
    }
  }
  std::erase_if(out.terms, [](const LinearTerm& t) { return t.coefficient == 0; });
  std::sort(out.terms.begin(), out.terms.end(),
            [](const LinearTerm& x, const LinearTerm& y) { return uop::StructuralLess(x.node, y.node); });
  return out;
}

std::optional<WideInterval> BoundsOfLinear(const Linear& l, const BoundsCache& bounds) {
  WideInterval sum{l.constant, l.constant};
  for (const LinearTerm& t : l.terms) {
    const WideInterval b = bounds.Wide(t.node);
    __int128 x, y;
    if (__builtin_mul_overflow(b.lo, static_cast<__int128>(t.coefficient), &x) ||
        __builtin_mul_overflow(b.hi, static_cast<__int128>(t.coefficient), &y) ||
        __builtin_add_overflow(sum.lo, std::min(x, y), &sum.lo) ||
        __builtin_add_overflow(sum.hi, std::max(x, y), &sum.hi)) {
      return std::nullopt;
    }
  }
  return sum;
}

bool Exact(const Linear& l, const BoundsCache& bounds) {
  const auto b = BoundsOfLinear(l, bounds);
  const WideInterval limits = TypeLimits(l.dtype);
  return b && b->lo >= limits.lo && b->hi <= limits.hi;
}

}  // namespace understudy::symbolic
