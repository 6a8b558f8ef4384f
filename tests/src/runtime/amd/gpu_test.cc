// SPDX-License-Identifier: Apache-2.0
// The driver on the mock machine: memory, copies, launches, rings that wrap, queues that wait for each other.
// Expected values are computed on the host from the kernels' source.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/src/runtime/amd/mock_machine.h"

namespace understudy::amd {
namespace {

TEST_P(GpuTest, OpensAndClosesWithoutALeak) {
  Open();
  EXPECT_EQ(gpu_->isa(), GetParam());
  EXPECT_EQ(gpu_->lds_bytes(), GetParam() == "gfx950" ? 163840u : 65536u);
  EXPECT_GT(machine_->Resources().allocations, 0u);
  EXPECT_EQ(machine_->Resources().queues, 2u);
}

// The kernel driver ties a GPU's address space to the process and its first render node descriptor.
TEST_P(GpuTest, ASecondOpenInOneProcessIsRefusedByName) {
  Open();
  ASSERT_TRUE(gpu_->Close().ok());
  EXPECT_EQ(gpu_->Synchronize().code(), absl::StatusCode::kFailedPrecondition);
  const auto again = AmdGpu::Open(*machine_);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(std::string(again.status().message()).find("AMDKFD_IOC_ACQUIRE_VM"), std::string::npos)
      << again.status();
  EXPECT_NE(std::string(again.status().message()).find("once a process"), std::string::npos)
      << again.status();
}

TEST_P(GpuTest, IndexBeyondTheTopologyIsNotFound) {
  Open();
  const auto gpu = AmdGpu::Open(*machine_, 7);
  EXPECT_EQ(gpu.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(gpu.status().message(), "opening AMD GPU 7: the topology has 1 GPUs");
}

// Property: what went in comes out, for every size and alignment, and nothing beside it changes.
TEST_P(GpuTest, CopiesOfOddSizesAndAlignments) {
  GpuOptions options;
  options.staging_bytes = 65536;  // chunks of 16384: several for the larger sizes
  Open(options);
  std::mt19937 random(1);
  constexpr size_t kSize = 150000;
  const GpuBuffer buffer = New(kSize);
  std::vector<uint8_t> model(kSize, 0xaa);
  ASSERT_TRUE(gpu_->CopyIn(buffer.va, model.data(), kSize).ok());
  const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 4095, 4097, 16383, 16384, 16385, 49153, 100001};
  for (const size_t n : sizes) {
    for (int i = 0; i < 3; ++i) {
      const size_t at = random() % (kSize - n);
      std::vector<uint8_t> data(n);
      for (uint8_t& b : data) b = static_cast<uint8_t>(random());
      ASSERT_TRUE(gpu_->CopyIn(buffer.va + at, data.data(), n).ok());
      std::copy(data.begin(), data.end(), model.begin() + at);
      std::vector<uint8_t> back(n, 0x11);
      ASSERT_TRUE(gpu_->CopyOut(back.data(), buffer.va + at, n).ok());
      ASSERT_EQ(back, data) << n << " bytes at " << at;
    }
  }
  EXPECT_EQ(Download<uint8_t>(buffer, kSize), model);
}

TEST_P(GpuTest, CopiesWithinTheDevice) {
  Open();
  std::vector<uint8_t> data(10001);
  std::iota(data.begin(), data.end(), 0);
  const GpuBuffer a = Upload(data), b = New(20000);
  ASSERT_TRUE(gpu_->CopyWithin(b.va + 7, a.va + 1, 10000).ok());
  std::vector<uint8_t> back(10000);
  ASSERT_TRUE(gpu_->CopyOut(back.data(), b.va + 7, 10000).ok());
  EXPECT_TRUE(std::equal(back.begin(), back.end(), data.begin() + 1));
  const absl::Status overlap = gpu_->CopyWithin(a.va + 4, a.va, 8);
  EXPECT_NE(std::string(overlap.message()).find("the ranges overlap"), std::string::npos) << overlap;
}

TEST_P(GpuTest, CodeOfEveryVersionAddsTwoVectors) {
  Open();
  for (const int version : {5, 6}) {
    const auto code = gpu_->Load(Kernels(absl::StrCat("basic_v", version)));
    ASSERT_TRUE(code.ok()) << code.status();
    const auto kernel = (*code)->Kernel("add");
    ASSERT_TRUE(kernel.ok());
    const int n = 1000;  // not a multiple of the workgroup
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) x[i] = 0.5f * i, y[i] = 1000.0f - i;
    const GpuBuffer a = Upload(x), b = Upload(y), c = Upload(std::vector<float>(1024, -1.0f));
    ASSERT_TRUE(gpu_->Launch(*kernel, {{8, 1, 1}, {128, 1, 1}, 0},
                             {GlobalPointer{a.va}, GlobalPointer{b.va}, GlobalPointer{c.va}, Scalar(n)})
                    .ok());
    const std::vector<float> out = Download<float>(c, 1024);
    for (int i = 0; i < 1024; ++i) ASSERT_EQ(out[i], i < n ? x[i] + y[i] : -1.0f) << i;
    EXPECT_TRUE(gpu_->Unload(*code).ok());
  }
}

TEST_P(GpuTest, DynamicLdsAndBarriers) {
  Open();
  std::vector<uint32_t> in(4 * 256);
  std::iota(in.begin(), in.end(), 5);
  const GpuBuffer a = Upload(in), b = New(in.size() * 4);
  ASSERT_TRUE(gpu_->Launch(Kernel("reverse"), {{4, 1, 1}, {256, 1, 1}, 0},
                           {GlobalPointer{a.va}, GlobalPointer{b.va}, LocalBytes{1024}})
                  .ok());
  const auto out = Download<uint32_t>(b, in.size());
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i / 256 * 256 + 255 - i % 256]) << i;
}

