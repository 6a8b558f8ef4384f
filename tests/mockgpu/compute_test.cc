// SPDX-License-Identifier: Apache-2.0
// PM4 compute queues: packets written by hand, kernels as machine code, results read back by the host.
#include <gtest/gtest.h>

#include "tests/mockgpu/client.h"
#include "tests/mockgpu/kernels.h"

namespace understudy::mockgpu {
namespace {

using Buffer = Client::Buffer;
using Queue = Client::Queue;

void PutKernarg(const Buffer& buffer, uint64_t address, uint32_t value = 0) {
  buffer.words()[0] = Lo(address);
  buffer.words()[1] = Hi(address);
  buffer.words()[2] = value;
}

TEST(Compute, KernelWritesWhatTheHostReads) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer code = client.Load(kStoreIds, std::size(kStoreIds));
  Buffer out = client.Alloc(4096, kVramFlags), kernarg = client.Alloc(4096), signal = client.Alloc(4096);
  PutKernarg(kernarg, out.va);
  client.Submit(queue, Concat({Client::Dispatch(code.va, kernarg.va, 5, 32),
                               Client::ReleaseMem(signal.va, 0x1234, 1)}));
  ASSERT_TRUE(client.WaitForWord(signal.words(), 0x1234)) << client.kernel->EventsText();
  for (uint32_t i = 0; i < 160; ++i) ASSERT_EQ(out.words()[i], i + 7) << "element " << i;
  EXPECT_EQ(out.words()[160], 0u) << "a sixth work-group has run";
  EXPECT_FALSE(client.kernel->LastFault().has_value());

  const MockStats stats = client.kernel->Stats();
  EXPECT_EQ(stats.dispatches, 1u);
  EXPECT_EQ(stats.workgroups, 5u);
  EXPECT_EQ(stats.waves, 5u);
  EXPECT_EQ(stats.wave_instructions, 5u * 8);
  EXPECT_EQ(stats.pm4_packets.at("DISPATCH_DIRECT"), 1u);
  EXPECT_EQ(stats.pm4_packets.at("RELEASE_MEM"), 1u);
  EXPECT_EQ(stats.pm4_packets.at("SET_SH_REG"), 6u);
}

TEST(Compute, NothingRunsBeforeTheDoorbell) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer signal = client.Alloc(4096);
  client.Write(queue, Client::ReleaseMem(signal.va, 1, 1));
  for (int i = 0; i < 10; ++i) client.kernel->Pause();
  EXPECT_EQ(signal.words()[0], 0u);
  client.Ring(queue);
  EXPECT_TRUE(client.WaitForWord(signal.words(), 1));
}

TEST(Compute, ReadPointerCountsDwordsAndWrapsWithTheRing) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
  Buffer signal = client.Alloc(4096);
  // Far more packets than the ring holds, so that packets straddle its end at every offset.
  uint64_t put = 0;
  for (uint32_t i = 1; i <= 1000; ++i) {
    const auto packet = Client::ReleaseMem(signal.va, i, 1);
    client.Submit(queue, packet);
    put += packet.size();
    ASSERT_TRUE(client.WaitForWord(signal.words(), i)) << "packet " << i;
  }
  client.kernel->RunUntilIdle();
  EXPECT_EQ(queue.read_pointer(), put % 1024);
}

TEST(Compute, TimestampsAdvanceAcrossADispatch) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer code = client.Load(kCountDown, std::size(kCountDown));
  Buffer out = client.Alloc(4096), kernarg = client.Alloc(4096), signal = client.Alloc(4096);
  PutKernarg(kernarg, out.va, 10000000);
  client.Submit(queue,
                Concat({Client::ReleaseMem(signal.va, 0, 3), Client::Dispatch(code.va, kernarg.va, 1, 1),
                        Client::ReleaseMem(signal.va + 8, 0, 3), Client::ReleaseMem(signal.va + 16, 1, 2)}));
  ASSERT_TRUE(client.WaitForWord(signal.words() + 4, 1));
  const auto* stamps = reinterpret_cast<const uint64_t*>(signal.cpu);
  // 30 million wave instructions at the card's peak of 476,544 a microsecond are 62 microseconds, at 100 MHz.
  EXPECT_GE(stamps[1] - stamps[0], 6000u);
  EXPECT_LT(stamps[1] - stamps[0], 20000u);
  EXPECT_EQ(out.words()[0], 1u);
}

