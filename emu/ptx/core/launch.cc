// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/core/launch.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "emu/ptx/check/observer.h"
#include "emu/ptx/core/launch_state.h"
#include "emu/ptx/core/scheduler.h"
#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::emu::ptx {
namespace {

// Warp instructions of a cluster's turn; and clusters that take turns unless a launch is cooperative.
constexpr uint64_t kSlice = 1 << 16;
constexpr uint32_t kMaxResident = 264;
// With a seed: clusters that take turns, and the bits of the longest such turn.
constexpr uint32_t kRandomResident = 8, kRandomSliceBits = 12;
constexpr uint64_t kDefaultStack = 64 * 1024;

absl::Status Wrong(const Launch& launch, const std::string& what) {
  return absl::InvalidArgumentError("launch of " + launch.kernel->text->name + ": " + what);
}

absl::Status Plan(Launch& launch) {
  const LaunchConfig& config = launch.config;
  const Function& text = *launch.kernel->text;
  if (!text.is_entry) return Wrong(launch, "not a kernel: expected an .entry");
  const uint32_t grid[3] = {config.grid.x, config.grid.y, config.grid.z};
  const uint32_t block[3] = {config.block.x, config.block.y, config.block.z};
  const uint32_t cluster[3] = {config.cluster.x, config.cluster.y, config.cluster.z};
  constexpr uint32_t kMaxGrid[3] = {0x7fffffff, 65535, 65535}, kMaxBlock[3] = {1024, 1024, 64};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] == 0 || grid[i] > kMaxGrid[i])
      return Wrong(launch,
                   absl::StrFormat("grid dimension %d is %d: expected 1 to %d", i, grid[i], kMaxGrid[i]));
    if (block[i] == 0 || block[i] > kMaxBlock[i])
      return Wrong(launch,
                   absl::StrFormat("block dimension %d is %d: expected 1 to %d", i, block[i], kMaxBlock[i]));
    if (cluster[i] == 0 || grid[i] % cluster[i] != 0)
      return Wrong(launch, absl::StrFormat("cluster dimension %d is %d: expected a divisor of the grid's %d",
                                           i, cluster[i], grid[i]));
    if (text.required_threads[i] != 0 && text.required_threads[i] != block[i])
      return Wrong(launch, absl::StrFormat("block dimension %d is %d: .reqntid asks for %d", i, block[i],
                                           text.required_threads[i]));
  }
  if (config.block.count() > 1024)
    return Wrong(launch,
                 absl::StrFormat("a block of %d threads: expected at most 1024", config.block.count()));
  if (config.cluster.count() > 16)
    return Wrong(launch,
                 absl::StrFormat("a cluster of %d CTAs: expected at most 16", config.cluster.count()));
  if (config.params.size() < launch.program->param_block_bytes(*launch.kernel))
    return Wrong(launch, absl::StrFormat("%d bytes of parameters: expected %d", config.params.size(),
                                         launch.program->param_block_bytes(*launch.kernel)));
  launch.clusters = Dim3{config.grid.x / config.cluster.x, config.grid.y / config.cluster.y,
                         config.grid.z / config.cluster.z};
  launch.explicit_cluster =
      config.explicit_cluster || text.explicit_cluster || text.cluster[0] != 0 || config.cluster.count() > 1;
  launch.ctas_per_cluster = static_cast<uint32_t>(config.cluster.count());
  launch.threads_per_cta = static_cast<uint32_t>(config.block.count());
  launch.warps_per_cta = (launch.threads_per_cta + kWarpSize - 1) / kWarpSize;
  launch.static_shared = launch.program->static_shared_bytes(*launch.kernel);
  const uint64_t alignment = std::max(launch.program->dynamic_shared_alignment(*launch.kernel), 16u);
  const uint64_t base = AlignUp(launch.static_shared, alignment);
  launch.dynamic_shared_base = static_cast<uint32_t>(base);
  const uint64_t shared =
      config.dynamic_shared_bytes == 0 ? launch.static_shared : base + config.dynamic_shared_bytes;
  if (shared > launch.options.device.max_shared_per_block)
    return Wrong(launch, absl::StrFormat("%d bytes of shared memory: the device has %d a block", shared,
                                         launch.options.device.max_shared_per_block));
  launch.shared_bytes = static_cast<uint32_t>(shared);
  const uint64_t own = launch.program->module_local_bytes();
  const uint64_t limit = config.local_bytes_per_thread != 0 ? config.local_bytes_per_thread : kDefaultStack;
  const uint64_t stack = launch.kernel->stack_bytes != ~uint64_t{0}
                             ? own + launch.kernel->stack_bytes + 64
                             : std::max(limit, own + StackFrameBytes(*launch.kernel));
  if (stack > 512 * 1024)
    return Wrong(launch,
                 absl::StrFormat("%d bytes of local memory a thread: expected at most 524288", stack));
  launch.local_bytes = static_cast<uint32_t>(AlignUp(stack, 16));
  return absl::OkStatus();
}

