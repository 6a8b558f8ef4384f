// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who knows what of whom: for each thread, how far every other thread had come at its last release that this
// one has acquired. The race check compares accesses by it; it knows nothing of memory.
//
// Threads of a CTA are numbered as in the block, rounded up to warps; behind them comes one agent for each
// warp, which stands for the copies that the warp has started. Threads that have synchronised share one
// vector.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace understudy::emu::ptx {

// By thread; never changed once shared.
using Times = std::shared_ptr<const std::vector<uint32_t>>;

// The larger of both for each thread; one of them where it covers the other.
Times Merge(const Times& a, const Times& b);
Times WithTime(const Times& times, uint32_t thread, uint32_t time);

// Knowledge gathered of several threads: of a barrier, of a location that synchronises.
class Joined {
 public:
  struct Part {
    uint32_t cta = 0;
    Times times;
  };

  bool empty() const { return parts_.empty(); }
  void Clear() { parts_.clear(); }
  const std::vector<Part>& parts() const { return parts_; }
  const Times* Find(uint32_t cta) const;
  void Add(uint32_t cta, const Times& times);
  void Add(const Joined& other) {
    for (const Part& part : other.parts_) Add(part.cta, part.times);
  }

 private:
  std::vector<Part> parts_;  // by CTA
};

struct ThreadClock {
  Times own;                             // of the threads of its CTA
  std::shared_ptr<const Joined> others;  // of other CTAs; null: nothing
  uint32_t time = 1;                     // its own, which others learn of by its next release
  // What a strong write publishes since the last fence, and what strong reads have seen that a fence would
  // acquire; with the fence's scope.
  std::shared_ptr<const Joined> release, seen;
  uint8_t release_scope = 0;
};

// Whether `clock`, of a thread of `cta`, knows that thread (in_cta, thread) has come to `time`.
inline bool Covers(const ThreadClock& clock, uint32_t cta, uint32_t in_cta, uint32_t thread, uint32_t time) {
  if (in_cta == cta) return (*clock.own)[thread] >= time;
  if (clock.others == nullptr) return false;
  const Times* times = clock.others->Find(in_cta);
  return times != nullptr && thread < (*times)->size() && (**times)[thread] >= time;
}

// Joins that several threads make with the same things, each made once.
class ClockJoiner {
 public:
  explicit ClockJoiner(uint32_t cta) : cta_(cta) {}
  // `own_only`: nothing of other CTAs.
  void Acquire(const Joined& from, bool own_only, ThreadClock* clock);

 private:
  const uint32_t cta_;
  struct Done {
    Times from, with, to;
  };
  std::vector<Done> own_;
  struct OthersDone {
    std::shared_ptr<const Joined> from;
    const Joined* with;
    std::shared_ptr<const Joined> to;
  };
  std::vector<OthersDone> others_;
};

// Collects threads of one CTA that release together.
class Gatherer {
 public:
  // The thread's knowledge and its own time, which then goes on.
  void Add(uint32_t cta, uint32_t thread, ThreadClock* clock);
  // What has been added, for those who acquire it.
  const Joined& Result();
  std::shared_ptr<const Joined> release() const { return release_; }
  void Clear();

 private:
  struct Open {
    uint32_t cta = 0;
    Times last;                   // merged last: most threads bring the same
    std::vector<uint32_t> times;  // the join so far
  };
  std::vector<Open> open_;
  std::shared_ptr<const Joined> last_others_;
  Joined others_, result_;
  std::shared_ptr<const Joined> release_;
};

}  // namespace understudy::emu::ptx
