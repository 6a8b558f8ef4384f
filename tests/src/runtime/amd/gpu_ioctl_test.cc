// SPDX-License-Identifier: Apache-2.0
// Every system call of a run of the driver fails once, in turn. Property: the run ends in an error that names
// the call, or (where the failure does not matter) in the right result; nothing crashes, hangs, or stays
// behind in the machine.
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/src/runtime/amd/mock_machine.h"

namespace understudy::amd {
namespace {

// Passes calls on; the n-th call of its counting fails with `error`, having done nothing.
class FailingSyscalls : public os::Syscalls {
 public:
  explicit FailingSyscalls(os::Syscalls& inner) : inner_(inner) {}
  int fail_at = -1;
  int error = EIO;
  // Which calls count: a failing close or munmap leaks by its nature.
  bool only_ioctls = false;

  int calls() const { return calls_; }
  const std::string& failed() const { return failed_; }

  int Open(const std::string& path, int flags) override {
    if (!only_ioctls && Fails("open")) return -error;
    const int fd = inner_.Open(path, flags);
    if (fd >= 0) ++open_;
    return fd;
  }
  int Close(int fd) override {
    --open_;
    return inner_.Close(fd);
  }
  int Ioctl(int fd, unsigned long request, void* arg) override {
    if (Fails(absl::StrCat("ioctl ", request & 0xff))) return -error;
    return inner_.Ioctl(fd, request, arg);
  }
  absl::StatusOr<void*> Mmap(void* addr, size_t n, int prot, int flags, int fd, int64_t offset) override {
    if (!only_ioctls && Fails("mmap")) return os::ErrnoStatus(-error, "mmap");
    auto p = inner_.Mmap(addr, n, prot, flags, fd, offset);
    if (p.ok()) mapped_.insert(*p);
    return p;
  }
  int Munmap(void* addr, size_t n) override {
    mapped_.erase(addr);
    return inner_.Munmap(addr, n);
  }
  int64_t Pread(int fd, void* buf, size_t n, int64_t at) override { return inner_.Pread(fd, buf, n, at); }
  int64_t Read(int fd, void* buf, size_t n) override {
    if (!only_ioctls && Fails("read")) return -error;
    return inner_.Read(fd, buf, n);
  }
  int ReadDir(const std::string& path, std::vector<os::DirEntry>* out) override {
    if (!only_ioctls && Fails("readdir")) return -error;
    return inner_.ReadDir(path, out);
  }
  int Stat(const std::string& path, struct stat* out) override { return inner_.Stat(path, out); }
  int64_t Readlink(const std::string& path, char* buf, size_t n) override {
    return inner_.Readlink(path, buf, n);
  }
  void Pause() override { inner_.Pause(); }
  uint64_t MonotonicNanos() override { return inner_.MonotonicNanos(); }

  int open_files() const { return open_; }
  size_t mapped() const { return mapped_.size(); }

