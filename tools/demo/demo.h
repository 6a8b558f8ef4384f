// SPDX-License-Identifier: Apache-2.0
#pragma once
// The four parts of `understudy demo`. Each returns its results as JSON rows; tools/cli/demo_command.cc
// prints them. Every part compares with something that the emulated GPU did not compute.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "tools/rig/rig.h"

namespace understudy::demo {

// Called as long work goes on: steps done, steps in all, a short note.
using ProgressFn = std::function<void(int done, int total, const std::string& note)>;

// Rows of part 1 for each device.
inline constexpr int kTensorPrograms = 6;

// Part 1. {"programs": [{"name", "device", "kernels", "packets", "wave_instructions", "ms", "max_ulp",
// "scaled_ulp", "allowed", "ok"}]}: errors against REF in each element's ulps, and in ulps of the output's
// largest element
absl::StatusOr<nlohmann::json> RunTensorPrograms(Rig& rig, const ProgressFn& progress);

// Steps of one training epoch: calls of `progress` in part 2.
inline constexpr int kStepsPerEpoch = 14;

// Part 2. {"samples", "epochs": [{"loss"}], "train_accuracy", "test_accuracy", "ms", "kernels",
// "wave_instructions", "ok"}
absl::StatusOr<nlohmann::json> RunTraining(Rig& rig, int epochs, const ProgressFn& progress);

// Part 3. {"kernels": [{"name", "groups", "values", "differences", "wave_instructions", "ms", "ok"}]}
absl::StatusOr<nlohmann::json> RunOpenClKernels(Rig& rig);

// Part 4. {"report", "status", "recovered", "differences_after", "ok"}
absl::StatusOr<nlohmann::json> RunWildPointer(Rig& rig);

}  // namespace understudy::demo
