// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decoded programs by address: each instruction is decoded and bound to its executor once. Used by the
// dispatch loop, and shareable between dispatches. It compares a page's bytes with memory when a new epoch
// begins, so that code rewritten between two steps is decoded anew; it never writes memory.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "emu/amd/core/wave_state.h"
#include "emu/amd/decode/inst.h"
#include "emu/memory/address_space.h"

namespace understudy::emu::amd {

struct ProgramEntry {
  ExecFn fn = nullptr;
  uint32_t size = 0;  // bytes
  // One past the highest VGPR, AGPR and SGPR that the instruction names (PackRegisters).
  uint64_t registers = 0;
  Inst inst;
};

class ProgramCache {
 public:
  static constexpr int kPageBits = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageBits;
  struct Page {
    std::array<const ProgramEntry*, kPageBytes / 4> slot{};
    // What the entries were decoded from; an instruction may reach 12 bytes into the next page.
    std::array<uint8_t, kPageBytes + 12> bytes{};
    std::deque<ProgramEntry> entries;
    uint64_t epoch = 0;
    int wave_size = 32;  // that the entries are resolved for
  };

  explicit ProgramCache(Isa isa) : isa_(isa) {}

  // Entries found from now on are checked against memory once more.
  void BeginEpoch() { ++epoch_; }
  void Invalidate() { pages_.clear(); }

  // The page that holds `pc` as waves of `wave_size` see it, checked against memory. Pointers to it live
  // until Invalidate or the next epoch.
  Page* FindPage(uint64_t pc, int wave_size, AddressSpace& memory);

  // Decodes the instruction at `pc` (a multiple of 4, in `page`) into the page. When it cannot be executed,
  // returns nullptr and says why in *kind and *message (kMemory: the fetch failed).
  const ProgramEntry* Fill(Page& page, uint64_t pc, AddressSpace& memory, FaultKind* kind,
                           std::string* message);

  // Calls fn(const ProgramEntry&) for every instruction decoded so far, in no particular order.
  template <class Fn>
  void ForEachEntry(Fn fn) const {
    for (const auto& [va, page] : pages_) {
      for (const ProgramEntry& entry : page->entries) fn(entry);
    }
  }

  Isa isa() const { return isa_; }

 private:
  const Isa isa_;
  uint64_t epoch_ = 1;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace understudy::emu::amd
