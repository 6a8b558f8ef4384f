// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/cpu/worker_pool.h"

namespace understudy {

WorkerPool::WorkerPool(int threads) {
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void WorkerPool::For(int64_t steps, const std::function<void(int64_t)>& body) {
  std::lock_guard one(one_loop_);
  std::unique_lock lock(mutex_);
  body_ = &body;
  next_ = 0;
  steps_ = steps;
  start_.notify_all();
  TakeSteps(lock);
  done_.wait(lock, [this] { return running_ == 0; });
  body_ = nullptr;
}

void WorkerPool::TakeSteps(std::unique_lock<std::mutex>& lock) {
  ++running_;
  while (body_ != nullptr && next_ < steps_) {
    const int64_t step = next_++;
    const std::function<void(int64_t)>& body = *body_;
    lock.unlock();
    body(step);
    lock.lock();
  }
  if (--running_ == 0) done_.notify_all();
}

void WorkerPool::Work() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    start_.wait(lock, [this] { return stop_ || (body_ != nullptr && next_ < steps_); });
    if (!stop_) TakeSteps(lock);
  }
}

}  // namespace understudy
