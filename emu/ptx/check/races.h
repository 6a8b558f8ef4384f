// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data races of shared and global memory: two threads touch a byte, one of them writing, and nothing orders
// the two. What orders is what the memory model of PTX says: barriers of the CTA and of the cluster,
// bar.warp.sync, mbarriers, waits for asynchronous copies, and releases that are acquired - by .release and
// .acquire, or by fences around strong accesses - within their scopes. Lanes of a warp are threads like any
// other. Strong accesses (atomics, .relaxed, .volatile) do not race with each other within their scopes.
//
// Source: PTX ISA 8.8, "Memory Consistency Model", "Asynchronous Operations".

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emu/ptx/check/access_log.h"
#include "emu/ptx/check/clock.h"
#include "emu/ptx/check/report_sink.h"
#include "emu/ptx/core/cta.h"

namespace understudy::emu::ptx {

enum class SyncScope : uint8_t { kCta, kCluster, kGpu };

// What an instruction does beside reading and writing.
struct SyncFacts {
  bool strong = false, acquires = false, releases = false, fence = false;
  bool atomic = false;  // a read-modify-write: it continues what it replaces
  SyncScope scope = SyncScope::kGpu;
  enum class What : uint8_t {
    kPlain,
    kCtaBarrier,
    kClusterArrive,
    kClusterWait,
    kWarpBarrier,
    kMbarrierInit,  // and inval
    kMbarrierArrive,
    kMbarrierWait,
    kMbarrierOther,
    kCopy,        // cp.async
    kCopyArrive,  // cp.async.mbarrier.arrive
    kCopyCommit,
    kCopyWait,
    kBulk,  // with an mbarrier or a group; st.async, red.async
    kBulkCommit,
    kBulkWait,
    kNoAccess,
  } what = What::kPlain;
  bool with_mbarrier = false;  // kBulk
};

class RaceChecker {
 public:
  RaceChecker(Launch& launch, ReportSink* sink) : launch_(launch), sink_(sink) {}

  void StartWarp(WarpState& warp);
  void EndCluster(Cluster& cluster);
  // Before and after the lanes in `mask` execute it.
  void Before(WarpState& warp, const Inst& inst);
  ExecResult After(WarpState& warp, const Inst& inst, const AccessLog& log, uint32_t mask, ExecResult result);
  void PassBarrier(Cta& cta, uint32_t id);
  void PassClusterBarrier(Cluster& cluster);

 private:
  struct Touch {
    const Inst* inst = nullptr;
    uint32_t cta = 0, time = 0;
    uint16_t thread = 0;
    bool strong = false;
    SyncScope scope = SyncScope::kGpu;
  };
  // Reads of lanes of one warp at one time.
  struct Readers {
    const Inst* inst = nullptr;
    uint32_t cta = 0, time = 0, mask = 0;
    uint16_t warp = 0;
    bool strong = false;
    SyncScope scope = SyncScope::kGpu;
  };
  struct Cell {
    // The last of each kind: a strong write orders nothing by itself, so that a plain one before it still
    // counts.
    Touch plain, strong;
    std::vector<Readers> reads;
  };
  // Four bytes, apart once they were accessed apart.
  struct Word {
    Cell cell;
    std::unique_ptr<Cell[]> bytes;
  };
  // A location that strong accesses synchronise by: what was released there, by scope.
  struct SyncPoint {
    struct Level {
      SyncScope scope;
      uint32_t domain;  // kCta: the CTA; kCluster: the cluster
      uint32_t cta;     // of who released last
      std::shared_ptr<const Joined> known;
    };
    std::vector<Level> levels;
  };
  struct MbarrierState {
    Gatherer arriving;
    Joined extra, done;  // of copies under way; of phases that have ended
    bool parity = false;
  };
  struct Copies {
    struct Pending {
      uint32_t mask = 0, time = 0;
      std::array<uint32_t, kWarpSize> group;
    };
    std::deque<Pending> pending;
    std::array<uint32_t, kWarpSize> committed{};
  };
  struct WarpClocks {
    std::array<ThreadClock, kWarpSize> lanes;
    uint32_t agent_time = 0;
    Copies copies, bulk;
  };
  struct CtaState {
    uint32_t cta = 0, cluster = 0;
    uint32_t threads = 0;  // rounded up to warps: the first agent's number
    std::vector<std::unique_ptr<WarpClocks>> warps;
    std::array<Gatherer, 16> barriers;
    std::vector<Word> shared;
    std::unordered_map<const uint8_t*, SyncPoint> points;
    std::unordered_map<const uint8_t*, MbarrierState> mbarriers;
  };
  struct ClusterState {
    Gatherer arriving;
    Joined done;
  };
  // One access, with the clock that it is compared by.
  struct Accessor {
    Touch touch;
    const ThreadClock* clock = nullptr;
    uint16_t issuer = 0;  // of an agent: the thread; else the thread itself
    const AccessLog::Entry* entry = nullptr;
    uint32_t serial_mask = 0;  // lanes of this instruction
  };
  static constexpr uint64_t kLineBytes = 256;

