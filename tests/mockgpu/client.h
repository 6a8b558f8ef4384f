// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client of the mock kernel for tests: raw ioctls and hand-made packets through os::Syscalls, as a
// user-mode driver would send them, written from kfd_ioctl.h and the packet headers alone. GPU addresses are
// deliberately not the host addresses of the same memory. Aborts when set-up fails; what a test is about
// returns a result.

#include <linux/kfd_ioctl.h>
#include <sys/mman.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "mockgpu/amd/mock_kernel.h"

namespace understudy::mockgpu {

constexpr uint32_t kGttFlags = KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE |
                               KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT;
constexpr uint32_t kVramFlags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC |
                                KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE;

// PM4 opcodes that tests build (nvd.h), and SDMA ones (sdma_v6_0_0_pkt_open.h).
namespace pm4 {
constexpr uint32_t kNop = 0x10, kDispatchDirect = 0x15, kPredExec = 0x23, kWriteData = 0x37,
                   kWaitRegMem = 0x3c, kIndirectBuffer = 0x3f, kCopyData = 0x40, kEventWrite = 0x46,
                   kReleaseMem = 0x49, kAcquireMem = 0x58, kSetShReg = 0x76, kSetUconfigReg = 0x79;
std::vector<uint32_t> Packet(uint32_t opcode, const std::vector<uint32_t>& body);
}  // namespace pm4

uint32_t Lo(uint64_t value);
uint32_t Hi(uint64_t value);
std::vector<uint32_t> Concat(std::initializer_list<std::vector<uint32_t>> parts);

class Client {
 public:
  explicit Client(MockKernel::Options options = {}, bool acquire_vm = true);

  struct Buffer {
    uint64_t handle = 0, va = 0, size = 0, mmap_offset = 0;
    uint8_t* cpu = nullptr;
    uint32_t* words() const { return reinterpret_cast<uint32_t*>(cpu); }
  };
  struct Queue {
    uint32_t id = 0, type = 0;
    Buffer ring, pointers, eop, save_area;
    volatile uint64_t* doorbell = nullptr;
    uint64_t ring_bytes = 0;
    uint64_t put = 0;  // dwords
    uint64_t read_pointer() const { return *reinterpret_cast<volatile uint64_t*>(pointers.cpu); }
  };

  template <class Args>
  int Call(unsigned long request, Args* args) {
    return kernel->Ioctl(kfd, request, args);
  }

  // Allocates, maps for the host and for the GPU.
  Buffer Alloc(uint64_t size, uint32_t flags = kGttFlags);
  int MapOnGpu(uint64_t handle);
  int UnmapOnGpu(uint64_t handle);
  // Everything back; 0 or the first -errno.
  int Release(const Buffer& buffer);
  uint64_t NextVa(uint64_t size);

  Queue CreateQueue(uint32_t type, uint64_t ring_bytes = 4096);
  // What a compute queue of this GPU must be created with.
  struct SaveArea {
    uint32_t control_stack, size;
    uint64_t memory;
  };
  SaveArea SaveAreaOfGpu();
  int DestroyQueue(Queue& queue);
  // Appends to the ring (wrapping) and rings the doorbell.
  void Submit(Queue& queue, const std::vector<uint32_t>& packets);
  void Write(Queue& queue, const std::vector<uint32_t>& packets);  // without the doorbell
  void Ring(Queue& queue);

  // Puts code into executable memory.
  Buffer Load(const uint32_t* code, size_t dwords, uint32_t flags = kGttFlags);
  // SET_SH_REG packets and a DISPATCH_DIRECT of `groups` work-groups of `threads` threads, wave32.
  static std::vector<uint32_t> Dispatch(uint64_t code_va, uint64_t kernarg_va, uint32_t groups,
                                        uint32_t threads);
  static std::vector<uint32_t> CsPartialFlush() { return pm4::Packet(pm4::kEventWrite, {7 | 4 << 8}); }
  // End of pipe: writes `data` (data_sel 1: 32 bits, 2: 64 bits, 3: GPU clock), int_sel as in the packet.
  static std::vector<uint32_t> ReleaseMem(uint64_t va, uint64_t data, uint32_t data_sel, uint32_t int_sel = 0,
                                          uint32_t context = 0);
  static std::vector<uint32_t> WaitMem(uint64_t va, uint32_t reference, uint32_t function = 5);

  // The page of event slots, as a client of a discrete GPU brings it.
  void SetUpEventPage();
  uint32_t CreateEvent(uint32_t type, bool auto_reset, kfd_ioctl_create_event_args* out = nullptr);
  // WAIT_EVENTS. Returns the ioctl's result; *wait_result is the kernel's.
  int Wait(std::vector<kfd_event_data>* events, bool all, uint32_t timeout_ms, uint32_t* wait_result);

  // Pauses until the 32-bit word has the value, or until a virtual second has passed.
  bool WaitForWord(const uint32_t* word, uint32_t value);

  std::unique_ptr<MockKernel> kernel;
  int kfd = -1, drm = -1;
  uint32_t gpu_id = 0;
  Buffer event_page;

 private:
  uint64_t next_va_ = 0x200000000000;
  uint8_t* doorbells_ = nullptr;
  uint64_t doorbell_base_ = 0;
};

// ioctl numbers newer than the installed header.
constexpr unsigned long kIocRuntimeEnable = _IOWR('K', 0x25, uint64_t[2]);

}  // namespace understudy::mockgpu
