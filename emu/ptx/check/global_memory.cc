// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/check/global_memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace understudy::emu::ptx {

const uint8_t* GlobalMemory::Find(uint64_t address) const {
  if (address >= begin_ && address < end_) return found_ + (address - begin_);
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return nullptr;
  --it;
  if (address - it->first >= it->second.bytes) return nullptr;
  begin_ = it->first;
  end_ = it->first + it->second.bytes;
  found_ = it->second.defined.get();
  return found_ + (address - begin_);
}

void GlobalMemory::Track(uint64_t address, uint64_t bytes) {
  Forget(address, bytes);
  Range range;
  range.bytes = bytes;
  range.defined.reset(static_cast<uint8_t*>(std::calloc(bytes, 1)));
  if (range.defined != nullptr) ranges_[address] = std::move(range);
}

void GlobalMemory::Forget(uint64_t address, uint64_t bytes) {
  begin_ = 1;
  end_ = 0;
  auto it = ranges_.upper_bound(address);
  if (it != ranges_.begin() && address - std::prev(it)->first < std::prev(it)->second.bytes) --it;
  while (it != ranges_.end() && it->first < address + bytes) it = ranges_.erase(it);
}

void GlobalMemory::Fill(uint64_t address, uint64_t bytes, uint8_t value) {
  for (const uint64_t end = address + bytes; address < end;) {
    uint8_t* at = const_cast<uint8_t*>(Find(address));
    if (at == nullptr) {
      const auto next = ranges_.upper_bound(address);
      if (next == ranges_.end()) return;
      address = next->first;
      continue;
    }
    const uint64_t n = std::min(end, end_) - address;
    std::memset(at, value, n);
    address += n;
  }
}

void GlobalMemory::Copy(uint64_t to, uint64_t from, uint64_t bytes) {
  std::vector<uint8_t> bits(bytes);
  for (uint64_t i = 0; i < bytes; ++i) bits[i] = Undefined(from + i);
  for (uint64_t i = 0; i < bytes; ++i) SetUndefined(to + i, bits[i]);
}

}  // namespace understudy::emu::ptx
