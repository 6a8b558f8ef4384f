// SPDX-License-Identifier: Apache-2.0
// Events: creation with the page of slots, and waiting. Checks and errno values follow kfd_events.c.
#include <algorithm>
#include <cerrno>

#include "mockgpu/amd/kfd/kfd.h"
#include "mockgpu/amd/kfd/user_memory.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr uint64_t kSlotBytes = KFD_SIGNAL_EVENT_LIMIT * 8;
// Beyond this the kernel cannot allocate its waiters.
constexpr uint32_t kMostEvents = 70000;
constexpr uint32_t kImmediate = 0, kInfinite = 0xffffffff;

}  // namespace

int Kfd::SetEventPage(uint64_t handle) {
  if (events_.has_page()) return -EINVAL;
  Gpu* gpu = FindGpu(static_cast<uint32_t>(handle >> 32));
  if (gpu == nullptr) return -EINVAL;
  if (!gpu->vm_acquired) return -ENODEV;
  Buffer* buffer = FindBuffer(handle);
  if (buffer == nullptr || (buffer->flags & KFD_IOC_ALLOC_MEM_FLAGS_GTT) == 0 || buffer->size < kSlotBytes)
    return -EINVAL;
  events_.SetPage(reinterpret_cast<uint64_t*>(buffer->host), buffer->size);
  event_page_handle_ = handle;
  return 0;
}

int Kfd::CreateEvent(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_create_event_args*>(data);
  if (args->event_page_offset != 0) {
    const int result = SetEventPage(args->event_page_offset);
    if (result != 0) return result;
  }
  const bool has_slot =
      args->event_type == KFD_IOC_EVENT_SIGNAL || args->event_type == KFD_IOC_EVENT_DEBUG_EVENT;
  if (has_slot && !events_.has_page()) {
    auto range = kfd_file_.Allocate(kSlotBytes);
    if (!range.ok()) return -ENOMEM;
    event_page_ = *range;
    events_.SetPage(reinterpret_cast<uint64_t*>(range->host), range->size);
  }
  args->event_page_offset = 0;
  const int result = events_.Create(args->event_type, args->auto_reset != 0, &args->event_id);
  if (result != 0) return result;
  args->event_trigger_data = args->event_id;
  if (has_slot) {
    args->event_slot_index = args->event_id;
    // Where to map the slots, if the client did not bring them.
    args->event_page_offset = event_page_.offset;
  }
  return 0;
}

int Kfd::DestroyEvent(void* data, Lock&) {
  return events_.Destroy(static_cast<kfd_ioctl_destroy_event_args*>(data)->event_id);
}

int Kfd::SetEvent(void* data, Lock&) {
  return events_.Set(static_cast<kfd_ioctl_set_event_args*>(data)->event_id);
}

int Kfd::ResetEvent(void* data, Lock&) {
  return events_.Reset(static_cast<kfd_ioctl_reset_event_args*>(data)->event_id);
}

int Kfd::WaitEvents(void* data, Lock& lock) {
  auto* args = static_cast<kfd_ioctl_wait_events_args*>(data);
  const uint32_t timeout_ms = args->timeout;
  const bool all = args->wait_for_all != 0;
  args->wait_result = KFD_IOC_WAIT_RESULT_FAIL;
  if (args->num_events > kMostEvents) return -ENOMEM;
  std::vector<kfd_event_data> events(args->num_events);
  const size_t bytes = events.size() * sizeof(kfd_event_data);
  if (!CopyFromUser(events.data(), args->events_ptr, bytes)) return -EFAULT;
  std::unique_ptr<EventTable::Waiter> waiter;
  const int begun = events_.Begin(events, &waiter);
  if (begun != 0) return begun;
  machine_->Log(EventKind::kWaitBegin, args->num_events, timeout_ms);

  const auto over = [&] { return waiter->Result(all) != KFD_IOC_WAIT_RESULT_TIMEOUT; };
  int result = 0;
  if (!over()) {
    if (timeout_ms == kImmediate) {
      // A client that polls this way expects the GPU to get on meanwhile.
      gate_->Pause(lock);
      if (!lock.owns_lock()) lock.lock();
    } else {
      const uint64_t timeout_ns =
          timeout_ms == kInfinite ? HostGate::kForever : uint64_t{timeout_ms} * 1000000;
      if (gate_->Wait(lock, timeout_ns, over) == HostGate::Wake::kInterrupted) result = -EINTR;
    }
  }
  args->wait_result = waiter->Result(all);
  if (result == 0 && args->wait_result == KFD_IOC_WAIT_RESULT_COMPLETE) {
    result = waiter->CopyData(&events);
    if (result == 0 && !CopyToUser(args->events_ptr, events.data(), bytes)) result = -EFAULT;
  }
  if (result != 0) {
    args->wait_result = KFD_IOC_WAIT_RESULT_FAIL;
  } else if (args->wait_result == KFD_IOC_WAIT_RESULT_FAIL) {
    result = -EIO;
  }
  machine_->Log(EventKind::kWaitEnd, args->wait_result);
  return result;
}

}  // namespace understudy::mockgpu::amd
