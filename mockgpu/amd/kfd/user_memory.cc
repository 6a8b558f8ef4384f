// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/user_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace understudy::mockgpu::amd {
namespace {

// The canonical lower half: what access_ok() accepts.
bool InUserHalf(uint64_t address, size_t size) {
  constexpr uint64_t kEnd = uint64_t{1} << 47;
  return address < kEnd && size <= kEnd - address;
}

// The kernel checks the pages for us. Where a sandbox forbids the call there is only the plain copy.
bool Transfer(bool write, void* local, uint64_t remote, size_t size) {
  if (size == 0) return true;
  if (remote == 0 || !InUserHalf(remote, size)) return false;
  struct iovec ours = {local, size};
  struct iovec theirs = {reinterpret_cast<void*>(remote), size};
  const ssize_t n = write ? ::process_vm_writev(::getpid(), &ours, 1, &theirs, 1, 0)
                          : ::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0);
  if (n == static_cast<ssize_t>(size)) return true;
  if (n < 0 && (errno == ENOSYS || errno == EPERM)) {
    if (write) {
      std::memcpy(reinterpret_cast<void*>(remote), local, size);
    } else {
      std::memcpy(local, reinterpret_cast<const void*>(remote), size);
    }
    return true;
  }
  return false;
}

}  // namespace

bool CopyFromUser(void* to, uint64_t user_from, size_t size) { return Transfer(false, to, user_from, size); }

bool CopyToUser(uint64_t user_to, const void* from, size_t size) {
  return Transfer(true, const_cast<void*>(from), user_to, size);
}

bool UserRangeMapped(uint64_t address, uint64_t size, bool writable) {
  if (!InUserHalf(address, size)) return false;
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  uint64_t covered = address;
  const uint64_t end = address + size;
  char line[512];
  // Lines are in address order.
  while (covered < end && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, stop = 0;
    char perms[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &begin, &stop, perms) != 3) continue;
    if (stop <= covered) continue;
    if (begin > covered || perms[0] != 'r' || (writable && perms[1] != 'w')) break;
    covered = stop;
  }
  std::fclose(maps);
  return covered >= end;
}

}  // namespace understudy::mockgpu::amd