TEST_P(GpuTest, ScratchOfEveryLaneIsItsOwn) {
  Open();
  for (const uint32_t k : {3u, 1000u}) {
    const GpuBuffer out = New(4 * 512);
    ASSERT_TRUE(
        gpu_->Launch(Kernel("scratch"), {{2, 1, 1}, {256, 1, 1}, 0}, {GlobalPointer{out.va}, Scalar(k)})
            .ok());
    const auto got = Download<uint32_t>(out, 512);
    for (uint32_t i = 0; i < 512; ++i) ASSERT_EQ(got[i], ((k + i % 256) & 63) * k + i % 256) << i;
  }
}

TEST_P(GpuTest, HiddenArgumentsTellTheShape) {
  Open();
  const GpuBuffer out = New(3 * 2 * 2 * 6 * 4);
  ASSERT_TRUE(gpu_->Launch(Kernel("shape"), {{3, 2, 2}, {8, 4, 2}, 0}, {GlobalPointer{out.va}}).ok());
  const auto got = Download<uint32_t>(out, 3 * 2 * 2 * 6);
  for (int g = 0; g < 12; ++g) {
    EXPECT_EQ(std::vector<uint32_t>(got.begin() + 6 * g, got.begin() + 6 * g + 6),
              (std::vector<uint32_t>{3, 2, 2, 8, 4, 2}))
        << "workgroup " << g;
  }
}

TEST_P(GpuTest, RelocatedVariablesAreRead) {
  Open();
  const auto code = gpu_->Load(Kernels("table_v5"));
  ASSERT_TRUE(code.ok()) << code.status();
  const auto kernel = (*code)->Kernel("read");
  ASSERT_TRUE(kernel.ok());
  const GpuBuffer out = New(4);
  ASSERT_TRUE(gpu_->Launch(*kernel, {}, {GlobalPointer{out.va}, Scalar(1)}).ok());
  EXPECT_EQ(Download<int>(out, 1)[0], 7 + 20);  // counter + first[1]
  ASSERT_TRUE(gpu_->Launch(*kernel, {}, {GlobalPointer{out.va}, Scalar(0)}).ok());
  EXPECT_EQ(Download<int>(out, 1)[0], 7 + 30);  // counter + second[0]
  const auto entry = (*code)->SymbolAddress("read");
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(*entry, kernel->entry_va);
  EXPECT_EQ((*code)->SymbolAddress("nothing").status().code(), absl::StatusCode::kNotFound);
}