  const SyncFacts& FactsOf(const Inst& inst);
  static CtaState& StateOf(Cta& cta) { return *static_cast<CtaState*>(cta.check); }
  WarpClocks& ClocksOf(WarpState& warp) { return *StateOf(*warp.cta).warps[warp.index]; }
  bool Conflicts(const Accessor& now, const Touch& then) const {
    return then.inst != nullptr && Conflicts(now, then.cta, then.thread, then.time, then.strong, then.scope);
  }
  bool Conflicts(const Accessor& now, uint32_t cta, uint32_t thread, uint32_t time, bool strong,
                 SyncScope scope) const;
  ExecResult Read(WarpState& warp, const Inst& inst, Cell& cell, const Accessor& now, uint64_t at);
  ExecResult Write(WarpState& warp, const Inst& inst, Cell& cell, const Accessor& now, uint64_t at,
                   uint32_t bytes);
  ExecResult Access(WarpState& warp, const Inst& inst, const Accessor& now, bool writes);
  ExecResult Report(WarpState& warp, const Inst& inst, const Accessor& now, const Touch& then,
                    const char* how, const char* excuse, uint64_t at);
  bool SameValue(const WarpState& warp, const Inst& inst, const Accessor& now, const Touch& then, uint64_t at,
                 uint32_t bytes) const;
  Word& WordAt(const AccessLog::Entry& entry, uint64_t address);

  ExecResult Plain(WarpState& warp, const Inst& inst, const AccessLog& log, const SyncFacts& facts);
  ExecResult Asynchronous(WarpState& warp, const Inst& inst, const AccessLog& log, const SyncFacts& facts,
                          uint32_t mask);
  void Synchronise(WarpState& warp, const AccessLog& log, const SyncFacts& facts);
  void Fence(WarpState& warp, const SyncFacts& facts, uint32_t mask);
  void WaitCopies(WarpState& warp, Copies& copies, uint32_t mask, uint32_t keep);
  ExecResult MbarrierOp(WarpState& warp, const Inst& inst, const AccessLog& log, const SyncFacts& facts,
                        uint32_t mask, ExecResult result);
  MbarrierState& MbarrierAt(const AccessLog::Entry& entry);
  static void Advance(MbarrierState& state, const uint8_t* word);
  SyncPoint& PointAt(const AccessLog::Entry& entry);
  void Join(WarpState& warp, uint32_t mask, const Joined& known);

  Launch& launch_;
  ReportSink* const sink_;
  std::unordered_map<const Inst*, SyncFacts> facts_;
  std::unordered_map<const Cta*, std::unique_ptr<CtaState>> ctas_;
  std::unordered_map<const Cluster*, ClusterState> clusters_;
  std::unordered_map<uint64_t, std::unique_ptr<Word[]>> global_;  // by line of kLineBytes
  std::unordered_map<const uint8_t*, SyncPoint> points_;          // of global memory
};

SyncFacts FindSyncFacts(const Instruction& text);

}  // namespace understudy::emu::ptx
