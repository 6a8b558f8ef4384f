// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/core/dispatch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "emu/amd/check/observer.h"
#include "emu/amd/core/program_cache.h"
#include "emu/amd/core/workgroup.h"
#include "emu/amd/disasm/disasm.h"
#include "src/base/status.h"

namespace understudy::emu::amd {
namespace {

// A wave's turn within its workgroup, and a workgroup's turn before the next one is started or resumed.
// Turns do not depend on how the caller cuts the run into steps.
constexpr uint64_t kWaveQuantum = 512;
constexpr uint64_t kWorkgroupSlice = 1 << 16;

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

}  // namespace

class Dispatch::Impl {
 public:
  Impl(Isa isa, const DispatchRegs& regs, AddressSpace* memory, const Options& options) : memory_(memory) {
    cache_ = options.program_cache;
    if (cache_ == nullptr) {
      own_cache_ = std::make_unique<ProgramCache>(isa);
      cache_ = own_cache_.get();
    }
    US_CHECK(cache_->isa() == isa) << "the shared program cache decodes another generation";
    std::string wrong = plan_.Decode(isa, regs, options);
    if (wrong.empty() && regs.pgm_addr % 256 != 0) {
      wrong = absl::StrFormat("program address 0x%x is not a multiple of 256", regs.pgm_addr);
    }
    if (!wrong.empty()) {
      fault_.kind = FaultKind::kBadDispatch;
      fault_.pc = regs.pgm_addr;
      fault_.message = absl::StrFormat("%s: %s", FaultKindName(fault_.kind), wrong);
      state_ = State::kFault;
      return;
    }
    if (options.checks.any()) {
      observer_ = check::MakeStrictObserver(isa, plan_.wave_size, options.checks, options.vgpr_fill);
    }
    std::copy(std::begin(plan_.first_group), std::end(plan_.first_group), next_group_);
    for (int i = 0; i < 3; ++i) exhausted_ |= plan_.first_group[i] >= plan_.end_group[i];
  }

  State Step(uint64_t max_instructions) {
    if (state_ != State::kRunning) return state_;
    cache_->BeginEpoch();
    if (observer_ != nullptr) observer_->CodeChanged();
    uint64_t left = max_instructions;
    for (;;) {
      if (resident_.empty()) {
        if (exhausted_) return state_ = State::kDone;
        StartGroup();
      }
      if (left == 0) return state_;
      Workgroup& group = *resident_[current_];
      const uint64_t before = stats_.wave_instructions;
      const uint64_t room = plan_.options.instruction_budget - before;
      if (!RunGroup(group, std::min(left, room))) return state_ = State::kFault;
      left -= stats_.wave_instructions - before;
      if (group.running == 0) {
        Retire();
      } else if (stats_.wave_instructions >= plan_.options.instruction_budget) {
        Hang(group);
        return state_ = State::kFault;
      } else if (group.slice_left == 0) {
        // A workgroup that takes this long may wait for a later one: let others in.
        if (!exhausted_ && resident_.size() < plan_.max_resident) {
          StartGroup();
        } else {
          current_ = (current_ + 1) % resident_.size();
        }
      }
    }
  }

  State state() const { return state_; }
  const WaveFault& fault() const { return fault_; }
  const Stats& stats() const { return stats_; }
  const std::vector<CheckReport>& reports() const {
    static const std::vector<CheckReport> kNone;
    return observer_ == nullptr ? kNone : observer_->reports();
  }

 private:
  void StartGroup() {
    std::unique_ptr<Workgroup> group;
    if (!free_.empty()) {
      group = std::move(free_.back());
      free_.pop_back();
    } else {
      group = std::make_unique<Workgroup>(plan_, memory_, created_++);
    }
    group->Start(next_group_);
    stats_.waves += group->active_waves;
    if (observer_ != nullptr) observer_->StartGroup(WavesOf(*group));
    resident_.push_back(std::move(group));
    current_ = resident_.size() - 1;
    for (int i = 0; i < 3; ++i) {
      if (++next_group_[i] < plan_.end_group[i]) return;
      next_group_[i] = plan_.first_group[i];
    }
    exhausted_ = true;
  }

  void Retire() {
    ++stats_.workgroups;
    if (observer_ != nullptr) observer_->EndGroup(WavesOf(*resident_[current_]));
    free_.push_back(std::move(resident_[current_]));
    resident_.erase(resident_.begin() + current_);
    if (current_ >= resident_.size()) current_ = 0;
  }

  // Runs the waves of the group in turn, for at most `limit` instructions of the group's slice. False on a
  // fault.
  bool RunGroup(Workgroup& group, uint64_t limit) {
    if (group.slice_left == 0) group.slice_left = kWorkgroupSlice;
    limit = std::min(limit, group.slice_left);
    while (limit > 0 && group.running > 0) {
      Wave& wave = group.waves()[group.current];
      if (wave.status != Wave::Status::kReady) {
        NextWave(group);
        continue;
      }
      if (group.quantum_left == 0) group.quantum_left = kWaveQuantum;
      const uint64_t before = stats_.wave_instructions;
      const uint64_t most = std::min(limit, group.quantum_left);
      const ExecResult stop = observer_ == nullptr ? RunWave<false>(wave, most) : RunWave<true>(wave, most);
      const uint64_t executed = stats_.wave_instructions - before;
      limit -= executed;
      group.slice_left -= executed;
      group.quantum_left -= executed;
      switch (stop) {
        case ExecResult::kFault:
          Report(wave);
          return false;
        case ExecResult::kEnd:
          wave.status = Wave::Status::kDone;
          --group.running;
          break;
        case ExecResult::kBarrier:
          wave.status = Wave::Status::kBarrier;
          ++group.at_barrier;
          break;
        case ExecResult::kYield:
        case ExecResult::kWait:
          NextWave(group);
          continue;
        default:
          if (group.quantum_left == 0) NextWave(group);
          continue;
      }
      // Ended waves no longer take part in a barrier (RDNA3 ISA, S_BARRIER).
      if (group.at_barrier == group.running) Release(group);
      NextWave(group);
    }
    return true;
  }