// Property: n dependent launches count to n, whatever wraps on the way. The rings hold a few dozen launches.
TEST_P(GpuTest, ThousandsOfLaunchesThroughSmallRings) {
  GpuOptions options;
  options.compute_ring_bytes = 4096;
  options.sdma_ring_bytes = 4096;
  options.kernarg_bytes = 65536;
  Open(options);
  const GpuBuffer p = Upload(std::vector<uint32_t>(32, 0));
  constexpr uint32_t kLaunches = 3000;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    ASSERT_TRUE(
        gpu_->Launch(Kernel("increment"), {{1, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{p.va}, Scalar(32u)})
            .ok())
        << i;
  }
  EXPECT_EQ(Download<uint32_t>(p, 32), std::vector<uint32_t>(32, kLaunches));
  const GpuStats s = gpu_->stats();
  EXPECT_GT(s.compute_ring_wraps, 50);
  EXPECT_GT(s.kernarg_wraps, 5);
}

// Property: arguments stay what they were until their launch has read them, though the ring of launches is
// longer than the ring of arguments (the machine runs only while the host waits, so launches pile up).
TEST_P(GpuTest, ArgumentsLiveUntilTheirLaunchHasRun) {
  GpuOptions options;
  options.kernarg_bytes = 65536;
  Open(options);
  constexpr uint32_t kLaunches = 2000;
  const GpuBuffer out = Upload(std::vector<uint32_t>(kLaunches, 0));
  for (uint32_t i = 0; i < kLaunches; ++i) {
    ASSERT_TRUE(gpu_->Launch(Kernel("store_at"), {}, {GlobalPointer{out.va + 4 * i}, Scalar(i * 7 + 1)}).ok())
        << i;
  }
  const auto got = Download<uint32_t>(out, kLaunches);
  for (uint32_t i = 0; i < kLaunches; ++i) ASSERT_EQ(got[i], i * 7 + 1) << i;
}

// Property: on every lap the SDMA ring begins with a packet's header; packets never straddle its end. GPU
// addresses are host addresses, so the ring that CREATE_QUEUE names can be read here.
class SeesQueues : public os::Syscalls {
 public:
  explicit SeesQueues(os::Syscalls& inner) : inner_(inner) {}
  kfd_ioctl_create_queue_args sdma = {};
  int Ioctl(int fd, unsigned long request, void* arg) override {
    const int rc = inner_.Ioctl(fd, request, arg);
    if (rc == 0 && request == AMDKFD_IOC_CREATE_QUEUE) {
      const auto& args = *static_cast<kfd_ioctl_create_queue_args*>(arg);
      if (args.queue_type == KFD_IOC_QUEUE_TYPE_SDMA) sdma = args;
    }
    return rc;
  }
  int Open(const std::string& path, int flags) override { return inner_.Open(path, flags); }
  int Close(int fd) override { return inner_.Close(fd); }
  absl::StatusOr<void*> Mmap(void* a, size_t n, int p, int f, int fd, int64_t o) override {
    return inner_.Mmap(a, n, p, f, fd, o);
  }
  int Munmap(void* a, size_t n) override { return inner_.Munmap(a, n); }
  int64_t Pread(int fd, void* b, size_t n, int64_t o) override { return inner_.Pread(fd, b, n, o); }
  int64_t Read(int fd, void* b, size_t n) override { return inner_.Read(fd, b, n); }
  int ReadDir(const std::string& p, std::vector<os::DirEntry>* out) override {
    return inner_.ReadDir(p, out);
  }
  int Stat(const std::string& p, struct stat* out) override { return inner_.Stat(p, out); }
  int64_t Readlink(const std::string& p, char* b, size_t n) override { return inner_.Readlink(p, b, n); }
  void Pause() override { inner_.Pause(); }
  uint64_t MonotonicNanos() override { return inner_.MonotonicNanos(); }

 private:
  os::Syscalls& inner_;
};

TEST(SdmaRing, PacketsNeverStraddleItsEnd) {
  const auto machine = NewMachine();
  SeesQueues sys(*machine);
  GpuOptions options;
  options.sdma_ring_bytes = 4096;
  auto gpu = AmdGpu::Open(sys, 0, options);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  const auto a = (*gpu)->Allocate(4096), b = (*gpu)->Allocate(4096);
  ASSERT_TRUE(a.ok() && b.ok());
  const std::vector<uint8_t> zero(4096, 0);
  ASSERT_TRUE((*gpu)->CopyIn(a->va, zero.data(), 4096).ok());
  const auto* ring = reinterpret_cast<const uint32_t*>(sys.sdma.ring_base_address);
  int laps = 0;
  uint64_t last = 0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE((*gpu)->CopyWithin(b->va, a->va, 64).ok());
    ASSERT_TRUE((*gpu)->Synchronize().ok());
    const uint64_t end = *reinterpret_cast<const uint64_t*>(sys.sdma.write_pointer_address) / 4 % 1024;
    laps += end < last;
    last = end;
    uint64_t at = 0;
    while (at < end) {
      const std::map<uint32_t, int> kWords = {{0, 1}, {1, 7}, {5, 4}, {6, 2}, {8, 6}};  // by opcode
      const auto size = kWords.find(ring[at] & 0xff);
      ASSERT_NE(size, kWords.end()) << "copy " << i << ", word " << at << ": " << ring[at] << " is no header";
      at += size->second;
    }
    ASSERT_EQ(at, end) << "copy " << i;
  }
  EXPECT_GT(laps, 5);
}

