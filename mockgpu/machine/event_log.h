// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happened in the machine, in order: a vector of small typed records. Tests compare two runs' logs for
// equality, and reports print them. Recording costs one append, or one branch when switched off.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace understudy::mockgpu {

enum class EventKind : uint8_t {
#define MACHINE_EVENT(name, text, a, b, c) name,
#include "mockgpu/machine/event_kinds.inc"
};
const char* EventKindName(EventKind kind);

// The meaning of a, b and c is in event_kinds.inc.
struct Event {
  uint64_t time_ns = 0;
  EventKind kind{};
  uint32_t actor = 0;  // Machine::ActorName; 0 is the host
  uint64_t a = 0, b = 0, c = 0;
  bool operator==(const Event&) const = default;
};

// "1200 ns  pm4 queue 1: packet queue=1 opcode=0x15 va=0x...".
std::string EventText(const Event& event, const std::string& actor_name);

class EventLog {
 public:
  // Beyond `capacity` records the log only counts.
  EventLog(bool enabled, size_t capacity) : enabled_(enabled), capacity_(capacity) {}

  bool enabled() const { return enabled_; }
  void set_enabled(bool enabled) { enabled_ = enabled; }
  void Add(const Event& event) {
    if (!enabled_) return;
    if (events_.size() < capacity_) {
      events_.push_back(event);
    } else {
      ++dropped_;
    }
  }
  const std::vector<Event>& events() const { return events_; }
  uint64_t dropped() const { return dropped_; }
  void Clear() {
    events_.clear();
    dropped_ = 0;
  }

 private:
  bool enabled_;
  size_t capacity_;
  uint64_t dropped_ = 0;
  std::vector<Event> events_;
};

}  // namespace understudy::mockgpu
