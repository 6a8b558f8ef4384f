// SPDX-License-Identifier: Apache-2.0
#pragma once
// KFD events: signal events with their mailbox slots, and exception events, with the waiting rules of
// kfd_events.c (auto reset, manual reset, event age, destruction under a waiter). The caller holds the lock
// and does the waiting; this only says whether a wait is over.

#include <linux/kfd_ioctl.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "mockgpu/machine/machine.h"

namespace understudy::mockgpu::amd {

class EventTable {
 public:
  explicit EventTable(Machine* machine) : machine_(machine) {}

  // The page of mailbox slots, 8 bytes each, that the GPU and the process see. Set once.
  bool has_page() const { return slots_ != nullptr; }
  void SetPage(uint64_t* slots, uint64_t bytes);

  // 0 or -errno. The page must be set before a signal event is created.
  int Create(uint32_t type, bool auto_reset, uint32_t* event_id);
  int Destroy(uint32_t event_id);
  int Set(uint32_t event_id);
  int Reset(uint32_t event_id);

  // An interrupt that carries `id`, of which `valid_bits` bits exist. Wakes the event whose slot was written,
  // or every event with a written slot when the id names none.
  void SignalFromInterrupt(uint32_t id, int valid_bits);
  // Sets all events of the exception's type and gives them the data.
  void RaiseMemoryException(const kfd_hsa_memory_exception_data& data);
  void RaiseHwException(const kfd_hsa_hw_exception_data& data);

  // A wait in progress; holds its place in the events' lists until destroyed.
  class Waiter;
  // -EINVAL if an event does not exist. `ages` are the callers' last_event_age values.
  int Begin(const std::vector<kfd_event_data>& events, std::unique_ptr<Waiter>* waiter);

  size_t size() const { return events_.size(); }

 private:
  struct Entry;  // one event of one wait
  struct KfdEvent {
    uint32_t id = 0, type = 0;
    bool auto_reset = false, signaled = false;
    uint64_t age = 1;
    kfd_hsa_memory_exception_data memory{};
    kfd_hsa_hw_exception_data hw{};
    std::list<Entry*> waiters;  // every entry of every wait; those that found it signaled are not `queued`
  };
  struct Entry {
    KfdEvent* event = nullptr;  // nullptr once destroyed
    bool activated = false, age_enabled = false, queued = false;
  };
  KfdEvent* Find(uint32_t id);
  void SetEvent(KfdEvent& event);
  void SetFromInterrupt(KfdEvent& event);

  Machine* machine_;
  std::map<uint32_t, KfdEvent> events_;
  uint64_t* slots_ = nullptr;
  uint64_t slot_count_ = 0;
  uint32_t signal_events_ = 1;  // id 0 is taken: interrupts without an id carry it
};

class EventTable::Waiter {
 public:
  ~Waiter();
  // KFD_IOC_WAIT_RESULT_*: TIMEOUT means not yet.
  uint32_t Result(bool all) const;
  // Fills in the data of events that woke us. -EINVAL if one was destroyed.
  int CopyData(std::vector<kfd_event_data>* events) const;

 private:
  friend class EventTable;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace understudy::mockgpu::amd
