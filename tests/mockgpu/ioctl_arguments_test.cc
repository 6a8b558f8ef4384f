// SPDX-License-Identifier: Apache-2.0
// What the kernel refuses, and with which errno: a table. The expected values are those of kfd_chardev.c,
// kfd_events.c and amdgpu_amdkfd_gpuvm.c of Linux.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "tests/mockgpu/client.h"

namespace understudy::mockgpu {
namespace {

using Buffer = Client::Buffer;
using Queue = Client::Queue;

struct Case {
  const char* name;
  int expected;  // result of the ioctl
  std::function<int(Client&)> call;
};

uint64_t Bad() { return 0x1000; }  // never mapped in a process

kfd_ioctl_alloc_memory_of_gpu_args AllocArgs(Client& c, uint32_t flags = kGttFlags, uint64_t size = 4096) {
  kfd_ioctl_alloc_memory_of_gpu_args args{};
  args.va_addr = c.NextVa(4096);
  args.size = size;
  args.gpu_id = c.gpu_id;
  args.flags = flags;
  return args;
}
int Alloc(Client& c, const std::function<void(kfd_ioctl_alloc_memory_of_gpu_args&)>& change) {
  auto args = AllocArgs(c);
  change(args);
  return c.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args);
}
int Map(Client& c, const std::function<void(kfd_ioctl_map_memory_to_gpu_args&)>& change) {
  auto alloc = AllocArgs(c);
  EXPECT_EQ(c.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc), 0);
  kfd_ioctl_map_memory_to_gpu_args args{};
  args.handle = alloc.handle;
  args.device_ids_array_ptr = reinterpret_cast<uint64_t>(&c.gpu_id);
  args.n_devices = 1;
  change(args);
  return c.Call(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &args);
}
int CreateQueue(Client& c, const std::function<void(kfd_ioctl_create_queue_args&)>& change) {
  Buffer ring = c.Alloc(4096), pointers = c.Alloc(4096), eop = c.Alloc(4096);
  kfd_ioctl_create_queue_args args{};
  args.ring_base_address = ring.va;
  args.ring_size = 4096;
  args.read_pointer_address = pointers.va;
  args.write_pointer_address = pointers.va + 8;
  args.gpu_id = c.gpu_id;
  args.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE;
  args.queue_percentage = 100;
  args.queue_priority = 7;
  args.eop_buffer_address = eop.va;
  args.eop_buffer_size = 4096;
  const Client::SaveArea save = c.SaveAreaOfGpu();
  args.ctx_save_restore_address = c.Alloc(save.memory, kVramFlags).va;
  args.ctx_save_restore_size = save.size;
  args.ctl_stack_size = save.control_stack;
  change(args);
  return c.Call(AMDKFD_IOC_CREATE_QUEUE, &args);
}
int UpdateQueue(Client& c, const std::function<void(kfd_ioctl_update_queue_args&)>& change) {
  Queue queue = c.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  kfd_ioctl_update_queue_args args{queue.ring.va, queue.id, 4096, 100, 7};
  change(args);
  return c.Call(AMDKFD_IOC_UPDATE_QUEUE, &args);
}
int WaitEvents(Client& c, const std::function<void(kfd_ioctl_wait_events_args&)>& change) {
  kfd_event_data data{};
  data.event_id = c.CreateEvent(KFD_IOC_EVENT_SIGNAL, true);
  kfd_ioctl_wait_events_args args{};
  args.events_ptr = reinterpret_cast<uint64_t>(&data);
  args.num_events = 1;
  args.timeout = 1;
  change(args);
  return c.Call(AMDKFD_IOC_WAIT_EVENTS, &args);
}
template <class Args>
int With(Client& c, unsigned long request, Args args) {
  return c.Call(request, &args);
}

