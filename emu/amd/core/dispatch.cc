// SPDX-License-Identifier: Apache-2.0
#include "emu/amd/core/dispatch.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "emu/amd/check/observer.h"
#include "emu/amd/core/group_runner.h"
#include "emu/amd/core/program_cache.h"
#include "emu/amd/core/workgroup.h"
#include "src/base/status.h"

#ifdef __SANITIZE_THREAD__
// Plain loads and stores of the emulated program race on its memory where the program does, as waiting for a
// flag in memory does on the hardware too; each is one access of the host's. Everything else is checked.
extern "C" const char* __tsan_default_suppressions() {
  return "race:understudy::emu::amd::PutLane\nrace:understudy::emu::amd::GetLane\n";
}
#endif

namespace understudy::emu::amd {
namespace {

// After a fault, workgroups that were started earlier get this many more instructions each to show a fault of
// their own: the fault that is reported is that of the lowest workgroup, whatever the order of turns.
constexpr uint64_t kGrace = 1 << 22;

}  // namespace

class Dispatch::Impl {
 public:
  Impl(Isa isa, const DispatchRegs& regs, AddressSpace* memory, const Options& options) : memory_(memory) {
    ProgramCache* cache = options.program_cache;
    if (cache == nullptr) cache = OwnCache(isa);
    US_CHECK(cache->isa() == isa) << "the shared program cache decodes another generation";
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
      observer_ = check::MakeStrictObserver(plan_.wave_size, options.checks);
      if (options.checks.uninit != CheckMode::kOff) plan_.options.vgpr_fill = check::UndefinedFill();
    }
    std::copy(std::begin(plan_.first_group), std::end(plan_.first_group), next_group_);
    for (int i = 0; i < 3; ++i) exhausted_ |= plan_.first_group[i] >= plan_.end_group[i];
    // The observer is called from one thread.
    const uint32_t wanted = options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
    const uint32_t threads = observer_ != nullptr ? 1 : std::clamp<uint32_t>(wanted, 1, kMaxThreads);
    for (uint32_t i = 0; i < threads; ++i) {
      runners_.emplace_back(&plan_, memory, i == 0 ? cache : OwnCache(isa), observer_.get());
    }
  }

  State Step(uint64_t max_instructions) {
    if (state_ != State::kRunning) return state_;
    budget_ = std::min(max_instructions, plan_.options.instruction_budget - stats_.wave_instructions);
    for (GroupRunner& runner : runners_) runner.BeginEpoch();
    // Counted before the first of them runs: it changes what is counted.
    const uint64_t threads = std::min<uint64_t>(runners_.size(), Parallelism());
    std::vector<std::thread> others;
    for (size_t i = 1; i < threads; ++i) {
      others.emplace_back([this, i] { Work(runners_[i]); });
    }
    Work(runners_[0]);
    for (std::thread& thread : others) thread.join();
    return state_ = Settle();
  }

  State state() const { return state_; }
  const WaveFault& fault() const { return fault_; }
  const Stats& stats() const { return stats_; }
  const std::vector<CheckReport>& reports() const {
    static const std::vector<CheckReport> kNone;
    return observer_ == nullptr ? kNone : observer_->reports();
  }

 private:
  static constexpr uint32_t kMaxThreads = 256;

  ProgramCache* OwnCache(Isa isa) {
    own_caches_.push_back(std::make_unique<ProgramCache>(isa));
    return own_caches_.back().get();
  }

  // How many threads could have work in this step.
  uint64_t Parallelism() const {
    uint64_t groups = 1;
    for (int i = 0; i < 3 && !exhausted_; ++i) {
      groups = std::min<uint64_t>(groups * (plan_.end_group[i] - plan_.first_group[i]), uint64_t{1} << 31);
    }
    return exhausted_ ? ready_.size() : std::max<uint64_t>(groups, started_ + 1) - started_ + ready_.size();
  }

  // One thread: takes a workgroup, runs its slice, gives it back, until nothing is left to do in this step.
  void Work(GroupRunner& runner) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const bool startable = !exhausted_ && !faulted_ && resident_ < plan_.max_resident;
      std::unique_ptr<Workgroup> group;
      bool fresh = false;
      if (budget_ > 0) {
        if (startable && (start_next_ || ready_.empty())) {
          group = NewGroup();
          fresh = true;
        } else if (!ready_.empty()) {
          group = std::move(ready_.front());
          ready_.pop_front();
        }
      }
      start_next_ = false;
      if (group == nullptr) {
        if (running_ == 0) break;
        changed_.wait(lock);
        continue;
      }
      uint32_t id[3];
      if (fresh) TakeNextId(*group, id);
      const uint64_t grant = std::min<uint64_t>(budget_, GroupRunner::kSlice);
      budget_ -= grant;
      ++running_;
      lock.unlock();

