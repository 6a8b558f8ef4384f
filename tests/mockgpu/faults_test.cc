// SPDX-License-Identifier: Apache-2.0
// Every kind of fault: the process is told by the KFD event that hardware would raise, the report names what
// a person needs, the queue stays stopped, other queues go on, and a new queue in the same process works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mockgpu/client.h"
#include "tests/mockgpu/kernels.h"

namespace understudy::mockgpu {
namespace {

using amd::FaultClass;
using amd::FaultReport;
using emu::MemoryFaultKind;
using testing::HasSubstr;
using Buffer = Client::Buffer;
using Queue = Client::Queue;

constexpr uint32_t kReadOnlyFlags = KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE;
constexpr uint32_t kDataFlags = KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;

// A process with both exception events, as drivers create them.
class Faults : public testing::Test {
 protected:
  Faults() {
    memory_event = client.CreateEvent(KFD_IOC_EVENT_MEMORY, true);
    hw_event = client.CreateEvent(KFD_IOC_EVENT_HW_EXCEPTION, true);
    kernarg = client.Alloc(4096);
    signal = client.Alloc(4096);
    signal.words()[0] = 0;
  }

  void PutKernarg(uint64_t address, uint32_t value = 0) {
    kernarg.words()[0] = Lo(address);
    kernarg.words()[1] = Hi(address);
    kernarg.words()[2] = value;
  }

  // Submits, waits for either exception event and returns the report.
  FaultReport Provoke(uint32_t queue_type, const std::vector<uint32_t>& packets) {
    Queue queue = client.CreateQueue(queue_type);
    client.Submit(queue, packets);
    std::vector<kfd_event_data> events(2);
    events[0].event_id = memory_event;
    events[1].event_id = hw_event;
    uint32_t result = 99;
    EXPECT_EQ(client.Wait(&events, false, 1000, &result), 0);
    EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE) << client.kernel->EventsText();
    memory = events[0].memory_exception_data;
    hw = events[1].hw_exception_data;
    const auto report = client.kernel->LastFault();
    EXPECT_TRUE(report.has_value());
    EXPECT_EQ(report->queue_id, queue.id);
    EXPECT_EQ(report->gpu_id, client.gpu_id);
    ExpectRecovery(queue);
    return report.value_or(FaultReport());
  }

  // The stopped queue does nothing more; another one does.
  void ExpectRecovery(Queue& stopped) {
    const uint32_t before = signal.words()[0];
    const auto mark = [&](uint32_t value) {
      return stopped.type == KFD_IOC_QUEUE_TYPE_SDMA
                 ? std::vector<uint32_t>{5u, Lo(signal.va), Hi(signal.va), value}
                 : Client::ReleaseMem(signal.va, value, 1);
    };
    client.Submit(stopped, mark(before + 100));
    client.kernel->RunUntilIdle();
    EXPECT_EQ(signal.words()[0], before) << "a stopped queue has run";
    EXPECT_EQ(client.DestroyQueue(stopped), 0);
    Queue fresh = client.CreateQueue(stopped.type);
    client.Submit(fresh, mark(before + 1));
    EXPECT_TRUE(client.WaitForWord(signal.words(), before + 1)) << "a new queue does not run";
    EXPECT_EQ(client.DestroyQueue(fresh), 0);
  }

  Client client;
  uint32_t memory_event = 0, hw_event = 0;
  Buffer kernarg, signal;
  kfd_hsa_memory_exception_data memory{};
  kfd_hsa_hw_exception_data hw{};
};

TEST_F(Faults, StoreToUnmappedMemory) {
  Buffer code = client.Load(kStoreOne, std::size(kStoreOne)), near = client.Alloc(4096);
  ASSERT_TRUE(client.kernel->NameAllocation(near.va, "activations").ok());
  PutKernarg(near.va + 4096 + 20, 1);
  const FaultReport report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::Dispatch(code.va, kernarg.va, 1, 1));
  EXPECT_EQ(memory.failure.NotPresent, 1u);
  EXPECT_EQ(memory.failure.ReadOnly, 0u);
  EXPECT_EQ(memory.failure.NoExecute, 0u);
  EXPECT_EQ(memory.gpu_id, client.gpu_id);
  EXPECT_EQ(memory.va, near.va + 4096) << "the kernel reports pages";

