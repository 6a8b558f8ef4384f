// SPDX-License-Identifier: Apache-2.0
#pragma once
// The KFD kernel driver for one process: ioctls with the argument checks and errno values of Linux, memory
// objects, events and queues of every GPU. The facade calls it with the lock held. It knows no paths and no
// descriptors but those that it is handed.

#include <linux/kfd_ioctl.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mockgpu/amd/kfd/device_file.h"
#include "mockgpu/amd/kfd/events.h"
#include "mockgpu/amd/kfd/gpu.h"
#include "mockgpu/amd/kfd/host_gate.h"

namespace understudy::mockgpu::amd {

// struct kfd_ioctl_runtime_enable_args of interface 1.13.
struct RuntimeEnableArgs {
  uint64_t r_debug;
  uint32_t mode_mask;
  uint32_t capabilities_mask;
};

// A memory object.
struct Buffer {
  uint64_t handle = 0;
  Gpu* gpu = nullptr;  // on which it was allocated
  uint64_t va = 0, size = 0;
  uint32_t flags = 0;
  uint64_t vram_charged = 0, host_charged = 0;
  DeviceFile::Range range;  // own pages, unless host memory is the process's or the device's
  uint64_t mmap_offset = 0;
  uint8_t* host = nullptr;
  std::string name;
  std::vector<Gpu*> mapped;
};

class Kfd {
 public:
  Kfd(Machine* machine, HostGate* gate, std::vector<std::unique_ptr<Gpu>> gpus, DeviceFile kfd_file);
  ~Kfd();

  // What an ioctl on /dev/kfd returns. `lock` is the gate's and may be let go while waiting.
  int Ioctl(unsigned long request, void* arg, std::unique_lock<std::mutex>& lock);

  // Whether mmap of [offset, offset + length) may show something on this file.
  bool MmapAllowedOnKfd(uint64_t offset, uint64_t length) const;
  bool MmapAllowedOnRender(const Gpu& gpu, uint64_t offset, uint64_t length) const;
  // The process has unmapped or replaced this range of its memory: user-pointer objects lose it.
  void HostRangeGone(uint64_t address, uint64_t length);
  // Any access checks done, for mmap by the facade.
  DeviceFile& kfd_file() { return kfd_file_; }

  // Resolves a descriptor to (GPU index, open file description), or false when it is no render node.
  std::function<bool(uint32_t fd, size_t* gpu_index, uint64_t* description)> find_render_fd;

  const std::vector<std::unique_ptr<Gpu>>& gpus() const { return gpus_; }
  const std::map<uint64_t, Buffer>& buffers() const { return buffers_; }
  const std::vector<FaultReport>& faults() const { return faults_; }
  size_t queue_count() const { return queues_.size(); }
  size_t event_count() const { return events_.size(); }
  uint64_t ioctl_count() const { return ioctls_; }
  bool NameAllocation(uint64_t va, const std::string& name);

 private:
  struct Queue {
    uint32_t id = 0, type = 0;
    Gpu* gpu = nullptr;
    int doorbell = -1;
    uint32_t actor = 0;
    std::unique_ptr<RingQueue> ring;
  };

  Gpu* FindGpu(uint32_t gpu_id);
  // A buffer by handle, or nullptr.
  Buffer* FindBuffer(uint64_t handle);
  int MapOn(Buffer& buffer, Gpu& gpu);
  void UnmapFrom(Buffer& buffer, Gpu& gpu);
  std::vector<kfd_process_device_apertures> Apertures() const;
  int CheckRing(uint64_t ring_va, uint32_t* ring_bytes, uint32_t percentage, uint32_t priority);
  void OnFault(Gpu& gpu, FaultReport report);
  int SetEventPage(uint64_t handle);
  template <class Args>
  int MapOrUnmap(Args* args, bool map);

  using Lock = std::unique_lock<std::mutex>;
  int GetVersion(void* data, Lock& lock);
  int CreateQueue(void* data, Lock& lock);
  int DestroyQueue(void* data, Lock& lock);
  int UpdateQueue(void* data, Lock& lock);
  int SetMemoryPolicy(void* data, Lock& lock);
  int GetClockCounters(void* data, Lock& lock);
  int GetProcessApertures(void* data, Lock& lock);
  int GetProcessAperturesNew(void* data, Lock& lock);
  int CreateEvent(void* data, Lock& lock);
  int DestroyEvent(void* data, Lock& lock);
  int SetEvent(void* data, Lock& lock);
  int ResetEvent(void* data, Lock& lock);
  int WaitEvents(void* data, Lock& lock);
  int SetScratchBackingVa(void* data, Lock& lock);
  int SetTrapHandler(void* data, Lock& lock);
  int AcquireVm(void* data, Lock& lock);
  int AllocMemory(void* data, Lock& lock);
  int FreeMemory(void* data, Lock& lock);
  int MapMemory(void* data, Lock& lock);
  int UnmapMemory(void* data, Lock& lock);
  int SetXnackMode(void* data, Lock& lock);
  int AvailableMemory(void* data, Lock& lock);
  int RuntimeEnable(void* data, Lock& lock);

  Machine* machine_;
  HostGate* gate_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  DeviceFile kfd_file_;
  EventTable events_;
  DeviceFile::Range event_page_, mmio_page_;
  uint64_t event_page_handle_ = 0;  // of the buffer that holds the slots, when the client brought one
  std::map<uint64_t, Buffer> buffers_;
  uint32_t next_object_ = 1;
  uint64_t host_used_ = 0;  // GTT and user memory
  std::map<uint32_t, Queue> queues_;
  std::vector<FaultReport> faults_;
  uint64_t ioctls_ = 0;
  bool runtime_enabled_ = false;
};

}  // namespace understudy::mockgpu::amd
