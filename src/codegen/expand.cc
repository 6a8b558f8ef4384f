// SPDX-License-Identifier: Apache-2.0
// Stage "expand": copies and vectors in place of the ranges that a choice split off.
#include <algorithm>

#include "src/base/status.h"
#include "src/codegen/affine.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/stages.h"
#include "src/symbolic/simplify.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// STORE with the ranges that `keep` accepts.
template <class Keep>
UOpRef StoreWith(const UOpRef& index, const UOpRef& value, const UOpRef& old, Keep keep) {
  std::vector<UOpRef> ranges;
  for (size_t i = 2; i < old->num_src(); ++i) {
    if (keep(old->src(i))) ranges.push_back(old->src(i));
  }
  return uop::Store(index, value, std::move(ranges));
}

UOpRef Broadcast(const UOpRef& x, int lanes) {
  if (x->op() == Op::kConst) return UOp::Make(Op::kConst, x->dtype().WithLanes(lanes), {}, x->arg());
  return uop::Vectorize(std::vector<UOpRef>(lanes, x));
}

bool HasDivision(const UOpRef& index) {
  for (const UOp* n : uop::Toposort(index)) {
    if (n->op() == Op::kFloorDiv || n->op() == Op::kFloorMod || n->op() == Op::kIDiv || n->op() == Op::kIMod)
      return true;
  }
  return false;
}

class Vectorizer {
 public:
  explicit Vectorizer(UOpRef range) : range_(std::move(range)), lanes_(static_cast<int>(RangeEnd(range_))) {}

  UOpRef Value(const UOpRef& value) { return Vector(value); }

  std::vector<UOpRef> Store(const UOpRef& store) {
    const auto keep = [&](const UOpRef& r) { return !(r == range_); };
    const UOpRef& index = store->src(0);
    const UOpRef value = Vector(store->src(1));
    if (const UOpRef at = ContiguousIndex(index); at != nullptr) return {StoreWith(at, value, store, keep)};
    std::vector<UOpRef> stores;
    for (int i = 0; i < lanes_; ++i)
      stores.push_back(StoreWith(Lane(index, i), uop::Gep(value, i), store, keep));
    return stores;
  }

 private:
  // The scalar node at step `i` of the range.
  UOpRef Lane(const UOpRef& node, int i) { return uop::Substitute(node, {{range_, uop::IndexConst(i)}}); }

  // The INDEX of lane 0 when lane i is i elements further and all lanes are valid together; else null.
  UOpRef ContiguousIndex(const UOpRef& index) {
    if (index->num_src() > 2 && free_.DependsOn(index->src(2), range_)) return nullptr;
    // The range times 1 beside what does not vary with it: no lane has to be looked at.
    std::optional<int64_t> stride = 0;
    for (const Affine::Term& t : AffineOf(index->src(1)).terms) {
      if (t.node == range_)
        stride = t.coefficient;
      else if (free_.DependsOn(t.node, range_))
        stride = std::nullopt;
      if (!stride) break;
    }
    if (stride == 1) {
      const UOpRef at = AffineOf(Lane(index->src(1), 0)).Node();
      return uop::IndexOf(index->src(0), at, index->num_src() > 2 ? index->src(2) : nullptr);
    }
    if (stride && lanes_ > 1) return nullptr;
    // A division may hide that the lanes are neighbours; where there is none, sums are compared as they are.
    const bool divides = HasDivision(index->src(1));
    const auto lane = [&](int i) {
      const UOpRef at = Lane(index->src(1), i);
      return AffineOf(divides ? symbolic::Simplify(at) : at);
    };
    const Affine first = lane(0);
    for (int i = 1; i < lanes_; ++i) {
      if (lane(i).Minus(first) != std::optional<int64_t>(i)) return nullptr;
    }
    const UOpRef at = first.Node();
    return uop::IndexOf(index->src(0), at, index->num_src() > 2 ? index->src(2) : nullptr);
  }