  EXPECT_EQ(report.fault, FaultClass::kMemory);
  EXPECT_EQ(report.access.kind, MemoryFaultKind::kUnmapped);
  EXPECT_EQ(report.access.address, near.va + 4096 + 20);
  EXPECT_EQ(report.access.nearest_label, "activations");
  EXPECT_EQ(report.access.distance, 20);
  EXPECT_EQ(report.kernel_va, code.va);
  EXPECT_EQ(report.pc, code.va + 7 * 4) << "the seventh dword is the store";
  EXPECT_THAT(report.instruction, HasSubstr("global_store_b32"));
  EXPECT_EQ(report.wave, 0);
  EXPECT_EQ(report.lane, 0);
  EXPECT_EQ(report.packet, "DISPATCH_DIRECT");
  EXPECT_THAT(report.message, HasSubstr("activations"));
}

TEST_F(Faults, LoadFromUnmappedMemory) {
  Buffer code = client.Load(kLoadOne, std::size(kLoadOne));
  PutKernarg(0x100);
  const FaultReport report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::Dispatch(code.va, kernarg.va, 1, 1));
  EXPECT_EQ(memory.failure.NotPresent, 1u);
  EXPECT_EQ(memory.va, 0u);
  EXPECT_EQ(report.access.access, emu::Access::kRead);
  EXPECT_THAT(report.instruction, HasSubstr("global_load_b32"));
}

TEST_F(Faults, StoreToReadOnlyMemory) {
  Buffer code = client.Load(kStoreOne, std::size(kStoreOne)), target = client.Alloc(4096, kReadOnlyFlags);
  target.words()[2] = 5;
  PutKernarg(target.va + 8, 1);
  const FaultReport report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::Dispatch(code.va, kernarg.va, 1, 1));
  EXPECT_EQ(memory.failure.ReadOnly, 1u);
  EXPECT_EQ(memory.failure.NotPresent, 0u);
  EXPECT_EQ(memory.va, target.va);
  EXPECT_EQ(report.access.kind, MemoryFaultKind::kReadOnly);
  EXPECT_EQ(target.words()[2], 5u);
}

TEST_F(Faults, ExecutionOfDataMemory) {
  Buffer code = client.Load(kStoreOne, std::size(kStoreOne), kDataFlags);
  PutKernarg(signal.va, 1);
  const FaultReport report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::Dispatch(code.va, kernarg.va, 1, 1));
  EXPECT_EQ(memory.failure.NoExecute, 1u);
  EXPECT_EQ(memory.va, code.va);
  EXPECT_EQ(report.access.kind, MemoryFaultKind::kNoExecute);
}

TEST_F(Faults, FreedMemoryIsNamed) {
  Buffer code = client.Load(kStoreOne, std::size(kStoreOne)), gone = client.Alloc(4096);
  ASSERT_TRUE(client.kernel->NameAllocation(gone.va, "weights").ok());
  PutKernarg(gone.va + 4, 1);
  ASSERT_EQ(client.Release(gone), 0);
  const FaultReport report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::Dispatch(code.va, kernarg.va, 1, 1));
  EXPECT_TRUE(report.access.was_freed);
  EXPECT_EQ(report.access.freed_label, "weights");
}

TEST_F(Faults, UserMemoryThatTheProcessUnmapped) {
  Buffer code = client.Load(kStoreOne, std::size(kStoreOne));
  auto host = client.kernel->Mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(host.ok());
  kfd_ioctl_alloc_memory_of_gpu_args args{};
  args.va_addr = client.NextVa(4096);
  args.size = 4096;
  args.mmap_offset = reinterpret_cast<uint64_t>(*host);
  args.gpu_id = client.gpu_id;
  args.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
  ASSERT_EQ(client.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
  ASSERT_EQ(client.MapOnGpu(args.handle), 0);
  PutKernarg(args.va_addr, 0x77);
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  client.Submit(queue, Client::Dispatch(code.va, kernarg.va, 1, 1));
  client.kernel->RunUntilIdle();
  EXPECT_EQ(*static_cast<uint32_t*>(*host), 0x77u);
  ASSERT_EQ(client.kernel->Munmap(*host, 4096), 0);
  const FaultReport report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::Dispatch(code.va, kernarg.va, 1, 1));
  EXPECT_EQ(memory.failure.NotPresent, 1u);
  EXPECT_EQ(report.access.address, args.va_addr);
}

