// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/os/host_syscalls.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace understudy::os {
namespace {

// libc's convention (-1 and errno) to the kernel's (-errno).
int64_t KernelResult(int64_t libc_result) {
  return libc_result < 0 ? -static_cast<int64_t>(errno) : libc_result;
}

}  // namespace

int HostSyscalls::Open(const std::string& path, int flags) {
  return static_cast<int>(KernelResult(::open(path.c_str(), flags)));
}

int HostSyscalls::Close(int fd) { return static_cast<int>(KernelResult(::close(fd))); }

int HostSyscalls::Ioctl(int fd, unsigned long request, void* arg) {
  return static_cast<int>(KernelResult(::ioctl(fd, request, arg)));
}

absl::StatusOr<void*> HostSyscalls::Mmap(void* addr, size_t length, int prot, int flags, int fd,
                                         int64_t offset) {
  void* p = ::mmap(addr, length, prot, flags, fd, offset);
  if (p == MAP_FAILED) {
    const int error = errno;
    return ErrnoStatus(-error,
                       absl::StrFormat("mmap addr=%p length=%d fd=%d offset=0x%x", addr, length, fd, offset));
  }
  return p;
}

int HostSyscalls::Munmap(void* addr, size_t length) {
  return static_cast<int>(KernelResult(::munmap(addr, length)));
}

int64_t HostSyscalls::Pread(int fd, void* buf, size_t n, int64_t offset) {
  return KernelResult(::pread(fd, buf, n, offset));
}

int64_t HostSyscalls::Read(int fd, void* buf, size_t n) { return KernelResult(::read(fd, buf, n)); }

int HostSyscalls::ReadDir(const std::string& path, std::vector<DirEntry>* out) {
  out->clear();
  DIR* dir = ::opendir(path.c_str());
  if (dir == nullptr) return -errno;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_dir = entry->d_type == DT_DIR;
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
      struct stat st;
      is_dir = ::stat((path + "/" + name).c_str(), &st) == 0 && S_ISDIR(st.st_mode);
      errno = 0;  // a dangling link is an entry all the same
    }
    out->push_back({name, is_dir});
  }
  const int error = errno;
  ::closedir(dir);
  std::sort(out->begin(), out->end(), [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  return -error;
}

int HostSyscalls::Stat(const std::string& path, struct stat* out) {
  return static_cast<int>(KernelResult(::stat(path.c_str(), out)));
}

int64_t HostSyscalls::Readlink(const std::string& path, char* buf, size_t n) {
  return KernelResult(::readlink(path.c_str(), buf, n));
}

void HostSyscalls::Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

uint64_t HostSyscalls::MonotonicNanos() {
  timespec ts;
  ::clock_gettime(CLOCK_MONOTONIC, &ts);
  return static_cast<uint64_t>(ts.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(ts.tv_nsec);
}

}  // namespace understudy::os
