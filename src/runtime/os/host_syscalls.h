// SPDX-License-Identifier: Apache-2.0
#pragma once
// Syscalls over libc: what a driver gets on a machine with the real device (USE_HW=1), and what the mock
// machine falls back to for plain memory. Stateless; never interprets a request.

#include "src/runtime/os/syscalls.h"

namespace understudy::os {

class HostSyscalls : public Syscalls {
 public:
  int Open(const std::string& path, int flags) override;
  int Close(int fd) override;
  int Ioctl(int fd, unsigned long request, void* arg) override;
  absl::StatusOr<void*> Mmap(void* addr, size_t length, int prot, int flags, int fd, int64_t offset) override;
  int Munmap(void* addr, size_t length) override;
  int64_t Pread(int fd, void* buf, size_t n, int64_t offset) override;
  int64_t Read(int fd, void* buf, size_t n) override;
  int ReadDir(const std::string& path, std::vector<DirEntry>* out) override;
  int Stat(const std::string& path, struct stat* out) override;
  int64_t Readlink(const std::string& path, char* buf, size_t n) override;
  void Pause() override;
  uint64_t MonotonicNanos() override;
};

}  // namespace understudy::os
