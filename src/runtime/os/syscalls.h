// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one door through which user-mode drivers reach the operating system. HostSyscalls goes to libc;
// the mock machine implements the same interface in this process, and a driver cannot tell which it got.
// Nothing here knows of a device: paths and ioctl numbers are the caller's.

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace understudy::os {

struct DirEntry {
  std::string name;
  bool is_dir = false;
};

// Every integer result is >= 0, or -errno as the kernel itself returns it; `errno` is not used.
// Calls are thread-safe.
class Syscalls {
 public:
  virtual ~Syscalls() = default;

  virtual int Open(const std::string& path, int flags) = 0;
  virtual int Close(int fd) = 0;
  virtual int Ioctl(int fd, unsigned long request, void* arg) = 0;

  // The address of the mapping, or a Status whose message names address, length and errno text and whose code
  // is absl::ErrnoToStatusCode of it. Flags are those of mmap(2); MAP_FIXED replaces what lies there.
  virtual absl::StatusOr<void*> Mmap(void* addr, size_t length, int prot, int flags, int fd,
                                     int64_t offset) = 0;
  virtual int Munmap(void* addr, size_t length) = 0;

  virtual int64_t Pread(int fd, void* buf, size_t n, int64_t offset) = 0;
  virtual int64_t Read(int fd, void* buf, size_t n) = 0;
  // Entries without "." and "..", in name order.
  virtual int ReadDir(const std::string& path, std::vector<DirEntry>* out) = 0;
  virtual int Stat(const std::string& path, struct stat* out) = 0;
  // As readlink(2): the number of bytes written, no terminating zero.
  virtual int64_t Readlink(const std::string& path, char* buf, size_t n) = 0;

  // Called in every spin loop. On hardware a pause instruction; on the mock, the machine runs until
  // something changes.
  virtual void Pause() = 0;
  // A clock that never goes back. The mock's is virtual time.
  virtual uint64_t MonotonicNanos() = 0;
};

// The whole text of a small file (sysfs), read until end of file. The Status names path and errno text.
absl::StatusOr<std::string> ReadTextFile(Syscalls& sys, const std::string& path);

// A Status for a negative result `-errno` of `what` (for example "ioctl AMDKFD_IOC_GET_VERSION").
absl::Status ErrnoStatus(int64_t negative_errno, const std::string& what);

}  // namespace understudy::os
