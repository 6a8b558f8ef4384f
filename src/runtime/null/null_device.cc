// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/null/null_device.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/base/bits.h"
#include "src/base/status.h"
#include "src/codegen/codegen.h"
#include "src/render/render.h"
#include "src/runtime/null/kernel_cost.h"

namespace understudy {
namespace {

class NullProgram : public Program {
 public:
  NullProgram(CompiledKernel compiled, KernelCost cost)
      : compiled_(std::move(compiled)), cost_(std::move(cost)) {}
  const std::string& name() const override { return compiled_.name; }
  const std::string& text() const override { return compiled_.text; }
  const CompiledKernel& compiled() const { return compiled_; }
  const KernelCost& cost() const { return cost_; }

 private:
  CompiledKernel compiled_;
  KernelCost cost_;
};

absl::Status CheckBytes(const Allocation& a, size_t bytes) {
  if (bytes <= a.bytes) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("copy of ", bytes, " bytes in a range of ", a.bytes));
}

}  // namespace

NullDevice::NullDevice(Target target) : target_(std::move(target)) {}

absl::StatusOr<Allocation> NullDevice::Allocate(size_t bytes) {
  if (bytes == 0) return absl::InvalidArgumentError("allocating 0 bytes on NULL");
  const uint64_t address = next_;
  next_ += AlignUp(bytes, 64);
  return Allocation{address, bytes, address};
}

absl::Status NullDevice::Free(const Allocation&) { return absl::OkStatus(); }

absl::Status NullDevice::CountCopy(size_t bytes) {
  ++stats_.copies;
  stats_.bytes_copied += static_cast<int64_t>(bytes);
  return absl::OkStatus();
}

absl::Status NullDevice::CopyIn(const Allocation& dst, const void*, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(dst, bytes));
  return CountCopy(bytes);
}

absl::Status NullDevice::CopyOut(void*, const Allocation&, size_t bytes) {
  return absl::FailedPreconditionError(
      absl::StrCat("reading ", bytes, " bytes from NULL: the device compiles kernels and runs none"));
}

absl::Status NullDevice::CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) {
  US_RETURN_IF_ERROR(CheckBytes(dst, bytes));
  US_RETURN_IF_ERROR(CheckBytes(src, bytes));
  return CountCopy(bytes);
}

absl::StatusOr<std::unique_ptr<Program>> NullDevice::Compile(const UOpRef& kernel,
                                                             const ChoiceList* choices) {
  US_ASSIGN_OR_RETURN(const LinearKernel linear, LowerKernel(kernel, target_, choices));
  US_ASSIGN_OR_RETURN(CompiledKernel compiled, RenderLlvm(linear, target_));
  return std::make_unique<NullProgram>(std::move(compiled), CostOf(kernel));
}

absl::Status NullDevice::Launch(Program& program, absl::Span<const Allocation> buffers,
                                absl::Span<const int64_t> vars, LaunchInfo* info) {
  auto* p = dynamic_cast<NullProgram*>(&program);
  if (p == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("program ", program.name(), " is not of device NULL"));
  const CompiledKernel& c = p->compiled();
  if (buffers.size() < c.params.size() || vars.size() != c.vars.size()) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", c.name, ": ", buffers.size(), " buffers and ",
                                                   vars.size(), " variables, expected ", c.params.size(),
                                                   " and ", c.vars.size()));
  }
  const auto count = [&](const std::map<int64_t, int64_t>& accesses, int64_t* total) {
    for (const auto& [position, bytes] : accesses) {
      if (static_cast<size_t>(position) < buffers.size())
        *total += std::min(bytes, static_cast<int64_t>(buffers[position].bytes));
    }
  };
  ++stats_.kernels;
  stats_.flops += p->cost().flops;
  count(p->cost().read, &stats_.bytes_read);
  count(p->cost().written, &stats_.bytes_written);
  if (info != nullptr) *info = {0, 0, c.global, c.local};
  return absl::OkStatus();
}

std::string NullStats::Text() const {
  return absl::StrCat(kernels, " kernels, ", flops, " flops, ", bytes_read, " bytes read, ", bytes_written,
                      " bytes written, ", copies, " copies of ", bytes_copied, " bytes");
}

}  // namespace understudy