TEST_F(Faults, IllegalInstruction) {
  Buffer code = client.Load(kIllegal, std::size(kIllegal));
  const FaultReport report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::Dispatch(code.va, kernarg.va, 1, 1));
  EXPECT_EQ(report.fault, FaultClass::kIllegalInstruction) << report.message;
  EXPECT_EQ(report.pc, code.va);
  EXPECT_EQ(hw.gpu_id, client.gpu_id);
  EXPECT_EQ(hw.memory_lost, 0u);
  EXPECT_EQ(hw.reset_type, uint32_t{KFD_HW_EXCEPTION_PER_ENGINE_RESET});
}

TEST_F(Faults, TrapWithoutAHandler) {
  Buffer code = client.Load(kTrap, std::size(kTrap));
  const FaultReport report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::Dispatch(code.va, kernarg.va, 1, 1));
  EXPECT_EQ(report.fault, FaultClass::kTrap) << report.message;
  EXPECT_EQ(hw.gpu_id, client.gpu_id);
}

TEST(FaultsWithBudget, EndlessLoopBecomesAHang) {
  MockKernel::Options options;
  options.instruction_budget = 1000000;
  Client client(options);
  const uint32_t hw_event = client.CreateEvent(KFD_IOC_EVENT_HW_EXCEPTION, false);
  Buffer code = client.Load(kSpin, std::size(kSpin)), kernarg = client.Alloc(4096);
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  client.Submit(queue, Client::Dispatch(code.va, kernarg.va, 1, 1));
  std::vector<kfd_event_data> events(1);
  events[0].event_id = hw_event;
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 10000, &result), 0);
  ASSERT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE);
  EXPECT_EQ(client.kernel->LastFault()->fault, FaultClass::kHang);
  EXPECT_THAT(client.kernel->LastFault()->instruction, HasSubstr("s_branch"));
}

TEST_F(Faults, DestroyingAQueueStopsItsEndlessKernel) {
  Buffer code = client.Load(kSpin, std::size(kSpin));
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  client.Submit(queue, Client::Dispatch(code.va, kernarg.va, 1, 1));
  for (int i = 0; i < 3; ++i) client.kernel->Pause();
  EXPECT_FALSE(client.kernel->LastFault().has_value());
  EXPECT_EQ(client.DestroyQueue(queue), 0);
  client.kernel->RunUntilIdle();
  Queue fresh = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  client.Submit(fresh, Client::ReleaseMem(signal.va, 1, 1));
  EXPECT_TRUE(client.WaitForWord(signal.words(), 1));
}

TEST_F(Faults, CopyEngineAndPacketsFaultToo) {
  Buffer ro = client.Alloc(4096, kReadOnlyFlags);
  FaultReport report =
      Provoke(KFD_IOC_QUEUE_TYPE_SDMA, {1u, 63, 0, Lo(signal.va), Hi(signal.va), 0xdead0000, 0x1});
  EXPECT_EQ(report.packet, "COPY");
  EXPECT_EQ(report.engine, "sdma");
  EXPECT_EQ(report.access.address, 0x1dead0000u);
  EXPECT_EQ(memory.va, 0x1dead0000u);

  report = Provoke(KFD_IOC_QUEUE_TYPE_SDMA, {5u, Lo(ro.va), Hi(ro.va), 1});
  EXPECT_EQ(memory.failure.ReadOnly, 1u);
  EXPECT_EQ(report.packet, "FENCE");

  report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, Client::ReleaseMem(0x5000, 1, 1));
  EXPECT_EQ(report.packet, "RELEASE_MEM");
  EXPECT_EQ(memory.va, 0x5000u);

  report = Provoke(KFD_IOC_QUEUE_TYPE_COMPUTE, pm4::Packet(pm4::kIndirectBuffer, {0x5000, 0, 4 | 1 << 23}));
  EXPECT_EQ(report.packet, "INDIRECT_BUFFER");
}

TEST_F(Faults, EndOfPipeEventsNeedTheirBuffer) {
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  kfd_ioctl_create_queue_args args{};
  args.ring_base_address = queue.ring.va;
  args.ring_size = 4096;
  args.read_pointer_address = queue.pointers.va + 16;
  args.write_pointer_address = queue.pointers.va + 24;
  args.gpu_id = client.gpu_id;
  args.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE;
  args.queue_percentage = 100;
  const Client::SaveArea save = client.SaveAreaOfGpu();
  args.ctx_save_restore_address = queue.save_area.va;
  args.ctx_save_restore_size = save.size;
  args.ctl_stack_size = save.control_stack;
  ASSERT_EQ(client.Call(AMDKFD_IOC_CREATE_QUEUE, &args), 0);
  Queue bare = queue;
  bare.id = args.queue_id;
  bare.doorbell = queue.doorbell + (args.queue_id - queue.id);
  client.Submit(bare, Client::ReleaseMem(signal.va, 1, 1));
  client.kernel->RunUntilIdle();
  ASSERT_TRUE(client.kernel->LastFault().has_value());
  EXPECT_EQ(client.kernel->LastFault()->fault, FaultClass::kMemory);
  EXPECT_EQ(client.kernel->LastFault()->access.address, 0u);
}

