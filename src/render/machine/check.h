// SPDX-License-Identifier: Apache-2.0
#pragma once
// Proof of one allocation: every instruction reads what the program before allocation would have read, along
// all paths. An abstract run over the allocated code that knows of each register and frame slot whose values
// it holds; it shares nothing with the allocator. Run by tests, and by the renderers when SPEC is on.

#include "absl/status/status.h"
#include "src/render/machine/ir.h"

namespace understudy::machine {

// `before` as Allocate left it (instructions numbered), `after` its result. Internal names the first
// instruction that reads something else, with what its operand holds.
absl::Status CheckAllocation(const Function& before, const Function& after, const std::vector<Reg>& live_in,
                             const Processor& processor);

}  // namespace understudy::machine
