// SPDX-License-Identifier: Apache-2.0
#include "src/uop/graph.h"

#include <bit>

namespace understudy::uop {
namespace {

// Depth-first post-order from the roots; `enter(node)` false keeps the walk from descending.
template <class Enter>
std::vector<const UOp*> PostOrder(absl::Span<const UOpRef> roots, Enter enter) {
  std::vector<const UOp*> order;
  absl::flat_hash_set<const UOp*> seen;
  std::vector<std::pair<const UOp*, size_t>> stack;
  const auto push = [&](const UOp* n) {
    if (seen.insert(n).second) stack.emplace_back(n, enter(n) ? 0 : n->num_src());
  };
  for (const UOpRef& root : roots) {
    push(root.get());
    while (!stack.empty()) {
      const UOp* n = stack.back().first;
      const size_t i = stack.back().second;
      if (i < n->num_src()) {
        ++stack.back().second;
        push(n->src(i).get());
      } else {
        order.push_back(n);
        stack.pop_back();
      }
    }
  }
  return order;
}

template <class T>
int Compare(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}
int CompareInts(const std::vector<int64_t>& a, const std::vector<int64_t>& b) { return Compare(a, b); }

int CompareArg(const Arg& a, const Arg& b) {
  if (a.index() != b.index()) return Compare(a.index(), b.index());
  struct Visitor {
    const Arg& b;
    int operator()(std::monostate) const { return 0; }
    int operator()(int64_t v) const { return Compare(v, std::get<int64_t>(b)); }
    int operator()(double v) const {
      return Compare(std::bit_cast<int64_t>(v), std::bit_cast<int64_t>(std::get<double>(b)));
    }
    int operator()(const std::string& v) const { return Compare(v, std::get<std::string>(b)); }
    int operator()(const std::vector<int64_t>& v) const {
      return CompareInts(v, std::get<std::vector<int64_t>>(b));
    }
    int operator()(const ReduceArg& v) const {
      const auto& w = std::get<ReduceArg>(b);
      if (v.op != w.op) return Compare(v.op, w.op);
      return CompareInts(v.axes, w.axes);
    }
    int operator()(const RangeArg& v) const {
      const auto& w = std::get<RangeArg>(b);
      if (v.id != w.id) return Compare(v.id, w.id);
      return Compare(v.kind, w.kind);
    }
    int operator()(const BufferArg& v) const {
      const auto& w = std::get<BufferArg>(b);
      if (v.id != w.id) return Compare(v.id, w.id);
      if (v.size != w.size) return Compare(v.size, w.size);
      return Compare(v.device, w.device);
    }
    int operator()(const VarArg& v) const {
      const auto& w = std::get<VarArg>(b);
      if (v.name != w.name) return Compare(v.name, w.name);
      if (v.min != w.min) return Compare(v.min, w.min);
      return Compare(v.max, w.max);
    }
    int operator()(const KernelArg& v) const { return Compare(v.name, std::get<KernelArg>(b).name); }
    int operator()(Op v) const { return Compare(v, std::get<Op>(b)); }
    int operator()(const CallArg& v) const {
      const auto& w = std::get<CallArg>(b);
      if (const int c = CompareInts(v.outputs, w.outputs)) return c;
      if (v.precompile != w.precompile) return Compare(v.precompile, w.precompile);
      return Compare(v.name, w.name);
    }
    int operator()(const MultiArg& v) const {
      const auto& w = std::get<MultiArg>(b);
      if (v.axis != w.axis) return Compare(v.axis, w.axis);
      if (const int c = CompareInts(v.begin, w.begin)) return c;
      return Compare(v.devices, w.devices);
    }
  };
  return std::visit(Visitor{b}, a);
}

int CompareDType(DType a, DType b) {
  if (a.scalar != b.scalar) return Compare(a.scalar, b.scalar);
  if (a.lanes != b.lanes) return Compare(a.lanes, b.lanes);
  return Compare(a.space, b.space);
}

}  // namespace

std::vector<const UOp*> Toposort(absl::Span<const UOpRef> roots) {
  return PostOrder(roots, [](const UOp*) { return true; });
}
std::vector<const UOp*> Toposort(const UOpRef& root) { return Toposort(absl::MakeConstSpan(&root, 1)); }

std::vector<UOpRef> Substitute(absl::Span<const UOpRef> roots, const SubstitutionMap& map) {
  absl::flat_hash_map<const UOp*, UOpRef> done;
  const auto order = PostOrder(roots, [&](const UOp* n) { return !map.contains(UOpRef(n)); });
  done.reserve(order.size());
  for (const UOp* n : order) {
    if (const auto it = map.find(UOpRef(n)); it != map.end()) {
      done.emplace(n, it->second);
      continue;
    }
    std::vector<UOpRef> src;
    src.reserve(n->num_src());
    bool changed = false;
    for (const UOpRef& s : n->src()) {
      src.push_back(done.at(s.get()));
      changed |= !(src.back() == s);
    }
    done.emplace(n, changed ? n->WithSrc(std::move(src)) : UOpRef(n));
  }
  std::vector<UOpRef> out;
  for (const UOpRef& r : roots) out.push_back(done.at(r.get()));
  return out;
}
UOpRef Substitute(const UOpRef& root, const SubstitutionMap& map) {
  return Substitute(absl::MakeConstSpan(&root, 1), map)[0];
}

absl::flat_hash_map<const UOp*, std::vector<const UOp*>> Users(absl::Span<const UOpRef> roots) {
  absl::flat_hash_map<const UOp*, std::vector<const UOp*>> users;
  for (const UOp* n : Toposort(roots)) {
    users.try_emplace(n);
    for (const UOpRef& s : n->src()) users[s.get()].push_back(n);
  }
  return users;
}

bool Reaches(const UOpRef& root, const UOpRef& node) {
  bool found = false;
  // A source is older than its user, so nothing below an older node can be `node`.
  PostOrder(absl::MakeConstSpan(&root, 1), [&](const UOp* n) {
    found |= n == node.get();
    return !found && n->id() > node->id();
  });
  return found;
}

int64_t CountNodes(const UOpRef& root) { return static_cast<int64_t>(Toposort(root).size()); }

std::vector<UOpRef> NodesOf(const UOpRef& root, Op op) {
  std::vector<UOpRef> out;
  for (const UOp* n : Toposort(root)) {
    if (n->op() == op) out.push_back(UOpRef(n));
  }
  return out;
}

bool StructuralLess(const UOpRef& a, const UOpRef& b) {
  if (a == b) return false;
  // Differences near the root decide; the structural hash stands in for deeper ones, so that no comparison
  // walks two large graphs. Only a collision of the 64-bit hash needs the walk.
  const auto shallow = [](const UOp& x, const UOp& y) {
    if (x.op() != y.op()) return Compare(x.op(), y.op());
    if (const int c = CompareArg(x.arg(), y.arg())) return c;
    if (const int c = CompareDType(x.dtype(), y.dtype())) return c;
    return Compare(x.num_src(), y.num_src());
  };
  if (const int c = shallow(*a, *b)) return c < 0;
  for (size_t i = 0; i < a->num_src(); ++i) {
    if (a->src(i) == b->src(i)) continue;
    if (const int c = shallow(*a->src(i), *b->src(i))) return c < 0;
  }
  if (a->hash() != b->hash()) return a->hash() < b->hash();
  for (size_t i = 0; i < a->num_src(); ++i) {
    if (!(a->src(i) == b->src(i))) return StructuralLess(a->src(i), b->src(i));
  }
  return false;
}

}  // namespace understudy::uop