// Property: launches and copies happen in program order though two queues do them. Every copy depends on the
// launch before it and every launch on the copy before it.
TEST_P(GpuTest, TheTwoQueuesWaitForEachOther) {
  GpuOptions options;
  options.compute_ring_bytes = options.sdma_ring_bytes = 4096;
  Open(options);
  const GpuBuffer a = Upload(std::vector<uint32_t>(64, 0)), b = New(256);
  uint32_t expected = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(
        gpu_->Launch(Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{a.va}, Scalar(64u)})
            .ok());
    ASSERT_TRUE(gpu_->CopyWithin(b.va, a.va, 256).ok());
    ASSERT_TRUE(
        gpu_->Launch(Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{b.va}, Scalar(64u)})
            .ok());
    ASSERT_TRUE(gpu_->CopyWithin(a.va, b.va, 256).ok());
    expected += 2;
    if (i % 50 == 25) {
      const std::vector<uint32_t> zero(64, 1000 * i);
      ASSERT_TRUE(gpu_->CopyIn(a.va, zero.data(), 256).ok());
      expected = 1000 * i;
    }
  }
  EXPECT_EQ(Download<uint32_t>(a, 64), std::vector<uint32_t>(64, expected));
  EXPECT_GT(gpu_->stats().sdma_ring_wraps, 5);
}

// The same under orders that a seed chooses.
TEST_P(GpuTest, TheTwoQueuesWaitForEachOtherInAnyOrder) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    mockgpu::MockKernel::Options machine;
    machine.seed = seed;
    machine.policy = mockgpu::Policy::kRandom;
    Open({}, std::move(machine));
    const GpuBuffer a = Upload(std::vector<uint32_t>(64, 0)), b = New(256);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(
          gpu_->Launch(Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{a.va}, Scalar(64u)})
              .ok());
      ASSERT_TRUE(gpu_->CopyWithin(b.va, a.va, 256).ok());
      ASSERT_TRUE(gpu_->CopyWithin(a.va, b.va, 256).ok());
    }
    EXPECT_EQ(Download<uint32_t>(a, 64), std::vector<uint32_t>(64, 10)) << "seed " << seed;
  }
}

// Property: nothing goes wrong when the low half of a timeline wraps (the hardware compares 32 bits).
TEST_P(GpuTest, TimelinesCrossThirtyTwoBits) {
  GpuOptions options;
  options.first_timeline = 0xffff'ffff - 20;
  Open(options);
  const GpuBuffer a = Upload(std::vector<uint32_t>(64, 0)), b = New(256);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(
        gpu_->Launch(Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{a.va}, Scalar(64u)})
            .ok());
    ASSERT_TRUE(gpu_->CopyWithin(b.va, a.va, 256).ok());
    ASSERT_EQ(Download<uint32_t>(b, 64), std::vector<uint32_t>(64, i + 1));
  }
  EXPECT_EQ(gpu_->stats().timeline_wraps, 2);
}

TEST_P(GpuTest, TimestampsAreOrderedAndCount) {
  Open();
  const GpuBuffer p = Upload(std::vector<uint32_t>(4096, 0));
  auto clock = gpu_->ReadClocks();
  ASSERT_TRUE(clock.ok()) << clock.status();
  uint64_t last = clock->gpu_ticks;
  for (int i = 0; i < 5; ++i) {
    LaunchTimes t;
    ASSERT_TRUE(gpu_->Launch(Kernel("increment"), {{32, 1, 1}, {128, 1, 1}, 0},
                             {GlobalPointer{p.va}, Scalar(4096u)}, &t)
                    .ok());
    EXPECT_GE(t.begin_ticks, last);
    EXPECT_GE(t.end_ticks, t.begin_ticks);
    EXPECT_EQ(t.device_ns, (t.end_ticks - t.begin_ticks) * 10);
    last = t.end_ticks;
  }
  clock = gpu_->ReadClocks();
  ASSERT_TRUE(clock.ok()) << clock.status();
  EXPECT_GE(clock->gpu_ticks, last) << "kernel driver and packets read one clock";
}

