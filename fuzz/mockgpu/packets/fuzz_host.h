// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device around one queue, in plain memory, for fuzzing packet processors: the input becomes the ring.
// Whatever the bytes, the queue must end idle, blocked or stopped with a report, and touch only what is
// mapped.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "emu/amd/isa/opcode.h"
#include "mockgpu/amd/queue/ring_queue.h"
#include "src/base/status.h"

namespace understudy::mockgpu::amd {

class FuzzHost : public QueueHost {
 public:
  static constexpr uint64_t kRingVa = 0x10000, kDataVa = 0x20000, kPointersVa = 0x30000, kCodeVa = 0x40000;
  static constexpr uint32_t kRingBytes = 4096;

  explicit FuzzHost(Gc gc = Gc::kGc11, Sdma sdma = Sdma::kSdma6)
      : gc_(gc), sdma_(sdma), machine_({.seed = 1, .policy = Policy::kRandom, .log_events = false}) {
    Map(kRingVa, ring_, emu::Perm::kReadWrite);
    Map(kDataVa, data_, emu::Perm::kReadWrite);
    Map(kPointersVa, pointers_, emu::Perm::kReadWrite);
    Map(kCodeVa, code_, emu::Perm::kReadExec);
  }

  // `doorbell_unit`: 1 if the queue's doorbell counts bytes, 4 if dwords.
  template <class Queue>
  void Run(const uint8_t* input, size_t size, uint64_t doorbell_unit) {
    QueueConfig config;
    config.ring_va = kRingVa;
    config.ring_bytes = kRingBytes;
    config.read_pointer_va = kPointersVa;
    config.eop_va = kDataVa;
    config.eop_bytes = 4096;
    config.doorbell = &doorbell_;
    // The first half of the input is the ring, the second what indirect buffers and kernels may point at.
    const size_t in_ring = std::min<size_t>(size / 2 / 4 * 4, kRingBytes);
    std::memcpy(ring_, input, in_ring);
    const size_t rest = std::min(size - in_ring, sizeof data_);
    std::memcpy(data_, input + in_ring, rest);
    std::memcpy(code_, input + in_ring, rest);
    Queue queue(this, config);
    const uint32_t actor = machine_.AddActor(&queue, "fuzzed queue");
    doorbell_ = in_ring / doorbell_unit;
    // Endless loops of indirect buffers are legal; they only use up steps.
    machine_.RunUntilIdle(2000);
    US_CHECK(!queue.stopped() || !reports_.empty()) << "a queue stopped without a report";
    for (const FaultReport& report : reports_) US_CHECK(!report.message.empty());
    machine_.RemoveActor(actor);
  }

  Machine& machine() override { return machine_; }
  emu::AddressSpace& memory() override { return memory_; }
  Counters& counters() override { return counters_; }
  Gc gc() const override { return gc_; }
  Sdma sdma() const override { return sdma_; }
  emu::amd::Isa isa() override {
    switch (gc_) {
      case Gc::kGc9:
        return emu::amd::Isa::kCdna3;
      case Gc::kGc11:
        return emu::amd::Isa::kRdna3;
      case Gc::kGc12:
        break;
    }
    return emu::amd::Isa::kRdna4;
  }
  emu::amd::Dispatch::Options DispatchOptions() override {
    emu::amd::Dispatch::Options options;
    options.instruction_budget = 20000;
    options.max_resident_workgroups = 2;
    return options;
  }
  uint64_t WaveInstructionsPerMicrosecond() override { return 1000; }
  uint64_t CopyBytesPerMicrosecond() override { return 1000; }
  uint64_t GpuClock() override { return machine_.now() / 10; }
  void Interrupt(uint32_t, uint32_t, int) override { ++counters_.interrupts; }
  void QueueFaulted(FaultReport report) override { reports_.push_back(std::move(report)); }

 private:
  template <size_t kBytes>
  void Map(uint64_t va, uint8_t (&bytes)[kBytes], emu::Perm perm) {
    US_CHECK_OK(memory_.Map(va, kBytes, bytes, perm, "fuzzed memory"));
  }

  const Gc gc_;
  const Sdma sdma_;
  Machine machine_;
  emu::AddressSpace memory_;
  Counters counters_;
  std::vector<FaultReport> reports_;
  uint64_t doorbell_ = 0;
  alignas(4096) uint8_t ring_[kRingBytes] = {};
  alignas(4096) uint8_t data_[8192] = {};
  alignas(4096) uint8_t pointers_[4096] = {};
  alignas(4096) uint8_t code_[8192] = {};
};

}  // namespace understudy::mockgpu::amd
