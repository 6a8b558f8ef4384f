// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/device_heap.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"
#include "src/base/bits.h"

namespace understudy::emu::ptx {

uint64_t DeviceHeap::Allocate(uint64_t bytes) {
  // The sizes that wrap to 0 when they are rounded get the least block, as malloc(-1) does on an H200.
  bytes = std::max(AlignUp(bytes, uint64_t{16}), uint64_t{16});
  const auto gap =
      std::find_if(gaps_.begin(), gaps_.end(), [bytes](const auto& g) { return g.second >= bytes; });
  if (gap == gaps_.end()) return 0;
  const auto [address, room] = *gap;
  gaps_.erase(gap);
  if (room > bytes) gaps_[address + bytes] = room - bytes;
  blocks_[address] = bytes;
  freed_.erase(address);
  return address;
}

absl::Status DeviceHeap::Free(uint64_t address) {
  if (address == 0) return absl::OkStatus();
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) {
    const auto after = blocks_.upper_bound(address);
    if (after != blocks_.begin())
      if (const auto [begin, bytes] = *std::prev(after); address - begin < bytes)
        return absl::InvalidArgumentError(
            absl::StrFormat("free of 0x%x: it lies %d bytes inside the block of %d bytes at 0x%x", address,
                            address - begin, bytes, begin));
    return absl::InvalidArgumentError(absl::StrFormat(
        freed_.count(address) != 0 ? "free of 0x%x: the block was freed already (a double free)"
                                   : "free of 0x%x: malloc of the device heap has not given it",
        address));
  }
  uint64_t begin = address, bytes = block->second;
  blocks_.erase(block);
  freed_.insert(address);
  auto after = gaps_.lower_bound(address);
  if (after != gaps_.end() && after->first == begin + bytes) {
    bytes += after->second;
    after = gaps_.erase(after);
  }
  if (after != gaps_.begin())
    if (const auto before = std::prev(after); before->first + before->second == begin) {
      before->second += bytes;
      return absl::OkStatus();
    }
  gaps_[begin] = bytes;
  return absl::OkStatus();
}

}  // namespace understudy::emu::ptx
