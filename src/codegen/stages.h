// SPDX-License-Identifier: Apache-2.0
#pragma once
// The stages of LowerKernel between the kernel graph and the linear list, each a function from graph to
// graph. Used by LowerKernel and by tests of single stages. In the order in which they run.

#include <array>
#include <vector>

#include "absl/status/statusor.h"
#include "src/codegen/choices.h"
#include "src/schedule/target.h"
#include "src/uop/uop.h"

namespace understudy {

// "choices": ranges are split into an outer range that keeps id and kind and an inner one of kind kUpcast,
// kUnroll, kLocal or kGroupReduce. The inner range of kVectorize has kind kWarp: its steps are the lanes of
// one vector.
absl::StatusOr<UOpRef> ApplyChoices(const UOpRef& kernel, const Target& target, const ChoiceList& choices);

// "expand": kUpcast ranges are gone, each STORE stands once for each of their steps; the kWarp range is gone,
// values that varied with it are vectors, and loads and stores contiguous along it are vector LOADs and
// STOREs.
UOpRef ExpandUpcasts(const UOpRef& kernel);
UOpRef ExpandVector(const UOpRef& kernel);

// The values of a scalar at every step of `range` (a constant number of steps), as the lanes of a vector.
UOpRef VectorAlong(const UOpRef& value, const UOpRef& range);
// The same of several values, which share what they have in common.
std::vector<UOpRef> VectorsAlong(const std::vector<UOpRef>& values, const UOpRef& range);

// "simplify": the indices and validity conditions of every INDEX, by the rules of src/symbolic.
UOpRef SimplifyIndices(const UOpRef& kernel);

// "group": a REDUCE over the kGroupReduce range becomes a partial REDUCE a work-item, a local array, a
// barrier, and a REDUCE over the array in order by every work-item; STOREs are left to the first of the
// group.
absl::StatusOr<UOpRef> LowerGroups(const UOpRef& kernel, const Target& target);

// Where a reduction starts: what leaves every value as it is. The least value of a type that has no infinity
// is its least finite one.
UOpRef ReduceIdentity(Op op, DType t);

// "reduce": REDUCEs become accumulators (DEFINE_REG) and loops (END); those over the same ranges that do not
// depend on each other share one loop. kUnroll ranges become a chain of steps in index order; a scalar's
// steps are computed as the lanes of one vector first.
UOpRef LowerReduces(const UOpRef& kernel);

// "coalesce": scalar LOADs of neighbouring elements under the same validity become one vector LOAD and GEPs;
// STOREs likewise. At most target.max_vector_bytes, powers of two.
UOpRef CoalesceMemory(const UOpRef& kernel, const Target& target);

// "dimensions": ranges of kind kGlobal, kLocal and kGroupReduce become SPECIALs g0..g2 and l0..l2 where the
// target has workgroups (with room for the most steps of a variable range, and an IF around everything for
// those that there are); elsewhere kGlobal ranges close in an END around the STOREs.
struct Dimensions {
  std::array<int64_t, 3> global = {1, 1, 1}, local = {1, 1, 1};
};
absl::StatusOr<UOpRef> AssignDimensions(const UOpRef& kernel, const Target& target, Dimensions* dims);

// "index": dtype index becomes i32 where every index value of the kernel provably fits, else i64; divisions
// of non-negative indices become unsigned ones.
UOpRef LowerIndices(const UOpRef& kernel);

// "decompose": see decompose.h.

// "linearize": the list of LinearKernel::ops.
absl::StatusOr<std::vector<UOpRef>> Linearize(const UOpRef& kernel);

}  // namespace understudy
