// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device "CUDA": kernels as PTX through the CUDA driver library, NVIDIA's or one that stands in for it.
// Programs and tests open it; it is never registered by itself. Compile and memory are thread safe; launches
// run in order on one stream of a context of the device's own.
//
// A kernel that faults stops its context, as CUDA has it: every call then returns Aborted with the error's
// name until Recover, which makes a new context. Memory does not survive that: allocations made before stay
// valid to free, and to nothing else.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "src/runtime/device.h"
#include "src/schedule/target.h"

namespace understudy {

struct CudaOptions {
  std::string library;  // path of the driver library; empty: as cuda::Api::Load finds it
  std::string name = "CUDA";
};

class CudaDevice : public Device {
 public:
  // NotFound: no library or no such device. InvalidArgument for compute capabilities below 7.0.
  static absl::StatusOr<std::shared_ptr<CudaDevice>> Open(int index = 0, const CudaOptions& options = {});
  ~CudaDevice() override;

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  const std::string& description() const { return description_; }  // the card's own name

  absl::StatusOr<Allocation> Allocate(size_t bytes) override;
  absl::Status Free(const Allocation& allocation) override;
  // Through peer access, where both are CUDA devices whose cards are linked.
  absl::StatusOr<Allocation> MapFrom(Device& owner, const Allocation& allocation) override;
  absl::Status Unmap(const Allocation& mapping) override;
  absl::Status CopyIn(const Allocation& dst, const void* src, size_t bytes) override;
  absl::Status CopyOut(void* dst, const Allocation& src, size_t bytes) override;
  absl::Status CopyWithin(const Allocation& dst, const Allocation& src, size_t bytes) override;
  absl::StatusOr<std::unique_ptr<Program>> Compile(const UOpRef& kernel, const ChoiceList* choices) override;
  // PTX of the caller's that defines `name`, whose arguments are `buffers` addresses, for one launch shape.
  absl::StatusOr<std::unique_ptr<Program>> CompileText(const std::string& name, const std::string& ptx,
                                                       int buffers, std::array<int64_t, 3> global,
                                                       std::array<int64_t, 3> local);
  using Device::Launch;
  absl::Status Launch(Program& program, absl::Span<const Allocation> buffers, absl::Span<const int64_t> vars,
                      LaunchInfo* info) override;
  // One CUDA graph of kernel nodes.
  absl::StatusOr<std::unique_ptr<CommandGraph>> MakeGraph(GraphPlan plan) override;
  absl::Status Synchronize() override;
  absl::Status Recover() override;

  struct State;  // the driver's handles

 private:
  CudaDevice();
  absl::Status Use();

  std::unique_ptr<State> state_;
  std::string name_, description_;
  Target target_;
};

}  // namespace understudy
