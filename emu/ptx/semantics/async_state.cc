// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/semantics/async_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emu/ptx/semantics/tensor_map.h"

namespace understudy::emu::ptx {
namespace {

// How often in a row every warp of a cluster may come to the end of its patience with nothing happening
// between, before they count as hung.
constexpr uint32_t kMaxStalls = 1024;

// The low six bits of 4 / 3 times as many bytes.
void PackSix(const uint8_t* from, uint32_t bytes, uint8_t* to) {
  std::memset(to, 0, bytes);
  for (uint32_t i = 0; i < bytes / 3 * 4; ++i) {
    const uint32_t bits = (from[i] & 0x3fu) << i * 6 % 8;
    to[i * 6 / 8] |= static_cast<uint8_t>(bits);
    if (bits > 0xff) to[i * 6 / 8 + 1] |= static_cast<uint8_t>(bits >> 8);
  }
}

}  // namespace

CtaAsync& AsyncOf(Cta& cta) {
  if (cta.async == nullptr) cta.async = std::make_unique<CtaAsync>(&cta);
  return static_cast<CtaAsync&>(*cta.async);
}

void ArriveAt(uint64_t* barrier, uint32_t count) {
  Mbarrier b = Mbarrier::Unpack(*barrier);
  b.pending -= std::min(count, b.pending);
  b.Settle();
  *barrier = b.Pack();
}

void CompleteTx(uint64_t* barrier, uint32_t bytes) {
  Mbarrier b = Mbarrier::Unpack(*barrier);
  b.tx -= static_cast<int32_t>(bytes);
  b.Settle();
  *barrier = b.Pack();
}

CtaAsync::WarpCopies& CtaAsync::Of(uint32_t warp) {
  if (warp >= warps_.size()) warps_.resize(warp + 1);
  return warps_[warp];
}

void CtaAsync::Perform(PendingCopy& copy, int lane) {
  if (copy.bytes == 0) {
    auto* barrier = reinterpret_cast<uint64_t*>(copy.to[lane]);
    if (Mbarrier::Unpack(*barrier).valid) ArriveAt(barrier, 1);
    Progress();
  } else {
    const uint32_t from_source = copy.source_bytes[lane];
    if (from_source != 0) std::memcpy(copy.to[lane], copy.from[lane], from_source);
    if (from_source < copy.bytes) std::memset(copy.to[lane] + from_source, 0, copy.bytes - from_source);
  }
  copy.mask &= ~(1u << lane);
}

void CtaAsync::PerformUpTo(WarpCopies& copies, size_t index, uint32_t mask) {
  for (size_t i = 0; i <= index; ++i)
    ForLanes(copies.copies[i].mask & mask, [&](int lane) { Perform(copies.copies[i], lane); });
}

void CtaAsync::Drop(WarpCopies& copies) {
  while (!copies.copies.empty() && copies.copies.front().mask == 0) copies.copies.pop_front();
}

void CtaAsync::Copy(uint32_t warp, PendingCopy copy) {
  WarpCopies& copies = Of(warp);
  copy.group = copies.committed;
  copies.copies.push_back(copy);
}

void CtaAsync::CommitCopies(uint32_t warp, uint32_t mask) {
  WarpCopies& copies = Of(warp);
  ForLanes(mask, [&](int lane) { ++copies.committed[lane]; });
}

void CtaAsync::WaitCopies(uint32_t warp, uint32_t mask, uint32_t keep) {
  WarpCopies& copies = Of(warp);
  for (PendingCopy& copy : copies.copies)
    ForLanes(copy.mask & mask, [&](int lane) {
      if (uint64_t{copy.group[lane]} + keep < copies.committed[lane]) Perform(copy, lane);
    });
  Drop(copies);
}

void CtaAsync::WaitAllCopies(uint32_t warp, uint32_t mask) {
  WarpCopies& copies = Of(warp);
  if (!copies.copies.empty()) PerformUpTo(copies, copies.copies.size() - 1, mask);
  Drop(copies);
}

uint32_t CtaAsync::CountArrivals(const uint64_t* barrier) const {
  uint32_t count = 0;
  for (const WarpCopies& warp : warps_)
    for (const PendingCopy& copy : warp.copies)
      if (copy.bytes == 0)
        ForLanes(copy.mask,
                 [&](int lane) { count += copy.to[lane] == reinterpret_cast<const uint8_t*>(barrier); });
  return count;
}

void CtaAsync::MakeArrivals(const uint64_t* barrier) {
  for (WarpCopies& warp : warps_) {
    for (size_t i = 0; i < warp.copies.size(); ++i) {
      if (warp.copies[i].bytes != 0) continue;
      uint32_t mask = 0;
      ForLanes(warp.copies[i].mask, [&](int lane) {
        if (warp.copies[i].to[lane] == reinterpret_cast<const uint8_t*>(barrier)) mask |= 1u << lane;
      });
      if (mask != 0) PerformUpTo(warp, i, mask);
    }
    Drop(warp);
  }
}

void CtaAsync::Bulk(PendingBulk bulk) {
  bulk.group = Of(bulk.warp).bulk_committed[bulk.lane];
  bulk_.push_back(std::move(bulk));
}

void CtaAsync::CommitBulk(uint32_t warp, uint32_t mask) {
  WarpCopies& copies = Of(warp);
  ForLanes(mask, [&](int lane) { ++copies.bulk_committed[lane]; });
}

void CtaAsync::Read(PendingBulk& bulk) {
  if (bulk.has_read) return;
  size_t total = 0;
  for (const BulkMove& move : bulk.moves) total += move.bytes;
  bulk.data.resize(total);
  uint8_t* to = bulk.data.data();
  for (const BulkMove& move : bulk.moves) {
    if (move.from != nullptr && bulk.pack_six) {
      PackSix(move.from, move.bytes, to);
    } else if (move.from != nullptr) {
      std::memcpy(to, move.from, move.bytes);
      for (uint32_t i = 0; bulk.round_tf32 && i + 4 <= move.bytes; i += 4) {
        uint32_t word;
        std::memcpy(&word, to + i, 4);
        word = TensorTf32(word);
        std::memcpy(to + i, &word, 4);
      }
    } else {
      for (uint32_t i = 0; i < move.bytes; ++i) to[i] = bulk.fill[i % bulk.fill.size()];
    }
    to += move.bytes;
  }
  bulk.has_read = true;
}

void CtaAsync::Complete(PendingBulk& bulk) {
  Read(bulk);
  const uint8_t* from = bulk.data.data();
  const bool global = bulk.type == Type::kF32 ? bulk.flush : bulk.to_global;
  const uint32_t element = bulk.op == AtomicOp::kNone ? 1 : static_cast<uint32_t>(TypeBytes(bulk.type));
  for (const BulkMove& move : bulk.moves) {
    if (bulk.op == AtomicOp::kNone) {
      if (move.bytes != 0) std::memcpy(move.to, from, move.bytes);
    } else {
      for (uint32_t i = 0; i + element <= move.bytes; i += element) {
        uint64_t operand = 0;
        std::memcpy(&operand, from + i, element);
        AtomicUpdate(bulk.op, bulk.type, move.to + i, operand, 0, global);
      }
    }
    from += move.bytes;
  }
  if (bulk.barrier != nullptr && Mbarrier::Unpack(*bulk.barrier).valid)
    CompleteTx(bulk.barrier, bulk.tx_bytes);
}

void CtaAsync::WaitBulk(uint32_t warp, uint32_t mask, uint32_t keep, bool read) {
  const WarpCopies& copies = Of(warp);
  const auto due = [&](const PendingBulk& bulk) {
    return bulk.in_group && bulk.warp == warp && (mask >> bulk.lane & 1) != 0 &&
           uint64_t{bulk.group} + keep < copies.bulk_committed[bulk.lane];
  };
  for (PendingBulk& bulk : bulk_)
    if (due(bulk)) read ? Read(bulk) : Complete(bulk);
  if (!read) bulk_.erase(std::remove_if(bulk_.begin(), bulk_.end(), due), bulk_.end());
}

bool CtaAsync::CompleteOneFor(const uint64_t* barrier) {
  for (auto it = bulk_.begin(); it != bulk_.end(); ++it) {
    if (it->barrier != barrier) continue;
    Complete(*it);
    bulk_.erase(it);
    Progress();
    return true;
  }
  return false;
}

bool CtaAsync::TestBarrier(uint64_t* barrier, bool parity) {
  for (;;) {
    const Mbarrier b = Mbarrier::Unpack(*barrier);
    if (b.parity != parity) return true;
    // Copies that could not end the phase stay under way.
    const uint32_t arrivals = CountArrivals(barrier);
    if (b.pending > arrivals) return false;
    if (b.pending != 0) {
      MakeArrivals(barrier);
      continue;
    }
    bool done = CompleteOneFor(barrier);
    if (!done && cta_->cluster != nullptr) {
      for (uint32_t i = 0; i < cta_->cluster->num_ctas && !done; ++i) {
        Cta* other = cta_->cluster->ctas[i].get();
        if (other != cta_ && other->async != nullptr)
          done = static_cast<CtaAsync&>(*other->async).CompleteOneFor(barrier);
      }
    }
    if (!done) return false;
  }
}

bool CtaAsync::WaitExpires(uint32_t warp) {
  somebody_waits_ = true;
  WarpCopies& copies = Of(warp);
  if (copies.expiry_seen == expiry_) return false;
  copies.expiry_seen = expiry_;
  return true;
}

bool CtaAsync::Advance() {
  // Somebody may wait by other means than a wait instruction, for anything.
  if (!bulk_.empty()) {
    Complete(bulk_.front());
    bulk_.pop_front();
    return true;
  }
  if (!somebody_waits_ || stalls_ >= kMaxStalls) return false;
  ++stalls_;
  ++expiry_;
  somebody_waits_ = false;
  return true;
}

void CtaAsync::Finish() {
  for (PendingBulk& bulk : bulk_) Complete(bulk);
  bulk_.clear();
  warps_.clear();
}

}  // namespace understudy::emu::ptx