TEST(Compute, MemoryPackets) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer data = client.Alloc(4096), signal = client.Alloc(4096);
  data.words()[20] = 0xabcd0001;
  data.words()[21] = 0xabcd0002;
  client.Submit(
      queue,
      Concat({
          pm4::Packet(pm4::kWriteData, {5 << 8 | 1 << 20, Lo(data.va), Hi(data.va), 11, 22, 33}),
          // The same address for all: the last value stays.
          pm4::Packet(pm4::kWriteData, {2 << 8 | 1 << 16, Lo(data.va + 64), Hi(data.va + 64), 1, 2, 3}),
          // Memory to memory, 64 bits; immediate to memory; clock to memory.
          pm4::Packet(pm4::kCopyData, {1 | 2 << 8 | 1 << 16, Lo(data.va + 80), Hi(data.va + 80),
                                       Lo(data.va + 128), Hi(data.va + 128)}),
          pm4::Packet(pm4::kCopyData, {5 | 2 << 8, 77, 0, Lo(data.va + 136), Hi(data.va + 136)}),
          pm4::Packet(pm4::kCopyData, {9 | 2 << 8 | 1 << 16, 0, 0, Lo(data.va + 144), Hi(data.va + 144)}),
          // Register to memory: what SET_SH_REG stored.
          pm4::Packet(pm4::kSetShReg, {0x240 + 3, 0x5555}),
          pm4::Packet(pm4::kCopyData, {0 | 2 << 8, 0x2e43, 0, Lo(data.va + 152), Hi(data.va + 152)}),
          pm4::Packet(pm4::kSetUconfigReg, {0x200, 0xe0000000}),
          pm4::Packet(pm4::kAcquireMem, {0, 0xffffffff, 0xffffffff, 0, 0, 0, 0x7fff}),
          pm4::Packet(pm4::kNop, {1, 2, 3, 4}),
          {3u << 30 | 0x3fffu << 16 | pm4::kNop << 8},  // a NOP of one dword
          // The HDP flush that drivers wait for: request and completion registers.
          pm4::Packet(pm4::kWaitRegMem, {5 | 1 << 6, 0xe26, 0xe27, 0xffffffff, 0xffffffff, 4}),
          Client::CsPartialFlush(),
          Client::ReleaseMem(signal.va, 9, 2),
      }));
  ASSERT_TRUE(client.WaitForWord(signal.words(), 9))
      << (client.kernel->LastFault() ? client.kernel->LastFault()->message : client.kernel->EventsText());
  EXPECT_EQ(data.words()[0], 11u);
  EXPECT_EQ(data.words()[1], 22u);
  EXPECT_EQ(data.words()[2], 33u);
  EXPECT_EQ(data.words()[16], 3u);
  EXPECT_EQ(data.words()[17], 0u);
  EXPECT_EQ(data.words()[32], 0xabcd0001u);
  EXPECT_EQ(data.words()[33], 0xabcd0002u);
  EXPECT_EQ(data.words()[34], 77u);
  EXPECT_EQ(data.words()[35], 0u);
  EXPECT_GT(data.words()[36], 0u);
  EXPECT_EQ(data.words()[38], 0x5555u);
}

TEST(Compute, WaitRegMemBlocksUntilTheHostStores) {
  struct Case {
    uint32_t function, reference, blocked, passing;
  };
  for (const Case& c : {Case{1, 10, 10, 9}, Case{2, 10, 11, 10}, Case{3, 10, 9, 10}, Case{4, 0, 0, 1},
                        Case{5, 10, 9, 11}, Case{6, 10, 10, 11}}) {
    Client client;
    Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
    Buffer flag = client.Alloc(4096), signal = client.Alloc(4096);
    flag.words()[0] = c.blocked;
    client.Submit(queue, Concat({Client::WaitMem(flag.va, c.reference, c.function),
                                 Client::ReleaseMem(signal.va, 1, 1)}));
    client.kernel->RunUntilIdle();
    EXPECT_EQ(signal.words()[0], 0u) << "function " << c.function;
    flag.words()[0] = c.passing;
    EXPECT_TRUE(client.WaitForWord(signal.words(), 1)) << "function " << c.function;
  }
}

TEST(Compute, QueuesWaitForEachOther) {
  Client client;
  Queue first = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE),
        second = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer a = client.Alloc(4096), b = client.Alloc(4096);
  client.Submit(second, Concat({Client::WaitMem(a.va, 5), Client::ReleaseMem(b.va, 6, 1)}));
  client.kernel->RunUntilIdle();
  EXPECT_EQ(b.words()[0], 0u);
  client.Submit(first, Client::ReleaseMem(a.va, 5, 1));
  EXPECT_TRUE(client.WaitForWord(b.words(), 6));
}

