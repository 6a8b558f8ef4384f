// SPDX-License-Identifier: Apache-2.0
// KFD events: mailbox slots, waking, timeouts in virtual time, and the kernel's rules for auto and manual
// reset.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/mockgpu/client.h"

namespace understudy::mockgpu {
namespace {

using Buffer = Client::Buffer;
using Queue = Client::Queue;

std::vector<kfd_event_data> Ids(std::initializer_list<uint32_t> ids) {
  std::vector<kfd_event_data> events;
  for (const uint32_t id : ids) {
    kfd_event_data data{};
    data.event_id = id;
    events.push_back(data);
  }
  return events;
}

// What a driver appends to work that it wants to sleep on: the event id into the mailbox slot, then an
// interrupt.
std::vector<uint32_t> Notify(const Client& client, const kfd_ioctl_create_event_args& event) {
  return Client::ReleaseMem(client.event_page.va + event.event_slot_index * 8, event.event_id, 1, 2,
                            event.event_id);
}

TEST(Events, AnInterruptWakesTheWaiter) {
  Client client;
  client.SetUpEventPage();
  kfd_ioctl_create_event_args event{};
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true, &event);
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  client.Submit(queue, Notify(client, event));
  auto events = Ids({id});
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 1000, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE);
  // The kernel acknowledges by clearing the slot.
  const auto* slots = reinterpret_cast<const uint64_t*>(client.event_page.cpu);
  EXPECT_EQ(slots[event.event_slot_index], ~uint64_t{0});
  // Auto reset: one wake only.
  EXPECT_EQ(client.Wait(&events, true, 5, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
}

TEST(Events, AnSdmaTrapWakesTheWaiter) {
  Client client;
  client.SetUpEventPage();
  kfd_ioctl_create_event_args event{};
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true, &event);
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA);
  const uint64_t slot = client.event_page.va + event.event_slot_index * 8;
  client.Submit(queue, {5u | 3u << 16, Lo(slot), Hi(slot), id, 6u, id});
  auto events = Ids({id});
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 1000, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE);
}

TEST(Events, AnInterruptWhoseSlotWasNotWrittenWakesNobody) {
  Client client;
  client.SetUpEventPage();
  kfd_ioctl_create_event_args event{};
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true, &event);
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  client.Submit(queue, Client::ReleaseMem(0, 0, 0, 1, id));
  auto events = Ids({id});
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 5, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
}

// An interrupt without a usable id makes the kernel look at every slot.
TEST(Events, AnUnknownIdWakesWhoeverHasAWrittenSlot) {
  Client client;
  client.SetUpEventPage();
  kfd_ioctl_create_event_args event{};
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true, &event);
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  client.Submit(queue, Client::ReleaseMem(client.event_page.va + event.event_slot_index * 8, 1, 1, 2, 4000));
  auto events = Ids({id});
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 1000, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE);
}

