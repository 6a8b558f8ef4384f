// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which bits of registers, shared, local and (on request) global memory were ever written, and what was
// computed from others: a set bit is undefined. Reported where an undefined bit decides something: an
// address, a branch, who meets at a barrier, or a store to global memory. Copies to registers, shared, local
// and parameter memory carry it along. After a report the value counts as defined.
//
// Precision, for each lane: bit by bit through moves, packing, integer conversions, shifts and permutations
// by defined amounts, bitwise operations (an `and` with a defined 0 is defined, lop3 by its table),
// selections, shuffles and memory; from the lowest undefined bit upwards through integer sums and low
// products; all bits of a result of anything else. The exclusive or, and the difference, of a register with
// itself is defined. A shuffle from a lane that does not execute gives undefined bits. Matrix products: every
// element depends on all of A and B.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emu/ptx/check/access_log.h"
#include "emu/ptx/check/report_sink.h"
#include "emu/ptx/core/cta.h"

namespace understudy::emu::ptx {

// What the check asks of an instruction, worked out once.
struct DefinedFacts {
  enum class Rule : uint8_t {
    kAny,      // every bit of the results depends on every bit of the sources
    kNothing,  // results, if any, are defined
    kRoute,    // bits go where the control operands say: the executor itself moves the undefined bits
    kShuffle,
    kSelect,
    kTable,  // bitwise by a truth table of up to three sources
    kSum,    // undefined from the lowest undefined bit upwards
    kCarry,  // sums with the carry flag
    kVote,
    kBallot,
    kWarp,  // every lane's result depends on all lanes
    kMatrix,
    kWgmma,
    kLoad,
    kStore,
    kAtomic,
    kLoadMatrix,
    kStoreMatrix,
    kLoadWmma,
    kStoreWmma,
    kCopy,     // asynchronous
    kWritten,  // what it accesses is defined afterwards
    kCall,
    kReturn,
  } rule = Rule::kAny;
  struct Use {
    Src row;
    int operand = 0;
    const char* what = "";  // "the address"
  };
  std::vector<Src> dests, sources;
  std::vector<Use> uses;
  std::vector<int> control;  // operands of kRoute
  bool guard_decides = false;
  bool reads_carry = false, writes_carry = false;
  uint8_t table = 0;
  // kRoute: the operands with data from the shadow rows and control values from `scratch`.
  std::vector<BoundOperand> operands;
  std::vector<std::vector<BoundOperand>> nested;
};

class DefinedChecker {
 public:
  DefinedChecker(Launch& launch, ReportSink* sink);

  void StartWarp(WarpState& warp);
  void EndCluster(Cluster& cluster);
  void NewFrame(WarpState& warp, FrameState& frame, uint32_t mask);
  ExecResult Guard(WarpState& warp, const Inst& inst, uint32_t lanes);
  // Before and after the lanes in `mask` execute it. A warp-synchronous instruction's guard and addresses are
  // looked at when its lanes come.
  ExecResult Before(WarpState& warp, const Inst& inst);
  ExecResult After(WarpState& warp, const Inst& inst, const AccessLog& log, uint32_t mask, ExecResult result);
  // A warp-synchronous instruction of groups at several places.
  void Gathered(WarpState& warp, uint32_t mask);

 private:
  struct FrameBits {
    std::unique_ptr<uint64_t[]> storage;
    uint8_t* rows = nullptr;  // as Frame::rows
    std::vector<uint8_t> params;
    std::unordered_map<uint32_t, const Inst*> origin;  // of rows, by offset: what loaded undefined memory
  };
  struct WarpBits {
    std::unordered_map<uint64_t, std::vector<uint8_t>> local;  // by lane and block; absent: undefined
    uint32_t carry = ~0u;
  };
  static constexpr uint64_t kBlock = 256;
  static constexpr uint32_t kScratchRow = 512;

  const DefinedFacts& FactsOf(const Inst& inst);
  static FrameBits& Of(const Frame& frame) {
    return *static_cast<FrameBits*>(static_cast<const FrameState&>(frame).check);
  }
  static WarpBits& Of(const WarpState& warp) { return *static_cast<WarpBits*>(warp.check); }

  // Lanes of `mask` in which the row has an undefined bit.
  static uint32_t AnyOf(const FrameBits& bits, Src row, uint32_t mask);
  static uint64_t Get(const FrameBits& bits, Src row, int lane, int half = 0);
  static void Set(FrameBits& bits, Src row, int lane, uint64_t value, int half = 0);
  // The lanes of `mask`: all bits undefined where `undefined` says so, else none.
  static void SetAll(FrameBits& bits, Src row, uint32_t mask, uint32_t undefined);
  // What the undefined bits of the sources come from; and, once the results are worked out, theirs.
  static const Inst* OriginOf(const FrameBits& bits, const DefinedFacts& facts, uint32_t mask);
  static void SetOrigin(FrameBits& bits, const DefinedFacts& facts, uint32_t mask, const Inst* origin);

  void Route(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask);
  void Table(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask);
  void Lanes(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask);
  void Matrix(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask);
  void Select(WarpState& warp, const Inst& inst, const DefinedFacts& facts, uint32_t mask);

  uint8_t* MemoryByte(WarpState& warp, const AccessLog::Entry& entry, uint64_t offset, uint8_t* spare);
  uint64_t LoadBits(WarpState& warp, const AccessLog::Entry& entry, uint64_t offset, uint32_t bytes);
  void StoreBits(WarpState& warp, const AccessLog::Entry& entry, uint64_t offset, uint32_t bytes,
                 uint64_t bits);
  uint8_t* LocalByte(WarpBits& bits, int lane, uint64_t offset);
  void Load(WarpState& warp, const Inst& inst, const AccessLog& log);
  ExecResult Store(WarpState& warp, const Inst& inst, const AccessLog& log);
  ExecResult Atomic(WarpState& warp, const Inst& inst, const AccessLog& log);
  ExecResult Copy(WarpState& warp, const Inst& inst, const AccessLog& log);
  ExecResult Fragments(WarpState& warp, const Inst& inst, const DefinedFacts& facts, const AccessLog& log);
  ExecResult WmmaFragments(WarpState& warp, const Inst& inst, bool store, const AccessLog& log);
  void Enter(WarpState& warp, const Inst& inst, const Frame& caller);
  void Leave(WarpState& warp, uint32_t mask);

  ExecResult Report(WarpState& warp, const Inst& inst, int lane, FrameBits& bits, Src row, int operand,
                    const char* what);
  std::string RegisterName(const WarpState& warp, Src row) const;

  Launch& launch_;
  ReportSink* const sink_;
  std::unordered_map<const Inst*, std::unique_ptr<DefinedFacts>> facts_;
  std::unordered_map<const BoundFunction*, std::vector<uint64_t>> fresh_;  // rows of a new frame
  std::unordered_map<const FrameState*, std::unique_ptr<FrameBits>> frames_;
  std::unordered_map<const WarpState*, std::unique_ptr<WarpBits>> warps_;
  std::unordered_map<const Cta*, std::vector<uint8_t>> shared_;
  std::unique_ptr<uint64_t[]> scratch_storage_;
  uint8_t* scratch_ = nullptr;  // a row of zeros, then the control operands
  // Of the instruction between Before and After.
  uint32_t late_ = 0;                                   // lanes whose guard is undefined
  std::array<uint64_t, kWarpSize * 8> operand_bits_{};  // of an atomic
};

std::unique_ptr<DefinedFacts> FindDefinedFacts(const Inst& inst);

}  // namespace understudy::emu::ptx