  static void NextWave(Workgroup& group) {
    group.quantum_left = 0;
    group.current = (group.current + 1) % group.active_waves;
  }

  void Release(Workgroup& group) {
    group.at_barrier = 0;
    if (observer_ != nullptr) observer_->Barrier(WavesOf(group, Wave::Status::kBarrier));
    for (uint32_t i = 0; i < group.active_waves; ++i) {
      Wave& wave = group.waves()[i];
      if (wave.status == Wave::Status::kBarrier) wave.status = Wave::Status::kReady;
    }
  }

  static std::vector<WaveState*> WavesOf(Workgroup& group) {
    std::vector<WaveState*> waves;
    for (uint32_t i = 0; i < group.active_waves; ++i) waves.push_back(&group.waves()[i].state);
    return waves;
  }
  static std::vector<WaveState*> WavesOf(Workgroup& group, Wave::Status status) {
    std::vector<WaveState*> waves;
    for (uint32_t i = 0; i < group.active_waves; ++i) {
      if (group.waves()[i].status == status) waves.push_back(&group.waves()[i].state);
    }
    return waves;
  }

  // The inner loop. Returns kNext when `limit` instructions were executed, else why the wave stopped.
  template <bool kChecked>
  ExecResult RunWave(Wave& wave, uint64_t limit) {
    WaveState& s = wave.state;
    const uint64_t start = stats_.wave_instructions;
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
        result = RaiseRegisters(s, entry->registers);
        break;
      }
      ++s.clock;
      if constexpr (kChecked) {
        result = observer_->Before(entry->inst, entry->fn, s);
        if (result == ExecResult::kFault) break;
        result = entry->fn(entry->inst, s);
        if (result != ExecResult::kFault &&
            observer_->After(entry->inst, entry->fn, pc, s) == ExecResult::kFault) {
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
    stats_.wave_instructions = s.clock;
    if (result == ExecResult::kBranch || result == ExecResult::kFlushCode) result = ExecResult::kNext;
    return result;
  }

  void Report(Wave& wave) {
    const WaveState& s = wave.state;
    const PendingFault& pending = *s.fault;
    fault_.kind = pending.kind;
    fault_.pc = s.pc;
    std::copy(std::begin(s.workgroup), std::end(s.workgroup), fault_.workgroup);
    fault_.wave = s.wave_in_group;
    fault_.lane = pending.lane;
    fault_.exec = s.exec();
    fault_.memory = pending.memory;
    fault_.text = Disassemble(s.pc);
    std::string where = absl::StrFormat("workgroup (%d,%d,%d) wave %d", fault_.workgroup[0],
                                        fault_.workgroup[1], fault_.workgroup[2], fault_.wave);
    if (fault_.lane >= 0) absl::StrAppendFormat(&where, " lane %d", fault_.lane);
    fault_.message = absl::StrFormat("%s at pc 0x%x (%s) in %s: %s", FaultKindName(fault_.kind), fault_.pc,
                                     fault_.text, where, pending.message);
  }

  void Hang(Workgroup& group) {
    Wave& wave = group.waves()[group.current];
    RaiseFault(wave.state, FaultKind::kHang, -1,
               absl::StrFormat("not finished after %d wave instructions", stats_.wave_instructions));
    Report(wave);
  }

  std::string Disassemble(uint64_t pc) {
    uint8_t bytes[16];
    for (uint64_t n : {16, 12, 8, 4}) {
      if (!memory_->Read(pc, bytes, n, Access::kExecute)) continue;
      Inst inst;
      if (DecodeInto(cache_->isa(), bytes, n, &inst).ok()) return Text(inst, {.wave_size = plan_.wave_size});
      return absl::StrFormat("bytes %02x %02x %02x %02x", bytes[0], bytes[1], bytes[2], bytes[3]);
    }
    return "not readable";
  }

  AddressSpace* const memory_;
  ProgramCache* cache_ = nullptr;
  std::unique_ptr<ProgramCache> own_cache_;
  LaunchPlan plan_;
  std::unique_ptr<check::Observer> observer_;  // null when every check is off
  State state_ = State::kRunning;
  WaveFault fault_;
  Stats stats_;
  uint32_t next_group_[3] = {0, 0, 0};
  bool exhausted_ = false;  // every workgroup was started
  uint32_t created_ = 0;
  std::vector<std::unique_ptr<Workgroup>> resident_, free_;
  size_t current_ = 0;
};

Dispatch::Dispatch(Isa isa, const DispatchRegs& regs, AddressSpace* memory, const Options& options)
    : impl_(std::make_unique<Impl>(isa, regs, memory, options)) {}
Dispatch::~Dispatch() = default;
Dispatch::State Dispatch::Step(uint64_t max_instructions) { return impl_->Step(max_instructions); }
Dispatch::State Dispatch::state() const { return impl_->state(); }
const WaveFault& Dispatch::fault() const { return impl_->fault(); }
const Dispatch::Stats& Dispatch::stats() const { return impl_->stats(); }
const std::vector<CheckReport>& Dispatch::reports() const { return impl_->reports(); }

}  // namespace understudy::emu::amd
