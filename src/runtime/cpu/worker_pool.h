// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads that wait for loops to share: what the CPU device spreads a kernel's workgroups over. One loop at a
// time; a second caller waits.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace understudy {

class WorkerPool {
 public:
  // `threads` in all, the caller of For among them.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // body(0) ... body(steps - 1), each once, in any order and on any thread. Returns when all are done.
  void For(int64_t steps, const std::function<void(int64_t)>& body);

 private:
  void Work();
  // Takes steps of the current loop until none is left.
  void TakeSteps(std::unique_lock<std::mutex>& lock);

  std::mutex one_loop_, mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int64_t)>* body_ = nullptr;
  int64_t next_ = 0, steps_ = 0, running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace understudy
