// SPDX-License-Identifier: Apache-2.0
#pragma once
// `understudy trace --fusion`: what the scheduler stores, fuses and puts together, and why.

#include <string>

#include "absl/status/statusor.h"

namespace understudy::cli {

// `file` holds a call as it prints (SINK of STOREs to PARAMs); "" takes an example of its own.
absl::StatusOr<int> PrintFusion(const std::string& file, bool as_json);

}  // namespace understudy::cli
