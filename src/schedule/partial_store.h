// SPDX-License-Identifier: Apache-2.0
#pragma once
// A buffer whose new contents are its old ones but for a window along an axis (a cache of keys written at a
// variable place) needs the window stored and nothing else. Used on units that are kernels of their own.

#include <optional>
#include <vector>

#include "src/uop/uop.h"

namespace understudy {

struct PartialStore {
  UOpRef value, index, valid;  // valid: null when always
  std::vector<UOpRef> ranges;  // over the window
};

// Of `WHERE(in the window, x, what the output holds at that element)` over `ranges`; the output is `slot` and
// the element `index`. Windows that are known when compiling count where they are a small part of a large
// output. None for all else.
std::optional<PartialStore> FindPartialStore(const UOpRef& value, const UOpRef& index,
                                             const std::vector<UOpRef>& ranges, int slot);

}  // namespace understudy
