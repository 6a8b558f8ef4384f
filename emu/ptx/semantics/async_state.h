// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies that run beside the warps: cp.async groups, bulk copies, st.async and red.async, and the mbarriers
// that they complete. Time is modelled strictly: a copy happens at the last moment that the program allows
// (its wait, or the mbarrier phase that needs it), so that a missing wait shows the old contents. Addresses
// are checked when the instruction runs; nothing here faults.

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "emu/ptx/core/cta.h"
#include "emu/ptx/semantics/atomic_op.h"
#include "emu/ptx/semantics/mbarrier.h"
#include "emu/ptx/semantics/memory_access.h"

namespace understudy::emu::ptx {

// One cp.async of a warp, or a cp.async.mbarrier.arrive that waits for those before it.
struct PendingCopy {
  uint32_t mask = 0;                            // lanes that have not done it
  uint8_t bytes = 0;                            // 4, 8, 16; 0: an arrive
  std::array<uint8_t, kWarpSize> source_bytes;  // the rest is zeros
  std::array<uint8_t*, kWarpSize> to;           // an arrive: the mbarrier
  std::array<const uint8_t*, kWarpSize> from;
  std::array<uint32_t, kWarpSize> group;
};

struct BulkMove {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;  // null: the fill
  uint32_t bytes = 0;
};

// One bulk copy, or one lane's st.async or red.async.
struct PendingBulk {
  uint32_t warp = 0;
  int lane = 0;
  bool in_group = false;
  uint32_t group = 0;
  uint64_t* barrier = nullptr;  // mbarrier that it completes
  uint32_t tx_bytes = 0;
  std::vector<BulkMove> moves;
  AtomicOp op = AtomicOp::kNone;  // reductions
  Type type = Type::kNone;
  bool to_global = false;
  bool flush = false;       // additions of f32 take and give subnormals as zeros
  bool round_tf32 = false;  // words of the source are rounded to tf32
  bool pack_six = false;    // of each byte of the source its low six bits: 12 bytes of 16
  std::array<uint8_t, 8> fill{};
  bool has_read = false;  // the source is in `data`, move after move
  std::vector<uint8_t> data;
};

class CtaAsync : public AsyncState {
 public:
  explicit CtaAsync(Cta* cta) : cta_(cta) {}

  bool Advance() override;
  // Everything that is still under way happens: the CTA's warps have ended.
  void Finish() override;

  // --- cp.async ---
  void Copy(uint32_t warp, PendingCopy copy);
  void CommitCopies(uint32_t warp, uint32_t mask);
  // All but the last `keep` groups of each lane.
  void WaitCopies(uint32_t warp, uint32_t mask, uint32_t keep);
  void WaitAllCopies(uint32_t warp, uint32_t mask);

  // --- bulk ---
  void Bulk(PendingBulk bulk);  // `group` is filled in here
  void CommitBulk(uint32_t warp, uint32_t mask);
  // With `read` only the sources must have been read.
  void WaitBulk(uint32_t warp, uint32_t mask, uint32_t keep, bool read);

  // Whether the barrier's phase of this parity is over, after whatever may complete it now has happened.
  bool TestBarrier(uint64_t* barrier, bool parity);

  // A try_wait that fails asks: true once each time that everybody in the cluster waits, when the hardware's
  // time limit would let it go on.
  bool WaitExpires(uint32_t warp);
  // Something that a waiting thread may be waiting for has happened.
  void Progress() { stalls_ = 0; }

 private:
  struct WarpCopies {
    std::deque<PendingCopy> copies;
    std::array<uint32_t, kWarpSize> committed{}, bulk_committed{};
    uint32_t expiry_seen = 0;
  };
  WarpCopies& Of(uint32_t warp);
  void Perform(PendingCopy& copy, int lane);
  void PerformUpTo(WarpCopies& copies, size_t index, uint32_t mask);
  static void Drop(WarpCopies& copies);
  // Arrivals of copies that wait for `barrier`: how many, and making them.
  uint32_t CountArrivals(const uint64_t* barrier) const;
  void MakeArrivals(const uint64_t* barrier);
  static void Read(PendingBulk& bulk);
  static void Complete(PendingBulk& bulk);
  bool CompleteOneFor(const uint64_t* barrier);

  Cta* cta_;
  std::vector<WarpCopies> warps_;
  std::deque<PendingBulk> bulk_;
  uint32_t expiry_ = 0, stalls_ = 0;
  bool somebody_waits_ = false;
};

CtaAsync& AsyncOf(Cta& cta);
inline CtaAsync& AsyncOf(Warp& warp) { return AsyncOf(*warp.cta); }

// Arrives and transactions at a valid mbarrier.
void ArriveAt(uint64_t* barrier, uint32_t count);
void CompleteTx(uint64_t* barrier, uint32_t bytes);

}  // namespace understudy::emu::ptx
