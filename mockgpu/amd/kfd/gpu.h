// SPDX-License-Identifier: Apache-2.0
#pragma once
// One mock GPU as its queues see it: its virtual memory, clocks and counters, and the queues themselves. The
// kernel side owns it and is told of interrupts and faults; it never decides what a process may do.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "emu/amd/core/program_cache.h"
#include "emu/memory/address_space.h"
#include "mockgpu/amd/kfd/device_file.h"
#include "mockgpu/amd/kfd/gpu_profile.h"
#include "mockgpu/amd/queue/queue_host.h"
#include "mockgpu/amd/queue/ring_queue.h"

namespace understudy::mockgpu::amd {

// The interrupt ring of one GPU: delivers in order, later than the write that an interrupt announces.
class InterruptRing : public Actor {
 public:
  struct Entry {
    uint32_t context;
    int valid_bits;
  };
  bool Ready() override { return !entries_.empty(); }
  uint64_t Step() override;
  void Push(const Entry& entry) { entries_.push_back(entry); }

  std::function<void(const Entry&)> deliver;

 private:
  std::deque<Entry> entries_;
};

class Gpu : public QueueHost {
 public:
  struct Settings {
    uint32_t vgpr_fill = 0;
    uint64_t instruction_budget = 0;
  };
  // Unimplemented where the mock has no engine, or the emulator no instructions, of such a GPU.
  static absl::Status CheckProfile(const GpuProfile& profile);
  // `profile` passed CheckProfile.
  Gpu(GpuProfile profile, uint32_t gpu_id, Machine* machine, DeviceFile render_file,
      const Settings& settings);
  ~Gpu() override;

  const GpuProfile& profile() const { return profile_; }
  uint32_t gpu_id() const { return gpu_id_; }
  DeviceFile& render_file() { return render_file_; }

  std::function<void(uint32_t context, int valid_bits)> on_interrupt;
  std::function<void(FaultReport)> on_fault;

  // The process's doorbell frame, two pages of 8-byte doorbells (kfd_doorbell_process_slice).
  static constexpr uint64_t kDoorbellBytes = 8192;
  void SetDoorbells(const DeviceFile::Range& range) { doorbells_ = range; }
  const DeviceFile::Range& doorbells() const { return doorbells_; }
  // Index of a free doorbell, or -1. It stays taken until released.
  int TakeDoorbell();
  void ReleaseDoorbell(int index) { doorbell_taken_[index] = false; }
  uint64_t* Doorbell(int index) { return reinterpret_cast<uint64_t*>(doorbells_.host) + index; }

  // The end of what virtual addresses may reach (gpuvm_limit + 1).
  static constexpr uint64_t kVirtualEnd = uint64_t{1} << 47;
  uint64_t vram_used = 0;
  int queues = 0, sdma_queues = 0, xgmi_queues = 0;
  bool vm_acquired = false;
  uint64_t drm_description = 0;  // the open file that holds the VM

  // --- QueueHost ---
  Machine& machine() override { return *machine_; }
  emu::AddressSpace& memory() override { return memory_; }
  Counters& counters() override { return counters_; }
  Gc gc() const override { return *profile_.gc(); }
  Sdma sdma() const override { return *profile_.sdma(); }
  emu::amd::Isa isa() override;
  emu::amd::Dispatch::Options DispatchOptions() override;
  uint64_t WaveInstructionsPerMicrosecond() override;
  uint64_t CopyBytesPerMicrosecond() override { return 16000; }
  uint64_t GpuClock() override { return machine_->now() * profile_.gpu_counter_khz / 1000000; }
  void Interrupt(uint32_t queue_id, uint32_t context, int valid_bits) override;
  void QueueFaulted(FaultReport report) override;

 private:
  GpuProfile profile_;
  uint32_t gpu_id_;
  Machine* machine_;
  DeviceFile render_file_;
  Settings settings_;
  emu::AddressSpace memory_;
  emu::amd::ProgramCache programs_;
  Counters counters_;
  InterruptRing interrupts_;
  uint32_t interrupts_actor_;
  DeviceFile::Range doorbells_;
  bool doorbell_taken_[kDoorbellBytes / 8] = {};
};

}  // namespace understudy::mockgpu::amd
