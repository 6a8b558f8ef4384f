// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/core/group_runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "emu/amd/disasm/disasm.h"

namespace understudy::emu::amd {
namespace {

// A wave's turn within its workgroup. Turns do not depend on how the caller cuts the run into steps.
constexpr uint64_t kWaveQuantum = 512;

// A vector instruction while MODE.VSKIP is set.
bool SkipsVector(const WaveState& s, uint64_t named) { return (named >> 48 & 1) > (s.registers >> 48 & 1); }

ExecResult RaiseRegisters(WaveState& s, uint64_t named) {
  const struct {
    const char* file;
    char letter;
    uint32_t named, allocated;
  } files[] = {{"VGPR", 'v', static_cast<uint32_t>(named & 0x7fff), s.num_vgprs},
               {"AGPR", 'a', static_cast<uint32_t>(named >> 16 & 0x7fff), s.num_agprs},
               {"SGPR", 's', static_cast<uint32_t>(named >> 32 & 0x7fff), s.num_sgprs}};
  for (const auto& file : files) {
    if (file.named <= file.allocated) continue;
    return RaiseFault(s, FaultKind::kIllegalInstruction, -1,
                      absl::StrFormat("names %c%d, but the dispatch allocated %d %ss", file.letter,
                                      file.named - 1, file.allocated, file.file));
  }
  return ExecResult::kFault;
}

std::vector<WaveState*> WavesOf(Workgroup& group) {
  std::vector<WaveState*> waves;
  for (uint32_t i = 0; i < group.active_waves; ++i) waves.push_back(&group.waves()[i].state);
  return waves;
}
std::vector<WaveState*> WavesOf(Workgroup& group, Wave::Status status) {
  std::vector<WaveState*> waves;
  for (uint32_t i = 0; i < group.active_waves; ++i) {
    if (group.waves()[i].status == status) waves.push_back(&group.waves()[i].state);
  }
  return waves;
}

}  // namespace

void GroupRunner::BeginEpoch() {
  cache_->BeginEpoch();
  if (observer_ != nullptr) observer_->CodeChanged();
}

void GroupRunner::Start(Workgroup& group, const uint32_t id[3]) {
  group.Start(id);
  if (observer_ != nullptr) observer_->StartGroup(WavesOf(group));
}

GroupRunner::Stop GroupRunner::Run(Workgroup& group, uint64_t limit, uint64_t* executed) {
  if (group.slice_left == 0) group.slice_left = kSlice;
  limit = std::min(limit, group.slice_left);
  while (limit > 0) {
    Wave& wave = group.waves()[group.current];
    if (wave.status != Wave::Status::kReady) {
      NextWave(group);
      continue;
    }
    if (group.quantum_left == 0) group.quantum_left = kWaveQuantum;
    const uint64_t before = group.clock;
    const uint64_t most = std::min(limit, group.quantum_left);
    const ExecResult stop =
        observer_ == nullptr ? RunWave<false>(group, wave, most) : RunWave<true>(group, wave, most);
    const uint64_t ran = group.clock - before;
    *executed += ran;
    limit -= ran;
    group.slice_left -= ran;
    group.quantum_left -= ran;
    switch (stop) {
      case ExecResult::kFault:
        return Stop::kFault;
      case ExecResult::kEnd:
        EndWave(group, wave);
        if (group.running == 0) {
          if (observer_ != nullptr) observer_->EndGroup(WavesOf(group));
          return Stop::kDone;
        }
        break;
      case ExecResult::kBarrier:
        wave.status = Wave::Status::kBarrier;
        ++group.at_barrier;
        break;
      case ExecResult::kWait:
        wave.status = Wave::Status::kWaiting;
        ++group.waiting;
        break;
      case ExecResult::kYield:
        NextWave(group);
        break;
      default:
        if (group.quantum_left == 0) NextWave(group);
        break;
    }
    if (group.hw().events != group.seen_events) WakeWaiting(group);
    // Ended waves no longer take part in a barrier (RDNA3 ISA, S_BARRIER).
    if (group.at_barrier == group.running) Release(group);
    if (group.at_barrier + group.waiting == group.running) {
      RaiseFault(wave.state, FaultKind::kHang, -1, "every wave of the workgroup waits at a barrier");
      return Stop::kFault;
    }
    if (wave.status != Wave::Status::kReady) NextWave(group);
  }
  return Stop::kLimit;
}

void GroupRunner::NextWave(Workgroup& group) const {
  group.quantum_left = 0;
  group.current = (group.current + 1) % group.active_waves;
}

void GroupRunner::EndWave(Workgroup& group, Wave& wave) {
  wave.status = Wave::Status::kDone;
  --group.running;
  // A wave that has ended is no member of a split barrier any more.
  GroupHw& hw = group.hw();
  const auto leave = [&hw](int barrier) {
    SplitBarrier& b = hw.barrier[barrier];
    if (b.members > 0) --b.members;
    hw.CompleteIfFull(b);
  };
  leave(kWorkgroupBarrier);
  leave(kTrapBarrier);
  if (wave.hw.named_barrier != 0) leave(wave.hw.named_barrier);
}

void GroupRunner::Release(Workgroup& group) {
  group.at_barrier = 0;
  if (observer_ != nullptr) observer_->Barrier(WavesOf(group, Wave::Status::kBarrier));
  for (uint32_t i = 0; i < group.active_waves; ++i) {
    Wave& wave = group.waves()[i];
    if (wave.status == Wave::Status::kBarrier) wave.status = Wave::Status::kReady;
  }
}

void GroupRunner::WakeWaiting(Workgroup& group) {
  group.seen_events = group.hw().events;
  group.waiting = 0;
  for (uint32_t i = 0; i < group.active_waves; ++i) {
    Wave& wave = group.waves()[i];
    if (wave.status == Wave::Status::kWaiting) wave.status = Wave::Status::kReady;
  }
}

// The inner loop. Returns kNext when `limit` instructions were executed, else why the wave stopped.
template <bool kChecked>
ExecResult GroupRunner::RunWave(Workgroup& group, Wave& wave, uint64_t limit) {
  WaveState& s = wave.state;
  const uint64_t start = group.clock;
  s.clock = start;
  const uint64_t end = start + limit;
  uint64_t page_base = 0;
  ProgramCache::Page* page = nullptr;
  ExecResult result = ExecResult::kNext;
  while (s.clock != end) {
    const uint64_t pc = s.pc;
    if (page == nullptr || pc - page_base >= ProgramCache::kPageBytes) {
      page = cache_->FindPage(pc, s.wave_size, *memory_);
      page_base = pc & ~(ProgramCache::kPageBytes - 1);
    }
    const ProgramEntry* entry = page->slot[(pc & (ProgramCache::kPageBytes - 1)) / 4];
    if (entry == nullptr) [[unlikely]] {
      FaultKind kind = FaultKind::kNone;
      std::string why;
      entry = cache_->Fill(*page, pc, *memory_, &kind, &why);
      if (entry == nullptr) {
        if (kind == FaultKind::kMemory) {
          RaiseMemoryFault(s, pc, 4, Access::kExecute, -1);
        } else {
          RaiseFault(s, kind, -1, std::move(why));
        }
        result = ExecResult::kFault;
        break;
      }
    }
    if (!FitsRegisters(s.registers, entry->registers)) [[unlikely]] {
      if (SkipsVector(s, entry->registers)) {
        ++s.clock;
        s.pc = pc + entry->size;
        continue;
      }
      result = RaiseRegisters(s, entry->registers);
      break;
    }
    ++s.clock;
    if constexpr (kChecked) {
      result = observer_->Before(entry->inst, entry->fn, s);
      if (result == ExecResult::kFault) break;
      result = entry->fn(entry->inst, s);
      if (result != ExecResult::kFault &&
          observer_->After(entry->inst, pc, result, s) == ExecResult::kFault) {
        s.pc = pc;
        result = ExecResult::kFault;
      }
    } else {
      result = entry->fn(entry->inst, s);
    }
    if (result == ExecResult::kNext) [[likely]] {
      s.pc = pc + entry->size;
      continue;
    }
    if (result == ExecResult::kBranch) {
      if ((s.pc & 3) != 0) [[unlikely]] {
        const uint64_t target = std::exchange(s.pc, pc);
        result = RaiseMisaligned(s, target, 4, Access::kExecute, -1);
        break;
      }
      continue;
    }
    if (result == ExecResult::kFault || result == ExecResult::kWait) break;
    if (result == ExecResult::kFlushCode) {
      s.pc = pc + entry->size;
      cache_->Invalidate();
      if constexpr (kChecked) observer_->CodeChanged();
      page = nullptr;
      continue;
    }
    s.pc = pc + entry->size;
    break;
  }
  group.clock = s.clock;
  if (result == ExecResult::kBranch || result == ExecResult::kFlushCode) result = ExecResult::kNext;
  return result;
}

WaveFault GroupRunner::Report(Workgroup& group) const {
  const WaveState& s = group.waves()[group.current].state;
  const PendingFault& pending = *s.fault;
  WaveFault fault;
  fault.kind = pending.kind;
  fault.pc = s.pc;
  std::copy(std::begin(s.workgroup), std::end(s.workgroup), fault.workgroup);
  fault.wave = s.wave_in_group;
  fault.lane = pending.lane;
  fault.exec = s.exec();
  fault.memory = pending.memory;
  fault.text = Disassemble(s.pc);
  std::string where = absl::StrFormat("workgroup (%d,%d,%d) wave %d", fault.workgroup[0], fault.workgroup[1],
                                      fault.workgroup[2], fault.wave);
  if (fault.lane >= 0) absl::StrAppendFormat(&where, " lane %d", fault.lane);
  fault.message = absl::StrFormat("%s at pc 0x%x (%s) in %s: %s", FaultKindName(fault.kind), fault.pc,
                                  fault.text, where, pending.message);
  return fault;
}

WaveFault GroupRunner::Hang(Workgroup& group, uint64_t instructions) const {
  RaiseFault(group.waves()[group.current].state, FaultKind::kHang, -1,
             absl::StrFormat("not finished after %d wave instructions", instructions));
  return Report(group);
}

std::string GroupRunner::Disassemble(uint64_t pc) const {
  uint8_t bytes[16];
  for (uint64_t n : {16, 12, 8, 4}) {
    if (!memory_->Read(pc, bytes, n, Access::kExecute)) continue;
    Inst inst;
    if (DecodeInto(plan_->isa, bytes, n, &inst).ok()) return Text(inst, {.wave_size = plan_->wave_size});
    return absl::StrFormat("bytes %02x %02x %02x %02x", bytes[0], bytes[1], bytes[2], bytes[3]);
  }
  return "not readable";
}

}  // namespace understudy::emu::amd
