// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "REF": evaluates a kernel graph directly, with the one definition of every op (EvalAlu),
// reductions in index order, and a bounds check on every access. Slow and obvious: the oracle for every other
// device.

#include "src/runtime/host/host_device.h"
#include "src/schedule/target.h"

namespace understudy {

class RefDevice : public HostDevice {
 public:
  // `name`: several oracles may live in one registry ("REF:0", "REF:1").
  explicit RefDevice(std::string name = "REF") : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  // Takes any kernel graph; `choices` have no meaning here and are ignored.
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  // OutOfRange names kernel, buffer, index, size and the ranges' values; the output may be partly written
  // then.
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;

 private:
  std::string name_;
  Target target_;
};

}  // namespace understudy