  UOpRef Vector(const UOpRef& node) {
    if (!free_.DependsOn(node, range_)) return Broadcast(node, lanes_);
    if (const auto it = done_.find(node); it != done_.end()) return it->second;
    UOpRef v;
    if (node == range_) {
      std::vector<UOpRef> steps;
      for (int i = 0; i < lanes_; ++i) steps.push_back(uop::IndexConst(i));
      v = uop::Vectorize(std::move(steps));
    } else if (IsAlu(node->op())) {
      std::vector<UOpRef> src;
      for (const UOpRef& s : node->src()) src.push_back(Vector(s));
      v = UOp::Make(node->op(), node->dtype().WithLanes(lanes_), std::move(src));
    } else if (node->op() == Op::kReduce) {
      std::vector<UOpRef> src(node->src().begin(), node->src().end());
      src[0] = Vector(src[0]);
      v = UOp::Make(Op::kReduce, node->dtype().WithLanes(lanes_), std::move(src), node->arg());
    } else {
      US_CHECK(node->op() == Op::kLoad) << "vector of " << OpName(node->op());
      if (const UOpRef at = ContiguousIndex(node->src(0)); at != nullptr) {
        v = uop::Load(at, static_cast<uint16_t>(lanes_));
      } else {
        std::vector<UOpRef> parts;
        for (int i = 0; i < lanes_; ++i) parts.push_back(Lane(node, i));
        v = uop::Vectorize(std::move(parts));
      }
    }
    done_.emplace(node, v);
    return v;
  }

  UOpRef range_;
  int lanes_;
  FreeRanges free_;
  uop::SubstitutionMap done_;
};

}  // namespace

UOpRef ExpandUpcasts(const UOpRef& kernel) {
  const auto is_upcast = [](const UOpRef& r) { return RangeKind(r) == AxisKind::kUpcast; };
  std::vector<UOpRef> upcasts;
  for (size_t i = 2; i < kernel->src(0)->num_src(); ++i) {
    if (is_upcast(kernel->src(0)->src(i))) upcasts.push_back(kernel->src(0)->src(i));
  }
  if (upcasts.empty()) return kernel;
  std::vector<UOpRef> stores;
  for (const UOpRef& store : kernel->src()) {
    std::vector<int64_t> step(upcasts.size(), 0);
    for (bool more = true; more;) {
      uop::SubstitutionMap map;
      for (size_t i = 0; i < upcasts.size(); ++i) map[upcasts[i]] = uop::IndexConst(step[i]);
      const std::vector<UOpRef> parts = uop::Substitute({store->src(0), store->src(1)}, map);
      stores.push_back(StoreWith(parts[0], parts[1], store, [&](const UOpRef& r) { return !is_upcast(r); }));
      // The last upcast turns fastest.
      more = false;
      for (size_t i = upcasts.size(); i-- > 0 && !more;) {
        more = ++step[i] < RangeEnd(upcasts[i]);
        if (!more) step[i] = 0;
      }
    }
  }
  return kernel->WithSrc(std::move(stores));
}

UOpRef ExpandVector(const UOpRef& kernel) {
  for (size_t i = 2; i < kernel->src(0)->num_src(); ++i) {
    const UOpRef& range = kernel->src(0)->src(i);
    if (RangeKind(range) != AxisKind::kWarp) continue;
    Vectorizer vectorizer(range);
    std::vector<UOpRef> stores;
    for (const UOpRef& store : kernel->src()) {
      for (UOpRef& s : vectorizer.Store(store)) stores.push_back(std::move(s));
    }
    return kernel->WithSrc(std::move(stores));
  }
  return kernel;
}

UOpRef VectorAlong(const UOpRef& value, const UOpRef& range) { return Vectorizer(range).Value(value); }

std::vector<UOpRef> VectorsAlong(const std::vector<UOpRef>& values, const UOpRef& range) {
  Vectorizer vectorizer(range);
  std::vector<UOpRef> out;
  for (const UOpRef& v : values) out.push_back(vectorizer.Value(v));
  return out;
}

UOpRef SimplifyIndices(const UOpRef& kernel) {
  return uop::Rebuild(kernel, [](const UOpRef& n) -> UOpRef {
    if (n->op() != Op::kIndex) return n;
    if (n->num_src() < 3)
      return UOp::Make(Op::kIndex, n->dtype(), {n->src(0), symbolic::Simplify(n->src(1))});
    const symbolic::ValidIndex simple = symbolic::SimplifyValid(n->src(2), n->src(1));
    std::vector<UOpRef> src = {n->src(0), simple.index};
    if (!simple.valid->IsConst(1)) src.push_back(simple.valid);
    return UOp::Make(Op::kIndex, n->dtype(), std::move(src));
  });
}

}  // namespace understudy
