// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which bits of device memory were ever written, across launches: kept by whoever allocates memory (the mock
// driver) and given to launches, whose check of uninitialised values reads and updates it. Addresses that it
// does not track count as written. Not for several threads at once.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>

namespace understudy::emu::ptx {

class GlobalMemory {
 public:
  // Fresh memory; what was tracked there before is forgotten.
  void Track(uint64_t address, uint64_t bytes);
  void Forget(uint64_t address, uint64_t bytes);
  // The host, or a copy whose source is not tracked, writes.
  void Define(uint64_t address, uint64_t bytes) { Fill(address, bytes, 0xff); }
  // Tracked memory that holds nothing any more.
  void Undefine(uint64_t address, uint64_t bytes) { Fill(address, bytes, 0); }
  // A copy of device memory carries along what is undefined.
  void Copy(uint64_t to, uint64_t from, uint64_t bytes);

  // Undefined bits of a byte.
  uint8_t Undefined(uint64_t address) const {
    const uint8_t* at = Find(address);
    return at == nullptr ? 0 : static_cast<uint8_t>(~*at);
  }
  void SetUndefined(uint64_t address, uint8_t bits) {
    uint8_t* at = const_cast<uint8_t*>(Find(address));
    if (at != nullptr) *at = static_cast<uint8_t>(~bits);
  }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  struct Range {
    uint64_t bytes = 0;
    std::unique_ptr<uint8_t, Free> defined;  // from calloc: untouched pages cost nothing
  };
  void Fill(uint64_t address, uint64_t bytes, uint8_t value);
  const uint8_t* Find(uint64_t address) const;

  std::map<uint64_t, Range> ranges_;
  mutable uint64_t begin_ = 1, end_ = 0;  // found last
  mutable uint8_t* found_ = nullptr;
};

}  // namespace understudy::emu::ptx