struct BadPacket {
  const char* name;
  uint32_t queue_type;
  std::vector<uint32_t> words;
  FaultClass fault;
  const char* packet;
  const char* field;
  int dword;
};

std::vector<uint32_t> WithWord(std::vector<uint32_t> words, size_t index, uint32_t value) {
  words[index] = value;
  return words;
}

constexpr uint32_t kPm4 = KFD_IOC_QUEUE_TYPE_COMPUTE, kSdma = KFD_IOC_QUEUE_TYPE_SDMA;
constexpr FaultClass kBad = FaultClass::kBadPacket, kNotModelled = FaultClass::kUnsupportedPacket;

const std::vector<uint32_t> kRelease = Client::ReleaseMem(0x10000, 1, 1);
const std::vector<uint32_t> kAcquire = pm4::Packet(pm4::kAcquireMem, {0, 0, 0, 0, 0, 0, 0});
const std::vector<uint32_t> kWaitReg = Client::WaitMem(0x10000, 1);
const std::vector<uint32_t> kCopy = {1u, 3, 0, 0x10000, 0, 0x20000, 0};

class MalformedPackets : public Faults, public testing::WithParamInterface<BadPacket> {};

TEST_P(MalformedPackets, AreRefusedByNameAndField) {
  const BadPacket& bad = GetParam();
  const FaultReport report = Provoke(bad.queue_type, bad.words);
  EXPECT_EQ(hw.gpu_id, client.gpu_id) << report.message;
  EXPECT_EQ(report.fault, bad.fault) << report.message;
  EXPECT_EQ(report.packet, bad.packet) << report.message;
  EXPECT_EQ(report.field, bad.field) << report.message;
  EXPECT_EQ(report.dword, bad.dword) << report.message;
  EXPECT_EQ(report.packet_index, 0u);
  EXPECT_THAT(report.message, HasSubstr(bad.packet));
  EXPECT_THAT(report.message, HasSubstr(bad.field));
}

