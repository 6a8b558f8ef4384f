// SPDX-License-Identifier: Apache-2.0
#pragma once
// The mock machine behind the seam: an os::Syscalls that serves /dev/kfd, the DRM render nodes and the sysfs
// topology of GPUs that do not exist. A user-mode driver that is handed one cannot tell it from a Linux
// kernel, but for virtual time and for what docs/limits.md lists. Its descriptors are real (memfd), so that
// the host kernel's own mmap on them shows device memory, in this process and in forked ones.
//
// Thread-safe: one lock. The machine runs inside Pause() and waiting ioctls, on the caller's thread, and
// nowhere else. With one host thread the same seed gives the same run.
//
//   MockKernel::Options options;
//   options.profiles = {amd::ProfileOf("gfx942"), amd::ProfileOf("gfx1100")};
//   US_ASSIGN_OR_RETURN(auto kernel, MockKernel::Create(std::move(options)));
//   US_ASSIGN_OR_RETURN(auto device, AmdDevice::Open(*kernel, 0));

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mockgpu/amd/kfd/gpu_profile.h"
#include "mockgpu/amd/queue/fault_report.h"
#include "mockgpu/machine/event_log.h"
#include "mockgpu/machine/fault_plan.h"
#include "mockgpu/machine/machine.h"
#include "src/runtime/os/syscalls.h"

namespace understudy::mockgpu {

// What the machine has done since it was created.
struct MockStats {
  std::map<std::string, uint64_t> pm4_packets, sdma_packets;  // by name
  uint64_t pm4_packet_count = 0, sdma_packet_count = 0;
  uint64_t dispatches = 0, workgroups = 0, waves = 0, wave_instructions = 0;
  uint64_t memory_accesses = 0, memory_bytes = 0, memory_lines = 0;  // of waves: emu::Traffic
  uint64_t sdma_bytes = 0, interrupts = 0, faults = 0;
  uint64_t ioctls = 0, machine_steps = 0, virtual_ns = 0;
};

// What a process still holds: all zero once it has given everything back.
struct MockResources {
  uint64_t allocations = 0, allocated_bytes = 0, mapped_allocations = 0, queues = 0, events = 0,
           descriptors = 0;
  bool operator==(const MockResources&) const = default;
};

class MockKernel : public os::Syscalls {
 public:
  struct Options {
    std::vector<amd::GpuProfile> profiles = {amd::ProfileOf("gfx1100")};
    uint64_t seed = 0;
    Policy policy = Policy::kInOrder;
    bool log_events = true;
    FaultPlan* fault_plan = nullptr;  // not owned
    // What the hardware leaves undefined in vector registers.
    uint32_t vgpr_fill = 0;
    // Wave instructions after which a dispatch counts as hung.
    uint64_t instruction_budget = uint64_t{1} << 36;
    // How long (real time) a wait without a timeout may find nothing to do before it returns -EINTR, as if a
    // signal had come: a hang stays visible but does not outlive the test.
    uint64_t hang_after_ms = 10000;
  };
  static absl::StatusOr<std::unique_ptr<MockKernel>> Create(Options options);
  ~MockKernel() override;

  // --- os::Syscalls ---
  int Open(const std::string& path, int flags) override;
  int Close(int fd) override;
  int Ioctl(int fd, unsigned long request, void* arg) override;
  absl::StatusOr<void*> Mmap(void* addr, size_t length, int prot, int flags, int fd, int64_t offset) override;
  int Munmap(void* addr, size_t length) override;
  int64_t Pread(int fd, void* buf, size_t n, int64_t offset) override;
  int64_t Read(int fd, void* buf, size_t n) override;
  int ReadDir(const std::string& path, std::vector<os::DirEntry>* out) override;
  int Stat(const std::string& path, struct stat* out) override;
  int64_t Readlink(const std::string& path, char* buf, size_t n) override;
  // Runs the machine until a packet, wave or engine has written something that the host may be waiting for.
  // When it has nothing to do, virtual time passes instead.
  void Pause() override;
  // Virtual time.
  uint64_t MonotonicNanos() override;

  // --- what only a mock can tell ---
  // The most recent fault of any queue.
  std::optional<amd::FaultReport> LastFault();
  std::vector<amd::FaultReport> Faults();
  MockStats Stats();
  MockResources Resources();
  std::vector<Event> Events();
  // The event log as text, a line an event.
  std::string EventsText();
  void set_log_events(bool on);
  // Gives later reports a name for the allocation that holds `va` (a buffer's name, say). NotFound if none
  // does.
  absl::Status NameAllocation(uint64_t va, const std::string& name);
  // Runs everything that was submitted, without a host that waits for it.
  void RunUntilIdle();

 private:
  class Impl;
  explicit MockKernel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace understudy::mockgpu
