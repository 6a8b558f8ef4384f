// SPDX-License-Identifier: Apache-2.0
// Stage "coalesce": neighbouring scalar accesses become vector accesses.
#include <algorithm>
#include <map>

#include "src/codegen/affine.h"
#include "src/codegen/free_ranges.h"
#include "src/codegen/stages.h"
#include "src/uop/build.h"
#include "src/uop/graph.h"

namespace understudy {
namespace {

// An access to element base + offset.
struct Access {
  UOpRef node;
  Affine index;
};
// Accesses of one buffer under one validity whose indices differ by constants.
struct Family {
  UOpRef buffer, valid;
  std::vector<Access> members;
};

class Families {
 public:
  void Add(const UOpRef& node) {
    const UOpRef& index = node->src(0);
    const UOpRef valid = index->num_src() > 2 ? index->src(2) : nullptr;
    Access access{node, AffineOf(index->src(1))};
    for (Family& f : list_) {
      if (f.buffer == index->src(0) && f.valid == valid &&
          access.index.Minus(f.members[0].index).has_value()) {
        f.members.push_back(std::move(access));
        return;
      }
    }
    list_.push_back({index->src(0), valid, {std::move(access)}});
  }

  // Calls `emit(family, run)` for each maximal run of consecutive offsets, cut into powers of two of at most
  // `most`.
  template <class Emit>
  void ForEachRun(int most, Emit emit) {
    for (Family& f : list_) {
      std::stable_sort(f.members.begin(), f.members.end(),
                       [](const Access& a, const Access& b) { return a.index.constant < b.index.constant; });
      for (size_t begin = 0; begin < f.members.size();) {
        size_t end = begin + 1;
        while (end < f.members.size() &&
               f.members[end].index.constant == f.members[end - 1].index.constant + 1)
          ++end;
        while (begin < end) {
          size_t n = 1;
          while (static_cast<int>(n * 2) <= most && begin + n * 2 <= end) n *= 2;
          emit(f, absl::MakeConstSpan(f.members).subspan(begin, n));
          begin += n;
        }
      }
    }
  }

 private:
  std::vector<Family> list_;
};

int MaxLanes(DType t, const Target& target) { return std::max(1, target.max_vector_bytes / t.ScalarBytes()); }

UOpRef VectorIndex(const Family& f, const Access& first) {
  return uop::IndexOf(f.buffer, first.index.Node(), f.valid);
}

// Only arguments of the kernel: registers and local memory have their own order.
bool IsScalarParamAccess(const UOp& n) {
  return n.src(0)->op() == Op::kIndex && n.src(0)->src(0)->op() == Op::kParam &&
         (n.op() == Op::kStore ? n.src(1)->dtype() : n.dtype()).lanes == 1;
}

}  // namespace

UOpRef CoalesceMemory(const UOpRef& kernel, const Target& target) {
  std::map<int, Families> loads;  // by scalar type, only because the widest vector depends on it
  for (const UOpRef& n : uop::NodesOf(kernel, Op::kLoad)) {
    if (IsScalarParamAccess(*n) && n->num_src() == 1) loads[MaxLanes(n->dtype(), target)].Add(n);
  }
  uop::SubstitutionMap map;
  for (auto& [most, families] : loads) {
    families.ForEachRun(most, [&](const Family& f, absl::Span<const Access> run) {
      if (run.size() == 1) return;
      const UOpRef vector = uop::Load(VectorIndex(f, run[0]), static_cast<uint16_t>(run.size()));
      for (size_t i = 0; i < run.size(); ++i) map[run[i].node] = uop::Gep(vector, static_cast<int64_t>(i));
    });
  }
  const UOpRef loaded = map.empty() ? kernel : uop::Substitute(kernel, map);

  std::map<int, Families> stores;
  bool all = true;
  for (const UOpRef& s : loaded->src()) {
    all &= s->op() == Op::kStore && IsScalarParamAccess(*s);
    if (all) stores[MaxLanes(s->src(1)->dtype(), target)].Add(s);
  }
  if (!all) return loaded;
  std::vector<UOpRef> out;
  for (auto& [most, families] : stores) {
    families.ForEachRun(most, [&](const Family& f, absl::Span<const Access> run) {
      if (run.size() == 1) return out.push_back(run[0].node);
      std::vector<UOpRef> values;
      for (const Access& a : run) values.push_back(a.node->src(1));
      out.push_back(uop::Store(VectorIndex(f, run[0]), uop::Vectorize(std::move(values)),
                               {run[0].node->src().begin() + 2, run[0].node->src().end()}));
    });
  }
  return loaded->WithSrc(std::move(out));
}

}  // namespace understudy