INSTANTIATE_TEST_SUITE_P(
    Pm4, MalformedPackets,
    testing::Values(
        BadPacket{"Type0", kPm4, {0x00000000}, kNotModelled, "type-0 packet", "packet type", 0},
        BadPacket{"Type1", kPm4, {0x40000000}, kNotModelled, "type-1 packet", "packet type", 0},
        BadPacket{"Type2", kPm4, {0x80000000}, kNotModelled, "type-2 packet", "packet type", 0},
        BadPacket{"UnknownOpcode", kPm4, pm4::Packet(0xff, {0}), kBad, "unknown", "opcode", 0},
        BadPacket{"RefusedOpcode", kPm4, pm4::Packet(0x50, {0, 0, 0, 0, 0, 0}), kNotModelled, "DMA_DATA",
                  "opcode", 0},
        BadPacket{"RefusedGraphics", kPm4, pm4::Packet(0x2d, {0, 0}), kNotModelled, "DRAW_INDEX_AUTO",
                  "opcode", 0},
        BadPacket{"Predicated", kPm4, WithWord(kRelease, 0, kRelease[0] | 1), kNotModelled, "RELEASE_MEM",
                  "predicate", 0},
        BadPacket{"HeaderReserved", kPm4, WithWord(kRelease, 0, kRelease[0] | 4), kBad, "RELEASE_MEM",
                  "reserved bits", 0},
        BadPacket{"TooShort", kPm4, pm4::Packet(pm4::kReleaseMem, {0, 0}), kBad, "RELEASE_MEM", "count", 0},
        BadPacket{"TooLong", kPm4, pm4::Packet(pm4::kAcquireMem, {0, 0, 0, 0, 0, 0, 0, 0}), kBad,
                  "ACQUIRE_MEM", "count", 0},
        BadPacket{"LongerThanTheRing",
                  kPm4,
                  {3u << 30 | 0x2000u << 16 | 0x10u << 8},
                  kBad,
                  "NOP",
                  "packet length",
                  0},
        BadPacket{"ReleaseEventIndex", kPm4, WithWord(kRelease, 1, 0x14 | 3 << 8), kBad, "RELEASE_MEM",
                  "EVENT_INDEX", 1},
        BadPacket{"ReleaseEventType", kPm4, WithWord(kRelease, 1, 0x15 | 5 << 8), kNotModelled, "RELEASE_MEM",
                  "EVENT_TYPE", 1},
        BadPacket{"ReleaseIntSel", kPm4, WithWord(kRelease, 2, 1u << 29 | 5 << 24), kNotModelled,
                  "RELEASE_MEM", "INT_SEL", 2},
        BadPacket{"ReleaseDataSel", kPm4, WithWord(kRelease, 2, 5u << 29), kNotModelled, "RELEASE_MEM",
                  "DATA_SEL", 2},
        BadPacket{"ReleaseDstSel", kPm4, WithWord(kRelease, 2, 1u << 29 | 2 << 16), kNotModelled,
                  "RELEASE_MEM", "DST_SEL", 2},
        BadPacket{"ReleaseAlignment", kPm4, WithWord(kRelease, 3, 0x10002), kBad, "RELEASE_MEM", "ADDRESS_LO",
                  3},
        BadPacket{"AcquireReserved", kPm4, WithWord(kAcquire, 7, 1u << 19), kBad, "ACQUIRE_MEM",
                  "reserved bits", 7},
        BadPacket{"WaitFunction", kPm4, WithWord(kWaitReg, 1, 7 | 1 << 4), kBad, "WAIT_REG_MEM", "FUNCTION",
                  1},
        BadPacket{"WaitSpace", kPm4, WithWord(kWaitReg, 1, 3 | 2 << 4), kBad, "WAIT_REG_MEM", "MEM_SPACE", 1},
        BadPacket{"WaitRegister", kPm4, WithWord(kWaitReg, 1, 3), kNotModelled, "WAIT_REG_MEM",
                  "REG_POLL_ADDR", 2},
        BadPacket{"WaitAlignment", kPm4, WithWord(kWaitReg, 2, 0x10001), kBad, "WAIT_REG_MEM",
                  "MEM_POLL_ADDR_LO", 2},
        BadPacket{"ShRegister", kPm4, pm4::Packet(pm4::kSetShReg, {0x10, 0}), kNotModelled, "SET_SH_REG",
                  "register", 2},
        BadPacket{"ShRange", kPm4, pm4::Packet(pm4::kSetShReg, {0x400, 0}), kBad, "SET_SH_REG",
                  "register offset", 1},
        BadPacket{"ThreadTrace", kPm4, pm4::Packet(pm4::kSetShReg, {0x21e, 1}), kNotModelled, "SET_SH_REG",
                  "COMPUTE_THREAD_TRACE_ENABLE", 2},
        BadPacket{"Initiator", kPm4, pm4::Packet(pm4::kDispatchDirect, {1, 1, 1, 0}), kBad, "DISPATCH_DIRECT",
                  "COMPUTE_DISPATCH_INITIATOR", 4},
        BadPacket{"NoThreads", kPm4, pm4::Packet(pm4::kDispatchDirect, {1, 1, 1, 1}), kBad, "DISPATCH_DIRECT",
                  "COMPUTE_NUM_THREAD_X", 0},
        BadPacket{"Event", kPm4, pm4::Packet(pm4::kEventWrite, {0x33}), kNotModelled, "EVENT_WRITE",
                  "EVENT_TYPE", 1},
        BadPacket{"WriteDst", kPm4, pm4::Packet(pm4::kWriteData, {3 << 8, 0, 0, 1}), kNotModelled,
                  "WRITE_DATA", "DST_SEL", 1},
        BadPacket{"CopySrc", kPm4, pm4::Packet(pm4::kCopyData, {3 | 2 << 8, 0, 0, 0, 0}), kNotModelled,
                  "COPY_DATA", "SRC_SEL", 1},
        BadPacket{"IbValid", kPm4, pm4::Packet(pm4::kIndirectBuffer, {0x1000, 0, 4}), kBad, "INDIRECT_BUFFER",
                  "VALID", 3},
        BadPacket{"IbSize", kPm4, pm4::Packet(pm4::kIndirectBuffer, {0x1000, 0, 1 << 23}), kBad,
                  "INDIRECT_BUFFER", "IB_SIZE", 3},
        BadPacket{"IbChain", kPm4, pm4::Packet(pm4::kIndirectBuffer, {0x1000, 0, 4 | 1 << 23 | 1 << 20}),
                  kBad, "INDIRECT_BUFFER", "CHAIN", 3},
        BadPacket{"PredExec", kPm4, pm4::Packet(pm4::kPredExec, {1 << 24 | 2}), kBad, "PRED_EXEC", "place",
                  0}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Sdma, MalformedPackets,
    testing::Values(
        BadPacket{"UnknownOpcode", kSdma, {0x63}, kBad, "unknown", "opcode", 0},
        BadPacket{"RefusedOpcode", kSdma, {10}, kNotModelled, "ATOMIC", "opcode", 0},
        BadPacket{"CopyTiled", kSdma, WithWord(kCopy, 0, 1 | 1 << 8), kNotModelled, "COPY", "SUB_OP", 0},
        BadPacket{"CopyBroadcast", kSdma, WithWord(kCopy, 0, 1 | 1 << 27), kNotModelled, "COPY",
                  "header flags", 0},
        BadPacket{"CopyCount", kSdma, WithWord(kCopy, 1, 1u << 30), kBad, "COPY", "reserved bits", 1},
        BadPacket{"CopySwap", kSdma, WithWord(kCopy, 2, 1 << 16), kNotModelled, "COPY", "SW", 2},
        BadPacket{"FenceAlignment", kSdma, {5, 0x10002, 0, 1}, kBad, "FENCE", "ADDR_LO", 1},
        BadPacket{"TrapContext", kSdma, {6, 1u << 28}, kBad, "TRAP", "reserved bits", 1},
        BadPacket{"PollRegister",
                  kSdma,
                  {8 | 3u << 28, 0x10000, 0, 0, 0, 0xfffu << 16},
                  kNotModelled,
                  "POLL_REGMEM",
                  "MEM_POLL",
                  0},
        BadPacket{"PollRetry",
                  kSdma,
                  {8 | 3u << 28 | 1u << 31, 0x10000, 0, 0, 0, 5u << 16},
                  kNotModelled,
                  "POLL_REGMEM",
                  "RETRY_COUNT",
                  5},
        BadPacket{"FillAlignment", kSdma, {11 | 2u << 30, 0x10000, 0, 0, 4}, kBad, "CONST_FILL", "COUNT", 4},
        BadPacket{
            "FillSize", kSdma, {11, 0x10000, 0, 0x01020304, 3}, kNotModelled, "CONST_FILL", "FILLSIZE", 0},
        BadPacket{"TimestampSet", kSdma, {13, 0x10000, 0}, kNotModelled, "TIMESTAMP", "SUB_OP", 0},
        BadPacket{"IndirectEnd", kSdma, {4, 0x10000, 0, 8, 0, 0}, kBad, "INDIRECT", "end of the packet", 0}),
    [](const auto& info) { return info.param.name; });

TEST_F(Faults, DoorbellsThatMakeNoSense) {
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  *queue.doorbell = 5000;  // the ring holds 1024
  client.kernel->RunUntilIdle();
  ASSERT_TRUE(client.kernel->LastFault().has_value());
  EXPECT_EQ(client.kernel->LastFault()->fault, FaultClass::kRing);
  EXPECT_THAT(client.kernel->LastFault()->message, HasSubstr("write pointer 5000"));

  Queue sdma = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA);
  *sdma.doorbell = 6;
  client.kernel->RunUntilIdle();
  EXPECT_EQ(client.kernel->LastFault()->field, "doorbell value");
}

TEST_F(Faults, OtherQueuesGoOn) {
  Buffer code = client.Load(kIllegal, std::size(kIllegal));
  Queue good = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE),
        bad = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer gate = client.Alloc(4096);
  client.Submit(good, Concat({Client::WaitMem(gate.va, 1), Client::ReleaseMem(signal.va, 1, 1)}));
  client.Submit(bad, Client::Dispatch(code.va, kernarg.va, 1, 1));
  client.kernel->RunUntilIdle();
  ASSERT_TRUE(client.kernel->LastFault().has_value());
  gate.words()[0] = 1;
  EXPECT_TRUE(client.WaitForWord(signal.words(), 1));
}

}  // namespace
}  // namespace understudy::mockgpu
