// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one lock of a mock kernel, and how host threads wait under it. A waiting thread runs the machine; when
// the machine has nothing to do, virtual time jumps for a lone thread and real time passes where another host
// thread may still act. Knows nothing of what is waited for.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "mockgpu/machine/machine.h"

namespace understudy::mockgpu::amd {

class HostGate {
 public:
  HostGate(Machine* machine, uint64_t hang_after_ms) : machine_(machine), hang_after_ms_(hang_after_ms) {}

  // Every call from the host enters through here.
  std::unique_lock<std::mutex> Enter();

  static constexpr uint64_t kForever = ~uint64_t{0};
  enum class Wake { kDone, kTimeout, kInterrupted };
  // Runs the machine until done(), for at most `timeout_ns` of virtual time. kInterrupted: no timeout, and
  // nothing has happened for hang_after_ms of real time.
  Wake Wait(std::unique_lock<std::mutex>& lock, uint64_t timeout_ns, const std::function<bool()>& done);
  // Syscalls::Pause.
  void Pause(std::unique_lock<std::mutex>& lock);

 private:
  using Clock = std::chrono::steady_clock;
  bool AnotherThreadMayAct() const;

  Machine* machine_;
  uint64_t hang_after_ms_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id last_thread_{};
  Clock::time_point other_thread_seen_{};
  Clock::time_point last_pause_{};
  uint32_t idle_pauses_ = 0;
};

}  // namespace understudy::mockgpu::amd
