// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scatters: out[v] = the sum over r of (v == i[r] ? x[r] : 0) sends every x[r] to one place. Gradients of
// gathers and embeddings and writes by index are sums (products, extrema, disjunctions) of that kind. Here
// they become two kernels: one that fills the output with the operation's identity, and one that runs over r
// in order and combines out[i[r]] with x[r]. That costs an operation for every place and every source, not
// one for each pair of them; and as every work-item has places of its own and goes through r in order, the
// result is the same as the reduction's, bit for bit, on every device. (scatter_parts.h has cut long ones
// into parts before.)

#include <optional>
#include <vector>

#include "src/uop/uop.h"

namespace understudy {

// The places that one source of the REDUCE_AXIS may go to: the sizes of those axes of its value which a
// comparison pins to a value that varies with all reduced axes. 0 when it is no scatter, or so small that
// comparing every pair costs less than a second kernel.
int64_t ScatterPlaces(const UOp& reduce);

struct ScatterStore {
  UOpRef fill;                 // what the output holds first
  UOpRef value, index, valid;  // STORE(INDEX(output, index, valid), value); value reads that element
  std::vector<UOpRef> ranges;  // among them those that keep the order of the sources, of kind reduce
};
// Of a kernel that would store `value`, a REDUCE, at `index` of `slot`. None when it is no scatter, when its
// ranges are variable or when it reads what it would overwrite.
std::optional<ScatterStore> FindScatter(const UOpRef& value, const UOpRef& index,
                                        const std::vector<UOpRef>& ranges, int slot);

}  // namespace understudy
