// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds packets for the SDMA copy engines (Linux amdgpu: vega10_sdma_pkt_open.h for SDMA 4,
// sdma_v6_0_0_pkt_open.h for SDMA 6 and 7). One function a packet; keeps the packet boundaries, since a
// packet must not straddle the end of the ring.

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/types/span.h"

namespace understudy::amd::sdma {

enum Opcode : uint32_t { kCopy = 1, kFence = 5, kTrap = 6, kPollRegMem = 8 };

// What differs between the engines' generations.
struct Layout {
  uint64_t max_copy;  // bytes of one packet
  uint32_t fence;     // bits of FENCE's header: the memory type
};

class Builder {
 public:
  // `layout` outlives the builder.
  explicit Builder(const Layout& layout) : layout_(&layout) {}

  absl::Span<const uint32_t> words() const { return words_; }
  // Words of each packet, in order.
  absl::Span<const uint32_t> packets() const { return packets_; }

  // Byte granular, any alignment, ranges must not overlap. As many packets as Layout::max_copy demands.
  void Copy(uint64_t dst, uint64_t src, uint64_t bytes);
  // Low 32 bits only; see Timeline.
  void Fence(uint64_t va, uint32_t value);
  void WaitMemGreaterEqual(uint64_t va, uint32_t value);
  void Trap(uint32_t event_id);

 private:
  void Packet(std::initializer_list<uint32_t> words);

  const Layout* layout_;
  std::vector<uint32_t> words_;
  std::vector<uint32_t> packets_;
};

}  // namespace understudy::amd::sdma
