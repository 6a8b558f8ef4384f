// SPDX-License-Identifier: Apache-2.0
// Kernels and copies that go wrong: each fault is reported with work, cause and address, and after Recover
// the same process gets right results from memory that survived.
#include <gtest/gtest.h>

#include "tests/src/runtime/amd/mock_machine.h"

namespace understudy::amd {
namespace {

class GpuFaultTest : public GpuTest {
 protected:
  void SetUp() override {
    Open();
    kept_ = Upload(std::vector<uint32_t>(64, 41));
  }
  void Increment() {
    const absl::Status s =
        gpu_->Launch(Kernel("increment"), {{2, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{kept_.va}, Scalar(64u)});
    EXPECT_TRUE(s.ok()) << s;
  }
  // The device stopped with `code` and says every text of `texts`; it stays stopped until Recover, then
  // works.
  void ExpectFaultAndRecover(absl::StatusCode code, const std::vector<std::string>& texts) {
    const absl::Status fault = gpu_->Synchronize();
    ASSERT_EQ(fault.code(), code) << fault;
    for (const std::string& text : texts) {
      EXPECT_NE(std::string(fault.message()).find(text), std::string::npos)
          << fault << "\nexpected: " << text;
    }
    uint32_t word = 0;
    EXPECT_EQ(gpu_->CopyOut(&word, kept_.va, 4), fault) << "every call reports the fault until Recover";
    EXPECT_EQ(gpu_->Launch(Kernel("increment"), {}, {GlobalPointer{kept_.va}, Scalar(1u)}), fault);
    const absl::Status recovered = gpu_->Recover();
    ASSERT_TRUE(recovered.ok()) << recovered;
    EXPECT_FALSE(gpu_->fault().has_value());
    Increment();
    EXPECT_EQ(Download<uint32_t>(kept_, 64), std::vector<uint32_t>(64, ++expected_));
    EXPECT_TRUE(gpu_->Synchronize().ok());
  }
  GpuBuffer kept_;
  uint32_t expected_ = 41;
};

// Launches a kernel that spins on memory, expects the error, recovers, and reads memory back.
void GpuHangCheck(mockgpu::MockKernel::Options machine_options, const GpuOptions& options,
                  absl::StatusCode code, const std::string& text, bool* armed = nullptr) {
  const auto machine = NewMachine(std::move(machine_options));
  auto gpu = AmdGpu::Open(*machine, 0, options);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  const auto object = (*gpu)->Load(BasicKernels());
  ASSERT_TRUE(object.ok()) << object.status();
  const auto flag = (*gpu)->Allocate(4);
  ASSERT_TRUE(flag.ok());
  const uint32_t zero = 0;
  ASSERT_TRUE((*gpu)->CopyIn(flag->va, &zero, 4).ok());
  const auto kernel = (*object)->Kernel("forever");
  ASSERT_TRUE(kernel.ok());
  ASSERT_TRUE((*gpu)->Synchronize().ok());
  if (armed != nullptr) *armed = true;
  ASSERT_TRUE((*gpu)->Launch(*kernel, {}, {GlobalPointer{flag->va}}).ok());
  const absl::Status s = (*gpu)->Synchronize();
  if (armed != nullptr) *armed = false;
  ASSERT_EQ(s.code(), code) << s;
  EXPECT_NE(std::string(s.message()).find(text), std::string::npos) << s;
  ASSERT_TRUE((*gpu)->Recover().ok());
  uint32_t back = 1;
  EXPECT_TRUE((*gpu)->CopyOut(&back, flag->va, 4).ok());
  EXPECT_EQ(back, 0u);
}

TEST_P(GpuFaultTest, StoreToUnmappedMemory) {
  ASSERT_TRUE(gpu_->Launch(Kernel("store_at"), {}, {GlobalPointer{0xdead0000}, Scalar(1u)}).ok());
  ExpectFaultAndRecover(absl::StatusCode::kAborted,
                        {"kernel 'store_at'", "memory fault at 0xdead", "page not present"});
}

TEST_P(GpuFaultTest, TheReportNamesTheNearestAllocation) {
  const auto buffer = gpu_->Allocate(4096, MemoryKind::kVram, {true, false, "weights"});
  ASSERT_TRUE(buffer.ok());
  // Just past it, unless another allocation happens to follow at once: then that one is named "0x0 bytes
  // into".
  ASSERT_TRUE(gpu_->Launch(Kernel("store_at"), {}, {GlobalPointer{0x1000}, Scalar(1u)}).ok());
  const absl::Status fault = gpu_->Synchronize();
  EXPECT_NE(std::string(fault.message()).find("bytes before '"), std::string::npos) << fault;
  ASSERT_TRUE(gpu_->fault().has_value());
  EXPECT_EQ(gpu_->fault()->kind, FaultInfo::Kind::kMemory);
  EXPECT_EQ(gpu_->fault()->address & ~uint64_t{0xfff}, 0x1000u);
  EXPECT_TRUE(gpu_->fault()->not_present);
  EXPECT_TRUE(gpu_->Recover().ok());
}

TEST_P(GpuFaultTest, StoreToReadOnlyMemory) {
  const GpuBuffer constant = New(4096, {false, false, "constants"});
  ASSERT_TRUE(gpu_->Launch(Kernel("store_at"), {}, {GlobalPointer{constant.va + 16}, Scalar(1u)}).ok());
  ExpectFaultAndRecover(absl::StatusCode::kAborted,
                        {"kernel 'store_at'", "write to a read-only page", "into 'constants'"});
  // Reading it is fine.
  const GpuBuffer out = New(4);
  ASSERT_TRUE(gpu_->Launch(Kernel("load_at"), {}, {GlobalPointer{constant.va}, GlobalPointer{out.va}}).ok());
  EXPECT_TRUE(gpu_->Synchronize().ok());
}

TEST_P(GpuFaultTest, IllegalInstruction) {
  const GpuBuffer out = New(4);
  ASSERT_TRUE(gpu_->Launch(Kernel("illegal"), {}, {GlobalPointer{out.va}}).ok());
  ExpectFaultAndRecover(absl::StatusCode::kAborted, {"kernel 'illegal'"});
}

// Atomics want their natural alignment. The kernel's report has no bit for it, and names the page only.
TEST_P(GpuFaultTest, MisalignedAtomic) {
  const GpuBuffer counter = New(4096, {true, false, "counter"});
  ASSERT_TRUE(gpu_->Launch(Kernel("atomic_at"), {}, {GlobalPointer{counter.va + 6}}).ok());
  ExpectFaultAndRecover(absl::StatusCode::kAborted,
                        {"kernel 'atomic_at'", "a misaligned access", "0x0 bytes into 'counter'"});
  ASSERT_TRUE(machine_->LastFault().has_value());
  EXPECT_EQ(machine_->LastFault()->access.kind, emu::MemoryFaultKind::kMisaligned);
}

TEST_P(GpuFaultTest, TheMachineAndTheDriverAgreeOnTheFault) {
  ASSERT_TRUE(gpu_->Launch(Kernel("store_at"), {}, {GlobalPointer{0xdead0000}, Scalar(1u)}).ok());
  ASSERT_FALSE(gpu_->Synchronize().ok());
  const auto report = machine_->LastFault();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->kernel_va, Kernel("store_at").entry_va);
  EXPECT_EQ(report->access.address & ~uint64_t{0xfff}, gpu_->fault()->address & ~uint64_t{0xfff});
  const bool gfx9 = GetParam().rfind("gfx9", 0) == 0;
  EXPECT_NE(report->instruction.find(gfx9 ? "global_store_dword" : "global_store_b32"), std::string::npos)
      << report->instruction;
  ASSERT_TRUE(gpu_->Recover().ok());
}

// A reset that lost memory: code is loaded again, so that kernels run; the contents of buffers are the
// caller's.
class ReportsReset : public os::Syscalls {
 public:
  explicit ReportsReset(os::Syscalls& inner) : inner_(inner) {}
  bool armed = false;

