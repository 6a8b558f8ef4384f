// SPDX-License-Identifier: Apache-2.0
#pragma once
// A discrete-event simulation on one thread: a virtual clock, actors that take steps, and a scheduler that
// picks the next actor. Device models register actors and the kernel side decides when to run the machine.
// The same seed, actors and host calls give the same run. It takes no lock and never reads a real clock.

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "mockgpu/machine/event_log.h"
#include "mockgpu/machine/fault_plan.h"

namespace understudy::mockgpu {

enum class Policy : uint8_t {
  kInOrder,  // earliest virtual time first, then registration order; a queue finishes one thing before the
             // next
  kRandom,   // any ready actor, drawn from the seed; work that hardware may overlap does overlap
};

class Machine;

// Something that acts by itself: a command processor, a running dispatch, a copy engine.
class Actor {
 public:
  virtual ~Actor() = default;
  // Whether a step would get anywhere now. Asked often; may read device memory, changes nothing.
  virtual bool Ready() = 0;
  // Does one step and returns the virtual nanoseconds that it takes.
  virtual uint64_t Step() = 0;
};

class Machine {
 public:
  struct Options {
    uint64_t seed = 0;
    Policy policy = Policy::kInOrder;
    bool log_events = true;
    size_t log_capacity = size_t{1} << 20;
    FaultPlan* fault_plan = nullptr;  // not owned
  };
  explicit Machine(const Options& options)
      : options_(options), log_(options.log_events, options.log_capacity), random_(options.seed) {}

  // The machine does not own actors. Their names serve the event log and stay after removal.
  uint32_t AddActor(Actor* actor, std::string name);
  void RemoveActor(uint32_t id);
  const std::string& ActorName(uint32_t id) const { return names_[id]; }

  uint64_t now() const { return now_; }
  Policy policy() const { return options_.policy; }

  // One step of one ready actor. False when none is ready.
  bool RunOne();
  // Steps until `done()` or until no actor is ready, at most `max_steps`. True when done() holds.
  bool RunUntil(const std::function<bool()>& done, uint64_t max_steps = ~uint64_t{0});
  // Until no actor is ready. False when `max_steps` ran out first.
  bool RunUntilIdle(uint64_t max_steps = ~uint64_t{0});
  // Until an actor has called HostVisible() since the call began. False when idle first.
  bool RunUntilChange(uint64_t max_steps = ~uint64_t{0});

  // Actors call this when they have written something that the host may be waiting for.
  void HostVisible() { ++changes_; }
  uint64_t changes() const { return changes_; }
  uint64_t steps() const { return steps_; }

  // The clock moves on without any actor: a host that waits for a timer, or polls.
  void AdvanceTo(uint64_t time_ns) {
    if (time_ns > now_) now_ = time_ns;
  }

  EventLog& log() { return log_; }
  // Records under the actor whose step is running, or under the host.
  void Log(EventKind kind, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
    if (log_.enabled()) log_.Add({now_, kind, current_, a, b, c});
  }

  // The plan's answer at this point, 0 without a plan. A non-zero answer is logged.
  int Inject(FaultPoint point, uint64_t detail);

 private:
  struct Slot {
    Actor* actor;
    uint32_t id;
    uint64_t ready_at;  // virtual time at which the last step ends
  };
  // Index into slots_, or -1.
  int Pick();

  Options options_;
  EventLog log_;
  std::mt19937_64 random_;
  std::vector<Slot> slots_;
  std::vector<size_t> ready_;
  std::vector<std::string> names_{"host"};
  uint64_t asked_[8] = {};
  uint64_t now_ = 0, changes_ = 0, steps_ = 0;
  uint32_t current_ = 0;
};

}  // namespace understudy::mockgpu