      uint64_t executed = 0;
      if (fresh) runner.Start(*group, id);
      const GroupRunner::Stop stop = runner.Run(*group, grant, &executed);
      WaveFault fault;
      if (stop == GroupRunner::Stop::kFault) fault = runner.Report(*group);

      lock.lock();
      --running_;
      budget_ += grant - executed;
      stats_.wave_instructions += executed;
      stats_.memory += group->TakeTraffic();
      if (fresh) stats_.waves += group->active_waves;
      TakeBack(std::move(group), stop, executed, std::move(fault));
      if (running_ == 0 || runners_.size() > 1) changed_.notify_all();
    }
    changed_.notify_all();
  }

  std::unique_ptr<Workgroup> NewGroup() {
    ++resident_;
    if (free_.empty()) return std::make_unique<Workgroup>(plan_, memory_, created_++);
    std::unique_ptr<Workgroup> group = std::move(free_.back());
    free_.pop_back();
    return group;
  }

  void TakeNextId(Workgroup& group, uint32_t id[3]) {
    std::copy(std::begin(next_group_), std::end(next_group_), id);
    group.ordinal = started_++;
    group.grace_used = 0;
    for (int i = 0; i < 3; ++i) {
      if (++next_group_[i] < plan_.end_group[i]) return;
      next_group_[i] = plan_.first_group[i];
    }
    exhausted_ = true;
  }

  void TakeBack(std::unique_ptr<Workgroup> group, GroupRunner::Stop stop, uint64_t executed,
                WaveFault fault) {
    switch (stop) {
      case GroupRunner::Stop::kDone:
        ++stats_.workgroups;
        Drop(std::move(group));
        break;
      case GroupRunner::Stop::kFault:
        if (!faulted_ || group->ordinal < fault_ordinal_) {
          fault_ = std::move(fault);
          fault_ordinal_ = group->ordinal;
          faulted_ = true;
        }
        Drop(std::move(group));
        DropLaterGroups();
        break;
      case GroupRunner::Stop::kLimit:
        if (faulted_) group->grace_used += executed;
        if (faulted_ && (group->ordinal > fault_ordinal_ || group->grace_used >= kGrace)) {
          Drop(std::move(group));
        } else if (group->slice_left == 0) {
          // A workgroup that takes this long may wait for a later one: let others in.
          start_next_ = true;
          ready_.push_back(std::move(group));
        } else {
          ready_.push_front(std::move(group));  // the step ended within its slice
        }
        break;
    }
  }

  void Drop(std::unique_ptr<Workgroup> group) {
    --resident_;
    free_.push_back(std::move(group));
  }

  void DropLaterGroups() {
    for (size_t i = ready_.size(); i-- > 0;) {
      if (ready_[i]->ordinal < fault_ordinal_) continue;
      Drop(std::move(ready_[i]));
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  State Settle() {
    if (faulted_ && ready_.empty()) return State::kFault;
    if (!faulted_ && exhausted_ && ready_.empty()) return State::kDone;
    if (stats_.wave_instructions < plan_.options.instruction_budget) return State::kRunning;
    if (!faulted_) {
      if (ready_.empty()) {
        uint32_t id[3];
        ready_.push_back(NewGroup());
        TakeNextId(*ready_.back(), id);
        runners_[0].Start(*ready_.back(), id);
      }
      const auto lowest = std::min_element(
          ready_.begin(), ready_.end(), [](const auto& a, const auto& b) { return a->ordinal < b->ordinal; });
      fault_ = runners_[0].Hang(**lowest, stats_.wave_instructions);
    }
    return State::kFault;
  }

  AddressSpace* const memory_;
  LaunchPlan plan_;
  std::vector<std::unique_ptr<ProgramCache>> own_caches_;
  std::unique_ptr<check::Observer> observer_;  // null when every check is off
  std::vector<GroupRunner> runners_;           // one a thread; the first is the caller's
  State state_ = State::kRunning;

  std::mutex mutex_;  // of all below while a step runs
  std::condition_variable changed_;
  uint64_t budget_ = 0;  // instructions left of this step
  WaveFault fault_;
  bool faulted_ = false;
  uint64_t fault_ordinal_ = 0;
  Stats stats_;
  uint32_t next_group_[3] = {0, 0, 0};
  bool exhausted_ = false;  // every workgroup was started
  bool start_next_ = false;
  uint64_t started_ = 0;
  uint32_t created_ = 0, resident_ = 0, running_ = 0;
  std::deque<std::unique_ptr<Workgroup>> ready_;  // started, and waiting for a turn
  std::vector<std::unique_ptr<Workgroup>> free_;
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
