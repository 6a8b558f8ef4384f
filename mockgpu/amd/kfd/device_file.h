// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pages behind one device node: a sparse memfd, handed out in ranges. A range's offset in the file is the
// mmap offset that clients are given, so that mmap(2) on any descriptor of the file shows the same bytes
// here, there and in a forked process. Offsets are never used twice: a stale mapping cannot show another's
// memory.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace understudy::mockgpu::amd {

class DeviceFile {
 public:
  static absl::StatusOr<DeviceFile> Create(const std::string& name);
  DeviceFile(DeviceFile&& other) noexcept;
  DeviceFile& operator=(DeviceFile&&) = delete;
  ~DeviceFile();

  struct Range {
    uint64_t offset = 0, size = 0;
    uint8_t* host = nullptr;  // this process's view, zero-filled at first
  };
  // `size` is a multiple of the page size.
  absl::StatusOr<Range> Allocate(uint64_t size);
  // Gives the pages back to the host. Views that clients still have read as zero.
  void Free(const Range& range);
  // A new descriptor of the file, or -errno.
  int Duplicate() const;
  int fd() const { return fd_; }

 private:
  explicit DeviceFile(int fd) : fd_(fd) {}
  int fd_;
  uint64_t next_ = uint64_t{1} << 32;
};

// A new anonymous file with this content, for a read-only text file; or -errno.
int MakeTextFile(const std::string& name, const std::string& text);

}  // namespace understudy::mockgpu::amd
