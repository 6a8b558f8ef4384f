// SPDX-License-Identifier: Apache-2.0
#pragma once
// Launches that are encoded once, into an indirect buffer with argument blocks of their own, and run as often
// as wanted with one packet and one doorbell. Between runs only those arguments are written that changed.
// AmdDevice makes command graphs of them. Knows no tensors.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/runtime/amd/gpu.h"

namespace understudy::amd {

struct GraphKernel {
  LoadedKernel kernel;  // its code stays loaded as long as the graph lives
  LaunchShape shape;
  size_t args_bytes = 0;  // explicit arguments, a multiple of 8
  bool waits = true;      // for all kernels before it
};

// How far the GPU has come, for fault reports.
struct GraphProgress {
  std::vector<std::string> kernels;
  const volatile uint32_t* done = nullptr;  // kernels that have ended
  std::string Current() const;              // "kernel 'add' (2 of 5)"
};

class GpuGraph {
 public:
  // Unimplemented for kernels that want to know their dispatch's number.
  static absl::StatusOr<std::unique_ptr<GpuGraph>> Create(AmdGpu& gpu, std::vector<GraphKernel> kernels);
  ~GpuGraph();
  GpuGraph(const GpuGraph&) = delete;
  GpuGraph& operator=(const GpuGraph&) = delete;

  // 8 bytes of a kernel's explicit arguments, for all runs from the next one on; zeros before.
  void Set(size_t kernel, size_t offset, uint64_t value);
  absl::Status Run();

  // Of the indirect buffer.
  size_t words() const { return copies_[0].words; }
  size_t waits() const { return waits_; }

 private:
  // Two of everything, so that arguments can be written while an earlier run is on its way.
  struct Copy {
    uint64_t args = 0, commands = 0;  // offsets in memory_
    size_t words = 0;
    uint64_t last = 0;            // timeline value of its latest run
    std::vector<uint32_t> stale;  // arguments to be written before the next
    std::vector<bool> is_stale;   // by argument
  };

  GpuGraph(AmdGpu& gpu, std::vector<GraphKernel> kernels) : gpu_(gpu), kernels_(std::move(kernels)) {}
  absl::Status Init();
  // The packets of one copy, as the device stands now.
  absl::StatusOr<pm4::Builder> Encode(const Copy& copy) const;
  absl::Status Write(Copy& copy);
  absl::StatusOr<Copy*> Ready();

  AmdGpu& gpu_;
  const std::vector<GraphKernel> kernels_;
  GpuBuffer memory_;
  std::vector<size_t> first_arg_;  // by kernel, in values_
  std::vector<size_t> args_at_;    // by kernel, in an argument block
  std::vector<uint64_t> values_;   // all explicit arguments
  std::vector<size_t> value_at_;   // where each lies in an argument block
  std::array<Copy, 2> copies_;
  size_t current_ = 0;
  size_t waits_ = 0;
  uint64_t scratch_va_ = 0;  // as encoded
  int64_t recoveries_ = 0;   // of the device, when encoded
  std::shared_ptr<GraphProgress> progress_;
};

}  // namespace understudy::amd
