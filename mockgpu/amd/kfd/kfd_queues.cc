// SPDX-License-Identifier: Apache-2.0
// User-mode queues. Checks and errno values follow kfd_chardev.c and kfd_process_queue_manager.c; that ring
// and pointers lie in mapped memory and the save area has its size is checked at creation, as newer kernels
// do.
#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "mockgpu/amd/cp/pm4_queue.h"
#include "mockgpu/amd/kfd/kfd.h"
#include "mockgpu/amd/kfd/queue_sizes.h"
#include "mockgpu/amd/sdma/sdma_queue.h"
#include "src/base/bits.h"

namespace understudy::mockgpu::amd {
namespace {

constexpr int kErrorNotSupported = 524;  // ENOTSUPP: the kernel's own, not in <errno.h>
constexpr uint64_t kUserEnd = uint64_t{1} << 47;
constexpr int kMostQueues = 1024;  // KFD_MAX_NUM_OF_QUEUES_PER_PROCESS

bool Mapped(emu::AddressSpace& memory, uint64_t va, uint64_t size, emu::Access access) {
  return memory.Explain(va, size, access).kind == emu::MemoryFaultKind::kNone;
}

}  // namespace

int Kfd::CheckRing(uint64_t ring_va, uint32_t* ring_bytes, uint32_t percentage, uint32_t priority) {
  // Bits 15:8 of the percentage choose an XCC.
  if ((percentage & 0xff) > KFD_MAX_QUEUE_PERCENTAGE) return -EINVAL;
  if (priority > KFD_MAX_QUEUE_PRIORITY) return -EINVAL;
  if (ring_va >= kUserEnd) return -EFAULT;
  if (*ring_bytes != 0 && !IsPow2(*ring_bytes)) return -EINVAL;
  *ring_bytes = std::max<uint32_t>(*ring_bytes, KFD_MIN_QUEUE_RING_SIZE);
  return 0;
}

int Kfd::CreateQueue(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_create_queue_args*>(data);
  int result =
      CheckRing(args->ring_base_address, &args->ring_size, args->queue_percentage, args->queue_priority);
  if (result != 0) return result;
  for (const uint64_t address :
       {uint64_t{args->read_pointer_address}, uint64_t{args->write_pointer_address},
        uint64_t{args->eop_buffer_address}, uint64_t{args->ctx_save_restore_address}}) {
    if (address >= kUserEnd) return -EFAULT;
  }
  const uint32_t type = args->queue_type;
  if (type > KFD_IOC_QUEUE_TYPE_SDMA_XGMI) return -kErrorNotSupported;
  Gpu* gpu = FindGpu(args->gpu_id);
  if (gpu == nullptr) return -EINVAL;
  if (!gpu->vm_acquired) return -ESRCH;
  if (type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL) return -EINVAL;  // docs/limits.md
  // Both kinds of copy engine take the same packets.
  const bool xgmi = type == KFD_IOC_QUEUE_TYPE_SDMA_XGMI, sdma = type == KFD_IOC_QUEUE_TYPE_SDMA || xgmi;
  const GpuProfile& profile = gpu->profile();
  int& copy_queues = xgmi ? gpu->xgmi_queues : gpu->sdma_queues;
  const uint32_t copy_engines = xgmi ? profile.sdma_xgmi_engines : profile.sdma_engines;
  if (gpu->queues >= kMostQueues ||
      (sdma && copy_queues >= static_cast<int>(copy_engines * profile.sdma_queues_per_engine))) {
    return -ENOMEM;
  }

  emu::AddressSpace& memory = gpu->memory();
  const bool active = (args->queue_percentage & 0xff) != 0 && args->ring_base_address != 0;
  if (args->read_pointer_address % 8 != 0 || args->write_pointer_address % 8 != 0) return -EINVAL;
  if (!Mapped(memory, args->read_pointer_address, 8, emu::Access::kWrite) ||
      !Mapped(memory, args->write_pointer_address, 8, emu::Access::kRead)) {
    return -EINVAL;
  }
  if (active && !Mapped(memory, args->ring_base_address, args->ring_size, emu::Access::kRead)) return -EINVAL;
  if (args->ring_base_address % 256 != 0) return -EINVAL;  // the queue descriptor holds address bits 47:8
  if (!sdma) {
    const QueueSizes sizes = QueueSizesOf(profile);
    if (args->eop_buffer_address != 0 &&
        (args->eop_buffer_size != sizes.end_of_pipe ||
         !Mapped(memory, args->eop_buffer_address, sizes.end_of_pipe, emu::Access::kWrite))) {
      return -EINVAL;
    }
    if (args->ctl_stack_size != sizes.control_stack || args->ctx_save_restore_size != sizes.save_area ||
        !Mapped(memory, args->ctx_save_restore_address, sizes.save_memory, emu::Access::kWrite)) {
      return -EINVAL;
    }
  }

  const int doorbell = gpu->TakeDoorbell();
  if (doorbell < 0) return -ENOMEM;
  Queue queue;
  queue.id = 0;
  while (queues_.count(queue.id) != 0) ++queue.id;  // the lowest free id, as the kernel's bitmap gives
  queue.type = type;
  queue.gpu = gpu;
  queue.doorbell = doorbell;
  QueueConfig config;
  config.gpu_id = gpu->gpu_id();
  config.queue_id = queue.id;
  config.ring_va = args->ring_base_address;
  config.ring_bytes = args->ring_size;
  config.read_pointer_va = args->read_pointer_address;
  config.write_pointer_va = args->write_pointer_address;
  config.eop_va = args->eop_buffer_address;
  config.eop_bytes = args->eop_buffer_size;
  config.doorbell = gpu->Doorbell(doorbell);
  config.active = active;
  if (sdma) {
    queue.ring = std::make_unique<SdmaQueue>(gpu, config);
  } else {
    queue.ring = std::make_unique<Pm4Queue>(gpu, config);
  }
  queue.actor = machine_->AddActor(
      queue.ring.get(),
      absl::StrCat(sdma ? "sdma" : "compute", " queue ", queue.id, " of gpu 0x", absl::Hex(gpu->gpu_id())));
  ++gpu->queues;
  if (sdma) ++copy_queues;
  args->queue_id = queue.id;
  args->doorbell_offset = gpu->doorbells().offset + static_cast<uint64_t>(doorbell) * 8;
  machine_->Log(EventKind::kQueueCreate, queue.id, config.ring_va, config.ring_bytes);
  queues_[queue.id] = std::move(queue);
  return 0;
}

int Kfd::DestroyQueue(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_destroy_queue_args*>(data);
  const auto it = queues_.find(args->queue_id);
  if (it == queues_.end()) return -EINVAL;
  Queue& queue = it->second;
  machine_->RemoveActor(queue.actor);
  queue.ring.reset();
  queue.gpu->ReleaseDoorbell(queue.doorbell);
  --queue.gpu->queues;
  if (queue.type == KFD_IOC_QUEUE_TYPE_SDMA) --queue.gpu->sdma_queues;
  if (queue.type == KFD_IOC_QUEUE_TYPE_SDMA_XGMI) --queue.gpu->xgmi_queues;
  machine_->Log(EventKind::kQueueDestroy, args->queue_id);
  queues_.erase(it);
  return 0;
}

int Kfd::UpdateQueue(void* data, Lock&) {
  auto* args = static_cast<kfd_ioctl_update_queue_args*>(data);
  const int result =
      CheckRing(args->ring_base_address, &args->ring_size, args->queue_percentage, args->queue_priority);
  if (result != 0) return result;
  const auto it = queues_.find(args->queue_id);
  if (it == queues_.end()) return -EFAULT;
  Queue& queue = it->second;
  const bool active = (args->queue_percentage & 0xff) != 0 && args->ring_base_address != 0;
  if (active && !Mapped(queue.gpu->memory(), args->ring_base_address, args->ring_size, emu::Access::kRead))
    return -EINVAL;
  queue.ring->Update(args->ring_base_address, args->ring_size, active);
  return 0;
}

}  // namespace understudy::mockgpu::amd
