// SPDX-License-Identifier: Apache-2.0
#pragma once
// A kernel of a CudaDevice: its PTX, the modules that the driver made of it, and graphs of such kernels. Used
// by CudaDevice alone.

#include <memory>
#include <string>
#include <vector>

#include "src/render/ptx.h"
#include "src/runtime/cuda/cuda_api.h"
#include "src/runtime/cuda/cuda_device.h"
#include "src/runtime/graph.h"

namespace understudy {

struct CudaDevice::State {
  const cuda::Api* api = nullptr;
  int device = 0;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
  cuda::Event timing[2] = {};
  uint64_t generation = 0;  // counts contexts
  std::mutex mutex;
  std::map<uint64_t, uint64_t> live;  // allocation -> its generation; guarded by mutex

  absl::Status MakeContext();
  absl::StatusOr<cuda::Event> TimingEvent(int which);
};

class CudaProgram : public Program {
 public:
  // `plain` is the same kernel for buffers at any address, or empty where `kernel` is that already. Internal
  // carries the driver's log.
  static absl::StatusOr<std::unique_ptr<Program>> Create(CudaDevice::State& state, PtxKernel kernel,
                                                         std::string plain);
  ~CudaProgram() override;

  const std::string& name() const override { return kernel_.name; }
  const std::string& text() const override { return kernel_.text; }
  const PtxKernel& kernel() const { return kernel_; }

  bool NeedsPlain(absl::Span<const Allocation> buffers) const;
  // Loaded into the device's present context, if it was not.
  absl::StatusOr<cuda::Function> Load(bool plain);
  // Addresses by position, then variables. InvalidArgument names what does not fit.
  absl::StatusOr<std::vector<uint64_t>> Arguments(absl::Span<const Allocation> buffers,
                                                  absl::Span<const int64_t> vars) const;

 private:
  CudaProgram(CudaDevice::State& state, PtxKernel kernel, std::string plain)
      : state_(state), kernel_(std::move(kernel)), plain_(std::move(plain)) {}
  struct Loaded {
    uint64_t generation = ~uint64_t{0};
    cuda::Module module = nullptr;
    cuda::Function function = nullptr;
  };

  CudaDevice::State& state_;
  const PtxKernel kernel_;
  const std::string plain_;
  Loaded loaded_[2];
};

absl::StatusOr<std::unique_ptr<CommandGraph>> MakeCudaGraph(CudaDevice::State& state, GraphPlan plan);

}  // namespace understudy