const Case kCases[] = {
    {"UnknownNumber", -EINVAL, [](Client& c) { return With(c, _IOWR('K', 0x27, uint64_t), uint64_t{0}); }},
    {"NumberZero", -EINVAL, [](Client& c) { return With(c, _IOWR('K', 0x00, uint64_t), uint64_t{0}); }},
    {"BadArgumentPointer", -EFAULT,
     [](Client& c) {
       return c.kernel->Ioctl(c.kfd, AMDKFD_IOC_CREATE_EVENT, reinterpret_cast<void*>(Bad()));
     }},
    {"WrongFileForKfd", -ENOTTY,
     [](Client& c) {
       kfd_ioctl_get_version_args args{};
       return c.kernel->Ioctl(c.drm, AMDKFD_IOC_GET_VERSION, &args);
     }},
    {"ClosedFile", -EBADF,
     [](Client& c) {
       const int fd = c.kernel->Open("/dev/kfd", O_RDWR);
       EXPECT_EQ(c.kernel->Close(fd), 0);
       kfd_ioctl_get_version_args args{};
       return c.kernel->Ioctl(fd, AMDKFD_IOC_GET_VERSION, &args);
     }},

    {"AcquireVmNoFile", -EINVAL,
     [](Client& c) { return With(c, AMDKFD_IOC_ACQUIRE_VM, kfd_ioctl_acquire_vm_args{9999, c.gpu_id}); }},
    {"AcquireVmNotDrm", -EINVAL,
     [](Client& c) {
       return With(c, AMDKFD_IOC_ACQUIRE_VM,
                   kfd_ioctl_acquire_vm_args{static_cast<uint32_t>(c.kfd), c.gpu_id});
     }},
    {"AcquireVmNoGpu", -EINVAL,
     [](Client& c) {
       return With(c, AMDKFD_IOC_ACQUIRE_VM, kfd_ioctl_acquire_vm_args{static_cast<uint32_t>(c.drm), 1});
     }},
    {"AcquireVmAgain", 0,
     [](Client& c) {
       return With(c, AMDKFD_IOC_ACQUIRE_VM,
                   kfd_ioctl_acquire_vm_args{static_cast<uint32_t>(c.drm), c.gpu_id});
     }},
    {"AcquireVmOtherFile", -EBUSY,
     [](Client& c) {
       const int fd = c.kernel->Open("/dev/dri/renderD128", O_RDWR);
       return With(c, AMDKFD_IOC_ACQUIRE_VM, kfd_ioctl_acquire_vm_args{static_cast<uint32_t>(fd), c.gpu_id});
     }},

    {"AllocSizeZero", -EINVAL, [](Client& c) { return Alloc(c, [](auto& a) { a.size = 0; }); }},
    {"AllocNoGpu", -EINVAL, [](Client& c) { return Alloc(c, [](auto& a) { a.gpu_id = 7; }); }},
    {"AllocNoType", -EINVAL,
     [](Client& c) { return Alloc(c, [](auto& a) { a.flags = KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE; }); }},
    {"AllocTooMuchVram", -ENOMEM,
     [](Client& c) {
       return Alloc(c, [](auto& a) {
         a.flags = kVramFlags;
         a.size = uint64_t{25} << 30;
       });
     }},
    {"AllocTooMuchGtt", -ENOMEM,
     [](Client& c) { return Alloc(c, [](auto& a) { a.size = uint64_t{1} << 40; }); }},
    {"AllocGttInPieces", -ENOMEM,
     [](Client& c) {
       for (int i = 0; i < 2; ++i) EXPECT_EQ(Alloc(c, [](auto& a) { a.size = uint64_t{16} << 30; }), 0);
       return Alloc(c, [](auto& a) { a.size = uint64_t{17} << 30; });
     }},
    {"AllocHugeSize", -ENOMEM, [](Client& c) { return Alloc(c, [](auto& a) { a.size = ~uint64_t{0}; }); }},
    {"AllocUserptrNull", -EINVAL,
     [](Client& c) { return Alloc(c, [](auto& a) { a.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR; }); }},
    {"AllocUserptrUnaligned", -EINVAL,
     [](Client& c) {
       return Alloc(c, [](auto& a) {
         a.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR;
         a.mmap_offset = 0x7f0000000010;
       });
     }},
    {"AllocUserptrUnmapped", -EFAULT,
     [](Client& c) {
       return Alloc(c, [](auto& a) {
         a.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR;
         a.mmap_offset = Bad();
       });
     }},
    {"AllocDoorbellSize", -EINVAL,
     [](Client& c) { return Alloc(c, [](auto& a) { a.flags = KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL; }); }},
    {"AllocDoorbell", 0,
     [](Client& c) {
       return Alloc(c, [](auto& a) {
         a.flags = KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL;
         a.size = 8192;
       });
     }},
    {"AllocMmioSize", -EINVAL,
     [](Client& c) {
       return Alloc(c, [](auto& a) {
         a.flags = KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;
         a.size = 8192;
       });
     }},
    {"AllocMmio", 0,
     [](Client& c) { return Alloc(c, [](auto& a) { a.flags = KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP; }); }},
    {"AllocAqlQueueMemory", -EINVAL,
     [](Client& c) { return Alloc(c, [](auto& a) { a.flags |= KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM; }); }},

    {"FreeUnknownGpu", -EINVAL,
     [](Client& c) { return With(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, kfd_ioctl_free_memory_of_gpu_args{5}); }},
    {"FreeUnknownHandle", -EINVAL,
     [](Client& c) {
       return With(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU,
                   kfd_ioctl_free_memory_of_gpu_args{uint64_t{c.gpu_id} << 32 | 0xffff});
     }},
    {"FreeMapped", -EBUSY,
     [](Client& c) {
       return With(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, kfd_ioctl_free_memory_of_gpu_args{c.Alloc(4096).handle});
     }},
    {"FreeTwice", -EINVAL,
     [](Client& c) {
       auto args = AllocArgs(c);
       EXPECT_EQ(c.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
       EXPECT_EQ(With(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, kfd_ioctl_free_memory_of_gpu_args{args.handle}), 0);
       return With(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, kfd_ioctl_free_memory_of_gpu_args{args.handle});
     }},
    {"FreeEventPage", -EPERM,
     [](Client& c) {
       c.SetUpEventPage();
       return With(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, kfd_ioctl_free_memory_of_gpu_args{c.event_page.handle});
     }},

    {"MapNoDevices", -EINVAL, [](Client& c) { return Map(c, [](auto& a) { a.n_devices = 0; }); }},
    {"MapTooManyDone", -EINVAL, [](Client& c) { return Map(c, [](auto& a) { a.n_success = 2; }); }},
    {"MapBadPointer", -EFAULT,
     [](Client& c) { return Map(c, [](auto& a) { a.device_ids_array_ptr = Bad(); }); }},
    {"MapUnknownDevice", -EINVAL,
     [](Client& c) {
       static uint32_t id = 3;
       return Map(c, [](auto& a) { a.device_ids_array_ptr = reinterpret_cast<uint64_t>(&id); });
     }},
    {"MapUnknownGpuInHandle", -EINVAL,
     [](Client& c) { return Map(c, [](auto& a) { a.handle &= 0xffffffff; }); }},
    {"MapUnknownHandle", -ENOMEM, [](Client& c) { return Map(c, [](auto& a) { a.handle |= 0xff00; }); }},
    {"MapTwice", 0, [](Client& c) { return c.MapOnGpu(c.Alloc(4096).handle); }},
    {"UnmapTwice", 0,
     [](Client& c) {
       const uint64_t handle = c.Alloc(4096).handle;
       EXPECT_EQ(c.UnmapOnGpu(handle), 0);
       return c.UnmapOnGpu(handle);
     }},
    {"MapOverlap", -EINVAL,
     [](Client& c) {
       Buffer there = c.Alloc(8192);
       auto args = AllocArgs(c);
       args.va_addr = there.va + 4096;
       EXPECT_EQ(c.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
       return c.MapOnGpu(args.handle);
     }},
    {"MapUnalignedAddress", -EINVAL,
     [](Client& c) {
       auto args = AllocArgs(c);
       args.va_addr += 8;
       EXPECT_EQ(c.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
       return c.MapOnGpu(args.handle);
     }},
    {"MapBeyondTheAddressSpace", -EINVAL,
     [](Client& c) {
       auto args = AllocArgs(c);
       args.va_addr = (uint64_t{1} << 47) - 4096;
       args.size = 8192;
       EXPECT_EQ(c.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
       return c.MapOnGpu(args.handle);
     }},

    {"QueuePercentage", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.queue_percentage = 101; }); }},
    {"QueuePriority", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.queue_priority = 16; }); }},
    {"QueueRingSize", -EINVAL, [](Client& c) { return CreateQueue(c, [](auto& a) { a.ring_size = 3000; }); }},
    {"QueueRingAddressKernel", -EFAULT,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.ring_base_address = uint64_t{1} << 63; }); }},
    {"QueueReadPointerKernel", -EFAULT,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.read_pointer_address = uint64_t{1} << 63; }); }},
    {"QueueWritePointerUnmapped", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.write_pointer_address = 0x8000; }); }},
    {"QueueRingUnmapped", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.ring_base_address = 0x8000; }); }},
    {"QueueRingPartlyMapped", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.ring_size = 8192; }); }},
    {"QueueControlStack", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.ctl_stack_size += 4096; }); }},
    {"QueueSaveArea", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.ctx_save_restore_size -= 4096; }); }},
    {"QueueSaveAreaUnmapped", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.ctx_save_restore_address += 4096; }); }},
    {"QueueEndOfPipe", -EINVAL,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.eop_buffer_size = 8192; }); }},
    {"QueueNoGpu", -EINVAL, [](Client& c) { return CreateQueue(c, [](auto& a) { a.gpu_id = 9; }); }},
    {"QueueUnknownType", -524, [](Client& c) { return CreateQueue(c, [](auto& a) { a.queue_type = 9; }); }},
    {"QueueAql", -EINVAL,
     [](Client& c) {
       return CreateQueue(c, [](auto& a) { a.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL; });
     }},
    {"QueueXgmi", -ENOMEM,
     [](Client& c) { return CreateQueue(c, [](auto& a) { a.queue_type = KFD_IOC_QUEUE_TYPE_SDMA_XGMI; }); }},
    {"QueueTooManySdma", -ENOMEM,
     [](Client& c) {
       for (int i = 0; i < 12; ++i) c.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA);
       return CreateQueue(c, [](auto& a) { a.queue_type = KFD_IOC_QUEUE_TYPE_SDMA; });
     }},
    {"DestroyUnknownQueue", -EINVAL,
     [](Client& c) { return With(c, AMDKFD_IOC_DESTROY_QUEUE, kfd_ioctl_destroy_queue_args{77, 0}); }},
    {"UpdateUnknownQueue", -EFAULT,
     [](Client& c) { return UpdateQueue(c, [](auto& a) { a.queue_id = 77; }); }},
    {"UpdatePercentage", -EINVAL,
     [](Client& c) { return UpdateQueue(c, [](auto& a) { a.queue_percentage = 101; }); }},
    {"UpdateRingSize", -EINVAL,
     [](Client& c) { return UpdateQueue(c, [](auto& a) { a.ring_size = 1025; }); }},

    {"EventPageUnknownGpu", -EINVAL,
     [](Client& c) {
       kfd_ioctl_create_event_args args{};
       args.event_page_offset = 5;
       return With(c, AMDKFD_IOC_CREATE_EVENT, args);
     }},
    {"EventPageTwice", -EINVAL,
     [](Client& c) {
       c.SetUpEventPage();
       kfd_ioctl_create_event_args args{};
       args.event_page_offset = c.event_page.handle;
       return With(c, AMDKFD_IOC_CREATE_EVENT, args);
     }},
    {"DestroyUnknownEvent", -EINVAL,
     [](Client& c) { return With(c, AMDKFD_IOC_DESTROY_EVENT, kfd_ioctl_destroy_event_args{99, 0}); }},
    {"SetUnknownEvent", -EINVAL,
     [](Client& c) { return With(c, AMDKFD_IOC_SET_EVENT, kfd_ioctl_set_event_args{99, 0}); }},
    {"SetExceptionEvent", -EINVAL,
     [](Client& c) {
       return With(c, AMDKFD_IOC_SET_EVENT,
                   kfd_ioctl_set_event_args{c.CreateEvent(KFD_IOC_EVENT_MEMORY, false), 0});
     }},
    {"ResetUnknownEvent", -EINVAL,
     [](Client& c) { return With(c, AMDKFD_IOC_RESET_EVENT, kfd_ioctl_reset_event_args{99, 0}); }},
    {"WaitUnknownEvent", -EINVAL,
     [](Client& c) {
       static kfd_event_data data{};
       data.event_id = 99;
       return WaitEvents(c, [](auto& a) { a.events_ptr = reinterpret_cast<uint64_t>(&data); });
     }},
    {"WaitBadPointer", -EFAULT,
     [](Client& c) { return WaitEvents(c, [](auto& a) { a.events_ptr = Bad(); }); }},
    {"WaitTooMany", -ENOMEM,
     [](Client& c) { return WaitEvents(c, [](auto& a) { a.num_events = 0x7fffffff; }); }},
    {"WaitForNothing", 0, [](Client& c) { return WaitEvents(c, [](auto& a) { a.num_events = 0; }); }},

    {"MemoryPolicyValue", -EINVAL,
     [](Client& c) {
       return With(c, AMDKFD_IOC_SET_MEMORY_POLICY,
                   kfd_ioctl_set_memory_policy_args{0, 0, c.gpu_id, 2, 0, 0});
     }},
    {"MemoryPolicy", 0,
     [](Client& c) {
       return With(c, AMDKFD_IOC_SET_MEMORY_POLICY,
                   kfd_ioctl_set_memory_policy_args{0, 0, c.gpu_id, 0, 1, 0});
     }},
    {"TrapHandlerNoGpu", -EINVAL,
     [](Client& c) {
       return With(c, AMDKFD_IOC_SET_TRAP_HANDLER, kfd_ioctl_set_trap_handler_args{0, 0, 1, 0});
     }},
    {"ScratchNoGpu", -EINVAL,
     [](Client& c) {
       return With(c, AMDKFD_IOC_SET_SCRATCH_BACKING_VA, kfd_ioctl_set_scratch_backing_va_args{0, 1, 0});
     }},
    {"AvailableMemoryNoGpu", -EINVAL,
     [](Client& c) {
       return With(c, AMDKFD_IOC_AVAILABLE_MEMORY, kfd_ioctl_get_available_memory_args{0, 1, 0});
     }},
    {"AperturesBadPointer", -EFAULT,
     [](Client& c) {
       return With(c, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW,
                   kfd_ioctl_get_process_apertures_new_args{Bad(), 1, 0});
     }},
    {"XnackOn", -EPERM,
     [](Client& c) { return With(c, AMDKFD_IOC_SET_XNACK_MODE, kfd_ioctl_set_xnack_mode_args{1}); }},
    {"XnackQuery", 0,
     [](Client& c) { return With(c, AMDKFD_IOC_SET_XNACK_MODE, kfd_ioctl_set_xnack_mode_args{-1}); }},
    {"XnackWithQueues", -EBUSY,
     [](Client& c) {
       c.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
       return With(c, AMDKFD_IOC_SET_XNACK_MODE, kfd_ioctl_set_xnack_mode_args{0});
     }},
    {"RuntimeEnableTwice", -EBUSY,
     [](Client& c) {
       uint64_t args[2] = {0, 1};
       EXPECT_EQ(c.Call(kIocRuntimeEnable, &args), 0);
       return c.Call(kIocRuntimeEnable, &args);
     }},
    {"RuntimeEnableWithQueues", -EEXIST,
     [](Client& c) {
       c.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
       uint64_t args[2] = {0, 1};
       return c.Call(kIocRuntimeEnable, &args);
     }},
    {"RuntimeDisable", 0,
     [](Client& c) {
       uint64_t args[2] = {0, 0};
       return c.Call(kIocRuntimeEnable, &args);
     }},

    // Refused for good, each with the errno of ioctls.inc.
    {"DbgRegister", -EPERM,
     [](Client& c) { return With(c, AMDKFD_IOC_DBG_REGISTER_DEPRECATED, kfd_ioctl_dbg_register_args{}); }},
    {"Svm", -EPERM, [](Client& c) { return With(c, AMDKFD_IOC_SVM, uint64_t{0}); }},
    {"Criu", -EACCES, [](Client& c) { return With(c, AMDKFD_IOC_CRIU_OP, kfd_ioctl_criu_args{}); }},
    {"Gws", -ENODEV,
     [](Client& c) { return With(c, AMDKFD_IOC_ALLOC_QUEUE_GWS, kfd_ioctl_alloc_queue_gws_args{}); }},
    {"SmiEvents", -EINVAL,
     [](Client& c) { return With(c, AMDKFD_IOC_SMI_EVENTS, kfd_ioctl_smi_events_args{}); }},
};