TEST(Compute, IndirectBuffersNestAndChain) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer ib = client.Alloc(8192), out = client.Alloc(4096);
  const auto write = [&](uint32_t slot, uint32_t value) {
    return pm4::Packet(pm4::kWriteData, {5 << 8, Lo(out.va + slot * 4), Hi(out.va + slot * 4), value});
  };
  const auto jump = [&](uint64_t offset, size_t dwords, uint32_t flags) {
    return pm4::Packet(pm4::kIndirectBuffer, {Lo(ib.va + offset), Hi(ib.va + offset),
                                              static_cast<uint32_t>(dwords) | 1 << 23 | flags});
  };
  const auto place = [&](uint64_t offset, const std::vector<uint32_t>& words) {
    std::copy(words.begin(), words.end(), ib.words() + offset / 4);
    return words.size();
  };
  // Ring -> A { write 0, -> B { write 1 }, write 2, chain C { write 3, skip over write 4 } }, write 5.
  const size_t b = place(1024, write(1, 11));
  const auto skipped = write(4, 14);
  const size_t c = place(
      2048,
      Concat({write(3, 13), pm4::Packet(pm4::kPredExec, {static_cast<uint32_t>(skipped.size()) | 2u << 24}),
              skipped}));
  const size_t a = place(0, Concat({write(0, 10), jump(1024, b, 0), write(2, 12), jump(2048, c, 1 << 20)}));
  client.Submit(queue, Concat({jump(0, a, 0), write(5, 15), Client::ReleaseMem(out.va + 64, 1, 1)}));
  ASSERT_TRUE(client.WaitForWord(out.words() + 16, 1))
      << (client.kernel->LastFault() ? client.kernel->LastFault()->message : client.kernel->EventsText());
  const uint32_t expected[] = {10, 11, 12, 13, 0, 15};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out.words()[i], expected[i]) << "slot " << i;
}

// Independent dispatches overlap under the random policy; what follows the barrier still sees them done.
TEST(Compute, EndOfPipeWaitsForAllDispatchesUnderEveryOrder) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    MockKernel::Options options;
    options.policy = Policy::kRandom;
    options.seed = seed;
    Client client(options);
    Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
    Buffer code = client.Load(kCountDown, std::size(kCountDown));
    Buffer out = client.Alloc(4096), kernarg = client.Alloc(4096), signal = client.Alloc(4096);
    std::vector<uint32_t> packets;
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t* arguments = kernarg.words() + i * 16;
      arguments[0] = Lo(out.va + i * 4);
      arguments[1] = Hi(out.va + i * 4);
      arguments[2] = 100000 * (4 - i);
      packets = Concat({packets, Client::Dispatch(code.va, kernarg.va + i * 64, 1, 1)});
    }
    client.Submit(queue, Concat({packets, Client::ReleaseMem(signal.va, 1, 1)}));
    ASSERT_TRUE(client.WaitForWord(signal.words(), 1)) << "seed " << seed;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out.words()[i], 1u) << "seed " << seed << ", dispatch " << i;
  }
}

TEST(Compute, APacketMayArriveInTwoDoorbells) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer signal = client.Alloc(4096);
  const auto packet = Client::ReleaseMem(signal.va, 3, 1);
  client.Submit(queue, {packet.begin(), packet.begin() + 5});
  client.kernel->RunUntilIdle();
  EXPECT_EQ(signal.words()[0], 0u);
  client.Submit(queue, {packet.begin() + 5, packet.end()});
  EXPECT_TRUE(client.WaitForWord(signal.words(), 3));
}

TEST(Compute, UpdateQueueSuspendsAndResumes) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer signal = client.Alloc(4096);
  kfd_ioctl_update_queue_args args{queue.ring.va, queue.id, static_cast<uint32_t>(queue.ring.size), 0, 7};
  ASSERT_EQ(client.Call(AMDKFD_IOC_UPDATE_QUEUE, &args), 0);
  client.Submit(queue, Client::ReleaseMem(signal.va, 1, 1));
  client.kernel->RunUntilIdle();
  EXPECT_EQ(signal.words()[0], 0u) << "a queue of 0 percent has run";
  args.queue_percentage = 100;
  ASSERT_EQ(client.Call(AMDKFD_IOC_UPDATE_QUEUE, &args), 0);
  EXPECT_TRUE(client.WaitForWord(signal.words(), 1));
}

}  // namespace
}  // namespace understudy::mockgpu
