// SPDX-License-Identifier: Apache-2.0
#pragma once
// One hardware queue: a ring in GTT memory, its read and write pointers, its doorbell. Copies packet words
// into the ring, waits for room, rings the doorbell. Used by the driver for the compute and the copy queue;
// does not know what the words mean beyond where packets end.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/runtime/amd/generation.h"
#include "src/runtime/amd/kfd.h"
#include "src/runtime/amd/memory.h"
#include "src/runtime/amd/topology.h"

namespace understudy::amd {

enum class QueueKind : uint8_t { kCompute, kSdma };

class HwQueue {
 public:
  // Called while waiting for room: returns an error to stop (a fault, a timeout).
  using Idle = std::function<absl::Status()>;

  // `ring_bytes` is a power of two, at least 4096. On failure everything taken on the way is given back.
  static absl::StatusOr<std::unique_ptr<HwQueue>> Create(Kfd& kfd, GpuMemory& memory, const GpuNode& node,
                                                         const Generation& generation, QueueKind kind,
                                                         size_t ring_bytes);
  // Destroys the queue in the kernel and frees its memory.
  ~HwQueue();
  HwQueue(const HwQueue&) = delete;
  HwQueue& operator=(const HwQueue&) = delete;

  // Copies the words and rings the doorbell. `packets` (words of each packet) is for an SDMA queue, whose
  // packets must not straddle the end of the ring; empty for a compute queue, whose packets may.
  absl::Status Submit(absl::Span<const uint32_t> words, absl::Span<const uint32_t> packets, const Idle& idle);

  // In words, monotonic.
  uint64_t written() const { return written_; }
  uint64_t consumed();
  size_t ring_words() const { return ring_.size / 4; }
  uint64_t wraps() const { return wraps_; }
  std::string Describe();  // for timeouts: pointers

  // DESTROY_QUEUE and the frees, with the first error. The destructor calls it if nobody did.
  absl::Status Close();

 private:
  HwQueue(Kfd& kfd, GpuMemory& memory, QueueKind kind) : kfd_(kfd), memory_(memory), kind_(kind) {}
  absl::Status Init(const GpuNode& node, const Generation& generation, size_t ring_bytes);
  absl::Status WaitForRoom(uint64_t words, const Idle& idle);
  void Put(uint32_t word);

  Kfd& kfd_;
  GpuMemory& memory_;
  const QueueKind kind_;
  GpuBuffer ring_, pointers_, eop_, save_area_;
  uint32_t queue_id_ = 0;
  bool created_ = false;
  uint8_t* doorbell_page_ = nullptr;
  volatile uint64_t* doorbell_ = nullptr;
  uint64_t written_ = 0, consumed_ = 0, wraps_ = 0;
};

}  // namespace understudy::amd
