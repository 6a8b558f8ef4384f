// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every device that compiles kernels is asked by its test: random kernels bit for bit as REF, and a
// group with a barrier and a variable. Failures are those of the calling test.

#include <cstdint>
#include <functional>

#include "src/runtime/device.h"
#include "tests/src/codegen/random_kernel.h"

namespace understudy::test {

struct SuiteOptions {
  uint64_t count = 0, factor = 7919;  // RandomSeeds(count), each times factor
  // Random choices only, which may make groups where the order of a sum does not matter; else also none at
  // all, and no groups.
  bool groups = false;
  // Whether an error is a refusal that the device is known for; null: it has none.
  std::function<bool(const absl::Status&, const ChoiceList&)> refuses = {};
};
struct SuiteCounts {
  int compared = 0, refused = 0, groups = 0;
};
void RandomKernelsEqualRef(Device& device, const SuiteOptions& options, SuiteCounts* counts = nullptr);

// out[i] = sum of in[i][r] over 128 r, times n: a group of 32 work-items with a barrier, and a variable.
// `shared` is how the program's text calls the group's memory.
void GroupsAndVariables(Device& device, const char* shared);

}  // namespace understudy::test
