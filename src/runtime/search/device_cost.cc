// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/search/device_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"

namespace understudy {

std::string DeviceCostOptions::Text() const {
  if (kind == Kind::kCounted) return absl::StrCat("counted ", WeightsText(weights));
  return absl::StrCat("measured repeats ", repeats, " far_worse ", far_worse, " flush ", flush_bytes);
}

std::string DeviceCost::name() const { return absl::StrCat(options_.Text(), " on ", device_.name()); }

std::vector<absl::StatusOr<double>> DeviceCost::Costs(const UOpRef& kernel, const Target& target,
                                                      absl::Span<const ChoiceList> candidates, double best) {
  std::vector<absl::StatusOr<double>> costs;
  std::vector<absl::StatusOr<CompiledKernel>> compiled;
  const bool elsewhere = pool_ != nullptr && device_.loads_compiled();
  if (elsewhere) compiled = pool_->Compile(kernel, target, candidates);
  for (size_t i = 0; i < candidates.size(); ++i) {
    absl::StatusOr<std::unique_ptr<Program>> program = absl::UnknownError("");
    if (!elsewhere) {
      program = device_.Compile(kernel, &candidates[i]);
    } else if (compiled[i].ok()) {
      program = device_.Load(*std::move(compiled[i]));
    } else {
      program = compiled[i].status();
    }
    costs.push_back(program.ok() ? Run(**program, best) : absl::StatusOr<double>(program.status()));
    if (costs.back().ok()) best = std::min(best, *costs.back());
  }
  return costs;
}

absl::StatusOr<LaunchInfo> DeviceCost::Launch(Program& program) {
  LaunchInfo info;
  absl::Status status = device_.Launch(program, buffers_.buffers(), buffers_.vars(), &info);
  if (status.ok()) status = device_.Synchronize();
  if (status.ok()) return info;
  // The next candidate finds a device that works. Memory may be lost with it.
  const absl::Status recovered = device_.Recover();
  if (recovered.ok()) buffers_.Reset().IgnoreError();
  return absl::Status(
      status.code(),
      absl::StrCat(
          "running ", program.name(), ": ", std::string(status.message()),
          recovered.ok() ? "" : absl::StrCat("; not recovered: ", std::string(recovered.message()))));
}

absl::StatusOr<double> DeviceCost::Run(Program& program, double best) {
  US_ASSIGN_OR_RETURN(const LaunchInfo first, Launch(program));
  if (options_.kind == DeviceCostOptions::Kind::kCounted) {
    if (first.instructions == 0) {
      return absl::UnimplementedError(absl::StrCat("device ", device_.name(),
                                                   " counts no instructions: expected an emulated GPU, or a "
                                                   "measured or static cost"));
    }
    const double groups = static_cast<double>(first.grid[0]) * static_cast<double>(first.grid[1]) *
                          static_cast<double>(first.grid[2]);
    const double items = static_cast<double>(first.block[0]) * static_cast<double>(first.block[1]) *
                         static_cast<double>(first.block[2]);
    KernelWork work;
    work.instructions = static_cast<double>(first.instructions);
    work.lines = static_cast<double>(first.memory_lines);
    work.bytes = static_cast<double>(first.memory_bytes);
    work.waves = groups * std::ceil(items / std::max(1, device_.target().wave_size));
    return CostOfWork(work, options_.weights);
  }
  std::vector<double> times;
  for (int i = 0; i < std::max(1, options_.repeats); ++i) {
    US_RETURN_IF_ERROR(Flush());
    US_ASSIGN_OR_RETURN(const LaunchInfo info, Launch(program));
    if (info.device_ns == 0 && first.device_ns == 0) {
      return absl::UnimplementedError(
          absl::StrCat("device ", device_.name(), " measures no time: expected a static cost"));
    }
    times.push_back(static_cast<double>(info.device_ns));
    if (times.size() == 1 && times[0] > options_.far_worse * best) break;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

absl::Status DeviceCost::Flush() {
  if (options_.flush_bytes == 0) return absl::OkStatus();
  const std::vector<uint8_t> bytes(options_.flush_bytes, 1);
  US_ASSIGN_OR_RETURN(const Allocation other, device_.Allocate(options_.flush_bytes));
  absl::Status status = device_.CopyIn(other, bytes.data(), bytes.size());
  if (status.ok()) status = device_.Synchronize();
  status.Update(device_.Free(other));
  return status;
}

}  // namespace understudy
