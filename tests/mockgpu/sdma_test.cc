// SPDX-License-Identifier: Apache-2.0
// SDMA queues: copies, fills, writes, fences, polls, timestamps and indirect buffers, across ring wraps.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/mockgpu/client.h"

namespace understudy::mockgpu {
namespace {

using Buffer = Client::Buffer;
using Queue = Client::Queue;

std::vector<uint32_t> Copy(uint64_t from, uint64_t to, uint64_t bytes) {
  return {1u, static_cast<uint32_t>(bytes - 1), 0, Lo(from), Hi(from), Lo(to), Hi(to)};
}
std::vector<uint32_t> Fence(uint64_t va, uint32_t value) { return {5u | 3u << 16, Lo(va), Hi(va), value}; }
std::vector<uint32_t> Poll(uint64_t va, uint32_t value) {
  return {8u | 5u << 28 | 1u << 31, Lo(va), Hi(va), value, 0xffffffff, 0x04 | 0xfffu << 16};
}
std::vector<uint32_t> Fill(uint64_t va, uint32_t value, uint64_t bytes) {
  return {11u | 2u << 30, Lo(va), Hi(va), value, static_cast<uint32_t>(bytes - 1)};
}

void FillPattern(const Buffer& buffer, uint32_t seed) {
  for (uint64_t i = 0; i < buffer.size / 4; ++i)
    buffer.words()[i] = static_cast<uint32_t>(i * 2654435761u + seed);
}

TEST(Sdma, CopiesEveryByteAndNoOther) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA);
  Buffer from = client.Alloc(3 << 20, kVramFlags), to = client.Alloc(3 << 20), signal = client.Alloc(4096);
  uint32_t fence = 0;
  // Odd sizes and offsets, and one of several slices.
  for (const auto& [offset, bytes] :
       {std::pair<uint64_t, uint64_t>{0, 1}, {1, 3}, {7, 4096}, {4093, 4097}, {5, (5 << 19) + 11}}) {
    FillPattern(from, static_cast<uint32_t>(bytes));
    std::memset(to.cpu, 0xee, to.size);
    client.Submit(queue,
                  Concat({Copy(from.va + offset, to.va + offset + 2, bytes), Fence(signal.va, ++fence)}));
    ASSERT_TRUE(client.WaitForWord(signal.words(), fence)) << bytes;
    EXPECT_EQ(std::memcmp(to.cpu + offset + 2, from.cpu + offset, bytes), 0) << bytes;
    EXPECT_EQ(to.cpu[offset + 1], 0xee) << bytes;
    EXPECT_EQ(to.cpu[offset + 2 + bytes], 0xee) << bytes;
  }
  EXPECT_GT(client.kernel->Stats().sdma_bytes, uint64_t{5} << 19);
}

TEST(Sdma, TheRingWrapsAtEveryOffset) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA, 1024);
  Buffer from = client.Alloc(4096), to = client.Alloc(4096), signal = client.Alloc(4096);
  FillPattern(from, 1);
  for (uint32_t i = 1; i <= 600; ++i) {
    const uint64_t offset = i % 1000 * 4;
    to.words()[offset / 4] = 0;
    client.Submit(queue, Concat({Copy(from.va + offset, to.va + offset, 4), Fence(signal.va, i)}));
    ASSERT_TRUE(client.WaitForWord(signal.words(), i)) << "packet " << i;
    ASSERT_EQ(to.words()[offset / 4], from.words()[offset / 4]) << "packet " << i;
  }
  client.kernel->RunUntilIdle();
  // Bytes, and no wrap.
  EXPECT_EQ(queue.read_pointer(), 600u * 11 * 4);
}

