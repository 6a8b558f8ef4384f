// SPDX-License-Identifier: Apache-2.0
#include "tests/mockgpu/client.h"

#include <fcntl.h>

#include <cstring>
#include <utility>

#include "src/base/bits.h"
#include "src/base/status.h"

namespace understudy::mockgpu {

namespace pm4 {
std::vector<uint32_t> Packet(uint32_t opcode, const std::vector<uint32_t>& body) {
  std::vector<uint32_t> packet = {3u << 30 | static_cast<uint32_t>(body.size() - 1) << 16 | opcode << 8};
  packet.insert(packet.end(), body.begin(), body.end());
  return packet;
}
}  // namespace pm4

uint32_t Lo(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t Hi(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

std::vector<uint32_t> Concat(std::initializer_list<std::vector<uint32_t>> parts) {
  std::vector<uint32_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Client::Client(MockKernel::Options options, bool acquire_vm) {
  auto created = MockKernel::Create(std::move(options));
  US_CHECK_OK(created);
  kernel = *std::move(created);
  kfd = kernel->Open("/dev/kfd", O_RDWR);
  drm = kernel->Open("/dev/dri/renderD128", O_RDWR);
  US_CHECK(kfd >= 0 && drm >= 0) << kfd << " " << drm;
  auto id = os::ReadTextFile(*kernel, "/sys/devices/virtual/kfd/kfd/topology/nodes/1/gpu_id");
  US_CHECK_OK(id);
  gpu_id = static_cast<uint32_t>(std::stoul(*id));
  if (!acquire_vm) return;
  kfd_ioctl_acquire_vm_args args{static_cast<uint32_t>(drm), gpu_id};
  US_CHECK(Call(AMDKFD_IOC_ACQUIRE_VM, &args) == 0) << "ACQUIRE_VM";
}

uint64_t Client::NextVa(uint64_t size) {
  const uint64_t va = next_va_;
  // A hole of one page after each, so that an overrun is seen.
  next_va_ += AlignUp(size, 4096) + 4096;
  return va;
}

Client::Buffer Client::Alloc(uint64_t size, uint32_t flags) {
  kfd_ioctl_alloc_memory_of_gpu_args args{};
  args.va_addr = NextVa(size);
  args.size = AlignUp(size, 4096);
  args.gpu_id = gpu_id;
  args.flags = flags;
  US_CHECK(Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args) == 0) << "ALLOC_MEMORY_OF_GPU";
  Buffer buffer;
  buffer.handle = args.handle;
  buffer.va = args.va_addr;
  buffer.size = args.size;
  buffer.mmap_offset = args.mmap_offset;
  auto cpu = kernel->Mmap(nullptr, args.size, PROT_READ | PROT_WRITE, MAP_SHARED, drm,
                          static_cast<int64_t>(args.mmap_offset));
  US_CHECK_OK(cpu);
  buffer.cpu = static_cast<uint8_t*>(*cpu);
  US_CHECK(MapOnGpu(buffer.handle) == 0) << "MAP_MEMORY_TO_GPU";
  return buffer;
}

int Client::MapOnGpu(uint64_t handle) {
  kfd_ioctl_map_memory_to_gpu_args args{};
  args.handle = handle;
  args.device_ids_array_ptr = reinterpret_cast<uint64_t>(&gpu_id);
  args.n_devices = 1;
  return Call(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &args);
}

int Client::UnmapOnGpu(uint64_t handle) {
  kfd_ioctl_unmap_memory_from_gpu_args args{};
  args.handle = handle;
  args.device_ids_array_ptr = reinterpret_cast<uint64_t>(&gpu_id);
  args.n_devices = 1;
  return Call(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &args);
}

int Client::Release(const Buffer& buffer) {
  int result = kernel->Munmap(buffer.cpu, buffer.size);
  if (result == 0) result = UnmapOnGpu(buffer.handle);
  kfd_ioctl_free_memory_of_gpu_args args{buffer.handle};
  if (result == 0) result = Call(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args);
  return result;
}

Client::Queue Client::CreateQueue(uint32_t type, uint64_t ring_bytes) {
  Queue queue;
  queue.type = type;
  queue.ring_bytes = ring_bytes;
  queue.ring = Alloc(ring_bytes);
  queue.pointers = Alloc(4096);
  queue.eop = Alloc(4096);
  kfd_ioctl_create_queue_args args{};
  args.ring_base_address = queue.ring.va;
  args.ring_size = static_cast<uint32_t>(ring_bytes);
  args.read_pointer_address = queue.pointers.va;
  args.write_pointer_address = queue.pointers.va + 8;
  args.gpu_id = gpu_id;
  args.queue_type = type;
  args.queue_percentage = 100;
  args.queue_priority = 7;
  if (type == KFD_IOC_QUEUE_TYPE_COMPUTE) {
    args.eop_buffer_address = queue.eop.va;
    args.eop_buffer_size = queue.eop.size;
    const SaveArea save = SaveAreaOfGpu();
    queue.save_area = Alloc(save.memory, kVramFlags);
    args.ctx_save_restore_address = queue.save_area.va;
    args.ctx_save_restore_size = save.size;
    args.ctl_stack_size = save.control_stack;
  }
  US_CHECK(Call(AMDKFD_IOC_CREATE_QUEUE, &args) == 0) << "CREATE_QUEUE";
  queue.id = args.queue_id;
  if (doorbells_ == nullptr) {
    doorbell_base_ = args.doorbell_offset & ~uint64_t{0x1fff};
    auto mapped = kernel->Mmap(nullptr, 0x2000, PROT_READ | PROT_WRITE, MAP_SHARED, kfd,
                               static_cast<int64_t>(doorbell_base_));
    US_CHECK_OK(mapped);
    doorbells_ = static_cast<uint8_t*>(*mapped);
  }
  queue.doorbell = reinterpret_cast<volatile uint64_t*>(doorbells_ + (args.doorbell_offset - doorbell_base_));
  return queue;
}

Client::SaveArea Client::SaveAreaOfGpu() {
  // What kfd_queue_ctx_save_restore_size of Linux 6.12 gives for the profiles' compute units, shader engines
  // and LDS: gfx_target_version, ctl_stack_size, cwsr_size, and the whole pages with 32 bytes a wave for
  // debuggers. Those of gfx1201 are what a card with 64 compute units shows in sysfs.
  constexpr struct {
    uint32_t version;
    SaveArea area;
  } kAreas[] = {
      {110000, {40960, 46047232, 46145536}}, {110500, {8192, 5578752, 5595136}},
      {120001, {28672, 30699520, 30765056}}, {90010, {36864, 63508480, 63639552}},
      {90402, {12288, 23203840, 23252992}},  {90500, {12288, 22687744, 22728704}},
  };
  auto text = os::ReadTextFile(*kernel, "/sys/devices/virtual/kfd/kfd/topology/nodes/1/properties");
  US_CHECK_OK(text);
  const std::string word = "gfx_target_version ";
  const uint32_t version = static_cast<uint32_t>(std::stoul(text->substr(text->find(word) + word.size())));
  for (const auto& known : kAreas) {
    if (known.version == version) return known.area;
  }
  US_CHECK(false) << "gfx_target_version " << version;
  return {};
}

int Client::DestroyQueue(Queue& queue) {
  kfd_ioctl_destroy_queue_args args{queue.id, 0};
  return Call(AMDKFD_IOC_DESTROY_QUEUE, &args);
}

void Client::Write(Queue& queue, const std::vector<uint32_t>& packets) {
  const uint64_t mask = queue.ring_bytes / 4 - 1;
  for (const uint32_t word : packets) queue.ring.words()[queue.put++ & mask] = word;
}

void Client::Ring(Queue& queue) {
  const uint64_t value = queue.type == KFD_IOC_QUEUE_TYPE_SDMA ? queue.put * 4 : queue.put;
  *reinterpret_cast<volatile uint64_t*>(queue.pointers.cpu + 8) = value;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  *queue.doorbell = value;
}

void Client::Submit(Queue& queue, const std::vector<uint32_t>& packets) {
  Write(queue, packets);
  Ring(queue);
}

Client::Buffer Client::Load(const uint32_t* code, size_t dwords, uint32_t flags) {
  Buffer buffer = Alloc(dwords * 4, flags);
  std::memcpy(buffer.cpu, code, dwords * 4);
  return buffer;
}

std::vector<uint32_t> Client::Dispatch(uint64_t code_va, uint64_t kernarg_va, uint32_t groups,
                                       uint32_t threads) {
  // SET_SH_REG offsets count from 0x2c00.
  const auto set = [](uint32_t reg, std::vector<uint32_t> values) {
    values.insert(values.begin(), reg - 0x2c00);
    return pm4::Packet(pm4::kSetShReg, values);
  };
  const uint32_t rsrc1 = 0 /* 8 VGPRs */ | 0xc0 << 12 /* denormals on */;
  const uint32_t rsrc2 = 2 << 1 /* user SGPRs */ | 1 << 7 /* work-group id x */;
  return Concat({
      set(0x2e0c, {Lo(code_va >> 8), Hi(code_va >> 8)}),
      set(0x2e12, {rsrc1, rsrc2}),
      set(0x2e28, {0}),
      set(0x2e18, {0}),
      set(0x2e40, {Lo(kernarg_va), Hi(kernarg_va)}),
      set(0x2e04, {0, 0, 0, threads, 1, 1, 0, 0}),
      pm4::Packet(pm4::kDispatchDirect, {groups, 1, 1, 1u << 15 | 1u << 2 | 1}),
  });
}

std::vector<uint32_t> Client::ReleaseMem(uint64_t va, uint64_t data, uint32_t data_sel, uint32_t int_sel,
                                         uint32_t context) {
  return pm4::Packet(pm4::kReleaseMem, {0x14 | 5 << 8, data_sel << 29 | int_sel << 24, Lo(va), Hi(va),
                                        Lo(data), Hi(data), context});
}

std::vector<uint32_t> Client::WaitMem(uint64_t va, uint32_t reference, uint32_t function) {
  return pm4::Packet(pm4::kWaitRegMem, {function | 1 << 4, Lo(va), Hi(va), reference, 0xffffffff, 4});
}

void Client::SetUpEventPage() {
  event_page = Alloc(KFD_SIGNAL_EVENT_LIMIT * 8);
  kfd_ioctl_create_event_args args{};
  args.event_page_offset = event_page.handle;
  args.event_type = KFD_IOC_EVENT_SIGNAL;
  US_CHECK(Call(AMDKFD_IOC_CREATE_EVENT, &args) == 0) << "CREATE_EVENT";
}

uint32_t Client::CreateEvent(uint32_t type, bool auto_reset, kfd_ioctl_create_event_args* out) {
  kfd_ioctl_create_event_args args{};
  args.event_type = type;
  args.auto_reset = auto_reset ? 1 : 0;
  US_CHECK(Call(AMDKFD_IOC_CREATE_EVENT, &args) == 0) << "CREATE_EVENT";
  if (out != nullptr) *out = args;
  return args.event_id;
}

int Client::Wait(std::vector<kfd_event_data>* events, bool all, uint32_t timeout_ms, uint32_t* wait_result) {
  kfd_ioctl_wait_events_args args{};
  args.events_ptr = reinterpret_cast<uint64_t>(events->data());
  args.num_events = static_cast<uint32_t>(events->size());
  args.wait_for_all = all ? 1 : 0;
  args.timeout = timeout_ms;
  const int result = Call(AMDKFD_IOC_WAIT_EVENTS, &args);
  *wait_result = args.wait_result;
  return result;
}

bool Client::WaitForWord(const uint32_t* word, uint32_t value) {
  const uint64_t deadline = kernel->MonotonicNanos() + 1000000000;
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
    if (kernel->MonotonicNanos() > deadline) return false;
    kernel->Pause();
  }
  return true;
}

}  // namespace understudy::mockgpu
