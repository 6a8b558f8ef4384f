// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/amd/pm4.h"

#include "src/base/status.h"

namespace understudy::amd::pm4 {
namespace {

// RELEASE_MEM dword 1
constexpr uint32_t kCacheFlushAndInvTsEvent = 0x14;
constexpr uint32_t kBottomOfPipeTsEvent = 0x28;
constexpr uint32_t kEndOfPipe = 5u << 8;
// RELEASE_MEM dword 2
constexpr uint32_t kDataSel32 = 1, kDataSel64 = 2, kDataSelClock = 3;
constexpr uint32_t kIntSelNone = 0, kIntSelAfterWriteConfirm = 2;

}  // namespace

void Builder::Header(Opcode op, size_t payload_words) {
  US_CHECK(payload_words >= 1 && payload_words <= 0x4000) << payload_words;
  words_.push_back(3u << 30 | static_cast<uint32_t>(payload_words - 1) << 16 |
                   static_cast<uint32_t>(op) << 8);
}

void Builder::Packet(Opcode op, std::initializer_list<uint32_t> payload) {
  Header(op, payload.size());
  words_.insert(words_.end(), payload.begin(), payload.end());
}

void Builder::SetShReg(uint32_t first, absl::Span<const uint32_t> values) {
  if (remember_) {
    bool same = true;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto [it, fresh] = registers_.emplace(static_cast<uint32_t>(first + i), values[i]);
      same &= !fresh && it->second == values[i];
      it->second = values[i];
    }
    if (same) return;
  }
  Header(kSetShReg, values.size() + 1);
  words_.push_back(first);
  words_.insert(words_.end(), values.begin(), values.end());
}

void Builder::WaitMemGreaterEqual(uint64_t va, uint32_t value) {
  constexpr uint32_t kGreaterEqual = 5, kMemorySpace = 1u << 4, kPollInterval = 4;
  Packet(kWaitRegMem, {kGreaterEqual | kMemorySpace, Lo(va), Hi(va), value, 0xffffffff, kPollInterval});
}

void Builder::AcquireMem(bool l2) {
  const uint32_t caches = layout_->acquire_shader | (l2 ? layout_->acquire_l2 : 0);
  // All addresses: size in units of 256 bytes, base 0.
  constexpr uint32_t kSizeLo = 0xffffffff, kSizeHi = 0x00ffffff;
  switch (layout_->acquire) {
    case Layout::Acquire::kCoherCntl: {
      constexpr uint32_t kPollInterval = 10;
      return Packet(kAcquireMem, {caches, kSizeLo, kSizeHi, 0, 0, kPollInterval});
    }
    case Layout::Acquire::kGcrCntl:
      return Packet(kAcquireMem, {0, kSizeLo, kSizeHi, 0, 0, 0, caches});
  }
}

void Builder::Release(uint32_t event_flags, uint32_t data_sel, uint32_t int_sel, uint64_t va, uint64_t value,
                      uint32_t ctxid) {
  Packet(kReleaseMem, {kCacheFlushAndInvTsEvent | kEndOfPipe | event_flags, data_sel << 29 | int_sel << 24,
                       Lo(va), Hi(va), Lo(value), Hi(value), ctxid});
}

void Builder::ReleaseMem64(uint64_t va, uint64_t value) {
  Release(layout_->release_caches, kDataSel64, kIntSelNone, va, value, 0);
}

void Builder::ReleaseMemTimestamp(uint64_t va) { Release(0, kDataSelClock, kIntSelNone, va, 0, 0); }

void Builder::ReleaseMem32(uint64_t va, uint32_t value) {
  Packet(kReleaseMem, {kBottomOfPipeTsEvent | kEndOfPipe, kDataSel32 << 29 | kIntSelNone << 24, Lo(va),
                       Hi(va), value, 0, 0});
}

void Builder::IndirectBuffer(uint64_t va, uint32_t words) {
  US_CHECK(words >= 1 && words <= kMaxIndirectWords && va % 4 == 0) << words;
  constexpr uint32_t kValid = 1u << 23;
  Packet(kIndirectBuffer, {Lo(va), Hi(va), words | kValid});
}

void Builder::ReleaseMemInterrupt(uint64_t mailbox_va, uint32_t event_id) {
  Release(0, kDataSel32, kIntSelAfterWriteConfirm, mailbox_va, event_id, event_id);
}

void Builder::Dispatch(uint32_t x, uint32_t y, uint32_t z, uint32_t initiator) {
  Packet(kDispatchDirect, {x, y, z, initiator});
}

void Builder::CsPartialFlush() {
  constexpr uint32_t kCsPartialFlushEvent = 7, kIndex = 4u << 8;
  Packet(kEventWrite, {kCsPartialFlushEvent | kIndex});
}

}  // namespace understudy::amd::pm4