TEST(Sdma, FillWriteTimestampAndNop) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA);
  Buffer data = client.Alloc(8192), signal = client.Alloc(4096);
  std::memset(data.cpu, 0xee, data.size);
  client.Submit(queue, Concat({
                           Fill(data.va + 4, 0x01020304, 400),
                           // Bytes: the data word repeats one.
                           {11u, Lo(data.va + 501), Hi(data.va + 501), 0x77777777, 10},
                           {2u, Lo(data.va + 1024), Hi(data.va + 1024), 2, 5, 6, 7},
                           {0u | 3u << 16, 1, 2, 3},
                           {0u},
                           {17u, 0, 0, 0, 0},
                           {13u | 2u << 8, Lo(data.va + 2048), Hi(data.va + 2048)},
                           Fence(signal.va, 1),
                       }));
  ASSERT_TRUE(client.WaitForWord(signal.words(), 1))
      << (client.kernel->LastFault() ? client.kernel->LastFault()->message : client.kernel->EventsText());
  EXPECT_EQ(data.words()[0], 0xeeeeeeeeu);
  for (int i = 1; i <= 100; ++i) ASSERT_EQ(data.words()[i], 0x01020304u) << i;
  EXPECT_EQ(data.words()[101], 0xeeeeeeeeu);
  EXPECT_EQ(data.cpu[500], 0xee);
  for (int i = 501; i < 512; ++i) EXPECT_EQ(data.cpu[i], 0x77) << i;
  EXPECT_EQ(data.cpu[512], 0xee);
  EXPECT_EQ(data.words()[256], 5u);
  EXPECT_EQ(data.words()[258], 7u);
  EXPECT_EQ(data.words()[259], 0xeeeeeeeeu);
  EXPECT_NE(data.words()[512], 0xeeeeeeeeu);
  const MockStats stats = client.kernel->Stats();
  EXPECT_EQ(stats.sdma_packets.at("CONST_FILL"), 2u);
  EXPECT_EQ(stats.sdma_packets.at("NOP"), 2u);
}

TEST(Sdma, PollsUntilTheHostStores) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA);
  Buffer flag = client.Alloc(4096), signal = client.Alloc(4096);
  client.Submit(queue, Concat({Poll(flag.va, 3), Fence(signal.va, 1)}));
  client.kernel->RunUntilIdle();
  EXPECT_EQ(signal.words()[0], 0u);
  flag.words()[0] = 2;
  client.kernel->RunUntilIdle();
  EXPECT_EQ(signal.words()[0], 0u);
  flag.words()[0] = 3;
  EXPECT_TRUE(client.WaitForWord(signal.words(), 1));
}

TEST(Sdma, IndirectBuffer) {
  Client client;
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA);
  Buffer ib = client.Alloc(4096), signal = client.Alloc(4096);
  const auto body = Fence(signal.va + 8, 5);
  std::copy(body.begin(), body.end(), ib.words());
  // Two NOPs, so that the packet of six dwords ends on a multiple of eight.
  client.Submit(queue, Concat({{0u, 0u}, {4u, Lo(ib.va), Hi(ib.va), 8, 0, 0}, Fence(signal.va, 1)}));
  ASSERT_TRUE(client.WaitForWord(signal.words(), 1))
      << (client.kernel->LastFault() ? client.kernel->LastFault()->message : client.kernel->EventsText());
  EXPECT_EQ(signal.words()[2], 5u);
}

TEST(Sdma, EnginesAndComputeHandOver) {
  Client client;
  Queue copy = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA),
        compute = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  Buffer from = client.Alloc(1 << 20), to = client.Alloc(1 << 20), signal = client.Alloc(4096);
  FillPattern(from, 9);
  client.Submit(compute, Concat({Client::WaitMem(signal.va, 1), Client::ReleaseMem(signal.va + 8, 2, 1)}));
  client.Submit(copy, Concat({Copy(from.va, to.va, to.size), Fence(signal.va, 1), Poll(signal.va + 8, 2),
                              Fence(signal.va + 16, 3)}));
  ASSERT_TRUE(client.WaitForWord(signal.words() + 4, 3));
  EXPECT_EQ(std::memcmp(from.cpu, to.cpu, to.size), 0);
}

}  // namespace
}  // namespace understudy::mockgpu
