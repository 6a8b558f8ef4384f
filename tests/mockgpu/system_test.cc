// SPDX-License-Identifier: Apache-2.0
// The machine as a whole: files and descriptors, the host kernel's own mmap, forked processes, several
// threads, reproducible runs, and nothing left behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "tests/mockgpu/client.h"
#include "tests/mockgpu/kernels.h"

namespace understudy::mockgpu {
namespace {

using Buffer = Client::Buffer;
using Queue = Client::Queue;

constexpr char kTopology[] = "/sys/devices/virtual/kfd/kfd/topology";

std::string ReadText(MockKernel& kernel, const std::string& path) {
  auto text = os::ReadTextFile(kernel, path);
  EXPECT_TRUE(text.ok()) << path << ": " << text.status();
  return text.value_or("");
}

std::map<std::string, uint64_t> Properties(MockKernel& kernel, const std::string& path) {
  std::map<std::string, uint64_t> properties;
  std::istringstream lines(ReadText(kernel, path));
  std::string name;
  uint64_t value;
  while (lines >> name >> value) properties[name] = value;
  return properties;
}

std::vector<std::string> Names(MockKernel& kernel, const std::string& path) {
  std::vector<os::DirEntry> entries;
  EXPECT_EQ(kernel.ReadDir(path, &entries), 0) << path;
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

TEST(System, Version) {
  Client client;
  kfd_ioctl_get_version_args args{};
  EXPECT_EQ(client.Call(AMDKFD_IOC_GET_VERSION, &args), 0);
  EXPECT_EQ(args.major_version, 1u);
  EXPECT_EQ(args.minor_version, 14u);
}

// The numbers of a Radeon RX 7900 XTX as Linux reports them.
TEST(System, TopologyOfOneCard) {
  Client client;
  MockKernel& kernel = *client.kernel;
  EXPECT_THAT(Names(kernel, std::string(kTopology) + "/nodes"), testing::ElementsAre("0", "1"));
  EXPECT_EQ(ReadText(kernel, std::string(kTopology) + "/nodes/0/gpu_id"), "0\n");
  EXPECT_NE(ReadText(kernel, std::string(kTopology) + "/nodes/1/gpu_id"), "0\n");
  EXPECT_EQ(ReadText(kernel, std::string(kTopology) + "/generation_id"), "2\n");
  EXPECT_THAT(ReadText(kernel, std::string(kTopology) + "/system_properties"),
              testing::HasSubstr("platform_oem"));

  const auto gpu = Properties(kernel, std::string(kTopology) + "/nodes/1/properties");
  EXPECT_EQ(gpu.at("simd_count"), 192u);
  EXPECT_EQ(gpu.at("gfx_target_version"), 110000u);
  EXPECT_EQ(gpu.at("vendor_id"), 0x1002u);
  EXPECT_EQ(gpu.at("device_id"), 0x744cu);
  EXPECT_EQ(gpu.at("lds_size_in_kb"), 64u);
  EXPECT_EQ(gpu.at("max_waves_per_simd"), 16u);
  EXPECT_EQ(gpu.at("array_count"), 12u);
  EXPECT_EQ(gpu.at("wave_front_size"), 32u);
  EXPECT_EQ(gpu.at("drm_render_minor"), 128u);
  EXPECT_EQ(gpu.at("num_xcc"), 1u);
  EXPECT_EQ(gpu.at("caches_count"), 206u);

  // Every count names as many directories.
  for (const char* node : {"0", "1"}) {
    const std::string path = std::string(kTopology) + "/nodes/" + node;
    const auto properties = Properties(kernel, path + "/properties");
    for (const auto& [count, directory] : std::map<std::string, std::string>{
             {"mem_banks_count", "mem_banks"}, {"caches_count", "caches"}, {"io_links_count", "io_links"}}) {
      std::vector<os::DirEntry> entries;
      const int result = kernel.ReadDir(path + "/" + directory, &entries);
      EXPECT_EQ(result == 0 ? entries.size() : 0, properties.at(count)) << path << " " << directory;
      for (const auto& entry : entries) {
        EXPECT_TRUE(entry.is_dir);
        EXPECT_FALSE(Properties(kernel, path + "/" + directory + "/" + entry.name + "/properties").empty());
      }
    }
  }
  const auto bank = Properties(kernel, std::string(kTopology) + "/nodes/1/mem_banks/0/properties");
  EXPECT_EQ(bank.at("size_in_bytes"), 25753026560u);
  EXPECT_EQ(bank.at("heap_type"), 1u);
}

TEST(System, IpDiscovery) {
  Client client;
  const std::string die = "/sys/class/drm/renderD128/device/ip_discovery/die/0";
  const std::map<std::string, std::string> expected = {{"11", "11.0.0"}, {"42", "6.0.0"}, {"108", "4.3.0"}};
  for (const auto& [hw_id, version] : expected) {
    std::string found;
    for (const char* part : {"major", "minor", "revision"}) {
      std::string text = ReadText(*client.kernel, die + "/" + hw_id + "/0/" + part);
      text.pop_back();
      found += (found.empty() ? "" : ".") + text;
    }
    EXPECT_EQ(found, version) << hw_id;
  }
}

TEST(System, FilesBehaveAsFiles) {
  Client client;
  MockKernel& kernel = *client.kernel;
  struct stat st;
  EXPECT_EQ(kernel.Stat("/dev/kfd", &st), 0);
  EXPECT_TRUE(S_ISCHR(st.st_mode));
  EXPECT_EQ(kernel.Stat("/dev/dri/renderD128", &st), 0);
  EXPECT_EQ(minor(st.st_rdev), 128u);
  EXPECT_EQ(kernel.Stat(kTopology, &st), 0);
  EXPECT_TRUE(S_ISDIR(st.st_mode));
  EXPECT_EQ(kernel.Stat("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", &st), 0);
  EXPECT_TRUE(S_ISREG(st.st_mode));
  EXPECT_EQ(kernel.Stat("/dev/kfd2", &st), -ENOENT);
  EXPECT_EQ(kernel.Stat("/etc/passwd", &st), -ENOENT) << "the mock serves its own files only";

  char link[256] = {};
  ASSERT_GT(kernel.Readlink("/sys/class/kfd/kfd", link, sizeof link), 0);
  EXPECT_STREQ(link, "../../devices/virtual/kfd/kfd");
  EXPECT_EQ(kernel.Readlink(kTopology, link, sizeof link), -EINVAL);
  EXPECT_EQ(kernel.Readlink("/nowhere", link, sizeof link), -ENOENT);

  EXPECT_EQ(kernel.Open("/nowhere", O_RDONLY), -ENOENT);
  EXPECT_EQ(kernel.Open(kTopology, O_RDONLY), -EISDIR);
  EXPECT_EQ(kernel.Open(std::string(kTopology) + "/generation_id", O_RDWR), -EACCES);
  std::vector<os::DirEntry> entries;
  EXPECT_EQ(kernel.ReadDir("/dev/kfd", &entries), -ENOTDIR);
  EXPECT_EQ(kernel.ReadDir("/nowhere", &entries), -ENOENT);

  const int fd = kernel.Open(std::string(kTopology) + "/generation_id", O_RDONLY);
  ASSERT_GE(fd, 0);
  char text[8] = {};
  // The host kernel reads the same descriptor.
  EXPECT_EQ(::pread(fd, text, sizeof text, 0), 2);
  EXPECT_STREQ(text, "2\n");
  EXPECT_EQ(kernel.Read(fd, text, 1), 1);
  EXPECT_EQ(kernel.Pread(fd, text, 8, 1), 1);
  EXPECT_EQ(kernel.Close(fd), 0);
  EXPECT_EQ(kernel.Close(fd), -EBADF);
  EXPECT_EQ(kernel.Read(client.kfd, text, 1), -EINVAL);
}

TEST(System, TheHostKernelsOwnMmapShowsDeviceMemory) {
  Client client;
  Buffer buffer = client.Alloc(8192, kVramFlags);
  auto* direct = static_cast<uint32_t*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, client.drm,
                                               static_cast<off_t>(buffer.mmap_offset)));
  ASSERT_NE(direct, MAP_FAILED);
  EXPECT_NE(reinterpret_cast<uint8_t*>(direct), buffer.cpu);
  direct[5] = 0x1234;
  EXPECT_EQ(buffer.words()[5], 0x1234u);
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  client.Submit(queue, Client::ReleaseMem(buffer.va + 4096, 0x77, 1));
  ASSERT_TRUE(client.WaitForWord(direct + 1024, 0x77));
  ::munmap(direct, 8192);
}

TEST(System, AForkedProcessSharesMemoryButNotTheDevice) {
  Client client;
  Buffer buffer = client.Alloc(4096);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    kfd_ioctl_get_version_args args{};
    // As Linux: a forked child cannot use its parent's /dev/kfd.
    const bool refused = client.kernel->Ioctl(client.kfd, AMDKFD_IOC_GET_VERSION, &args) == -EBADF;
    buffer.words()[0] = refused ? 41 : 1;
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(buffer.words()[0], 41u);
}

TEST(System, MmapIsCheckedAgainstLiveObjects) {
  Client client;
  Buffer buffer = client.Alloc(4096);
  const auto map = [&](int fd, uint64_t offset, size_t length, int flags) {
    return client.kernel->Mmap(nullptr, length, PROT_READ, flags, fd, static_cast<int64_t>(offset)).status();
  };
  EXPECT_TRUE(map(client.drm, buffer.mmap_offset, 4096, MAP_SHARED).ok());
  EXPECT_FALSE(map(client.drm, buffer.mmap_offset, 8192, MAP_SHARED).ok()) << "beyond the object";
  EXPECT_FALSE(map(client.drm, 0, 4096, MAP_SHARED).ok()) << "no object";
  EXPECT_FALSE(map(client.drm, buffer.mmap_offset, 4096, MAP_PRIVATE).ok()) << "a private copy";
  EXPECT_FALSE(map(client.kfd, 0, 4096, MAP_SHARED).ok());
  EXPECT_FALSE(map(12345, 0, 4096, MAP_SHARED).ok()) << "no descriptor";
  ASSERT_EQ(client.Release(buffer), 0);
  EXPECT_FALSE(map(client.drm, buffer.mmap_offset, 4096, MAP_SHARED).ok()) << "freed";
}

TEST(System, MemoryReadsAsZeroWhenNew) {
  Client client;
  for (int i = 0; i < 50; ++i) {
    Buffer buffer = client.Alloc(64 << 10, i % 2 == 0 ? kVramFlags : kGttFlags);
    for (uint64_t word = 0; word < buffer.size / 4; ++word) ASSERT_EQ(buffer.words()[word], 0u);
    std::memset(buffer.cpu, 0xff, buffer.size);
    ASSERT_EQ(client.Release(buffer), 0);
  }
}

TEST(System, AvailableMemoryFollowsAllocations) {
  Client client;
  const auto available = [&] {
    kfd_ioctl_get_available_memory_args args{0, client.gpu_id, 0};
    EXPECT_EQ(client.Call(AMDKFD_IOC_AVAILABLE_MEMORY, &args), 0);
    return args.available;
  };
  const uint64_t before = available();
  Buffer buffer = client.Alloc(1 << 20, kVramFlags);
  EXPECT_EQ(before - available(), uint64_t{1} << 20);
  client.Alloc(1 << 20);
  EXPECT_EQ(before - available(), uint64_t{1} << 20) << "GTT is host memory";
  ASSERT_EQ(client.Release(buffer), 0);
  EXPECT_EQ(available(), before);
}

TEST(System, Apertures) {
  Client client;
  kfd_ioctl_get_process_apertures_new_args args{};
  ASSERT_EQ(client.Call(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &args), 0);
  ASSERT_EQ(args.num_of_nodes, 1u);
  kfd_process_device_apertures aperture[2] = {};
  args.kfd_process_device_apertures_ptr = reinterpret_cast<uint64_t>(aperture);
  args.num_of_nodes = 2;
  ASSERT_EQ(client.Call(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &args), 0);
  EXPECT_EQ(args.num_of_nodes, 1u);
  EXPECT_EQ(aperture[0].gpu_id, client.gpu_id);
  EXPECT_EQ(aperture[0].lds_base, uint64_t{1} << 48);
  EXPECT_EQ(aperture[0].lds_limit, (uint64_t{1} << 48) + 0xffffffff);
  EXPECT_EQ(aperture[0].scratch_base, uint64_t{2} << 48);
  EXPECT_EQ(aperture[1].gpu_id, 0u);
}

TEST(System, ClocksAdvanceTogether) {
  Client client;
  kfd_ioctl_get_clock_counters_args first{}, second{};
  first.gpu_id = second.gpu_id = client.gpu_id;
  ASSERT_EQ(client.Call(AMDKFD_IOC_GET_CLOCK_COUNTERS, &first), 0);
  for (int i = 0; i < 1000; ++i) client.kernel->Pause();
  ASSERT_EQ(client.Call(AMDKFD_IOC_GET_CLOCK_COUNTERS, &second), 0);
  EXPECT_EQ(first.system_clock_freq, 1000000000u);
  EXPECT_GT(second.cpu_clock_counter, first.cpu_clock_counter);
  // 100 MHz against nanoseconds.
  EXPECT_NEAR(static_cast<double>(second.gpu_clock_counter - first.gpu_clock_counter) * 10,
              static_cast<double>(second.cpu_clock_counter - first.cpu_clock_counter), 20);
}

TEST(System, SeveralCardsHaveTheirOwnMemoryAndNames) {
  MockKernel::Options options;
  options.profiles = {amd::ProfileOf("gfx1100"), amd::ProfileOf("gfx1100")};
  Client client(options);
  EXPECT_THAT(Names(*client.kernel, std::string(kTopology) + "/nodes"), testing::ElementsAre("0", "1", "2"));
  const int second = client.kernel->Open("/dev/dri/renderD129", O_RDWR);
  ASSERT_GE(second, 0);
  const uint32_t second_id =
      static_cast<uint32_t>(std::stoul(ReadText(*client.kernel, std::string(kTopology) + "/nodes/2/gpu_id")));
  EXPECT_NE(second_id, client.gpu_id);
  kfd_ioctl_acquire_vm_args wrong{static_cast<uint32_t>(second), client.gpu_id};
  EXPECT_EQ(client.Call(AMDKFD_IOC_ACQUIRE_VM, &wrong), -EINVAL);
  kfd_ioctl_acquire_vm_args right{static_cast<uint32_t>(second), second_id};
  EXPECT_EQ(client.Call(AMDKFD_IOC_ACQUIRE_VM, &right), 0);
  // A buffer of the first card, mapped on both.
  Buffer buffer = client.Alloc(4096);
  uint32_t both[2] = {client.gpu_id, second_id};
  kfd_ioctl_map_memory_to_gpu_args map{buffer.handle, reinterpret_cast<uint64_t>(both), 2, 0};
  EXPECT_EQ(client.Call(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map), 0);
  EXPECT_EQ(map.n_success, 2u);
}

TEST(System, GpusThatAreNotModelledAreRefused) {
  const auto refuse = [](void (*change)(amd::GpuProfile&), const char* text) {
    MockKernel::Options options;
    change(options.profiles[0]);
    const auto created = MockKernel::Create(options);
    ASSERT_FALSE(created.ok()) << text;
    EXPECT_EQ(created.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(created.status().message()), testing::HasSubstr(text));
  };
  refuse([](amd::GpuProfile& p) { p.name = "gfx1030"; },
         "profile gfx1030 (gfx_target_version 110000): no such instruction set is modelled");
  refuse([](amd::GpuProfile& p) { p.ip_blocks[0].major = 10; }, "no command processor of its GC version");
  refuse([](amd::GpuProfile& p) { p.ip_blocks[1].major = 5; }, "no copy engine of its SDMA version");
  refuse([](amd::GpuProfile& p) { p.num_xcc = 8; }, "8 XCCs, expected 1");
}

TEST(System, ProfilesAreChosenByName) {
  const auto two = amd::ParseProfiles("gfx942,gfx1201");
  ASSERT_TRUE(two.ok()) << two.status();
  ASSERT_EQ(two->size(), 2u);
  EXPECT_EQ((*two)[0].gfx_target_version, 90402u);
  EXPECT_EQ((*two)[1].gfx_target_version, 120001u);
  EXPECT_EQ((*amd::ParseProfiles(""))[0].name, "gfx1100");
  EXPECT_EQ(amd::ParseProfiles("gfx1100,vega").status().message(),
            "no AMD GPU 'vega', expected of gfx1100, gfx1150, gfx1201, gfx90a, gfx942, gfx950");
}

// Two threads, a queue each, thousands of submissions: every one is seen by its own thread.
TEST(System, TwoThreadsDriveTwoQueues) {
  Client client;
  struct Lane {
    Queue queue;
    Buffer signal;
    bool ok = true;
  } lanes[2];
  for (Lane& lane : lanes) {
    lane.queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
    lane.signal = client.Alloc(4096);
  }
  const auto drive = [&](Lane& lane) {
    for (uint32_t i = 1; i <= 2000 && lane.ok; ++i) {
      client.Submit(lane.queue, Client::ReleaseMem(lane.signal.va, i, 1));
      lane.ok = client.WaitForWord(lane.signal.words(), i);
    }
  };
  std::thread other([&] { drive(lanes[1]); });
  drive(lanes[0]);
  other.join();
  EXPECT_TRUE(lanes[0].ok);
  EXPECT_TRUE(lanes[1].ok);
  EXPECT_EQ(client.kernel->Stats().pm4_packets.at("RELEASE_MEM"), 4000u);
}

// Threads that allocate, map, unmap and free at once leave nothing behind.
TEST(System, ThreadsAllocateAtOnce) {
  Client client;
  const MockResources before = client.kernel->Resources();
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&client, t] {
      for (int i = 0; i < 200; ++i) {
        kfd_ioctl_alloc_memory_of_gpu_args args{};
        args.va_addr = 0x300000000000 + t * (1 << 20);
        args.size = 4096 << (i % 4);
        args.gpu_id = client.gpu_id;
        args.flags = kVramFlags;
        ASSERT_EQ(client.Call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
        ASSERT_EQ(client.MapOnGpu(args.handle), 0);
        ASSERT_EQ(client.UnmapOnGpu(args.handle), 0);
        kfd_ioctl_free_memory_of_gpu_args free{args.handle};
        ASSERT_EQ(client.Call(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(client.kernel->Resources(), before);
}

struct Record {
  std::vector<Event> events;
  std::vector<uint32_t> memory;
};

// A workload with everything in it: two compute queues, a copy engine, dispatches that may overlap.
Record Workload(uint64_t seed, Policy policy) {
  MockKernel::Options options;
  options.seed = seed;
  options.policy = policy;
  Client client(options);
  client.SetUpEventPage();
  kfd_ioctl_create_event_args event{};
  client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true, &event);
  Queue a = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE),
        b = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE),
        sdma = client.CreateQueue(KFD_IOC_QUEUE_TYPE_SDMA);
  Buffer code = client.Load(kStoreIds, std::size(kStoreIds));
  Buffer out = client.Alloc(16384, kVramFlags), copy = client.Alloc(16384), kernarg = client.Alloc(4096),
         signal = client.Alloc(4096);
  for (uint32_t i = 0; i < 4; ++i) {
    kernarg.words()[i * 16] = Lo(out.va + i * 4096);
    kernarg.words()[i * 16 + 1] = Hi(out.va + i * 4096);
    client.Submit(i % 2 == 0 ? a : b, Client::Dispatch(code.va, kernarg.va + i * 64, 8, 32));
  }
  client.Submit(a, Client::ReleaseMem(signal.va, 1, 1));
  client.Submit(b, Concat({Client::WaitMem(signal.va, 1), Client::ReleaseMem(signal.va + 8, 1, 1)}));
  client.Submit(sdma, {8u | 5u << 28 | 1u << 31, Lo(signal.va + 8), Hi(signal.va + 8), 1, 0xffffffff,
                       0xfffu << 16, 1u, 16383, 0, Lo(out.va), Hi(out.va), Lo(copy.va), Hi(copy.va), 5u,
                       Lo(client.event_page.va + event.event_slot_index * 8), Hi(client.event_page.va),
                       event.event_id, 6u, event.event_id});
  std::vector<kfd_event_data> events(1);
  events[0].event_id = event.event_id;
  uint32_t result = 99;
  EXPECT_EQ(client.Wait(&events, true, 1000, &result), 0);
  EXPECT_EQ(result, KFD_IOC_WAIT_RESULT_COMPLETE) << "seed " << seed;
  Record run;
  run.events = client.kernel->Events();
  run.memory.assign(copy.words(), copy.words() + 4096);
  return run;
}

TEST(System, TheSameSeedGivesTheSameRun) {
  for (const Policy policy : {Policy::kInOrder, Policy::kRandom}) {
    std::set<size_t> orders;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const Record first = Workload(seed, policy), second = Workload(seed, policy);
      EXPECT_EQ(first.events, second.events) << "seed " << seed;
      EXPECT_EQ(first.memory, second.memory) << "seed " << seed;
      for (uint32_t i = 0; i < 4; ++i) {
        for (uint32_t j = 0; j < 256; ++j) ASSERT_EQ(first.memory[i * 1024 + j], j + 7) << "seed " << seed;
      }
      size_t order = 0;
      for (const Event& e : first.events) order = order * 31 + e.actor;
      orders.insert(order);
    }
    if (policy == Policy::kRandom) {
      EXPECT_GT(orders.size(), 4u) << "seeds do not change the order";
    } else {
      EXPECT_EQ(orders.size(), 1u);
    }
  }
}

TEST(System, NothingIsLeftAfterEverythingIsGivenBack) {
  Client client;
  const MockResources before = client.kernel->Resources();
  Queue queue = client.CreateQueue(KFD_IOC_QUEUE_TYPE_COMPUTE);
  const uint32_t event = client.CreateEvent(KFD_IOC_EVENT_SIGNAL, true);
  EXPECT_EQ(client.kernel->Resources().queues, 1u);
  EXPECT_EQ(client.kernel->Resources().allocations, 4u);
  ASSERT_EQ(client.DestroyQueue(queue), 0);
  for (const Buffer& buffer : {queue.ring, queue.pointers, queue.eop, queue.save_area})
    ASSERT_EQ(client.Release(buffer), 0);
  kfd_ioctl_destroy_event_args destroy{event, 0};
  ASSERT_EQ(client.Call(AMDKFD_IOC_DESTROY_EVENT, &destroy), 0);
  EXPECT_EQ(client.kernel->Resources(), before);
}

TEST(System, EventLogCanBeSwitchedOff) {
  MockKernel::Options options;
  options.log_events = false;
  Client client(options);
  EXPECT_TRUE(client.kernel->Events().empty());
  client.kernel->set_log_events(true);
  client.Alloc(4096);
  EXPECT_FALSE(client.kernel->Events().empty());
  EXPECT_THAT(client.kernel->EventsText(), testing::HasSubstr("allocate va=0x200000000000"));
}

}  // namespace
}  // namespace understudy::mockgpu