TEST_P(GpuTest, HostMemoryIsReachedWhereItLies) {
  Open();
  auto* host =
      static_cast<uint32_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(host, MAP_FAILED);
  std::iota(host, host + 64, 100);
  const auto buffer = gpu_->MapHost(host, 4096, {true, false, "host"});
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  ASSERT_TRUE(
      gpu_->Launch(Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{buffer->va}, Scalar(64u)})
          .ok());
  ASSERT_TRUE(gpu_->Synchronize().ok());
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(host[i], 101 + i);
  EXPECT_TRUE(gpu_->Free(*buffer).ok());
  munmap(host, 4096);
  EXPECT_EQ(gpu_->MapHost(host + 1, 4096).status().code(), absl::StatusCode::kInvalidArgument);
}

// Property: freed memory is used again while it is wanted, and given back when it is not.
TEST_P(GpuTest, FreedMemoryIsReusedAndTrimmed) {
  GpuOptions options;
  options.cache_limit = 1 << 20;
  Open(options);
  const GpuBuffer first = New(300000);
  ASSERT_TRUE(gpu_->Free(first).ok());
  EXPECT_EQ(New(300000).va, first.va);
  EXPECT_EQ(gpu_->stats().cache_hits, 1);
  EXPECT_NE(gpu_->Free({first.va + 4096, 4096, 0, MemoryKind::kVram, nullptr}).code(), absl::StatusCode::kOk);

  const uint64_t before = gpu_->live_bytes();
  std::vector<GpuBuffer> many;
  for (int i = 0; i < 20; ++i) many.push_back(New(200000 + 4096 * i));
  for (const GpuBuffer& b : many) ASSERT_TRUE(gpu_->Free(b).ok());
  ASSERT_TRUE(gpu_->Synchronize().ok());
  EXPECT_LE(gpu_->live_bytes(), before + options.cache_limit);
  ASSERT_TRUE(gpu_->TrimCache().ok());
  EXPECT_EQ(gpu_->live_bytes(), before);
}

TEST_P(GpuTest, MemoryFreedWhileInUseStaysUntilTheWorkIsDone) {
  Open();
  for (int i = 0; i < 20; ++i) {
    const GpuBuffer a = Upload(std::vector<uint32_t>(64, i)), out = New(256);
    ASSERT_TRUE(
        gpu_->Launch(Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{a.va}, Scalar(64u)})
            .ok());
    ASSERT_TRUE(gpu_->CopyWithin(out.va, a.va, 256).ok());
    ASSERT_TRUE(gpu_->Free(a).ok());
    const GpuBuffer reused = Upload(std::vector<uint32_t>(64, 777));  // the same memory, most likely
    EXPECT_EQ(Download<uint32_t>(out, 64), std::vector<uint32_t>(64, i + 1));
    ASSERT_TRUE(gpu_->Free(reused).ok());
    ASSERT_TRUE(gpu_->Free(out).ok());
  }
}

TEST_P(GpuTest, MemoryAndCodeGoBackToTheKernelOnlyAfterTheWork) {
  GpuOptions options;
  options.cache_limit = 0;
  Open(options);
  const auto code = gpu_->Load(Kernels("basic_v6"));
  ASSERT_TRUE(code.ok()) << code.status();
  const auto kernel = (*code)->Kernel("increment");
  ASSERT_TRUE(kernel.ok());
  const uint64_t before = gpu_->live_bytes();
  const GpuBuffer a = Upload(std::vector<uint32_t>(64, 5)), out = New(256);
  ASSERT_TRUE(gpu_->Launch(*kernel, {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{a.va}, Scalar(64u)}).ok());
  ASSERT_TRUE(gpu_->CopyWithin(out.va, a.va, 256).ok());
  // Nothing has run yet: the machine moves only while the host waits.
  ASSERT_TRUE(gpu_->Unload(*code).ok());
  ASSERT_TRUE(gpu_->Free(a).ok());
  EXPECT_EQ(Download<uint32_t>(out, 64), std::vector<uint32_t>(64, 6));
  ASSERT_TRUE(gpu_->Free(out).ok());
  ASSERT_TRUE(gpu_->Synchronize().ok());
  EXPECT_LT(gpu_->live_bytes(), before) << "the code object went as well";
}