class IoctlArguments : public testing::TestWithParam<Case> {};

TEST_P(IoctlArguments, GiveTheKernelsErrno) {
  Client client;
  EXPECT_EQ(GetParam().call(client), GetParam().expected);
  // Whatever was wrong, the process goes on.
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer signal = client.Alloc(4096);
  client.Submit(queue, Client::ReleaseMem(signal.va, 1, 1));
  EXPECT_TRUE(client.WaitForWord(signal.words(), 1));
}

INSTANTIATE_TEST_SUITE_P(All, IoctlArguments, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// Before ACQUIRE_VM a process has no GPU address space.
TEST(IoctlArgumentsWithoutVm, AreRefused) {
  Client client({}, false);
  auto alloc = AllocArgs(client);
  EXPECT_EQ(client.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc), -ENODEV);
  kfd_ioctl_create_queue_args queue{};
  queue.gpu_id = client.gpu_id;
  EXPECT_EQ(client.Call(AMDKFD_IOC_CREATE_QUEUE, &queue), -ESRCH);
  EXPECT_EQ(
      With(client, AMDKFD_IOC_SET_TRAP_HANDLER, kfd_ioctl_set_trap_handler_args{0, 0, client.gpu_id, 0}),
      -ESRCH);
  EXPECT_EQ(With(client, AMDKFD_IOC_SET_MEMORY_POLICY,
                 kfd_ioctl_set_memory_policy_args{0, 0, client.gpu_id, 0, 0, 0}),
            -ESRCH);
  EXPECT_EQ(With(client, AMDKFD_IOC_SET_SCRATCH_BACKING_VA,
                 kfd_ioctl_set_scratch_backing_va_args{0, client.gpu_id, 0}),
            -ENODEV);
}

