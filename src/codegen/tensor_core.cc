// SPDX-License-Identifier: Apache-2.0
#include "src/codegen/tensor_core.h"

#include <optional>
#include <utility>

#include "src/codegen/free_ranges.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

using namespace uop::expr;  // NOLINT

bool IsZero(const UOpRef& n) { return n == uop::ConstLike(n, 0); }

// The factor before it was widened to the accumulator's type; null when it is something else. A select of
// zero may stand around the conversion.
UOpRef Narrow(const UOpRef& x, const TensorCore& core) {
  if (core.in == core.out) return x;
  if (x->op() == Op::kCast && x->src(0)->dtype() == core.in) return x->src(0);
  if (x->op() == Op::kWhere && IsZero(x->src(2))) {
    const UOpRef then = Narrow(x->src(1), core);
    return then == nullptr ? nullptr : uop::Where(x->src(0), then, uop::ConstLike(then, 0));
  }
  return nullptr;
}

// The two factors of a sum of products. A select of zero around the product (a padded reduction) moves to
// both factors, so that what is outside contributes 0 * 0 whatever the factors are there.
std::optional<std::pair<UOpRef, UOpRef>> Factors(const UOpRef& reduce, const TensorCore& core) {
  if (reduce->arg_as<Op>() != Op::kAdd || reduce->dtype() != core.out) return std::nullopt;
  UOpRef value = reduce->src(0), inside;
  while (value->op() == Op::kWhere && IsZero(value->src(2))) {
    inside = inside == nullptr ? value->src(0) : inside & value->src(0);
    value = UOpRef(value->src(1));
  }
  if (value->op() != Op::kMul) return std::nullopt;
  UOpRef x = Narrow(value->src(0), core), y = Narrow(value->src(1), core);
  if (x == nullptr || y == nullptr) return std::nullopt;
  if (inside != nullptr) {
    x = uop::Where(inside, x, uop::ConstLike(x, 0));
    y = uop::Where(inside, y, uop::ConstLike(y, 0));
  }
  return std::make_pair(x, y);
}

// Which element of the matrix element `i` of lane `lane` is: the number of its line, of `lines`, and the
// position along it.
struct ElementAt {
  UOpRef line, along;
};
ElementAt ElementOf(const Fragment& f, const UOpRef& lane, int lines, int i) {
  const int per = lines / f.lines, step = i / f.chunk;
  const UOpRef turn = f.groups == 1  ? uop::IndexConst(0)
                      : f.neighbours ? lane % f.groups
                                     : lane / per % f.groups;
  const UOpRef line = f.neighbours ? lane / f.groups % per : lane % per;
  return {line + step % f.lines * per, turn * f.chunk + (i % f.chunk + step / f.lines * f.groups * f.chunk)};
}

UOpRef Whole(const UOpRef& outer, int64_t size, const UOpRef& inner) {
  return outer == nullptr ? inner : outer * size + inner;
}

}  // namespace

std::vector<TensorCoreUse> FindTensorCoreUses(const UOpRef& kernel, const KernelRanges& ranges,
                                              const TensorCore& core) {
  std::vector<TensorCoreUse> uses;
  FreeRanges free;
  const auto varies = [&](const UOpRef& x, const UOpRef& range) { return free.DependsOn(x, range); };
  for (const UOpRef& reduce : uop::NodesOf(kernel, Op::kReduce)) {
    const auto factors = Factors(reduce, core);
    if (!factors) continue;
    const RangeSet over(reduce->src().begin() + 1, reduce->src().end());
    for (size_t n = ranges.outputs.size(); n-- > 0;) {
      for (size_t m = ranges.outputs.size(); m-- > 0;) {
        if (m == n || ranges.outputs[m] == nullptr || ranges.outputs[n] == nullptr) continue;
        UOpRef a = factors->first, b = factors->second;
        if (!varies(a, ranges.outputs[m])) std::swap(a, b);
        if (!varies(a, ranges.outputs[m]) || varies(a, ranges.outputs[n])) continue;
        if (!varies(b, ranges.outputs[n]) || varies(b, ranges.outputs[m])) continue;
        for (size_t k = ranges.reduces.size(); k-- > 0;) {
          const UOpRef& r = ranges.reduces[k];
          if (r == nullptr || !FreeRanges::Contains(over, r) || !varies(a, r) || !varies(b, r)) continue;
          uses.push_back({reduce, a, b, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k)});
        }
      }
    }
  }
  return uses;
}

UOpRef ApplyTensorCore(const UOpRef& kernel, const KernelRanges& ranges, const TensorCore& core,
                       const TensorCoreUse& use, const TensorCoreRanges& left) {
  const UOpRef &m = ranges.outputs[use.m], &n = ranges.outputs[use.n], &k = ranges.reduces[use.k];
  const UOpRef& lane = left.lane;
  const auto fragment = [&](const Fragment& f, const UOpRef& value, const UOpRef& range, const UOpRef& outer,
                            int across) {
    std::vector<UOpRef> elements;
    for (int i = 0; i < f.elements; ++i) {
      const ElementAt at = ElementOf(f, lane, across, i);
      elements.push_back(uop::Substitute(
          value, {{range, Whole(outer, across, at.line)}, {k, Whole(left.k, core.k, at.along)}}));
    }
    return uop::Vectorize(std::move(elements));
  };
  const DType out = core.out.WithLanes(core.c.elements);
  UOpRef sum = uop::Wmma(fragment(core.a, use.a, m, left.m, core.m),
                         fragment(core.b, use.b, n, left.n, core.n), uop::Const(out, 0), core.name);
  std::vector<UOpRef> over;
  for (size_t i = 1; i < use.reduce->num_src(); ++i) {
    const UOpRef& r = use.reduce->src(i);
    if (!(r == k)) over.push_back(r);
    if (r == k && left.k != nullptr) over.push_back(left.k);
  }
  if (!over.empty()) sum = uop::Reduce(Op::kAdd, sum, std::move(over));

  std::vector<UOpRef> stores;
  for (const UOpRef& store : kernel->src()) {
    std::vector<UOpRef> over_outputs;
    for (size_t i = 2; i < store->num_src(); ++i) {
      UOpRef r = store->src(i);
      if (r == m) r = left.m;
      if (r == n) r = left.n;
      if (r != nullptr) over_outputs.push_back(r);
    }
    // The lanes turn fastest, so that they are one wave.
    over_outputs.push_back(lane);
    for (int i = 0; i < core.c.elements; ++i) {
      ElementAt at = ElementOf(core.c, lane, core.c_by_rows ? core.m : core.n, i);
      if (core.c_by_rows) std::swap(at.line, at.along);
      const std::vector<UOpRef> parts =
          uop::Substitute({store->src(0), store->src(1)}, {{use.reduce, uop::Gep(sum, i)},
                                                           {m, Whole(left.m, core.m, at.along)},
                                                           {n, Whole(left.n, core.n, at.line)}});
      stores.push_back(uop::Store(parts[0], parts[1], over_outputs));
    }
  }
  return kernel->WithSrc(std::move(stores));
}

}  // namespace understudy
