// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/machine/machine.h"

#include <algorithm>
#include <utility>

namespace understudy::mockgpu {

uint32_t Machine::AddActor(Actor* actor, std::string name) {
  const uint32_t id = static_cast<uint32_t>(names_.size());
  names_.push_back(std::move(name));
  slots_.push_back({actor, id, now_});
  return id;
}

void Machine::RemoveActor(uint32_t id) {
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.id == id; }),
               slots_.end());
}

int Machine::Pick() {
  if (options_.policy == Policy::kInOrder) {
    int best = -1;
    for (size_t i = 0; i < slots_.size(); ++i) {
      if ((best < 0 || slots_[i].ready_at < slots_[best].ready_at) && slots_[i].actor->Ready())
        best = static_cast<int>(i);
    }
    return best;
  }
  ready_.clear();
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].actor->Ready()) ready_.push_back(i);
  }
  // Modulo, not a library distribution: those differ between standard libraries.
  return ready_.empty() ? -1 : static_cast<int>(ready_[random_() % ready_.size()]);
}

bool Machine::RunOne() {
  const int picked = Pick();
  if (picked < 0) return false;
  const Slot slot = slots_[picked];
  AdvanceTo(slot.ready_at);
  ++steps_;
  current_ = slot.id;
  const uint64_t cost = slot.actor->Step();
  current_ = 0;
  // The step may have added or removed actors, itself included.
  for (Slot& s : slots_) {
    if (s.id == slot.id) s.ready_at = now_ + cost;
  }
  return true;
}

bool Machine::RunUntil(const std::function<bool()>& done, uint64_t max_steps) {
  while (!done()) {
    if (max_steps-- == 0 || !RunOne()) return done();
  }
  return true;
}

bool Machine::RunUntilIdle(uint64_t max_steps) {
  while (max_steps-- > 0) {
    if (!RunOne()) return true;
  }
  return false;
}

bool Machine::RunUntilChange(uint64_t max_steps) {
  const uint64_t before = changes_;
  while (changes_ == before && max_steps-- > 0) {
    if (!RunOne()) break;
  }
  return changes_ != before;
}

int Machine::Inject(FaultPoint point, uint64_t detail) {
  if (options_.fault_plan == nullptr) return 0;
  const size_t index = static_cast<size_t>(point);
  const int answer = options_.fault_plan->At(point, detail, asked_[index]++);
  if (answer != 0) Log(EventKind::kInjected, index, detail, static_cast<uint64_t>(answer));
  return answer;
}

}  // namespace understudy::mockgpu