  int Ioctl(int fd, unsigned long request, void* arg) override {
    const int rc = inner_.Ioctl(fd, request, arg);
    if (armed && rc == 0 && request == AMDKFD_IOC_WAIT_EVENTS) {
      auto* args = static_cast<kfd_ioctl_wait_events_args*>(arg);
      auto* events = reinterpret_cast<kfd_event_data*>(args->events_ptr);
      events[2].hw_exception_data = {KFD_HW_EXCEPTION_WHOLE_GPU_RESET, KFD_HW_EXCEPTION_ECC, 1, 1};
      args->wait_result = KFD_IOC_WAIT_RESULT_COMPLETE;
      armed = false;
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
  void Pause() override {
    if (!armed) inner_.Pause();  // the machine stands still until the reset has been seen
  }
  uint64_t MonotonicNanos() override { return inner_.MonotonicNanos(); }

 private:
  os::Syscalls& inner_;
};

TEST(GpuReset, LostMemoryIsSaidAndCodeIsLoadedAgain) {
  const auto machine = NewMachine();
  ReportsReset sys(*machine);
  auto gpu = AmdGpu::Open(sys);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  const auto code = (*gpu)->Load(BasicKernels());
  ASSERT_TRUE(code.ok()) << code.status();
  const auto kernel = (*code)->Kernel("increment");
  const auto buffer = (*gpu)->Allocate(128);
  ASSERT_TRUE(kernel.ok() && buffer.ok());
  const std::vector<uint32_t> zero(32, 0);
  ASSERT_TRUE((*gpu)->CopyIn(buffer->va, zero.data(), 128).ok());
  sys.armed = true;
  ASSERT_TRUE(
      (*gpu)->Launch(*kernel, {{1, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{buffer->va}, Scalar(32u)}).ok());
  const absl::Status s = (*gpu)->Synchronize();
  EXPECT_NE(
      std::string(s.message()).find("uncorrectable memory error, whole GPU reset, memory contents lost"),
      std::string::npos)
      << s;
  ASSERT_TRUE((*gpu)->fault().has_value());
  EXPECT_TRUE((*gpu)->fault()->memory_lost);
  const int64_t before = (*gpu)->stats().bytes_in;
  ASSERT_TRUE((*gpu)->Recover().ok());
  EXPECT_EQ((*gpu)->stats().bytes_in - before, static_cast<int64_t>((*code)->object().image_size()));
  ASSERT_TRUE((*gpu)->CopyIn(buffer->va, zero.data(), 128).ok());
  ASSERT_TRUE(
      (*gpu)->Launch(*kernel, {{1, 1, 1}, {32, 1, 1}, 0}, {GlobalPointer{buffer->va}, Scalar(32u)}).ok());
  std::vector<uint32_t> out(32);
  ASSERT_TRUE((*gpu)->CopyOut(out.data(), buffer->va, 128).ok());
  EXPECT_EQ(out, std::vector<uint32_t>(32, 1));
}

TEST_P(GpuFaultTest, CopyToUnmappedMemory) {
  const uint32_t word = 5;
  ASSERT_TRUE(gpu_->CopyIn(0xdead0000, &word, 4).ok());
  ExpectFaultAndRecover(absl::StatusCode::kAborted,
                        {"copy of 4 bytes to the device", "memory fault at 0xdead", "page not present"});
}

TEST_P(GpuFaultTest, TheFirstUnfinishedWorkIsBlamed) {
  Increment();
  ++expected_;
  ASSERT_TRUE(gpu_->Launch(Kernel("store_at"), {}, {GlobalPointer{0xdead0000}, Scalar(1u)}).ok());
  Increment();  // never runs: the queue stops before it
  ExpectFaultAndRecover(absl::StatusCode::kAborted, {"kernel 'store_at'"});
}

TEST_P(GpuFaultTest, ManyFaultsInOneProcess) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(gpu_->Launch(Kernel(i % 2 ? "illegal" : "store_at"), {},
                             i % 2 ? std::vector<ArgValue>{GlobalPointer{kept_.va}}
                                   : std::vector<ArgValue>{GlobalPointer{0x10000}, Scalar(1u)})
                    .ok());
    ExpectFaultAndRecover(absl::StatusCode::kAborted, {});
  }
  EXPECT_EQ(gpu_->stats().recoveries, 20);
}

TEST_P(GpuFaultTest, RecoverWithoutAFaultLosesNothing) {
  Increment();
  ++expected_;
  ASSERT_TRUE(gpu_->Recover().ok());
  EXPECT_EQ(Download<uint32_t>(kept_, 64), std::vector<uint32_t>(64, expected_));
}

// The dispatch runs out of its instruction budget: the kernel driver reports a hang.
TEST(GpuHang, AKernelThatNeverEndsIsReportedByTheKernelDriver) {
  mockgpu::MockKernel::Options machine;
  machine.instruction_budget = 100000;
  GpuHangCheck(std::move(machine), {}, absl::StatusCode::kAborted,
               "kernel 'forever': hardware exception: a wave stopped or hung");
}

// A doorbell is lost: nobody but the driver's own clock can tell.
class LosesDoorbells : public mockgpu::FaultPlan {
 public:
  bool armed = false;
  int At(mockgpu::FaultPoint point, uint64_t, uint64_t) override {
    return point == mockgpu::FaultPoint::kDoorbell && armed;
  }
};

TEST(GpuHang, WorkThatNeverStartsTimesOutByName) {
  LosesDoorbells plan;
  mockgpu::MockKernel::Options machine;
  machine.fault_plan = &plan;
  machine.instruction_budget = 100000;  // if it starts all the same, the test fails soon
  GpuOptions options;
  options.timeout_ns = 50'000'000;  // of virtual time
  GpuHangCheck(std::move(machine), options, absl::StatusCode::kDeadlineExceeded,
               "compute timeline is at 0, waited for 1; compute queue: 0 of ", &plan.armed);
}

US_FOR_EVERY_GPU(GpuFaultTest);

}  // namespace
}  // namespace understudy::amd
