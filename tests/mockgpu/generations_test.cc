// SPDX-License-Identifier: Apache-2.0
// What generations of GPUs spell differently, in dwords written by hand from the headers of the Linux driver
// (soc15d.h, nvd.h, vega10_sdma_pkt_open.h, sdma_v6_0_0_pkt_open.h, sdma_v7_0.c): each is taken by the GPUs
// whose it is and stops the queue by name on the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/mockgpu/client.h"

namespace understudy::mockgpu {
namespace {

using Buffer = Client::Buffer;
using Queue = Client::Queue;

constexpr uint32_t kPm4 = KFD_IOC_QUEUE_TYPE_COMPUTE, kSdma = KFD_IOC_QUEUE_TYPE_SDMA;

// Empty when the packets ran, else "packet: field" of the report.
std::string Refusal(const std::string& gpu, uint32_t type, const std::vector<uint32_t>& packets) {
  MockKernel::Options options;
  options.profiles = {amd::ProfileOf(gpu)};
  Client client(std::move(options));
  Queue queue = client.CreateQueue(type);
  Buffer signal = client.Alloc(4096);
  client.Submit(queue, packets);
  client.Submit(queue, type == kPm4 ? Client::ReleaseMem(signal.va, 1, 1)
                                    : std::vector<uint32_t>{5, Lo(signal.va), Hi(signal.va), 1});
  client.kernel->RunUntilIdle();
  const auto fault = client.kernel->LastFault();
  EXPECT_EQ(signal.words()[0], fault.has_value() ? 0u : 1u) << gpu;
  return fault.has_value() ? fault->packet + ": " + fault->field : "";
}

struct Spelling {
  const char* name;
  uint32_t queue_type;
  std::vector<uint32_t> words;
  // What GFX9, GFX11 and GFX12 say.
  const char *gfx9, *gfx11, *gfx12;
};

const Spelling kSpellings[] = {
    {"AcquireOfSixWords",
     kPm4,
     {0xc0055800, 0x28c40000, ~0u, 0xffffff, 0, 0, 10},
     "",
     "ACQUIRE_MEM: count",
     "ACQUIRE_MEM: count"},
    {"AcquireOfSevenWords",
     kPm4,
     {0xc0065800, 0, ~0u, 0xffffff, 0, 0, 0, 0xc3f1},
     "ACQUIRE_MEM: count",
     "",
     ""},
    {"CoherCntlReservedBit",
     kPm4,
     {0xc0055800, 0x80000000, ~0u, 0xffffff, 0, 0, 10},
     "ACQUIRE_MEM: reserved bits",
     "ACQUIRE_MEM: count",
     "ACQUIRE_MEM: count"},
    // Bit 12 is TCL1_VOL and GLM_WB, 14 nothing and GLV_INV, 29 PQ_EXE_STATUS and nothing.
    {"ReleaseBit14", kPm4, {0xc0064900, 0x4514, 0, 0, 0, 0, 0, 0}, "RELEASE_MEM: reserved bits", "", ""},
    {"ReleaseBit29",
     kPm4,
     {0xc0064900, 0x20000514, 0, 0, 0, 0, 0, 0},
     "",
     "RELEASE_MEM: reserved bits",
     "RELEASE_MEM: reserved bits"},
    // COMPUTE_PGM_RSRC3 of GFX9; COMPUTE_STATIC_THREAD_MGMT_SE6 later.
    {"Register2e2d", kPm4, {0xc0017600, 0x22d, 0}, "", "", ""},
    {"Register2e28", kPm4, {0xc0017600, 0x228, 0}, "SET_SH_REG: register", "", ""},
    {"ShaderEngine8",
     kPm4,
     {0xc0017600, 0x223, 0x55},
     "SET_SH_REG: COMPUTE_WAVE_RESTORE_ADDR_LO",
     "SET_SH_REG: register",
     ""},
    {"Wave32",
     kPm4,
     {0xc0031500, 1, 1, 1, 0x8001},
     "DISPATCH_DIRECT: COMPUTE_DISPATCH_INITIATOR bits",
     "DISPATCH_DIRECT: COMPUTE_NUM_THREAD_X",
     "DISPATCH_DIRECT: COMPUTE_NUM_THREAD_X"},
    {"AqlPacketOpcode", kPm4, {0xc0009900, 0}, "unknown: opcode", "AQL_PACKET: opcode", "AQL_PACKET: opcode"},
    {"FenceOfUncachedMemory",
     kSdma,
     {0x00030005, 0x1000, 0, 0},
     "FENCE: reserved bits",
     "FENCE: ",
     "FENCE: "},
    {"CacheRequest", kSdma, {17, 0, 0, 0, 0}, "unknown: opcode", "", ""},
    {"CopyOf8MiB", kSdma, {1, 0x7fffff, 0, 0, 0, 0, 0}, "COPY: reserved bits", "COPY: ", "COPY: "},
    {"CompressedCopy",
     kSdma,
     {1 | 1u << 19, 3, 0, 0x1000, 0, 0x2000, 0, 1},
     "COPY: header flags",
     "COPY: header flags",
     "COPY: DCC"},
};

TEST(Generations, TakeTheirOwnSpellingAndRefuseTheOthers) {
  for (const amd::GpuProfile& profile : amd::AllProfiles()) {
    const uint32_t major = profile.gfx_target_version / 10000;
    for (const Spelling& s : kSpellings) {
      EXPECT_EQ(Refusal(profile.name, s.queue_type, s.words), major == 9    ? s.gfx9
                                                              : major == 11 ? s.gfx11
                                                                            : s.gfx12)
          << profile.name << " " << s.name;
    }
  }
}

// SDMA 7: an announced eighth dword that says nothing of compression belongs to the copy.
TEST(Generations, CopiesOfEightWordsOnSdma7) {
  MockKernel::Options options;
  options.profiles = {amd::ProfileOf("gfx1201")};
  Client client(std::move(options));
  Queue queue = client.CreateQueue(kSdma);
  Buffer from = client.Alloc(4096), to = client.Alloc(4096);
  from.words()[0] = 0x12345678;
  client.Submit(queue, {1 | 1u << 19, 3, 0, Lo(from.va), Hi(from.va), Lo(to.va), Hi(to.va), 0, 5,
                        Lo(to.va + 8), Hi(to.va), 1});
  ASSERT_TRUE(client.WaitForWord(to.words() + 2, 1));
  EXPECT_EQ(to.words()[0], 0x12345678u);
}

// Every profile's files say what its table says, and name as many directories as they count.
TEST(Generations, TopologyOfEveryProfile) {
  for (const amd::GpuProfile& profile : amd::AllProfiles()) {
    MockKernel::Options options;
    options.profiles = {profile};
    Client client(std::move(options));
    const std::string node = "/sys/devices/virtual/kfd/kfd/topology/nodes/1";
    const auto text = os::ReadTextFile(*client.kernel, node + "/properties");
    ASSERT_TRUE(text.ok()) << text.status();
    const auto value = [&](const std::string& name) {
      const size_t at = ("\n" + *text).find("\n" + name + " ");
      EXPECT_NE(at, std::string::npos) << profile.name << " " << name;
      return std::stoull(text->substr(at + name.size() + 1));
    };
    EXPECT_EQ(value("gfx_target_version"), profile.gfx_target_version);
    EXPECT_EQ(value("device_id"), profile.device_id);
    EXPECT_EQ(value("wave_front_size"), profile.gfx_target_version < 100000 ? 64u : 32u);
    // Compute units find room in the arrays.
    EXPECT_LE(value("simd_count") / value("simd_per_cu"), value("array_count") * value("cu_per_simd_array"))
        << profile.name;
    std::vector<os::DirEntry> caches;
    ASSERT_EQ(client.kernel->ReadDir(node + "/caches", &caches), 0);
    EXPECT_EQ(caches.size(), value("caches_count")) << profile.name;
  }
}

}  // namespace
}  // namespace understudy::mockgpu
