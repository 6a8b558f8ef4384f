// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/check/races.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"

namespace understudy::emu::amd::check {
namespace {

constexpr int kWorkgroupBarrierId = -1;

// LDS exchanges of two values are atomic, although the executor reads and writes.
bool IsAtomic(const Facts& facts, emu::Access access) {
  if (access == emu::Access::kAtomic) return true;
  return facts.effects.unit == Unit::kLds && std::strstr(OpcodeName(facts.inst.op), "XCHG") != nullptr;
}

bool IsWorkgroupBarrier(const Inst& inst) {
  if (inst.enc == Encoding::SOPP) return inst.simm == kWorkgroupBarrierId;
  return inst.src[0].is_const() && static_cast<int32_t>(inst.src[0].imm) == kWorkgroupBarrierId;
}

}  // namespace

void RaceTracker::StartGroup(const std::vector<WaveState*>& waves) {
  groups_.push_back(std::make_unique<Group>());
  Group& group = *groups_.back();
  group.number = group_numbers_++;
  group.lds.resize(waves.empty() ? 0 : waves[0]->lds_bytes);
  for (const WaveState* wave : waves) {
    if (waves_.size() <= wave->wave_slot) waves_.resize(wave->wave_slot + 1);
    Wave& w = waves_[wave->wave_slot];
    w = Wave();
    w.group = &group;
    w.owner = ++owners_;
  }
}

void RaceTracker::EndGroup(const std::vector<WaveState*>& waves) {
  if (waves.empty()) return;
  const Group* group = waves_[waves[0]->wave_slot].group;
  for (const WaveState* wave : waves) waves_[wave->wave_slot].group = nullptr;
  groups_.erase(
      std::remove_if(groups_.begin(), groups_.end(), [group](const auto& g) { return g.get() == group; }),
      groups_.end());
}

void RaceTracker::Pass(Wave& wave) {
  ++wave.interval;
  wave.signalled = false;
  // What was not waited for may still be under way.
  for (const auto& instruction : wave.open) {
    for (const auto& [at, bytes] : instruction) {
      for (uint32_t i = at; i < at + bytes && i < wave.group->lds.size(); ++i) {
        Touch& write = wave.group->lds[i].write;
        if (write.owner == wave.owner) write.last = wave.interval;
      }
    }
  }
}

void RaceTracker::Barrier(const std::vector<WaveState*>& waves) {
  for (const WaveState* wave : waves) Pass(waves_[wave->wave_slot]);
}

RaceTracker::Byte* RaceTracker::GlobalByte(Group& group, uint64_t address) {
  auto& lines = options_.races_between_groups ? global_ : group.global;
  std::vector<Byte>& line = lines[address / kLine];
  if (line.empty()) line.resize(kLine);
  return &line[address % kLine];
}

ExecResult RaceTracker::Access(Byte& byte, const Touch& now, bool writes, bool global, uint64_t address,
                               int lane, WaveState& wave) {
  const auto conflicts = [&now, writes](const Touch& then, bool wrote) {
    if (then.facts == nullptr || then.owner == now.owner || (then.atomic && now.atomic)) return false;
    // A plain load may be an atomic one: machine code does not tell them apart.
    if ((then.atomic && !writes) || (now.atomic && !wrote)) return false;
    return then.group != now.group || std::max(then.first, now.first) <= std::min(then.last, now.last);
  };
  const Touch* other = conflicts(byte.write, true) ? &byte.write : nullptr;
  const char* how = writes ? "overwrites what" : "reads what";
  const char* done = "wrote";
  if (other == nullptr && writes) {
    for (const Touch& read : byte.reads) {
      if (conflicts(read, false)) {
        other = &read;
        done = "read";
      }
    }
  }
  ExecResult result = ExecResult::kNext;
  if (other != nullptr) {
    const std::string place = absl::StrFormat("%s 0x%x", global ? "address" : "LDS byte", address);
    const std::string who = other->group == now.group
                                ? absl::StrFormat("wave %d", other->wave)
                                : absl::StrFormat("wave %d of another workgroup", other->wave);
    result = sink_->Add(CheckKind::kRaces, wave, *now.facts, other->facts, other->wave, lane, place,
                        absl::StrFormat("%s %s %s with '%s' at pc 0x%x (%s), without a barrier between them",
                                        how, who, done, other->facts->Text(), other->facts->pc, place));
  }
  if (writes) byte.write = now;
  if (!writes || now.atomic) {
    Touch& slot =
        byte.reads[0].owner == now.owner || byte.reads[0].facts == nullptr ? byte.reads[0] : byte.reads[1];
    if (&slot == &byte.reads[1] && byte.reads[1].owner != now.owner) byte.reads[0] = byte.reads[1];
    slot = now;
  }
  return result;
}

ExecResult RaceTracker::After(const Facts& facts, const AccessLog& log, ExecResult result, WaveState& wave) {
  Wave& w = waves_[wave.wave_slot];
  if (result == ExecResult::kNext) {
    if (facts.inst.op == Opcode::S_BARRIER_WAIT && IsWorkgroupBarrier(facts.inst)) Pass(w);
    if ((facts.inst.op == Opcode::S_BARRIER_SIGNAL || facts.inst.op == Opcode::S_BARRIER_SIGNAL_ISFIRST) &&
        IsWorkgroupBarrier(facts.inst)) {
      w.signalled = true;
    }
  }
  const WaitLimits limits = WaitLimitsOf(facts.inst, 0);
  if (limits.any) {
    const int limit =
        limits.limit[static_cast<int>(wave.isa == Isa::kRdna4 ? WaitCounter::kDs : WaitCounter::kLgkm)];
    while (limit >= 0 && w.open.size() > static_cast<size_t>(limit)) w.open.pop_front();
  }
  if (log.entries.empty()) return ExecResult::kNext;
  Touch now;
  now.facts = &facts;
  now.owner = w.owner;
  now.group = w.group->number;
  now.first = w.interval;
  now.last = w.interval + (w.signalled ? 1 : 0);
  now.wave = static_cast<uint16_t>(wave.wave_in_group);
  std::vector<std::pair<uint32_t, uint32_t>> written;
  ExecResult worst = ExecResult::kNext;
  for (const AccessLog::Entry& entry : log.entries) {
    const bool writes = entry.access != emu::Access::kRead;
    now.atomic = IsAtomic(facts, entry.access);
    if (entry.space == MemorySpace::kPrivate ||
        (entry.space == MemorySpace::kGlobal && !options_.races_in_global)) {
      continue;
    }
    const bool global = entry.space == MemorySpace::kGlobal;
    for (uint64_t i = 0; i < entry.bytes; ++i) {
      const uint64_t at = entry.address + i;
      if (!global && at >= w.group->lds.size()) break;
      Byte& byte = global ? *GlobalByte(*w.group, at) : w.group->lds[at];
      if (Access(byte, now, writes, global, at, entry.lane, wave) == ExecResult::kFault)
        worst = ExecResult::kFault;
    }
    if (!global && writes) written.emplace_back(static_cast<uint32_t>(entry.address), entry.bytes);
  }
  // Atomics that are not waited for are ordered by LDS itself as far as atomics go, and by nothing for plain
  // accesses.
  if (facts.effects.unit == Unit::kLds) w.open.push_back(std::move(written));
  return worst;
}

}  // namespace understudy::emu::amd::check
