// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds packets for the SDMA 6 copy engine (Linux amdgpu sdma_v6_0_0_pkt_open.h). One function a packet;
// keeps the packet boundaries, since a packet must not straddle the end of the ring.

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/types/span.h"

namespace understudy::amd::sdma {

enum Opcode : uint32_t { kCopy = 1, kFence = 5, kTrap = 6, kPollRegMem = 8 };

class Builder {
 public:
  // The count field has 30 bits; a power of two below keeps every chunk's addresses as aligned as the first.
  static constexpr uint64_t kMaxCopy = uint64_t{1} << 29;

  absl::Span<const uint32_t> words() const { return words_; }
  // Words of each packet, in order.
  absl::Span<const uint32_t> packets() const { return packets_; }

  // Byte granular, any alignment, ranges must not overlap. As many packets as kMaxCopy demands.
  void Copy(uint64_t dst, uint64_t src, uint64_t bytes);
  // Low 32 bits only; see Timeline.
  void Fence(uint64_t va, uint32_t value);
  void WaitMemGreaterEqual(uint64_t va, uint32_t value);
  void Trap(uint32_t event_id);

 private:
  void Packet(std::initializer_list<uint32_t> words);

  std::vector<uint32_t> words_;
  std::vector<uint32_t> packets_;
};

}  // namespace understudy::amd::sdma
