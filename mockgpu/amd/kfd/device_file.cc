// SPDX-License-Identifier: Apache-2.0
#include "mockgpu/amd/kfd/device_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace understudy::mockgpu::amd {
namespace {

// Sparse: costs nothing until touched.
constexpr uint64_t kFileBytes = uint64_t{1} << 44;

}  // namespace

absl::StatusOr<DeviceFile> DeviceFile::Create(const std::string& name) {
  const int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("memfd_create ", name));
  DeviceFile file(fd);
  if (::ftruncate(fd, static_cast<off_t>(kFileBytes)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("ftruncate ", name, " to ", kFileBytes));
  }
  return file;
}

DeviceFile::DeviceFile(DeviceFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), next_(other.next_) {}

DeviceFile::~DeviceFile() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<DeviceFile::Range> DeviceFile::Allocate(uint64_t size) {
  if (size == 0 || size > kFileBytes - next_) {
    return absl::ResourceExhaustedError(absl::StrCat("device file: no room for ", size, " bytes"));
  }
  void* host = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_,
                      static_cast<off_t>(next_));
  if (host == MAP_FAILED)
    return absl::ErrnoToStatus(errno, absl::StrCat("mmap of ", size, " bytes of device memory"));
  Range range{next_, size, static_cast<uint8_t*>(host)};
  next_ += size;
  return range;
}

void DeviceFile::Free(const Range& range) {
  ::munmap(range.host, range.size);
  ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(range.offset),
              static_cast<off_t>(range.size));
}

int DeviceFile::Duplicate() const {
  const int fd = ::fcntl(fd_, F_DUPFD_CLOEXEC, 3);
  return fd < 0 ? -errno : fd;
}

int MakeTextFile(const std::string& name, const std::string& text) {
  const int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC);
  if (fd < 0) return -errno;
  // Written at an offset, so that the position stays at the beginning.
  if (::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    ::close(fd);
    return -EIO;
  }
  return fd;
}

}  // namespace understudy::mockgpu::amd
