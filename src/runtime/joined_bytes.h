// SPDX-License-Identifier: Apache-2.0
#pragma once
// The host's copy of a value that is spread over several devices, put together from its parts. The Engine
// reads tensors with it; no bytes move between devices.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "src/uop/uop.h"

namespace understudy {

// `read` gives the elements of one source of the MULTI, in row-major order. Of a replicated value only the
// first source is read.
absl::StatusOr<std::vector<uint8_t>> JoinedBytes(
    const UOp& multi, const std::function<absl::StatusOr<std::vector<uint8_t>>(const UOpRef& part)>& read);

}  // namespace understudy