// A fault plan makes any call fail without having done anything.
class FailNth : public FaultPlan {
 public:
  FailNth(FaultPoint point, uint64_t ordinal, int error) : point_(point), ordinal_(ordinal), error_(error) {}
  int At(FaultPoint point, uint64_t, uint64_t ordinal) override {
    return point == point_ && ordinal == ordinal_ ? error_ : 0;
  }

 private:
  FaultPoint point_;
  uint64_t ordinal_;
  int error_;
};

TEST(FaultPlans, FailAnIoctlAndAnAllocationAndLoseADoorbell) {
  FailNth ioctl(FaultPoint::kIoctl, 1, EIO);
  MockKernel::Options options;
  options.fault_plan = &ioctl;
  Client first(options);
  auto args = AllocArgs(first);
  EXPECT_EQ(first.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), -EIO);
  EXPECT_EQ(first.kernel->Resources().allocations, 0u);
  EXPECT_EQ(first.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);

  FailNth allocation(FaultPoint::kAllocate, 0, ENOMEM);
  options.fault_plan = &allocation;
  Client second(options);
  EXPECT_EQ(second.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), -ENOMEM);

  FailNth doorbell(FaultPoint::kDoorbell, 0, 1);
  options.fault_plan = &doorbell;
  Client third(options);
  Queue queue = third.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer signal = third.Alloc(4096);
  third.Submit(queue, Client::ReleaseMem(signal.va, 1, 1));
  third.kernel->RunUntilIdle();
  EXPECT_EQ(signal.words()[0], 0u) << "the lost doorbell was heard";
  third.Submit(queue, Client::ReleaseMem(signal.va + 4, 1, 1));
  third.kernel->RunUntilIdle();
  EXPECT_EQ(signal.words()[0], 1u);
  EXPECT_EQ(signal.words()[1], 1u);
}

}  // namespace
}  // namespace understudy::mockgpu
