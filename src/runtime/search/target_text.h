// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Target as text and back: what is sent to compile workers and is part of a cache's keys. Every field of
// the struct is in it; equal targets give equal text.

#include <string>

#include "absl/status/statusor.h"
#include "src/schedule/target.h"

namespace understudy {

std::string TargetText(const Target& target);  // JSON, one line
// InvalidArgument says what is missing or of the wrong type.
absl::StatusOr<Target> ParseTarget(const std::string& text);

}  // namespace understudy
