// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/events.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace understudy::mockgpu::amd {
namespace {

constexpr uint64_t kUnsignaledSlot = ~uint64_t{0};
// Exception events take ids above the slots (kfd_events.h).
constexpr uint32_t kFirstNonSignalId = KFD_SIGNAL_EVENT_LIMIT;
constexpr uint32_t kLastNonSignalId = 0x7fffffff;

bool HasSlot(uint32_t type) { return type == KFD_IOC_EVENT_SIGNAL || type == KFD_IOC_EVENT_DEBUG_EVENT; }

}  // namespace

EventTable::Waiter::~Waiter() {
  for (const auto& entry : entries_) {
    if (entry->event != nullptr) entry->event->waiters.remove(entry.get());
  }
}

EventTable::KfdEvent* EventTable::Find(uint32_t id) {
  const auto it = events_.find(id);
  return it == events_.end() ? nullptr : &it->second;
}

void EventTable::SetPage(uint64_t* slots, uint64_t bytes) {
  slots_ = slots;
  slot_count_ = std::min<uint64_t>(bytes / 8, KFD_SIGNAL_EVENT_LIMIT);
  std::memset(slots_, 0xff, slot_count_ * 8);
}

int EventTable::Create(uint32_t type, bool auto_reset, uint32_t* event_id) {
  uint32_t id = 0;
  if (HasSlot(type)) {
    if (signal_events_ >= slot_count_) return -ENOSPC;
    for (id = 1; events_.count(id) != 0; ++id) {
    }
    __atomic_store_n(&slots_[id], kUnsignaledSlot, __ATOMIC_RELEASE);
    ++signal_events_;
  } else {
    for (id = kFirstNonSignalId; events_.count(id) != 0; ++id) {
      if (id == kLastNonSignalId) return -ENOSPC;
    }
  }
  KfdEvent& event = events_[id];
  event.id = id;
  event.type = type;
  event.auto_reset = auto_reset;
  *event_id = id;
  return 0;
}

int EventTable::Destroy(uint32_t event_id) {
  KfdEvent* event = Find(event_id);
  if (event == nullptr) return -EINVAL;
  // Waiters wake and fail.
  for (Entry* entry : event->waiters) entry->event = nullptr;
  if (HasSlot(event->type)) --signal_events_;
  events_.erase(event_id);
  machine_->HostVisible();
  return 0;
}

void EventTable::SetEvent(KfdEvent& event) {
  const bool waking =
      std::any_of(event.waiters.begin(), event.waiters.end(), [](const Entry* e) { return e->queued; });
  event.signaled = !event.auto_reset || !waking;
  if (++event.age == 0) event.age = 2;
  for (Entry* entry : event.waiters) entry->activated = true;
  machine_->Log(EventKind::kEventSet, event.id, event.age);
  machine_->HostVisible();
}

int EventTable::Set(uint32_t event_id) {
  KfdEvent* event = Find(event_id);
  if (event == nullptr || event->type != KFD_IOC_EVENT_SIGNAL) return -EINVAL;
  SetEvent(*event);
  return 0;
}

int EventTable::Reset(uint32_t event_id) {
  KfdEvent* event = Find(event_id);
  if (event == nullptr || event->type != KFD_IOC_EVENT_SIGNAL) return -EINVAL;
  event->signaled = false;
  return 0;
}

void EventTable::SetFromInterrupt(KfdEvent& event) {
  if (!HasSlot(event.type)) return;
  __atomic_store_n(&slots_[event.id], kUnsignaledSlot, __ATOMIC_RELEASE);
  SetEvent(event);
}

void EventTable::SignalFromInterrupt(uint32_t id, int valid_bits) {
  if (slots_ == nullptr) return;
  const auto written = [&](uint32_t slot) {
    return slot < slot_count_ && __atomic_load_n(&slots_[slot], __ATOMIC_ACQUIRE) != kUnsignaledSlot;
  };
  // All real id widths cover every slot.
  const uint32_t known = valid_bits >= 32 ? id : id & ((1u << valid_bits) - 1);
  KfdEvent* event = written(known) ? Find(known) : nullptr;
  if (event != nullptr) {
    SetFromInterrupt(*event);
    return;
  }
  for (auto& [event_id, candidate] : events_) {
    if (event_id >= KFD_SIGNAL_EVENT_LIMIT) break;
    if (written(event_id)) SetFromInterrupt(candidate);
  }
}

void EventTable::RaiseMemoryException(const kfd_hsa_memory_exception_data& data) {
  for (auto& [id, event] : events_) {
    if (event.type != KFD_IOC_EVENT_MEMORY) continue;
    event.memory = data;
    SetEvent(event);
  }
}

void EventTable::RaiseHwException(const kfd_hsa_hw_exception_data& data) {
  for (auto& [id, event] : events_) {
    if (event.type != KFD_IOC_EVENT_HW_EXCEPTION) continue;
    event.hw = data;
    SetEvent(event);
  }
}

int EventTable::Begin(const std::vector<kfd_event_data>& events, std::unique_ptr<Waiter>* waiter) {
  auto wait = std::make_unique<Waiter>();
  for (const kfd_event_data& data : events) {
    KfdEvent* event = Find(data.event_id);
    if (event == nullptr) return -EINVAL;
    auto entry = std::make_unique<Entry>();
    entry->event = event;
    entry->activated = event->signaled;
    event->signaled = event->signaled && !event->auto_reset;
    // Since 1.14 the first word of the data holds the age that the caller has seen; 0 means that it does not
    // care.
    uint64_t age = 0;
    std::memcpy(&age, &data, sizeof age);
    if (event->type == KFD_IOC_EVENT_SIGNAL && age != 0) {
      entry->age_enabled = true;
      if (event->age != age) entry->activated = true;
    }
    entry->queued = !entry->activated;
    event->waiters.push_back(entry.get());
    wait->entries_.push_back(std::move(entry));
  }
  *waiter = std::move(wait);
  return 0;
}

uint32_t EventTable::Waiter::Result(bool all) const {
  size_t activated = 0;
  for (const auto& entry : entries_) {
    if (entry->event == nullptr) return KFD_IOC_WAIT_RESULT_FAIL;
    if (entry->activated) {
      if (!all) return KFD_IOC_WAIT_RESULT_COMPLETE;
      ++activated;
    }
  }
  return activated == entries_.size() ? KFD_IOC_WAIT_RESULT_COMPLETE : KFD_IOC_WAIT_RESULT_TIMEOUT;
}

int EventTable::Waiter::CopyData(std::vector<kfd_event_data>* events) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = *entries_[i];
    if (entry.event == nullptr) return -EINVAL;
    if (!entry.activated) continue;
    kfd_event_data& data = (*events)[i];
    switch (entry.event->type) {
      case KFD_IOC_EVENT_MEMORY:
        data.memory_exception_data = entry.event->memory;
        break;
      case KFD_IOC_EVENT_HW_EXCEPTION:
        data.hw_exception_data = entry.event->hw;
        break;
      case KFD_IOC_EVENT_SIGNAL:
        if (entry.age_enabled) std::memcpy(&data, &entry.event->age, sizeof entry.event->age);
        break;
      default:
        break;
    }
  }
  return 0;
}

}  // namespace understudy::mockgpu::amd
