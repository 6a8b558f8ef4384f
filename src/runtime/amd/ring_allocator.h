// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hands out pieces of one buffer in a circle, and takes them back when a timeline has passed the work that
// used them. The driver keeps kernel arguments and copy staging in two of these. Holds offsets only, never
// memory.

#include <cstdint>
#include <deque>
#include <optional>

#include "src/base/bits.h"

namespace understudy::amd {

class RingAllocator {
 public:
  explicit RingAllocator(uint64_t capacity) : capacity_(capacity) {}

  // The offset of `size` bytes in one piece, or nothing while too much is in use. Never more than the
  // capacity.
  std::optional<uint64_t> TryAllocate(uint64_t size, uint64_t alignment) {
    uint64_t begin = AlignUp(head_, alignment);
    if (begin % capacity_ + size > capacity_)
      begin = AlignUp(begin, capacity_);  // the tail is too short: skip it
    if (tail_ == head_) tail_ = begin;    // nothing in use: what was skipped does not count
    if (begin + size - tail_ > capacity_) return std::nullopt;
    if (begin / capacity_ != head_ / capacity_) ++wraps_;
    head_ = begin + size;
    return begin % capacity_;
  }
  // Everything handed out so far is free once the timeline reaches `value`. Values ascend.
  void Retire(uint64_t value) {
    if (in_use_.empty() || in_use_.back().end != head_)
      in_use_.push_back({head_, value});
    else
      in_use_.back().value = value;
  }
  void Release(uint64_t reached) {
    while (!in_use_.empty() && in_use_.front().value <= reached) {
      tail_ = in_use_.front().end;
      in_use_.pop_front();
    }
    // Nothing in flight: pieces that no submission ever covered (it failed) are free as well.
    if (in_use_.empty()) tail_ = head_;
  }
  // The value to wait for when TryAllocate gave nothing.
  std::optional<uint64_t> OldestValue() const {
    return in_use_.empty() ? std::nullopt : std::optional(in_use_.front().value);
  }
  uint64_t capacity() const { return capacity_; }
  uint64_t wraps() const { return wraps_; }

 private:
  struct Piece {
    uint64_t end, value;
  };
  uint64_t capacity_;
  uint64_t head_ = 0, tail_ = 0, wraps_ = 0;  // monotonic
  std::deque<Piece> in_use_;
};

}  // namespace understudy::amd