TEST(Events, ATimeoutTakesItsVirtualTimeAndNoMore) {
  Client client;
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true);
  auto events = Ids({id});
  uint32_t result = 99;
  const uint64_t before = client.kernel->MonotonicNanos();
  EXPECT_EQ(client.Wait(&events, true, 60000, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
  EXPECT_EQ(client.kernel->MonotonicNanos() - before, 60000ull * 1000000);
}

TEST(Events, ZeroTimeoutOnlyLooks) {
  Client client;
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true);
  auto events = Ids({id});
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 0, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
  kfd_ioctl_set_event_args set{id, 0};
  ASSERT_EQ(client.Call(AMDKFD_IOC_SET_EVENT, &set), 0);
  EXPECT_EQ(client.Wait(&events, true, 0, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE);
}

TEST(Events, ManualResetStaysSetUntilReset) {
  Client client;
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, false);
  kfd_ioctl_set_event_args set{id, 0};
  ASSERT_EQ(client.Call(AMDKFD_IOC_SET_EVENT, &set), 0);
  auto events = Ids({id});
  uint32_t result = 99;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.Wait(&events, true, 1, &result), 0);
    EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE) << "wait " << i;
  }
  kfd_ioctl_reset_event_args reset{id, 0};
  ASSERT_EQ(client.Call(AMDKFD_IOC_RESET_EVENT, &reset), 0);
  EXPECT_EQ(client.Wait(&events, true, 1, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
}

TEST(Events, WaitForAllNeedsAllAndWaitForAnyNeedsOne) {
  Client client;
  const uint32_t a = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, false),
                 b = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, false);
  kfd_ioctl_set_event_args set{b, 0};
  ASSERT_EQ(client.Call(AMDKFD_IOC_SET_EVENT, &set), 0);
  auto events = Ids({a, b});
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, false, 5, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE);
  EXPECT_EQ(client.Wait(&events, true, 5, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
  set.event_id = a;
  ASSERT_EQ(client.Call(AMDKFD_IOC_SET_EVENT, &set), 0);
  EXPECT_EQ(client.Wait(&events, true, 5, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE);
}

// Interface 1.14: a caller that says which age it has seen does not miss a wake-up that came before its wait.
TEST(Events, AgeTellsOfAMissedWakeUp) {
  Client client;
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true);
  auto events = Ids({id});
  uint64_t age = 1;
  std::memcpy(&events[0], &age, sizeof age);
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 1, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
  kfd_ioctl_set_event_args set{id, 0};
  ASSERT_EQ(client.Call(AMDKFD_IOC_SET_EVENT, &set), 0);
  kfd_ioctl_reset_event_args reset{id, 0};
  ASSERT_EQ(client.Call(AMDKFD_IOC_RESET_EVENT, &reset), 0);
  EXPECT_EQ(client.Wait(&events, true, 1, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE);
  std::memcpy(&age, &events[0], sizeof age);
  EXPECT_EQ(age, 2u);
}

TEST(Events, AWaitWithoutTimeoutOnAnIdleMachineIsInterruptedInTheEnd) {
  MockKernel::Options options;
  options.hang_after_ms = 50;
  Client client(options);
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true);
  auto events = Ids({id});
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 0xffffffff, &result), -EINTR);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_FAIL);
}

TEST(Events, AnotherThreadSubmitsWhatOneSleepsOn) {
  Client client;
  client.SetUpEventPage();
  kfd_ioctl_create_event_args event{};
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true, &event);
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  for (int round = 0; round < 20; ++round) {
    uint32_t result = 99;
    int status = -1;
    std::thread sleeper([&] {
      auto events = Ids({id});
      status = client.Wait(&events, true, 10000, &result);
    });
    // A doorbell is a plain store: the sleeper has to notice it by itself.
    std::thread submitter([&] { client.Submit(queue, Notify(client, event)); });
    submitter.join();
    sleeper.join();
    ASSERT_EQ(status, 0) << "round " << round;
    ASSERT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE) << "round " << round;
  }
}

TEST(Events, DestroyingAnEventFailsItsWaiters) {
  Client client;
  const uint32_t id = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true);
  uint32_t result = 99;
  int status = 0;
  std::atomic<bool> waiting{false};
  std::thread sleeper([&] {
    auto events = Ids({id});
    waiting = true;
    status = client.Wait(&events, true, 0xffffffff, &result);
  });
  while (!waiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kfd_ioctl_destroy_event_args destroy{id, 0};
  EXPECT_EQ(client.Call(AMDKFD_IOC_DESTROY_EVENT, &destroy), 0);
  sleeper.join();
  EXPECT_EQ(status, -EIO);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_FAIL);
}

TEST(Events, SignalEventsEndWithTheSlots) {
  Client client;
  // Slot 0 belongs to nobody.
  for (int i = 1; i < KFD_SIGNAL_EVENT_LIMIT; ++i) client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true);
  kfd_ioctl_create_event_args args{};
  args.event_type = KFD_IOC_EVENT_SIGNAL;
  EXPECT_EQ(client.Call(AMDKFD_IOC_CREATE_EVENT, &args), -ENOSPC);
  // Exception events need no slot.
  EXPECT_GE(client.CreateEvent(KFD_IOC_EVENT_MEMORY, false), uint32_t{KFD_SIGNAL_EVENT_LIMIT});
  kfd_ioctl_destroy_event_args destroy{17, 0};
  ASSERT_EQ(client.Call(AMDKFD_IOC_DESTROY_EVENT, &destroy), 0);
  EXPECT_EQ(client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true), 17u);
}

}  // namespace
}  // namespace understudy::mockgpu
