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
  RecordLaunch(start, info);
  return absl::OkStatus();
}

}  // namespace understudy
