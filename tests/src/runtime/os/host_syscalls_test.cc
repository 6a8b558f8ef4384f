// SPDX-License-Identifier: Apache-2.0
// HostSyscalls against the machine that runs the test: results and -errno as the kernel gives them.
#include "src/runtime/os/host_syscalls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace understudy::os {
namespace {

class HostFiles : public testing::Test {
 protected:
  void SetUp() override {
    const char* tmp = std::getenv("TEST_TMPDIR");
    dir_ = std::string(tmp ? tmp : "/tmp") + "/host_syscalls_test";
    ASSERT_EQ(
        ::system(("rm -rf " + dir_ + " && mkdir -p " + dir_ + "/b_dir && ln -s missing " + dir_ + "/c_link")
                     .c_str()),
        0);
    std::ofstream(dir_ + "/a_file") << std::string(10000, 'x') << "end\n";
  }
  std::string dir_;
  HostSyscalls sys_;
};

TEST_F(HostFiles, ErrorsAreNegativeErrno) {
  EXPECT_EQ(sys_.Open(dir_ + "/none", O_RDONLY), -ENOENT);
  EXPECT_EQ(sys_.Close(-1), -EBADF);
  char c;
  EXPECT_EQ(sys_.Read(-1, &c, 1), -EBADF);
  EXPECT_EQ(sys_.Pread(-1, &c, 1, 0), -EBADF);
  struct stat st;
  EXPECT_EQ(sys_.Stat(dir_ + "/none", &st), -ENOENT);
  EXPECT_EQ(sys_.Readlink(dir_ + "/a_file", &c, 1), -EINVAL);
  std::vector<DirEntry> entries;
  EXPECT_EQ(sys_.ReadDir(dir_ + "/none", &entries), -ENOENT);
  EXPECT_EQ(sys_.Munmap(reinterpret_cast<void*>(1), 4096), -EINVAL);
  const int fd = sys_.Open(dir_ + "/a_file", O_RDONLY);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(sys_.Ioctl(fd, TIOCGWINSZ, &c), -ENOTTY);
  EXPECT_EQ(sys_.Close(fd), 0);
}

TEST_F(HostFiles, DirectoriesListInNameOrderWithDanglingLinks) {
  std::vector<DirEntry> entries;
  ASSERT_EQ(sys_.ReadDir(dir_, &entries), 0);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "a_file");
  EXPECT_FALSE(entries[0].is_dir);
  EXPECT_EQ(entries[1].name, "b_dir");
  EXPECT_TRUE(entries[1].is_dir);
  EXPECT_EQ(entries[2].name, "c_link");
  char buf[64];
  const int64_t n = sys_.Readlink(dir_ + "/c_link", buf, sizeof(buf));
  EXPECT_EQ(std::string(buf, n), "missing");
}

TEST_F(HostFiles, TextFilesAreReadWhole) {
  const auto text = ReadTextFile(sys_, dir_ + "/a_file");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->size(), 10004u);
  EXPECT_EQ(text->substr(10000), "end\n");
  const auto none = ReadTextFile(sys_, dir_ + "/none");
  EXPECT_EQ(none.status().message(), "open " + dir_ + "/none: No such file or directory (errno 2)");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  const auto directory = ReadTextFile(sys_, dir_);
  EXPECT_NE(std::string(directory.status().message()).find("Is a directory"), std::string::npos);
  EXPECT_EQ(ReadTextFile(sys_, "/dev/zero").status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(HostFiles, MappingsComeAndGo) {
  const auto p = sys_.Mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(p.ok()) << p.status();
  std::memset(*p, 1, 8192);
  EXPECT_EQ(sys_.Munmap(*p, 8192), 0);
  const auto bad = sys_.Mmap(nullptr, 4096, PROT_READ, MAP_SHARED, -1, 0x1000);
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(std::string(bad.status().message()).find("length=4096 fd=-1 offset=0x1000: Bad file descriptor"),
            std::string::npos)
      << bad.status();
}

TEST(HostClock, NeverGoesBack) {
  HostSyscalls sys;
  uint64_t last = sys.MonotonicNanos();
  for (int i = 0; i < 1000; ++i) {
    sys.Pause();
    const uint64_t now = sys.MonotonicNanos();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace understudy::os
