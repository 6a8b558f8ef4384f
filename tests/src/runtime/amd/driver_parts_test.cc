// SPDX-License-Identifier: Apache-2.0
// The parts of the driver that need no machine: sysfs text, argument packing, packet words, ring bookkeeping.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <random>

#include "src/base/bits.h"
#include "src/base/file.h"
#include "src/base/status.h"
#include "src/runtime/amd/generation.h"
#include "src/runtime/amd/gpu.h"
#include "src/runtime/amd/kernel_args.h"
#include "src/runtime/amd/pm4.h"
#include "src/runtime/amd/ring_allocator.h"
#include "src/runtime/amd/sdma.h"
#include "src/runtime/amd/topology.h"
#include "src/runtime/os/host_syscalls.h"

namespace understudy::amd {
namespace {

// Files by path and nothing else: what a driver sees of a machine whose sysfs is as given.
class FakeFiles : public os::Syscalls {
 public:
  std::map<std::string, std::string> files;
  int opens = 0, closes = 0;
  bool one_byte_reads = false;

  int Open(const std::string& path, int) override {
    const auto it = files.find(path);
    if (it == files.end()) return -ENOENT;
    ++opens;
    open_.push_back({it->second, 0});
    return static_cast<int>(open_.size()) - 1;
  }
  int Close(int) override { return ++closes, 0; }
  int Ioctl(int, unsigned long, void*) override { return -ENOTTY; }
  absl::StatusOr<void*> Mmap(void*, size_t, int, int, int, int64_t) override {
    return os::ErrnoStatus(-ENOSYS, "mmap");
  }
  int Munmap(void*, size_t) override { return -ENOSYS; }
  int64_t Pread(int, void*, size_t, int64_t) override { return -ENOSYS; }
  int64_t Read(int fd, void* buf, size_t n) override {
    auto& [text, at] = open_[fd];
    n = std::min(one_byte_reads ? 1 : n, text.size() - at);
    std::memcpy(buf, text.data() + at, n);
    at += n;
    return static_cast<int64_t>(n);
  }
  int ReadDir(const std::string& path, std::vector<os::DirEntry>* out) override {
    std::map<std::string, bool> names;
    for (const auto& [file, text] : files) {
      if (file.rfind(path + "/", 0) != 0) continue;
      const std::string rest = file.substr(path.size() + 1);
      names[rest.substr(0, rest.find('/'))] |= rest.find('/') != std::string::npos;
    }
    if (names.empty()) return -ENOENT;
    for (const auto& [name, dir] : names) out->push_back({name, dir});
    return 0;
  }
  int Stat(const std::string&, struct stat*) override { return -ENOSYS; }
  int64_t Readlink(const std::string&, char*, size_t) override { return -ENOSYS; }
  void Pause() override {}
  uint64_t MonotonicNanos() override { return ++now_; }