TEST_P(GpuTest, MoreMemoryThanExistsIsRefusedAndTheDeviceGoesOn) {
  Open();
  const auto huge = gpu_->Allocate(uint64_t{64} << 30);
  EXPECT_EQ(huge.status().code(), absl::StatusCode::kResourceExhausted) << huge.status();
  EXPECT_NE(std::string(huge.status().message()).find("ALLOC_MEMORY_OF_GPU"), std::string::npos)
      << huge.status();
  EXPECT_EQ(gpu_->Allocate(0).status().code(), absl::StatusCode::kInvalidArgument);
  const GpuBuffer p = Upload(std::vector<uint32_t>(32, 1));
  EXPECT_EQ(Download<uint32_t>(p, 32), std::vector<uint32_t>(32, 1));
}

// Property: threads that share a GPU see it as their own.
TEST_P(GpuTest, SeveralThreadsShareTheGpu) {
  GpuOptions options;
  options.compute_ring_bytes = options.sdma_ring_bytes = 4096;
  Open(options);
  const LoadedKernel increment = Kernel("increment");
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  for (uint32_t id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      const auto work = [&]() -> absl::Status {
        for (uint32_t round = 0; round < 30; ++round) {
          US_ASSIGN_OR_RETURN(const GpuBuffer p, gpu_->Allocate(4096));
          const std::vector<uint32_t> in(64, id * 1000 + round);
          US_RETURN_IF_ERROR(gpu_->CopyIn(p.va, in.data(), 256));
          for (int i = 0; i < 5; ++i) {
            US_RETURN_IF_ERROR(
                gpu_->Launch(increment, {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{p.va}, Scalar(64u)}));
          }
          std::vector<uint32_t> out(64);
          US_RETURN_IF_ERROR(gpu_->CopyOut(out.data(), p.va, 256));
          if (out != std::vector<uint32_t>(64, in[0] + 5))
            return absl::DataLossError(absl::StrCat("round ", round));
          US_RETURN_IF_ERROR(gpu_->Free(p));
        }
        return absl::OkStatus();
      };
      errors[id] = std::string(work().message());
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& e : errors) EXPECT_EQ(e, "");
}

TEST_P(GpuTest, LaunchesThatTheHardwareCannotDoAreRefused) {
  Open();
  const GpuBuffer p = New(4096);
  const std::vector<ArgValue> args = {GlobalPointer{p.va}, Scalar(1u)};
  const auto expect = [&](LaunchShape shape, const char* message) {
    const absl::Status s = gpu_->Launch(Kernel("increment"), shape, args);
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
    EXPECT_NE(std::string(s.message()).find(message), std::string::npos) << s;
  };
  expect({{0, 1, 1}, {32, 1, 1}, 0},
         "launch of kernel 'increment': grid 0 and workgroup size 32 in dimension 0");
  expect({{1, 1, 1}, {32, 0, 1}, 0}, "workgroup size 0 in dimension 1");
  expect({{1, 1, 1}, {2048, 1, 1}, 0}, "workgroup size 2048 in dimension 0");
  expect({{1, 1, 1}, {32, 32, 2}, 0}, "a workgroup of 2048 work-items, the kernel allows");
  expect({{1u << 31, 1, 1}, {2, 1, 1}, 0}, "expected below 2^32");
  const uint32_t lds = gpu_->lds_bytes();
  const std::string too_much = absl::StrCat(lds + 1, " bytes of LDS, the device has ", lds);
  expect({{1, 1, 1}, {32, 1, 1}, lds + 1}, too_much.c_str());
  EXPECT_TRUE(gpu_->Synchronize().ok()) << "refused launches leave nothing behind";

  const auto other = gpu_->Load(BasicKernels("basic_gfx1030"));
  EXPECT_EQ(other.status().message(), "code object for gfx1030, the device is " + GetParam());
}

US_FOR_EVERY_GPU(GpuTest);

}  // namespace
}  // namespace understudy::amd
