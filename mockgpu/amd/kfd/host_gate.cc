// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/host_gate.h"

#include <algorithm>

namespace understudy::mockgpu::amd {
namespace {

// Steps of the machine before other host threads get the lock.
constexpr uint64_t kBurst = 256;
constexpr auto kPoll = std::chrono::milliseconds(1);
// A thread that called this recently is taken to be alive.
constexpr auto kThreadMemory = std::chrono::seconds(2);
// Virtual time that passes in a Pause() that finds nothing to do: first and longest.
constexpr uint64_t kIdleNs = 1000, kLongestIdleNs = 1000000;

uint64_t Nanos(std::chrono::steady_clock::duration d) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
}

}  // namespace

std::unique_lock<std::mutex> HostGate::Enter() {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::thread::id self = std::this_thread::get_id();
  if (self != last_thread_) {
    if (last_thread_ != std::thread::id()) other_thread_seen_ = Clock::now();
    last_thread_ = self;
  }
  return lock;
}

bool HostGate::AnotherThreadMayAct() const {
  return other_thread_seen_ != Clock::time_point() && Clock::now() - other_thread_seen_ < kThreadMemory;
}

HostGate::Wake HostGate::Wait(std::unique_lock<std::mutex>& lock, uint64_t timeout_ns,
                              const std::function<bool()>& done) {
  const uint64_t deadline =
      timeout_ns >= kForever - machine_->now() ? kForever : machine_->now() + timeout_ns;
  const Clock::time_point began = Clock::now();
  Clock::time_point last_progress = began;
  bool polled = false;
  for (;;) {
    const uint64_t before = machine_->steps();
    const bool satisfied = machine_->RunUntil([&] { return machine_->now() >= deadline || done(); }, kBurst);
    if (done()) {
      changed_.notify_all();
      return Wake::kDone;
    }
    if (satisfied) return Wake::kTimeout;
    if (machine_->steps() != before) {
      last_progress = Clock::now();
      changed_.notify_all();
      if (AnotherThreadMayAct()) {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
      }
      continue;
    }
    // The machine is idle. Another thread may store to a doorbell without a call, so look again after a
    // moment even when none is known.
    const Clock::time_point now = Clock::now();
    if (deadline == kForever) {
      if (now - last_progress > std::chrono::milliseconds(hang_after_ms_)) return Wake::kInterrupted;
    } else if (polled && (!AnotherThreadMayAct() || Nanos(now - began) >= timeout_ns)) {
      machine_->AdvanceTo(deadline);
      continue;
    }
    changed_.wait_for(lock, kPoll);
    polled = true;
  }
}

void HostGate::Pause(std::unique_lock<std::mutex>& lock) {
  const uint64_t before = machine_->steps();
  machine_->RunUntilChange(kBurst);
  if (machine_->steps() != before) {
    idle_pauses_ = 0;
    changed_.notify_all();
    return;
  }
  const Clock::time_point now = Clock::now();
  if (AnotherThreadMayAct()) {
    // Another thread may be about to submit: virtual time goes no faster than real time.
    const uint64_t elapsed = last_pause_ == Clock::time_point() ? kIdleNs : Nanos(now - last_pause_);
    machine_->AdvanceTo(machine_->now() + std::clamp(elapsed, kIdleNs, kLongestIdleNs));
    last_pause_ = now;
    lock.unlock();
    std::this_thread::yield();
    return;
  }
  last_pause_ = now;
  const uint64_t idle = kIdleNs << std::min<uint32_t>(idle_pauses_++ / 16, 10);
  machine_->AdvanceTo(machine_->now() + std::min(idle, kLongestIdleNs));
}

}  // namespace understudy::mockgpu::amd