 private:
  bool Fails(const std::string& what) {
    if (calls_++ != fail_at) return false;
    failed_ = what;
    return true;
  }
  os::Syscalls& inner_;
  int calls_ = 0, open_ = 0;
  std::string failed_;
  std::set<void*> mapped_;
};

// Opens, allocates, copies, loads, launches, frees, closes. The result of the kernel is checked when all went
// well.
absl::Status DriverRun(os::Syscalls& sys) {
  GpuOptions options;
  options.timeout_ns = 10'000'000;
  options.compute_ring_bytes = options.sdma_ring_bytes = 4096;
  options.kernarg_bytes = options.staging_bytes = 65536;
  US_ASSIGN_OR_RETURN(auto gpu, AmdGpu::Open(sys, 0, options));
  US_ASSIGN_OR_RETURN(const LoadedCode* code, gpu->Load(BasicKernels()));
  US_ASSIGN_OR_RETURN(const LoadedKernel kernel, code->Kernel("scratch"));
  US_ASSIGN_OR_RETURN(const GpuBuffer a, gpu->Allocate(4096));
  US_ASSIGN_OR_RETURN(const GpuBuffer b, gpu->Allocate(8192, MemoryKind::kGtt));
  const std::vector<uint32_t> zero(1024, 0);
  US_RETURN_IF_ERROR(gpu->CopyIn(a.va, zero.data(), 4096));
  for (int i = 0; i < 20; ++i) {
    US_RETURN_IF_ERROR(gpu->Launch(kernel, {{1, 1, 1}, {64, 1, 1}, 0}, {GlobalPointer{a.va}, Scalar(2u)}));
  }
  uint32_t out[64];
  US_RETURN_IF_ERROR(gpu->CopyOut(out, a.va, sizeof(out)));
  for (uint32_t i = 0; i < 64; ++i) {
    if (out[i] != ((2 + i) & 63) * 2 + i)
      return absl::DataLossError(absl::StrCat("lane ", i, " is ", out[i]));
  }
  US_RETURN_IF_ERROR(gpu->Free(b));
  US_RETURN_IF_ERROR(gpu->Recover());
  US_RETURN_IF_ERROR(gpu->TrimCache());
  return gpu->Close();
}

TEST(GpuIoctl, ARunSucceedsWhenNothingFails) {
  const auto machine = NewMachine();
  FailingSyscalls sys(*machine);
  const absl::Status s = DriverRun(sys);
  EXPECT_TRUE(s.ok()) << s;
  EXPECT_EQ(sys.open_files(), 0);
  EXPECT_EQ(sys.mapped(), 0u);
}

class EachErrno : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Errors, EachErrno, testing::Values(EIO, ENOMEM, EINVAL));

TEST_P(EachErrno, EverySingleFailureIsReportedAndCleanedUp) {
  // A machine a run: as a process, it can open a GPU once.
  int calls = 0;
  {
    const auto machine = NewMachine();
    FailingSyscalls sys(*machine);
    ASSERT_TRUE(DriverRun(sys).ok());
    calls = sys.calls();
  }
  ASSERT_GT(calls, 40);
  std::set<std::string> seen;
  for (int i = 0; i < calls; ++i) {
    const auto machine = NewMachine();
    FailingSyscalls sys(*machine);
    sys.fail_at = i;
    sys.error = GetParam();
    const absl::Status s = DriverRun(sys);
    const std::string where = absl::StrCat("call ", i, " (", sys.failed(), "): ", s.ToString());
    if (sys.failed().empty()) break;  // this run needed fewer calls
    seen.insert(sys.failed());
    if (!s.ok()) {
      EXPECT_NE(s.code(), absl::StatusCode::kDataLoss) << where;
      EXPECT_NE(std::string(s.message()).find("(errno "), std::string::npos) << where;
    }
    EXPECT_EQ(sys.open_files(), 0) << where;
    EXPECT_EQ(sys.mapped(), 0u) << where;
    // The page of events stays with the process. What the kernel refused to free or destroy is its own.
    const mockgpu::MockResources left = machine->Resources();
    const bool refused_free = sys.failed() == "ioctl 23" || sys.failed() == "ioctl 25";
    EXPECT_LE(left.allocations, refused_free ? 2u : 1u) << where;
    EXPECT_EQ(left.queues, sys.failed() == "ioctl 3" ? 1u : 0u) << where;
    EXPECT_EQ(left.events, sys.failed() == "ioctl 9" ? 1u : 0u) << where;
    EXPECT_EQ(left.descriptors, 0u) << where;
  }
  // ALLOC, FREE, MAP, UNMAP, CREATE_QUEUE, DESTROY_QUEUE, CREATE_EVENT, DESTROY_EVENT, WAIT_EVENTS,
  // GET_VERSION, ACQUIRE_VM, GET_PROCESS_APERTURES_NEW
  for (const int number : {0x01, 0x02, 0x03, 0x08, 0x09, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19}) {
    EXPECT_TRUE(seen.contains(absl::StrCat("ioctl ", number))) << number;
  }
}

TEST(GpuIoctl, InterruptedCallsAreRepeated) {
  int calls = 0;
  {
    const auto machine = NewMachine();
    FailingSyscalls sys(*machine);
    sys.only_ioctls = true;
    ASSERT_TRUE(DriverRun(sys).ok());
    calls = sys.calls();
  }
  for (int i = 0; i < calls; i += 3) {
    const auto machine = NewMachine();
    FailingSyscalls sys(*machine);
    sys.only_ioctls = true;
    sys.fail_at = i;
    sys.error = i % 2 ? EINTR : EAGAIN;
    const absl::Status s = DriverRun(sys);
    EXPECT_TRUE(s.ok()) << "call " << i << " (" << sys.failed() << "): " << s;
  }
}

}  // namespace
}  // namespace understudy::amd
