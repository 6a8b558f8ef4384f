// SPDX-License-Identifier: Apache-2.0
#pragma once
// Realises tensors: call, schedule, compile, run, with each step cached by structure, so that the second step
// of a training loop compiles nothing. Programs and tests own one; it owns no device. Not thread safe: one
// engine a thread.
//
//   Engine engine(devices);
//   US_ASSIGN_OR_RETURN(std::vector<float> values, engine.Data<float>(y));

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/codegen/choices.h"
#include "src/runtime/buffer.h"
#include "src/runtime/device.h"
#include "src/runtime/kernel_search.h"
#include "src/runtime/profile.h"
#include "src/runtime/recorder.h"
#include "src/schedule/multi.h"
#include "src/schedule/schedule.h"
#include "src/tensor/tensor.h"

namespace understudy {

struct EngineOptions {
  // The same choices for every kernel (an empty list: none); by default each device's heuristic.
  std::optional<ChoiceList> choices;
  // Otherwise, what this finds for each kernel (src/runtime/search). May be shared by engines of one thread.
  std::shared_ptr<KernelSearch> search;
  // Launch synchronously and keep a record of each kernel.
  bool profile = false;
  // How values that are spread over several devices are reduced and gathered.
  MultiOptions multi;
};

struct EngineStats {
  int64_t realizes = 0;
  int64_t schedules_made = 0, schedule_cache_hits = 0;
  int64_t kernels_compiled = 0, program_cache_hits = 0, kernels_launched = 0;
  int64_t copies = 0, bytes_copied = 0;  // between buffers
  int64_t bytes_in = 0, bytes_out = 0;   // from and to the host
  int64_t replays = 0;                   // of captured functions; their kernels and copies count above
  int64_t graphs_made = 0, graph_launches = 0;
  // Of bytes_copied, those from one device to another, by (from, to).
  std::map<std::pair<std::string, std::string>, int64_t> bytes_between;
};

class Engine {
 public:
  explicit Engine(DeviceRegistry devices, EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Afterwards each tensor's value is in storage (or is a virtual constant), and the tensor names that
  // storage. Work may still be running on return; its errors come from a later call, at the latest from
  // Synchronize. On an error the tensors keep their graphs, but targets of in-place assignments may be partly
  // written. ResourceExhausted lists the sizes in use on every device.
  absl::Status Realize(absl::Span<Tensor* const> tensors);
  absl::Status Realize(Tensor& tensor);

  // The elements in row-major order, realised first. InvalidArgument when T is not the tensor's element type.
  template <class T>
  absl::StatusOr<std::vector<T>> Data(Tensor& tensor);
  // The same as stored bytes, of any dtype.
  absl::StatusOr<std::vector<uint8_t>> Bytes(Tensor& tensor);

  // Waits for every device, with the first error.
  absl::Status Synchronize();

  const DeviceRegistry& devices() const { return devices_; }
  const EngineStats& stats() const { return stats_; }
  const std::vector<LaunchRecord>& launches() const { return launches_; }
  void ResetStats();
  // Programs and schedules are made anew afterwards.
  void ClearCaches();

 private:
  friend class CapturedFunction;
  struct CachedSchedule {
    UOpRef sink;  // keeps the key's node alive
    Schedule schedule;
    // One a kernel item (null for copies), filled when the schedule first runs.
    std::vector<std::shared_ptr<Program>> programs;
  };

  absl::StatusOr<CachedSchedule*> FindSchedule(const Call& call);
  // `buffer_bytes`: of the kernel's buffers by position, for a search of its choices.
  absl::StatusOr<std::shared_ptr<Program>> FindProgram(const UOpRef& kernel, Device& device,
                                                       absl::Span<const size_t> buffer_bytes);
  // The storage of a BUFFER node on its device: uploaded from the host, or declared when `output`.
  absl::StatusOr<Buffer*> Storage(const UOpRef& buffer, bool output);
  // The elements of what is stored: a BUFFER, or a MULTI of BUFFERs.
  absl::StatusOr<std::vector<uint8_t>> StoredBytes(const UOpRef& stored);
  absl::Status RealizeAll(absl::Span<Tensor* const> tensors);
  // The values in storage, and what names them there.
  absl::StatusOr<std::vector<UOpRef>> RealizeValues(absl::Span<const OutputRequest> requests);
  // A precompiled call: its arguments in buffers, then its body.
  absl::Status RunCall(const UOpRef& call);
  absl::Status Run(const Call& call);
  absl::Status RunKernel(Program& program, Device& device, absl::Span<Buffer* const> slots,
                         const ScheduleItem& item, const VariableValues& variables);

  DeviceRegistry devices_;
  const EngineOptions options_;
  EngineStats stats_;
  std::vector<LaunchRecord> launches_;
  RealizedValues realized_;
  EngineRecorder* recorder_ = nullptr;  // while a captured function runs
  RealizedShards shards_;
  absl::flat_hash_map<std::pair<const UOp*, std::vector<std::string>>, std::unique_ptr<CachedSchedule>>
      schedules_;
  struct CachedProgram {
    UOpRef kernel;
    std::shared_ptr<Program> program;  // keeps its device
  };
  absl::flat_hash_map<std::pair<const UOp*, const Device*>, CachedProgram> programs_;
};

template <class T>
absl::StatusOr<std::vector<T>> Engine::Data(Tensor& tensor) {
  if (tensor.ok() && tensor.dtype() != DTypeOf<T>()) {
    return absl::InvalidArgumentError("Engine::Data: the tensor is " + tensor.dtype().Name() +
                                      ", the caller wants " + DTypeOf<T>().Name());
  }
  absl::StatusOr<std::vector<uint8_t>> bytes = Bytes(tensor);
  if (!bytes.ok()) return bytes.status();
  std::vector<T> out(bytes->size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) {
    T v;
    __builtin_memcpy(&v, bytes->data() + i * sizeof(T), sizeof(T));
    out[i] = v;
  }
  return out;
}

}  // namespace understudy
