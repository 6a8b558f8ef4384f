// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/sdma.h"

#include <algorithm>

namespace understudy::amd::sdma {
namespace {
uint32_t Lo(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t Hi(uint64_t v) { return static_cast<uint32_t>(v >> 32); }
}  // namespace

void Builder::Packet(std::initializer_list<uint32_t> words) {
  words_.insert(words_.end(), words.begin(), words.end());
  packets_.push_back(static_cast<uint32_t>(words.size()));
}

void Builder::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t n = std::min(bytes, layout_->max_copy);
    Packet({kCopy, static_cast<uint32_t>(n - 1), 0, Lo(src), Hi(src), Lo(dst), Hi(dst)});
    dst += n;
    src += n;
    bytes -= n;
  }
}

void Builder::Fence(uint64_t va, uint32_t value) { Packet({kFence | layout_->fence, Lo(va), Hi(va), value}); }

void Builder::WaitMemGreaterEqual(uint64_t va, uint32_t value) {
  constexpr uint32_t kGreaterEqual = 5u << 28, kMemory = 1u << 31;
  constexpr uint32_t kRetryForever = 0xfffu << 16, kInterval = 4;
  Packet(
      {kPollRegMem | kGreaterEqual | kMemory, Lo(va), Hi(va), value, 0xffffffff, kRetryForever | kInterval});
}

void Builder::Trap(uint32_t event_id) { Packet({kTrap, event_id & 0x0fffffff}); }

}  // namespace understudy::amd::sdma
