// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/ref/ref_device.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/runtime/ref/ref_program.h"

namespace understudy {

absl::StatusOr<std::unique_ptr<Program>> RefDevice::Compile(const UOpRef& kernel, const ChoiceList*) {
  return RefProgram::Create(kernel);
}

absl::Status RefDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                               absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* ref = dynamic_cast<RefProgram*>(&program);
  if (ref == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("REF: program ", program.name(), " is another device's"));
  for (const Allocation& a : buffers) US_RETURN_IF_ERROR(CheckRange(a, a.bytes));
  const auto start = std::chrono::steady_clock::now();
  US_RETURN_IF_ERROR(ref->Run(buffers, vars));
  if (info != nullptr) {
    const auto ns = [](auto d) {
      return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
    };
    *info = {};
    info->device_ns = ns(std::chrono::steady_clock::now() - start);
    info->begin_ns = ns(start.time_since_epoch());
    info->grid = info->block = {1, 1, 1};
  }
  return absl::OkStatus();
}

}  // namespace understudy
