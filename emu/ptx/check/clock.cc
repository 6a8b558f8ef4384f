// SPDX-License-Identifier: Apache-2.0
#include "emu/ptx/check/clock.h"

#include <algorithm>

namespace understudy::emu::ptx {

Times Merge(const Times& a, const Times& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  bool a_less = false, b_less = a->size() > b->size();
  const size_t common = std::min(a->size(), b->size());
  if (a->size() < b->size()) a_less = true;
  for (size_t i = 0; i < common; ++i) {
    a_less = a_less || (*a)[i] < (*b)[i];
    b_less = b_less || (*b)[i] < (*a)[i];
  }
  if (!a_less) return a;
  if (!b_less) return b;
  auto both = std::make_shared<std::vector<uint32_t>>(a->size() < b->size() ? *b : *a);
  for (size_t i = 0; i < common; ++i) (*both)[i] = std::max((*a)[i], (*b)[i]);
  return both;
}

Times WithTime(const Times& times, uint32_t thread, uint32_t time) {
  if ((*times)[thread] >= time) return times;
  auto next = std::make_shared<std::vector<uint32_t>>(*times);
  (*next)[thread] = time;
  return next;
}

const Times* Joined::Find(uint32_t cta) const {
  const auto it = std::lower_bound(parts_.begin(), parts_.end(), cta,
                                   [](const Part& part, uint32_t wanted) { return part.cta < wanted; });
  return it != parts_.end() && it->cta == cta ? &it->times : nullptr;
}

void Joined::Add(uint32_t cta, const Times& times) {
  const auto it = std::lower_bound(parts_.begin(), parts_.end(), cta,
                                   [](const Part& part, uint32_t wanted) { return part.cta < wanted; });
  if (it != parts_.end() && it->cta == cta)
    it->times = Merge(it->times, times);
  else
    parts_.insert(it, Part{cta, times});
}

void ClockJoiner::Acquire(const Joined& from, bool own_only, ThreadClock* clock) {
  const Times* own = from.Find(cta_);
  if (own != nullptr && *own != clock->own) {
    const auto it = std::find_if(own_.begin(), own_.end(),
                                 [&](const Done& d) { return d.from == clock->own && d.with == *own; });
    if (it != own_.end()) {
      clock->own = it->to;
    } else {
      const Times to = Merge(clock->own, *own);
      own_.push_back({clock->own, *own, to});
      clock->own = to;
    }
  }
  if (own_only || from.parts().size() == (own != nullptr ? 1u : 0u)) return;
  const auto it = std::find_if(others_.begin(), others_.end(), [&](const OthersDone& d) {
    return d.from == clock->others && d.with == &from;
  });
  if (it != others_.end()) {
    clock->others = it->to;
    return;
  }
  auto next = std::make_shared<Joined>();
  if (clock->others != nullptr) *next = *clock->others;
  for (const Joined::Part& part : from.parts())
    if (part.cta != cta_) next->Add(part.cta, part.times);
  others_.push_back({clock->others, &from, next});
  clock->others = std::move(next);
}

void Gatherer::Add(uint32_t cta, uint32_t thread, ThreadClock* clock) {
  auto it = std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.cta == cta; });
  if (it == open_.end()) {
    open_.push_back(Open{cta, clock->own, *clock->own});
    it = open_.end() - 1;
  } else if (it->last != clock->own) {
    for (size_t i = 0; i < it->times.size(); ++i) it->times[i] = std::max(it->times[i], (*clock->own)[i]);
    it->last = clock->own;
  }
  it->times[thread] = std::max(it->times[thread], clock->time);
  ++clock->time;
  if (clock->others != nullptr && clock->others != last_others_) {
    others_.Add(*clock->others);
    last_others_ = clock->others;
  }
  if (clock->release != nullptr && clock->release != release_) {
    if (release_ == nullptr) {
      release_ = clock->release;
    } else {
      auto both = std::make_shared<Joined>(*release_);
      both->Add(*clock->release);
      release_ = std::move(both);
    }
  }
}

const Joined& Gatherer::Result() {
  result_.Clear();
  result_.Add(others_);
  for (const Open& open : open_)
    result_.Add(open.cta, std::make_shared<const std::vector<uint32_t>>(open.times));
  return result_;
}

void Gatherer::Clear() { *this = Gatherer(); }

}  // namespace understudy::emu::ptx