 private:
  std::vector<std::pair<std::string, size_t>> open_;
  uint64_t now_ = 0;
};

// The properties of a Radeon RX 7900 XTX as Linux 6.x prints them (the lines that matter and some that do
// not).
constexpr char kNavi31[] =
    "cpu_cores_count 0\nsimd_count 192\nmem_banks_count 1\ncaches_count 206\nio_links_count 1\n"
    "max_waves_per_simd 16\nlds_size_in_kb 64\ngds_size_in_kb 0\nwave_front_size 32\narray_count 12\n"
    "simd_arrays_per_engine 2\ncu_per_simd_array 8\nsimd_per_cu 2\nmax_slots_scratch_cu 32\n"
    "gfx_target_version 110000\nvendor_id 4098\ndevice_id 29772\nlocation_id 768\ndrm_render_minor 128\n"
    "unique_id 18446744073709551615\nnum_xcc 1\n";

FakeFiles Machine() {
  FakeFiles sys;
  const std::string nodes = kTopologyNodes;
  sys.files[nodes + "/0/gpu_id"] = "0\n";
  sys.files[nodes + "/0/properties"] = "cpu_cores_count 16\n";
  sys.files[nodes + "/1/gpu_id"] = "51234\n";
  sys.files[nodes + "/1/properties"] = kNavi31;
  return sys;
}

TEST(Topology, ReadsTheGpuAndSkipsTheCpu) {
  for (const bool slow : {false, true}) {
    FakeFiles sys = Machine();
    sys.one_byte_reads = slow;
    const auto nodes = ReadTopology(sys);
    ASSERT_TRUE(nodes.ok()) << nodes.status();
    ASSERT_EQ(nodes->size(), 1u);
    const GpuNode& n = (*nodes)[0];
    EXPECT_EQ(n.node, 1);
    EXPECT_EQ(n.gpu_id, 51234u);
    EXPECT_EQ(n.isa(), "gfx1100");
    EXPECT_EQ(n.render_path(), "/dev/dri/renderD128");
    EXPECT_EQ(n.cu_count(), 96u);
    EXPECT_EQ(n.shader_engines(), 6u);
    EXPECT_EQ(n.properties.at("unique_id"), UINT64_MAX);
    EXPECT_EQ(sys.opens, sys.closes);
  }
}

TEST(Topology, NodesComeInNumericOrder) {
  FakeFiles sys = Machine();
  const std::string nodes = kTopologyNodes;
  for (const char* n : {"10", "2"}) {
    sys.files[nodes + "/" + n + "/gpu_id"] = std::string(n) + "00\n";
    sys.files[nodes + "/" + n + "/properties"] = kNavi31;
  }
  const auto list = ReadTopology(sys);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[0].node, 1);
  EXPECT_EQ((*list)[1].node, 2);
  EXPECT_EQ((*list)[2].node, 10);
}

TEST(Topology, GfxNamesAreLlvms) {
  GpuNode n;
  const std::pair<uint32_t, const char*> kNames[] = {
      {90010, "gfx90a"}, {90402, "gfx942"}, {100300, "gfx1030"}, {110501, "gfx1151"}, {120001, "gfx1201"}};
  for (const auto& [version, name] : kNames) {
    n.gfx_target_version = version;
    EXPECT_EQ(n.isa(), name);
  }
}

TEST(Topology, MalformedFilesAreRefusedByName) {
  const std::string path = std::string(kTopologyNodes) + "/1/properties";
  const struct {
    std::string file, text, message;
  } kCases[] = {
      {"/1/properties", "simd_count\n",
       "/1/properties:1: 'simd_count', expected a name and an unsigned decimal number"},
      {"/1/properties", "a 1\nsimd_count -4\n", ":2: 'simd_count -4', expected a name"},
      {"/1/properties", "a 1\na 2\n", ":2: a appears twice"},
      {"/1/properties", "simd_count 4\n", "no property gfx_target_version"},
      {"/1/gpu_id", "gpu\n", "/1/gpu_id: 'gpu\n', expected a decimal number"},
      {"/x/gpu_id", "1\n", "entry 'x', expected a node number"},
  };
  for (const auto& c : kCases) {
    FakeFiles sys = Machine();
    sys.files[kTopologyNodes + c.file] = c.text;
    const auto nodes = ReadTopology(sys);
    ASSERT_FALSE(nodes.ok()) << c.text;
    EXPECT_NE(std::string(nodes.status().message()).find(c.message), std::string::npos) << nodes.status();
    EXPECT_EQ(sys.opens, sys.closes) << c.text;
  }
  FakeFiles sys = Machine();
  std::string zero = kNavi31;
  zero.replace(zero.find("simd_per_cu 2"), 13, "simd_per_cu 0");
  sys.files[path] = zero;
  EXPECT_EQ(ReadTopology(sys).status().message(), path + ": simd_per_cu is 0, expected 1 to 4294967295");
}

TEST(Open, WithoutAKernelDriverSaysWhatIsMissing) {
  FakeFiles sys = Machine();
  const auto gpu = AmdGpu::Open(sys);
  ASSERT_FALSE(gpu.ok());
  EXPECT_EQ(gpu.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(gpu.status().message()).find("open /dev/kfd: No such file or directory"),
            std::string::npos)
      << gpu.status();
}

// USE_HW=1 on a machine without an AMD GPU.
TEST(Open, OnThisMachineGivesAGpuOrSaysWhy) {
  os::HostSyscalls host;
  const auto gpu = AmdGpu::Open(host);
  struct stat st;
  if (host.Stat("/dev/kfd", &st) >= 0) GTEST_SKIP() << "there is a /dev/kfd: " << gpu.status();
  ASSERT_FALSE(gpu.ok());
  EXPECT_NE(std::string(gpu.status().message())
                .find("opening AMD GPU 0: open /dev/kfd: No such file or directory (errno 2); "
                      "the AMD device needs the amdgpu kernel driver"),
            std::string::npos)
      << gpu.status();
}

// --- Arguments ---

class Arguments : public testing::Test {
 protected:
  void SetUp() override {
    const auto text = ReadFile("tests/src/runtime/amd/kernels/basic_v5.hsaco");
    ASSERT_TRUE(text.ok()) << text.status();
    auto object = CodeObject::Parse(std::vector<uint8_t>(text->begin(), text->end()));
    ASSERT_TRUE(object.ok()) << object.status();
    object_ = *std::move(object);
  }
  const KernelSymbol& Kernel(const char* name) { return **object_.FindKernel(name); }
  CodeObject object_;
};

TEST_F(Arguments, ArePackedAtTheOffsetsOfTheMetadata) {
  const auto packed = PackArgs(
      Kernel("add"), {GlobalPointer{0x1111}, GlobalPointer{0x2222}, GlobalPointer{0x3333}, Scalar(77)});
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_EQ(packed->kernarg.size(), 28u);
  EXPECT_EQ(LoadLE<uint64_t>(&packed->kernarg[0]), 0x1111u);
  EXPECT_EQ(LoadLE<uint64_t>(&packed->kernarg[16]), 0x3333u);
  EXPECT_EQ(LoadLE<uint32_t>(&packed->kernarg[24]), 77u);
  EXPECT_EQ(packed->dynamic_lds, 0u);
}

TEST_F(Arguments, LocalPointersBecomeOffsetsAndDynamicLds) {
  KernelSymbol k = Kernel("reverse");
  k.descriptor.group_segment_fixed_size = 10;  // as if the kernel had LDS of its own
  const auto packed = PackArgs(k, {GlobalPointer{1}, GlobalPointer{2}, LocalBytes{256}});
  ASSERT_TRUE(packed.ok()) << packed.status();
  EXPECT_EQ(LoadLE<uint32_t>(&packed->kernarg[16]), 12u) << "aligned to the pointee";
  EXPECT_EQ(packed->dynamic_lds, 258u);
}

TEST_F(Arguments, MismatchesAreNamed) {
  const struct {
    std::vector<ArgValue> values;
    const char* message;
  } kCases[] = {
      {{GlobalPointer{1}}, "kernel add, argument 1 (global_buffer, 8 bytes): missing, 1 were given"},
      {{GlobalPointer{1}, GlobalPointer{1}, Scalar(1)},
       "kernel add, argument 2 (global_buffer, 8 bytes): expected a GlobalPointer"},
      {{GlobalPointer{1}, GlobalPointer{1}, GlobalPointer{1}, Scalar(1.0)},
       "argument 3 (by_value, 4 bytes): expected a value of 4 bytes, got 8 bytes"},
      {{GlobalPointer{1}, GlobalPointer{1}, GlobalPointer{1}, GlobalPointer{1}},
       "expected a value of 4 bytes, got a pointer"},
      {{GlobalPointer{1}, GlobalPointer{1}, GlobalPointer{1}, Scalar(1), Scalar(1)},
       "kernel add takes 4 arguments, 5 were given"},
  };
  for (const auto& c : kCases) {
    const auto packed = PackArgs(Kernel("add"), c.values);
    ASSERT_FALSE(packed.ok()) << c.message;
    EXPECT_NE(std::string(packed.status().message()).find(c.message), std::string::npos) << packed.status();
  }
}

TEST_F(Arguments, HiddenArgumentsDescribeTheLaunch) {
  const KernelSymbol& k = Kernel("shape");
  LaunchShape shape = {{70000, 3, 2}, {64, 4, 1}, 512};
  std::vector<uint8_t> out(k.descriptor.kernarg_size, 0xee);
  const std::vector<uint8_t> args(8, 0x55);
  ASSERT_TRUE(FillKernarg(k, args, shape, {0x11, 0x22}, absl::MakeSpan(out)).ok());
  EXPECT_EQ(LoadLE<uint64_t>(&out[0]), 0x5555555555555555u);
  const uint8_t* hidden = &out[8];  // offsets: AMDGPUUsage, code object V5
  EXPECT_EQ(LoadLE<uint32_t>(hidden + 0), 70000u);
  EXPECT_EQ(LoadLE<uint32_t>(hidden + 4), 3u);
  EXPECT_EQ(LoadLE<uint32_t>(hidden + 8), 2u);
  EXPECT_EQ(LoadLE<uint16_t>(hidden + 12), 64u);
  EXPECT_EQ(LoadLE<uint16_t>(hidden + 14), 4u);
  EXPECT_EQ(LoadLE<uint16_t>(hidden + 16), 1u);
  EXPECT_EQ(LoadLE<uint16_t>(hidden + 18), 0u) << "remainder";
  EXPECT_EQ(LoadLE<uint64_t>(hidden + 40), 0u) << "global offset";
  EXPECT_EQ(LoadLE<uint16_t>(hidden + 64), 3u) << "grid dims";

  const auto few = FillKernarg(k, {args.data(), 7}, shape, {}, absl::MakeSpan(out));
  EXPECT_NE(std::string(few.message()).find("7 bytes of arguments, expected 8 to "), std::string::npos)
      << few;

  KernelSymbol service = k;
  service.args.push_back({"", "hidden_hostcall_buffer", 88, 8, 0});
  const auto missing = FillKernarg(service, args, shape, {}, absl::MakeSpan(out));
  EXPECT_EQ(missing.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(std::string(missing.message()).find("hidden_hostcall_buffer"), std::string::npos) << missing;
}

// --- What depends on the processor ---

GpuNode Node(uint32_t version, uint32_t cus, uint32_t simd_per_cu, uint32_t engines, uint32_t lds_kb = 64) {
  GpuNode n;
  n.gfx_target_version = version;
  n.simd_count = cus * simd_per_cu;
  n.simd_per_cu = simd_per_cu;
  n.array_count = engines;
  n.simd_arrays_per_engine = 1;
  n.lds_size_in_kb = lds_kb;
  return n;
}

TEST(Generation, SaveAreasAreTheKernelDrivers) {
  // sysfs of a card with 64 compute units of gfx1201: ctl_stack_size, cwsr_size.
  const GpuNode card = Node(120001, 64, 2, 4);
  const SaveArea area = SaveAreaOf(*GenerationOf(card), card);
  EXPECT_EQ(area.control_stack, 28672u);
  EXPECT_EQ(area.save_restore, 30699520u);
  // By hand from kfd_queue_ctx_save_restore_size: 38 compute units of 0x80000 + 0x4000 + 0x10000 + 0x1000
  // bytes, 1520 waves of 8 bytes with 8 and 40 more; 32 units with 160 KiB of LDS.
  const GpuNode xcc = Node(90402, 38, 4, 4);
  EXPECT_EQ(SaveAreaOf(*GenerationOf(xcc), xcc).control_stack, 12288u);
  EXPECT_EQ(SaveAreaOf(*GenerationOf(xcc), xcc).save_restore, 12288u + 38u * 0x95000);
  const GpuNode big_lds = Node(90500, 32, 4, 4, 160);
  EXPECT_EQ(SaveAreaOf(*GenerationOf(big_lds), big_lds).save_restore, 12288u + 32u * 0xad000);
  // Shader engines bound the waves before GFX10: 8 of 512, not 104 units of 40.
  const GpuNode mi210 = Node(90010, 104, 4, 8);
  EXPECT_EQ(SaveAreaOf(*GenerationOf(mi210), mi210).control_stack, 36864u);
}

TEST(Generation, UnknownProcessorsAndSeveralXccsAreRefusedByName) {
  const auto old = GenerationOf(Node(100300, 40, 2, 2));
  EXPECT_EQ(old.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(old.status().message(),
            "gfx1030 (gfx_target_version 100300): packets are written for gfx90a, gfx942, gfx950, gfx1100, "
            "gfx1101, gfx1102, gfx1103, gfx1150, gfx1151, gfx1152, gfx1153, gfx1200, gfx1201");
  GpuNode spx = Node(90402, 304, 4, 32);
  spx.properties["num_xcc"] = 8;
  const auto several = GenerationOf(spx);
  EXPECT_EQ(several.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(std::string(several.status().message()).find("gfx942 with num_xcc 8"), std::string::npos);
}

Generation Of(uint32_t version) { return *GenerationOf(Node(version, 8, 2, 1)); }

// --- Packets: words written out by hand from the packet descriptions ---

TEST(Pm4, WordsAreThoseOfThePacketDescription) {
  const Generation gfx11 = Of(110000);
  pm4::Builder b(gfx11.pm4);
  b.SetShReg(pm4::kComputePgmLo, {0x11223344, 0x55});
  b.Dispatch(1, 2, 3, 0x8005);
  b.WaitMemGreaterEqual(0x123456789abc, 7);
  b.ReleaseMem64(0xaabb00000010, 0x1'0000'0002);
  b.CsPartialFlush();
  const std::vector<uint32_t> expected = {
      0xc0027600, 0x20c,    0x11223344, 0x55,                           // SET_SH_REG COMPUTE_PGM_LO (0x2e0c)
      0xc0031500, 1,        2,          3,      0x8005,                 // DISPATCH_DIRECT
      0xc0053c00, 0x15,     0x56789abc, 0x1234, 7,      0xffffffff, 4,  // WAIT_REG_MEM memory, >=
      0xc0064900, 0x70f514, 0x40000000, 0x10,   0xaabb, 2,          1,
      0,                  // RELEASE_MEM end of pipe, 64-bit data
      0xc0004600, 0x407,  // EVENT_WRITE CS_PARTIAL_FLUSH
  };
  EXPECT_EQ(std::vector<uint32_t>(b.words().begin(), b.words().end()), expected);
}

// GFX12 takes the same (nvd.h, gc_12_0_0_offset.h); GFX9 names caches in CP_COHER_CNTL (soc15d.h, as
// gfx_v9_0_emit_mem_sync and gfx_v9_0_ring_emit_fence write it) and has COMPUTE_PGM_RSRC3 at 0x2e2d.
TEST(Pm4, CachesAndRegistersOfEachGeneration) {
  const auto words = [](uint32_t version) {
    const Generation g = Of(version);
    pm4::Builder b(g.pm4);
    b.AcquireMem(/*l2=*/false);
    b.AcquireMem(/*l2=*/true);
    b.ReleaseMem64(0xaabb00000010, 7);
    b.ReleaseMemInterrupt(0x1000, 5);
    b.SetPgmRsrc3(0x77);
    return std::vector<uint32_t>(b.words().begin(), b.words().end());
  };
  const std::vector<uint32_t> gcr = {
      0xc0065800,
      0,
      0xffffffff,
      0xffffff,
      0,
      0,
      0,
      0x3f0,  // GLM GLK write back and
              // invalidate, GLV GL1
      0xc0065800,
      0,
      0xffffffff,
      0xffffff,
      0,
      0,
      0,
      0xc3f1,  // and GLI, GL2
      0xc0064900,
      0x70f514,
      0x40000000,
      0x10,
      0xaabb,
      7,
      0,
      0,
      0xc0064900,
      0x514,
      0x22000000,
      0x1000,
      0,
      5,
      0,
      5,
      0xc0017600,
      0x228,
      0x77,
  };
  const std::vector<uint32_t> coher = {
      0xc0055800, 0x08400000, 0xffffffff, 0xffffff, 0,      0, 10,     // SH_KCACHE, TCL1
      0xc0055800, 0x28c40000, 0xffffffff, 0xffffff, 0,      0, 10,     // and SH_ICACHE, TC, TC_WB
      0xc0064900, 0x23'8514,  0x40000000, 0x10,     0xaabb, 7, 0,  0,  // TC_WB, TCL1, TC, TC_MD
      0xc0064900, 0x514,      0x22000000, 0x1000,   0,      5, 0,  5, 0xc0017600, 0x22d, 0x77,
  };
  for (const uint32_t version : {110000u, 110003u, 110500u, 120000u, 120001u})
    EXPECT_EQ(words(version), gcr) << version;
  for (const uint32_t version : {90010u, 90402u, 90500u}) EXPECT_EQ(words(version), coher) << version;
}

TEST(Sdma, WordsAreThoseOfThePacketDescription) {
  const Generation gfx11 = Of(110000);
  sdma::Builder b(gfx11.sdma);
  b.Copy(0x200000001000, 0x100000000003, 5);
  b.Fence(0x300000000040, 9);
  b.WaitMemGreaterEqual(0x400000000080, 11);
  b.Trap(3);
  const std::vector<uint32_t> expected = {
      1,          4,    0,      3,  0x1000,     0x1000,     0x2000,  // COPY_LINEAR, count - 1
      0x00030005, 0x40, 0x3000, 9,                                   // FENCE, uncached
      0xd0000008, 0x80, 0x4000, 11, 0xffffffff, 0x0fff0004,          // POLL_REGMEM memory, >=
      6,          3,                                                 // TRAP
  };
  EXPECT_EQ(std::vector<uint32_t>(b.words().begin(), b.words().end()), expected);
  EXPECT_EQ(std::vector<uint32_t>(b.packets().begin(), b.packets().end()),
            (std::vector<uint32_t>{7, 4, 6, 2}));
}

// SDMA 4: no memory type in FENCE, 22 bits of COPY_LINEAR's count (vega10_sdma_pkt_open.h).
TEST(Sdma, FencesAndCountsOfEachGeneration) {
  for (const auto& [version, fence, most] : {std::tuple{90010u, 5u, 1u << 22},
                                             {90402u, 5u, 1u << 22},
                                             {110500u, 0x30005u, 1u << 30},
                                             {120001u, 0x30005u, 1u << 30}}) {
    const Generation g = Of(version);
    sdma::Builder b(g.sdma);
    b.Fence(0x300000000040, 9);
    b.Copy(uint64_t{1} << 40, uint64_t{1} << 41, uint64_t{1} << 31);
    EXPECT_EQ(b.words()[0], fence) << version;
    uint64_t copied = 0;
    for (size_t at = 4; at < b.words().size(); at += 7) {
      EXPECT_LT(b.words()[at + 1], most) << version;
      copied += uint64_t{b.words()[at + 1]} + 1;
    }
    EXPECT_EQ(copied, uint64_t{1} << 31) << version;
  }
}

TEST(Sdma, LongCopiesAreSplitWithoutGapOrOverlap) {
  const Generation gfx11 = Of(110000);
  sdma::Builder b(gfx11.sdma);
  const uint64_t bytes = 2 * gfx11.sdma.max_copy + 17;
  b.Copy(uint64_t{1} << 40, uint64_t{1} << 41, bytes);
  ASSERT_EQ(b.packets().size(), 3u);
  uint64_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const uint32_t* w = b.words().data() + 7 * i;
    EXPECT_EQ(w[3] | uint64_t{w[4]} << 32, (uint64_t{1} << 41) + at);
    EXPECT_EQ(w[5] | uint64_t{w[6]} << 32, (uint64_t{1} << 40) + at);
    at += uint64_t{w[1]} + 1;
  }
  EXPECT_EQ(at, bytes);
}

// --- Rings ---

// Property: pieces in use never overlap and never leave the ring, whatever the sizes.
TEST(RingAllocator, PiecesInUseNeverOverlap) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    RingAllocator ring(4096);
    struct Piece {
      uint64_t begin, end, value;
    };
    std::vector<Piece> used;
    uint64_t value = 0, done = 0;
    for (int step = 0; step < 500; ++step) {
      const uint64_t size = 1 + random() % (seed % 2 ? 4096 : 300), align = uint64_t{1} << random() % 8;
      const auto offset = ring.TryAllocate(size, align);
      if (!offset) {
        ASSERT_FALSE(used.empty()) << "seed " << seed << ": an empty ring has room for " << size;
        ASSERT_TRUE(ring.OldestValue().has_value());
        done = *ring.OldestValue();
        ring.Release(done);
        std::erase_if(used, [&](const Piece& p) { return p.value <= done; });
        continue;
      }
      ASSERT_EQ(*offset % align, 0u);
      ASSERT_LE(*offset + size, 4096u) << "seed " << seed;
      for (const Piece& p : used) {
        ASSERT_TRUE(*offset >= p.end || *offset + size <= p.begin) << "seed " << seed << " step " << step;
      }
      ring.Retire(++value);
      used.push_back({*offset, *offset + size, value});
    }
    EXPECT_GT(ring.wraps(), 2u);
  }
}

}  // namespace
}  // namespace understudy::amd
