// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/check/waits.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "emu/amd/isa/wait_limits.h"

namespace understudy::emu::amd::check {
namespace {

constexpr int kUnordered = 0;

// Operations of one group of a counter finish in order; group 0 is what finishes in any order. Before RDNA4
// one counter counts all vector memory down in the order of issue. FLAT is in order with its neighbours on
// RDNA (LLVM: FeatureFlatLgkmVMemCountInOrder), and with nothing on CDNA.
int Group(const WaitEvent& event, Isa isa) {
  switch (event.stream) {
    case ReturnStream::kVectorMemory:
    case ReturnStream::kSample:
    case ReturnStream::kRayTracing:
      return 1;
    case ReturnStream::kFlat:
      if (IsCdna(isa)) return kUnordered;
      return event.counter == WaitCounter::kLgkm || event.counter == WaitCounter::kDs ? 2 : 1;
    case ReturnStream::kLds:
      return 2;
    case ReturnStream::kMessage:
      return 3;
    case ReturnStream::kGds:
      return 4;
    case ReturnStream::kExport:
      return 5;
    case ReturnStream::kLdsDirect:
      return 6;
    case ReturnStream::kScalarMemory:
    case ReturnStream::kStore:
      return kUnordered;
  }
  return kUnordered;
}

// Two operations whose results arrive in the order of issue, so that the second may overwrite the first's.
bool ArriveInOrder(const Facts& first, const Facts& second) {
  if (first.wait.count != second.wait.count || second.wait.count == 0) return false;
  for (int i = 0; i < first.wait.count; ++i) {
    const WaitEvent &a = first.wait.events[i], &b = second.wait.events[i];
    if (a.counter != b.counter || a.stream != b.stream || Group(a, first.inst.isa) == kUnordered)
      return false;
  }
  return true;
}

std::string Counters(const WaitClass& wait) {
  std::string text;
  for (int i = 0; i < wait.count; ++i) {
    if (i > 0) text += " and ";
    text += WaitCounterName(wait.events[i].counter);
  }
  return text;
}

uint64_t LanesOf(const Facts& facts, const WaveState& wave) {
  return facts.crosses_lanes ? wave.lane_mask : wave.exec();
}

}  // namespace

void WaitTracker::Start() {
  operations_.clear();
  busy_.reset();
  being_read_.reset();
  std::fill(&issued_[0][0], &issued_[0][0] + kNumWaitCounters * kGroups, 0);
}

const WaitTracker::Operation* WaitTracker::Find(int reg, uint64_t lanes, bool reads) const {
  for (auto op = operations_.rbegin(); op != operations_.rend(); ++op) {
    if (reads ? !op->facts->reads_late : !op->facts->writes_late) continue;
    for (const RegSpan& span : reads ? op->facts->reads : op->facts->writes) {
      if (reg < span.first || reg >= span.first + span.count) continue;
      if (!IsVector(reg) || (op->lanes & lanes) != 0) return &*op;
    }
  }
  return nullptr;
}

ExecResult WaitTracker::Before(const Facts& facts, WaveState& wave) {
  const Operand& source = facts.inst.src[0];
  const WaitLimits limits =
      WaitLimitsOf(facts.inst, facts.inst.enc == Encoding::SOPK && source.is_sgpr() && source.reg != kNull
                                   ? wave.sgpr[source.reg]
                                   : 0);
  if (limits.any && !operations_.empty()) Wait(limits, wave);
  if (operations_.empty()) return ExecResult::kNext;
  const uint64_t lanes = LanesOf(facts, wave);
  for (const RegSpan& span : facts.reads) {
    for (int reg = span.first; reg < span.first + span.count; ++reg) {
      if (!busy_[reg]) continue;
      const Operation* op = Find(reg, lanes, false);
      if (op == nullptr) continue;
      const uint64_t both = op->lanes & lanes;
      if (sink_->Add(
              CheckKind::kWaits, wave, facts, op->facts, wave.wave_in_group,
              IsVector(reg) ? __builtin_ctzll(both) : -1, RegName(reg),
              absl::StrFormat("reads %s, which '%s' at pc 0x%x has yet to write: no wait for %s covers it",
                              RegName(reg), op->facts->Text(), op->facts->pc, Counters(op->facts->wait))) ==
          ExecResult::kFault) {
        return ExecResult::kFault;
      }
    }
  }
  for (const RegSpan& span : facts.writes) {
    for (int reg = span.first; reg < span.first + span.count; ++reg) {
      if (busy_[reg]) {
        const Operation* op = Find(reg, lanes, false);
        if (op != nullptr && !(facts.writes_late && ArriveInOrder(*op->facts, facts)) &&
            sink_->Add(CheckKind::kWaits, wave, facts, op->facts, wave.wave_in_group,
                       IsVector(reg) ? __builtin_ctzll(op->lanes & lanes) : -1, RegName(reg),
                       absl::StrFormat(
                           "overwrites %s, which '%s' at pc 0x%x has yet to write: no wait for %s covers it",
                           RegName(reg), op->facts->Text(), op->facts->pc, Counters(op->facts->wait))) ==
                ExecResult::kFault) {
          return ExecResult::kFault;
        }
      }
      if (being_read_[reg]) {
        const Operation* op = Find(reg, lanes, true);
        if (op != nullptr &&
            sink_->Add(CheckKind::kWaits, wave, facts, op->facts, wave.wave_in_group,
                       IsVector(reg) ? __builtin_ctzll(op->lanes & lanes) : -1, RegName(reg),
                       absl::StrFormat("overwrites %s, which '%s' at pc 0x%x may not have read yet: "
                                       "no wait for expcnt covers it",
                                       RegName(reg), op->facts->Text(), op->facts->pc)) ==
                ExecResult::kFault) {
          return ExecResult::kFault;
        }
      }
    }
  }
  return ExecResult::kNext;
}

void WaitTracker::Wait(const WaitLimits& limits, WaveState& wave) {
  size_t kept = 0;
  for (size_t i = 0; i < operations_.size(); ++i) {
    Operation& op = operations_[i];
    for (int e = 0; e < op.facts->wait.count; ++e) {
      const WaitEvent& event = op.facts->wait.events[e];
      const int limit = limits.limit[static_cast<int>(event.counter)];
      if (limit < 0) continue;
      const int group = Group(event, op.facts->inst.isa);
      const uint64_t newer = issued_[static_cast<int>(event.counter)][group] - op.number[e];
      const bool covered = group == kUnordered ? limit == 0 : newer >= static_cast<uint64_t>(limit);
      if (covered) op.open &= static_cast<uint8_t>(~(1u << e));
    }
    if (op.open == 0) {
      Deliver(op, wave);
    } else {
      if (kept != i) operations_[kept] = std::move(op);
      ++kept;
    }
  }
  if (kept != operations_.size()) {
    operations_.erase(operations_.begin() + kept, operations_.end());
    Recount();
  }
}

void WaitTracker::Recount() {
  busy_.reset();
  being_read_.reset();
  for (const Operation& op : operations_) {
    if (op.facts->writes_late) {
      for (const RegSpan& span : op.facts->writes) {
        for (int reg = span.first; reg < span.first + span.count; ++reg) busy_.set(reg);
      }
    }
    if (op.facts->reads_late) {
      for (const RegSpan& span : op.facts->reads) {
        for (int reg = span.first; reg < span.first + span.count; ++reg) being_read_.set(reg);
      }
    }
  }
}

void WaitTracker::Deliver(const Operation& operation, WaveState& wave) {
  const uint32_t bits = operation.facts->late_bits;
  for (const Saved& saved : operation.saved) {
    if (!IsVector(saved.reg)) {
      if (saved.reg == kSccReg) {
        wave.scc = saved.values[0] != 0;
      } else {
        wave.sgpr[saved.reg - kFirstSgpr] = saved.values[0];
      }
      continue;
    }
    uint32_t* row = wave.Vgpr(saved.reg);
    for (uint64_t mask = operation.lanes; mask != 0; mask &= mask - 1) {
      const int lane = __builtin_ctzll(mask);
      row[lane] = (row[lane] & ~bits) | (saved.values[lane] & bits);
    }
  }
  for (const auto& [byte, value] : operation.lds) wave.lds[byte] = value;
}

void WaitTracker::After(const Facts& facts, uint64_t exec, const AccessLog& log, WaveState& wave) {
  if (facts.wait.count == 0) return;
  Operation op;
  op.facts = &facts;
  op.lanes = facts.crosses_lanes ? wave.lane_mask : exec;
  op.open = static_cast<uint8_t>((1u << facts.wait.count) - 1);
  for (int e = 0; e < facts.wait.count; ++e) {
    const WaitEvent& event = facts.wait.events[e];
    uint64_t& issued = issued_[static_cast<int>(event.counter)][Group(event, facts.inst.isa)];
    issued += event.increment;
    op.number[e] = issued;
  }
  if (!facts.writes_late && !facts.reads_late) return;
  if (facts.writes_late) {
    for (const RegSpan& span : facts.writes) {
      for (int reg = span.first; reg < span.first + span.count; ++reg) {
        if (IsVector(reg)) {
          if (op.lanes == 0) continue;
          uint32_t* row = wave.Vgpr(reg);
          op.saved.push_back({static_cast<uint16_t>(reg), std::vector<uint32_t>(row, row + wave.wave_size)});
          for (uint64_t mask = op.lanes; mask != 0; mask &= mask - 1) {
            uint32_t& value = row[__builtin_ctzll(mask)];
            value = (value & ~facts.late_bits) | (kPoison & facts.late_bits);
          }
        } else if (reg != kSccReg) {
          uint32_t& value = wave.sgpr[reg - kFirstSgpr];
          op.saved.push_back({static_cast<uint16_t>(reg), {value}});
          value = kPoison;
        }
        busy_.set(reg);
      }
    }
    // Loads from memory into LDS.
    if (facts.effects.unit == Unit::kVmem || facts.effects.unit == Unit::kFlat) {
      for (const AccessLog::Entry& entry : log.entries) {
        if (entry.space != MemorySpace::kLds || entry.access != Access::kWrite || facts.effects.store)
          continue;
        for (uint64_t byte = entry.address; byte < entry.address + entry.bytes && byte < wave.lds_bytes;
             ++byte) {
          op.lds.emplace_back(static_cast<uint32_t>(byte), wave.lds[byte]);
          wave.lds[byte] = kPoisonByte;
        }
      }
    }
  }
  if (facts.reads_late) {
    for (const RegSpan& span : facts.reads) {
      for (int reg = span.first; reg < span.first + span.count; ++reg) being_read_.set(reg);
    }
  }
  operations_.push_back(std::move(op));
}

bool WaitTracker::HasPendingLds() const {
  return std::any_of(operations_.begin(), operations_.end(),
                     [](const Operation& op) { return !op.lds.empty(); });
}

const Facts* WaitTracker::PendingLds(uint32_t byte) const {
  for (const Operation& op : operations_) {
    for (const auto& [at, value] : op.lds) {
      if (at == byte) return op.facts;
    }
  }
  return nullptr;
}

}  // namespace understudy::emu::amd::check
