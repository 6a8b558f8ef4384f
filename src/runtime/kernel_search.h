// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the engine asks for the choices of a kernel, when it was given something to ask
// (EngineOptions::search); src/runtime/search makes one. An interface, so that an engine without search links
// neither a database nor a compiler.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/codegen/choices.h"
#include "src/runtime/device.h"
#include "src/uop/uop.h"

namespace understudy {

struct KernelSearchStats {
  int64_t searches = 0, cache_hits = 0;  // a hit compiles nothing and runs nothing
  int64_t candidates = 0, failed = 0;    // costed; of them, those without a cost
};

class KernelSearch {
 public:
  virtual ~KernelSearch() = default;
  // The choices for `kernel` on `device`; nullopt: none were looked for or found (a device that takes no
  // choices, no candidate that ran), leave it to the heuristic. `buffer_bytes`: the size of each PARAM's
  // buffer by position, as the kernel will be launched.
  virtual absl::StatusOr<std::optional<ChoiceList>> Find(const UOpRef& kernel, Device& device,
                                                         absl::Span<const size_t> buffer_bytes) = 0;
  virtual const KernelSearchStats& stats() const = 0;
};

}  // namespace understudy