// Clusters in turn, on several host threads.
class ClusterQueue {
 public:
  explicit ClusterQueue(Launch& launch) : launch_(launch), total_(launch.clusters.count()) {
    max_resident_ = launch.config.cooperative ? total_ : kMaxResident;
    if (launch.options.seed == 0) return;
    random_ = std::make_unique<Random>(launch.options.seed);
    const uint32_t range = static_cast<uint32_t>(std::min<uint64_t>(total_, uint64_t{1} << 31));
    first_ = random_->Below(range);
    do step_ = 1 + random_->Below(range);
    while (std::gcd(step_, total_) != 1);
  }

  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!failed_) {
      std::unique_ptr<Cluster> cluster;
      bool fresh = false;
      bool can_start = next_ < total_ && resident_ < max_resident_;
      if (random_ != nullptr) {
        // Whoever has waited long lets later ones in, as without a seed.
        if (resident_ >= kRandomResident && !start_next_) can_start = false;
        start_next_ = can_start && (start_next_ || random_->Below(2) == 0);
        if (!ready_.empty())
          std::swap(ready_.front(), ready_[random_->Below(static_cast<uint32_t>(ready_.size()))]);
      }
      if (can_start && (start_next_ || ready_.empty())) {
        if (free_.empty()) {
          cluster = std::make_unique<Cluster>();
        } else {
          cluster = std::move(free_.back());
          free_.pop_back();
        }
        fresh = true;
        ++resident_;
      } else if (!ready_.empty()) {
        cluster = std::move(ready_.front());
        ready_.pop_front();
      } else if (running_ == 0) {
        break;
      } else {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
        continue;
      }
      start_next_ = false;
      const uint64_t ordinal = fresh ? (first_ + next_++ * step_) % total_ : 0;
      ++running_;
      lock.unlock();
      if (fresh) StartCluster(*cluster, launch_, ordinal);
      const uint64_t before = cluster->executed;
      const uint64_t slice =
          random_ != nullptr ? 1 + random_->Below(2u << random_->Below(kRandomSliceBits)) : kSlice;
      const Turn turn = RunCluster(*cluster, slice, random_.get());
      const uint64_t executed = cluster->executed - before;
      cluster->executed = 0;
      launch_.executed.fetch_add(executed, std::memory_order_relaxed);
      lock.lock();
      --running_;
      if (fresh) {
        stats.ctas += launch_.ctas_per_cluster;
        stats.warps += uint64_t{launch_.ctas_per_cluster} * launch_.warps_per_cta;
      }
      stats.warp_instructions += executed;
      Settle(std::move(cluster), turn);
    }
  }

  LaunchFault fault;
  LaunchStats stats;

 private:
  void Settle(std::unique_ptr<Cluster> cluster, Turn turn) {
    switch (turn) {
      case Turn::kDone:
        if (launch_.observer != nullptr) {
          launch_.observer->EndCluster(*cluster);
          if (launch_.observer->fault().kind != FaultKind::kNone) Fail(launch_.observer->fault());
        }
        --resident_;
        free_.push_back(std::move(cluster));
        return;
      case Turn::kFault:
        Fail(FaultReport(*cluster->faulted, cluster->fault, launch_));
        return;
      case Turn::kStuck:
        // Barriers and members of a warp are all within the cluster: no other can help.
        Fail(HangReport(*cluster, launch_));
        return;
      case Turn::kMore:
        break;
    }
    if (launch_.executed.load(std::memory_order_relaxed) >= launch_.options.instruction_budget) {
      LaunchFault hang = HangReport(*cluster, launch_);
      hang.kind = FaultKind::kBudget;
      hang.message = absl::StrFormat("%s of %d warp instructions; %s", FaultKindName(hang.kind),
                                     launch_.options.instruction_budget, hang.message);
      Fail(std::move(hang));
      return;
    }
    // A cluster that takes this long may wait for a later one: let others in.
    if (random_ == nullptr || ++turns_ % 64 == 0) start_next_ = true;
    ready_.push_back(std::move(cluster));
  }

  void Fail(LaunchFault report) {
    if (failed_) return;
    failed_ = true;
    fault = std::move(report);
  }

  Launch& launch_;
  std::mutex mutex_;
  const uint64_t total_;
  uint64_t max_resident_ = 0, next_ = 0, resident_ = 0, running_ = 0;
  bool failed_ = false, start_next_ = false;
  std::unique_ptr<Random> random_;
  // Clusters start in the order first, first + step ... (modulo their number).
  uint64_t first_ = 0, step_ = 1;
  uint64_t turns_ = 0;
  std::deque<std::unique_ptr<Cluster>> ready_;
  std::vector<std::unique_ptr<Cluster>> free_;
};

}  // namespace

absl::StatusOr<LaunchResult> RunLaunch(const Program& program, const BoundFunction& kernel,
                                       const LaunchConfig& config, AddressSpace* memory,
                                       const LaunchOptions& options) {
  Launch launch;
  launch.program = &program;
  launch.kernel = &kernel;
  launch.config = config;
  launch.options = options;
  launch.memory = memory;
  if (kernel.text->cluster[0] != 0 && config.cluster.count() == 1)
    launch.config.cluster = Dim3{kernel.text->cluster[0], std::max(kernel.text->cluster[1], 1u),
                                 std::max(kernel.text->cluster[2], 1u)};
  US_RETURN_IF_ERROR(Plan(launch));
  std::unique_ptr<Observer> observer;
  if (options.checks.any()) observer = MakeObserver(launch);
  launch.observer = observer.get();
  ClusterQueue queue(launch);
  const uint32_t threads = options.checks.any() || config.cooperative || options.seed != 0
                               ? 1
                               : std::min(std::max(options.threads, 1u), 256u);
  std::vector<std::thread> others;
  for (uint32_t i = 1; i < std::min<uint64_t>(threads, launch.clusters.count()); ++i)
    others.emplace_back([&queue] { queue.Work(); });
  queue.Work();
  for (std::thread& thread : others) thread.join();
  LaunchResult result;
  result.fault = std::move(queue.fault);
  result.stats = queue.stats;
  if (observer != nullptr) result.reports = observer->reports();
  return result;
}

}  // namespace understudy::emu::ptx
